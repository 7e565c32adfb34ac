/* SPDX-License-Identifier: MIT */
/* Nodes of a run: who they are, whether they are there, and what they offer. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/str.h"
#include "conduct/key_files.h"
#include "conduct/launch/nodes_parts.h"
#include "ssp/package.h"

/* Seconds until a node that does not answer is given up. */
static const double CONNECT = 5.0, CONNECT_AGAIN = 1.0; /* after a loss: those that are there have answered before */

/* ---- keys ---- */

/* Nodes on this machine that were started without a key have that of their user, as this run has. */
static enum tutti_err take_own_key(struct tutti_nodes *nodes)
{
    TRY(tutti_key_files_local(&nodes->keys));
    for (size_t i = 0; i < nodes->list.count; i++)
        memcpy(nodes->list.entries[i].key, nodes->keys.public_key, sizeof nodes->list.entries[i].key);
    return TUTTI_OK;
}

/* Beyond loopback keys have to be named; and a run that names one names all. */
static enum tutti_err check_keys(struct tutti_nodes *nodes)
{
    const struct tutti_nodes_entry *near = NULL, *beyond = NULL, *without = NULL, *with = NULL;
    for (size_t i = 0; i < nodes->list.count; i++) {
        const struct tutti_nodes_entry *entry = &nodes->list.entries[i];
        *(tutti_address_is_loopback(&entry->address) ? &near : &beyond) = entry;
        *(entry->has_key ? &with : &without) = entry;
    }
    if (near && beyond)
        return tutti_fail(TUTTI_ERR_ARGUMENT,
                          "--nodes: %s:%d is this machine by a name that is good here only, and %s:%d is another: name "
                          "this one by an address that the others can reach",
                          near->address.host, near->address.port, beyond->address.host, beyond->address.port);
    if (without && (with || beyond))
        return tutti_fail(
            TUTTI_ERR_ARGUMENT,
            "--nodes: the public key of %s:%d is missing; write a file with a line HOST:PORT PUBLICKEY for "
            "each node (the key is what `tutti node --keygen` printed there)",
            without->address.host, without->address.port);
    if (with && !nodes->asked->key)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--nodes: nodes with keys want to know whose run it is: --key FILE, made "
                                              "by `tutti node --keygen FILE`");
    if (!with && nodes->asked->key)
        return tutti_fail(TUTTI_ERR_ARGUMENT,
                          "--key has no effect here: no node has its public key beside it in --nodes; "
                          "write HOST:PORT PUBLICKEY, or leave --key out");
    return with ? tutti_key_files_read(nodes->asked->key, &nodes->keys) : take_own_key(nodes);
}

/* ---- greeting ---- */

static enum tutti_err greet(struct tutti_node_client *client)
{
    struct tutti_node_client_message message;
    bool got;
    TRY(tutti_node_client_look(client));
    TRY(tutti_node_client_receive(client, &message, &got));
    if (!got)
        return TUTTI_OK;
    enum tutti_err err = message.kind == TUTTI_NODE_WELCOME ? tutti_node_client_take_welcome(client, &message.in)
                                                            : tutti_node_client_fail_message(client);
    tutti_node_client_release(&message);
    return err;
}

static enum tutti_err greet_all(struct tutti_nodes *nodes)
{
    const volatile sig_atomic_t *interrupt = nodes->asked->interrupt;
    double deadline = tutti_clock_now() + (nodes->asked->spares_nodes ? CONNECT_AGAIN : CONNECT);
    size_t met = 0;
    while (met < nodes->list.count) {
        met = 0;
        for (size_t i = 0; i < nodes->list.count; i++) {
            struct tutti_node_client *client = &nodes->clients[i];
            nodes->silent = i;
            if (!client->welcome)
                TRY(greet(client));
            if (!client->welcome && tutti_clock_now() > deadline)
                return tutti_node_client_fail_late(client);
            met += client->welcome;
        }
        if (interrupt && *interrupt)
            return tutti_fail(TUTTI_ERR_INTERRUPTED, "interrupted while nodes were asked");
        if (met < nodes->list.count)
            zmq_poll(NULL, 0, 5);
    }
    return TUTTI_OK;
}

