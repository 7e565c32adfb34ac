/* SPDX-License-Identifier: MIT */
#include "master/control/twin.h"

#include <stdio.h>
#include <stdlib.h>

#include "fabric/team.h"
#include "master/control/attempt.h"
#include "master/macro.h"
#include "master/pack.h"

struct tutti_twin {
    struct tutti_execution *execution;
    struct tutti_team *team;        /* borrowed */
    struct tutti_parcel parcel;     /* an order, or an answer */
    struct tutti_bytes *pieces;     /* of an order: per component */
    struct tutti_unit_counts *from; /* per own unit: counts before a step */
};

/* What couplings count for the run. */
enum { COUNTED = 4 };

static void find_counts(struct tutti_run_stats *stats, unsigned long *counted[COUNTED])
{
    counted[0] = &stats->iterations;
    counted[1] = &stats->newton_iterations;
    counted[2] = &stats->step_jacobians;
    counted[3] = &stats->solve_iterations;
}

/* ---- what it takes ---- */

static enum tutti_err refuse(const struct tutti_unit *unit, const char *why, const char *instead)
{
    return tutti_fail(
        TUTTI_ERR_UNSUPPORTED,
        "--twin brings a second instance of '%s' (%s) to where the first one is, at every step: %s; %s, or leave "
        "--twin out: the result is the same",
        unit->name, unit->fmu->path, why, instead);
}

/* "--solver bdf, radau5": those whose memory can be packed. */
static void name_solvers(char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "use --solver");
    for (const struct tutti_solver_kind *const *kind = tutti_solver_kinds; *kind && used < size; kind++)
        if ((*kind)->saved_size)
            used += (size_t)snprintf(text + used, size - used, " %s,", (*kind)->name);
    if (used < size)
        text[used - 1] = '\0';
}

static enum tutti_err check_unit(const struct tutti_member *member)
{
    const struct tutti_unit *unit = member->unit;
    const struct tutti_solver_kind *solver = member->setup.integration.solver;
    if (!tutti_pack_serialises(unit) || unit->forked || unit->forgets)
        return refuse(unit, "the FMU cannot serialise its state (canSerializeFMUstate)",
                      "export it with that, or try --interface me if it has no event indicators");
    if (unit->kind->interface == TUTTI_ME && solver && !solver->saved_size) {
        char instead[160];
        name_solvers(instead, sizeof instead);
        return refuse(unit, "what its solver knows of the steps before cannot be had", instead);
    }
    return TUTTI_OK;
}

static enum tutti_err check(const struct tutti_execution *execution)
{
    const struct tutti_rank *rank = &execution->rank;
    const struct tutti_chosen *chosen = &execution->master.chosen;
    if (!chosen->general || !chosen->control->doubles)
        return tutti_fail(
            TUTTI_ERR_ARGUMENT,
            "--twin is for steps that are made in one piece and in two halves: it goes with --control richardson or "
            "slope, not with %s",
            chosen->general ? chosen->control->name : "one FMU whose steps are not controlled");
    for (uint32_t m = 0; m < rank->member_count; m++)
        TRY(check_unit(&rank->members[m]));
    return TUTTI_OK;
}

enum tutti_err tutti_twin_open(struct tutti_execution *execution, struct tutti_team *team)
{
    const struct tutti_rank *rank = &execution->rank;
    TRY(check(execution));
    struct tutti_twin *twin = execution->twin = calloc(1, sizeof *twin);
    if (!twin)
        return tutti_fail_memory();
    *twin = (struct tutti_twin){.execution = execution,
                                .team = team,
                                .pieces = calloc(rank->member_count, sizeof *twin->pieces),
                                .from = calloc((size_t)rank->own_count + 1, sizeof *twin->from)};
    if (!twin->pieces || !twin->from)
        return tutti_fail_memory();
    execution->master.twin = rank->is_twin ? NULL : twin;
    return TUTTI_OK;
}

