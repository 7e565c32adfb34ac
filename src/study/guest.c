/* SPDX-License-Identifier: MIT */
#include "study/guest.h"

#include <stdlib.h>
#include <time.h>

#include "api/simulation.h"
#include "fabric/report.h"
#include "report/rank_reporter.h"
#include "study/work.h"

/* While there is nothing to do. */
static const struct timespec NAP = {.tv_nsec = 500000};

/* In the heartbeat `step` is 1 + the run that is being made, or was last; 0: none yet. */
struct guest {
    struct tutti_run_options options;
    struct tutti_design design;
    struct tutti_work work;
    struct tutti_parcel record, frame;
};

static bool is_asked_for(const struct tutti_run_options *options)
{
    return options->vary_count > 0 || options->csv;
}

static enum tutti_err open_guest(void **self, const struct tutti_run_options *options, struct tutti_job **job)
{
    struct guest *guest = *self = calloc(1, sizeof *guest);
    if (!guest)
        return tutti_fail_memory();
    guest->options = *options;
    TRY(tutti_design_make(&guest->design, &guest->options));
    TRY(tutti_work_open(&guest->work, &guest->options, &guest->design));
    *job = &guest->work.trial.simulation->job;
    return TUTTI_OK;
}

static void close_guest(void *self)
{
    struct guest *guest = self;
    if (!guest)
        return;
    tutti_work_close(&guest->work);
    tutti_design_fini(&guest->design);
    tutti_parcel_fini(&guest->record);
    tutti_parcel_fini(&guest->frame);
    free(guest);
}

/* *leaves: no further run can be made here. */
static enum tutti_err make(struct guest *guest, struct tutti_fabric *fabric, double number, bool *leaves)
{
    if (!(number >= 0 && number < (double)guest->design.runs))
        return tutti_fail(TUTTI_ERR_FORMAT, "the sweep has no run %g", number);
    atomic_store(&fabric->where->step, (uint64_t)number + 1); /* the node tells it if this process ends */
    TRY(tutti_work_run(&guest->work, (size_t)number, &guest->record, leaves));
    tutti_parcel_reset(&guest->frame);
    tutti_report_begin(&guest->frame);
    tutti_parcel_put_u8(&guest->frame, *leaves);
    tutti_parcel_put_block(&guest->frame, guest->record.bytes, guest->record.size);
    return tutti_report_send(fabric, TUTTI_REPORT_MADE, &guest->frame);
}

/* Until it is told that there are no more. */
static enum tutti_err make_all(struct guest *guest, struct tutti_fabric *fabric)
{
    static const struct tutti_channel none = {0}; /* exchanging nothing is a look at the conductor */
    const volatile sig_atomic_t *interrupt = guest->options.interrupt;
    struct tutti_run_order order;
    bool leaves = false;
    TRY(fabric->kind->open(fabric, &none));
    while (!leaves && !tutti_fabric_is_stopped(fabric) && !(interrupt && *interrupt)) {
        if (tutti_orders_take(guest->options.orders, &order, 1) == 0) {
            TRY(fabric->kind->exchange(fabric, 0, NULL));
            nanosleep(&NAP, NULL);
        } else if (order.kind == TUTTI_ORDER_STOP) {
            return TUTTI_OK;
        } else if (order.kind == TUTTI_ORDER_MAKE) {
            TRY(make(guest, fabric, order.value, &leaves));
        }
    }
    return TUTTI_OK;
}

static enum tutti_err work(void *self, struct tutti_fabric *fabric)
{
    struct guest *guest = self;
    struct tutti_rank_reporter *reporter;
    enum tutti_log_level level = guest->options.log ? guest->options.log->level : TUTTI_LOG_ERROR;
    TRY(tutti_rank_reporter_new(&reporter, fabric, level));
    guest->options.log = tutti_rank_reporter_log(reporter);
    enum tutti_err err = make_all(guest, fabric);
    guest->options.log = NULL;
    tutti_rank_reporter_free(reporter);
    return err;
}

const struct tutti_node_trade tutti_guest = {.is_asked_for = is_asked_for,
                                             .open = open_guest,
                                             .work = work,
                                             .close = close_guest};
