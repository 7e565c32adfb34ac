/* SPDX-License-Identifier: MIT */
/* Ranks on other machines, each a worker of a node (`tutti node`, conduct/node/node.h). Nodes start them and know how they end;
 * what they report comes to the hub. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "fmi/ended.h"
#include "base/number.h"
#include "base/str.h"
#include "conduct/confined.h"
#include "conduct/launch/launcher.h"
#include "conduct/launch/nodes_parts.h"
#include "conduct/lost.h"
#include "conduct/place.h"
#include "fabric/tcp_hub.h"

/* Units that a message names. */
enum { MOST_UNITS = 3 };
/* Seconds that we wait for the reason of a rank's end, which the node knows; and for workers that have reported their end to be
 * gone. */
static const double REASON = 3.0, FAREWELL = 1.0;
enum { NAP_MS = 20 }; /* between looks at the latter */

/* What is known of a rank. */
struct member {
    struct tutti_node_client *client;
    bool ready;
    bool gone;          /* its worker has ended */
    uint64_t step;      /* macro steps that it had made, as far as is known */
    double lost_at;     /* when it was said to be lost; 0: it is not */
    enum tutti_err err; /* ... and how; OK: not said yet */
    char *why;          /* NULL for want of memory: the name of the error has to do */
    char *how;          /* its process ended; NULL: it did not, as far as is known */
};

struct crew {
    const struct tutti_job *job;
    struct tutti_nodes *nodes;
    struct tutti_nodes_files files;
    struct tutti_tcp_hub *hub;
    struct tutti_keys keys; /* of this run */
    struct tutti_tcp_run run;
    struct tutti_tcp_peer *peers;
    struct member *members;
    zmq_pollitem_t *items; /* nodes, and the hub after them */
    int ranks, ready;
    bool sent;      /* START, to all */
    bool running;   /* there is a hub */
    bool meets_all; /* some worker is confined */
    bool stopped;
    uint64_t stop_after; /* once there is a hub */
};

/* ---- before the run ---- */

static bool is_asked_for(const struct tutti_run_options *options)
{
    return options->nodes != NULL;
}

static enum tutti_err prepare(void *self, const struct tutti_run_options *options,
                              const struct tutti_run_options **prepared)
{
    struct crew *crew = self;
    TRY(tutti_nodes_open(&crew->nodes, options));
    *prepared = &crew->nodes->options;
    return TUTTI_OK;
}

static enum tutti_err place(void *self, const struct tutti_job *job, int32_t *places, int *ranks)
{
    struct crew *crew = self;
    TRY(tutti_nodes_fix(crew->nodes, job->system));
    TRY(tutti_place(job->system, job->asked, crew->nodes->list.ranks, places));
    TRY(tutti_nodes_trim(crew->nodes, job->system, places));
    *ranks = crew->nodes->list.ranks;
    return TUTTI_OK;
}

/* ---- the hub ---- */

static enum tutti_err make_keys(struct crew *crew)
{
    crew->run.ranks = crew->ranks;
    crew->run.peers = crew->peers;
    crew->run.has_keys = true;
    crew->run.lost_after = TUTTI_NODE_LOST_MS / 1e3;
    TRY(tutti_keys_make(&crew->keys));
    memcpy(crew->run.hub_key, crew->keys.public_key, sizeof crew->run.hub_key);
    const uint8_t *given = crew->nodes->asked->run_id;
    if (given)
        memcpy(crew->run.id, given, sizeof crew->run.id);
    return given ? TUTTI_OK : tutti_keys_random(crew->run.id, sizeof crew->run.id);
}

/* All workers are ready: all are told of all. */
static enum tutti_err introduce(struct crew *crew)
{
    struct tutti_parcel *parcel = &crew->nodes->parcel;
    tutti_node_begin(parcel, TUTTI_NODE_PEERS);
    tutti_parcel_put_u8(parcel, crew->meets_all);
    tutti_parcel_put_bytes(parcel, crew->run.hub_key, sizeof crew->run.hub_key);
    for (int r = 0; r < crew->ranks; r++) {
        tutti_parcel_put_text(parcel, crew->peers[r].endpoint);
        tutti_parcel_put_text(parcel, crew->peers[r].host);
        tutti_parcel_put_bytes(parcel, crew->peers[r].public_key, sizeof crew->peers[r].public_key);
    }
    for (size_t i = 0; i < crew->nodes->list.count; i++)
        if (crew->nodes->clients[i].entry->rank_count > 0)
            TRY(tutti_node_client_send(&crew->nodes->clients[i], parcel));
    TRY(tutti_tcp_hub_open(&crew->hub, &crew->run, &crew->keys));
    crew->running = true;
    if (crew->stopped)
        tutti_tcp_hub_stop(crew->hub, crew->stop_after);
    return TUTTI_OK;
}

/* ---- losing ranks ---- */

