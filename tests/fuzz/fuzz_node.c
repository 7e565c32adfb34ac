/* SPDX-License-Identifier: MIT */
/* Any bytes where a node, a runner or a worker reads them. The first one says where:
 *
 *  H  to a node: messages of one connection, each after its length (two bytes, the low one first)
 *  S  the same, after a HELLO: it holds the version, which changes
 *  R  to a runner: a message of a node
 *  P  to a worker: how many ranks there are, and PEERS without its kind
 *  J  to a worker: how many ranks there are, and the job
 *  L  --nodes of the command, or an address of a node
 *  F  a file of nodes
 *  K  a file with a key */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/tempdir.h"
#include "run/key_files.h"
#include "run/node/node_protocol.h"
#include "run/node/node_session.h"
#include "run/launch/nodes.h"

enum { MOST_RANKS = 8, MOST_FILES = 16 };
static const char STAND[] = "the stand-in of an FMU";

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    if (access("/dev/shm", W_OK) == 0) /* in memory: many times faster */
        setenv("TMPDIR", "/dev/shm", 0);
    return 0;
}

static void check(bool good)
{
    if (!good)
        abort();
}

/* Of its own size, so that a look beyond it is seen; with a zero after it, if it is a text. */
static char *copy(const uint8_t *data, size_t size, bool text)
{
    char *bytes = malloc(size + (text || size == 0));
    check(bytes != NULL);
    if (size > 0)
        memcpy(bytes, data, size);
    if (text)
        bytes[size] = '\0';
    return bytes;
}

/* Bytes as a file that is its owner's alone. */
static int make_file(const uint8_t *data, size_t size, char path[static 40])
{
    int fd = memfd_create("node", MFD_CLOEXEC);
    check(fd >= 0 && fchmod(fd, S_IRUSR | S_IWUSR) == 0 && tt_fs_write(fd, data, size, -1) == size);
    snprintf(path, 40, "/proc/self/fd/%d", fd);
    return fd;
}

/* ---- to a runner ---- */

static void read_answer(const char *bytes, size_t size, bool ours)
{
    struct tt_node_client client = {.name = "node:1", .fd = -1};
    struct tt_byte_reader in = {.at = bytes, .end = bytes + size}, for_ready, for_lost, for_denied;
    struct tt_node_ready ready;
    struct tt_node_lost lost;
    struct tt_node_denied denied;
    uint32_t kind;
    enum tutti_err err = tt_node_client_read_kind(&client, &in, &kind);
    check(!err == (size >= sizeof kind && kind != TUTTI_NODE_REFUSED) && (!err || tutti_err_message()[0]));
    check(!ours || err != TUTTI_ERR_FORMAT || !strstr(tutti_err_message(), "says what no node"));
    for_ready = for_lost = for_denied = in;
    if (!err && kind == TUTTI_NODE_WELCOME) {
        err = tt_node_client_read_welcome(&client, &in);
        check(!err == client.welcome && (!ours || client.welcome));
        for (uint32_t i = 0; i < client.offer_count && client.welcome; i++)
            check(client.offers[i].name != NULL);
    }
    if (!err && kind == TUTTI_NODE_LACK && tt_node_client_read_lack(&client, &in, MOST_FILES) == TUTTI_OK)
        for (uint32_t i = 0; i < client.lack_count; i++)
            check(client.lack_count <= MOST_FILES && client.lacks[i] < MOST_FILES);
    if (tt_node_protocol_read_ready(&for_ready, MOST_RANKS, &ready))
        check(ready.rank < MOST_RANKS && ready.port > 0 && ready.port < 65536);
    if (tt_node_protocol_read_lost(&for_lost, MOST_RANKS, &lost))
        check(lost.rank < MOST_RANKS && lost.err != TUTTI_OK && strlen(tutti_err_name(lost.err)) > 0 &&
              (!lost.message || strlen(lost.message) < size));
    if (tt_node_protocol_read_denied(&for_denied, MOST_RANKS, &denied))
        check(denied.rank < MOST_RANKS && strlen(denied.denial.what) < sizeof denied.denial.what);
    tt_node_client_close(&client);
}

/* ---- to a node ---- */

/* Where answers arrive, and what all sessions share. */
static struct {
    void *context, *near, *client;
    struct tt_tempdir *tempdir;
    char stand[200];
    struct stat st;
} place;

static void leave(void)
{
    zmq_close(place.near);
    zmq_close(place.client);
    zmq_ctx_term(place.context);
    tt_tempdir_free(place.tempdir);
}

