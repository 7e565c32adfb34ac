/* SPDX-License-Identifier: MIT */
#include "run/node/node_protocol.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <zmq.h>
#include <tutti/run.h>

#include "base/number.h"
#include "base/text.h"

static const uint64_t ORDER = 0x0102030405060708; /* reads differently in another byte order */

/* ---- parcels ---- */

void tt_node_protocol_start_message(struct tt_byte_writer *parcel, enum tt_node_message kind)
{
    tt_bytes_reset(parcel);
    tt_bytes_put_u32(parcel, kind);
}

void tt_node_protocol_write_content(struct tt_byte_writer *parcel, const struct tt_content *content)
{
    tt_bytes_put_bytes(parcel, content->hash, sizeof content->hash);
    tt_bytes_put_u64(parcel, content->size);
}

void tt_node_protocol_read_content(struct tt_byte_reader *in, struct tt_content *content)
{
    const void *hash = tt_bytes_get(in, sizeof content->hash);
    *content = (struct tt_content){0};
    if (hash)
        memcpy(content->hash, hash, sizeof content->hash);
    content->size = tt_bytes_get_u64(in);
}

void tt_node_protocol_write_hello(struct tt_byte_writer *parcel)
{
    tt_node_protocol_start_message(parcel, TUTTI_NODE_HELLO);
    tt_bytes_put_text(parcel, "tutti");
    tt_bytes_put_u32(parcel, TUTTI_NODE_PROTOCOL);
    tt_bytes_put_text(parcel, tutti_version());
    tt_bytes_put_bytes(parcel, &ORDER, sizeof ORDER);
}

enum tutti_err tt_node_protocol_read_hello(struct tt_byte_reader *in)
{
    const char *magic = tt_bytes_get_text(in);
    uint32_t protocol = tt_bytes_get_u32(in);
    const char *version = tt_bytes_get_text(in);
    const void *order = tt_bytes_get(in, sizeof ORDER);
    if (!magic || strcmp(magic, "tutti") != 0)
        return tt_fail(TUTTI_ERR_FORMAT, "this is a node of Tutti, and what came is no greeting that it knows");
    if (protocol != TUTTI_NODE_PROTOCOL || in->bad || !version || strcmp(version, tutti_version()) != 0)
        return tt_fail(TUTTI_ERR_FORMAT,
                       "the node runs Tutti %s (protocol %d), and this is Tutti %s (protocol %u); install the same "
                       "version on both",
                       tutti_version(), TUTTI_NODE_PROTOCOL, version ? tt_text_excerpt(version).text : "?", protocol);
    if (memcmp(order, &ORDER, sizeof ORDER) != 0)
        return tt_fail(TUTTI_ERR_FORMAT, "the node's machine has another byte order than this one; they cannot work "
                                         "together");
    return TUTTI_OK;
}

bool tt_node_protocol_read_ready(struct tt_byte_reader *in, int ranks, struct tt_node_ready *ready)
{
    ready->rank = tt_bytes_get_u32(in);
    uint32_t port = tt_bytes_get_u32(in);
    const void *key = tt_bytes_get(in, sizeof ready->key);
    ready->is_confined = tt_bytes_get_u8(in) != 0;
    if (in->bad || ready->rank >= (uint32_t)ranks || port == 0 || port > 65535)
        return false;
    ready->port = (int)port;
    memcpy(ready->key, key, sizeof ready->key);
    return true;
}

bool tt_node_protocol_read_lost(struct tt_byte_reader *in, int ranks, struct tt_node_lost *lost)
{
    lost->rank = tt_bytes_get_u32(in);
    lost->how = tt_bytes_get_u8(in);
    lost->detail = tt_bytes_get_u32(in);
    lost->component = tt_bytes_get_u32(in);
    lost->t = tt_bytes_get_double(in);
    lost->step = tt_bytes_get_u64(in);
    uint32_t err = tt_bytes_get_u32(in);
    lost->message = tt_bytes_get_text(in);
    if (in->bad || lost->rank >= (uint32_t)ranks || err == TUTTI_OK || err > TUTTI_ERR_LOST)
        return false;
    lost->err = (enum tutti_err)err;
    return true;
}

