/* SPDX-License-Identifier: MIT */
/* The files of a run, the form in which they are sent, and their transfer to the nodes.
 *
 * FMUs are sent one by one, because they are large and rarely change; each is sent to a node once and found there by
 * its hash later. A package is sent without them: its documents are small and change often. Unpacked folders are
 * packed; equal files give equal bytes. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "run/launch/nodes.h"
#include "fmu/archive/zip.h"

void tt_nodes_files_fini(struct tt_nodes_files *files)
{
    for (uint32_t i = 0; i < files->count; i++)
        free(files->files[i].packed);
    free(files->files);
    free(files->names);
    tt_map_fini(&files->by_path);
}

/* ---- packing ---- */

/* Returns true if the system has a file named "PACKAGE/ENTRY", which is then sent separately. */
static bool is_sent_separately(const struct tt_map *names, const char *package, const char *entry)
{
    struct tt_text name = {0};
    tt_text_printf(&name, "%s/%s", package, entry);
    bool alone = !name.failed && tt_map_find(names, name.text) != TUTTI_MAP_NONE;
    tt_text_fini(&name);
    return alone;
}

/* Writes an archive, or folder, as an archive; of the package `name` (NULL: no package) without what travels alone. */
static enum tutti_err nodes_files_pack(const char *from, const char *to, const char *name, const struct tt_map *names)
{
    struct tt_archive *archive;
    TRY(tt_archive_open(&archive, from));
    size_t count = tt_archive_count(archive), used = 0;
    struct tt_zip_part *parts = calloc(count + 1, sizeof *parts);
    for (size_t i = 0; parts && i < count; i++) {
        const char *entry = tt_archive_name(archive, i);
        if (!name || !is_sent_separately(names, name, entry))
            parts[used++] = (struct tt_zip_part){.name = entry, .archive = archive, .index = i};
    }
    enum tutti_err err = parts ? tt_zip_write(to, parts, used) : tt_fail_memory();
    free(parts);
    tt_archive_free(archive);
    return err;
}

/* ---- files ---- */

static enum tutti_err nodes_files_prepare(struct tt_nodes_file *file, const struct tt_nodes *nodes, uint32_t number,
                                          const char *package, const struct tt_map *names)
{
    struct stat st;
    if (stat(file->path, &st) != 0)
        return tt_fail(TUTTI_ERR_IO, "cannot read %s: %s", file->path, strerror(errno));
    size_t length = package ? strlen(package) : 0;
    bool is_bare_system = length >= 4 && strcasecmp(package + length - 4, ".ssd") == 0;
    if (S_ISDIR(st.st_mode) || (package && !is_bare_system)) {
        struct tt_text packed = {0};
        tt_text_printf(&packed, "%s/file-%u", tt_tempdir_path(nodes->tempdir), number);
        file->packed = packed.text;
        if (packed.failed)
            return tt_fail_memory();
        TRY(nodes_files_pack(file->path, file->packed, package, names));
    }
    return tt_content_of_file(&file->content, file->packed ? file->packed : file->path);
}

/* Detects a stand-in for a file that a node offers. */
static void find_node_offer(struct tt_nodes_file *file, const struct tt_nodes *nodes)
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
static enum tutti_err nodes_files_add(struct tt_nodes_files *files, const struct tt_nodes *nodes, const char *name,
                                      const char *path, bool system, const struct tt_map *names)
{
    int64_t number = tt_map_find(&files->by_path, path);
    if (number == TUTTI_MAP_NONE) {
        if (files->count == TUTTI_NODE_MOST_FILES)
            return tt_fail(TUTTI_ERR_LIMIT, "the system has more than %d files, which is too many for nodes",
                           TUTTI_NODE_MOST_FILES);
        number = files->count++;
        struct tt_nodes_file *file = &files->files[number];
        *file = (struct tt_nodes_file){.path = path, .client = UINT32_MAX};
        TRY(tt_map_add(&files->by_path, path, number, NULL));
        find_node_offer(file, nodes);
        TRY(nodes_files_prepare(file, nodes, (uint32_t)number, system ? name : NULL, names));
    }
    files->names[files->name_count++] = (struct tt_node_name){.name = name, .file = (uint32_t)number, .system = system};
    return TUTTI_OK;
}

/* An input file may have an alias, too. */
static const char *find_input_path(const struct tutti_run_options *options, const char *name)
{
    for (size_t i = 0; i < options->alias_count; i++)
        if (!options->aliases[i].if_missing && strcmp(options->aliases[i].name, name) == 0)
            return options->aliases[i].path;
    return name;
}

