/* SPDX-License-Identifier: MIT */
#include "unit/replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/vector.h"

/* An entry begins with one of these bytes. What it holds, in this machine's layout:
 *  DEFINE       u8 type, u32 count, u32 value_count, the references: the next number of a list of variables
 *  SET          u32 list, values
 *  GET          u32 list, hash of the values
 *  DERIVATIVES  u32 list, u8 whether elements follow, orders, values, elements
 *  STEP         t, h, horizon, u8 how far back it may be taken; MOVING, as often as the FMU asked; ANSWER
 *  MOVING       values
 *  ENTER        nothing: event mode
 *  SETTLE       ANSWER
 *  ANSWER       hash of it */
enum entry { DEFINE = 1, SET, GET, DERIVATIVES, STEP, MOVING, ENTER, SETTLE, ANSWER };

/* What of unit->back_to counts. */
enum { BACK_BEFORE_STEP = 1, BACK_NOWHERE = 2 };

/* Variables of one type that are set or read together. */
struct list {
    enum tutti_type type;
    size_t count, value_count;
    uint32_t *references;
    void *values; /* room for them while steps are made once more; NULL: not made yet */
    size_t at;    /* where it is defined */
};

/* A point that the unit has saved. */
struct mark {
    const struct tutti_unit_saved *saved;
    size_t at;
};

struct tutti_replay {
    struct tutti_unit_kind kind; /* the unit's now */
    const struct tutti_unit_kind *real;
    size_t most;
    bool records, given_up;
    struct tutti_parcel record;
    struct list *lists;
    size_t list_count, list_room;
    struct mark *marks;
    size_t mark_count, mark_room;
    struct tutti_unparcel *in; /* while steps are made once more; NULL: they are not */
    bool differs;              /* an answer was another */
};

/* ---- recording ---- */

/* FNV-1a. */
static uint32_t hash(uint32_t before, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    uint32_t value = before ? before : 2166136261u;
    for (size_t i = 0; i < size; i++)
        value = (value ^ at[i]) * 16777619u;
    return value;
}

static uint32_t hash_values(const struct tutti_block *block)
{
    size_t size = tutti_type_size(block->type);
    if (!tutti_type_is_text(block->type))
        return hash(0, block->values, block->value_count * size);
    struct tutti_parcel texts = {0};
    tutti_block_pack(block, &texts);
    uint32_t value = hash(0, texts.bytes, texts.size);
    tutti_parcel_fini(&texts);
    return value;
}

static uint32_t hash_step(const struct tutti_step *step)
{
    const unsigned char flags[] = {step->discarded, step->can_retry, step->early, step->event, step->terminate};
    return hash(hash(0, &step->reached, sizeof step->reached), flags, sizeof flags);
}

static uint32_t hash_event(const struct tutti_unit_event *event)
{
    const unsigned char flag = event->terminate;
    return hash(hash(0, &event->next_event, sizeof event->next_event), &flag, 1);
}

/* Lists that were defined from there on are not any more. */
static void forget_lists(struct tutti_replay *replay, size_t at)
{
    while (replay->list_count > 0 && replay->lists[replay->list_count - 1].at >= at) {
        const struct list *list = &replay->lists[--replay->list_count];
        free(list->references);
        free(list->values);
    }
}

static void give_up(struct tutti_replay *replay)
{
    forget_lists(replay, 0);
    tutti_parcel_fini(&replay->record);
    replay->record = (struct tutti_parcel){0};
    replay->records = false;
    replay->given_up = true;
}

/* Is there anything to record? */
static bool records(struct tutti_replay *replay)
{
    if (replay->records && replay->record.size > replay->most)
        give_up(replay);
    return replay->records;
}

static enum tutti_err finish_entry(const struct tutti_replay *replay)
{
    return replay->record.failed ? tutti_fail_memory() : TUTTI_OK;
}

static bool is_list(const struct list *list, enum tutti_type type, const uint32_t *references, size_t count,
                    size_t value_count)
{
    return list->type == type && list->count == count && list->value_count == value_count &&
           memcmp(list->references, references, count * sizeof *references) == 0;
}

