/* SPDX-License-Identifier: MIT */
#include "sim/control/twin.h"

#include <stdio.h>
#include <stdlib.h>

#include "sim/ranks/team.h"
#include "sim/control/control.h"
#include "sim/step.h"
#include "sim/checkpoint/packed_state.h"

struct tt_twin {
    struct tt_execution *execution;
    struct tt_team *team;         /* borrowed */
    struct tt_byte_writer parcel; /* an order, or an answer */
    struct tt_bytes *pieces;      /* of an order: per component */
    struct tt_unit_counts *from;  /* per own unit: counts before a step */
};

/* The counts of couplings for the run. */
enum { COUNTED = 4 };

static void list_twin_counts(struct tutti_run_stats *stats, unsigned long *counted[COUNTED])
{
    counted[0] = &stats->iterations;
    counted[1] = &stats->newton_iterations;
    counted[2] = &stats->step_jacobians;
    counted[3] = &stats->solve_iterations;
}

/* ---- what it takes ---- */

static enum tutti_err twin_reject_unit(const struct tt_unit *unit, const char *why, const char *instead)
{
    return tt_fail(
        TUTTI_ERR_UNSUPPORTED,
        "--twin brings a second instance of '%s' (%s) to where the first one is, at every step: %s; %s, or leave "
        "--twin out: the result is the same",
        unit->name, unit->fmu->path, why, instead);
}

/* "--solver bdf, radau5": solvers whose memory can be packed. */
static void name_packable_solvers(char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "use --solver");
    for (const struct tt_solver_kind *const *kind = tt_solver_kinds; *kind && used < size; kind++)
        if ((*kind)->saved_size)
            used += (size_t)snprintf(text + used, size - used, " %s,", (*kind)->name);
    if (used < size)
        text[used - 1] = '\0';
}

static enum tutti_err check_twin_unit(const struct tt_member *member)
{
    const struct tt_unit *unit = member->unit;
    const struct tt_solver_kind *solver = member->setup.integration.solver;
    if (!tt_packed_state_serializes(unit) || unit->forked || unit->forgets)
        return twin_reject_unit(unit, "the FMU cannot serialise its state (canSerializeFMUstate)",
                                "export it with that, or try --interface me if it has no event indicators");
    if (unit->kind->interface == TUTTI_ME && solver && !solver->saved_size) {
        char instead[160];
        name_packable_solvers(instead, sizeof instead);
        return twin_reject_unit(unit, "what its solver knows of the steps before cannot be had", instead);
    }
    return TUTTI_OK;
}

static enum tutti_err twin_check_units(const struct tt_execution *execution)
{
    const struct tt_rank *rank = &execution->rank;
    const struct tt_method *chosen = &execution->master.chosen;
    if (!(chosen->is & TUTTI_METHOD_GENERAL) || !chosen->control->doubles)
        return tt_fail(
            TUTTI_ERR_ARGUMENT,
            "--twin is for steps that are made in one piece and in two halves: it goes with --control richardson or "
            "slope, not with %s",
            (chosen->is & TUTTI_METHOD_GENERAL) ? chosen->control->name : "one FMU whose steps are not controlled");
    for (uint32_t m = 0; m < rank->member_count; m++)
        TRY(check_twin_unit(&rank->members[m]));
    return TUTTI_OK;
}

enum tutti_err tt_twin_open(struct tt_execution *execution, struct tt_team *team)
{
    const struct tt_rank *rank = &execution->rank;
    TRY(twin_check_units(execution));
    struct tt_twin *twin = execution->twin = calloc(1, sizeof *twin);
    if (!twin)
        return tt_fail_memory();
    *twin = (struct tt_twin){.execution = execution,
                             .team = team,
                             .pieces = calloc(rank->member_count, sizeof *twin->pieces),
                             .from = calloc((size_t)rank->own_count + 1, sizeof *twin->from)};
    if (!twin->pieces || !twin->from)
        return tt_fail_memory();
    execution->master.twin = rank->is_twin ? NULL : twin;
    return TUTTI_OK;
}

