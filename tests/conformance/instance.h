/* SPDX-License-Identifier: MIT */
/* instance.h - kit FMUs brought to life, for tests. Include test.h first. */
#ifndef TUTTI_TEST_INSTANCE_H
#define TUTTI_TEST_INSTANCE_H

#include <stdlib.h>

#include "fmu/fmu.h"
#include "fmu/instance.h"
#include "fmu/fmi_state.h"
#include "conformance.h"

/* The FMU's messages, one per line. */
struct messages {
    char text[65536];
    unsigned count;
};

struct live {
    struct tt_fmu *fmu;
    enum tt_interface_kind kind;
    struct tt_instance *in;
    struct messages messages;
    struct tutti_log log;
};

static inline void take_message(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    struct messages *messages = context;
    size_t used = strlen(messages->text);
    (void)level;
    messages->count++;
    snprintf(messages->text + used, sizeof messages->text - used, "%s: %s\n", origin ? origin : "", text);
}

/* Loads FOLDER/MODEL_fmiVERSION.fmu. */
static inline void live_load_for(struct live *live, enum tt_interface_kind kind, const char *folder, const char *model,
                                 const char *version)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s_fmi%s.fmu", folder, model, version);
    memset(live, 0, sizeof *live);
    live->kind = kind;
    live->log = (struct tutti_log){TUTTI_LOG_INFO, take_message, &live->messages};
    assert_ok(tt_fmu_open(&live->fmu, path, NULL));
    assert_ok(tt_fmu_load(live->fmu, kind, &live->log));
}

/* Loads build/fmus/MODEL_fmiVERSION.fmu for Co-Simulation. */
static inline void live_load(struct live *live, const char *model, const char *version)
{
    live_load_for(live, TUTTI_CS, TUTTI_FMUS, model, version);
}

static inline enum tutti_err live_instantiate(struct live *live)
{
    struct tt_instance_options options = {.name = "it",
                                          .log = &live->log,
                                          .logging_on = true,
                                          .event_mode = true,
                                          .early_return = true,
                                          .forked = conformance_forked};
    return tt_instance_new(&live->in, live->fmu->libraries[live->kind], &options);
}

/* Event iteration until the FMU settles, back to step mode; what the last round said. */
static inline struct tt_discrete_update settle(struct tt_instance *in)
{
    struct tt_discrete_update discrete = {.again = true};
    while (discrete.again)
        assert_ok(tt_instance_update_discrete(in, &discrete));
    if (!discrete.terminate)
        assert_ok(tt_instance_enter_step(in));
    return discrete;
}

static inline void live_initialise(struct live *live, double start, double stop)
{
    struct tt_experiment_setup setup = {.start = start, .stop = stop, .has_stop = true};
    assert_ok(tt_instance_enter_initialization(live->in, &setup));
    assert_ok(tt_instance_exit_initialization(live->in));
    if (tt_instance_uses_events(live->in))
        settle(live->in);
}

/* The whole way to the first step. */
static inline void live_start(struct live *live, const char *model, const char *version)
{
    live_load(live, model, version);
    assert_ok(live_instantiate(live));
    live_initialise(live, 0, 100);
}

static inline void live_end(struct live *live)
{
    tt_instance_free(live->in);
    tt_fmu_free(live->fmu);
}

static inline uint32_t reference_of(struct live *live, const char *name)
{
    uint32_t variable = tt_description_find(live->fmu->desc, name);
    if (variable == TUTTI_NONE)
        fail_msg("no variable %s", name);
    return live->fmu->desc->vars[variable].reference;
}

static inline double get_real(struct live *live, const char *name)
{
    uint32_t reference = reference_of(live, name);
    double value = NAN;
    assert_ok(tt_instance_get(live->in, TUTTI_TYPE_FLOAT64, &reference, 1, &value, 1));
    return value;
}

static inline enum tutti_err set_real(struct live *live, const char *name, double value)
{
    uint32_t reference = reference_of(live, name);
    return tt_instance_set(live->in, TUTTI_TYPE_FLOAT64, &reference, 1, &value, 1);
}

static inline enum tutti_err do_step(struct live *live, double t, double h, struct tt_fmi_step *step)
{
    return tt_instance_do_step(live->in, t, h, true, step, NULL);
}

#endif
