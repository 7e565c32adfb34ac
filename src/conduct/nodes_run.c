/* SPDX-License-Identifier: MIT */
/* A run on nodes: workers get to know each other, what they report becomes the result, and a rank that is lost ends it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/number.h"
#include "base/str.h"
#include "conduct/lost.h"
#include "conduct/nodes_parts.h"
#include "fabric/tcp_hub.h"

/* How long we wait for news if there are none. */
enum { NAP_MS = 20 };
/* Units that a message names. */
enum { MOST_UNITS = 3 };
/* Seconds: between looks of the conductor at its clock; that we wait for what a rank that is lost had reported before; for the
 * reason of its end, which the node knows; and for workers that have reported their end to be gone. */
static const double IDLE_EVERY = 0.05, DREGS = 0.3, REASON = 1.0, FAREWELL = 1.0;

/* What is known of a rank. */
struct member {
    struct tutti_node_client *client;
    bool ready;
    bool gone;      /* its worker has ended */
    bool without;   /* the others end because of it */
    uint64_t step;  /* macro steps that it had made, as far as is known */
    double lost_at; /* when it was said to be lost; 0: it is not */
    char *why;      /* ... and how; NULL: not said yet */
    enum tutti_err err;
};

struct crew {
    const struct tutti_job *job;
    struct tutti_nodes *nodes;
    struct tutti_conductor *conductor;
    struct tutti_tcp_hub *hub;
    struct tutti_keys keys; /* of this run */
    struct tutti_tcp_run run;
    struct tutti_tcp_peer *peers;
    struct member *members;
    zmq_pollitem_t *items; /* nodes, and the hub after them */
    int ranks, ready;
    bool running, interrupted;
    uint64_t stopped; /* after so many steps; UINT64_MAX: not */
    int culprit;      /* the lost rank that the run ends because of; -1: none */
    bool blamed;      /* the conductor knows of a lost rank */
    double deadline, last_idle;
    enum tutti_err err; /* of the conductor: the result cannot be written */
    char message[4096];
};

/* ---- the hub ---- */

static enum tutti_err make_keys(struct crew *crew)
{
    crew->run.ranks = crew->ranks;
    crew->run.peers = crew->peers;
    crew->run.has_keys = crew->nodes->has_keys;
    crew->run.lost_after = TUTTI_NODE_LOST_MS / 1e3;
    if (crew->run.has_keys)
        TRY(tutti_keys_make(&crew->keys));
    memcpy(crew->run.hub_key, crew->keys.public_key, sizeof crew->run.hub_key);
    return tutti_keys_random(crew->run.id, sizeof crew->run.id);
}

/* All workers are ready: all are told of all. */
static enum tutti_err introduce(struct crew *crew)
{
    struct tutti_parcel *parcel = &crew->nodes->parcel;
    tutti_node_begin(parcel, TUTTI_NODE_PEERS);
    tutti_parcel_put_bytes(parcel, crew->run.hub_key, sizeof crew->run.hub_key);
    for (int r = 0; r < crew->ranks; r++) {
        tutti_parcel_put_text(parcel, crew->peers[r].endpoint);
        tutti_parcel_put_text(parcel, crew->peers[r].host);
        tutti_parcel_put_bytes(parcel, crew->peers[r].public_key, sizeof crew->peers[r].public_key);
    }
    for (size_t i = 0; i < crew->nodes->list.count; i++)
        if (crew->nodes->clients[i].entry->rank_count > 0)
            TRY(tutti_node_client_send(&crew->nodes->clients[i], parcel));
    TRY(tutti_tcp_hub_open(&crew->hub, &crew->run, crew->run.has_keys ? &crew->keys : NULL));
    crew->running = true;
    return TUTTI_OK;
}

/* ---- losing ranks ---- */