static void read_peer_address(struct tt_byte_reader *in, struct tt_tcp_peer *peer)
{
    const char *endpoint = tt_bytes_get_text(in), *host = tt_bytes_get_text(in);
    const void *key = tt_bytes_get(in, sizeof peer->public_key);
    if (in->bad || !endpoint || !host || strlen(endpoint) >= sizeof peer->endpoint ||
        strlen(host) >= sizeof peer->host) {
        in->bad = true;
        return;
    }
    snprintf(peer->endpoint, sizeof peer->endpoint, "%s", endpoint);
    snprintf(peer->host, sizeof peer->host, "%s", host);
    memcpy(peer->public_key, key, sizeof peer->public_key);
}

bool tt_node_protocol_read_denied(struct tt_byte_reader *in, int ranks, struct tt_node_denied *denied)
{
    *denied = (struct tt_node_denied){.rank = tt_bytes_get_u32(in)};
    denied->denial.component = tt_bytes_get_u32(in);
    const char *what = tt_bytes_get_text(in), *allow = tt_bytes_get_text(in);
    if (in->bad || denied->rank >= (uint32_t)ranks || !what || !allow)
        return false;
    snprintf(denied->denial.what, sizeof denied->denial.what, "%s", what);
    snprintf(denied->denial.allow, sizeof denied->denial.allow, "%s", allow);
    return true;
}

bool tt_node_protocol_read_peers(struct tt_byte_reader *in, int ranks, bool *meets_all, uint8_t hub_key[TUTTI_KEY_SIZE],
                                 struct tt_tcp_peer *peers)
{
    *meets_all = tt_bytes_get_u8(in) != 0;
    const void *key = tt_bytes_get(in, TUTTI_KEY_SIZE);
    if (key)
        memcpy(hub_key, key, TUTTI_KEY_SIZE);
    for (int i = 0; i < ranks; i++)
        read_peer_address(in, &peers[i]);
    return !in->bad && in->at == in->end;
}

/* ---- sockets ---- */

/* A signal does not part a message. */
static bool node_protocol_send_part(void *socket, const void *bytes, size_t size, int flags)
{
    int sent;
    do
        sent = zmq_send(socket, bytes, size, flags | ZMQ_DONTWAIT);
    while (sent < 0 && zmq_errno() == EINTR);
    return sent >= 0;
}

bool tt_node_protocol_send(void *socket, const void *id, size_t id_size, const struct tt_byte_writer *parcel)
{
    if (parcel->failed || parcel->size > TUTTI_NODE_LARGEST)
        return false;
    if (id && !node_protocol_send_part(socket, id, id_size, ZMQ_SNDMORE))
        return false;
    return node_protocol_send_part(socket, parcel->bytes, parcel->size, 0);
}

enum tutti_err tt_node_protocol_configure_socket(void *socket, const char *endpoint)
{
    const struct {
        int option, value;
    } settings[] = {
        {ZMQ_LINGER, 0},
        {ZMQ_IPV6, strchr(endpoint, '[') != NULL},
        {ZMQ_SNDHWM, 0},
        {ZMQ_RCVHWM, 2 * TUTTI_NODE_AHEAD},
        {ZMQ_HEARTBEAT_IVL, TUTTI_NODE_BEAT_MS},
        {ZMQ_HEARTBEAT_TIMEOUT, TUTTI_NODE_LOST_MS},
        {ZMQ_HEARTBEAT_TTL, TUTTI_NODE_LOST_MS},
        {ZMQ_HANDSHAKE_IVL, TUTTI_NODE_LOST_MS},
        {ZMQ_RECONNECT_IVL, 100},
    };
    int64_t largest = TUTTI_NODE_LARGEST;
    int result = zmq_setsockopt(socket, ZMQ_MAXMSGSIZE, &largest, sizeof largest);
    for (size_t i = 0; result == 0 && i < sizeof settings / sizeof *settings; i++)
        result = zmq_setsockopt(socket, settings[i].option, &settings[i].value, sizeof settings[i].value);
    return result == 0
               ? TUTTI_OK
               : tt_fail(TUTTI_ERR_UNSUPPORTED, "ZeroMQ does not take a setting: %s", zmq_strerror(zmq_errno()));
}

