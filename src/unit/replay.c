/* SPDX-License-Identifier: MIT */
#include "unit/replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/vector.h"

/* An entry begins with one of these bytes. Its content, in this machine's layout:
 *  DEFINE       u8 type, u32 count, u32 value_count, the references: the next number of a list of variables
 *  SET          u32 list, values
 *  GET          u32 list, hash of the values
 *  DERIVATIVES  u32 list, u8 whether elements follow, orders, values, elements
 *  STEP         t, h, horizon, u8 how far it may be rolled back; MOVING, for each request of the FMU; ANSWER
 *  MOVING       values
 *  ENTER        nothing: event mode
 *  SETTLE       ANSWER
 *  ANSWER       hash of it */
enum replay_entry { DEFINE = 1, SET, GET, DERIVATIVES, STEP, MOVING, ENTER, SETTLE, ANSWER };

/* Values of unit->back_to. */
enum { BACK_BEFORE_STEP = 1, BACK_NOWHERE = 2 };

/* Variables of one type that are set or read together. */
struct replay_list {
    enum tt_type type;
    size_t count, value_count;
    uint32_t *references;
    void *values; /* room for them while steps are made once more; NULL: not made yet */
    size_t at;    /* where it is defined */
};

struct replay_mark {
    const struct tt_unit_saved *saved;
    size_t at;
};

struct tt_replay {
    struct tt_unit_kind kind; /* the unit's now */
    const struct tt_unit_kind *real;
    size_t most;
    bool records, given_up;
    struct tt_byte_writer record;
    struct replay_list *lists;
    size_t list_count, list_room;
    struct replay_mark *marks;
    size_t mark_count, mark_room;
    struct tt_byte_reader *in; /* while steps are made once more; NULL: they are not */
    bool differs;              /* an answer was another */
};

/* ---- recording ---- */

/* FNV-1a. */
static uint32_t replay_hash(uint32_t before, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    uint32_t value = before ? before : 2166136261u;
    for (size_t i = 0; i < size; i++)
        value = (value ^ at[i]) * 16777619u;
    return value;
}

static uint32_t hash_values(const struct tt_block *block)
{
    size_t size = tt_type_size(block->type);
    if (!tt_type_is_text(block->type))
        return replay_hash(0, block->values, block->value_count * size);
    struct tt_byte_writer texts = {0};
    tt_signals_block_pack(block, &texts);
    uint32_t value = replay_hash(0, texts.bytes, texts.size);
    tt_bytes_fini(&texts);
    return value;
}

static uint32_t hash_step(const struct tt_fmi_step *step)
{
    const unsigned char flags[] = {step->discarded, step->can_retry, step->early, step->event, step->terminate};
    return replay_hash(replay_hash(0, &step->reached, sizeof step->reached), flags, sizeof flags);
}

static uint32_t hash_event(const struct tt_unit_event *event)
{
    const unsigned char flag = event->terminate;
    return replay_hash(replay_hash(0, &event->next_event, sizeof event->next_event), &flag, 1);
}

/* Lists that were defined from there on are not any more. */
static void discard_lists_after(struct tt_replay *replay, size_t at)
{
    while (replay->list_count > 0 && replay->lists[replay->list_count - 1].at >= at) {
        const struct replay_list *list = &replay->lists[--replay->list_count];
        free(list->references);
        free(list->values);
    }
}

static void replay_abandon(struct tt_replay *replay)
{
    discard_lists_after(replay, 0);
    tt_bytes_fini(&replay->record);
    replay->record = (struct tt_byte_writer){0};
    replay->records = false;
    replay->given_up = true;
}

/* Returns true if calls are recorded. */
static bool is_recording(struct tt_replay *replay)
{
    if (replay->records && replay->record.size > replay->most)
        replay_abandon(replay);
    return replay->records;
}

static enum tutti_err finish_replay_entry(const struct tt_replay *replay)
{
    return replay->record.failed ? tt_fail_memory() : TUTTI_OK;
}

static bool is_same_list(const struct replay_list *list, enum tt_type type, const uint32_t *references, size_t count,
                         size_t value_count)
{
    return list->type == type && list->count == count && list->value_count == value_count &&
           memcmp(list->references, references, count * sizeof *references) == 0;
}