/* No rank is to go beyond `step` macro steps. */
static void stop(struct crew *crew, uint64_t step)
{
    if (step >= crew->stopped)
        return;
    crew->stopped = step;
    if (crew->running)
        tutti_tcp_hub_stop(crew->hub, step);
}

/* The failure of the launcher itself; the first one counts. */
static void fail(struct crew *crew, enum tutti_err err)
{
    if (!crew->err) {
        crew->err = err;
        snprintf(crew->message, sizeof crew->message, "%s", tutti_err_message());
    }
    stop(crew, 0);
}

/* A rank is known to be lost, with this thread's message; what it reported before may still be on its way. */
static void note_loss(struct crew *crew, int rank, enum tutti_err err)
{
    struct member *member = &crew->members[rank];
    if (member->why)
        return;
    if (member->lost_at == 0)
        member->lost_at = tutti_clock_now();
    member->err = err;
    member->why = tutti_str_copy(tutti_err_message());
}

static void lose_client(struct crew *crew, const struct tutti_node_client *client, enum tutti_err err)
{
    char message[4096];
    snprintf(message, sizeof message, "%s", tutti_err_message());
    for (int r = 0; r < crew->ranks; r++)
        if (crew->members[r].client == client) {
            (void)tutti_fail(err, "%s; everything computed before is kept", message);
            note_loss(crew, r, err);
            crew->members[r].gone = true;
        }
}

/* Called when everything that the rank reported is taken. */
static void give_up(struct crew *crew, int rank)
{
    char words[2048];
    const struct member *member = &crew->members[rank];
    tutti_lost_last_words(crew->conductor, rank, words, sizeof words);
    (void)tutti_fail(member->err, "%s%s", member->why ? member->why : "a rank is lost",
                     member->err == TUTTI_ERR_LOST ? words : "");
    tutti_conductor_lose(crew->conductor, rank, member->err);
    crew->blamed = true;
}

/* It is known why a rank is lost: the others come to their end; what it reported, and they, is still taken. */
static void end_without(struct crew *crew, int rank, bool last)
{
    size_t count = 0;
    if (crew->stopped == UINT64_MAX)
        crew->culprit = rank;
    crew->members[rank].without = true;
    stop(crew, crew->members[rank].step); /* so far they have everything that they need: no row is lost */
    if (crew->deadline == INFINITY)
        crew->deadline = tutti_clock_now() + TUTTI_NODES_STOP;
    if (crew->running)
        (void)tutti_tcp_hub_bytes(crew->hub, rank, &count);
    if (!crew->running || (last && count == 0) || tutti_clock_now() - crew->members[rank].lost_at > DREGS)
        give_up(crew, rank);
}

static void look_for_losses(struct crew *crew)
{
    double now = tutti_clock_now();
    for (int r = 0; r < crew->ranks; r++) {
        struct member *member = &crew->members[r];
        if (tutti_conductor_has_ended(crew->conductor, r))
            continue;
        enum tutti_err state = crew->running ? tutti_tcp_hub_state(crew->hub, r) : TUTTI_OK;
        if (state == TUTTI_ERR_FORMAT)
            note_loss(crew, r, state);
        else if (state && member->lost_at == 0)
            member->lost_at = now;
        if (member->lost_at == 0)
            continue;
        if (!member->why && now - member->lost_at > REASON) { /* the node has not said why: what the hub knows */
            (void)!tutti_tcp_hub_state(crew->hub, r);
            note_loss(crew, r, state ? state : TUTTI_ERR_LOST);
        }
        if (member->why)
            end_without(crew, r, state != TUTTI_OK);
    }
}

/* ---- what nodes say ---- */

