/* SPDX-License-Identifier: MIT */
#include "fmi/lane.h"

#include "fmi/api1.h"
#include "fmi/api2.h"
#include "fmi/api3.h"
#include "fmi/call.h"

#define X(name, ret, params, group) ret(*name) params;
struct functions1 {
    FMI1_FUNCTIONS(X)
};
struct functions2 {
    FMI2_FUNCTIONS(X)
};
struct functions3 {
    FMI3_FUNCTIONS(X)
};
#undef X

#define FUNCTION(fmi, name) __typeof__(((struct functions##fmi *)NULL)->name)
typedef void (*function)(void);

/* ---- the calls of the versions ---- */

/* Set, do-step or get; inlined into the walk of the version. */
typedef enum tutti_status (*call)(const struct tutti_call_record *record, void *component, struct tutti_walk *walk);

#define SETTER_AND_GETTER(fmi, setter, getter, ...)                                                                    \
    static inline enum tutti_status set##fmi(const struct tutti_call_record *record, void *component,                  \
                                             struct tutti_walk *walk)                                                  \
    {                                                                                                                  \
        const struct tutti_lane_values *v = &record->inputs;                                                           \
        (void)walk;                                                                                                    \
        return (enum tutti_status)((FUNCTION(fmi, setter))record->set)(component, v->references, v->count,             \
                                                                       v->values __VA_ARGS__);                         \
    }                                                                                                                  \
    static inline enum tutti_status get##fmi(const struct tutti_call_record *record, void *component,                  \
                                             struct tutti_walk *walk)                                                  \
    {                                                                                                                  \
        const struct tutti_lane_values *v = &record->outputs;                                                          \
        (void)walk;                                                                                                    \
        return (enum tutti_status)((FUNCTION(fmi, getter))record->get)(component, v->references, v->count,             \
                                                                       v->values __VA_ARGS__);                         \
    }
#define COMMA ,
SETTER_AND_GETTER(1, fmiSetReal, fmiGetReal)
SETTER_AND_GETTER(2, fmi2SetReal, fmi2GetReal)
SETTER_AND_GETTER(3, fmi3SetFloat64, fmi3GetFloat64, COMMA v->value_count)

static inline enum tutti_status step1(const struct tutti_call_record *record, void *component, struct tutti_walk *walk)
{
    return (enum tutti_status)((FUNCTION(1, fmiDoStep))record->step)(component, walk->t, walk->h, fmiTrue);
}

static inline enum tutti_status step2(const struct tutti_call_record *record, void *component, struct tutti_walk *walk)
{
    return (enum tutti_status)((FUNCTION(2, fmi2DoStep))record->step)(component, walk->t, walk->h, fmi2True);
}

static inline enum tutti_status step3(const struct tutti_call_record *record, void *component, struct tutti_walk *walk)
{
    struct tutti_step *step = &walk->step;
    step->reached = walk->end;
    return (enum tutti_status)((FUNCTION(3, fmi3DoStep))record->step)(component, walk->t, walk->h, true, &step->event,
                                                                      &step->terminate, &step->early, &step->reached);
}

/* ---- records ---- */

static bool find_functions(struct tutti_call_record *record, const struct tutti_instance *in)
{
    const void *table = in->functions;
    const struct functions1 *f1 = table;
    const struct functions2 *f2 = table;
    const struct functions3 *f3 = table;
    switch (in->binding->fmi) {
    case 1:
        record->set = (function)f1->fmiSetReal;
        record->step = (function)f1->fmiDoStep;
        record->get = (function)f1->fmiGetReal;
        break;
    case 2:
        record->set = (function)f2->fmi2SetReal;
        record->step = (function)f2->fmi2DoStep;
        record->get = (function)f2->fmi2GetReal;
        break;
    default:
        record->set = (function)f3->fmi3SetFloat64;
        record->step = (function)f3->fmi3DoStep;
        record->get = (function)f3->fmi3GetFloat64;
    }
    return (record->set || record->inputs.count == 0) && record->step && (record->get || record->outputs.count == 0);
}

