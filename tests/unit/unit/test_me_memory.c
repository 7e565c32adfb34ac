/* SPDX-License-Identifier: MIT */
/* A Model Exchange unit without enough memory: every allocation fails once, in every part of its life. */
#include "test.h"

#include <stdlib.h>
#include <tutti/extra.h>

#include "solve/allocations.h"
#include "unit/me_linear.h"
#include "unit/unit.h"

struct plan {
    const char *model, *input, *output;
    const char *solver;
    bool extra;
};

static enum tutti_err extra_rhs(void *context, struct tutti_model *model, double t, const double *p, double *dp)
{
    (void)context;
    (void)model;
    (void)t;
    dp[0] = -p[0];
    return TUTTI_OK;
}

static enum tutti_err extra_structure(void *context, struct tutti_model *model, const int **starts, const int **rows)
{
    static const int column_starts[] = {0, 1}, row[] = {0};
    (void)context;
    (void)model;
    *starts = column_starts;
    *rows = row;
    return TUTTI_OK;
}

static enum tutti_err extra_jacobian(void *context, struct tutti_model *model, double t, const double *p,
                                     double *values)
{
    (void)context;
    (void)model;
    (void)t;
    (void)p;
    values[0] = -1;
    return TUTTI_OK;
}

static const struct tutti_extra extra = {.count = 1,
                                         .rhs = extra_rhs,
                                         .structure = extra_structure,
                                         .jacobian = extra_jacobian};

static enum tutti_err begin(struct tt_unit *unit)
{
    struct tt_experiment_setup setup = {.stop = 10, .has_stop = true};
    struct tt_unit_event event;
    TRY(unit->kind->configure(unit, NULL, 0));
    TRY(unit->kind->set_up(unit, &setup));
    TRY(unit->kind->enter_init(unit));
    TRY(unit->kind->exit_init(unit));
    return unit->kind->settle(unit, &event);
}

static enum tutti_err move(struct tt_unit *unit, uint32_t input, uint32_t output)
{
    struct tt_fmi_step step;
    struct tt_linear *linear;
    struct tt_unit_event event;
    double value = 1, slope = 0.5;
    struct tt_block block = {
        .type = TUTTI_TYPE_FLOAT64, .references = &input, .count = 1, .values = &value, .value_count = 1};
    TRY(unit->kind->set(unit, &block));
    TRY(unit->kind->set_input_derivatives(unit, &input, NULL, 1, &(int32_t){1}, &slope));
    TRY(unit->kind->step(unit, 0, 0.5, &step));
    TRY(unit->kind->get_output_derivatives(unit, &output, 1, 1, &value));
    TRY(unit->kind->get_output_derivatives(unit, &output, 1, 2, &value));
    TRY(unit->kind->get_directional(unit, &output, 1, &input, 1, &slope, &value));
    TRY(unit->kind->linearize(unit, TUTTI_WANT_A | TUTTI_WANT_B | TUTTI_WANT_C | TUTTI_WANT_D, &linear));
    TRY(unit->kind->enter_event(unit));
    TRY(unit->kind->settle(unit, &event));
    return unit->kind->step(unit, 0.5, 0.5, &step);
}

static enum tutti_err go_back(struct tt_unit *unit, struct tt_unit_saved **saved)
{
    struct tt_fmi_step step;
    TRY(unit->kind->save(unit, saved));
    TRY(unit->kind->step(unit, 1, 0.5, &step));
    TRY(unit->kind->restore(unit, *saved));
    return unit->kind->step(unit, 1, 0.5, &step);
}

static enum tutti_err live(struct tt_fmu *fmu, const struct plan *plan, const struct tt_solver_kind *solver)
{
    struct tt_unit *unit = NULL;
    struct tt_unit_saved *saved = NULL;
    struct tt_unit_options options = {
        .name = "it",
        .interface = TUTTI_INTERFACE_ME,
        .integration = {
            .solver = solver, .rtol = 1e-6, .atol = 1e-8, .h_fixed = 0.01, .extra = plan->extra ? &extra : NULL}};
    enum tutti_err err = tt_unit_new(&unit, fmu, &options);
    if (!err)
        err = begin(unit);
    uint32_t input = fmu->desc->vars[tt_description_find(fmu->desc, plan->input)].reference;
    uint32_t output = fmu->desc->vars[tt_description_find(fmu->desc, plan->output)].reference;
    if (!err)
        err = move(unit, input, output);
    if (!err)
        err = go_back(unit, &saved);
    if (unit)
        unit->kind->discard(unit, saved);
    tt_unit_free(unit);
    return err;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const struct plan plans[] = {
        {TUTTI_FMUS "/Tracker_fmi1me.fmu", "u", "error", "radau5", false},
        {TUTTI_FMUS "/Tracker_fmi2.fmu", "u", "error", "bdf", false},
        {TUTTI_FMUS "/Tracker_fmi3.fmu", "u", "error", "cvode", false},
        {TUTTI_FMUS "/Tracker_fmi3.fmu", "u", "error", "rk4", true},
        {TUTTI_FMUS "/Tracker_fmi2.fmu", "u", "error", "radau5", true},
        {TEST_FMUS "/PlainWave_fmi2.fmu", "u", "swing", "dirk", false},
        {TEST_FMUS "/Mixed_fmi3.fmu", "u", "x", "bdf", false},
        {TEST_FMUS "/Ramp_fmi1me.fmu", "u", "y", "dopri5", false},
    };
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        struct tt_fmu *fmu = NULL;
        enum tutti_err err = TUTTI_OK;
        assert_ok(tt_fmu_open(&fmu, plans[i].model, NULL));
        const struct tt_solver_kind *solver = NULL;
        assert_ok(tt_solver_find(plans[i].solver, &solver));
        assert_ok(live(fmu, &plans[i], solver)); /* loads the library */
        do {
            allocations = 0;
            failing_allocation++;
            err = live(fmu, &plans[i], solver);
            /* FMUs of FMI 1.0 and 2.0 take their memory from us. */
            bool known = err == TUTTI_OK || err == TUTTI_ERR_MEMORY || (fmu->desc->fmi < 3 && err == TUTTI_ERR_FMU);
            if (!known || (err != TUTTI_OK) != (allocations >= failing_allocation))
                fail_msg("%s: allocation %lu of %lu: %s", plans[i].model, failing_allocation, allocations,
                         err ? tutti_err_message() : "did not matter");
        } while (err);
        failing_allocation = 0;
        tt_fmu_free(fmu);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_may_fail)};
    return cmocka_run_group_tests_name("unit: me, memory", tests, NULL, NULL);
}
