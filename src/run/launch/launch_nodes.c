/* SPDX-License-Identifier: MIT */
/* Ranks on other machines, each a worker of a node (`tutti node`, run/node/node_daemon.h). Nodes start them and know how they end;
 * what they report comes to the hub. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/wall_clock.h"
#include "fmu/process/exit_message.h"
#include "base/number.h"
#include "base/random.h"
#include "base/text.h"
#include "run/confined.h"
#include "run/launch/launcher.h"
#include "run/launch/nodes.h"
#include "run/supervision.h"
#include "run/placement.h"
#include "sim/ranks/tcp_hub.h"

/* Units that a message names. */
enum { MOST_UNITS = 3 };
/* Seconds to wait for the reason of a rank's end from the node; and for workers to exit after reporting their end. */
static const double REASON = 3.0, FAREWELL = 1.0;
enum { NAP_MS = 20 }; /* between looks at the latter */

struct launch_nodes_rank {
    struct tt_node_client *client;
    bool ready;
    bool gone;          /* its worker has ended */
    uint64_t step;      /* macro steps that it had made, as far as is known */
    double lost_at;     /* when it was reported as lost; 0: it is not lost */
    enum tutti_err err; /* the reported error; OK: not reported yet */
    char *why;          /* NULL for want of memory: the name of the error has to do */
    char *how;          /* its process ended; NULL: it did not, as far as is known */
};

struct launch_nodes {
    const struct tt_job *job;
    struct tt_nodes *nodes;
    struct tt_nodes_files files;
    struct tt_tcp_hub *hub;
    struct tt_curve_keys keys; /* of this run */
    struct tt_tcp_run run;
    struct tt_tcp_peer *peers;
    struct launch_nodes_rank *members;
    zmq_pollitem_t *items; /* nodes, and the hub after them */
    int ranks, ready;
    bool sent;      /* START, to all */
    bool running;   /* the hub exists */
    bool meets_all; /* some worker is confined */
    bool stopped;
    uint64_t stop_after; /* once the hub exists */
};

/* ---- before the run ---- */

static bool launch_nodes_is_requested(const struct tutti_run_options *options)
{
    return options->nodes != NULL;
}

static enum tutti_err launch_nodes_prepare(void *self, const struct tutti_run_options *options,
                                           const struct tutti_run_options **prepared)
{
    struct launch_nodes *crew = self;
    TRY(tt_nodes_open(&crew->nodes, options));
    *prepared = &crew->nodes->options;
    return TUTTI_OK;
}

static enum tutti_err launch_nodes_place(void *self, const struct tt_job *job, int32_t *places, int *ranks)
{
    struct launch_nodes *crew = self;
    TRY(tt_nodes_assign_units(crew->nodes, job->system));
    TRY(tt_placement_compute(job->system, job->asked, crew->nodes->list.ranks, places));
    TRY(tt_nodes_remove_unused(crew->nodes, job->system, places));
    *ranks = crew->nodes->list.ranks;
    return TUTTI_OK;
}

/* ---- the hub ---- */

static enum tutti_err create_rank_keys(struct launch_nodes *crew)
{
    crew->run.ranks = crew->ranks;
    crew->run.peers = crew->peers;
    crew->run.has_keys = true;
    crew->run.lost_after = TUTTI_NODE_LOST_MS / 1e3;
    TRY(tt_curve_auth_make_keys(&crew->keys));
    memcpy(crew->run.hub_key, crew->keys.public_key, sizeof crew->run.hub_key);
    const uint8_t *given = crew->nodes->asked->run_id;
    if (given)
        memcpy(crew->run.id, given, sizeof crew->run.id);
    return given ? TUTTI_OK : tt_random_bytes(crew->run.id, sizeof crew->run.id);
}

/* All workers are ready: sends each the addresses of all. */
static enum tutti_err send_peers(struct launch_nodes *crew)
{
    struct tt_byte_writer *parcel = &crew->nodes->parcel;
    tt_node_protocol_start_message(parcel, TUTTI_NODE_PEERS);
    tt_bytes_put_u8(parcel, crew->meets_all);
    tt_bytes_put_bytes(parcel, crew->run.hub_key, sizeof crew->run.hub_key);
    for (int r = 0; r < crew->ranks; r++) {
        tt_bytes_put_text(parcel, crew->peers[r].endpoint);
        tt_bytes_put_text(parcel, crew->peers[r].host);
        tt_bytes_put_bytes(parcel, crew->peers[r].public_key, sizeof crew->peers[r].public_key);
    }
    for (size_t i = 0; i < crew->nodes->list.count; i++)
        if (crew->nodes->clients[i].entry->rank_count > 0)
            TRY(tt_node_client_send(&crew->nodes->clients[i], parcel));
    TRY(tt_tcp_hub_open(&crew->hub, &crew->run, &crew->keys));
    crew->running = true;
    if (crew->stopped)
        tt_tcp_hub_stop(crew->hub, crew->stop_after);
    return TUTTI_OK;
}