/* `references` becomes the replay's. */
static enum tutti_err add_list(struct tutti_replay *replay, enum tutti_type type, uint32_t *references, size_t count,
                               size_t value_count, size_t at)
{
    if (!references ||
        !tutti_vector_reserve(&replay->lists, &replay->list_room, replay->list_count + 1, sizeof *replay->lists)) {
        free(references);
        return tutti_fail_memory();
    }
    replay->lists[replay->list_count++] = (struct list){type, count, value_count, references, NULL, at};
    return TUTTI_OK;
}

static uint32_t *copy_references(const void *references, size_t count)
{
    uint32_t *copy = malloc((count + 1) * sizeof *copy);
    if (copy)
        memcpy(copy, references, count * sizeof *copy);
    return copy;
}

/* The number of a list, which is defined first if it is new. */
static enum tutti_err find_list(struct tutti_replay *replay, enum tutti_type type, const uint32_t *references,
                                size_t count, size_t value_count, uint32_t *number)
{
    struct tutti_parcel *record = &replay->record;
    for (*number = 0; *number < replay->list_count; (*number)++)
        if (is_list(&replay->lists[*number], type, references, count, value_count))
            return TUTTI_OK;
    size_t at = record->size;
    tutti_parcel_put_u8(record, DEFINE);
    tutti_parcel_put_u8(record, (uint8_t)type);
    tutti_parcel_put_u32(record, (uint32_t)count);
    tutti_parcel_put_u32(record, (uint32_t)value_count);
    tutti_parcel_put_bytes(record, references, count * sizeof *references);
    return add_list(replay, type, copy_references(references, count), count, value_count, at);
}

static void put_hash(struct tutti_parcel *record, enum entry entry, uint32_t value)
{
    tutti_parcel_put_u8(record, (uint8_t)entry);
    tutti_parcel_put_u32(record, value);
}

static enum tutti_err set(struct tutti_unit *unit, const struct tutti_block *block)
{
    struct tutti_replay *replay = unit->replay;
    if (records(replay)) {
        uint32_t number;
        TRY(find_list(replay, block->type, block->references, block->count, block->value_count, &number));
        put_hash(&replay->record, SET, number);
        if (tutti_type_is_text(block->type))
            tutti_block_pack(block, &replay->record);
        else
            tutti_parcel_put_bytes(&replay->record, block->values, block->value_count * tutti_type_size(block->type));
        TRY(finish_entry(replay));
    }
    return replay->real->set(unit, block);
}

static enum tutti_err get(struct tutti_unit *unit, struct tutti_block *block)
{
    struct tutti_replay *replay = unit->replay;
    uint32_t number;
    TRY(replay->real->get(unit, block));
    if (!records(replay))
        return TUTTI_OK;
    TRY(find_list(replay, block->type, block->references, block->count, block->value_count, &number));
    put_hash(&replay->record, GET, number);
    tutti_parcel_put_u32(&replay->record, hash_values(block));
    return finish_entry(replay);
}

static enum tutti_err set_input_derivatives(struct tutti_unit *unit, const uint32_t *references, const size_t *elements,
                                            size_t count, const int32_t *orders, const double *values)
{
    struct tutti_replay *replay = unit->replay;
    struct tutti_parcel *record = &replay->record;
    if (records(replay)) {
        uint32_t number;
        TRY(find_list(replay, TUTTI_TYPE_FLOAT64, references, count, count, &number));
        put_hash(record, DERIVATIVES, number);
        tutti_parcel_put_u8(record, elements != NULL);
        tutti_parcel_put_bytes(record, orders, count * sizeof *orders);
        tutti_parcel_put_bytes(record, values, count * sizeof *values);
        tutti_parcel_put_bytes(record, elements, elements ? count * sizeof *elements : 0);
        TRY(finish_entry(replay));
    }
    return replay->real->set_input_derivatives(unit, references, elements, count, orders, values);
}