void tt_twin_close(struct tt_execution *execution)
{
    struct tt_twin *twin = execution->twin;
    if (!twin)
        return;
    tt_bytes_fini(&twin->parcel);
    free(twin->pieces);
    free(twin->from);
    free(twin);
    execution->twin = execution->master.twin = NULL;
}

/* ---- orders ---- */

/* Units stand where the macro step begins: its snapshot has their points. */
static enum tutti_err pack_twin_units(struct tt_twin *twin)
{
    struct tt_execution *execution = twin->execution;
    const struct tt_rank *rank = &execution->rank;
    uint32_t own = 0;
    for (uint32_t m = 0; m < rank->member_count; m++) {
        size_t begin = tt_bytes_begin_block(&twin->parcel);
        if (tt_rank_owns(rank, m))
            TRY(tt_packed_state_pack_unit_at(execution, own++, execution->master.start.saved[m], &twin->parcel));
        else
            tt_packed_state_pack_remote(execution, m, &twin->parcel);
        tt_bytes_end_block(&twin->parcel, begin);
    }
    return TUTTI_OK;
}

static enum tutti_err twin_send(struct tt_twin *twin)
{
    return twin->parcel.failed ? tt_fail_memory() : tt_team_send(twin->team, tt_bytes_written(&twin->parcel));
}

enum tutti_err tt_twin_request_step(struct tt_twin *twin, double target)
{
    tt_bytes_reset(&twin->parcel);
    tt_bytes_put_double(&twin->parcel, target);
    size_t begin = tt_bytes_begin_block(&twin->parcel);
    TRY(tt_packed_state_pack_common(twin->execution, &twin->parcel));
    tt_bytes_end_block(&twin->parcel, begin);
    TRY(tt_fail_context(pack_twin_units(twin), "--twin"));
    return twin_send(twin);
}

void tt_twin_stop(struct tt_twin *twin)
{
    struct tt_failure failure;
    if (!twin)
        return;
    tt_fail_save(&failure, TUTTI_ERR_STOPPED); /* whatever it is */
    tt_bytes_reset(&twin->parcel);
    if (twin_send(twin) != TUTTI_OK) /* a stopped run also stops the second team */
        (void)tt_fail_restore(&failure);
}

static enum tutti_err twin_fail_malformed(void)
{
    return tt_fail(TUTTI_ERR_FORMAT, "--twin: a message between two instances of the units is malformed");
}

/* To the point of an order. */
static enum tutti_err read_twin_point(struct tt_twin *twin, struct tt_byte_reader *in)
{
    const struct tt_rank *rank = &twin->execution->rank;
    struct tt_checkpoint point = {.units = twin->pieces, .unit_count = rank->member_count};
    point.common.data = tt_bytes_get_block(in, &point.common.size);
    for (uint32_t m = 0; m < rank->member_count; m++)
        twin->pieces[m].data = tt_bytes_get_block(in, &twin->pieces[m].size);
    if (in->bad || in->at != in->end)
        return twin_fail_malformed();
    TRY(tt_packed_state_unpack(twin->execution, &point));
    return tt_step_begin(&twin->execution->master);
}

/* ---- answers ---- */

static void save_twin_counts(struct tt_twin *twin)
{
    struct tt_rank *rank = &twin->execution->rank;
    unsigned long *counted[COUNTED];
    list_twin_counts(rank->stats, counted);
    for (int i = 0; i < COUNTED; i++)
        *counted[i] = 0;
    for (uint32_t i = 0; i < rank->own_count; i++)
        twin->from[i] = rank->own[i]->unit->counts;
}