/* A rank is known to be lost, with this thread's message; what it reported before may still be on its way. */
static void note_loss(struct crew *crew, int rank, enum tutti_err err)
{
    struct member *member = &crew->members[rank];
    if (member->err)
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

static void look(void *self, int rank, struct tutti_rank_status *status)
{
    struct crew *crew = self;
    struct member *member = &crew->members[rank];
    enum tutti_err state = crew->running ? tutti_tcp_hub_state(crew->hub, rank) : TUTTI_OK;
    double now = tutti_clock_now();
    if (state && member->lost_at == 0)
        member->lost_at = now;
    /* Where the node has not said why: what the hub knows. */
    if (state && (state == TUTTI_ERR_FORMAT || now - member->lost_at > REASON))
        note_loss(crew, rank, state);
    if (member->err)
        *status = (struct tutti_rank_status){
            .state = TUTTI_RANK_LOST,
            .err = tutti_fail(member->err, "%s", member->why ? member->why : tutti_err_name(member->err)),
            .step = member->step,
            .how = member->how,
            .is_dry = !crew->running || state != TUTTI_OK};
    else if (crew->running && tutti_tcp_hub_has_left(crew->hub, rank))
        *status = (struct tutti_rank_status){.state = TUTTI_RANK_LEFT, .err = tutti_fabric_stopped()};
}

/* ---- what nodes say ---- */

static enum tutti_err take_ready(struct crew *crew, const struct tutti_node_client *client, struct tutti_unparcel *in)
{
    struct tutti_node_ready ready;
    if (!tutti_node_read_ready(in, crew->ranks, &ready) || crew->members[ready.rank].client != client ||
        crew->members[ready.rank].ready)
        return tutti_node_client_fail_message(client);
    struct tutti_tcp_peer *peer = &crew->peers[ready.rank];
    struct tutti_address address = client->entry->address;
    address.port = ready.port;
    tutti_address_endpoint(&address, peer->endpoint, sizeof peer->endpoint);
    snprintf(peer->host, sizeof peer->host, "%.60s", address.host);
    memcpy(peer->public_key, ready.key, sizeof peer->public_key);
    crew->members[ready.rank].ready = true;
    crew->meets_all = crew->meets_all || ready.is_confined;
    return ++crew->ready == crew->ranks ? introduce(crew) : TUTTI_OK;
}

/* "unit 'engine', engine.fmu", that it was in; or some of those that it had. */
static void name_units(const struct crew *crew, const struct tutti_node_lost *loss, char *out, size_t size)
{
    const struct tutti_system *system = crew->job->system;
    int instances = crew->job->options.twin ? 2 : 1; /* of each unit, on ranks that are so far apart */
    size_t n = 0, listed = 0;
    if (loss->component < system->component_count) {
        snprintf(out, size, "unit '%s', %s", system->components[loss->component].name,
                 system->components[loss->component].fmu->path);
        return;
    }
    *out = '\0';
    for (uint32_t c = 0; c < system->component_count && listed <= MOST_UNITS && n < size; c++) {
        if (crew->job->place[c] != (int32_t)loss->rank % (crew->ranks / instances))
            continue;
        n += (size_t)snprintf(out + n, size - n, "%s%.100s", listed > 0 ? ", " : "in none of its units ",
                              listed < MOST_UNITS ? system->components[c].name : "...");
        listed++;
    }
}

/* "worker 2 at 10.0.0.7:7000 (unit 'engine', engine.fmu, t = 1.25) was ended by signal 11 (...)" */
static enum tutti_err fail_lost(struct crew *crew, const struct tutti_node_lost *loss)
{
    char units[1024], how[256];
    name_units(crew, loss, units, sizeof units);
    if (loss->how == TUTTI_LOSS_HANG)
        tutti_lost_by_silence(crew->job->options.timeout, how, sizeof how);
    else if (loss->how == TUTTI_LOSS_EXIT)
        tutti_ended_by_exit((int)loss->detail, how, sizeof how);
    else
        tutti_ended_by_signal((int)loss->detail, how, sizeof how);
    crew->members[loss->rank].how = tutti_str_copy(how);
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

static enum tutti_err take_denied(const struct crew *crew, const struct tutti_node_client *client,
                                  struct tutti_unparcel *in)
{
    struct tutti_node_denied denied;
    if (!tutti_node_read_denied(in, crew->ranks, &denied) || crew->members[denied.rank].client != client)
        return tutti_node_client_fail_message(client);
    tutti_confined_tell(crew->job->options.log, crew->job->system, (int)denied.rank, &denied.denial);
    return TUTTI_OK;
}

static enum tutti_err hear_client(struct crew *crew, struct tutti_node_client *client)
{
    TRY(tutti_node_client_look(client));
    for (bool got = true; got;) {
        struct tutti_node_client_message message;
        TRY(tutti_node_client_receive(client, &message, &got));
        if (!got)
            break;
        enum tutti_err err = message.kind == TUTTI_NODE_READY    ? take_ready(crew, client, &message.in)
                             : message.kind == TUTTI_NODE_LOST   ? take_lost(crew, client, &message.in)
                             : message.kind == TUTTI_NODE_GONE   ? take_gone(crew, client, &message.in)
                             : message.kind == TUTTI_NODE_DENIED ? take_denied(crew, client, &message.in)
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

/* ---- the run ---- */

/* For whatever comes first. */
static enum tutti_err poll_all(void *self, int milliseconds)
{
    struct crew *crew = self;
    int count = (int)crew->nodes->list.count;
    crew->items[count].socket = crew->running ? tutti_tcp_hub_socket(crew->hub) : NULL;
    zmq_poll(crew->items, count + crew->running, milliseconds);
    enum tutti_err err = crew->running ? tutti_tcp_hub_wait(crew->hub, 0) : TUTTI_OK;
    struct tutti_failure failure;
    tutti_failure_keep(&failure, err);
    hear_nodes(crew);
    return tutti_failure_return(&failure);
}

static const char *get_reports(void *self, int rank, size_t *count)
{
    const struct crew *crew = self;
    *count = 0;
    return crew->running ? tutti_tcp_hub_bytes(crew->hub, rank, count) : NULL;
}

static void consume(void *self, int rank, size_t count)
{
    const struct crew *crew = self;
    tutti_tcp_hub_take(crew->hub, rank, count);
}

static void stop(void *self, uint64_t step)
{
    struct crew *crew = self;
    crew->stopped = true;
    crew->stop_after = step;
    if (crew->running)
        tutti_tcp_hub_stop(crew->hub, step);
}

/* One word to all nodes. One that is gone needs none: the end of the connection says it. */
static void tell_nodes(struct crew *crew, enum tutti_node_message word)
{
    tutti_node_begin(&crew->nodes->parcel, word);
    for (size_t i = 0; i < crew->nodes->list.count; i++)
        if (!crew->nodes->clients[i].lost)
            (void)!tutti_node_client_send(&crew->nodes->clients[i], &crew->nodes->parcel);
}

static void interrupt(void *self)
{
    tell_nodes(self, TUTTI_NODE_INTERRUPT);
}

static bool order(void *self, const struct tutti_run_order *order)
{
    struct crew *crew = self;
    struct tutti_parcel *parcel = &crew->nodes->parcel;
    struct tutti_node_client *client = crew->members[0].client;
    if (!crew->running)
        return false;
    tutti_node_begin(parcel, TUTTI_NODE_ORDER);
    tutti_parcel_put_u32(parcel, order->kind);
    tutti_parcel_put_u32(parcel, order->component);
    tutti_parcel_put_u32(parcel, order->variable);
    tutti_parcel_put_double(parcel, order->value);
    return client->lost || tutti_node_client_send(client, parcel) == TUTTI_OK;
}

static bool all_gone(const struct crew *crew)
{
    for (int r = 0; r < crew->ranks; r++)
        if (!crew->members[r].gone)
            return false;
    return true;
}

/* Workers that have reported their end clean up; then nodes may forget the run. */
static void finish(void *self, bool cut)
{
    struct crew *crew = self;
    double deadline = tutti_clock_now() + (cut || crew->stopped ? 0 : FAREWELL);
    while (crew->running && !all_gone(crew) && tutti_clock_now() < deadline)
        (void)!poll_all(crew, NAP_MS);
    if (crew->sent)
        tell_nodes(crew, TUTTI_NODE_END);
}

/* What the nodes lack of the job's files goes to them first; each then starts all its ranks. */
static enum tutti_err start(void *self, int rank)
{
    struct crew *crew = self;
    if (rank == 0)
        TRY(tutti_nodes_send(crew->nodes, &crew->files, crew->job, crew->run.id));
    crew->sent = true;
    return TUTTI_OK;
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

static enum tutti_err open_run(void *self, const struct tutti_job *job, int ranks)
{
    struct crew *crew = self;
    crew->job = job;
    crew->ranks = ranks;
    TRY(gather(crew));
    TRY(tutti_nodes_files_list(&crew->files, crew->nodes, job));
    return make_keys(crew);
}

static void close_all(void *self)
{
    struct crew *crew = self;
    tutti_tcp_hub_close(crew->hub);
    tutti_nodes_files_fini(&crew->files);
    for (int r = 0; crew->members && r < crew->ranks; r++) {
        free(crew->members[r].why);
        free(crew->members[r].how);
    }
    free(crew->members);
    free(crew->peers);
    free(crew->items);
    tutti_keys_wipe(&crew->keys);
    tutti_nodes_close(crew->nodes);
}

const struct tutti_launcher tutti_launcher_nodes = {.name = "nodes",
                                                    .size = sizeof(struct crew),
                                                    .grace = 1.5,
                                                    .is_asked_for = is_asked_for,
                                                    .prepare = prepare,
                                                    .place = place,
                                                    .open = open_run,
                                                    .close = close_all,
                                                    .start = start,
                                                    .poll = poll_all,
                                                    .look = look,
                                                    .reports = get_reports,
                                                    .consume = consume,
                                                    .interrupt = interrupt,
                                                    .order = order,
                                                    .stop = stop,
                                                    .finish = finish};