static enum tutti_err step(struct tutti_unit *unit, double t, double h, struct tutti_step *out)
{
    struct tutti_replay *replay = unit->replay;
    struct tutti_parcel *record = &replay->record;
    if (!records(replay))
        return replay->real->step(unit, t, h, out);
    tutti_parcel_put_u8(record, STEP);
    tutti_parcel_put_double(record, t);
    tutti_parcel_put_double(record, h);
    tutti_parcel_put_double(record, unit->horizon);
    tutti_parcel_put_u8(
        record, (uint8_t)((unit->back_to < t ? BACK_BEFORE_STEP : 0) | (unit->back_to == INFINITY ? BACK_NOWHERE : 0)));
    TRY(replay->real->step(unit, t, h, out));
    put_hash(record, ANSWER, hash_step(out));
    return finish_entry(replay);
}

bool tutti_replay_give_moving(struct tutti_replay *replay, double *values, size_t count)
{
    if (!replay || !replay->in)
        return false;
    const void *recorded = NULL;
    if (tutti_unparcel_u8(replay->in) == MOVING)
        recorded = tutti_unparcel_bytes(replay->in, count * sizeof *values);
    replay->differs = replay->differs || !recorded;
    if (recorded)
        memcpy(values, recorded, count * sizeof *values);
    return recorded != NULL;
}

void tutti_replay_note_moving(struct tutti_replay *replay, const double *values, size_t count)
{
    if (!replay || !replay->records)
        return;
    tutti_parcel_put_u8(&replay->record, MOVING);
    tutti_parcel_put_bytes(&replay->record, values, count * sizeof *values);
}

static enum tutti_err enter_event(struct tutti_unit *unit)
{
    struct tutti_replay *replay = unit->replay;
    if (records(replay))
        tutti_parcel_put_u8(&replay->record, ENTER);
    TRY(finish_entry(replay));
    return replay->real->enter_event(unit);
}

static enum tutti_err settle(struct tutti_unit *unit, struct tutti_unit_event *event)
{
    struct tutti_replay *replay = unit->replay;
    TRY(replay->real->settle(unit, event));
    if (!records(replay))
        return TUTTI_OK;
    tutti_parcel_put_u8(&replay->record, SETTLE);
    put_hash(&replay->record, ANSWER, hash_event(event));
    return finish_entry(replay);
}

/* ---- going back ---- */

static struct mark *find_mark(struct tutti_replay *replay, const struct tutti_unit_saved *saved)
{
    for (size_t i = 0; i < replay->mark_count; i++)
        if (replay->marks[i].saved == saved)
            return &replay->marks[i];
    return NULL;
}

static enum tutti_err save(struct tutti_unit *unit, struct tutti_unit_saved **saved)
{
    struct tutti_replay *replay = unit->replay;
    TRY(replay->real->save(unit, saved));
    struct mark *mark = find_mark(replay, *saved);
    if (!mark &&
        !tutti_vector_reserve(&replay->marks, &replay->mark_room, replay->mark_count + 1, sizeof *replay->marks))
        return tutti_fail_memory();
    mark = mark ? mark : &replay->marks[replay->mark_count++];
    *mark = (struct mark){*saved, replay->record.size};
    return TUTTI_OK;
}

static enum tutti_err restore(struct tutti_unit *unit, const struct tutti_unit_saved *saved)
{
    struct tutti_replay *replay = unit->replay;
    TRY(replay->real->restore(unit, saved));
    const struct mark *mark = find_mark(replay, saved);
    if (mark && replay->records) {
        replay->record.size = mark->at;
        forget_lists(replay, mark->at);
    }
    return TUTTI_OK;
}

static void discard(struct tutti_unit *unit, struct tutti_unit_saved *saved)
{
    struct tutti_replay *replay = unit->replay;
    struct mark *mark = saved ? find_mark(replay, saved) : NULL;
    if (mark)
        *mark = replay->marks[--replay->mark_count];
    replay->real->discard(unit, saved);
}

/* ---- life ---- */

static void finish(struct tutti_unit *unit)
{
    struct tutti_replay *replay = unit->replay;
    unit->kind = replay->real;
    unit->replay = NULL;
    unit->kind->finish(unit);
    give_up(replay);
    free(replay->lists);
    free(replay->marks);
    free(replay);
}

