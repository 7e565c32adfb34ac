/* SPDX-License-Identifier: MIT */
/* What a rank counted, as bytes and back. */
#include "report/tally.h"

#include <stdlib.h>

#include "test.h"

/* Every byte of a struct that is no text, so that a field that is forgotten on the way comes out as zero. */
enum { FILL = 1 };

static struct tutti_unit_stats make_unit(unsigned long n)
{
    struct tutti_unit_stats unit;
    memset(&unit, FILL, sizeof unit);
    unit.name = (char *)"unit";
    unit.fmu = (char *)"/models/unit.fmu";
    unit.fmi = (char *)"2.0";
    unit.interface = (char *)"me";
    unit.solver = (char *)"cvode";
    unit.rank = 3;
    unit.uses_events = true;
    unit.do_steps = n + 1;
    unit.accepted = n + 2;
    unit.rejected = n + 3;
    unit.auxiliary = n + 4;
    unit.rollbacks = n + 5;
    unit.gets = n + 6;
    unit.sets = n + 7;
    unit.init_evaluations = n + 8;
    unit.solver_steps = n + 9;
    unit.rhs_evaluations = n + 10;
    unit.jacobian_evaluations = n + 11;
    unit.directional_derivatives = n + 12;
    unit.solver_error_failures = n + 13;
    unit.solver_other_failures = n + 14;
    unit.solver_restarts = n + 15;
    unit.seconds = 0.25;
    return unit;
}

static struct tutti_run_stats make_stats(struct tutti_unit_stats *units, size_t count)
{
    struct tutti_run_stats stats;
    memset(&stats, FILL, sizeof stats);
    stats.start = -1;
    stats.stop = 2;
    stats.steps = 101;
    stats.rejected = 102;
    stats.iterations = 103;
    stats.events_located = 104;
    stats.exchanges = 105;
    stats.rows = 106;
    stats.setup_seconds = 0.5;
    stats.loop_seconds = 0.75;
    stats.init_loops = 107;
    stats.init_iterations = 108;
    stats.coupling = (char *)"relax";
    stats.control = (char *)"slope";
    stats.events = (char *)"output";
    stats.fabric = (char *)"tcp";
    stats.coupling_reason = (char *)"an algebraic loop";
    stats.control_reason = (char *)"a tolerance is given";
    stats.extrapolate_reason = (char *)"a good first guess";
    stats.events_reason = (char *)"there are some";
    stats.estimated_in = (char *)"left.x";
    stats.estimated_error = 0.375;
    stats.estimated_size = 1e-5;
    stats.extrapolate = 2;
    stats.correct = true;
    stats.smooth = false;
    stats.not_converged = 109;
    stats.forced = 110;
    stats.overruns = 111;
    stats.most_late = 0.125;
    stats.ranks = 5;
    stats.terminated_by_fmu = false;
    stats.uses_events = true;
    stats.units = units;
    stats.unit_count = count;
    return stats;
}

/* Nothing but small gaps between fields is zero. */
static void assert_filled(const void *bytes, size_t size)
{
    for (size_t i = 0; i + 8 <= size; i += 8)
        if (memcmp((const char *)bytes + i, "\0\0\0\0\0\0\0\0", 8) == 0)
            fail_msg("the field at byte %zu of %zu did not come through", i, size);
}

static void assert_same_unit(const struct tutti_unit_stats *a, const struct tutti_unit_stats *b)
{
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->fmu, b->fmu);
    assert_string_equal(a->fmi, b->fmi);
    assert_string_equal(a->interface, b->interface);
    assert_string_equal(a->solver, b->solver);
    assert_int_equal(a->rank, b->rank);
    assert_int_equal(a->uses_events, b->uses_events);
    assert_int_equal(a->do_steps, b->do_steps);
    assert_int_equal(a->accepted, b->accepted);
    assert_int_equal(a->rejected, b->rejected);
    assert_int_equal(a->auxiliary, b->auxiliary);
    assert_int_equal(a->rollbacks, b->rollbacks);
    assert_int_equal(a->gets, b->gets);
    assert_int_equal(a->sets, b->sets);
    assert_int_equal(a->init_evaluations, b->init_evaluations);
    assert_int_equal(a->solver_steps, b->solver_steps);
    assert_int_equal(a->rhs_evaluations, b->rhs_evaluations);
    assert_int_equal(a->jacobian_evaluations, b->jacobian_evaluations);
    assert_int_equal(a->directional_derivatives, b->directional_derivatives);
    assert_int_equal(a->solver_error_failures, b->solver_error_failures);
    assert_int_equal(a->solver_other_failures, b->solver_other_failures);
    assert_int_equal(a->solver_restarts, b->solver_restarts);
    assert_near(a->seconds, b->seconds, 0);
}