static enum tutti_err take_ready(struct crew *crew, const struct tutti_node_client *client, struct tutti_unparcel *in)
{
    struct tutti_node_ready ready;
    if (!tutti_node_read_ready(in, crew->ranks, &ready) || crew->members[ready.rank].client != client ||
        crew->members[ready.rank].ready)
        return tutti_node_client_fail_message(client);
    struct tutti_tcp_peer *peer = &crew->peers[ready.rank];
    struct tutti_node_address address = client->entry->address;
    address.port = ready.port;
    tutti_node_address_endpoint(&address, peer->endpoint, sizeof peer->endpoint);
    snprintf(peer->host, sizeof peer->host, "%.60s", address.host);
    memcpy(peer->public_key, ready.key, sizeof peer->public_key);
    crew->members[ready.rank].ready = true;
    return ++crew->ready == crew->ranks ? introduce(crew) : TUTTI_OK;
}

/* "unit 'engine', engine.fmu", that it was in; or some of those that it had. */
static void name_units(const struct crew *crew, const struct tutti_node_lost *loss, char *out, size_t size)
{
    const struct tutti_system *system = crew->job->system;
    size_t n = 0, listed = 0;
    if (loss->component < system->component_count) {
        snprintf(out, size, "unit '%s', %s", system->components[loss->component].name,
                 system->components[loss->component].fmu->path);
        return;
    }
    *out = '\0';
    for (uint32_t c = 0; c < system->component_count && listed <= MOST_UNITS && n < size; c++) {
        if (crew->job->place[c] != (int32_t)loss->rank)
            continue;
        n += (size_t)snprintf(out + n, size - n, "%s%.100s", listed > 0 ? ", " : "in none of its units ",
                              listed < MOST_UNITS ? system->components[c].name : "...");
        listed++;
    }
}

/* "worker 2 at 10.0.0.7:7000 (unit 'engine', engine.fmu, t = 1.25) was ended by signal 11 (...)" */
static enum tutti_err fail_lost(const struct crew *crew, const struct tutti_node_lost *loss)
{
    char units[1024], how[256];
    name_units(crew, loss, units, sizeof units);
    if (loss->how == TUTTI_LOSS_HANG)
        tutti_lost_by_silence(crew->job->options.timeout, how, sizeof how);
    else if (loss->how == TUTTI_LOSS_EXIT)
        tutti_lost_by_exit((int)loss->detail, how, sizeof how);
    else
        tutti_lost_by_signal((int)loss->detail, how, sizeof how);
    return tutti_fail(TUTTI_ERR_LOST, "worker %u at %s (%s, t = %s) %s; everything computed before is kept", loss->rank,
                      crew->members[loss->rank].client->name, units, TIME(loss->t), how);
}

static enum tutti_err take_lost(struct crew *crew, const struct tutti_node_client *client, struct tutti_unparcel *in)
{
    struct tutti_node_lost loss;
    if (!tutti_node_read_lost(in, crew->ranks, &loss) || crew->members[loss.rank].client != client)
        return tutti_node_client_fail_message(client);
    crew->members[loss.rank].gone = true;
    crew->members[loss.rank].step = loss.step;
    if (loss.how != TUTTI_LOSS_ERROR) {
        note_loss(crew, (int)loss.rank, fail_lost(crew, &loss));
        return TUTTI_OK;
    }
    char *copy = tutti_str_copy(loss.message ? loss.message : "");
    if (!copy)
        return tutti_fail_memory();
    tutti_str_make_printable(copy);
    (void)tutti_fail(loss.err, "rank %u at %s: %s", loss.rank, client->name, copy);
    note_loss(crew, (int)loss.rank, loss.err);
    free(copy);
    return TUTTI_OK;
}

static enum tutti_err take_gone(struct crew *crew, const struct tutti_node_client *client, struct tutti_unparcel *in)
{
    uint32_t rank = tutti_unparcel_u32(in);
    if (in->bad || rank >= (uint32_t)crew->ranks || crew->members[rank].client != client)
        return tutti_node_client_fail_message(client);
    crew->members[rank].gone = true;
    return TUTTI_OK;
}

