/* SPDX-License-Identifier: MIT */
/* Which calls the standards permit in which state, written down once more from their own tables, against ours (fmu/fmi_state.c), cell by cell; and
 * each call that is not permitted, made in each state that an FMU can be brought to: an error of ours that names it, before the FMU is called. */
#include "test.h"

#include "fmu/fmi_call_instance.h"
#include "fmu/fmu.h"
#include "fmu/instance.h"

/* ---- the tables ----
 *
 * A letter for each state in which a call is permitted:
 *   i instantiated   c configuration   n initialisation   e event   t continuous time   s step (activation)   S step, something was set
 *   r reconfiguration   u intermediate update (clock update)   f step failed   T terminated   E error
 * FMI 2.0.5: tables in sections 3.2.3 and 4.2.4; FMI 3.0.2: "Allowed Function Calls" in sections 2.3, 3.2, 4.2, 5.2, and 2.2.8 for intervals;
 * FMI 1.0: the state machines of both documents. Where we are stricter than a table, it is noted. */
static const char letters[] = "-icnetsSrufTE-";

struct permitted {
    enum tt_fmi_call call;
    const char *states;
};

#define ALIVE "icnetsSrfTE"
#define SAVABLE "inetsSfTE"

static const struct permitted cs1[] = {
    {TUTTI_CALL_FREE, ALIVE},
    {TUTTI_CALL_SET_DEBUG_LOGGING, ALIVE},
    {TUTTI_CALL_ENTER_INITIALIZATION, "i"}, /* ours: fmiInitializeSlave is the end of it */
    {TUTTI_CALL_EXIT_INITIALIZATION, "n"},
    {TUTTI_CALL_SET, "insS"},
    {TUTTI_CALL_GET, "esfTE"}, /* stricter: not after a set */
    {TUTTI_CALL_SET_INPUT_DERIVATIVES, "sS"},
    {TUTTI_CALL_GET_OUTPUT_DERIVATIVES, "sfT"},
    {TUTTI_CALL_DO_STEP, "sS"},
    {TUTTI_CALL_TERMINATE, "sSf"},
    {TUTTI_CALL_RESET, "sSfTE"},
};

static const struct permitted cs2[] = {
    {TUTTI_CALL_FREE, ALIVE},
    {TUTTI_CALL_SET_DEBUG_LOGGING, ALIVE},
    {TUTTI_CALL_SETUP_EXPERIMENT, "i"},
    {TUTTI_CALL_ENTER_INITIALIZATION, "i"},
    {TUTTI_CALL_EXIT_INITIALIZATION, "n"},
    {TUTTI_CALL_SET, "insS"},
    {TUTTI_CALL_GET, "nesfTE"}, /* stricter: not after a set */
    {TUTTI_CALL_SET_INPUT_DERIVATIVES, "insS"},
    {TUTTI_CALL_GET_OUTPUT_DERIVATIVES, "sfTE"},
    {TUTTI_CALL_GET_DIRECTIONAL, "nsSfTE"},
    {TUTTI_CALL_DO_STEP, "sS"},
    {TUTTI_CALL_GET_STATE, SAVABLE},
    {TUTTI_CALL_SET_STATE, SAVABLE},
    {TUTTI_CALL_FREE_STATE, SAVABLE},
    {TUTTI_CALL_SERIALIZE, SAVABLE},
    {TUTTI_CALL_DESERIALIZE, SAVABLE},
    {TUTTI_CALL_TERMINATE, "sSf"},
    {TUTTI_CALL_RESET, ALIVE},
};

