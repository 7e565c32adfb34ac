/* SPDX-License-Identifier: MIT */
#include "fmu/batched_call.h"

#include "fmu/api1.h"
#include "fmu/api2.h"
#include "fmu/api3.h"
#include "fmu/fmi_call.h"

#define X(name, ret, params, group) ret(*name) params;
struct batched_functions1 {
    FMI1_FUNCTIONS(X)
};
struct batched_functions2 {
    FMI2_FUNCTIONS(X)
};
struct batched_functions3 {
    FMI3_FUNCTIONS(X)
};
#undef X

#define FUNCTION(fmi, name) __typeof__(((struct batched_functions##fmi *)NULL)->name)
typedef void (*function)(void);

/* ---- the calls of the versions ---- */

/* Set, do-step or get; inlined into the pass of the version. */
typedef enum tt_fmi_status (*call)(const struct tt_batched_call *triple, void *component,
                                   struct tt_batched_call_pass *pass);

#define SETTER_AND_GETTER(fmi, setter, getter, ...)                                                                    \
    static inline enum tt_fmi_status set##fmi(const struct tt_batched_call *triple, void *component,                   \
                                              struct tt_batched_call_pass *pass)                                       \
    {                                                                                                                  \
        const struct tt_batched_call_values *v = &triple->inputs;                                                      \
        (void)pass;                                                                                                    \
        return (enum tt_fmi_status)((FUNCTION(fmi, setter))triple->set)(component, v->references, v->count,            \
                                                                        v->values __VA_ARGS__);                        \
    }                                                                                                                  \
    static inline enum tt_fmi_status get##fmi(const struct tt_batched_call *triple, void *component,                   \
                                              struct tt_batched_call_pass *pass)                                       \
    {                                                                                                                  \
        const struct tt_batched_call_values *v = &triple->outputs;                                                     \
        (void)pass;                                                                                                    \
        return (enum tt_fmi_status)((FUNCTION(fmi, getter))triple->get)(component, v->references, v->count,            \
                                                                        v->values __VA_ARGS__);                        \
    }
#define COMMA ,
SETTER_AND_GETTER(1, fmiSetReal, fmiGetReal)
SETTER_AND_GETTER(2, fmi2SetReal, fmi2GetReal)
SETTER_AND_GETTER(3, fmi3SetFloat64, fmi3GetFloat64, COMMA v->value_count)

static inline enum tt_fmi_status batched_call_step1(const struct tt_batched_call *triple, void *component,
                                                    struct tt_batched_call_pass *pass)
{
    return (enum tt_fmi_status)((FUNCTION(1, fmiDoStep))triple->step)(component, pass->aim.t, pass->aim.h, fmiTrue);
}

static inline enum tt_fmi_status batched_call_step2(const struct tt_batched_call *triple, void *component,
                                                    struct tt_batched_call_pass *pass)
{
    return (enum tt_fmi_status)((FUNCTION(2, fmi2DoStep))triple->step)(component, pass->aim.t, pass->aim.h, fmi2True);
}

static inline enum tt_fmi_status batched_call_step3(const struct tt_batched_call *triple, void *component,
                                                    struct tt_batched_call_pass *pass)
{
    struct tt_fmi_step *step = &pass->step;
    step->reached = pass->aim.end;
    return (enum tt_fmi_status)((FUNCTION(3, fmi3DoStep))triple->step)(
        component, pass->aim.t, pass->aim.h, true, &step->event, &step->terminate, &step->early, &step->reached);
}

/* ---- triples ---- */