enum tutti_err tutti_replay_attach(struct tutti_unit *unit, size_t most)
{
    struct tutti_replay *replay = calloc(1, sizeof *replay);
    if (!replay)
        return tutti_fail_memory();
    *replay = (struct tutti_replay){.kind = *unit->kind, .real = unit->kind, .most = most};
    replay->kind.finish = finish;
    replay->kind.set = set;
    replay->kind.get = get;
    replay->kind.set_input_derivatives = set_input_derivatives;
    replay->kind.step = step;
    replay->kind.make_triple = NULL; /* such steps would pass this by */
    replay->kind.enter_event = enter_event;
    replay->kind.settle = settle;
    replay->kind.save = save;
    replay->kind.restore = restore;
    replay->kind.discard = discard;
    unit->kind = &replay->kind;
    unit->replay = replay;
    return TUTTI_OK;
}

void tutti_replay_begin(struct tutti_unit *unit)
{
    unit->replay->records = true;
}

enum tutti_err tutti_replay_pack(const struct tutti_unit *unit, struct tutti_parcel *parcel)
{
    const struct tutti_replay *replay = unit->replay;
    if (replay->given_up || replay->record.size > replay->most)
        return tutti_fail(TUTTI_ERR_UNSUPPORTED,
                          "%s (%s): the record of what the FMU was told has more than %zu MB (--checkpoint-replay)",
                          unit->name, unit->fmu->path, replay->most >> 20);
    tutti_parcel_put_block(parcel, replay->record.bytes, replay->record.size);
    if (replay->real->pack_counts)
        replay->real->pack_counts(unit, parcel);
    return TUTTI_OK;
}

/* ---- once more ---- */

/* A variable of the FMU, by what calls name it by. */
struct variable {
    enum tutti_type type;
    uint32_t reference, index;
};

/* Where a unit is on its way back. */
struct again {
    struct tutti_unit *unit;
    struct tutti_replay *replay;
    struct tutti_unparcel in;
    const char *begin;
    double t;
    const struct tutti_replay_watch *watch;
    struct tutti_arena arena;   /* of one entry */
    struct variable *variables; /* all, by ascending type and reference */
};

static enum tutti_err malformed(const struct again *again)
{
    return tutti_fail(TUTTI_ERR_FORMAT, "%s: these bytes are no record of what the unit was told", again->unit->name);
}

static enum tutti_err differs(const struct again *again)
{
    const struct tutti_unit *unit = again->unit;
    return tutti_fail(
        TUTTI_ERR_FMU,
        "%s (%s): told the same once more, the FMU answers otherwise at t = %s (--checkpoint-replay): it does not "
        "repeat itself, and the run cannot go on from this checkpoint",
        unit->name, unit->fmu->path, TIME(again->t));
}

static enum tutti_err define(struct again *again)
{
    struct tutti_unparcel *in = &again->in;
    size_t at = (size_t)(in->at - 1 - again->begin);
    unsigned type = tutti_unparcel_u8(in);
    size_t count = tutti_unparcel_u32(in), value_count = tutti_unparcel_u32(in);
    const void *references = tutti_unparcel_bytes(in, count * sizeof(uint32_t));
    if (in->bad || type >= (unsigned)TUTTI_TYPE_COUNT)
        return malformed(again);
    return add_list(again->replay, (enum tutti_type)type, copy_references(references, count), count, value_count, at);
}

static int by_reference(const void *a, const void *b)
{
    const struct variable *left = a, *right = b;
    if (left->type != right->type)
        return left->type < right->type ? -1 : 1;
    return left->reference < right->reference ? -1 : left->reference > right->reference;
}

static enum tutti_err sort_variables(struct again *again)
{
    const struct tutti_desc *desc = again->unit->fmu->desc;
    again->variables = malloc((desc->var_count + (size_t)1) * sizeof *again->variables);
    if (!again->variables)
        return tutti_fail_memory();
    for (uint32_t i = 0; i < desc->var_count; i++)
        again->variables[i] = (struct variable){desc->vars[i].type, desc->vars[i].reference, i};
    qsort(again->variables, desc->var_count, sizeof *again->variables, by_reference);
    return TUTTI_OK;
}

