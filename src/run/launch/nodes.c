/* SPDX-License-Identifier: MIT */
#include "run/launch/nodes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/text.h"
#include "base/wall_clock.h"
#include "model/ssp/package.h"
#include "run/key_files.h"

/* Nodes of a run: who they are, whether they are there, and what they offer. */

/* Seconds until a node that does not answer is given up. */
static const double CONNECT = 5.0, CONNECT_AGAIN = 1.0; /* after a loss: those that are there have answered before */

/* ---- keys ---- */

/* Beyond loopback keys have to be named; and a run that names one names all. */
static enum tutti_err check_keys(struct tt_nodes *nodes)
{
    const struct tt_nodes_entry *near = NULL, *beyond = NULL, *without = NULL, *with = NULL;
    for (size_t i = 0; i < nodes->list.count; i++) {
        const struct tt_nodes_entry *entry = &nodes->list.entries[i];
        *(tt_address_is_loopback(&entry->address) ? &near : &beyond) = entry;
        *(entry->has_key ? &with : &without) = entry;
    }
    if (near && beyond)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "--nodes: %s:%d is this machine by a name that is good here only, and %s:%d is another: name "
                       "this one by an address that the others can reach",
                       near->address.host, near->address.port, beyond->address.host, beyond->address.port);
    if (without && (with || beyond))
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "--nodes: the public key of %s:%d is missing; write a file with a line HOST:PORT PUBLICKEY for "
                       "each node (the key is what `tutti node --keygen` printed there)",
                       without->address.host, without->address.port);
    if (with && !nodes->asked->key)
        return tt_fail(TUTTI_ERR_ARGUMENT, "--nodes: nodes with keys want to know whose run it is: --key FILE, made "
                                           "by `tutti node --keygen FILE`");
    if (!with && nodes->asked->key)
        return tt_fail(TUTTI_ERR_ARGUMENT, "--key has no effect here: no node has its public key beside it in --nodes; "
                                           "write HOST:PORT PUBLICKEY, or leave --key out");
    if (with)
        return tt_key_files_read(nodes->asked->key, &nodes->keys);

    /* Nodes on this machine that were started without a key have that of their user, as this run has. */
    TRY(tt_key_files_local(&nodes->keys));
    for (size_t i = 0; i < nodes->list.count; i++)
        memcpy(nodes->list.entries[i].key, nodes->keys.public_key, sizeof nodes->list.entries[i].key);
    return TUTTI_OK;
}

/* ---- greeting ---- */

static enum tutti_err nodes_greet(struct tt_node_client *client)
{
    struct tt_node_client_message message;
    bool got;
    TRY(tt_node_client_check(client));
    TRY(tt_node_client_receive(client, &message, &got));
    if (!got)
        return TUTTI_OK;
    enum tutti_err err = message.kind == TUTTI_NODE_WELCOME ? tt_node_client_read_welcome(client, &message.in)
                                                            : tt_node_client_fail_message(client);
    tt_node_client_release(&message);
    return err;
}

static enum tutti_err greet_all(struct tt_nodes *nodes)
{
    const volatile sig_atomic_t *interrupt = nodes->asked->interrupt;
    double deadline = tt_wall_clock_now() + (nodes->asked->spares_nodes ? CONNECT_AGAIN : CONNECT);
    size_t met = 0;
    while (met < nodes->list.count) {
        met = 0;
        for (size_t i = 0; i < nodes->list.count; i++) {
            struct tt_node_client *client = &nodes->clients[i];
            nodes->silent = i;
            if (!client->welcome)
                TRY(nodes_greet(client));
            if (!client->welcome && tt_wall_clock_now() > deadline)
                return tt_node_client_fail_late(client);
            met += client->welcome;
        }
        if (interrupt && *interrupt)
            return tt_fail(TUTTI_ERR_INTERRUPTED, "interrupted while nodes were asked");
        if (met < nodes->list.count)
            zmq_poll(NULL, 0, 5);
    }
    return TUTTI_OK;
}

static void disconnect_all(struct tt_nodes *nodes)
{
    for (size_t i = 0; nodes->clients && i < nodes->list.count; i++)
        tt_node_client_close(&nodes->clients[i]);
    if (nodes->context)
        zmq_ctx_term(nodes->context);
    free(nodes->clients);
    nodes->clients = NULL;
    nodes->context = NULL;
}