static const struct permitted cs3[] = {
    {TUTTI_CALL_FREE, ALIVE},
    {TUTTI_CALL_SET_DEBUG_LOGGING, ALIVE},
    {TUTTI_CALL_ENTER_CONFIGURATION, "isS"},
    {TUTTI_CALL_EXIT_CONFIGURATION, "cr"},
    {TUTTI_CALL_ENTER_INITIALIZATION, "i"},
    {TUTTI_CALL_EXIT_INITIALIZATION, "n"},
    {TUTTI_CALL_ENTER_EVENT, "sS"},
    {TUTTI_CALL_UPDATE_DISCRETE, "e"},
    {TUTTI_CALL_ENTER_STEP, "e"},
    {TUTTI_CALL_SET_CLOCKS, "e"},
    {TUTTI_CALL_GET_CLOCKS, "e"},
    {TUTTI_CALL_SET_INTERVAL, "ne"},
    {TUTTI_CALL_GET_INTERVAL, "ne"},
    {TUTTI_CALL_GET_SHIFT, "n"},
    {TUTTI_CALL_SET, "icnesSru"},
    {TUTTI_CALL_GET, "inesufTE"},
    {TUTTI_CALL_GET_OUTPUT_DERIVATIVES, "suTE"},
    {TUTTI_CALL_GET_DIRECTIONAL, "nesSTE"},
    {TUTTI_CALL_GET_ADJOINT, "nesSTE"},
    {TUTTI_CALL_DO_STEP, "sS"},
    {TUTTI_CALL_GET_STATE, SAVABLE},
    {TUTTI_CALL_SET_STATE, SAVABLE},
    {TUTTI_CALL_FREE_STATE, SAVABLE},
    {TUTTI_CALL_SERIALIZE, SAVABLE},
    {TUTTI_CALL_DESERIALIZE, SAVABLE},
    {TUTTI_CALL_TERMINATE, "sSe"},
    {TUTTI_CALL_RESET, ALIVE},
};

static const struct permitted me1[] = {
    {TUTTI_CALL_FREE, ALIVE},
    {TUTTI_CALL_SET_DEBUG_LOGGING, ALIVE},
    {TUTTI_CALL_SETUP_EXPERIMENT, "i"},
    {TUTTI_CALL_ENTER_INITIALIZATION, "i"},
    {TUTTI_CALL_EXIT_INITIALIZATION, "n"},
    {TUTTI_CALL_ENTER_EVENT, "t"},
    {TUTTI_CALL_UPDATE_DISCRETE, "e"},
    {TUTTI_CALL_ENTER_CONTINUOUS, "e"},
    {TUTTI_CALL_SET, "inet"},
    {TUTTI_CALL_GET, "etT"},
    {TUTTI_CALL_COUNT_STATES, "ie"},
    {TUTTI_CALL_SET_TIME, "t"},
    {TUTTI_CALL_SET_STATES, "t"},
    {TUTTI_CALL_GET_STATES, "et"},
    {TUTTI_CALL_GET_DERIVATIVES, "et"},
    {TUTTI_CALL_GET_INDICATORS, "et"},
    {TUTTI_CALL_GET_NOMINALS, "et"},
    {TUTTI_CALL_GET_STATE_REFERENCES, "et"},
    {TUTTI_CALL_COMPLETED_STEP, "t"},
    {TUTTI_CALL_TERMINATE, "et"},
};

#define EVALUABLE "netTE"

static const struct permitted me2[] = {
    {TUTTI_CALL_FREE, ALIVE},
    {TUTTI_CALL_SET_DEBUG_LOGGING, ALIVE},
    {TUTTI_CALL_SETUP_EXPERIMENT, "i"},
    {TUTTI_CALL_ENTER_INITIALIZATION, "i"},
    {TUTTI_CALL_EXIT_INITIALIZATION, "n"},
    {TUTTI_CALL_ENTER_EVENT, "et"},
    {TUTTI_CALL_UPDATE_DISCRETE, "e"},
    {TUTTI_CALL_ENTER_CONTINUOUS, "e"},
    {TUTTI_CALL_SET, "inet"},
    {TUTTI_CALL_GET, EVALUABLE},
    {TUTTI_CALL_GET_DIRECTIONAL, EVALUABLE},
    {TUTTI_CALL_COUNT_STATES, "ie"}, /* no call: from the description */
    {TUTTI_CALL_SET_TIME, "t"},      /* stricter: in event mode for discrete FMUs, too */
    {TUTTI_CALL_SET_STATES, "t"},
    {TUTTI_CALL_GET_STATES, EVALUABLE},
    {TUTTI_CALL_GET_DERIVATIVES, EVALUABLE},
    {TUTTI_CALL_GET_INDICATORS, EVALUABLE},
    {TUTTI_CALL_GET_NOMINALS, "i" EVALUABLE},
    {TUTTI_CALL_COMPLETED_STEP, "t"},
    {TUTTI_CALL_GET_STATE, SAVABLE},
    {TUTTI_CALL_SET_STATE, SAVABLE},
    {TUTTI_CALL_FREE_STATE, SAVABLE},
    {TUTTI_CALL_SERIALIZE, SAVABLE},
    {TUTTI_CALL_DESERIALIZE, SAVABLE},
    {TUTTI_CALL_TERMINATE, "et"},
    {TUTTI_CALL_RESET, ALIVE},
};

