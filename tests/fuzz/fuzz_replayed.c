/* SPDX-License-Identifier: MIT */
/* Any bytes as the record of a unit's calls (--checkpoint-replay). The first selects the use: as the part of a
 * checkpoint; as the entries alone; as calls that are recorded, and must bring a second unit to the state of the first.
 * The unit is defined in this file: its answers depend on all calls, and it reads every value. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unit/replay.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ENOUGH = 1 << 20, MOVING = 2 };

static void check(bool good)
{
    if (!good)
        abort();
}

/* ---- the unit ---- */

static const struct tt_dimension three = {.start = 3, .variable = TUTTI_NONE};
static struct tt_var variables[] = {
    {.name = "x", .reference = 1, .type = TUTTI_TYPE_FLOAT64},
    {.name = "v", .reference = 2, .type = TUTTI_TYPE_FLOAT64, .dimension_count = 1, .dimensions = &three},
    {.name = "b", .reference = 1, .type = TUTTI_TYPE_BOOLEAN},
    {.name = "s", .reference = 3, .type = TUTTI_TYPE_STRING},
    {.name = "o", .reference = 4, .type = TUTTI_TYPE_BINARY},
    {.name = "n", .reference = 5, .type = TUTTI_TYPE_INT8},
};
static struct tt_description desc = {.vars = variables, .var_count = sizeof variables / sizeof *variables};
static struct tt_fmu fmu = {.path = "told.fmu", .desc = &desc};

/* All its calls, in one number. */
struct told {
    struct tt_unit unit;
    uint64_t state;
};

struct tt_unit_saved {
    uint64_t state;
};

static void hear(struct tt_unit *unit, const void *bytes, size_t size)
{
    uint64_t *state = &((struct told *)unit)->state;
    for (size_t i = 0; i < size; i++)
        *state = (*state ^ ((const uint8_t *)bytes)[i]) * 1099511628211u;
}

static enum tutti_err set(struct tt_unit *unit, const struct tt_block *block)
{
    hear(unit, block->references, block->count * sizeof *block->references);
    for (size_t i = 0; i < block->value_count; i++)
        if (block->type == TUTTI_TYPE_STRING) {
            const char *text = ((const char *const *)block->values)[i];
            hear(unit, text, strlen(text));
        } else if (block->type == TUTTI_TYPE_BINARY) {
            const struct tt_bytes *bytes = &((const struct tt_bytes *)block->values)[i];
            hear(unit, bytes->data, bytes->size);
        } else if (block->type == TUTTI_TYPE_BOOLEAN) {
            check(((const uint8_t *)block->values)[i] <= 1);
            hear(unit, (const bool *)block->values + i, sizeof(bool));
        } else {
            size_t size = tt_type_size(block->type);
            hear(unit, (const char *)block->values + i * size, size);
        }
    return TUTTI_OK;
}

static enum tutti_err get(struct tt_unit *unit, struct tt_block *block)
{
    static const char *const texts[] = {"", "one", "and another"};
    uint64_t state = ((struct told *)unit)->state;
    for (size_t i = 0; i < block->value_count; i++) {
        const char *text = texts[(state + i) % 3];
        if (block->type == TUTTI_TYPE_STRING)
            ((const char **)block->values)[i] = text;
        else if (block->type == TUTTI_TYPE_BINARY)
            ((struct tt_bytes *)block->values)[i] = (struct tt_bytes){strlen(text), (const uint8_t *)text};
        else
            memset((char *)block->values + i * tt_type_size(block->type), (state + i) & 1, tt_type_size(block->type));
    }
    return TUTTI_OK;
}

static enum tutti_err set_input_derivatives(struct tt_unit *unit, const uint32_t *references, const size_t *elements,
                                            size_t count, const int32_t *orders, const double *values)
{
    hear(unit, references, count * sizeof *references);
    hear(unit, orders, count * sizeof *orders);
    hear(unit, values, count * sizeof *values);
    hear(unit, elements, elements ? count * sizeof *elements : 0);
    return TUTTI_OK;
}