static enum tutti_err nodes_connect_all(struct tt_nodes *nodes)
{
    nodes->context = zmq_ctx_new();
    nodes->clients = calloc(nodes->list.count, sizeof *nodes->clients);
    if (!nodes->context || !nodes->clients)
        return tt_fail_memory();
    for (size_t i = 0; i < nodes->list.count; i++)
        nodes->clients[i].fd = -1;
    tt_node_protocol_write_hello(&nodes->parcel);
    for (size_t i = 0; i < nodes->list.count; i++) {
        struct tt_node_client *client = &nodes->clients[i];
        nodes->silent = i;
        TRY(tt_node_client_open(client, nodes->context, &nodes->list.entries[i], &nodes->keys));
        TRY(tt_node_client_send(client, &nodes->parcel));
    }
    return greet_all(nodes);
}

/* ---- offers ---- */

/* Returns true if the run may use it. For systems that is unknown before they are read. */
static bool nodes_may_need_file(const struct tutti_run_options *options, const char *name)
{
    for (size_t i = 0; i < options->file_count; i++) {
        const char *file = options->files[i], *equals = strrchr(file, '='), *slash = strrchr(file, '/');
        char *path = strndup(file, strcspn(file, "#"));
        bool wanted = !path || strcmp(slash ? slash + 1 : file, name) == 0 ||
                      (equals && strcmp(equals + 1, name) == 0) || tt_package_is_system(path) ||
                      (equals && tt_package_is_system(path + (equals + 1 - file)));
        free(path);
        if (wanted)
            return true;
    }
    return false;
}

static enum tutti_err fetch_offer_piece(struct tt_nodes *nodes, struct tt_node_client *client, uint32_t index,
                                        struct tt_content_arrival *arrival)
{
    struct tt_node_client_message message;
    bool got = false;
    double deadline = tt_wall_clock_now() + CONNECT;
    tt_node_protocol_start_message(&nodes->parcel, TUTTI_NODE_FETCH);
    tt_bytes_put_u32(&nodes->parcel, index);
    tt_bytes_put_u64(&nodes->parcel, tt_content_arrival_size(arrival));
    TRY(tt_node_client_send(client, &nodes->parcel));
    while (!got) {
        zmq_pollitem_t item = {.socket = client->socket, .events = ZMQ_POLLIN};
        zmq_poll(&item, 1, 100);
        TRY(tt_node_client_check(client));
        TRY(tt_node_client_receive(client, &message, &got));
        if (!got && tt_wall_clock_now() > deadline)
            return tt_node_client_fail_late(client);
    }
    size_t size;
    uint32_t told = tt_bytes_get_u32(&message.in);
    uint64_t offset = tt_bytes_get_u64(&message.in);
    const void *bytes = tt_bytes_get_block(&message.in, &size);
    enum tutti_err err = message.in.bad || message.kind != TUTTI_NODE_PIECE_OF || told != index || size == 0 ||
                                 offset != tt_content_arrival_size(arrival)
                             ? tt_node_client_fail_message(client)
                             : tt_content_arrival_write(arrival, bytes, size);
    tt_node_client_release(&message);
    return err;
}

static enum tutti_err nodes_fetch_offer(struct tt_nodes *nodes, struct tt_node_client *client, uint32_t index,
                                        const struct tt_content_cache *cache)
{
    struct tt_node_client_offer *offer = &client->offers[index];
    struct tt_content_arrival *arrival;
    TRY(tt_content_arrival_new(&arrival, cache, &offer->content));
    enum tutti_err err = TUTTI_OK;
    while (!err && tt_content_arrival_size(arrival) < offer->content.size)
        err = fetch_offer_piece(nodes, client, index, arrival);
    if (err) {
        tt_content_arrival_free(arrival);
        return err;
    }
    TRY(tt_content_arrival_finish(arrival));
    char *path = tt_content_cache_path(cache, &offer->content);
    offer->path = path ? realpath(path, NULL) : NULL;
    free(path);
    return offer->path ? TUTTI_OK : tt_fail_memory();
}

/* An alias for the offer, unless another node offers the same. */
static enum tutti_err add_offer_alias(struct tt_nodes *nodes, const struct tt_node_client *client, uint32_t index)
{
    const struct tt_node_client_offer *offer = &client->offers[index];
    for (const struct tt_node_client *other = nodes->clients; other < client; other++)
        for (uint32_t i = 0; i < other->offer_count; i++)
            if (strcmp(other->offers[i].name, offer->name) == 0 && other->offers[i].path)
                return tt_content_equal(&other->offers[i].content, &offer->content)
                           ? TUTTI_OK
                           : tt_fail(TUTTI_ERR_ARGUMENT,
                                     "the nodes at %s and %s both offer %s, and they are not the "
                                     "same; call one by another name",
                                     other->name, client->name, tt_text_excerpt(offer->name).text);
    nodes->aliases[nodes->options.alias_count++] =
        (struct tt_file_alias){.name = offer->name, .path = offer->path, .if_missing = true};
    return TUTTI_OK;
}