enum tutti_err tt_node_protocol_write_job(const struct tutti_run_options *options, const struct tt_node_name *names,
                                          uint32_t name_count, const int32_t *place, uint32_t place_count,
                                          struct tt_byte_writer *parcel)
{
    TRY(tt_options_pack(options, parcel));
    tt_bytes_put_u32(parcel, name_count);
    for (uint32_t i = 0; i < name_count; i++) {
        tt_bytes_put_text(parcel, names[i].name);
        tt_bytes_put_u32(parcel, names[i].file);
        tt_bytes_put_u8(parcel, names[i].system);
    }
    tt_bytes_put_u32(parcel, place_count);
    for (uint32_t i = 0; i < place_count; i++)
        tt_bytes_put_u32(parcel, (uint32_t)place[i]);
    return parcel->failed ? tt_fail_memory() : TUTTI_OK;
}

/* A name, and the file's path. */
static bool unpack_file_name(struct tt_file_alias *alias, struct tt_byte_reader *in, const char *folder,
                             struct tt_arena *arena)
{
    struct tt_text path = {0};
    const char *name = tt_bytes_get_text(in);
    uint32_t file = tt_bytes_get_u32(in);
    alias->system = tt_bytes_get_u8(in) != 0;
    in->bad = in->bad || !name;
    if (in->bad)
        return true;
    tt_text_printf(&path, "%s/%u", folder, file);
    alias->name = tt_arena_copy_text(arena, name, strlen(name));
    alias->path = path.failed ? NULL : tt_arena_copy_text(arena, path.text, path.length);
    tt_text_fini(&path);
    return alias->name && alias->path;
}

static bool unpack_file_names(struct tt_node_job *job, struct tt_byte_reader *in, const char *folder)
{
    uint32_t count = tt_bytes_get_u32(in);
    in->bad = in->bad || count > (size_t)(in->end - in->at); /* each takes more than a byte */
    if (in->bad)
        return true;
    struct tt_file_alias *aliases = tt_arena_array(&job->arena, count, sizeof *aliases);
    bool enough = aliases != NULL;
    for (uint32_t i = 0; enough && i < count && !in->bad; i++)
        enough = unpack_file_name(&aliases[i], in, folder, &job->arena);
    job->options.aliases = aliases;
    job->options.alias_count = count;
    return enough;
}

static bool unpack_placement(struct tt_node_job *job, struct tt_byte_reader *in, int ranks)
{
    job->place_count = tt_bytes_get_u32(in);
    in->bad = in->bad || job->place_count > (size_t)(in->end - in->at) / sizeof(uint32_t);
    if (in->bad)
        return true;
    job->place = tt_arena_array(&job->arena, job->place_count, sizeof *job->place);
    for (uint32_t i = 0; job->place && i < job->place_count; i++) {
        job->place[i] = (int32_t)tt_bytes_get_u32(in);
        in->bad = in->bad || job->place[i] < 0 || job->place[i] >= ranks;
    }
    return job->place != NULL;
}

/* Messages of a rank go to the conductor by its fabric; findings about files were already reported by the runner. */
static void discard_rank_log(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    (void)context, (void)level, (void)origin, (void)text;
}

static void no_progress(void *context, const struct tutti_progress *progress)
{
    (void)context, (void)progress;
}

enum tutti_err tt_node_protocol_read_job(struct tt_node_job *job, const void *bytes, size_t size, const char *folder,
                                         int ranks)
{
    struct tt_byte_reader in = {.at = bytes, .end = (const char *)bytes + size};
    struct tt_options_extras extras;
    *job = (struct tt_node_job){0};
    TRY(tt_options_unpack(&job->options, &extras, &in, &job->arena));
    if (!unpack_file_names(job, &in, folder) || !unpack_placement(job, &in, ranks))
        return tt_fail_memory();
    if (in.bad || in.at != in.end)
        return tt_fail(TUTTI_ERR_FORMAT, "the job of the run is damaged");
    if (extras.log_level >= 0) {
        job->log = (struct tutti_log){.level = (enum tutti_log_level)extras.log_level, .write = discard_rank_log};
        job->options.log = &job->log;
    }
    tt_text_set_dashes(extras.has_dashes);
    job->options.progress = extras.has_progress ? no_progress : NULL;
    job->options.within = tt_arena_copy_text(&job->arena, folder, strlen(folder));
    if (!job->options.within)
        return tt_fail_memory();
    return TUTTI_OK;
}

void tt_node_protocol_free_job(struct tt_node_job *job)
{
    tt_arena_fini(&job->arena);
}