static const struct permitted me3[] = {
    {TUTTI_CALL_FREE, ALIVE},
    {TUTTI_CALL_SET_DEBUG_LOGGING, ALIVE},
    {TUTTI_CALL_ENTER_CONFIGURATION, "ie"},
    {TUTTI_CALL_EXIT_CONFIGURATION, "cr"},
    {TUTTI_CALL_ENTER_INITIALIZATION, "i"},
    {TUTTI_CALL_EXIT_INITIALIZATION, "n"},
    {TUTTI_CALL_ENTER_EVENT, "t"},
    {TUTTI_CALL_UPDATE_DISCRETE, "e"},
    {TUTTI_CALL_ENTER_CONTINUOUS, "e"},
    {TUTTI_CALL_SET_CLOCKS, "e"},
    {TUTTI_CALL_GET_CLOCKS, "e"},
    {TUTTI_CALL_SET_INTERVAL, "ne"},
    {TUTTI_CALL_GET_INTERVAL, "ne"},
    {TUTTI_CALL_GET_SHIFT, "n"},
    {TUTTI_CALL_SET, "icnetr"},
    {TUTTI_CALL_GET, "i" EVALUABLE},
    {TUTTI_CALL_GET_DIRECTIONAL, EVALUABLE},
    {TUTTI_CALL_GET_ADJOINT, EVALUABLE},
    {TUTTI_CALL_COUNT_STATES, "ie"},
    {TUTTI_CALL_SET_TIME, "t"},
    {TUTTI_CALL_SET_STATES, "t"},
    {TUTTI_CALL_GET_STATES, EVALUABLE},
    {TUTTI_CALL_GET_DERIVATIVES, EVALUABLE},
    {TUTTI_CALL_GET_INDICATORS, EVALUABLE},
    {TUTTI_CALL_GET_NOMINALS, EVALUABLE},
    {TUTTI_CALL_COMPLETED_STEP, "t"},
    {TUTTI_CALL_GET_STATE, SAVABLE},
    {TUTTI_CALL_SET_STATE, SAVABLE},
    {TUTTI_CALL_FREE_STATE, SAVABLE},
    {TUTTI_CALL_SERIALIZE, SAVABLE},
    {TUTTI_CALL_DESERIALIZE, SAVABLE},
    {TUTTI_CALL_TERMINATE, "et"},
    {TUTTI_CALL_RESET, ALIVE},
};

static const struct permitted se3[] = {
    {TUTTI_CALL_FREE, ALIVE},
    {TUTTI_CALL_SET_DEBUG_LOGGING, ALIVE},
    {TUTTI_CALL_ENTER_CONFIGURATION, "isS"},
    {TUTTI_CALL_EXIT_CONFIGURATION, "cr"},
    {TUTTI_CALL_ENTER_INITIALIZATION, "i"},
    {TUTTI_CALL_EXIT_INITIALIZATION, "n"},
    {TUTTI_CALL_GET_CLOCKS, "u"},
    {TUTTI_CALL_SET_INTERVAL, "nsS"},
    {TUTTI_CALL_GET_INTERVAL, "nsSu"},
    {TUTTI_CALL_GET_SHIFT, "n"},
    {TUTTI_CALL_ACTIVATE, "sS"},
    {TUTTI_CALL_SET, "icnsSr"},
    {TUTTI_CALL_GET, "insfTE"}, /* stricter: not after a set */
    {TUTTI_CALL_GET_DIRECTIONAL, "nsSTE"},
    {TUTTI_CALL_GET_ADJOINT, "nsSTE"},
    {TUTTI_CALL_GET_STATE, SAVABLE},
    {TUTTI_CALL_SET_STATE, SAVABLE},
    {TUTTI_CALL_FREE_STATE, SAVABLE},
    {TUTTI_CALL_SERIALIZE, SAVABLE},
    {TUTTI_CALL_DESERIALIZE, SAVABLE},
    {TUTTI_CALL_TERMINATE, "sS"},
    {TUTTI_CALL_RESET, ALIVE},
};