static void disconnect_all(struct tutti_nodes *nodes)
{
    for (size_t i = 0; nodes->clients && i < nodes->list.count; i++)
        tutti_node_client_close(&nodes->clients[i]);
    if (nodes->context)
        zmq_ctx_term(nodes->context);
    free(nodes->clients);
    nodes->clients = NULL;
    nodes->context = NULL;
}

static enum tutti_err connect_all(struct tutti_nodes *nodes)
{
    nodes->context = zmq_ctx_new();
    nodes->clients = calloc(nodes->list.count, sizeof *nodes->clients);
    if (!nodes->context || !nodes->clients)
        return tutti_fail_memory();
    for (size_t i = 0; i < nodes->list.count; i++)
        nodes->clients[i].fd = -1;
    tutti_node_write_hello(&nodes->parcel);
    for (size_t i = 0; i < nodes->list.count; i++) {
        struct tutti_node_client *client = &nodes->clients[i];
        nodes->silent = i;
        TRY(tutti_node_client_open(client, nodes->context, &nodes->list.entries[i], &nodes->keys));
        TRY(tutti_node_client_send(client, &nodes->parcel));
    }
    return greet_all(nodes);
}

/* ---- offers ---- */

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Might the run use it? Of systems that is not known before they are read. */
static bool is_wanted(const struct tutti_run_options *options, const char *name)
{
    for (size_t i = 0; i < options->file_count; i++) {
        const char *file = options->files[i], *equals = strrchr(file, '=');
        char *path = strndup(file, strcspn(file, "#"));
        bool wanted = !path || strcmp(file_name(file), name) == 0 || (equals && strcmp(equals + 1, name) == 0) ||
                      tutti_package_is(path) || (equals && tutti_package_is(path + (equals + 1 - file)));
        free(path);
        if (wanted)
            return true;
    }
    return false;
}

/* Waits for one piece of the stand-in. */
static enum tutti_err fetch_piece(struct tutti_nodes *nodes, struct tutti_node_client *client, uint32_t index,
                                  struct tutti_arrival *arrival)
{
    struct tutti_node_client_message message;
    bool got = false;
    double deadline = tutti_clock_now() + CONNECT;
    tutti_node_begin(&nodes->parcel, TUTTI_NODE_FETCH);
    tutti_parcel_put_u32(&nodes->parcel, index);
    tutti_parcel_put_u64(&nodes->parcel, tutti_arrival_size(arrival));
    TRY(tutti_node_client_send(client, &nodes->parcel));
    while (!got) {
        zmq_pollitem_t item = {.socket = client->socket, .events = ZMQ_POLLIN};
        zmq_poll(&item, 1, 100);
        TRY(tutti_node_client_look(client));
        TRY(tutti_node_client_receive(client, &message, &got));
        if (!got && tutti_clock_now() > deadline)
            return tutti_node_client_fail_late(client);
    }
    size_t size;
    uint32_t told = tutti_unparcel_u32(&message.in);
    uint64_t offset = tutti_unparcel_u64(&message.in);
    const void *bytes = tutti_unparcel_block(&message.in, &size);
    enum tutti_err err = message.in.bad || message.kind != TUTTI_NODE_PIECE_OF || told != index || size == 0 ||
                                 offset != tutti_arrival_size(arrival)
                             ? tutti_node_client_fail_message(client)
                             : tutti_arrival_put(arrival, bytes, size);
    tutti_node_client_release(&message);
    return err;
}

static enum tutti_err fetch(struct tutti_nodes *nodes, struct tutti_node_client *client, uint32_t index,
                            const struct tutti_cache *cache)
{
    struct tutti_node_client_offer *offer = &client->offers[index];
    struct tutti_arrival *arrival;
    TRY(tutti_arrival_new(&arrival, cache, &offer->content));
    enum tutti_err err = TUTTI_OK;
    while (!err && tutti_arrival_size(arrival) < offer->content.size)
        err = fetch_piece(nodes, client, index, arrival);
    if (err) {
        tutti_arrival_free(arrival);
        return err;
    }
    TRY(tutti_arrival_finish(arrival));
    char *path = tutti_cache_path(cache, &offer->content);
    offer->path = path ? realpath(path, NULL) : NULL;
    free(path);
    return offer->path ? TUTTI_OK : tutti_fail_memory();
}