enum tutti_err tt_nodes_files_list(struct tt_nodes_files *files, const struct tt_nodes *nodes, const struct tt_job *job)
{
    const struct tt_system *system = job->system;
    const struct tutti_run_options *options = job->asked;
    struct tt_map names = {0};
    *files = (struct tt_nodes_files){0};
    size_t most = system->file_count + options->input_count + options->initial_state_count + 4;
    files->files = calloc(most, sizeof *files->files);
    files->names = calloc(most, sizeof *files->names);
    enum tutti_err err = files->files && files->names ? TUTTI_OK : tt_fail_memory();
    for (uint32_t i = 0; i < system->file_count && !err; i++)
        err = tt_map_add(&names, system->files[i].name, i, NULL);
    for (uint32_t i = 0; i < system->file_count && !err; i++)
        err = nodes_files_add(files, nodes, system->files[i].name, system->files[i].path, system->files[i].package,
                              &names);
    for (size_t i = 0; i < options->input_count && !err; i++)
        err = nodes_files_add(files, nodes, options->inputs[i], find_input_path(options, options->inputs[i]), false,
                              &names);
    if (options->schedule && !err)
        err = nodes_files_add(files, nodes, options->schedule, find_input_path(options, options->schedule), false,
                              &names);
    if (options->csv && !err)
        err = nodes_files_add(files, nodes, options->csv, find_input_path(options, options->csv), false, &names);
    for (uint32_t c = 0; c < job->states.count && !err; c++) {
        const struct tt_initial_state *state = tt_state_files_initial(&job->states, c);
        if (state)
            err = nodes_files_add(files, nodes, state->path, find_input_path(options, state->path), false, &names);
    }
    if (job->resume && !err)
        err = nodes_files_add(files, nodes, options->resume, find_input_path(options, options->resume), false, &names);
    tt_map_fini(&names);
    return err;
}

/* ---- sending: what nodes lack, to all at once; then they may start ---- */

struct nodes_files_sending {
    struct tt_nodes *nodes;
    const struct tt_nodes_files *files;
    const struct tt_byte_writer *job;
    const uint8_t *id;
    const struct tutti_run_options *options;
    char *piece;
};

static bool nodes_files_is_own(const struct nodes_files_sending *sending, const struct tt_node_client *client,
                               uint32_t file)
{
    uint32_t owner = sending->files->files[file].client;
    return owner != UINT32_MAX && &sending->nodes->clients[owner] == client;
}

static enum tutti_err handle_lack(struct nodes_files_sending *sending, struct tt_node_client *client,
                                  struct tt_byte_reader *in)
{
    uint32_t count = 0;
    TRY(tt_node_client_read_lack(client, in, sending->files->count));
    for (uint32_t i = 0; i < client->lack_count; i++)
        if (!nodes_files_is_own(sending, client, client->lacks[i]))
            client->lacks[count++] = client->lacks[i];
    client->lack_count = count;
    return TUTTI_OK;
}

static enum tutti_err send_file_piece(struct nodes_files_sending *sending, struct tt_node_client *client)
{
    const struct tt_nodes_file *file = &sending->files->files[client->lacks[client->lack_next]];
    const char *path = file->packed ? file->packed : file->path;
    if (client->fd < 0)
        client->fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = client->fd < 0 ? -1 : pread(client->fd, sending->piece, TUTTI_NODE_PIECE, (off_t)client->offset);
    if (n < 0)
        return tt_fail(TUTTI_ERR_IO, "cannot read %s: %s", path, strerror(errno));
    if (n == 0 && client->offset < file->content.size)
        return tt_fail(TUTTI_ERR_IO, "%s has changed while it was sent", path);
    struct tt_byte_writer *parcel = &sending->nodes->parcel;
    tt_node_protocol_start_message(parcel, TUTTI_NODE_PUT);
    tt_node_protocol_write_content(parcel, &file->content);
    tt_bytes_put_u64(parcel, client->offset);
    tt_bytes_put_block(parcel, sending->piece, (size_t)n);
    client->offset += (uint64_t)n;
    client->ahead++;
    if (client->offset >= file->content.size) {
        close(client->fd);
        client->fd = -1;
        client->offset = 0;
        client->lack_next++;
    }
    return tt_node_client_send(client, parcel);
}