static void settle(void)
{
    if (place.context)
        return;
    place.context = zmq_ctx_new();
    place.near = zmq_socket(place.context, ZMQ_PAIR);
    place.client = zmq_socket(place.context, ZMQ_PAIR);
    check(zmq_bind(place.client, "inproc://answers") == 0 && zmq_connect(place.near, "inproc://answers") == 0);
    check(tt_tempdir_new(&place.tempdir) == TUTTI_OK);
    snprintf(place.stand, sizeof place.stand, "%s/engine.fmu", tt_tempdir_path(place.tempdir));
    FILE *file = fopen(place.stand, "we");
    check(file && fputs(STAND, file) >= 0 && fclose(file) == 0 && stat(place.stand, &place.st) == 0);
    check(atexit(leave) == 0);
}

/* A runner understands what a node answers. */
static void hear_answers(void)
{
    zmq_msg_t id, answer;
    int count = 0;
    for (;; count++) {
        zmq_msg_init(&id);
        zmq_msg_init(&answer);
        if (zmq_msg_recv(&id, place.client, ZMQ_DONTWAIT) < 0)
            break;
        check(zmq_msg_size(&id) == 1 && zmq_msg_recv(&answer, place.client, ZMQ_DONTWAIT) >= 0);
        read_answer(zmq_msg_data(&answer), zmq_msg_size(&answer), true);
        zmq_msg_close(&id);
        zmq_msg_close(&answer);
    }
    check(count <= 1);
}

static void serve(struct tt_node_daemon *node, bool greeted, const uint8_t *data, size_t size)
{
    struct tt_node_session *session = calloc(1, sizeof *session); /* it frees itself */
    check(session != NULL);
    session->id_size = 1;
    session->greeted = greeted;
    while (size >= 2 && !session->over) {
        size_t length = data[0] | (size_t)data[1] << 8;
        data += 2;
        size -= 2;
        length = length < size ? length : size;
        char *message = copy(data, length, false);
        tt_node_session_receive(node, session, message, length);
        free(message);
        hear_answers();
        tt_node_session_check_workers(node, session);
        data += length;
        size -= length;
    }
    tt_node_session_free(node, session);
}

/* A node as it is, but for its sockets; and with a program for workers that cannot be started. */
static void read_session(bool greeted, const uint8_t *data, size_t size)
{
    static const char *const worker[] = {"/dev/null/worker", NULL};
    settle();
    struct tt_node_options options = {.worker = worker, .cache_size = 1 << 20, .idle = 300};
    struct tt_node_offer offer = {.name = (char[]){"engine.fmu"},
                                  .path = place.stand,
                                  .stand = place.stand,
                                  .size = place.st.st_size,
                                  .changed = place.st.st_mtim};
    tt_content_of_bytes(&offer.content, STAND, strlen(STAND));
    struct tt_node_daemon *node = calloc(1, sizeof *node);
    check(node != NULL);
    *node = (struct tt_node_daemon){.options = &options,
                                    .address = {.host = "127.0.0.1", .port = 1},
                                    .loopback = true,
                                    .offers = &offer,
                                    .offer_count = 1,
                                    .router = place.near};
    char folder[240];
    snprintf(folder, sizeof folder, "%s/cache", tt_tempdir_path(place.tempdir));
    check(tt_content_cache_open(&node->cache, folder) == TUTTI_OK);
    serve(node, greeted, data, size);
    tt_content_cache_free(node->cache);
    check(tt_fs_remove_tree(folder) == 0); /* what one input brings is not there for the next */
    tt_bytes_fini(&node->parcel);
    free(node);
}

/* ---- to a worker ---- */

static void read_peers(const char *bytes, size_t size, int ranks)
{
    struct tt_byte_reader in = {.at = bytes, .end = bytes + size};
    struct tt_tcp_peer peers[MOST_RANKS] = {0};
    uint8_t key[TUTTI_KEY_SIZE];
    bool meets_all;
    if (!tt_node_protocol_read_peers(&in, ranks, &meets_all, key, peers))
        return;
    for (int i = 0; i < ranks; i++)
        check(memchr(peers[i].endpoint, 0, sizeof peers[i].endpoint) && memchr(peers[i].host, 0, sizeof peers[i].host));
}

/* Options that were read once are the same whenever they travel on. */
static void pass_on(const struct tutti_run_options *options)
{
    struct tt_byte_writer parcels[2] = {0};
    struct tutti_run_options next;
    struct tt_options_extras extras;
    struct tt_arena arena = {0};
    check(tt_options_pack(options, &parcels[0]) == TUTTI_OK);
    struct tt_byte_reader in = {.at = parcels[0].bytes, .end = parcels[0].bytes + parcels[0].size};
    check(tt_options_unpack(&next, &extras, &in, &arena) == TUTTI_OK && in.at == in.end);
    next.log = options->log;
    next.progress = options->progress;
    check(extras.log_level == (options->log ? (int)options->log->level : -1));
    check(extras.has_progress == (options->progress != NULL));
    check(tt_options_pack(&next, &parcels[1]) == TUTTI_OK && parcels[0].size == parcels[1].size);
    check(memcmp(parcels[0].bytes, parcels[1].bytes, parcels[0].size) == 0);
    tt_bytes_fini(&parcels[0]);
    tt_bytes_fini(&parcels[1]);
    tt_arena_fini(&arena);
}