void tutti_twin_close(struct tutti_execution *execution)
{
    struct tutti_twin *twin = execution->twin;
    if (!twin)
        return;
    tutti_parcel_fini(&twin->parcel);
    free(twin->pieces);
    free(twin->from);
    free(twin);
    execution->twin = execution->master.twin = NULL;
}

/* ---- orders ---- */

/* Units stand where the macro step begins: its snapshot has their points. */
static enum tutti_err pack_units(struct tutti_twin *twin)
{
    struct tutti_execution *execution = twin->execution;
    const struct tutti_rank *rank = &execution->rank;
    uint32_t own = 0;
    for (uint32_t m = 0; m < rank->member_count; m++) {
        size_t begin = tutti_parcel_begin_block(&twin->parcel);
        if (tutti_rank_owns(rank, m))
            TRY(tutti_pack_unit_at(execution, own++, execution->master.start.saved[m], &twin->parcel));
        else
            tutti_pack_other(execution, m, &twin->parcel);
        tutti_parcel_end_block(&twin->parcel, begin);
    }
    return TUTTI_OK;
}

static enum tutti_err send(struct tutti_twin *twin)
{
    return twin->parcel.failed ? tutti_fail_memory() : tutti_team_send(twin->team, tutti_parcel_bytes(&twin->parcel));
}

enum tutti_err tutti_twin_order(struct tutti_twin *twin, double target)
{
    tutti_parcel_reset(&twin->parcel);
    tutti_parcel_put_double(&twin->parcel, target);
    size_t begin = tutti_parcel_begin_block(&twin->parcel);
    TRY(tutti_pack_common(twin->execution, &twin->parcel));
    tutti_parcel_end_block(&twin->parcel, begin);
    TRY(tutti_fail_context(pack_units(twin), "--twin"));
    return send(twin);
}

void tutti_twin_dismiss(struct tutti_twin *twin)
{
    struct tutti_failure failure;
    if (!twin)
        return;
    tutti_failure_keep(&failure, TUTTI_ERR_STOPPED); /* whatever it is */
    tutti_parcel_reset(&twin->parcel);
    if (send(twin) != TUTTI_OK) /* of a run that is stopped the other team hears anyway */
        (void)tutti_failure_return(&failure);
}

static enum tutti_err malformed(void)
{
    return tutti_fail(TUTTI_ERR_FORMAT, "--twin: a message between two instances of the units is malformed");
}

/* To the point of an order. */
static enum tutti_err take_point(struct tutti_twin *twin, struct tutti_unparcel *in)
{
    const struct tutti_rank *rank = &twin->execution->rank;
    struct tutti_checkpoint point = {.units = twin->pieces, .unit_count = rank->member_count};
    point.common.data = tutti_unparcel_block(in, &point.common.size);
    for (uint32_t m = 0; m < rank->member_count; m++)
        twin->pieces[m].data = tutti_unparcel_block(in, &twin->pieces[m].size);
    if (in->bad || in->at != in->end)
        return malformed();
    TRY(tutti_unpack(twin->execution, &point));
    return tutti_macro_begin(&twin->execution->master);
}

/* ---- answers ---- */

static void note_counts(struct tutti_twin *twin)
{
    struct tutti_rank *rank = &twin->execution->rank;
    unsigned long *counted[COUNTED];
    find_counts(rank->stats, counted);
    for (int i = 0; i < COUNTED; i++)
        *counted[i] = 0;
    for (uint32_t i = 0; i < rank->own_count; i++)
        twin->from[i] = rank->own[i]->unit->counts;
}