static enum tutti_err nodes_files_start_file(struct nodes_files_sending *sending, struct tt_node_client *client)
{
    struct tt_byte_writer *parcel = &sending->nodes->parcel;
    const struct tutti_run_options *options = sending->options;
    tt_node_protocol_start_message(parcel, TUTTI_NODE_START);
    tt_bytes_put_bytes(parcel, sending->id, TUTTI_TCP_RUN_ID);
    tt_bytes_put_u8(parcel, true);
    tt_bytes_put_double(parcel, options->has_timeout ? options->timeout : 0);
    tt_bytes_put_u32(parcel, (uint32_t)sending->nodes->list.ranks);
    tt_bytes_put_u32(parcel, (uint32_t)client->entry->rank_count);
    for (int i = 0; i < client->entry->rank_count; i++)
        tt_bytes_put_u32(parcel, (uint32_t)client->entry->ranks[i]);
    tt_bytes_put_u32(parcel, sending->files->count);
    for (uint32_t i = 0; i < sending->files->count; i++) {
        bool own = nodes_files_is_own(sending, client, i);
        tt_bytes_put_u8(parcel, own);
        if (own)
            tt_bytes_put_u32(parcel, sending->files->files[i].offer);
        else
            tt_node_protocol_write_content(parcel, &sending->files->files[i].content);
    }
    tt_bytes_put_block(parcel, sending->job->bytes, sending->job->size);
    client->started = true;
    return tt_node_client_send(client, parcel);
}

/* As far as it goes without an answer of the node. */
static enum tutti_err nodes_files_send_pieces(struct nodes_files_sending *sending, struct tt_node_client *client)
{
    if (client->entry->rank_count == 0) { /* nothing of the run is there */
        client->started = true;
        return TUTTI_OK;
    }
    if (!client->asked) {
        struct tt_byte_writer *parcel = &sending->nodes->parcel;
        tt_node_protocol_start_message(parcel, TUTTI_NODE_ASK);
        tt_bytes_put_u32(parcel, sending->files->count);
        for (uint32_t i = 0; i < sending->files->count; i++)
            tt_node_protocol_write_content(parcel, &sending->files->files[i].content);
        client->asked = true;
        TRY(tt_node_client_send(client, parcel));
    }
    while (client->knows_lack && client->lack_next < client->lack_count && client->ahead < TUTTI_NODE_AHEAD)
        TRY(send_file_piece(sending, client));
    if (client->knows_lack && client->lack_next == client->lack_count && client->ahead == 0 && !client->started)
        TRY(nodes_files_start_file(sending, client));
    return TUTTI_OK;
}

static enum tutti_err nodes_files_receive(struct nodes_files_sending *sending, struct tt_node_client *client)
{
    struct tt_node_client_message message;
    bool got = true;
    TRY(tt_node_client_check(client));
    while (!client->started && got) {
        TRY(tt_node_client_receive(client, &message, &got));
        if (!got)
            break;
        enum tutti_err err = TUTTI_OK;
        if (message.kind == TUTTI_NODE_LACK)
            err = handle_lack(sending, client, &message.in);
        else if (message.kind == TUTTI_NODE_GOT && client->ahead > 0)
            client->ahead--;
        else
            err = tt_node_client_fail_message(client);
        tt_node_client_release(&message);
        TRY(err);
        TRY(nodes_files_send_pieces(sending, client));
    }
    return TUTTI_OK;
}

static enum tutti_err nodes_files_send_all(struct nodes_files_sending *sending)
{
    struct tt_nodes *nodes = sending->nodes;
    const volatile sig_atomic_t *interrupt = sending->options->interrupt;
    zmq_pollitem_t *items = calloc(nodes->list.count, sizeof *items);
    enum tutti_err err = items ? TUTTI_OK : tt_fail_memory();
    size_t started = 0;
    for (size_t i = 0; i < nodes->list.count && !err; i++) {
        items[i] = (zmq_pollitem_t){.socket = nodes->clients[i].socket, .events = ZMQ_POLLIN};
        err = nodes_files_send_pieces(sending, &nodes->clients[i]);
    }
    while (!err && started < nodes->list.count) {
        zmq_poll(items, (int)nodes->list.count, 100);
        started = 0;
        for (size_t i = 0; i < nodes->list.count && !err; i++) {
            err = nodes_files_receive(sending, &nodes->clients[i]);
            started += nodes->clients[i].started;
        }
        if (!err && interrupt && *interrupt)
            err = tt_fail(TUTTI_ERR_INTERRUPTED, "interrupted while files were sent to nodes");
    }
    free(items);
    return err;
}

enum tutti_err tt_nodes_files_send(struct tt_nodes *nodes, const struct tt_nodes_files *files, const struct tt_job *job,
                                   const uint8_t id[TUTTI_TCP_RUN_ID])
{
    struct tt_byte_writer packed = {0};
    struct nodes_files_sending sending = {.nodes = nodes,
                                          .files = files,
                                          .job = &packed,
                                          .id = id,
                                          .options = job->asked,
                                          .piece = malloc(TUTTI_NODE_PIECE)};
    enum tutti_err err = sending.piece ? tt_node_protocol_write_job(job->asked, files->names, files->name_count,
                                                                    job->place, job->system->component_count, &packed)
                                       : tt_fail_memory();
    if (!err)
        err = nodes_files_send_all(&sending);
    tt_bytes_fini(&packed);
    free(sending.piece);
    return err;
}
