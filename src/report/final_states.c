/* SPDX-License-Identifier: MIT */
#include "report/final_states.h"

#include <stdlib.h>

#include "base/number.h"
#include "fabric/report.h"

static enum tutti_err tell(struct tutti_rank *rank, uint32_t component, const unsigned char *bytes, size_t size)
{
    struct tutti_parcel frame = {0};
    if (!rank->reports)
        return tutti_states_write(&rank->job->states, component, bytes, size);
    tutti_report_begin(&frame);
    tutti_parcel_put_u32(&frame, component);
    tutti_parcel_put_block(&frame, bytes, size);
    enum tutti_err err = tutti_report_send(rank->fabric, TUTTI_REPORT_STATE, &frame);
    tutti_parcel_fini(&frame);
    return err;
}

static enum tutti_err export(struct tutti_rank *rank, const struct tutti_member *member) {
    unsigned char *bytes; size_t size; tutti_rank_tell_unit(rank, member->component);
    TRY(tutti_fail_context(member->unit->kind->export_state(member->unit, &bytes, &size), "--final-state"));
    enum tutti_err err = tell(rank, member->component, bytes, size);
    free(bytes);
    return err;
}

/* Ranks that an end was not told to stand before the stop time, too. */
static bool has_ended_early(const struct tutti_rank *rank)
{
    return rank->ended || !tutti_time_reached(rank->t, rank->times.stop, rank->span);
}

enum tutti_err tutti_final_states_tell(struct tutti_rank *rank)
{
    if (rank->job->options.final_state_count == 0)
        return TUTTI_OK;
    if (has_ended_early(rank)) {
        tutti_log_printf(rank->log, TUTTI_LOG_WARNING, NULL,
                         "--final-state: the run has ended at t = %s, before its stop time: no state is written",
                         TIME(rank->t));
        return TUTTI_OK;
    }
    for (uint32_t m = 0; m < rank->own_count; m++)
        if (tutti_states_final(&rank->job->states, rank->own[m]->component))
            TRY(export(rank, rank->own[m]));
    return TUTTI_OK;
}
