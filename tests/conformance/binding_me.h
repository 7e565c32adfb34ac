/* SPDX-License-Identifier: MIT */
/* binding_me.h - kit FMUs of one version (VERSION, the argument: "1me", "2" or "3") in Model Exchange, for tests: an importer of few
 * lines. Include test.h first. */
#ifndef TUTTI_TEST_BINDING_ME_H
#define TUTTI_TEST_BINDING_ME_H

#include "conformance.h"
#include "instance.h"

#define VERSION conformance_arguments[1]
static int fmi;

/* The word for this version. */
#define BY_VERSION(one, two, three) (fmi == 1 ? (one) : fmi == 2 ? (two) : (three))

static inline int clear_faults(void **state)
{
    (void)state;
    return unsetenv("KIT_FAULT");
}

/* Instantiates build/fmus/MODEL_fmiVERSION.fmu. */
static inline void me_load(struct live *live, const char *model)
{
    live_load_for(live, TUTTI_ME, TUTTI_FMUS, model, VERSION);
    assert_ok(live_instantiate(live));
}

static inline void me_initialise(struct live *live, double start, double stop)
{
    struct tt_experiment_setup setup = {.start = start, .stop = stop, .has_stop = true};
    assert_ok(tt_instance_enter_initialization(live->in, &setup));
    assert_ok(tt_instance_exit_initialization(live->in));
    assert_int_equal(tt_instance_state(live->in), TUTTI_STATE_EVENT);
}

/* The event iteration; what all rounds said together. Ends in continuous-time mode, or in event mode at the end. */
static inline struct tt_discrete_update iterate(struct live *live)
{
    struct tt_discrete_update all = {.again = true};
    while (all.again) {
        struct tt_discrete_update one;
        assert_ok(tt_instance_update_discrete(live->in, &one));
        one.terminate = one.terminate || all.terminate;
        one.nominals_changed = one.nominals_changed || all.nominals_changed;
        one.states_changed = one.states_changed || all.states_changed;
        all = one;
    }
    if (!all.terminate)
        assert_ok(tt_instance_enter_continuous(live->in));
    return all;
}

/* The whole way to continuous-time mode at t = 0. */
static inline void me_start(struct live *live, const char *model)
{
    me_load(live, model);
    me_initialise(live, 0, 100);
    iterate(live);
    assert_int_equal(tt_instance_state(live->in), TUTTI_STATE_CONTINUOUS);
}

/* Puts the FMU there. */
static inline void place(struct live *live, double t, const double *x, size_t n)
{
    bool discarded = false;
    assert_ok(tt_instance_set_time(live->in, t, &discarded));
    assert_ok(tt_instance_set_states(live->in, x, n, &discarded));
    assert_false(discarded);
    assert_same_double(tt_instance_time(live->in), t);
}

static inline void slope(struct live *live, double t, const double *x, double *dx, size_t n)
{
    bool discarded = false;
    place(live, t, x, n);
    assert_ok(tt_instance_get_derivatives(live->in, dx, n, &discarded));
    assert_false(discarded);
}

/* One step of the classical Runge-Kutta method, completed. */
enum { MOST_STATES = 4 };
static inline void step(struct live *live, double t, double h, double *x, size_t n)
{
    static const double part[] = {0, 0.5, 0.5, 1};
    double k[4][MOST_STATES], at[MOST_STATES];
    for (int s = 0; s < 4; s++) {
        for (size_t i = 0; i < n; i++)
            at[i] = x[i] + (s > 0 ? part[s] * h * k[s - 1][i] : 0);
        slope(live, t + part[s] * h, at, k[s], n);
    }
    for (size_t i = 0; i < n; i++)
        x[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    place(live, t + h, x, n);
    bool event = true, terminate = true;
    assert_ok(tt_instance_completed_step(live->in, true, &event, &terminate));
    assert_false(event || terminate);
}

#endif
