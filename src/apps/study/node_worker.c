/* SPDX-License-Identifier: MIT */
#include "apps/study/node_worker.h"

#include <stdlib.h>
#include <time.h>

#include "apps/api/simulation.h"
#include "sim/ranks/report_frame.h"
#include "sim/report/reporter.h"
#include "apps/study/sweep_worker.h"

/* While there is nothing to do. */
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
    atomic_store(&fabric->where->step, (uint64_t)number + 1); /* the node tells it if this process ends */
    TRY(tt_sweep_worker_run(&guest->work, (size_t)number, &guest->record, leaves));
    tt_bytes_reset(&guest->frame);
    tt_fabric_begin_report(&guest->frame);
    tt_bytes_put_u8(&guest->frame, *leaves);
    tt_bytes_put_block(&guest->frame, guest->record.bytes, guest->record.size);
    return tt_fabric_send_report(fabric, TUTTI_REPORT_MADE, &guest->frame);
}

/* Until it is told that there are no more. */
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