static enum tutti_err hear_client(struct crew *crew, struct tutti_node_client *client)
{
    TRY(tutti_node_client_look(client, crew->nodes->has_keys));
    for (bool got = true; got;) {
        struct tutti_node_client_message message;
        TRY(tutti_node_client_receive(client, &message, &got));
        if (!got)
            break;
        enum tutti_err err = message.kind == TUTTI_NODE_READY  ? take_ready(crew, client, &message.in)
                             : message.kind == TUTTI_NODE_LOST ? take_lost(crew, client, &message.in)
                             : message.kind == TUTTI_NODE_GONE ? take_gone(crew, client, &message.in)
                                                               : tutti_node_client_fail_message(client);
        tutti_node_client_release(&message);
        TRY(err);
    }
    return TUTTI_OK;
}

static void hear_nodes(struct crew *crew)
{
    for (size_t i = 0; i < crew->nodes->list.count; i++) {
        struct tutti_node_client *client = &crew->nodes->clients[i];
        enum tutti_err err = client->lost ? TUTTI_OK : hear_client(crew, client);
        if (err) {
            client->lost = true;
            lose_client(crew, client, err);
        }
    }
}

/* ---- the loop ---- */

/* Hands over what one rank has reported, as far as the conductor takes it. Was it anything? */
static bool take_report(struct crew *crew, int rank)
{
    size_t count = 0, taken = 0;
    const char *bytes = tutti_tcp_hub_bytes(crew->hub, rank, &count);
    if (count == 0)
        return false;
    enum tutti_err err = tutti_conductor_take(crew->conductor, rank, bytes, count, &taken);
    if (err) {
        taken = taken > 0 ? taken : count; /* what would fail so for ever is thrown away */
        tutti_conductor_lose(crew->conductor, rank, err);
        fail(crew, err);
    }
    tutti_tcp_hub_take(crew->hub, rank, taken);
    return taken > 0;
}

/* A row of one may have waited for that of another. */
static void take_reports(struct crew *crew)
{
    for (bool moving = true; moving;) {
        moving = false;
        for (int r = 0; r < crew->ranks; r++)
            moving |= take_report(crew, r);
    }
}

static void tell_interrupt(struct crew *crew)
{
    const volatile sig_atomic_t *interrupt = crew->job->options.interrupt;
    if (!interrupt || !*interrupt || crew->interrupted)
        return;
    crew->interrupted = true;
    tutti_node_begin(&crew->nodes->parcel, TUTTI_NODE_INTERRUPT);
    for (size_t i = 0; i < crew->nodes->list.count; i++)
        if (!crew->nodes->clients[i].lost)
            (void)!tutti_node_client_send(&crew->nodes->clients[i],
                                          &crew->nodes->parcel); /* one that is gone stops anyway */
    stop(crew, 0);
}

/* For whatever comes first. */
static void wait_a_little(struct crew *crew)
{
    int count = (int)crew->nodes->list.count;
    crew->items[count].socket = crew->running ? tutti_tcp_hub_socket(crew->hub) : NULL;
    zmq_poll(crew->items, count + crew->running, NAP_MS);
    enum tutti_err err = crew->running ? tutti_tcp_hub_wait(crew->hub, 0) : TUTTI_OK;
    if (err)
        fail(crew, err);
}

static void go_on(struct crew *crew)
{
    wait_a_little(crew);
    if (crew->running)
        take_reports(crew);
    hear_nodes(crew);
    look_for_losses(crew);
    tell_interrupt(crew);
    if (tutti_conductor_has_failed(crew->conductor))
        stop(crew, 0);
    double now = tutti_clock_now();
    if (now - crew->last_idle < IDLE_EVERY)
        return;
    crew->last_idle = now;
    enum tutti_err err = tutti_conductor_idle(crew->conductor);
    if (err)
        fail(crew, err);
}

static bool all_gone(const struct crew *crew)
{
    for (int r = 0; r < crew->ranks; r++)
        if (!crew->members[r].gone)
            return false;
    return true;
}