/* An alias for the offer, unless another node offers the same. */
static enum tutti_err add_alias(struct tutti_nodes *nodes, const struct tutti_node_client *client, uint32_t index)
{
    const struct tutti_node_client_offer *offer = &client->offers[index];
    for (const struct tutti_node_client *other = nodes->clients; other < client; other++)
        for (uint32_t i = 0; i < other->offer_count; i++)
            if (strcmp(other->offers[i].name, offer->name) == 0 && other->offers[i].path)
                return tutti_content_same(&other->offers[i].content, &offer->content)
                           ? TUTTI_OK
                           : tutti_fail(TUTTI_ERR_ARGUMENT,
                                        "the nodes at %s and %s both offer %s, and they are not the "
                                        "same; call one by another name",
                                        other->name, client->name, tutti_str_show(offer->name).text);
    nodes->aliases[nodes->options.alias_count++] =
        (struct tutti_file_alias){.name = offer->name, .path = offer->path, .if_missing = true};
    return TUTTI_OK;
}

static enum tutti_err fetch_all(struct tutti_nodes *nodes, const struct tutti_cache *cache)
{
    for (size_t n = 0; n < nodes->list.count; n++)
        for (uint32_t i = 0; i < nodes->clients[n].offer_count; i++)
            if (is_wanted(nodes->asked, nodes->clients[n].offers[i].name)) {
                TRY(fetch(nodes, &nodes->clients[n], i, cache));
                TRY(add_alias(nodes, &nodes->clients[n], i));
            }
    return TUTTI_OK;
}

/* Stand-ins live in the temporary folder of the run. */
static enum tutti_err get_offers(struct tutti_nodes *nodes)
{
    size_t room = nodes->asked->alias_count + 1;
    struct tutti_cache *cache = NULL;
    struct tutti_text folder = {0};
    for (size_t n = 0; n < nodes->list.count; n++)
        room += nodes->clients[n].offer_count;
    nodes->options = *nodes->asked;
    nodes->aliases = calloc(room, sizeof *nodes->aliases);
    if (!nodes->aliases)
        return tutti_fail_memory();
    if (nodes->asked->alias_count > 0)
        memcpy(nodes->aliases, nodes->asked->aliases, nodes->asked->alias_count * sizeof *nodes->aliases);
    nodes->options.aliases = nodes->aliases;
    TRY(tutti_tempdir_new(&nodes->tempdir));
    tutti_text_printf(&folder, "%s/offers", tutti_tempdir_path(nodes->tempdir));
    enum tutti_err err = folder.failed ? tutti_fail_memory() : tutti_cache_open(&cache, folder.text);
    if (!err)
        err = fetch_all(nodes, cache);
    tutti_cache_free(cache);
    tutti_text_fini(&folder);
    return err;
}

/* ---- from outside ---- */

static enum tutti_err open_nodes(struct tutti_nodes *nodes)
{
    TRY(tutti_nodes_list_read(&nodes->list, nodes->asked->nodes));
    TRY(check_keys(nodes));
    enum tutti_err err = connect_all(nodes);
    while (err == TUTTI_ERR_LOST && nodes->asked->spares_nodes && nodes->list.count > 1) {
        tutti_log_printf(nodes->asked->log, TUTTI_LOG_WARNING, NULL, "%s; the run does without it",
                         tutti_err_message());
        disconnect_all(nodes);
        tutti_nodes_list_drop(&nodes->list, nodes->silent);
        err = connect_all(nodes);
    }
    TRY(err);
    return get_offers(nodes);
}

enum tutti_err tutti_nodes_open(struct tutti_nodes **out, const struct tutti_run_options *options)
{
    *out = NULL;
    struct tutti_nodes *nodes = calloc(1, sizeof *nodes);
    if (!nodes)
        return tutti_fail_memory();
    nodes->asked = options;
    enum tutti_err err = open_nodes(nodes);
    if (err) {
        char message[4096];
        snprintf(message, sizeof message, "%s", tutti_err_message());
        tutti_nodes_close(nodes);
        return tutti_fail(err, "%s", message);
    }
    *out = nodes;
    return TUTTI_OK;
}

