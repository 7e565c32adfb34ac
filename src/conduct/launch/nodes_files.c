/* SPDX-License-Identifier: MIT */
/* Which files a run is made of, in which form they travel, and how they get to the nodes.
 *
 * FMUs go one by one, because they are what is large and what stays the same from run to run; each is sent to a node once, and
 * found there by its hash ever after. A package goes without them: its documents are small, and it is they that change. What is
 * unpacked here is packed; the same files give the same bytes. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "conduct/launch/nodes_parts.h"
#include "ssp/package_write.h"

void tutti_nodes_files_fini(struct tutti_nodes_files *files)
{
    for (uint32_t i = 0; i < files->count; i++)
        free(files->files[i].packed);
    free(files->files);
    free(files->names);
    tutti_map_fini(&files->by_path);
}

/* ---- packing ---- */

/* Is there a file of the system by the name "PACKAGE/ENTRY"? Then it travels by itself. */
static bool travels_alone(const struct tutti_map *names, const char *package, const char *entry)
{
    struct tutti_text name = {0};
    tutti_text_printf(&name, "%s/%s", package, entry);
    bool alone = !name.failed && tutti_map_find(names, name.text) != TUTTI_MAP_NONE;
    tutti_text_fini(&name);
    return alone;
}

/* Writes an archive, or folder, as an archive; of the package `name` (NULL: no package) without what travels alone. */
static enum tutti_err pack(const char *from, const char *to, const char *name, const struct tutti_map *names)
{
    struct tutti_archive *archive;
    TRY(tutti_archive_open(&archive, from));
    size_t count = tutti_archive_count(archive), used = 0;
    struct tutti_package_part *parts = calloc(count + 1, sizeof *parts);
    for (size_t i = 0; parts && i < count; i++) {
        const char *entry = tutti_archive_name(archive, i);
        if (!name || !travels_alone(names, name, entry))
            parts[used++] = (struct tutti_package_part){.name = entry, .archive = archive, .index = i};
    }
    enum tutti_err err = parts ? tutti_package_write(to, parts, used) : tutti_fail_memory();
    free(parts);
    tutti_archive_free(archive);
    return err;
}

static bool is_bare(const char *name)
{
    size_t n = strlen(name);
    return n >= 4 && strcasecmp(name + n - 4, ".ssd") == 0;
}

/* ---- files ---- */

static enum tutti_err prepare(struct tutti_nodes_file *file, const struct tutti_nodes *nodes, uint32_t number,
                              const char *package, const struct tutti_map *names)
{
    struct stat st;
    if (stat(file->path, &st) != 0)
        return tutti_fail(TUTTI_ERR_IO, "cannot read %s: %s", file->path, strerror(errno));
    if (S_ISDIR(st.st_mode) || (package && !is_bare(package))) {
        struct tutti_text packed = {0};
        tutti_text_printf(&packed, "%s/file-%u", tutti_tempdir_path(nodes->tempdir), number);
        file->packed = packed.text;
        if (packed.failed)
            return tutti_fail_memory();
        TRY(pack(file->path, file->packed, package, names));
    }
    return tutti_content_of_file(&file->content, file->packed ? file->packed : file->path);
}

/* Does it stand in for what a node offers? */
static void find_offer(struct tutti_nodes_file *file, const struct tutti_nodes *nodes)
{
    for (uint32_t n = 0; n < nodes->list.count; n++)
        for (uint32_t i = 0; i < nodes->clients[n].offer_count; i++) {
            const char *path = nodes->clients[n].offers[i].path;
            if (path && strcmp(path, file->path) == 0) {
                file->client = n;
                file->offer = i;
                return;
            }
        }
}

/* Adds a name of a file, and the file if it is new. */
static enum tutti_err add(struct tutti_nodes_files *files, const struct tutti_nodes *nodes, const char *name,
                          const char *path, bool system, const struct tutti_map *names)
{
    int64_t number = tutti_map_find(&files->by_path, path);
    if (number == TUTTI_MAP_NONE) {
        if (files->count == TUTTI_NODE_MOST_FILES)
            return tutti_fail(TUTTI_ERR_LIMIT, "the system has more than %d files, which is too many for nodes",
                              TUTTI_NODE_MOST_FILES);
        number = files->count++;
        struct tutti_nodes_file *file = &files->files[number];
        *file = (struct tutti_nodes_file){.path = path, .client = UINT32_MAX};
        TRY(tutti_map_add(&files->by_path, path, number, NULL));
        find_offer(file, nodes);
        TRY(prepare(file, nodes, (uint32_t)number, system ? name : NULL, names));
    }
    files->names[files->name_count++] =
        (struct tutti_node_name){.name = name, .file = (uint32_t)number, .system = system};
    return TUTTI_OK;
}