static bool batched_call_find_functions(struct tt_batched_call *triple, const struct tt_instance *in)
{
    const void *table = in->functions;
    const struct batched_functions1 *f1 = table;
    const struct batched_functions2 *f2 = table;
    const struct batched_functions3 *f3 = table;
    switch (in->binding->fmi) {
    case 1:
        triple->set = (function)f1->fmiSetReal;
        triple->step = (function)f1->fmiDoStep;
        triple->get = (function)f1->fmiGetReal;
        break;
    case 2:
        triple->set = (function)f2->fmi2SetReal;
        triple->step = (function)f2->fmi2DoStep;
        triple->get = (function)f2->fmi2GetReal;
        break;
    default:
        triple->set = (function)f3->fmi3SetFloat64;
        triple->step = (function)f3->fmi3DoStep;
        triple->get = (function)f3->fmi3GetFloat64;
    }
    return (triple->set || triple->inputs.count == 0) && triple->step && (triple->get || triple->outputs.count == 0);
}

/* Its call hands doubles to the FMU as they are. */
static bool batched_call_has_doubles(const struct tt_instance *in, const struct tt_batched_call_values *values)
{
    return values->count == 0 || !tt_library_is_narrow(in->library, values->references[0]);
}

bool tt_batched_call_make(struct tt_batched_call *triple, struct tt_instance *in,
                          const struct tt_batched_call_values *inputs, const struct tt_batched_call_values *outputs)
{
    *triple = (struct tt_batched_call){.instance = in, .inputs = *inputs, .outputs = *outputs};
    bool steps = in->state == TUTTI_STATE_STEP || in->state == TUTTI_STATE_STEP_SET;
    bool plain = in->library->kind == TUTTI_CS && !in->event_mode && !in->options.intermediate_update && !in->forked &&
                 !in->options.rejects;
    bool doubles = batched_call_has_doubles(in, inputs) && batched_call_has_doubles(in, outputs);
    if (steps && plain && doubles && batched_call_find_functions(triple, in))
        triple->fmi = (uint8_t)in->binding->fmi;
    return triple->fmi != 0;
}

/* ---- the pass ---- */

#define unlikely(condition) __builtin_expect(condition, 0)
#define INLINED static inline __attribute__((always_inline))

static void batched_call_stop(struct tt_batched_call_pass *pass, const struct tt_batched_call *triple,
                              enum tt_batched_call_stop at, enum tt_fmi_status status)
{
    pass->at = at;
    pass->status = status;
    tt_fmi_call_check_modes(triple->instance, &pass->watch.modes);
}

/* Returns true if the state machine permits the first call of the batch and the data for messages are set: fmi_call.h. */
INLINED bool batched_call_is_ready(const struct tt_instance *in)
{
    return (in->state == TUTTI_STATE_STEP || in->state == TUTTI_STATE_STEP_SET) && !in->refused && !in->library->fatal;
}

/* An event is nothing to an instance without event mode. Volatile: byte by byte as the FMU has just written them. Compilers
 * make one wide load of the two, which would have to wait until the stores are in the cache. */
INLINED bool batched_call_is_unusual(const volatile struct tt_fmi_step *step)
{
    return step->early || step->terminate;
}

static struct tt_fmi_call_frame batched_call_enter(struct tt_batched_call_pass *pass)
{
    pass->at = TUTTI_TRIPLE_NOWHERE;
    return tt_fmi_call_enter_pass(&pass->watch);
}

/* Publishes the data of the following calls for messages, crash reports and time-outs. */
INLINED void batched_call_announce(const struct tt_batched_call *triple, const struct tt_batched_call_pass *pass)
{
    struct tt_instance *in = triple->instance;
    tt_fmi_call_current = in;
    atomic_store_explicit(pass->heartbeat, triple->heartbeat, memory_order_relaxed);
    in->call_type = TUTTI_TYPE_FLOAT64;
}