static void twin_write_counts(struct tt_twin *twin)
{
    const struct tt_rank *rank = &twin->execution->rank;
    unsigned long *counted[COUNTED];
    list_twin_counts(rank->stats, counted);
    for (int i = 0; i < COUNTED; i++)
        tt_bytes_put_u64(&twin->parcel, *counted[i]);
    for (uint32_t i = 0; i < rank->own_count; i++) {
        const struct tt_unit_counts *counts = &rank->own[i]->unit->counts, *from = &twin->from[i];
        struct tt_solver_counts solver = {0};
        tt_solver_counts_add(&solver, &counts->solver, &from->solver);
        tt_bytes_put_u64(&twin->parcel, counts->do_steps - from->do_steps);
        tt_bytes_put_u64(&twin->parcel, counts->gets - from->gets);
        tt_bytes_put_u64(&twin->parcel, counts->sets - from->sets);
        tt_bytes_put_u64(&twin->parcel, counts->rollbacks - from->rollbacks);
        tt_bytes_put_block(&twin->parcel, &solver, sizeof solver);
    }
}

static void read_twin_counts(struct tt_rank *rank, struct tt_byte_reader *in)
{
    static const struct tt_solver_counts none = {0};
    unsigned long *counted[COUNTED];
    list_twin_counts(rank->stats, counted);
    for (int i = 0; i < COUNTED; i++)
        *counted[i] += (unsigned long)tt_bytes_get_u64(in);
    for (uint32_t i = 0; i < rank->own_count; i++) {
        struct tt_unit_counts *counts = &rank->own[i]->unit->counts;
        struct tt_solver_counts solver = {0};
        unsigned long do_steps = (unsigned long)tt_bytes_get_u64(in);
        counts->do_steps += do_steps;
        counts->auxiliary += do_steps;
        counts->attributed += do_steps;
        counts->gets += (unsigned long)tt_bytes_get_u64(in);
        counts->sets += (unsigned long)tt_bytes_get_u64(in);
        counts->rollbacks += (unsigned long)tt_bytes_get_u64(in);
        (void)tt_bytes_get_copy(in, &solver, sizeof solver);
        tt_solver_counts_add(&counts->beside, &solver, &none);
    }
}

enum tutti_err tt_twin_await(struct tt_twin *twin, struct tt_step_result *result, bool *over)
{
    struct tt_sim *master = &twin->execution->master;
    struct tt_bytes bytes;
    TRY(tt_team_receive(twin->team, false, &bytes));
    struct tt_byte_reader in = tt_bytes_get_begin(bytes);
    *over = tt_bytes_get_u8(&in) != 0;
    result->converged = tt_bytes_get_u8(&in) != 0 && result->converged;
    result->iterations += tt_bytes_get_u32(&in);
    read_twin_counts(master->rank, &in);
    (void)tt_bytes_get_copy(&in, master->compared.whole, master->outputs.count * sizeof(double));
    return in.bad || in.at != in.end ? twin_fail_malformed() : TUTTI_OK;
}

static enum tutti_err twin_send_result(struct tt_twin *twin, const struct tt_step_result *result)
{
    struct tt_sim *master = &twin->execution->master;
    struct tt_byte_writer *parcel = &twin->parcel;
    bool over = tt_control_attempt_is_over(result);
    if (!over)
        TRY(tt_outputs_read(&master->outputs, master->compared.whole));
    tt_bytes_reset(parcel);
    tt_bytes_put_u8(parcel, over);
    tt_bytes_put_u8(parcel, result->converged);
    tt_bytes_put_u32(parcel, result->iterations);
    twin_write_counts(twin);
    tt_bytes_put_block(parcel, master->compared.whole, master->outputs.count * sizeof(double));
    return twin_send(twin);
}

enum tutti_err tt_twin_serve(struct tt_execution *execution)
{
    struct tt_twin *twin = execution->twin;
    struct tt_sim *master = &execution->master;
    for (;;) {
        struct tt_bytes order;
        TRY(tt_team_receive(twin->team, true, &order));
        if (order.size == 0)
            return TUTTI_OK;
        struct tt_byte_reader in = tt_bytes_get_begin(order);
        double target = tt_bytes_get_double(&in);
        TRY(read_twin_point(twin, &in));
        save_twin_counts(twin);
        struct tt_step_result result = tt_step_result_begin(master->rank->t, target);
        TRY(tt_control_attempt_step(master, target, &result));
        TRY(twin_send_result(twin, &result));
    }
}