/* It asks for inputs as often as it likes. */
static enum tutti_err step(struct tt_unit *unit, double t, double h, struct tt_fmi_step *out)
{
    const unsigned char back[] = {unit->back_to < t, unit->back_to == INFINITY};
    hear(unit, (double[]){t, h, unit->horizon}, 3 * sizeof(double));
    hear(unit, back, sizeof back);
    for (uint64_t n = ((struct told *)unit)->state % 3; n > 0; n--) {
        double values[MOVING] = {t, (double)n};
        if (!tt_replay_read_moving(unit->replay, values, MOVING))
            tt_replay_record_moving(unit->replay, values, MOVING);
        hear(unit, values, sizeof values);
    }
    uint64_t state = ((struct told *)unit)->state;
    *out = (struct tt_fmi_step){.reached = t + h, .early = state & 1, .event = state & 2, .terminate = state & 4};
    return TUTTI_OK;
}

static enum tutti_err enter_event(struct tt_unit *unit)
{
    hear(unit, "event", 5);
    return TUTTI_OK;
}

static enum tutti_err settle(struct tt_unit *unit, struct tt_unit_event *event)
{
    hear(unit, "settle", 6);
    event->next_event = (double)((struct told *)unit)->state;
    return TUTTI_OK;
}

static enum tutti_err save(struct tt_unit *unit, struct tt_unit_saved **saved)
{
    *saved = *saved ? *saved : malloc(sizeof **saved);
    check(*saved != NULL);
    (*saved)->state = ((struct told *)unit)->state;
    return TUTTI_OK;
}

static enum tutti_err restore(struct tt_unit *unit, const struct tt_unit_saved *saved)
{
    ((struct told *)unit)->state = saved->state;
    return TUTTI_OK;
}

static void discard(struct tt_unit *unit, struct tt_unit_saved *saved)
{
    (void)unit;
    free(saved);
}

static void finish(struct tt_unit *unit)
{
    (void)unit;
}

static const struct tt_unit_kind kind = {
    .name = "told",
    .finish = finish,
    .set = set,
    .get = get,
    .set_input_derivatives = set_input_derivatives,
    .step = step,
    .enter_event = enter_event,
    .settle = settle,
    .save = save,
    .restore = restore,
    .discard = discard,
};

static void begin(struct told *told)
{
    *told = (struct told){.unit = {.kind = &kind, .name = "it", .fmu = &fmu}};
    check(tt_replay_attach(&told->unit, ENOUGH) == TUTTI_OK);
    tt_replay_start(&told->unit);
}

/* ---- a record ---- */

static enum tutti_err pass(void *context, double t)
{
    (void)context;
    (void)t;
    return TUTTI_OK;
}

static const struct tt_replay_watch watch = {pass, NULL};

static enum tutti_err replay(struct told *told, const void *bytes, size_t size)
{
    struct tt_byte_reader in = {.at = bytes, .end = (const char *)bytes + size};
    begin(told);
    enum tutti_err err = tt_replay_unpack(&told->unit, &in, &watch);
    check(!err || strstr(tutti_err_message(), "it"));
    return err;
}

/* Another unit comes to the same place by what this one packs. */
static void check_same(struct told *here)
{
    struct told there;
    struct tt_byte_writer packed = {0}, again = {0};
    check(tt_replay_pack(&here->unit, &packed) == TUTTI_OK && !packed.failed);
    check(replay(&there, packed.bytes, packed.size) == TUTTI_OK && there.state == here->state);
    check(tt_replay_pack(&there.unit, &again) == TUTTI_OK && again.size == packed.size &&
          memcmp(again.bytes, packed.bytes, packed.size) == 0);
    there.unit.kind->finish(&there.unit);
    tt_bytes_fini(&packed);
    tt_bytes_fini(&again);
}