/* Workers that have reported their end clean up; then nodes may forget the run. */
static void say_goodbye(struct crew *crew)
{
    double deadline = tutti_clock_now() + (crew->stopped < UINT64_MAX ? 0 : FAREWELL);
    while (crew->running && !all_gone(crew) && tutti_clock_now() < deadline) {
        wait_a_little(crew);
        hear_nodes(crew);
    }
    tutti_node_begin(&crew->nodes->parcel, TUTTI_NODE_END);
    for (size_t i = 0; i < crew->nodes->list.count; i++)
        if (!crew->nodes->clients[i].lost)
            (void)!tutti_node_client_send(&crew->nodes->clients[i],
                                          &crew->nodes->parcel); /* else the end of the connection says it */
}

static enum tutti_err conduct(struct crew *crew, const struct tutti_nodes_files *files)
{
    TRY(make_keys(crew));
    TRY(tutti_nodes_send(crew->nodes, files, crew->job, crew->run.id));
    while (!tutti_conductor_is_done(crew->conductor) && tutti_clock_now() < crew->deadline)
        go_on(crew);
    for (int r = 0; r < crew->ranks; r++)
        if (!tutti_conductor_has_ended(crew->conductor, r) && crew->members[r].without)
            give_up(crew, r);
        else if (!tutti_conductor_has_ended(crew->conductor, r))
            tutti_conductor_lose(crew->conductor, r, tutti_fabric_stopped());
    /* A worker whose node was lost may have heard the stop, and have ended as it should. */
    if (crew->culprit >= 0 && !crew->blamed)
        fail(crew, tutti_fail(crew->members[crew->culprit].err, "%s", crew->members[crew->culprit].why));
    if (crew->running)
        take_reports(crew); /* rows that waited for them */
    say_goodbye(crew);
    return crew->err ? tutti_fail(crew->err, "%s", crew->message) : TUTTI_OK;
}

/* Makes room, and finds out who is where. */
static enum tutti_err gather(struct crew *crew)
{
    struct tutti_nodes *nodes = crew->nodes;
    crew->members = calloc((size_t)crew->ranks, sizeof *crew->members);
    crew->peers = calloc((size_t)crew->ranks, sizeof *crew->peers);
    crew->items = calloc(nodes->list.count + 1, sizeof *crew->items);
    if (!crew->members || !crew->peers || !crew->items)
        return tutti_fail_memory();
    for (size_t n = 0; n < nodes->list.count; n++) {
        crew->items[n].socket = nodes->clients[n].socket;
        crew->items[n].events = ZMQ_POLLIN;
        for (int i = 0; i < nodes->list.entries[n].rank_count; i++)
            crew->members[nodes->list.entries[n].ranks[i]].client = &nodes->clients[n];
    }
    crew->items[nodes->list.count].events = ZMQ_POLLIN; /* the hub's, once there is one */
    return TUTTI_OK;
}

enum tutti_err tutti_conduct_nodes(const struct tutti_job *job, struct tutti_nodes *nodes,
                                   struct tutti_conductor *conductor)
{
    struct tutti_nodes_files files = {0};
    struct crew crew = {.job = job,
                        .nodes = nodes,
                        .conductor = conductor,
                        .ranks = nodes->list.ranks,
                        .culprit = -1,
                        .stopped = UINT64_MAX,
                        .deadline = INFINITY};
    enum tutti_err err = gather(&crew);
    if (!err)
        err = tutti_nodes_files_list(&files, nodes, job);
    if (!err)
        err = conduct(&crew, &files);
    tutti_tcp_hub_close(crew.hub);
    tutti_nodes_files_fini(&files);
    for (int r = 0; crew.members && r < crew.ranks; r++)
        free(crew.members[r].why);
    free(crew.members);
    free(crew.peers);
    free(crew.items);
    tutti_keys_wipe(&crew.keys);
    return err;
}
