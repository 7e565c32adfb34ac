/* SPDX-License-Identifier: MIT */
#include "sim/final_states.h"

#include <stdlib.h>

#include "base/number.h"
#include "sim/ranks/report_frame.h"

static enum tutti_err send_final_state(struct tt_rank *rank, uint32_t component, const unsigned char *bytes,
                                       size_t size)
{
    struct tt_byte_writer frame = {0};
    if (!rank->reports)
        return tt_state_files_write(&rank->job->states, component, bytes, size);
    tt_fabric_begin_report(&frame);
    tt_bytes_put_u32(&frame, component);
    tt_bytes_put_block(&frame, bytes, size);
    enum tutti_err err = tt_fabric_send_report(rank->fabric, TUTTI_REPORT_STATE, &frame);
    tt_bytes_fini(&frame);
    return err;
}

static enum tutti_err export_final_state(struct tt_rank *rank, const struct tt_member *member)
{
    unsigned char *bytes;
    size_t size;
    tt_rank_publish_unit(rank, member->component);
    TRY(tt_fail_context(member->unit->kind->export_state(member->unit, &bytes, &size), "--final-state"));
    enum tutti_err err = send_final_state(rank, member->component, bytes, size);
    free(bytes);
    return err;
}

/* Ranks that an end was not told to stand before the stop time, too. */
static bool rank_ended_early(const struct tt_rank *rank)
{
    return rank->ended || !tt_time_reached(rank->t, rank->times.stop, rank->span);
}

enum tutti_err tt_execution_report_final_states(struct tt_rank *rank)
{
    if (rank->job->options.final_state_count == 0)
        return TUTTI_OK;
    if (rank_ended_early(rank)) {
        tt_log(rank->log, TUTTI_LOG_WARNING, NULL,
               "--final-state: the run has ended at t = %s, before its stop time: no state is written", TIME(rank->t));
        return TUTTI_OK;
    }
    for (uint32_t m = 0; m < rank->own_count; m++)
        if (tt_state_files_final(&rank->job->states, rank->own[m]->component))
            TRY(export_final_state(rank, rank->own[m]));
    return TUTTI_OK;
}