#define LIST(list) list, sizeof(list) / sizeof *(list)

static const struct {
    enum tt_interface_kind kind;
    int fmi;
    const struct permitted *list;
    size_t count;
} standards[] = {{TUTTI_CS, 1, LIST(cs1)}, {TUTTI_CS, 2, LIST(cs2)}, {TUTTI_CS, 3, LIST(cs3)}, {TUTTI_ME, 1, LIST(me1)},
                 {TUTTI_ME, 2, LIST(me2)}, {TUTTI_ME, 3, LIST(me3)}, {TUTTI_SE, 3, LIST(se3)}};

static void tables_are_those_of_the_standards(void **state)
{
    (void)state;
    for (size_t s = 0; s < sizeof standards / sizeof *standards; s++) {
        const char *states[TUTTI_CALL_COUNT] = {[TUTTI_CALL_INSTANTIATE] = ""};
        for (size_t i = 0; i < standards[s].count; i++)
            states[standards[s].list[i].call] = standards[s].list[i].states;
        const uint16_t *table = tt_fmi_state_table(standards[s].kind, standards[s].fmi);
        for (int call = 0; call < TUTTI_CALL_COUNT; call++)
            for (int at = TUTTI_STATE_INSTANTIATED; at < TUTTI_STATE_FATAL; at++) {
                bool told = states[call] && strchr(states[call], letters[at]);
                if (told != tt_fmi_state_allows(table, (enum tt_fmi_call)call, (enum tt_fmi_state)at))
                    fail_msg("FMI %d.0, %s: \"%s\" in \"%s\" is %s", standards[s].fmi,
                             tt_fmi_state_interface_name(standards[s].kind),
                             tt_fmi_state_call_name((enum tt_fmi_call)call),
                             tt_fmi_state_name(standards[s].kind, (enum tt_fmi_state)at),
                             told ? "permitted" : "not permitted");
            }
    }
}

/* ---- the calls ---- */

static const uint32_t reference = 1;
static double numbers[64];
static bool flags[8];
static struct tt_saved_state saved;

#define CALLS(X)                                                                                                       \
    X(ENTER_CONFIGURATION, tt_instance_enter_configuration(in))                                                        \
    X(EXIT_CONFIGURATION, tt_instance_exit_configuration(in))                                                          \
    X(SETUP_EXPERIMENT, tt_instance_set_up(in, &(struct tt_experiment_setup){.stop = 1}))                              \
    X(ENTER_INITIALIZATION, tt_instance_enter_initialization(in, NULL))                                                \
    X(EXIT_INITIALIZATION, tt_instance_exit_initialization(in))                                                        \
    X(ENTER_EVENT, tt_instance_enter_event(in))                                                                        \
    X(UPDATE_DISCRETE, tt_instance_update_discrete(in, &(struct tt_discrete_update){0}))                               \
    X(ENTER_STEP, tt_instance_enter_step(in))                                                                          \
    X(ENTER_CONTINUOUS, tt_instance_enter_continuous(in))                                                              \
    X(SET, tt_instance_set(in, TUTTI_TYPE_FLOAT64, &reference, 1, numbers, 1))                                         \
    X(GET, tt_instance_get(in, TUTTI_TYPE_FLOAT64, &reference, 1, numbers, 1))                                         \
    X(SET_INPUT_DERIVATIVES, tt_instance_set_input_derivatives(in, &reference, 1, &(int32_t){1}, numbers))             \
    X(GET_OUTPUT_DERIVATIVES, tt_instance_get_output_derivatives(in, &reference, 1, &(int32_t){1}, numbers))           \
    X(GET_DIRECTIONAL, tt_instance_get_directional(in, &reference, 1, &reference, 1, numbers, 1, numbers, 1))          \
    X(GET_ADJOINT, tt_instance_get_adjoint(in, &reference, 1, &reference, 1, numbers, 1, numbers, 1))                  \
    X(DO_STEP, tt_instance_do_step(in, tt_instance_time(in), 0.1, true, &(struct tt_fmi_step){0}, NULL))               \
    X(SET_CLOCKS, tt_instance_clocks_set(in, &reference, 1, &(bool){true}))                                            \
    X(GET_CLOCKS, tt_instance_clocks_get(in, &reference, 1, flags))                                                    \
    X(SET_INTERVAL, tt_instance_clocks_set_interval(in, reference, &(struct tt_clock_timing){0}))                      \
    X(GET_INTERVAL, tt_instance_clocks_get_interval(in, reference, &(struct tt_clock_timing){0}))                      \
    X(GET_SHIFT, tt_instance_clocks_get_shift(in, reference, &(struct tt_clock_timing){0}))                            \
    X(ACTIVATE, tt_instance_clocks_activate(in, reference, 0))                                                         \
    X(SET_TIME, tt_instance_set_time(in, 0, flags))                                                                    \
    X(SET_STATES, tt_instance_set_states(in, numbers, 1, flags))                                                       \
    X(GET_STATES, tt_instance_get_states(in, numbers, 1))                                                              \
    X(GET_DERIVATIVES, tt_instance_get_derivatives(in, numbers, 1, flags))                                             \
    X(GET_INDICATORS, tt_instance_get_indicators(in, numbers, 1, flags))                                               \
    X(GET_NOMINALS, tt_instance_get_nominals(in, numbers, 1))                                                          \
    X(COMPLETED_STEP, tt_instance_completed_step(in, true, &flags[0], &flags[1]))                                      \
    X(GET_STATE, tt_saved_state_save(in, &saved))                                                                      \
    X(SET_STATE, tt_saved_state_restore(in, &saved))                                                                   \
    X(TERMINATE, tt_instance_terminate(in))                                                                            \
    X(RESET, tt_instance_reset(in))