static void put_counts(struct tutti_twin *twin)
{
    const struct tutti_rank *rank = &twin->execution->rank;
    unsigned long *counted[COUNTED];
    find_counts(rank->stats, counted);
    for (int i = 0; i < COUNTED; i++)
        tutti_parcel_put_u64(&twin->parcel, *counted[i]);
    for (uint32_t i = 0; i < rank->own_count; i++) {
        const struct tutti_unit_counts *counts = &rank->own[i]->unit->counts, *from = &twin->from[i];
        struct tutti_solver_counts solver = {0};
        tutti_solver_counts_add(&solver, &counts->solver, &from->solver);
        tutti_parcel_put_u64(&twin->parcel, counts->do_steps - from->do_steps);
        tutti_parcel_put_u64(&twin->parcel, counts->gets - from->gets);
        tutti_parcel_put_u64(&twin->parcel, counts->sets - from->sets);
        tutti_parcel_put_u64(&twin->parcel, counts->rollbacks - from->rollbacks);
        tutti_parcel_put_block(&twin->parcel, &solver, sizeof solver);
    }
}

static void take_counts(struct tutti_rank *rank, struct tutti_unparcel *in)
{
    static const struct tutti_solver_counts none = {0};
    unsigned long *counted[COUNTED];
    find_counts(rank->stats, counted);
    for (int i = 0; i < COUNTED; i++)
        *counted[i] += (unsigned long)tutti_unparcel_u64(in);
    for (uint32_t i = 0; i < rank->own_count; i++) {
        struct tutti_unit_counts *counts = &rank->own[i]->unit->counts;
        struct tutti_solver_counts solver = {0};
        unsigned long do_steps = (unsigned long)tutti_unparcel_u64(in);
        counts->do_steps += do_steps;
        counts->auxiliary += do_steps;
        counts->attributed += do_steps;
        counts->gets += (unsigned long)tutti_unparcel_u64(in);
        counts->sets += (unsigned long)tutti_unparcel_u64(in);
        counts->rollbacks += (unsigned long)tutti_unparcel_u64(in);
        (void)tutti_unparcel_into(in, &solver, sizeof solver);
        tutti_solver_counts_add(&counts->beside, &solver, &none);
    }
}

enum tutti_err tutti_twin_await(struct tutti_twin *twin, struct tutti_attempt *attempt, bool *over)
{
    struct tutti_master *master = &twin->execution->master;
    struct tutti_bytes bytes;
    TRY(tutti_team_receive(twin->team, false, &bytes));
    struct tutti_unparcel in = tutti_unparcel_begin(bytes);
    *over = tutti_unparcel_u8(&in) != 0;
    attempt->converged = tutti_unparcel_u8(&in) != 0 && attempt->converged;
    attempt->iterations += tutti_unparcel_u32(&in);
    take_counts(master->rank, &in);
    (void)tutti_unparcel_into(&in, master->compared.whole, master->outputs.count * sizeof(double));
    return in.bad || in.at != in.end ? malformed() : TUTTI_OK;
}

static enum tutti_err answer(struct tutti_twin *twin, const struct tutti_attempt *attempt)
{
    struct tutti_master *master = &twin->execution->master;
    struct tutti_parcel *parcel = &twin->parcel;
    bool over = tutti_attempt_is_over(attempt);
    if (!over)
        TRY(tutti_outputs_take(&master->outputs, master->compared.whole));
    tutti_parcel_reset(parcel);
    tutti_parcel_put_u8(parcel, over);
    tutti_parcel_put_u8(parcel, attempt->converged);
    tutti_parcel_put_u32(parcel, attempt->iterations);
    put_counts(twin);
    tutti_parcel_put_block(parcel, master->compared.whole, master->outputs.count * sizeof(double));
    return send(twin);
}

enum tutti_err tutti_twin_serve(struct tutti_execution *execution)
{
    struct tutti_twin *twin = execution->twin;
    struct tutti_master *master = &execution->master;
    for (;;) {
        struct tutti_bytes order;
        TRY(tutti_team_receive(twin->team, true, &order));
        if (order.size == 0)
            return TUTTI_OK;
        struct tutti_unparcel in = tutti_unparcel_begin(order);
        double target = tutti_unparcel_double(&in);
        TRY(take_point(twin, &in));
        note_counts(twin);
        struct tutti_attempt attempt = tutti_attempt_begin(master->rank, target);
        TRY(tutti_attempt_plain(master, target, &attempt));
        TRY(answer(twin, &attempt));
    }
}