static enum tutti_err fetch_all_offers(struct tt_nodes *nodes, const struct tt_content_cache *cache)
{
    for (size_t n = 0; n < nodes->list.count; n++)
        for (uint32_t i = 0; i < nodes->clients[n].offer_count; i++)
            if (nodes_may_need_file(nodes->asked, nodes->clients[n].offers[i].name)) {
                TRY(nodes_fetch_offer(nodes, &nodes->clients[n], i, cache));
                TRY(add_offer_alias(nodes, &nodes->clients[n], i));
            }
    return TUTTI_OK;
}

/* Stand-ins live in the temporary folder of the run. */
static enum tutti_err fetch_offers_to_tempdir(struct tt_nodes *nodes)
{
    size_t room = nodes->asked->alias_count + 1;
    struct tt_content_cache *cache = NULL;
    struct tt_text folder = {0};
    for (size_t n = 0; n < nodes->list.count; n++)
        room += nodes->clients[n].offer_count;
    nodes->options = *nodes->asked;
    nodes->aliases = calloc(room, sizeof *nodes->aliases);
    if (!nodes->aliases)
        return tt_fail_memory();
    if (nodes->asked->alias_count > 0)
        memcpy(nodes->aliases, nodes->asked->aliases, nodes->asked->alias_count * sizeof *nodes->aliases);
    nodes->options.aliases = nodes->aliases;
    TRY(tt_tempdir_new(&nodes->tempdir));
    tt_text_printf(&folder, "%s/offers", tt_tempdir_path(nodes->tempdir));
    enum tutti_err err = folder.failed ? tt_fail_memory() : tt_content_cache_open(&cache, folder.text);
    if (!err)
        err = fetch_all_offers(nodes, cache);
    tt_content_cache_free(cache);
    tt_text_fini(&folder);
    return err;
}

/* ---- from outside ---- */

static enum tutti_err open_nodes(struct tt_nodes *nodes)
{
    TRY(tt_nodes_list_read(&nodes->list, nodes->asked->nodes));
    TRY(check_keys(nodes));
    enum tutti_err err = nodes_connect_all(nodes);
    while (err == TUTTI_ERR_LOST && nodes->asked->spares_nodes && nodes->list.count > 1) {
        tt_log(nodes->asked->log, TUTTI_LOG_WARNING, NULL, "%s; the run does without it", tutti_err_message());
        disconnect_all(nodes);
        tt_nodes_list_remove(&nodes->list, nodes->silent);
        err = nodes_connect_all(nodes);
    }
    TRY(err);
    return fetch_offers_to_tempdir(nodes);
}

enum tutti_err tt_nodes_open(struct tt_nodes **out, const struct tutti_run_options *options)
{
    *out = NULL;
    struct tt_nodes *nodes = calloc(1, sizeof *nodes);
    if (!nodes)
        return tt_fail_memory();
    nodes->asked = options;
    enum tutti_err err = open_nodes(nodes);
    if (err) {
        char message[4096];
        snprintf(message, sizeof message, "%s", tutti_err_message());
        tt_nodes_close(nodes);
        return tt_fail(err, "%s", message);
    }
    *out = nodes;
    return TUTTI_OK;
}

void tt_nodes_close(struct tt_nodes *nodes)
{
    if (!nodes)
        return;
    disconnect_all(nodes);
    free(nodes->aliases);
    for (size_t i = 0; i < nodes->fixed_count; i++)
        free(nodes->fixed[i]);
    free(nodes->fixed);
    tt_nodes_list_fini(&nodes->list);
    tt_tempdir_free(nodes->tempdir);
    tt_curve_auth_wipe_keys(&nodes->keys);
    tt_bytes_fini(&nodes->parcel);
    free(nodes);
}

