/* SPDX-License-Identifier: MIT */
/* Workers on nodes (`tutti node`). Each is the only rank of a separate run there (apps/study/worker_nodes.h): files,
 * keys, confinement and limits are those of any run, and a worker that has ended is replaced by a new run. The list has
 * the number of workers per node. */
#include "apps/study/worker_nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "apps/api/simulation.h"
#include "apps/study/sweep_worker.h"
#include "apps/study/worker_pool.h"
#include "base/log.h"
#include "base/text.h"
#include "run/launch/launcher.h"
#include "run/launch/nodes_list.h"
#include "sim/ranks/fabric.h"
#include "sim/report/reporter.h"

static const struct tt_launcher *const launcher = &tt_launcher_nodes;

struct node_slot {
    char *node;                       /* as --nodes has it, alone */
    void *crew;                       /* the launcher's; NULL: none is started */
    struct tutti_run_options options; /* of the run there */
    struct tt_job job;
    int32_t *place;
    bool was_here; /* at some time */
    bool is_gone;  /* its worker has ended, or is lost */
    char *how;     /* its process has ended, with these words; NULL: not */
    size_t last_run;
};

struct node_workers {
    const struct tutti_run_options *options;
    struct node_slot *slots;
    unsigned count;
};

/* ---- all of them ---- */

static char *format_node_entry(const struct tt_nodes_entry *entry)
{
    struct tt_text text = {0};
    char key[TUTTI_KEY_TEXT], address[TUTTI_ADDRESS_SIZE];
    tt_address_format(&entry->address, "", address, sizeof address);
    tt_curve_auth_format_key(entry->key, key);
    tt_text_printf(&text, "%s%s%s", address, entry->has_key ? " " : "", entry->has_key ? key : "");
    if (!text.failed)
        return text.text;
    tt_text_fini(&text);
    return NULL;
}

static enum tutti_err allocate_node_slots(struct node_workers *team, const struct tt_nodes_list *list, unsigned most)
{
    team->slots = calloc((size_t)list->ranks, sizeof *team->slots);
    if (!team->slots)
        return tt_fail_memory();
    for (size_t i = 0; i < list->count; i++)
        for (int r = 0; r < list->entries[i].rank_count; r++) {
            struct node_slot *slot = &team->slots[list->entries[i].ranks[r]];
            slot->node = format_node_entry(&list->entries[i]);
            if (!slot->node)
                return tt_fail_memory();
            team->count++;
        }
    while (team->count > most)
        free(team->slots[--team->count].node);
    return TUTTI_OK;
}

static enum tutti_err open_node_workers(void *self, struct tt_sweep_worker *work, void *context, unsigned *workers)
{
    struct node_workers *team = self;
    struct tt_nodes_list list = {0};
    (void)work;
    team->options = context; /* each worker asks its node for what that offers */
    enum tutti_err err = tt_nodes_list_read(&list, team->options->nodes);
    if (!err)
        err = allocate_node_slots(team, &list, *workers);
    tt_nodes_list_fini(&list);
    *workers = team->count;
    return err;
}

static void close_node_workers(void *self)
{
    struct node_workers *team = self;
    for (unsigned w = 0; team->slots && w < team->count; w++)
        free(team->slots[w].node);
    free(team->slots);
}

/* ---- one ---- */

/* Its run, from the connection until the node has everything. */
static enum tutti_err worker_nodes_connect(struct node_slot *slot)
{
    const struct tutti_run_options *prepared;
    int ranks;
    TRY(launcher->prepare(slot->crew, &slot->options, &prepared));
    TRY(tt_fail_context(tt_job_load(&slot->job, prepared, NULL), "the node at %.*s", (int)strcspn(slot->node, " "),
                        slot->node));
    slot->place = calloc(slot->job.system->component_count, sizeof *slot->place);
    if (!slot->place)
        return tt_fail_memory();
    slot->job.place = slot->place;
    TRY(launcher->place(slot->crew, &slot->job, slot->place, &ranks));
    TRY(launcher->open(slot->crew, &slot->job, ranks));
    return launcher->start(slot->crew, 0);
}

static void close_node_slot(struct node_slot *slot)
{
    slot->job.place = NULL;
    tt_job_close(&slot->job);
    launcher->close(slot->crew);
    free(slot->crew);
    free(slot->place);
    free(slot->how);
    slot->crew = NULL;
    slot->place = NULL;
    slot->how = NULL;
    slot->is_gone = false;
    slot->job = (struct tt_job){0};
}

static enum tutti_err worker_nodes_start(void *self, unsigned worker)
{
    const struct node_workers *team = self;
    struct node_slot *slot = &team->slots[worker];
    struct tt_failure failure;
    slot->options = *team->options;
    slot->options.nodes = slot->node;
    slot->options.progress = NULL;
    slot->options.output = NULL;
    slot->options.spares_nodes = slot->was_here; /* it is not waited for as long */
    slot->crew = calloc(1, launcher->size);
    tt_fail_save(&failure, slot->crew ? worker_nodes_connect(slot) : tt_fail_memory());
    if (failure.err && slot->crew)
        close_node_slot(slot);
    else
        slot->was_here = true;
    return tt_fail_restore(&failure);
}