static void assert_same_stats(const struct tutti_run_stats *a, const struct tutti_run_stats *b)
{
    assert_near(a->start, b->start, 0);
    assert_near(a->stop, b->stop, 0);
    assert_int_equal(a->steps, b->steps);
    assert_int_equal(a->rejected, b->rejected);
    assert_int_equal(a->iterations, b->iterations);
    assert_int_equal(a->events_located, b->events_located);
    assert_int_equal(a->exchanges, b->exchanges);
    assert_int_equal(a->rows, b->rows);
    assert_near(a->setup_seconds, b->setup_seconds, 0);
    assert_near(a->loop_seconds, b->loop_seconds, 0);
    assert_int_equal(a->init_loops, b->init_loops);
    assert_int_equal(a->init_iterations, b->init_iterations);
    assert_string_equal(a->coupling, b->coupling);
    assert_string_equal(a->control, b->control);
    assert_string_equal(a->events, b->events);
    assert_string_equal(a->fabric, b->fabric);
    assert_string_equal(a->coupling_reason, b->coupling_reason);
    assert_string_equal(a->control_reason, b->control_reason);
    assert_string_equal(a->extrapolate_reason, b->extrapolate_reason);
    assert_string_equal(a->events_reason, b->events_reason);
    assert_string_equal(a->estimated_in, b->estimated_in);
    assert_near(a->estimated_error, b->estimated_error, 0);
    assert_near(a->estimated_size, b->estimated_size, 0);
    assert_int_equal(a->extrapolate, b->extrapolate);
    assert_int_equal(a->correct, b->correct);
    assert_int_equal(a->smooth, b->smooth);
    assert_int_equal(a->not_converged, b->not_converged);
    assert_int_equal(a->forced, b->forced);
    assert_int_equal(a->overruns, b->overruns);
    assert_near(a->most_late, b->most_late, 0);
    assert_int_equal(a->ranks, b->ranks);
    assert_int_equal(a->terminated_by_fmu, b->terminated_by_fmu);
    assert_int_equal(a->uses_events, b->uses_events);
    assert_int_equal(a->unit_count, b->unit_count);
}

static void test_every_field(void **state)
{
    (void)state;
    struct tutti_unit_stats units[2] = {make_unit(1000), make_unit(2000)};
    struct tutti_run_stats stats = make_stats(units, 2), back;
    struct tutti_parcel parcel = {0};
    tutti_tally_pack(&parcel, &stats);
    assert_false(parcel.failed);
    struct tutti_unparcel in = {.at = parcel.bytes, .end = parcel.bytes + parcel.size};
    assert_ok(tutti_tally_unpack(&in, &back));
    assert_same_stats(&back, &stats);
    assert_filled(&back, sizeof back);
    for (int i = 0; i < 2; i++) {
        assert_same_unit(&back.units[i], &units[i]);
        assert_filled(&back.units[i], sizeof back.units[i]);
    }
    tutti_run_stats_fini(&back);
    tutti_parcel_fini(&parcel);
}

/* Units of other ranks, and Co-Simulation without a solver. */
static void test_holes(void **state)
{
    (void)state;
    struct tutti_unit_stats units[4] = {{0}, make_unit(0), {0}, make_unit(50)};
    struct tutti_run_stats stats = make_stats(units, 4), back;
    struct tutti_parcel parcel = {0};
    units[3].solver = NULL;
    tutti_tally_pack(&parcel, &stats);
    struct tutti_unparcel in = {.at = parcel.bytes, .end = parcel.bytes + parcel.size};
    assert_ok(tutti_tally_unpack(&in, &back));
    assert_int_equal(back.unit_count, 4);
    assert_null(back.units[0].name);
    assert_null(back.units[2].name);
    assert_same_unit(&back.units[1], &units[1]);
    assert_null(back.units[3].solver);
    assert_int_equal(back.units[3].do_steps, 51);
    tutti_run_stats_fini(&back);
    tutti_parcel_fini(&parcel);
}

static void test_malformed(void **state)
{
    (void)state;
    struct tutti_unit_stats units[2] = {make_unit(0), make_unit(50)};
    struct tutti_run_stats stats = make_stats(units, 2), back;
    struct tutti_parcel parcel = {0};
    tutti_tally_pack(&parcel, &stats);
    for (size_t n = 0; n < parcel.size; n++) {
        char *part = malloc(n + 1);
        assert_non_null(part);
        memcpy(part, parcel.bytes, n);
        struct tutti_unparcel in = {.at = part, .end = part + n};
        assert_fails(tutti_tally_unpack(&in, &back), TUTTI_ERR_FORMAT, "malformed");
        tutti_run_stats_fini(&back);
        free(part);
    }
    tutti_parcel_put_u8(&parcel, 0); /* one byte more than there is to say */
    struct tutti_unparcel in = {.at = parcel.bytes, .end = parcel.bytes + parcel.size};
    assert_fails(tutti_tally_unpack(&in, &back), TUTTI_ERR_FORMAT, "malformed");
    tutti_run_stats_fini(&back);
    tutti_parcel_fini(&parcel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_field),
        cmocka_unit_test(test_holes),
        cmocka_unit_test(test_malformed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