bool tutti_lane_record(struct tutti_call_record *record, struct tutti_instance *in,
                       const struct tutti_lane_values *inputs, const struct tutti_lane_values *outputs)
{
    *record = (struct tutti_call_record){.instance = in, .inputs = *inputs, .outputs = *outputs};
    bool steps = in->state == TUTTI_STATE_STEP || in->state == TUTTI_STATE_STEP_SET;
    bool plain = in->library->kind == TUTTI_CS && !in->event_mode && !in->options.intermediate_update;
    if (steps && plain && find_functions(record, in))
        record->fmi = (uint8_t)in->binding->fmi;
    return record->fmi != 0;
}

/* ---- the walk ---- */

#define unlikely(condition) __builtin_expect(condition, 0)

static struct tutti_call_record *stop(struct tutti_walk *walk, struct tutti_call_record *record,
                                      enum tutti_lane_stop at, enum tutti_status status)
{
    walk->at = at;
    walk->status = status;
    return record;
}

/* What the state machine and messages need to know before the first call: call.h. */
static inline __attribute__((always_inline)) bool is_ready(const struct tutti_instance *in)
{
    return (in->state == TUTTI_STATE_STEP || in->state == TUTTI_STATE_STEP_SET) && !in->refused && !in->library->fatal;
}

/* An event is nothing to an instance without event mode. */
static inline __attribute__((always_inline)) bool is_unusual(const struct tutti_step *step)
{
    return step->early || step->terminate;
}

/* After every call, as tutti_call_leave. */
static inline __attribute__((always_inline)) void check_modes(struct tutti_instance *in, const struct tutti_walk *walk)
{
    if (unlikely(tutti_floating_probe() != walk->probe))
        tutti_call_check_modes(in, &walk->modes);
}

static struct tutti_frame enter(struct tutti_walk *walk)
{
    struct tutti_frame frame = tutti_call_enter(NULL);
    walk->at = TUTTI_LANE_NOWHERE;
    walk->modes = frame.modes;
    walk->probe = walk->is_suspicious ? ~tutti_floating_probe() : tutti_floating_probe();
    return frame;
}

/* Modes that change no results (traps) show here, when it is not known any more who changed them; the next walk will tell. */
static void leave(struct tutti_walk *walk, struct tutti_frame frame)
{
    struct tutti_floating now = tutti_floating_now();
    walk->is_suspicious = walk->is_suspicious || !tutti_floating_same(&now, &walk->modes);
    tutti_call_current = NULL;
    tutti_call_leave(frame);
}

/* As far as records are of this version. */
static inline __attribute__((always_inline)) struct tutti_call_record *walk_on(struct tutti_call_record *record,
                                                                               const struct tutti_call_record *end,
                                                                               struct tutti_walk *walk, int fmi,
                                                                               bool gathers, call set, call step,
                                                                               call get)
{
    for (; record < end && record->fmi == fmi; record++) {
        struct tutti_instance *in = record->instance;
        enum tutti_status status;
        if (unlikely(--record->quiet == 0) || unlikely(!is_ready(in)))
            return stop(walk, record, TUTTI_LANE_BEFORE, TUTTI_STATUS_OK);
        tutti_call_current = in;
        atomic_store_explicit(walk->heartbeat, record->heartbeat, memory_order_relaxed);
        in->call_type = TUTTI_TYPE_FLOAT64;
        for (uint32_t k = 0; gathers && k < record->gather_count; k++)
            record->staged[k] = walk->source[record->from[k]];
        if (record->inputs.count > 0) {
            in->call = TUTTI_CALL_SET;
            status = set(record, in->component, walk);
            check_modes(in, walk);
            if (unlikely(status != TUTTI_STATUS_OK) || unlikely(in->deferred != 0))
                return stop(walk, record, TUTTI_LANE_SET, status);
        }
        in->call = TUTTI_CALL_DO_STEP;
        in->time = walk->t;
        status = step(record, in->component, walk);
        check_modes(in, walk);
        if (unlikely(status != TUTTI_STATUS_OK) || unlikely(in->deferred != 0) ||
            (fmi == 3 && unlikely(is_unusual(&walk->step))))
            return stop(walk, record, TUTTI_LANE_STEP, status);
        in->state = TUTTI_STATE_STEP;
        in->time = walk->end;
        *record->arrived = walk->arrival;
        if (record->outputs.count > 0) {
            in->call = TUTTI_CALL_GET;
            status = get(record, in->component, walk);
            check_modes(in, walk);
            if (unlikely(status != TUTTI_STATUS_OK) || unlikely(in->deferred != 0))
                return stop(walk, record, TUTTI_LANE_GET, status);
        }
    }
    return record;
}