/* The step of one. `alone`: it is ready and announced, and no other comes between its steps. False: it stopped. */
INLINED bool batched_call_make_step(struct tt_batched_call *triple, struct tt_batched_call_pass *pass, int fmi,
                                    bool gathers, bool alone, call set, call step, call get)
{
    struct tt_instance *in = triple->instance;
    enum tt_fmi_status status;
    if (unlikely(--triple->quiet == 0) || unlikely(alone ? in->library->fatal : !batched_call_is_ready(in))) {
        batched_call_stop(pass, triple, TUTTI_TRIPLE_BEFORE, TUTTI_STATUS_OK);
        return false;
    }
    if (!alone)
        batched_call_announce(triple, pass);
    for (uint32_t k = 0; gathers && k < triple->gather_count; k++)
        triple->staged[k] = pass->source[triple->from[k]];
    if (triple->inputs.count > 0) {
        in->call = TUTTI_CALL_SET;
        status = set(triple, in->component, pass);
        tt_fmi_call_check_each(in, &pass->watch);
        if (unlikely(status != TUTTI_STATUS_OK) || unlikely(in->deferred != 0)) {
            batched_call_stop(pass, triple, TUTTI_TRIPLE_SET, status);
            return false;
        }
    }
    in->call = TUTTI_CALL_DO_STEP;
    in->time = pass->aim.t;
    status = step(triple, in->component, pass);
    tt_fmi_call_check_each(in, &pass->watch);
    if (unlikely(status != TUTTI_STATUS_OK) || unlikely(in->deferred != 0) ||
        (fmi == 3 && unlikely(batched_call_is_unusual(&pass->step)))) {
        batched_call_stop(pass, triple, TUTTI_TRIPLE_STEP, status);
        return false;
    }
    in->state = TUTTI_STATE_STEP;
    in->time = pass->aim.end;
    *triple->arrived = pass->aim.arrival;
    if (triple->outputs.count > 0) {
        in->call = TUTTI_CALL_GET;
        status = get(triple, in->component, pass);
        if (unlikely(status != TUTTI_STATUS_OK) || unlikely(in->deferred != 0)) {
            batched_call_stop(pass, triple, TUTTI_TRIPLE_GET, status);
            return false;
        }
    }
    tt_fmi_call_check_group(in, &pass->watch);
    return true;
}

/* As far as triples are of this version. */
INLINED struct tt_batched_call *batched_call_pass_version(struct tt_batched_call *triple,
                                                          const struct tt_batched_call *end,
                                                          struct tt_batched_call_pass *pass, int fmi, bool gathers,
                                                          call set, call step, call get)
{
    while (triple < end && triple->fmi == fmi &&
           batched_call_make_step(triple, pass, fmi, gathers, false, set, step, get))
        triple++;
    return triple;
}

INLINED struct tt_batched_call *batched_call_pass_all(struct tt_batched_call *triple, const struct tt_batched_call *end,
                                                      struct tt_batched_call_pass *pass, bool gathers)
{
    do {
        switch (triple->fmi) {
        case 1:
            triple = batched_call_pass_version(triple, end, pass, 1, gathers, set1, batched_call_step1, get1);
            break;
        case 2:
            triple = batched_call_pass_version(triple, end, pass, 2, gathers, set2, batched_call_step2, get2);
            break;
        case 3:
            triple = batched_call_pass_version(triple, end, pass, 3, gathers, set3, batched_call_step3, get3);
            break;
        default: batched_call_stop(pass, triple, TUTTI_TRIPLE_BEFORE, TUTTI_STATUS_OK);
        }
    } while (triple < end && pass->at == TUTTI_TRIPLE_NOWHERE);
    return triple;
}

uint32_t tt_batched_call_step(struct tt_batched_call *triples, uint32_t first, uint32_t end,
                              struct tt_batched_call_pass *pass, bool one_by_one)
{
    struct tt_fmi_call_frame frame = batched_call_enter(pass);
    struct tt_batched_call *at = triples + first;
    if (first < end)
        at = one_by_one ? batched_call_pass_all(at, triples + end, pass, true)
                        : batched_call_pass_all(at, triples + end, pass, false);
    tt_fmi_call_leave_pass(&pass->watch, frame);
    return (uint32_t)(at - triples);
}

/* ---- many steps ---- */