/* `references` becomes the replay's. */
static enum tutti_err add_list(struct tt_replay *replay, enum tt_type type, uint32_t *references, size_t count,
                               size_t value_count, size_t at)
{
    if (!references ||
        !tt_vector_reserve(&replay->lists, &replay->list_room, replay->list_count + 1, sizeof *replay->lists)) {
        free(references);
        return tt_fail_memory();
    }
    replay->lists[replay->list_count++] = (struct replay_list){type, count, value_count, references, NULL, at};
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
static enum tutti_err find_list(struct tt_replay *replay, enum tt_type type, const uint32_t *references, size_t count,
                                size_t value_count, uint32_t *number)
{
    struct tt_byte_writer *record = &replay->record;
    for (*number = 0; *number < replay->list_count; (*number)++)
        if (is_same_list(&replay->lists[*number], type, references, count, value_count))
            return TUTTI_OK;
    size_t at = record->size;
    tt_bytes_put_u8(record, DEFINE);
    tt_bytes_put_u8(record, (uint8_t)type);
    tt_bytes_put_u32(record, (uint32_t)count);
    tt_bytes_put_u32(record, (uint32_t)value_count);
    tt_bytes_put_bytes(record, references, count * sizeof *references);
    return add_list(replay, type, copy_references(references, count), count, value_count, at);
}

static void record_hash(struct tt_byte_writer *record, enum replay_entry entry, uint32_t value)
{
    tt_bytes_put_u8(record, (uint8_t)entry);
    tt_bytes_put_u32(record, value);
}

static enum tutti_err replay_set(struct tt_unit *unit, const struct tt_block *block)
{
    struct tt_replay *replay = unit->replay;
    if (is_recording(replay)) {
        uint32_t number;
        TRY(find_list(replay, block->type, block->references, block->count, block->value_count, &number));
        record_hash(&replay->record, SET, number);
        if (tt_type_is_text(block->type))
            tt_signals_block_pack(block, &replay->record);
        else
            tt_bytes_put_bytes(&replay->record, block->values, block->value_count * tt_type_size(block->type));
        TRY(finish_replay_entry(replay));
    }
    return replay->real->set(unit, block);
}

static enum tutti_err replay_get(struct tt_unit *unit, struct tt_block *block)
{
    struct tt_replay *replay = unit->replay;
    uint32_t number;
    TRY(replay->real->get(unit, block));
    if (!is_recording(replay))
        return TUTTI_OK;
    TRY(find_list(replay, block->type, block->references, block->count, block->value_count, &number));
    record_hash(&replay->record, GET, number);
    tt_bytes_put_u32(&replay->record, hash_values(block));
    return finish_replay_entry(replay);
}

static enum tutti_err replay_set_input_derivatives(struct tt_unit *unit, const uint32_t *references,
                                                   const size_t *elements, size_t count, const int32_t *orders,
                                                   const double *values)
{
    struct tt_replay *replay = unit->replay;
    struct tt_byte_writer *record = &replay->record;
    if (is_recording(replay)) {
        uint32_t number;
        TRY(find_list(replay, TUTTI_TYPE_FLOAT64, references, count, count, &number));
        record_hash(record, DERIVATIVES, number);
        tt_bytes_put_u8(record, elements != NULL);
        tt_bytes_put_bytes(record, orders, count * sizeof *orders);
        tt_bytes_put_bytes(record, values, count * sizeof *values);
        tt_bytes_put_bytes(record, elements, elements ? count * sizeof *elements : 0);
        TRY(finish_replay_entry(replay));
    }
    return replay->real->set_input_derivatives(unit, references, elements, count, orders, values);
}

static enum tutti_err replay_step(struct tt_unit *unit, double t, double h, struct tt_fmi_step *out)
{
    struct tt_replay *replay = unit->replay;
    struct tt_byte_writer *record = &replay->record;
    if (!is_recording(replay))
        return replay->real->step(unit, t, h, out);
    tt_bytes_put_u8(record, STEP);
    tt_bytes_put_double(record, t);
    tt_bytes_put_double(record, h);
    tt_bytes_put_double(record, unit->horizon);
    tt_bytes_put_u8(
        record, (uint8_t)((unit->back_to < t ? BACK_BEFORE_STEP : 0) | (unit->back_to == INFINITY ? BACK_NOWHERE : 0)));
    TRY(replay->real->step(unit, t, h, out));
    record_hash(record, ANSWER, hash_step(out));
    return finish_replay_entry(replay);
}

bool tt_replay_read_moving(struct tt_replay *replay, double *values, size_t count)
{
    if (!replay || !replay->in)
        return false;
    const void *recorded = NULL;
    if (tt_bytes_get_u8(replay->in) == MOVING)
        recorded = tt_bytes_get(replay->in, count * sizeof *values);
    replay->differs = replay->differs || !recorded;
    if (recorded)
        memcpy(values, recorded, count * sizeof *values);
    return recorded != NULL;
}

void tt_replay_record_moving(struct tt_replay *replay, const double *values, size_t count)
{
    if (!replay || !replay->records)
        return;
    tt_bytes_put_u8(&replay->record, MOVING);
    tt_bytes_put_bytes(&replay->record, values, count * sizeof *values);
}

static enum tutti_err replay_enter_event(struct tt_unit *unit)
{
    struct tt_replay *replay = unit->replay;
    if (is_recording(replay))
        tt_bytes_put_u8(&replay->record, ENTER);
    TRY(finish_replay_entry(replay));
    return replay->real->enter_event(unit);
}

static enum tutti_err replay_update_discrete(struct tt_unit *unit, struct tt_unit_event *event)
{
    struct tt_replay *replay = unit->replay;
    TRY(replay->real->settle(unit, event));
    if (!is_recording(replay))
        return TUTTI_OK;
    tt_bytes_put_u8(&replay->record, SETTLE);
    record_hash(&replay->record, ANSWER, hash_event(event));
    return finish_replay_entry(replay);
}

/* ---- going back ---- */

static struct replay_mark *find_replay_mark(struct tt_replay *replay, const struct tt_unit_saved *saved)
{
    for (size_t i = 0; i < replay->mark_count; i++)
        if (replay->marks[i].saved == saved)
            return &replay->marks[i];
    return NULL;
}

static enum tutti_err replay_save(struct tt_unit *unit, struct tt_unit_saved **saved)
{
    struct tt_replay *replay = unit->replay;
    TRY(replay->real->save(unit, saved));
    struct replay_mark *mark = find_replay_mark(replay, *saved);
    if (!mark && !tt_vector_reserve(&replay->marks, &replay->mark_room, replay->mark_count + 1, sizeof *replay->marks))
        return tt_fail_memory();
    mark = mark ? mark : &replay->marks[replay->mark_count++];
    *mark = (struct replay_mark){*saved, replay->record.size};
    return TUTTI_OK;
}

static enum tutti_err replay_restore(struct tt_unit *unit, const struct tt_unit_saved *saved)
{
    struct tt_replay *replay = unit->replay;
    TRY(replay->real->restore(unit, saved));
    const struct replay_mark *mark = find_replay_mark(replay, saved);
    if (mark && replay->records) {
        replay->record.size = mark->at;
        discard_lists_after(replay, mark->at);
    }
    return TUTTI_OK;
}

static void replay_discard(struct tt_unit *unit, struct tt_unit_saved *saved)
{
    struct tt_replay *replay = unit->replay;
    struct replay_mark *mark = saved ? find_replay_mark(replay, saved) : NULL;
    if (mark)
        *mark = replay->marks[--replay->mark_count];
    replay->real->discard(unit, saved);
}

/* ---- life ---- */

static void replay_finish(struct tt_unit *unit)
{
    struct tt_replay *replay = unit->replay;
    unit->kind = replay->real;
    unit->replay = NULL;
    unit->kind->finish(unit);
    replay_abandon(replay);
    free(replay->lists);
    free(replay->marks);
    free(replay);
}

enum tutti_err tt_replay_attach(struct tt_unit *unit, size_t most)
{
    struct tt_replay *replay = calloc(1, sizeof *replay);
    if (!replay)
        return tt_fail_memory();
    *replay = (struct tt_replay){.kind = *unit->kind, .real = unit->kind, .most = most};
    replay->kind.finish = replay_finish;
    replay->kind.set = replay_set;
    replay->kind.get = replay_get;
    replay->kind.set_input_derivatives = replay_set_input_derivatives;
    replay->kind.step = replay_step;
    replay->kind.make_triple = NULL; /* such steps would pass this by */
    replay->kind.enter_event = replay_enter_event;
    replay->kind.settle = replay_update_discrete;
    replay->kind.save = replay_save;
    replay->kind.restore = replay_restore;
    replay->kind.discard = replay_discard;
    unit->kind = &replay->kind;
    unit->replay = replay;
    return TUTTI_OK;
}

void tt_replay_start(struct tt_unit *unit)
{
    unit->replay->records = true;
}

enum tutti_err tt_replay_pack(const struct tt_unit *unit, struct tt_byte_writer *parcel)
{
    const struct tt_replay *replay = unit->replay;
    if (replay->given_up || replay->record.size > replay->most)
        return tt_fail(TUTTI_ERR_UNSUPPORTED,
                       "%s (%s): the record of what the FMU was told has more than %zu MB (--checkpoint-replay)",
                       unit->name, unit->fmu->path, replay->most >> 20);
    tt_bytes_put_block(parcel, replay->record.bytes, replay->record.size);
    if (replay->real->pack_counts)
        replay->real->pack_counts(unit, parcel);
    return TUTTI_OK;
}

/* ---- once more ---- */

/* A variable of the FMU, by what calls name it by. */
struct replay_variable {
    enum tt_type type;
    uint32_t reference, index;
};

struct replay_run {
    struct tt_unit *unit;
    struct tt_replay *replay;
    struct tt_byte_reader in;
    const char *begin;
    double t;
    const struct tt_replay_watch *watch;
    struct tt_arena arena;             /* of one entry */
    struct replay_variable *variables; /* all, by ascending type and reference */
};

static enum tutti_err replay_fail_malformed(const struct replay_run *again)
{
    return tt_fail(TUTTI_ERR_FORMAT, "%s: these bytes are no record of what the unit was told", again->unit->name);
}

static enum tutti_err replay_fail_differs(const struct replay_run *again)
{
    const struct tt_unit *unit = again->unit;
    return tt_fail(
        TUTTI_ERR_FMU,
        "%s (%s): told the same once more, the FMU answers otherwise at t = %s (--checkpoint-replay): it does not "
        "repeat itself, and the run cannot go on from this checkpoint",
        unit->name, unit->fmu->path, TIME(again->t));
}

static enum tutti_err redo_list_definition(struct replay_run *again)
{
    struct tt_byte_reader *in = &again->in;
    size_t at = (size_t)(in->at - 1 - again->begin);
    unsigned type = tt_bytes_get_u8(in);
    size_t count = tt_bytes_get_u32(in), value_count = tt_bytes_get_u32(in);
    const void *references = tt_bytes_get(in, count * sizeof(uint32_t));
    if (in->bad || type >= (unsigned)TUTTI_TYPE_COUNT)
        return replay_fail_malformed(again);
    return add_list(again->replay, (enum tt_type)type, copy_references(references, count), count, value_count, at);
}

static int compare_replay_variables(const void *a, const void *b)
{
    const struct replay_variable *left = a, *right = b;
    if (left->type != right->type)
        return left->type < right->type ? -1 : 1;
    return left->reference < right->reference ? -1 : left->reference > right->reference;
}

static enum tutti_err sort_replay_variables(struct replay_run *again)
{
    const struct tt_description *desc = again->unit->fmu->desc;
    again->variables = malloc((desc->var_count + (size_t)1) * sizeof *again->variables);
    if (!again->variables)
        return tt_fail_memory();
    for (uint32_t i = 0; i < desc->var_count; i++)
        again->variables[i] = (struct replay_variable){desc->vars[i].type, desc->vars[i].reference, i};
    qsort(again->variables, desc->var_count, sizeof *again->variables, compare_replay_variables);
    return TUTTI_OK;
}

/* Reserves room for the values of a list, whose number must match its variables, because FMUs rely on that. */
static enum tutti_err replay_allocate_list(const struct replay_run *again, struct replay_list *list)
{
    size_t left = list->value_count, extent;
    for (size_t i = 0; i < list->count; i++) {
        const struct replay_variable key = {.type = list->type, .reference = list->references[i]};
        const struct replay_variable *found =
            bsearch(&key, again->variables, again->unit->fmu->desc->var_count, sizeof key, compare_replay_variables);
        if (!found)
            return replay_fail_malformed(again);
        TRY(tt_unit_extent(again->unit, found->index, &extent));
        if (extent > left)
            return replay_fail_malformed(again);
        left -= extent;
    }
    if (left > 0)
        return replay_fail_malformed(again);
    list->values = calloc(list->value_count + 1, tt_type_size(list->type));
    return list->values ? TUTTI_OK : tt_fail_memory();
}

/* A block of the list that follows, with room for its values. */
static enum tutti_err replay_next_block(struct replay_run *again, struct tt_block *block)
{
    uint32_t number = tt_bytes_get_u32(&again->in);
    if (again->in.bad || number >= again->replay->list_count)
        return replay_fail_malformed(again);
    struct replay_list *list = &again->replay->lists[number];
    bool text = tt_type_is_text(list->type);
    if (!list->values)
        TRY(replay_allocate_list(again, list));
    *block = (struct tt_block){.type = list->type,
                               .count = list->count,
                               .value_count = list->value_count,
                               .references = list->references,
                               .values = list->values,
                               .owned = text ? tt_signals_owned_array(&again->arena, list->value_count) : NULL};
    return !text || block->owned ? TUTTI_OK : tt_fail_memory();
}

/* Checks values of types for which C has invalid representations. */
static bool are_valid_values(enum tt_type type, const unsigned char *bytes, size_t size)
{
    bool truth = type == TUTTI_TYPE_BOOLEAN || type == TUTTI_TYPE_CLOCK;
    for (size_t i = 0; truth && i < size; i++)
        if (bytes[i] > 1)
            return false;
    return true;
}

static enum tutti_err replay_read_values(struct replay_run *again, struct tt_block *block, size_t size)
{
    const void *values = tt_bytes_get(&again->in, size);
    if (!values || !are_valid_values(block->type, values, size))
        return replay_fail_malformed(again);
    memcpy(block->values, values, size);
    return TUTTI_OK;
}

static enum tutti_err redo_set(struct replay_run *again)
{
    struct tt_block block = {0};
    TRY(replay_next_block(again, &block));
    size_t size = block.value_count * tt_type_size(block.type);
    enum tutti_err err = block.owned ? tt_signals_block_unpack(&block, &again->in)
                                     : replay_read_values(again, &block, size);
    if (block.owned && again->in.bad)
        err = replay_fail_malformed(again);
    if (!err)
        err = again->replay->real->set(again->unit, &block);
    if (block.owned) {
        tt_signals_owned_fini(block.owned, block.value_count);
        memset(block.values, 0, size); /* they pointed there */
    }
    return err;
}

static enum tutti_err redo_get(struct replay_run *again)
{
    struct tt_block block = {0};
    TRY(replay_next_block(again, &block));
    uint32_t expected = tt_bytes_get_u32(&again->in);
    if (again->in.bad)
        return replay_fail_malformed(again);
    TRY(again->replay->real->get(again->unit, &block));
    return hash_values(&block) == expected ? TUTTI_OK : replay_fail_differs(again);
}

static enum tutti_err redo_input_derivatives(struct replay_run *again)
{
    struct tt_byte_reader *in = &again->in;
    uint32_t number = tt_bytes_get_u32(in);
    bool has_elements = tt_bytes_get_u8(in) != 0;
    if (in->bad || number >= again->replay->list_count)
        return replay_fail_malformed(again);
    const struct replay_list *list = &again->replay->lists[number];
    size_t count = list->count;
    int32_t *orders = tt_arena_array(&again->arena, count + 1, sizeof *orders);
    double *values = tt_arena_array(&again->arena, count + 1, sizeof *values);
    size_t *elements = tt_arena_array(&again->arena, count + 1, sizeof *elements);
    if (!orders || !values || !elements)
        return tt_fail_memory();
    const void *parts[] = {tt_bytes_get(in, count * sizeof *orders), tt_bytes_get(in, count * sizeof *values),
                           has_elements ? tt_bytes_get(in, count * sizeof *elements) : elements};
    if (in->bad)
        return replay_fail_malformed(again);
    memcpy(orders, parts[0], count * sizeof *orders);
    memcpy(values, parts[1], count * sizeof *values);
    memmove(elements, parts[2], count * sizeof *elements);
    return again->replay->real->set_input_derivatives(again->unit, list->references, has_elements ? elements : NULL,
                                                      count, orders, values);
}

static enum tutti_err check_replay_hash(struct replay_run *again, uint32_t found)
{
    bool follows = tt_bytes_get_u8(&again->in) == ANSWER;
    uint32_t expected = tt_bytes_get_u32(&again->in);
    if (again->replay->differs || (follows && !again->in.bad && expected != found))
        return replay_fail_differs(again);
    return follows && !again->in.bad ? TUTTI_OK : replay_fail_malformed(again);
}

static enum tutti_err redo_step(struct replay_run *again)
{
    struct tt_byte_reader *in = &again->in;
    struct tt_unit *unit = again->unit;
    struct tt_fmi_step step = {0};
    double t = tt_bytes_get_double(in), h = tt_bytes_get_double(in);
    unit->horizon = tt_bytes_get_double(in);
    unsigned back = tt_bytes_get_u8(in);
    if (in->bad)
        return replay_fail_malformed(again);
    unit->back_to = back & BACK_NOWHERE ? INFINITY : back & BACK_BEFORE_STEP ? -INFINITY : t;
    again->t = t;
    TRY(again->watch->pass(again->watch->context, t));
    TRY(again->replay->real->step(unit, t, h, &step));
    again->t = step.reached;
    return check_replay_hash(again, hash_step(&step));
}

static enum tutti_err redo_entry(struct replay_run *again)
{
    switch ((enum replay_entry)tt_bytes_get_u8(&again->in)) {
    case DEFINE: return redo_list_definition(again);
    case SET: return redo_set(again);
    case GET: return redo_get(again);
    case DERIVATIVES: return redo_input_derivatives(again);
    case STEP: return redo_step(again);
    case ENTER: return again->replay->real->enter_event(again->unit);
    case SETTLE: {
        struct tt_unit_event event = {0};
        TRY(again->replay->real->settle(again->unit, &event));
        return check_replay_hash(again, hash_event(&event));
    }
    case MOVING:
    case ANSWER: break;
    }
    return replay_fail_malformed(again);
}

enum tutti_err tt_replay_unpack(struct tt_unit *unit, struct tt_byte_reader *in, const struct tt_replay_watch *watch)
{
    struct tt_replay *replay = unit->replay;
    size_t size;
    const char *bytes = tt_bytes_get_block(in, &size);
    struct replay_run again = {.unit = unit, .replay = replay, .begin = bytes, .t = -INFINITY, .watch = watch};
    if (in->bad)
        return replay_fail_malformed(&again);
    again.in = (struct tt_byte_reader){.at = bytes, .end = bytes + size};
    enum tutti_err err = sort_replay_variables(&again);
    replay->in = &again.in;
    while (!err && again.in.at < again.in.end) {
        err = redo_entry(&again);
        tt_arena_fini(&again.arena);
    }
    replay->in = NULL;
    free(again.variables);
    TRY(err);
    tt_bytes_reset(&replay->record);
    tt_bytes_put_bytes(&replay->record, bytes, size);
    if (replay->real->unpack_counts) /* with those of steps that were taken back */
        replay->real->unpack_counts(unit, in);
    return in->bad ? replay_fail_malformed(&again) : finish_replay_entry(replay);
}