/* An input file may have an alias, too. */
static const char *path_of_input(const struct tutti_run_options *options, const char *name)
{
    for (size_t i = 0; i < options->alias_count; i++)
        if (!options->aliases[i].if_missing && strcmp(options->aliases[i].name, name) == 0)
            return options->aliases[i].path;
    return name;
}

enum tutti_err tutti_nodes_files_list(struct tutti_nodes_files *files, const struct tutti_nodes *nodes,
                                      const struct tutti_job *job)
{
    const struct tutti_system *system = job->system;
    const struct tutti_run_options *options = job->asked;
    struct tutti_map names = {0};
    *files = (struct tutti_nodes_files){0};
    size_t most = system->file_count + options->input_count + options->initial_state_count + 4;
    files->files = calloc(most, sizeof *files->files);
    files->names = calloc(most, sizeof *files->names);
    enum tutti_err err = files->files && files->names ? TUTTI_OK : tutti_fail_memory();
    for (uint32_t i = 0; i < system->file_count && !err; i++)
        err = tutti_map_add(&names, system->files[i].name, i, NULL);
    for (uint32_t i = 0; i < system->file_count && !err; i++)
        err = add(files, nodes, system->files[i].name, system->files[i].path, system->files[i].package, &names);
    for (size_t i = 0; i < options->input_count && !err; i++)
        err = add(files, nodes, options->inputs[i], path_of_input(options, options->inputs[i]), false, &names);
    if (options->schedule && !err)
        err = add(files, nodes, options->schedule, path_of_input(options, options->schedule), false, &names);
    if (options->csv && !err)
        err = add(files, nodes, options->csv, path_of_input(options, options->csv), false, &names);
    for (uint32_t c = 0; c < job->states.count && !err; c++) {
        const struct tutti_initial_state *state = tutti_states_initial(&job->states, c);
        if (state)
            err = add(files, nodes, state->path, path_of_input(options, state->path), false, &names);
    }
    if (job->resume && !err)
        err = add(files, nodes, options->resume, path_of_input(options, options->resume), false, &names);
    tutti_map_fini(&names);
    return err;
}

/* ---- sending: what nodes lack, to all at once; then they may start ---- */

struct sending {
    struct tutti_nodes *nodes;
    const struct tutti_nodes_files *files;
    const struct tutti_parcel *job;
    const uint8_t *id;
    const struct tutti_run_options *options;
    char *piece;
};

static enum tutti_err ask(struct sending *sending, struct tutti_node_client *client)
{
    struct tutti_parcel *parcel = &sending->nodes->parcel;
    tutti_node_begin(parcel, TUTTI_NODE_ASK);
    tutti_parcel_put_u32(parcel, sending->files->count);
    for (uint32_t i = 0; i < sending->files->count; i++)
        tutti_node_put_content(parcel, &sending->files->files[i].content);
    client->asked = true;
    return tutti_node_client_send(client, parcel);
}

static bool is_own(const struct sending *sending, const struct tutti_node_client *client, uint32_t file)
{
    uint32_t owner = sending->files->files[file].client;
    return owner != UINT32_MAX && &sending->nodes->clients[owner] == client;
}

static enum tutti_err take_lack(struct sending *sending, struct tutti_node_client *client, struct tutti_unparcel *in)
{
    uint32_t count = 0;
    TRY(tutti_node_client_take_lack(client, in, sending->files->count));
    for (uint32_t i = 0; i < client->lack_count; i++)
        if (!is_own(sending, client, client->lacks[i]))
            client->lacks[count++] = client->lacks[i];
    client->lack_count = count;
    return TUTTI_OK;
}

static enum tutti_err send_piece(struct sending *sending, struct tutti_node_client *client)
{
    const struct tutti_nodes_file *file = &sending->files->files[client->lacks[client->lack_next]];
    const char *path = file->packed ? file->packed : file->path;
    if (client->fd < 0)
        client->fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = client->fd < 0 ? -1 : pread(client->fd, sending->piece, TUTTI_NODE_PIECE, (off_t)client->offset);
    if (n < 0)
        return tutti_fail(TUTTI_ERR_IO, "cannot read %s: %s", path, strerror(errno));
    if (n == 0 && client->offset < file->content.size)
        return tutti_fail(TUTTI_ERR_IO, "%s has changed while it was sent", path);
    struct tutti_parcel *parcel = &sending->nodes->parcel;
    tutti_node_begin(parcel, TUTTI_NODE_PUT);
    tutti_node_put_content(parcel, &file->content);
    tutti_parcel_put_u64(parcel, client->offset);
    tutti_parcel_put_block(parcel, sending->piece, (size_t)n);
    client->offset += (uint64_t)n;
    client->ahead++;
    if (client->offset >= file->content.size) {
        close(client->fd);
        client->fd = -1;
        client->offset = 0;
        client->lack_next++;
    }
    return tutti_node_client_send(client, parcel);
}

