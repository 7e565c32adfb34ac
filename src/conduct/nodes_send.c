/* SPDX-License-Identifier: MIT */
/* What nodes lack is sent to them, to all at once; then they may start. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conduct/nodes_parts.h"

struct sending {
    struct tutti_nodes *nodes;
    const struct tutti_nodes_files *files;
    const struct tutti_parcel *job;
    const uint8_t *id;
    const struct tutti_run_options *options;
    char *piece;
};

static enum tutti_err ask(struct sending *sending, struct tutti_far *far)
{
    struct tutti_parcel *parcel = &sending->nodes->parcel;
    tutti_node_begin(parcel, TUTTI_NODE_ASK);
    tutti_parcel_put_u32(parcel, sending->files->count);
    for (uint32_t i = 0; i < sending->files->count; i++)
        tutti_node_put_content(parcel, &sending->files->files[i].content);
    far->asked = true;
    return tutti_far_send(far, parcel);
}

static bool is_own(const struct sending *sending, const struct tutti_far *far, uint32_t file)
{
    uint32_t owner = sending->files->files[file].far;
    return owner != UINT32_MAX && &sending->nodes->fars[owner] == far;
}

static enum tutti_err take_lack(struct sending *sending, struct tutti_far *far, struct tutti_unparcel *in)
{
    uint32_t count = 0;
    TRY(tutti_far_take_lack(far, in, sending->files->count));
    for (uint32_t i = 0; i < far->lack_count; i++)
        if (!is_own(sending, far, far->lacks[i]))
            far->lacks[count++] = far->lacks[i];
    far->lack_count = count;
    return TUTTI_OK;
}

static enum tutti_err send_piece(struct sending *sending, struct tutti_far *far)
{
    const struct tutti_nodes_file *file = &sending->files->files[far->lacks[far->lack_next]];
    const char *path = file->packed ? file->packed : file->path;
    if (far->fd < 0)
        far->fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = far->fd < 0 ? -1 : pread(far->fd, sending->piece, TUTTI_NODE_PIECE, (off_t)far->offset);
    if (n < 0)
        return tutti_fail(TUTTI_ERR_IO, "cannot read %s: %s", path, strerror(errno));
    if (n == 0 && far->offset < file->content.size)
        return tutti_fail(TUTTI_ERR_IO, "%s has changed while it was sent", path);
    struct tutti_parcel *parcel = &sending->nodes->parcel;
    tutti_node_begin(parcel, TUTTI_NODE_PUT);
    tutti_node_put_content(parcel, &file->content);
    tutti_parcel_put_u64(parcel, far->offset);
    tutti_parcel_put_block(parcel, sending->piece, (size_t)n);
    far->offset += (uint64_t)n;
    far->ahead++;
    if (far->offset >= file->content.size) {
        close(far->fd);
        far->fd = -1;
        far->offset = 0;
        far->lack_next++;
    }
    return tutti_far_send(far, parcel);
}

static enum tutti_err start(struct sending *sending, struct tutti_far *far)
{
    struct tutti_parcel *parcel = &sending->nodes->parcel;
    const struct tutti_run_options *options = sending->options;
    tutti_node_begin(parcel, TUTTI_NODE_START);
    tutti_parcel_put_bytes(parcel, sending->id, TUTTI_TCP_RUN_ID);
    tutti_parcel_put_u8(parcel, sending->nodes->has_keys);
    tutti_parcel_put_double(parcel, options->has_timeout ? options->timeout : 0);
    tutti_parcel_put_u32(parcel, (uint32_t)sending->nodes->list.ranks);
    tutti_parcel_put_u32(parcel, (uint32_t)far->entry->rank_count);
    for (int i = 0; i < far->entry->rank_count; i++)
        tutti_parcel_put_u32(parcel, (uint32_t)far->entry->ranks[i]);
    tutti_parcel_put_u32(parcel, sending->files->count);
    for (uint32_t i = 0; i < sending->files->count; i++) {
        bool own = is_own(sending, far, i);
        tutti_parcel_put_u8(parcel, own);
        if (own)
            tutti_parcel_put_u32(parcel, sending->files->files[i].offer);
        else
            tutti_node_put_content(parcel, &sending->files->files[i].content);
    }
    tutti_parcel_put_block(parcel, sending->job->bytes, sending->job->size);
    far->started = true;
    return tutti_far_send(far, parcel);
}

/* As far as it goes without an answer of the node. */
static enum tutti_err go_on(struct sending *sending, struct tutti_far *far)
{
    if (far->entry->rank_count == 0) { /* nothing of the run is there */
        far->started = true;
        return TUTTI_OK;
    }
    if (!far->asked)
        TRY(ask(sending, far));
    while (far->knows_lack && far->lack_next < far->lack_count && far->ahead < TUTTI_NODE_AHEAD)
        TRY(send_piece(sending, far));
    if (far->knows_lack && far->lack_next == far->lack_count && far->ahead == 0 && !far->started)
        TRY(start(sending, far));
    return TUTTI_OK;
}

static enum tutti_err hear(struct sending *sending, struct tutti_far *far)
{
    struct tutti_far_message message;
    bool got = true;
    TRY(tutti_far_look(far, sending->nodes->has_keys));
    while (!far->started && got) {
        TRY(tutti_far_receive(far, &message, &got));
        if (!got)
            break;
        enum tutti_err err = TUTTI_OK;
        if (message.kind == TUTTI_NODE_LACK)
            err = take_lack(sending, far, &message.in);
        else if (message.kind == TUTTI_NODE_GOT && far->ahead > 0)
            far->ahead--;
        else
            err = tutti_far_fail_message(far);
        tutti_far_release(&message);
        TRY(err);
        TRY(go_on(sending, far));
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
        items[i] = (zmq_pollitem_t){.socket = nodes->fars[i].socket, .events = ZMQ_POLLIN};
        err = go_on(sending, &nodes->fars[i]);
    }
    while (!err && started < nodes->list.count) {
        zmq_poll(items, (int)nodes->list.count, 100);
        started = 0;
        for (size_t i = 0; i < nodes->list.count && !err; i++) {
            err = hear(sending, &nodes->fars[i]);
            started += nodes->fars[i].started;
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