/* Room for the values of a list, if they are as many as its variables have: FMUs count on that. */
static enum tutti_err make_room(const struct again *again, struct list *list)
{
    size_t left = list->value_count, extent;
    for (size_t i = 0; i < list->count; i++) {
        const struct variable key = {.type = list->type, .reference = list->references[i]};
        const struct variable *found =
            bsearch(&key, again->variables, again->unit->fmu->desc->var_count, sizeof key, by_reference);
        if (!found)
            return malformed(again);
        TRY(tutti_unit_extent(again->unit, found->index, &extent));
        if (extent > left)
            return malformed(again);
        left -= extent;
    }
    if (left > 0)
        return malformed(again);
    list->values = calloc(list->value_count + 1, tutti_type_size(list->type));
    return list->values ? TUTTI_OK : tutti_fail_memory();
}

/* A block of the list that follows, with room for its values. */
static enum tutti_err take_block(struct again *again, struct tutti_block *block)
{
    uint32_t number = tutti_unparcel_u32(&again->in);
    if (again->in.bad || number >= again->replay->list_count)
        return malformed(again);
    struct list *list = &again->replay->lists[number];
    bool text = tutti_type_is_text(list->type);
    if (!list->values)
        TRY(make_room(again, list));
    *block = (struct tutti_block){.type = list->type,
                                  .count = list->count,
                                  .value_count = list->value_count,
                                  .references = list->references,
                                  .values = list->values,
                                  .owned = text ? tutti_owned_array(&again->arena, list->value_count) : NULL};
    return !text || block->owned ? TUTTI_OK : tutti_fail_memory();
}

/* What C has no other values of. */
static bool are_values(enum tutti_type type, const unsigned char *bytes, size_t size)
{
    bool truth = type == TUTTI_TYPE_BOOLEAN || type == TUTTI_TYPE_CLOCK;
    for (size_t i = 0; truth && i < size; i++)
        if (bytes[i] > 1)
            return false;
    return true;
}

static enum tutti_err take_values(struct again *again, struct tutti_block *block, size_t size)
{
    const void *values = tutti_unparcel_bytes(&again->in, size);
    if (!values || !are_values(block->type, values, size))
        return malformed(again);
    memcpy(block->values, values, size);
    return TUTTI_OK;
}

static enum tutti_err take_texts(struct again *again, struct tutti_block *block)
{
    enum tutti_err err = tutti_block_unpack(block, &again->in);
    return again->in.bad ? malformed(again) : err;
}

static enum tutti_err set_again(struct again *again)
{
    struct tutti_block block = {0};
    TRY(take_block(again, &block));
    size_t size = block.value_count * tutti_type_size(block.type);
    enum tutti_err err = block.owned ? take_texts(again, &block) : take_values(again, &block, size);
    if (!err)
        err = again->replay->real->set(again->unit, &block);
    if (block.owned) {
        tutti_owned_fini(block.owned, block.value_count);
        memset(block.values, 0, size); /* they pointed there */
    }
    return err;
}

static enum tutti_err get_again(struct again *again)
{
    struct tutti_block block = {0};
    TRY(take_block(again, &block));
    uint32_t expected = tutti_unparcel_u32(&again->in);
    if (again->in.bad)
        return malformed(again);
    TRY(again->replay->real->get(again->unit, &block));
    return hash_values(&block) == expected ? TUTTI_OK : differs(again);
}