static enum tutti_err start(struct sending *sending, struct tutti_node_client *client)
{
    struct tutti_parcel *parcel = &sending->nodes->parcel;
    const struct tutti_run_options *options = sending->options;
    tutti_node_begin(parcel, TUTTI_NODE_START);
    tutti_parcel_put_bytes(parcel, sending->id, TUTTI_TCP_RUN_ID);
    tutti_parcel_put_u8(parcel, true);
    tutti_parcel_put_double(parcel, options->has_timeout ? options->timeout : 0);
    tutti_parcel_put_u32(parcel, (uint32_t)sending->nodes->list.ranks);
    tutti_parcel_put_u32(parcel, (uint32_t)client->entry->rank_count);
    for (int i = 0; i < client->entry->rank_count; i++)
        tutti_parcel_put_u32(parcel, (uint32_t)client->entry->ranks[i]);
    tutti_parcel_put_u32(parcel, sending->files->count);
    for (uint32_t i = 0; i < sending->files->count; i++) {
        bool own = is_own(sending, client, i);
        tutti_parcel_put_u8(parcel, own);
        if (own)
            tutti_parcel_put_u32(parcel, sending->files->files[i].offer);
        else
            tutti_node_put_content(parcel, &sending->files->files[i].content);
    }
    tutti_parcel_put_block(parcel, sending->job->bytes, sending->job->size);
    client->started = true;
    return tutti_node_client_send(client, parcel);
}

/* As far as it goes without an answer of the node. */
static enum tutti_err go_on(struct sending *sending, struct tutti_node_client *client)
{
    if (client->entry->rank_count == 0) { /* nothing of the run is there */
        client->started = true;
        return TUTTI_OK;
    }
    if (!client->asked)
        TRY(ask(sending, client));
    while (client->knows_lack && client->lack_next < client->lack_count && client->ahead < TUTTI_NODE_AHEAD)
        TRY(send_piece(sending, client));
    if (client->knows_lack && client->lack_next == client->lack_count && client->ahead == 0 && !client->started)
        TRY(start(sending, client));
    return TUTTI_OK;
}

static enum tutti_err hear(struct sending *sending, struct tutti_node_client *client)
{
    struct tutti_node_client_message message;
    bool got = true;
    TRY(tutti_node_client_look(client));
    while (!client->started && got) {
        TRY(tutti_node_client_receive(client, &message, &got));
        if (!got)
            break;
        enum tutti_err err = TUTTI_OK;
        if (message.kind == TUTTI_NODE_LACK)
            err = take_lack(sending, client, &message.in);
        else if (message.kind == TUTTI_NODE_GOT && client->ahead > 0)
            client->ahead--;
        else
            err = tutti_node_client_fail_message(client);
        tutti_node_client_release(&message);
        TRY(err);
        TRY(go_on(sending, client));
    }
    return TUTTI_OK;
}

static enum tutti_err send_all(struct sending *sending)
{
    struct tutti_nodes *nodes = sending->nodes;
    const volatile sig_atomic_t *interrupt = sending->options->interrupt;
    zmq_pollitem_t *items = calloc(nodes->list.count, sizeof *items);
    enum tutti_err err = items ? TUTTI_OK : tutti_fail_memory();
    size_t started = 0;
    for (size_t i = 0; i < nodes->list.count && !err; i++) {
        items[i] = (zmq_pollitem_t){.socket = nodes->clients[i].socket, .events = ZMQ_POLLIN};
        err = go_on(sending, &nodes->clients[i]);
    }
    while (!err && started < nodes->list.count) {
        zmq_poll(items, (int)nodes->list.count, 100);
        started = 0;
        for (size_t i = 0; i < nodes->list.count && !err; i++) {
            err = hear(sending, &nodes->clients[i]);
            started += nodes->clients[i].started;
        }
        if (!err && interrupt && *interrupt)
            err = tutti_fail(TUTTI_ERR_INTERRUPTED, "interrupted while files were sent to nodes");
    }
    free(items);
    return err;
}

enum tutti_err tutti_nodes_send(struct tutti_nodes *nodes, const struct tutti_nodes_files *files,
                                const struct tutti_job *job, const uint8_t id[TUTTI_TCP_RUN_ID])
{
    struct tutti_parcel packed = {0};
    struct sending sending = {.nodes = nodes,
                              .files = files,
                              .job = &packed,
                              .id = id,
                              .options = job->asked,
                              .piece = malloc(TUTTI_NODE_PIECE)};
    enum tutti_err err = sending.piece ? tutti_node_job_pack(job->asked, files->names, files->name_count, job->place,
                                                             job->system->component_count, &packed)
                                       : tutti_fail_memory();
    if (!err)
        err = send_all(&sending);
    tutti_parcel_fini(&packed);
    free(sending.piece);
    return err;
}