static inline void batched_call_gather(const struct tt_batched_call_many *many, const double *restrict source)
{
    const uint32_t *restrict from = many->from;
    double *restrict staged = many->staged;
    for (uint32_t k = 0; k < many->gather_count; k++)
        staged[k] = source[from[k]];
}

/* As tt_watch_is_finite, sim/report/watch.h. */
static inline bool batched_call_are_finite(const struct tt_batched_call_many *many)
{
    double sum = 0;
    for (const struct tt_batched_call_piece *piece = many->pieces, *end = piece + many->piece_count; piece < end;
         piece++)
        for (uint32_t i = 0; i < piece->count; i++)
            sum += piece->first[i] - piece->first[i];
    return sum == 0;
}

/* The number of step times that are computed at once, which is faster than one by one. */
enum { STEPS_AHEAD = 32 };

struct step_lookahead {
    double points[STEPS_AHEAD + 1]; /* points of the grid: each step leads exactly from one to the next */
    double h[STEPS_AHEAD];
    double end; /* or, for a single step, its end, which may differ from the grid by rounding */
};

/* Returns how many steps; 0: the next one does not lead to its point. */
static unsigned batched_call_count_steps(struct step_lookahead *ahead, const struct tt_batched_call_many *many,
                                         double t, unsigned long most)
{
    const struct tt_time_grid *grid = many->grid;
    const double start = grid->start, step = grid->step, first = (double)grid->next_index;
    int64_t inner = grid->last - grid->next_index; /* the last point is not a multiple of the step */
    int limit = most < STEPS_AHEAD ? (int)most : STEPS_AHEAD, exact = 0;
    limit = inner < limit ? (int)inner : limit;
    ahead->points[0] = t;
    for (int k = 0; k < limit; k++)
        ahead->points[k + 1] = start + (first + k) * step;
    ahead->points[1] = grid->next;
    for (int k = 0; k < limit; k++) {
        ahead->h[k] = tt_time_step(ahead->points[k], ahead->points[k + 1]);
        exact += ahead->points[k] + ahead->h[k] == ahead->points[k + 1];
    }
    ahead->end = ahead->points[1];
    if (unlikely(exact < limit)) /* up to the first that is not */
        for (exact = 0; exact < limit && ahead->points[exact] + ahead->h[exact] == ahead->points[exact + 1];)
            exact++;
    if (exact > 0)
        return (unsigned)exact;
    ahead->h[0] = tt_time_step(t, grid->next);
    ahead->end = t + ahead->h[0];
    return tt_time_same(ahead->end, grid->next, many->span) ? 1 : 0;
}

/* A step of all. `alone`: the version of FMI of the only one; 0: there may be others. */
INLINED struct tt_batched_call *batched_call_pass_or_step(struct tt_batched_call *triples,
                                                          const struct tt_batched_call *end,
                                                          struct tt_batched_call_pass *pass, bool gathers, int alone)
{
    switch (alone) {
    case 1: return triples + batched_call_make_step(triples, pass, 1, gathers, true, set1, batched_call_step1, get1);
    case 2: return triples + batched_call_make_step(triples, pass, 2, gathers, true, set2, batched_call_step2, get2);
    case 3: return triples + batched_call_make_step(triples, pass, 3, gathers, true, set3, batched_call_step3, get3);
    default: return batched_call_pass_all(triples, end, pass, gathers);
    }
}