/* The node that has the FMU with this stand-in; NULL: any can have it. */
static const struct tt_node_client *find_offer_owner(const struct tt_nodes *nodes, const struct tt_system *system,
                                                     const struct tt_fmu *fmu)
{
    const char *path = NULL;
    for (uint32_t f = 0; f < system->file_count && !path; f++)
        if (system->files[f].fmu && strcmp(system->files[f].name, fmu->path) == 0)
            path = system->files[f].path;
    for (size_t n = 0; n < nodes->list.count && path; n++)
        for (uint32_t i = 0; i < nodes->clients[n].offer_count; i++)
            if (nodes->clients[n].offers[i].path && strcmp(nodes->clients[n].offers[i].path, path) == 0)
                return &nodes->clients[n];
    return NULL;
}

static bool nodes_have_offers(const struct tt_nodes *nodes)
{
    return nodes->options.alias_count > nodes->asked->alias_count;
}

enum tutti_err tt_nodes_assign_units(struct tt_nodes *nodes, const struct tt_system *system)
{
    size_t own = nodes->asked->place_count;
    if (!nodes_have_offers(nodes))
        return TUTTI_OK;
    if (nodes->asked->twin)
        return tt_fail(TUTTI_ERR_UNSUPPORTED,
                       "--twin: FMUs that stay with their node have no second instance elsewhere; leave it "
                       "out, or bring the FMUs");
    nodes->fixed = calloc(system->component_count + own + 1, sizeof *nodes->fixed);
    if (!nodes->fixed)
        return tt_fail_memory();
    for (uint32_t c = 0; c < system->component_count; c++) {
        const struct tt_node_client *client = find_offer_owner(nodes, system, system->components[c].fmu);
        if (!client)
            continue;
        /* "UNIT=RANK"; several units of an offer take turns on the ranks of their node. */
        const struct tt_nodes_entry *entry = client->entry;
        struct tt_text text = {0};
        tt_text_printf(&text, "%s=%d", system->components[c].name,
                       entry->ranks[(int)nodes->fixed_count % entry->rank_count]);
        if (text.failed)
            return tt_fail_memory();
        nodes->fixed[nodes->fixed_count++] = text.text;
    }
    nodes->options.places = (const char *const *)nodes->fixed;
    nodes->options.place_count = nodes->fixed_count + own;
    if (own > 0) /* after them: options of the user come first, and are checked */
        memcpy(nodes->fixed + nodes->fixed_count, nodes->asked->places, own * sizeof *nodes->fixed);
    return TUTTI_OK;
}

static enum tutti_err nodes_check_place(const struct tt_nodes *nodes, const struct tt_system *system,
                                        const int32_t *place)
{
    for (uint32_t c = 0; c < system->component_count && nodes_have_offers(nodes); c++) {
        const struct tt_node_client *client = find_offer_owner(nodes, system, system->components[c].fmu);
        bool right = !client;
        for (int i = 0; client && i < client->entry->rank_count; i++)
            right = right || client->entry->ranks[i] == place[c];
        if (!right)
            return tt_fail(TUTTI_ERR_ARGUMENT,
                           "--place puts '%s' on rank %d, but %s stays with the node at %s, which is rank %d",
                           system->components[c].name, (int)place[c], system->components[c].fmu->path, client->name,
                           client->entry->ranks[0]);
    }
    return TUTTI_OK;
}

enum tutti_err tt_nodes_remove_unused(struct tt_nodes *nodes, const struct tt_system *system, int32_t *place)
{
    uint32_t count = system->component_count;
    TRY(nodes_check_place(nodes, system, place));
    struct tt_nodes_list *list = &nodes->list;
    int32_t *numbers = calloc((size_t)list->ranks, sizeof *numbers); /* 1 if it is used; then what it becomes, or -1 */
    int32_t used = 0;
    if (!numbers)
        return tt_fail_memory();
    for (uint32_t c = 0; c < count; c++) {
        numbers[place[c]] = 1;
        if (nodes->asked->twin) /* second instances run on the second half of the ranks */
            numbers[list->ranks / 2 + place[c]] = 1;
    }
    for (int r = 0; r < list->ranks; r++)
        numbers[r] = numbers[r] ? used++ : -1;
    for (size_t n = 0; n < list->count; n++) {
        struct tt_nodes_entry *entry = &list->entries[n];
        int kept = 0;
        for (int i = 0; i < entry->rank_count; i++)
            if (numbers[entry->ranks[i]] >= 0)
                entry->ranks[kept++] = numbers[entry->ranks[i]];
        entry->rank_count = kept;
    }
    for (uint32_t c = 0; c < count; c++)
        place[c] = numbers[place[c]];
    list->ranks = used;
    free(numbers);
    return TUTTI_OK;
}