static void read_job(const char *bytes, size_t size, int ranks)
{
    struct tt_node_job job;
    enum tutti_err err = tt_node_protocol_read_job(&job, bytes, size, "/folder", ranks);
    check(!err || tutti_err_message()[0]);
    for (uint32_t i = 0; i < job.place_count && !err; i++)
        check(job.place[i] >= 0 && job.place[i] < ranks);
    for (size_t i = 0; i < job.options.alias_count && !err; i++) /* names never become paths */
        check(job.options.aliases[i].name && strncmp(job.options.aliases[i].path, "/folder/", 8) == 0 &&
              strspn(job.options.aliases[i].path + 8, "0123456789") == strlen(job.options.aliases[i].path + 8));
    if (!err)
        pass_on(&job.options);
    tt_node_protocol_free_job(&job);
}

/* ---- lists and keys ---- */

static void read_list(const char *text)
{
    struct tt_nodes_list list;
    bool seen[TUTTI_NODE_MOST_RANKS] = {false};
    int ranks = 0;
    enum tutti_err err = tt_nodes_list_read(&list, text);
    check(err ? tutti_err_message()[0] != '\0' : list.ranks > 0 && list.ranks <= TUTTI_NODE_MOST_RANKS);
    for (size_t i = 0; i < list.count && !err; i++) {
        const struct tt_nodes_entry *entry = &list.entries[i];
        check(entry->address.host[0] && entry->address.port > 0 && entry->address.port < 65536);
        for (int r = 0; r < entry->rank_count; r++, ranks++) {
            check(entry->ranks[r] >= 0 && entry->ranks[r] < list.ranks && !seen[entry->ranks[r]]);
            check(r == 0 || entry->ranks[r] > entry->ranks[r - 1]);
            seen[entry->ranks[r]] = true;
        }
    }
    check(err || ranks == list.ranks);
    tt_nodes_list_fini(&list);
}

/* An address that is accepted is the same when it is written and read again. */
static void read_address(const char *text)
{
    const struct tt_address_rule rule = {.option = "--listen", .any_port = true};
    struct tt_address address, again;
    char written[TUTTI_ADDRESS_SIZE];
    if (tt_address_read(&address, text, &rule) != TUTTI_OK)
        return;
    (void)tt_address_is_loopback(&address);
    tt_address_format(&address, "", written, sizeof written);
    check(tt_address_read(&again, written, &rule) == TUTTI_OK);
    check(strcmp(again.host, address.host) == 0 && again.port == address.port);
}

static void read_words(const uint8_t *data, size_t size)
{
    char *text = copy(data, size, true);
    read_address(text);
    if (!strchr(text, '/') && strchr(text, ':')) /* else it names a file, which might be any */
        read_list(text);
    free(text);
}

static void read_key(const char *path)
{
    struct tt_curve_keys keys;
    uint8_t key[TUTTI_KEY_SIZE];
    char text[TUTTI_KEY_TEXT];
    enum tutti_err err = tt_key_files_read(path, &keys);
    check((tt_key_files_read_public(path, key) == TUTTI_OK) == (err == TUTTI_OK));
    if (err)
        return;
    check(memcmp(key, keys.secret_key, sizeof key) == 0);
    tt_curve_auth_format_key(key, text);
    check(tt_curve_auth_parse_key(text, keys.public_key) == TUTTI_OK && memcmp(keys.public_key, key, sizeof key) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[40] = "";
    if (size < 2)
        return 0;
    bool file = data[0] == 'F' || data[0] == 'K';
    int ranks = 1 + data[1] % MOST_RANKS, fd = file ? make_file(data + 1, size - 1, path) : -1;
    char *message = copy(data + 1, size - 1, false), *rest = copy(data + 2, size - 2, false);
    switch (data[0]) {
    case 'H':
    case 'S': read_session(data[0] == 'S', data + 1, size - 1); break;
    case 'R': read_answer(message, size - 1, false); break;
    case 'P': read_peers(rest, size - 2, ranks); break;
    case 'J': read_job(rest, size - 2, ranks); break;
    case 'L': read_words(data + 1, size - 1); break;
    case 'F': read_list(path); break;
    case 'K': read_key(path); break;
    default: break;
    }
    if (fd >= 0)
        close(fd);
    free(message);
    free(rest);
    return 0;
}