static enum tutti_err derivatives_again(struct again *again)
{
    struct tutti_unparcel *in = &again->in;
    uint32_t number = tutti_unparcel_u32(in);
    bool has_elements = tutti_unparcel_u8(in) != 0;
    if (in->bad || number >= again->replay->list_count)
        return malformed(again);
    const struct list *list = &again->replay->lists[number];
    size_t count = list->count;
    int32_t *orders = tutti_arena_array(&again->arena, count + 1, sizeof *orders);
    double *values = tutti_arena_array(&again->arena, count + 1, sizeof *values);
    size_t *elements = tutti_arena_array(&again->arena, count + 1, sizeof *elements);
    if (!orders || !values || !elements)
        return tutti_fail_memory();
    const void *parts[] = {tutti_unparcel_bytes(in, count * sizeof *orders),
                           tutti_unparcel_bytes(in, count * sizeof *values),
                           has_elements ? tutti_unparcel_bytes(in, count * sizeof *elements) : elements};
    if (in->bad)
        return malformed(again);
    memcpy(orders, parts[0], count * sizeof *orders);
    memcpy(values, parts[1], count * sizeof *values);
    memmove(elements, parts[2], count * sizeof *elements);
    return again->replay->real->set_input_derivatives(again->unit, list->references, has_elements ? elements : NULL,
                                                      count, orders, values);
}

static enum tutti_err check_answer(struct again *again, uint32_t found)
{
    bool follows = tutti_unparcel_u8(&again->in) == ANSWER;
    uint32_t expected = tutti_unparcel_u32(&again->in);
    if (again->replay->differs || (follows && !again->in.bad && expected != found))
        return differs(again);
    return follows && !again->in.bad ? TUTTI_OK : malformed(again);
}

static enum tutti_err step_again(struct again *again)
{
    struct tutti_unparcel *in = &again->in;
    struct tutti_unit *unit = again->unit;
    struct tutti_step step = {0};
    double t = tutti_unparcel_double(in), h = tutti_unparcel_double(in);
    unit->horizon = tutti_unparcel_double(in);
    unsigned back = tutti_unparcel_u8(in);
    if (in->bad)
        return malformed(again);
    unit->back_to = back & BACK_NOWHERE ? INFINITY : back & BACK_BEFORE_STEP ? -INFINITY : t;
    again->t = t;
    TRY(again->watch->pass(again->watch->context, t));
    TRY(again->replay->real->step(unit, t, h, &step));
    again->t = step.reached;
    return check_answer(again, hash_step(&step));
}

static enum tutti_err settle_again(struct again *again)
{
    struct tutti_unit_event event = {0};
    TRY(again->replay->real->settle(again->unit, &event));
    return check_answer(again, hash_event(&event));
}

static enum tutti_err make_entry(struct again *again)
{
    switch ((enum entry)tutti_unparcel_u8(&again->in)) {
    case DEFINE: return define(again);
    case SET: return set_again(again);
    case GET: return get_again(again);
    case DERIVATIVES: return derivatives_again(again);
    case STEP: return step_again(again);
    case ENTER: return again->replay->real->enter_event(again->unit);
    case SETTLE: return settle_again(again);
    case MOVING:
    case ANSWER: break;
    }
    return malformed(again);
}

static enum tutti_err make_all(struct again *again)
{
    enum tutti_err err = TUTTI_OK;
    again->replay->in = &again->in;
    while (!err && again->in.at < again->in.end) {
        err = make_entry(again);
        tutti_arena_fini(&again->arena);
    }
    again->replay->in = NULL;
    return err;
}

enum tutti_err tutti_replay_unpack(struct tutti_unit *unit, struct tutti_unparcel *in,
                                   const struct tutti_replay_watch *watch)
{
    struct tutti_replay *replay = unit->replay;
    size_t size;
    const char *bytes = tutti_unparcel_block(in, &size);
    struct again again = {.unit = unit, .replay = replay, .begin = bytes, .t = -INFINITY, .watch = watch};
    if (in->bad)
        return malformed(&again);
    again.in = (struct tutti_unparcel){.at = bytes, .end = bytes + size};
    enum tutti_err err = sort_variables(&again);
    if (!err)
        err = make_all(&again);
    free(again.variables);
    TRY(err);
    tutti_parcel_reset(&replay->record);
    tutti_parcel_put_bytes(&replay->record, bytes, size);
    if (replay->real->unpack_counts) /* with those of steps that were taken back */
        replay->real->unpack_counts(unit, in);
    return in->bad ? malformed(&again) : finish_entry(replay);
}