/* None before its worker is ready. */
static size_t worker_nodes_assign_runs(void *self, unsigned worker, const size_t *runs, size_t count)
{
    const struct node_workers *team = self;
    size_t told = 0;
    while (told < count &&
           launcher->order(team->slots[worker].crew,
                           &(struct tt_run_command){.kind = TUTTI_ORDER_MAKE, .value = (double)runs[told]}))
        told++;
    return told;
}

static enum tutti_err fail_node_report(const struct node_slot *slot)
{
    return tt_fail(TUTTI_ERR_FORMAT, "the node at %.*s sent what is no report of a sweep",
                   (int)strcspn(slot->node, " "), slot->node);
}

static void worker_nodes_forward_log(const struct node_workers *team, struct tt_byte_reader *in)
{
    unsigned level = tt_bytes_get_u8(in) & ~(unsigned)TUTTI_REPORT_INSISTS;
    const char *origin = tt_bytes_get_text(in), *text = tt_bytes_get_text(in);
    char *copy = !in->bad && text ? tt_text_copy(text) : NULL;
    in->bad = !copy || level > TUTTI_LOG_DEBUG;
    if (!in->bad) {
        tt_text_make_printable(copy);
        tt_log(team->options->log, (enum tutti_log_level)level, origin, "%s", copy);
    }
    free(copy);
}

static enum tutti_err worker_nodes_handle_frame(const struct node_workers *team, const struct node_slot *slot,
                                                enum tt_report_kind kind, struct tt_byte_reader in,
                                                struct tt_byte_writer *records)
{
    if (kind == TUTTI_REPORT_MADE) {
        struct tt_bytes record;
        bool leaves = tt_bytes_get_u8(&in) != 0;
        record.data = tt_bytes_get_block(&in, &record.size);
        if (!in.bad)
            tt_worker_pool_write_record(records, record, leaves);
    } else if (kind == TUTTI_REPORT_LOG) {
        worker_nodes_forward_log(team, &in);
    } else if (kind == TUTTI_REPORT_END) {
        uint32_t err = tt_bytes_get_u32(&in);
        const char *message = tt_bytes_get_text(&in);
        if (!in.bad && err != TUTTI_OK && err <= TUTTI_ERR_LOST)
            return tt_fail((enum tutti_err)err, "%.*s: %s", (int)strcspn(slot->node, " "), slot->node,
                           message ? tt_text_excerpt(message).text : "");
    } else {
        return fail_node_report(slot);
    }
    return in.bad ? fail_node_report(slot) : TUTTI_OK;
}

/* All frames that are whole. */
static enum tutti_err handle_node_reports(const struct node_workers *team, struct node_slot *slot,
                                          struct tt_byte_writer *records)
{
    for (;;) {
        enum tt_report_kind kind;
        size_t count, size;
        bool whole = false;
        const char *bytes = launcher->reports(slot->crew, 0, &count);
        if (count < TUTTI_REPORT_HEADER)
            return TUTTI_OK;
        TRY(tt_fabric_find_report(bytes, count, &kind, &size, &whole));
        if (!whole)
            return TUTTI_OK;
        const char *parcel = bytes + TUTTI_REPORT_HEADER;
        TRY(worker_nodes_handle_frame(team, slot, kind, (struct tt_byte_reader){.at = parcel, .end = parcel + size},
                                      records));
        launcher->consume(slot->crew, 0, TUTTI_REPORT_HEADER + size);
    }
}

static enum tutti_err worker_nodes_receive(void *self, unsigned worker, struct tt_byte_writer *in, bool *open)
{
    const struct node_workers *team = self;
    struct node_slot *slot = &team->slots[worker];
    struct tt_rank_status status = {0};
    struct tt_failure failure;
    TRY(launcher->poll(slot->crew, 0));
    launcher->look(slot->crew, 0, &status);
    tt_fail_save(&failure, status.err); /* which reports come before */
    TRY(handle_node_reports(team, slot, in));
    *open = status.state == TUTTI_RANK_RUNS || (status.state == TUTTI_RANK_LOST && !status.is_dry);
    slot->is_gone = !*open;
    if (*open || status.state == TUTTI_RANK_LEFT)
        return TUTTI_OK;
    slot->how = status.how && status.step > 0 ? tt_text_copy(status.how) : NULL;
    slot->last_run = status.step - 1;
    return slot->how ? TUTTI_OK : tt_fail_restore(&failure);
}

static void worker_nodes_stop(void *self, unsigned worker, bool by_force, struct tt_worker_ending *ending)
{
    const struct node_workers *team = self;
    struct node_slot *slot = &team->slots[worker];
    if (by_force)
        launcher->stop(slot->crew, 0);
    else if (!slot->is_gone)
        (void)launcher->order(slot->crew, &(struct tt_run_command){.kind = TUTTI_ORDER_STOP});
    launcher->finish(slot->crew, by_force);
    snprintf(ending->how, sizeof ending->how, "%s", slot->how ? slot->how : "");
    ending->run = slot->last_run;
    close_node_slot(slot);
}