/* A call that an interface does not have is not in its table. */
static enum tutti_err make_call(struct tt_instance *in, enum tt_fmi_call call, bool *made)
{
    *made = true;
    switch (call) {
#define X(name, expression)                                                                                            \
    case TUTTI_CALL_##name: return expression;
        CALLS(X)
#undef X
    default: *made = false; return TUTTI_OK;
    }
}

/* All that are not permitted where the instance is: none reaches the FMU, and it is where it was. */
static void refuse_all(struct tt_instance *in, enum tt_interface_kind kind)
{
    enum tt_fmi_state at = tt_instance_state(in);
    double time = tt_instance_time(in);
    unsigned before = in->calls;
    for (int c = 0; c < TUTTI_CALL_COUNT; c++) {
        enum tt_fmi_call call = (enum tt_fmi_call)c;
        bool made;
        bool own = call == TUTTI_CALL_SETUP_EXPERIMENT &&
                   at == TUTTI_STATE_INSTANTIATED; /* where no call is made for it */
        if (tt_fmi_state_allows(in->allowed, call, at) || own)
            continue;
        enum tutti_err err = make_call(in, call, &made);
        if (!made)
            continue;
        if (err != TUTTI_ERR_STATE && err != TUTTI_ERR_UNSUPPORTED)
            fail_msg("\"%s\" in \"%s\": %d, %s", tt_fmi_state_call_name(call), tt_fmi_state_name(kind, at), err,
                     tutti_err_message());
        bool clock = strstr(tutti_err_message(), "is no clock") || strstr(tutti_err_message(), "this clock");
        bool named = strstr(tutti_err_message(), tt_fmi_state_call_name(call)) || clock;
        if (err == TUTTI_ERR_STATE && !named)
            fail_msg("\"%s\" does not name \"%s\"", tutti_err_message(), tt_fmi_state_call_name(call));
        assert_int_equal(tt_instance_state(in), at);
        assert_true(tt_instance_time(in) == time || isnan(time));
        assert_int_equal(in->calls, before);
    }
}

struct life {
    struct tt_fmu *fmu;
    struct tt_instance *in;
    enum tt_interface_kind kind;
};

static struct life begin(const char *path, enum tt_interface_kind kind)
{
    struct life life = {.kind = kind};
    assert_ok(tt_fmu_open(&life.fmu, path, NULL));
    assert_ok(tt_fmu_load(life.fmu, kind, NULL));
    struct tt_instance_options options = {.name = "it", .event_mode = true};
    assert_ok(tt_instance_new(&life.in, life.fmu->libraries[kind], &options));
    refuse_all(life.in, kind);
    return life;
}

static void end(struct life *life)
{
    assert_ok(tt_instance_terminate(life->in));
    refuse_all(life->in, life->kind);
    tt_instance_free(life->in);
    tt_fmu_free(life->fmu);
}