static inline __attribute__((always_inline)) struct tutti_call_record *walk_all(struct tutti_call_record *record,
                                                                                const struct tutti_call_record *end,
                                                                                struct tutti_walk *walk, bool gathers)
{
    do {
        switch (record->fmi) {
        case 1: record = walk_on(record, end, walk, 1, gathers, set1, step1, get1); break;
        case 2: record = walk_on(record, end, walk, 2, gathers, set2, step2, get2); break;
        case 3: record = walk_on(record, end, walk, 3, gathers, set3, step3, get3); break;
        default: return stop(walk, record, TUTTI_LANE_BEFORE, TUTTI_STATUS_OK);
        }
    } while (record < end && walk->at == TUTTI_LANE_NOWHERE);
    return record;
}

uint32_t tutti_lane_walk(struct tutti_call_record *records, uint32_t first, uint32_t end, struct tutti_walk *walk)
{
    struct tutti_frame frame = enter(walk);
    struct tutti_call_record *at = records + first;
    if (first < end)
        at = walk->one_by_one ? walk_all(at, records + end, walk, true) : walk_all(at, records + end, walk, false);
    leave(walk, frame);
    return (uint32_t)(at - records);
}

/* ---- many steps ---- */

static inline void gather_all(const struct tutti_lane_many *many, const double *restrict source)
{
    const uint32_t *restrict from = many->from;
    double *restrict staged = many->staged;
    for (uint32_t k = 0; k < many->gather_count; k++)
        staged[k] = source[from[k]];
}

static inline __attribute__((always_inline)) uint32_t run(struct tutti_call_record *records, uint32_t count,
                                                          struct tutti_walk *walk, struct tutti_lane_many *many,
                                                          bool gathers)
{
    struct tutti_call_record *end = records + count, *at = end;
    struct tutti_grid *grid = many->grid;
    const volatile sig_atomic_t *interrupt = many->interrupt;
    double t = many->t;
    for (unsigned long left = many->most; left > 0 && t < grid->stop; left--) {
        double target = grid->next;
        if (unlikely(interrupt && *interrupt) || unlikely(!tutti_walk_to(walk, t, target, many->span)))
            break;
        if (!gathers)
            gather_all(many, walk->source);
        at = walk_all(records, end, walk, gathers);
        if (unlikely(at < end))
            break;
        t = target;
        tutti_grid_pass(grid, t);
        many->made++;
    }
    many->t = t;
    return (uint32_t)(at - records);
}

uint32_t tutti_lane_walk_on(struct tutti_call_record *records, uint32_t count, struct tutti_walk *walk,
                            struct tutti_lane_many *many)
{
    struct tutti_frame frame = enter(walk);
    many->made = 0;
    uint32_t at = walk->one_by_one ? run(records, count, walk, many, true) : run(records, count, walk, many, false);
    leave(walk, frame);
    return at;
}

enum tutti_err tutti_lane_conclude(const struct tutti_call_record *record, struct tutti_walk *walk)
{
    struct tutti_instance *in = record->instance;
    switch (walk->at) {
    case TUTTI_LANE_SET: return tutti_call_conclude(in, TUTTI_CALL_SET, walk->status);
    case TUTTI_LANE_GET: return tutti_call_conclude(in, TUTTI_CALL_GET, walk->status);
    case TUTTI_LANE_STEP:
        if (record->inputs.count > 0) /* which the walk did not note */
            in->state = tutti_state_after(TUTTI_CS, TUTTI_CALL_SET, in->state, false);
        if (record->fmi < 3) /* the call says nothing of it */
            walk->step.reached = walk->end;
        return tutti_call_conclude_step(in, walk->t, walk->end, walk->status, &walk->step);
    default: return TUTTI_OK;
    }
}