/* ZeroMQ's own are not to be waited for by poll(). */
static int worker_nodes_poll_file(const void *self, unsigned worker)
{
    (void)self, (void)worker;
    return -1;
}

const struct tt_worker_backend tt_worker_nodes = {.name = "nodes",
                                                  .size = sizeof(struct node_workers),
                                                  .does_without = true,
                                                  .open = open_node_workers,
                                                  .close = close_node_workers,
                                                  .start = worker_nodes_start,
                                                  .tell = worker_nodes_assign_runs,
                                                  .hear = worker_nodes_receive,
                                                  .end = worker_nodes_stop,
                                                  .file = worker_nodes_poll_file};

/* Pause of an idle worker. */
static const struct timespec NAP = {.tv_nsec = 500000};

/* In the heartbeat `step` is 1 + the run that is being made, or was last; 0: none yet. */
struct node_worker {
    struct tutti_run_options options;
    struct tt_design design;
    struct tt_sweep_worker work;
    struct tt_byte_writer record, frame;
};

static bool node_worker_is_requested(const struct tutti_run_options *options)
{
    return options->vary_count > 0 || options->csv;
}

static enum tutti_err open_node_worker(void **self, const struct tutti_run_options *options, struct tt_job **job)
{
    struct node_worker *guest = *self = calloc(1, sizeof *guest);
    if (!guest)
        return tt_fail_memory();
    guest->options = *options;
    TRY(tt_design_create(&guest->design, &guest->options));
    TRY(tt_sweep_worker_open(&guest->work, &guest->options, &guest->design));
    *job = &guest->work.trial.simulation->job;
    return TUTTI_OK;
}

static void close_node_worker(void *self)
{
    struct node_worker *guest = self;
    if (!guest)
        return;
    tt_sweep_worker_close(&guest->work);
    tt_design_fini(&guest->design);
    tt_bytes_fini(&guest->record);
    tt_bytes_fini(&guest->frame);
    free(guest);
}

/* *leaves: no further run can be made here. */
static enum tutti_err node_worker_run_one(struct node_worker *guest, struct tt_fabric *fabric, double number,
                                          bool *leaves)
{
    if (!(number >= 0 && number < (double)guest->design.runs))
        return tt_fail(TUTTI_ERR_FORMAT, "the sweep has no run %g", number);
    atomic_store(&fabric->where->step, (uint64_t)number + 1); /* the node reports it if this process ends */
    TRY(tt_sweep_worker_run(&guest->work, (size_t)number, &guest->record, leaves));
    tt_bytes_reset(&guest->frame);
    tt_fabric_begin_report(&guest->frame);
    tt_bytes_put_u8(&guest->frame, *leaves);
    tt_bytes_put_block(&guest->frame, guest->record.bytes, guest->record.size);
    return tt_fabric_send_report(fabric, TUTTI_REPORT_MADE, &guest->frame);
}

/* Makes runs until there are no more. */
static enum tutti_err node_worker_run_all(struct node_worker *guest, struct tt_fabric *fabric)
{
    static const struct tt_channel none = {0}; /* exchanging nothing is a look at the conductor */
    const volatile sig_atomic_t *interrupt = guest->options.interrupt;
    struct tt_run_command order;
    bool leaves = false;
    TRY(fabric->kind->open(fabric, &none));
    while (!leaves && !tt_fabric_is_stopped(fabric) && !(interrupt && *interrupt)) {
        if (tt_command_ring_pop(guest->options.orders, &order, 1) == 0) {
            TRY(fabric->kind->exchange(fabric, 0, NULL));
            nanosleep(&NAP, NULL);
        } else if (order.kind == TUTTI_ORDER_STOP) {
            return TUTTI_OK;
        } else if (order.kind == TUTTI_ORDER_MAKE) {
            TRY(node_worker_run_one(guest, fabric, order.value, &leaves));
        }
    }
    return TUTTI_OK;
}

static enum tutti_err node_worker_serve(void *self, struct tt_fabric *fabric)
{
    struct node_worker *guest = self;
    struct tt_reporter *reporter;
    enum tutti_log_level level = guest->options.log ? guest->options.log->level : TUTTI_LOG_ERROR;
    TRY(tt_reporter_new(&reporter, fabric, level));
    guest->options.log = tt_reporter_get_log(reporter);
    enum tutti_err err = node_worker_run_all(guest, fabric);
    guest->options.log = NULL;
    tt_reporter_free(reporter);
    return err;
}

const struct tt_worker_role tt_worker_nodes_role = {.is_asked_for = node_worker_is_requested,
                                                    .open = open_node_worker,
                                                    .work = node_worker_serve,
                                                    .close = close_node_worker};