void tutti_nodes_close(struct tutti_nodes *nodes)
{
    if (!nodes)
        return;
    disconnect_all(nodes);
    free(nodes->aliases);
    for (size_t i = 0; i < nodes->fixed_count; i++)
        free(nodes->fixed[i]);
    free(nodes->fixed);
    tutti_nodes_list_fini(&nodes->list);
    tutti_tempdir_free(nodes->tempdir);
    tutti_keys_wipe(&nodes->keys);
    tutti_parcel_fini(&nodes->parcel);
    free(nodes);
}

/* The node that has the FMU with this stand-in; NULL: any can have it. */
static const struct tutti_node_client *owner_of(const struct tutti_nodes *nodes, const struct tutti_system *system,
                                                const struct tutti_fmu *fmu)
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

/* "UNIT=RANK"; several units of an offer take turns on the ranks of their node. False: memory is out. */
static bool fix_unit(struct tutti_nodes *nodes, const struct tutti_node_client *client, const char *unit, int turn)
{
    struct tutti_text text = {0};
    tutti_text_printf(&text, "%s=%d", unit, client->entry->ranks[turn % client->entry->rank_count]);
    if (text.failed)
        return false;
    nodes->fixed[nodes->fixed_count++] = text.text;
    return true;
}

static bool has_offers(const struct tutti_nodes *nodes)
{
    return nodes->options.alias_count > nodes->asked->alias_count;
}

enum tutti_err tutti_nodes_fix(struct tutti_nodes *nodes, const struct tutti_system *system)
{
    size_t own = nodes->asked->place_count;
    if (!has_offers(nodes))
        return TUTTI_OK;
    if (nodes->asked->twin)
        return tutti_fail(TUTTI_ERR_UNSUPPORTED,
                          "--twin: FMUs that stay with their node have no second instance elsewhere; leave it "
                          "out, or bring the FMUs");
    nodes->fixed = calloc(system->component_count + own + 1, sizeof *nodes->fixed);
    if (!nodes->fixed)
        return tutti_fail_memory();
    for (uint32_t c = 0; c < system->component_count; c++) {
        const struct tutti_node_client *client = owner_of(nodes, system, system->components[c].fmu);
        if (client && !fix_unit(nodes, client, system->components[c].name, (int)nodes->fixed_count))
            return tutti_fail_memory();
    }
    nodes->options.places = (const char *const *)nodes->fixed;
    nodes->options.place_count = nodes->fixed_count + own;
    if (own > 0) /* after them: what a person says goes before, and is checked */
        memcpy(nodes->fixed + nodes->fixed_count, nodes->asked->places, own * sizeof *nodes->fixed);
    return TUTTI_OK;
}

static enum tutti_err check_place(const struct tutti_nodes *nodes, const struct tutti_system *system,
                                  const int32_t *place)
{
    for (uint32_t c = 0; c < system->component_count && has_offers(nodes); c++) {
        const struct tutti_node_client *client = owner_of(nodes, system, system->components[c].fmu);
        bool right = !client;
        for (int i = 0; client && i < client->entry->rank_count; i++)
            right = right || client->entry->ranks[i] == place[c];
        if (!right)
            return tutti_fail(TUTTI_ERR_ARGUMENT,
                              "--place puts '%s' on rank %d, but %s stays with the node at %s, which is rank %d",
                              system->components[c].name, (int)place[c], system->components[c].fmu->path, client->name,
                              client->entry->ranks[0]);
    }
    return TUTTI_OK;
}

enum tutti_err tutti_nodes_trim(struct tutti_nodes *nodes, const struct tutti_system *system, int32_t *place)
{
    uint32_t count = system->component_count;
    TRY(check_place(nodes, system, place));
    struct tutti_nodes_list *list = &nodes->list;
    int32_t *numbers = calloc((size_t)list->ranks, sizeof *numbers); /* 1 if it is used; then what it becomes, or -1 */
    int32_t used = 0;
    if (!numbers)
        return tutti_fail_memory();
    for (uint32_t c = 0; c < count; c++) {
        numbers[place[c]] = 1;
        if (nodes->asked->twin) /* second instances are on the other half of the ranks */
            numbers[list->ranks / 2 + place[c]] = 1;
    }
    for (int r = 0; r < list->ranks; r++)
        numbers[r] = numbers[r] ? used++ : -1;
    for (size_t n = 0; n < list->count; n++) {
        struct tutti_nodes_entry *entry = &list->entries[n];
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