static void initialise(struct life *life)
{
    struct tt_experiment_setup setup = {.stop = 10, .has_stop = true};
    assert_ok(tt_instance_enter_initialization(life->in, &setup));
    refuse_all(life->in, life->kind);
    assert_ok(tt_instance_exit_initialization(life->in));
    refuse_all(life->in, life->kind);
}

static void configure(struct life *life)
{
    assert_ok(tt_instance_enter_configuration(life->in));
    refuse_all(life->in, life->kind);
    assert_ok(tt_instance_exit_configuration(life->in));
    refuse_all(life->in, life->kind);
}

static void settle(struct life *life)
{
    struct tt_discrete_update discrete = {.again = true};
    while (discrete.again)
        assert_ok(tt_instance_update_discrete(life->in, &discrete));
    assert_ok(life->kind == TUTTI_ME ? tt_instance_enter_continuous(life->in) : tt_instance_enter_step(life->in));
    refuse_all(life->in, life->kind);
}

static uint32_t input_of(const struct life *life)
{
    const struct tt_description *desc = life->fmu->desc;
    for (uint32_t v = 0; v < desc->var_count; v++)
        if (desc->vars[v].causality == TUTTI_INPUT && desc->vars[v].type == TUTTI_TYPE_FLOAT64 &&
            desc->vars[v].variability == TUTTI_CONTINUOUS && desc->vars[v].dimension_count == 0)
            return desc->vars[v].reference;
    fail_msg("there is no input");
    return 0;
}

static void co_simulation(void **state)
{
    (void)state;
    static const char *const paths[] = {TUTTI_FMUS "/Tracker_fmi1cs.fmu", TUTTI_FMUS "/Tracker_fmi2.fmu",
                                        TUTTI_FMUS "/Tracker_fmi3.fmu", TUTTI_FMUS "/Feedthrough_fmi3.fmu"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct life life = begin(paths[i], TUTTI_CS);
        uint32_t input = input_of(&life);
        double value = 1;
        initialise(&life);
        if (tt_instance_uses_events(life.in))
            settle(&life);
        assert_ok(tt_instance_set(life.in, TUTTI_TYPE_FLOAT64, &input, 1, &value, 1));
        refuse_all(life.in, TUTTI_CS);
        assert_ok(tt_instance_do_step(life.in, 0, 0.1, true, &(struct tt_fmi_step){0}, NULL));
        refuse_all(life.in, TUTTI_CS);
        end(&life);
    }
}

static void model_exchange(void **state)
{
    (void)state;
    static const char *const paths[] = {TUTTI_FMUS "/BouncingBall_fmi1me.fmu", TUTTI_FMUS "/BouncingBall_fmi2.fmu",
                                        TUTTI_FMUS "/BouncingBall_fmi3.fmu"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct life life = begin(paths[i], TUTTI_ME);
        initialise(&life);
        settle(&life);
        end(&life);
    }
}

static void configuration(void **state)
{
    (void)state;
    for (int kind = TUTTI_CS; kind <= TUTTI_ME; kind++) {
        struct life life = begin(TUTTI_FMUS "/StateSpace_fmi3.fmu", (enum tt_interface_kind)kind);
        configure(&life);
        initialise(&life);
        if (kind == TUTTI_CS)
            configure(&life); /* from step mode, and from event mode */
        else
            settle(&life);
        end(&life);
    }
    /* An FMU that has nothing to configure is not asked to. */
    struct life life = begin(TUTTI_FMUS "/Tracker_fmi3.fmu", TUTTI_CS);
    assert_fails(tt_instance_enter_configuration(life.in), TUTTI_ERR_STATE, "no structural parameter");
    initialise(&life);
    assert_fails(tt_instance_enter_configuration(life.in), TUTTI_ERR_STATE, "no tunable structural parameter");
    end(&life);
}

static void scheduled_execution(void **state)
{
    (void)state;
    struct life life = begin(TUTTI_FMUS "/Clocks_fmi3.fmu", TUTTI_SE);
    initialise(&life);
    end(&life);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_those_of_the_standards),
        cmocka_unit_test(co_simulation),
        cmocka_unit_test(model_exchange),
        cmocka_unit_test(configuration),
        cmocka_unit_test(scheduled_execution),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