static void take(const void *bytes, size_t size)
{
    struct told here;
    if (replay(&here, bytes, size) == TUTTI_OK)
        check_same(&here);
    here.unit.kind->finish(&here.unit);
}

static void take_entries(const void *bytes, size_t size)
{
    struct tt_byte_writer packed = {0};
    tt_bytes_put_block(&packed, bytes, size);
    check(!packed.failed);
    take(packed.bytes, packed.size);
    tt_bytes_fini(&packed);
}

/* ---- calls ---- */

struct calls {
    const uint8_t *at, *end;
};

static uint8_t next(struct calls *calls)
{
    return calls->at < calls->end ? *calls->at++ : 0;
}

/* A variable, twice at times, and values for it. */
static void exchange(struct tt_unit *unit, struct calls *calls, bool sets)
{
    const struct tt_var *var = &variables[next(calls) % desc.var_count];
    size_t count = 1 + next(calls) % 2, values = count * (var->dimension_count ? 3 : 1);
    double room[6] = {0};
    const char *texts[2] = {"", "text"};
    struct tt_bytes binaries[2] = {{0}, {2, (const uint8_t *)"\0b"}};
    struct tt_block block = {.type = var->type,
                             .count = count,
                             .value_count = values,
                             .references = (uint32_t[]){var->reference, var->reference},
                             .values = room};
    if (var->type == TUTTI_TYPE_STRING)
        block.values = texts;
    else if (var->type == TUTTI_TYPE_BINARY)
        block.values = binaries;
    else
        memset(room, var->type == TUTTI_TYPE_BOOLEAN ? next(calls) & 1 : next(calls), sizeof room);
    check((sets ? unit->kind->set(unit, &block) : unit->kind->get(unit, &block)) == TUTTI_OK);
}

static void make_step(struct tt_unit *unit, struct calls *calls)
{
    struct tt_fmi_step out;
    double t = next(calls), back[] = {t, -INFINITY, INFINITY};
    unit->back_to = back[next(calls) % 3];
    unit->horizon = next(calls);
    check(unit->kind->step(unit, t, next(calls) / 8.0, &out) == TUTTI_OK);
}

static void make_call(struct tt_unit *unit, struct calls *calls, struct tt_unit_saved **saved)
{
    struct tt_unit_event event = {0};
    enum tutti_err err = TUTTI_OK;
    switch (next(calls) % 8) {
    case 0: exchange(unit, calls, true); break;
    case 1: exchange(unit, calls, false); break;
    case 2: make_step(unit, calls); break;
    case 3: err = unit->kind->enter_event(unit); break;
    case 4: err = unit->kind->settle(unit, &event); break;
    case 5: err = unit->kind->save(unit, saved); break;
    case 6:
        if (*saved)
            err = unit->kind->restore(unit, *saved);
        break;
    default:
        err = unit->kind->set_input_derivatives(unit, (uint32_t[]){2}, next(calls) & 1 ? (size_t[]){1} : NULL, 1,
                                                (int32_t[]){1}, (double[]){next(calls)});
    }
    check(err == TUTTI_OK);
}

static void record(const uint8_t *data, size_t size)
{
    struct told here;
    struct tt_unit_saved *saved = NULL;
    struct calls calls = {data, data + (size < 4096 ? size : 4096)};
    begin(&here);
    while (calls.at < calls.end)
        make_call(&here.unit, &calls, &saved);
    here.unit.kind->discard(&here.unit, saved);
    check_same(&here);
    here.unit.kind->finish(&here.unit);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    uint8_t *copy = malloc(size); /* of the exact size, so that an overread is detected */
    check(copy != NULL);
    memcpy(copy, data, size);
    if (data[0] % 3 == 0)
        take(copy + 1, size - 1);
    else if (data[0] % 3 == 1)
        take_entries(copy + 1, size - 1);
    else
        record(copy + 1, size - 1);
    free(copy);
    return 0;
}