/* ---- losing ranks ---- */

/* A rank is known to be lost, with this thread's message; what it reported before may still be on its way. */
static void launch_nodes_record_loss(struct launch_nodes *crew, int rank, enum tutti_err err)
{
    struct launch_nodes_rank *member = &crew->members[rank];
    if (member->err)
        return;
    if (member->lost_at == 0)
        member->lost_at = tt_wall_clock_now();
    member->err = err;
    member->why = tt_text_copy(tutti_err_message());
}

static void launch_nodes_status(void *self, int rank, struct tt_rank_status *status)
{
    struct launch_nodes *crew = self;
    struct launch_nodes_rank *member = &crew->members[rank];
    enum tutti_err state = crew->running ? tt_tcp_hub_state(crew->hub, rank) : TUTTI_OK;
    double now = tt_wall_clock_now();
    if (state && member->lost_at == 0)
        member->lost_at = now;
    /* Without a reason from the node, that of the hub. */
    if (state && (state == TUTTI_ERR_FORMAT || now - member->lost_at > REASON))
        launch_nodes_record_loss(crew, rank, state);
    if (member->err)
        *status = (struct tt_rank_status){
            .state = TUTTI_RANK_LOST,
            .err = tt_fail(member->err, "%s", member->why ? member->why : tutti_err_name(member->err)),
            .step = member->step,
            .how = member->how,
            .is_dry = !crew->running || state != TUTTI_OK};
    else if (crew->running && tt_tcp_hub_has_left(crew->hub, rank))
        *status = (struct tt_rank_status){.state = TUTTI_RANK_LEFT, .err = tt_fabric_fail_stopped()};
}

/* ---- what nodes say ---- */

static enum tutti_err handle_ready(struct launch_nodes *crew, const struct tt_node_client *client,
                                   struct tt_byte_reader *in)
{
    struct tt_node_ready ready;
    if (!tt_node_protocol_read_ready(in, crew->ranks, &ready) || crew->members[ready.rank].client != client ||
        crew->members[ready.rank].ready)
        return tt_node_client_fail_message(client);
    struct tt_tcp_peer *peer = &crew->peers[ready.rank];
    struct tt_address address = client->entry->address;
    address.port = ready.port;
    tt_address_format(&address, "tcp://", peer->endpoint, sizeof peer->endpoint);
    snprintf(peer->host, sizeof peer->host, "%.60s", address.host);
    memcpy(peer->public_key, ready.key, sizeof peer->public_key);
    crew->members[ready.rank].ready = true;
    crew->meets_all = crew->meets_all || ready.is_confined;
    return ++crew->ready == crew->ranks ? send_peers(crew) : TUTTI_OK;
}