INLINED uint32_t batched_call_run(struct tt_batched_call *triples, uint32_t count, struct tt_batched_call_pass *pass,
                                  struct tt_batched_call_many *many, bool gathers, int alone)
{
    struct tt_batched_call *end = triples + count, *at = end;
    struct tt_time_grid *grid = many->grid;
    const volatile sig_atomic_t *interrupt = many->interrupt;
    struct step_lookahead ahead = {.end = 0};
    unsigned known = 1, made = 1;
    bool finite = true;
    double t = many->t;
    while (finite && made == known && many->made < many->most && t < grid->stop) {
        known = batched_call_count_steps(&ahead, many, t, many->most - many->made);
        for (made = 0; made < known && finite && !(interrupt && *interrupt); made++) {
            double target = ahead.points[made + 1];
            pass->aim =
                (struct tt_batched_call_aim){ahead.points[made], ahead.h[made], known > 1 ? target : ahead.end, target};
            if (!gathers && many->gather_count > 0)
                batched_call_gather(many, pass->source);
            at = batched_call_pass_or_step(triples, end, pass, gathers, alone);
            if (unlikely(at < end))
                break;
            finite = batched_call_are_finite(many);
        }
        if (made == 0)
            break;
        t = grid->next = ahead.points[made];
        grid->next_index += made - 1;
        tt_time_grid_pass(grid, t);
        many->made += made;
    }
    many->t = t;
    return (uint32_t)(at - triples);
}

/* One that is alone reads nothing but what it has written itself: all ways to gather are the same to it. */
static uint32_t batched_call_run_all(struct tt_batched_call *triples, uint32_t count, struct tt_batched_call_pass *pass,
                                     bool one_by_one, struct tt_batched_call_many *many)
{
    if (count == 1 && triples->fmi != 0 && batched_call_is_ready(triples->instance)) {
        batched_call_announce(triples, pass);
        switch (triples->fmi) {
        case 1: return batched_call_run(triples, 1, pass, many, true, 1);
        case 2: return batched_call_run(triples, 1, pass, many, true, 2);
        default: return batched_call_run(triples, 1, pass, many, true, 3);
        }
    }
    return one_by_one ? batched_call_run(triples, count, pass, many, true, 0)
                      : batched_call_run(triples, count, pass, many, false, 0);
}

uint32_t tt_batched_call_run(struct tt_batched_call *triples, uint32_t count, struct tt_batched_call_pass *pass,
                             bool one_by_one, struct tt_batched_call_many *many)
{
    struct tt_fmi_call_frame frame = batched_call_enter(pass);
    many->made = 0;
    uint32_t at = batched_call_run_all(triples, count, pass, one_by_one, many);
    tt_fmi_call_leave_pass(&pass->watch, frame);
    return at;
}

uint32_t tt_batched_call_step_once(struct tt_batched_call *triples, uint32_t count, struct tt_batched_call_pass *pass,
                                   bool one_by_one)
{
    struct tt_instance *outer = tt_fmi_call_current;
    if (unlikely(!tt_fmi_call_enter_unread(&pass->watch)))
        return tt_batched_call_step(triples, 0, count, pass, one_by_one);
    pass->at = TUTTI_TRIPLE_NOWHERE;
    struct tt_batched_call *at = triples, *end = triples + count;
    at = one_by_one ? batched_call_pass_all(at, end, pass, true) : batched_call_pass_all(at, end, pass, false);
    tt_fmi_call_leave_unread(outer);
    return (uint32_t)(at - triples);
}

enum tutti_err tt_batched_call_conclude(const struct tt_batched_call *triple, struct tt_batched_call_pass *pass)
{
    struct tt_instance *in = triple->instance;
    switch (pass->at) {
    case TUTTI_TRIPLE_SET: return tt_fmi_call_conclude(in, TUTTI_CALL_SET, pass->status);
    case TUTTI_TRIPLE_GET: return tt_fmi_call_conclude(in, TUTTI_CALL_GET, pass->status);
    case TUTTI_TRIPLE_STEP:
        if (triple->inputs.count > 0) /* which the pass did not note */
            in->state = tt_fmi_state_after(TUTTI_CS, TUTTI_CALL_SET, in->state, false);
        if (triple->fmi < 3) /* FMI 1.0 and 2.0 do not have this argument */
            pass->step.reached = pass->aim.end;
        return tt_instance_conclude_step(in, pass->aim.t, pass->aim.end, pass->status, &pass->step);
    default: return TUTTI_OK;
    }
}