/* "unit 'engine', engine.fmu", that it was in; or some of those that it had. */
static void launch_nodes_name_units(const struct launch_nodes *crew, const struct tt_node_lost *loss, char *out,
                                    size_t size)
{
    const struct tt_system *system = crew->job->system;
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
static enum tutti_err launch_nodes_fail_lost(struct launch_nodes *crew, const struct tt_node_lost *loss)
{
    char units[1024], how[256];
    launch_nodes_name_units(crew, loss, units, sizeof units);
    if (loss->how == TUTTI_LOSS_HANG)
        tt_supervision_describe_silence(crew->job->options.timeout, how, sizeof how);
    else if (loss->how == TUTTI_LOSS_EXIT)
        tt_exit_message_status((int)loss->detail, how, sizeof how);
    else
        tt_exit_message_signal((int)loss->detail, how, sizeof how);
    crew->members[loss->rank].how = tt_text_copy(how);
    return tt_fail(TUTTI_ERR_LOST, "worker %u at %s (%s, t = %s) %s; everything computed before is kept", loss->rank,
                   crew->members[loss->rank].client->name, units, TIME(loss->t), how);
}

static enum tutti_err handle_lost(struct launch_nodes *crew, const struct tt_node_client *client,
                                  struct tt_byte_reader *in)
{
    struct tt_node_lost loss;
    if (!tt_node_protocol_read_lost(in, crew->ranks, &loss) || crew->members[loss.rank].client != client)
        return tt_node_client_fail_message(client);
    crew->members[loss.rank].gone = true;
    crew->members[loss.rank].step = loss.step;
    if (loss.how != TUTTI_LOSS_ERROR) {
        launch_nodes_record_loss(crew, (int)loss.rank, launch_nodes_fail_lost(crew, &loss));
        return TUTTI_OK;
    }
    char *copy = tt_text_copy(loss.message ? loss.message : "");
    if (!copy)
        return tt_fail_memory();
    tt_text_make_printable(copy);
    (void)tt_fail(loss.err, "rank %u at %s: %s", loss.rank, client->name, copy);
    launch_nodes_record_loss(crew, (int)loss.rank, loss.err);
    free(copy);
    return TUTTI_OK;
}

static enum tutti_err handle_gone(struct launch_nodes *crew, const struct tt_node_client *client,
                                  struct tt_byte_reader *in)
{
    uint32_t rank = tt_bytes_get_u32(in);
    if (in->bad || rank >= (uint32_t)crew->ranks || crew->members[rank].client != client)
        return tt_node_client_fail_message(client);
    crew->members[rank].gone = true;
    return TUTTI_OK;
}

static enum tutti_err handle_denied(const struct launch_nodes *crew, const struct tt_node_client *client,
                                    struct tt_byte_reader *in)
{
    struct tt_node_denied denied;
    if (!tt_node_protocol_read_denied(in, crew->ranks, &denied) || crew->members[denied.rank].client != client)
        return tt_node_client_fail_message(client);
    tt_confined_log_denial(crew->job->options.log, crew->job->system, (int)denied.rank, &denied.denial);
    return TUTTI_OK;
}

static enum tutti_err receive_from_client(struct launch_nodes *crew, struct tt_node_client *client)
{
    TRY(tt_node_client_check(client));
    for (bool got = true; got;) {
        struct tt_node_client_message message;
        TRY(tt_node_client_receive(client, &message, &got));
        if (!got)
            break;
        enum tutti_err err = message.kind == TUTTI_NODE_READY    ? handle_ready(crew, client, &message.in)
                             : message.kind == TUTTI_NODE_LOST   ? handle_lost(crew, client, &message.in)
                             : message.kind == TUTTI_NODE_GONE   ? handle_gone(crew, client, &message.in)
                             : message.kind == TUTTI_NODE_DENIED ? handle_denied(crew, client, &message.in)
                                                                 : tt_node_client_fail_message(client);
        tt_node_client_release(&message);
        TRY(err);
    }
    return TUTTI_OK;
}

static void receive_from_nodes(struct launch_nodes *crew)
{
    for (size_t i = 0; i < crew->nodes->list.count; i++) {
        struct tt_node_client *client = &crew->nodes->clients[i];
        enum tutti_err err = client->lost ? TUTTI_OK : receive_from_client(crew, client);
        if (!err)
            continue;
        client->lost = true;
        char message[4096];
        snprintf(message, sizeof message, "%s", tutti_err_message());
        for (int r = 0; r < crew->ranks; r++)
            if (crew->members[r].client == client) {
                (void)tt_fail(err, "%s; everything computed before is kept", message);
                launch_nodes_record_loss(crew, r, err);
                crew->members[r].gone = true;
            }
    }
}

/* ---- the run ---- */

/* For whatever comes first. */
static enum tutti_err poll_all_nodes(void *self, int milliseconds)
{
    struct launch_nodes *crew = self;
    int count = (int)crew->nodes->list.count;
    crew->items[count].socket = crew->running ? tt_tcp_hub_socket(crew->hub) : NULL;
    zmq_poll(crew->items, count + crew->running, milliseconds);
    enum tutti_err err = crew->running ? tt_tcp_hub_wait(crew->hub, 0) : TUTTI_OK;
    struct tt_failure failure;
    tt_fail_save(&failure, err);
    receive_from_nodes(crew);
    return tt_fail_restore(&failure);
}

static const char *launch_nodes_reports(void *self, int rank, size_t *count)
{
    const struct launch_nodes *crew = self;
    *count = 0;
    return crew->running ? tt_tcp_hub_pending_bytes(crew->hub, rank, count) : NULL;
}

static void launch_nodes_consume(void *self, int rank, size_t count)
{
    const struct launch_nodes *crew = self;
    tt_tcp_hub_consume(crew->hub, rank, count);
}

static void launch_nodes_stop(void *self, uint64_t step)
{
    struct launch_nodes *crew = self;
    crew->stopped = true;
    crew->stop_after = step;
    if (crew->running)
        tt_tcp_hub_stop(crew->hub, step);
}

/* Sends a message to all nodes. A node that is gone notices the end of the connection. */
static void send_word_to_nodes(struct launch_nodes *crew, enum tt_node_message word)
{
    tt_node_protocol_start_message(&crew->nodes->parcel, word);
    for (size_t i = 0; i < crew->nodes->list.count; i++)
        if (!crew->nodes->clients[i].lost)
            (void)!tt_node_client_send(&crew->nodes->clients[i], &crew->nodes->parcel);
}

static void launch_nodes_interrupt(void *self)
{
    send_word_to_nodes(self, TUTTI_NODE_INTERRUPT);
}

static bool launch_nodes_order(void *self, const struct tt_run_command *order)
{
    struct launch_nodes *crew = self;
    struct tt_byte_writer *parcel = &crew->nodes->parcel;
    struct tt_node_client *client = crew->members[0].client;
    if (!crew->running)
        return false;
    tt_node_protocol_start_message(parcel, TUTTI_NODE_ORDER);
    tt_bytes_put_u32(parcel, order->kind);
    tt_bytes_put_u32(parcel, order->component);
    tt_bytes_put_u32(parcel, order->variable);
    tt_bytes_put_double(parcel, order->value);
    return client->lost || tt_node_client_send(client, parcel) == TUTTI_OK;
}

static bool are_all_gone(const struct launch_nodes *crew)
{
    for (int r = 0; r < crew->ranks; r++)
        if (!crew->members[r].gone)
            return false;
    return true;
}

/* Workers that have reported their end clean up; then nodes may forget the run. */
static void launch_nodes_finish(void *self, bool cut)
{
    struct launch_nodes *crew = self;
    double deadline = tt_wall_clock_now() + (cut || crew->stopped ? 0 : FAREWELL);
    while (crew->running && !are_all_gone(crew) && tt_wall_clock_now() < deadline)
        (void)!poll_all_nodes(crew, NAP_MS);
    if (crew->sent)
        send_word_to_nodes(crew, TUTTI_NODE_END);
}

/* Sends missing files of the job to the nodes first; then each starts all its ranks. */
static enum tutti_err launch_nodes_start(void *self, int rank)
{
    struct launch_nodes *crew = self;
    if (rank == 0)
        TRY(tt_nodes_files_send(crew->nodes, &crew->files, crew->job, crew->run.id));
    crew->sent = true;
    return TUTTI_OK;
}

/* Makes room, and finds out who is where. */
static enum tutti_err launch_nodes_allocate_ranks(struct launch_nodes *crew)
{
    struct tt_nodes *nodes = crew->nodes;
    crew->members = calloc((size_t)crew->ranks, sizeof *crew->members);
    crew->peers = calloc((size_t)crew->ranks, sizeof *crew->peers);
    crew->items = calloc(nodes->list.count + 1, sizeof *crew->items);
    if (!crew->members || !crew->peers || !crew->items)
        return tt_fail_memory();
    for (size_t n = 0; n < nodes->list.count; n++) {
        crew->items[n].socket = nodes->clients[n].socket;
        crew->items[n].events = ZMQ_POLLIN;
        for (int i = 0; i < nodes->list.entries[n].rank_count; i++)
            crew->members[nodes->list.entries[n].ranks[i]].client = &nodes->clients[n];
    }
    crew->items[nodes->list.count].events = ZMQ_POLLIN; /* the hub's, once it exists */
    return TUTTI_OK;
}

static enum tutti_err launch_nodes_open_run(void *self, const struct tt_job *job, int ranks)
{
    struct launch_nodes *crew = self;
    crew->job = job;
    crew->ranks = ranks;
    TRY(launch_nodes_allocate_ranks(crew));
    TRY(tt_nodes_files_list(&crew->files, crew->nodes, job));
    return create_rank_keys(crew);
}

static void launch_nodes_close_all(void *self)
{
    struct launch_nodes *crew = self;
    tt_tcp_hub_close(crew->hub);
    tt_nodes_files_fini(&crew->files);
    for (int r = 0; crew->members && r < crew->ranks; r++) {
        free(crew->members[r].why);
        free(crew->members[r].how);
    }
    free(crew->members);
    free(crew->peers);
    free(crew->items);
    tt_curve_auth_wipe_keys(&crew->keys);
    tt_nodes_close(crew->nodes);
}

const struct tt_launcher tt_launcher_nodes = {.name = "nodes",
                                              .size = sizeof(struct launch_nodes),
                                              .grace = 1.5,
                                              .is_asked_for = launch_nodes_is_requested,
                                              .prepare = launch_nodes_prepare,
                                              .place = launch_nodes_place,
                                              .open = launch_nodes_open_run,
                                              .close = launch_nodes_close_all,
                                              .start = launch_nodes_start,
                                              .poll = poll_all_nodes,
                                              .look = launch_nodes_status,
                                              .reports = launch_nodes_reports,
                                              .consume = launch_nodes_consume,
                                              .interrupt = launch_nodes_interrupt,
                                              .order = launch_nodes_order,
                                              .stop = launch_nodes_stop,
                                              .finish = launch_nodes_finish};
