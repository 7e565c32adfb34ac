/* SPDX-License-Identifier: MIT */
/* state.c - saving and restoring an instance as one block of bytes.
 *
 * Layout: struct head; the model's struct with its pointers blanked; the polynomials; the last indicators; the nominal
 * values; then for every variable, in the order of the table, what its pointers lead to: extents are in the struct, so
 * arrays need no length; Strings and Binaries are a size and bytes. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

struct head {
    char guid[KIT_GUID_SIZE + 1];
    uint64_t size; /* of the whole block */
    uint64_t sum;  /* of all bytes, in serialised states; otherwise 0 */
    int32_t mode;
    int32_t flags;
    uint32_t stale, padding;
    double time, next_event, stop, fixed_step, last_time, last_event;
};

/* A place in the block; with base == NULL only the size is found. */
struct cursor {
    unsigned char *base;
    size_t at;
};

static void put(struct cursor *c, const void *data, size_t size)
{
    if (c->base && size > 0)
        memcpy(c->base + c->at, data, size);
    c->at += size;
}

static bool get(const struct kit_state *state, size_t *at, void *data, size_t size)
{
    if (size > state->size - *at)
        return false;
    if (size > 0)
        memcpy(data, state->bytes + *at, size);
    *at += size;
    return true;
}

static bool *flag_of(struct kit *k, unsigned i)
{
    bool *flags[] = {&k->input_event, &k->set_in_step,        &k->event_pending, &k->update_needed,
                     &k->terminated,  &k->polynomials_active, &k->set_up};
    return i < KIT_COUNT(flags) ? flags[i] : NULL;
}

/* Bytes of pointers in the variable's field. */
static size_t pointer_size(const struct kit_var *var)
{
    if (var->dims || var->type == KIT_STRING)
        return sizeof(void *);
    return var->type == KIT_BINARY ? sizeof(struct kit_binary) : 0;
}

/* The model's struct without the pointers in it: they mean nothing elsewhere, and equal states shall have equal
 * bytes. */
static void put_struct(const struct kit *k, struct cursor *c)
{
    size_t begin = c->at;
    put(c, k->self, k->model->size);
    for (size_t i = 0; c->base && i < k->model->variable_count; i++) {
        const struct kit_var *var = &k->model->variables[i];
        memset(c->base + begin + var->offset, 0, pointer_size(var));
    }
}

static void put_elements(const struct kit_slot *slot, struct cursor *c)
{
    if (slot->var->type == KIT_STRING || slot->var->type == KIT_BINARY) {
        for (size_t i = 0; i < slot->count; i++) {
            const struct kit_binary *binary = (const struct kit_binary *)slot->data + i;
            const char *text = slot->var->type == KIT_STRING ? ((char **)slot->data)[i] : NULL;
            uint64_t size = text ? strlen(text) + 1 : binary->size;
            put(c, &size, sizeof size);
            put(c, text ? (const void *)text : binary->data, (size_t)size);
        }
    } else if (slot->var->dims) {
        put(c, slot->data, slot->count * kit_type_size(slot->var->type));
    }
}

static void put_all(struct kit *k, struct cursor *c, size_t size)
{
    struct head head;
    memset(&head, 0, sizeof head); /* padding too: equal states, equal bytes */
    memcpy(head.guid, k->guid, sizeof k->guid);
    head.size = size;
    head.mode = (int32_t)k->mode;
    for (unsigned i = 0; flag_of(k, i); i++)
        head.flags |= *flag_of(k, i) << i;
    head.stale = k->stale;
    head.time = k->time;
    head.next_event = k->next_event;
    head.stop = k->stop;
    head.fixed_step = k->fixed_step;
    head.last_time = k->last_time;
    head.last_event = k->last_event;
    put(c, &head, sizeof head);
    put_struct(k, c);
    for (size_t i = 0; i < k->polynomial_count; i++) {
        const struct kit_polynomial *p = &k->polynomials[i];
        unsigned char fresh = p->fresh;
        put(c, &p->start, sizeof p->start);
        put(c, p->derivative, sizeof p->derivative);
        put(c, &fresh, sizeof fresh);
    }
    put(c, k->z_end, k->nz * sizeof *k->z_end);
    put(c, k->nominal, k->nx * sizeof *k->nominal);
    for (size_t i = 1; i <= k->model->variable_count; i++)
        put_elements(&k->slots[i], c);
}

static struct kit_state *new_state(size_t size)
{
    if (size > SIZE_MAX - sizeof(struct kit_state))
        return NULL;
    struct kit_state *state = malloc(sizeof *state + size);
    if (state)
        state->size = state->capacity = size;
    return state;
}

void kit_state_free(struct kit_state *state)
{
    free(state);
}

enum kit_status kit_state_get(struct kit *k, struct kit_state **state)
{
    struct cursor measure = {NULL, 0};
    put_all(k, &measure, 0);
    if (!*state || (*state)->capacity < measure.at) {
        struct kit_state *bigger = new_state(measure.at);
        if (!bigger)
            return kit_fail(k, KIT_ERROR, "out of memory for a state of %zu bytes", measure.at);
        kit_state_free(*state);
        *state = bigger;
    }
    struct cursor write = {(*state)->bytes, 0};
    put_all(k, &write, measure.at);
    (*state)->size = measure.at;
    return KIT_OK;
}

/* Reads what a slot's pointers lead to. */
static bool get_elements(struct kit *k, struct kit_slot *slot, const struct kit_state *state, size_t *at, bool keep)
{
    if (slot->var->type != KIT_STRING && slot->var->type != KIT_BINARY)
        return !slot->var->dims || get(state, at, slot->data, slot->count * kit_type_size(slot->var->type));
    for (size_t i = 0; i < slot->count; i++) {
        uint64_t size;
        if (!get(state, at, &size, sizeof size) || size > state->size - *at)
            return false;
        const unsigned char *data = state->bytes + *at;
        *at += (size_t)size;
        if (keep)
            continue;
        if (slot->var->type == KIT_BINARY) {
            if (kit_set_binary(k, (struct kit_binary *)slot->data + i, data, (size_t)size) != KIT_OK)
                return false;
        } else if (size == 0 || data[size - 1] != '\0' ||
                   kit_set_string(k, (char **)slot->data + i, (const char *)data) != KIT_OK) {
            return false;
        }
    }
    return true;
}

/* Bytes of the field that a restore leaves alone. */
static size_t kept(const struct kit_var *var, bool keep_inputs)
{
    size_t pointers = pointer_size(var);
    return pointers == 0 && keep_inputs && var->causality == KIT_INPUT ? kit_type_size(var->type) : pointers;
}

/* Copies the struct back, but keeps the pointers of this instance. */
static bool get_struct(struct kit *k, const struct kit_state *state, size_t *at, bool keep_inputs)
{
    const unsigned char *from = state->bytes + *at;
    if (k->model->size > state->size - *at)
        return false;
    *at += k->model->size;
    size_t done = 0; /* the table need not be in the order of the struct: copy all but the pointers */
    while (done < k->model->size) {
        size_t next = k->model->size, skip = 0;
        for (size_t i = 0; i < k->model->variable_count; i++) {
            const struct kit_var *var = &k->model->variables[i];
            size_t size = kept(var, keep_inputs);
            if (size > 0 && var->offset >= done && var->offset < next) {
                next = var->offset;
                skip = size;
            }
        }
        memcpy((char *)k->self + done, from + done, next - done);
        done = next + skip;
    }
    return true;
}

static enum kit_status damaged(struct kit *k)
{
    return kit_fail(k, KIT_ERROR, "the saved state is damaged, or not one of %s", k->model->name);
}

/* Returns true if the instance can be in this mode: the state may be one of a different interface. */
static bool has_mode(const struct kit *k, int32_t mode)
{
    unsigned never = KIT_MODE(KIT_INTERMEDIATE_UPDATE) | KIT_MODE(KIT_CLOCK_UPDATE) | KIT_MODE(KIT_IN_FATAL);
    unsigned stepping = KIT_MODE(KIT_STEP) | KIT_MODE(KIT_STEP_FAILED) | KIT_MODE(KIT_IN_EVENT) |
                        KIT_MODE(KIT_CONTINUOUS_TIME);
    never |= k->interface == KIT_SE ? stepping : KIT_MODE(KIT_CLOCK_ACTIVATION);
    if (k->interface == KIT_SE)
        return mode >= 0 && mode <= KIT_IN_FATAL && !(never & KIT_MODE(mode));
    if (k->interface == KIT_ME)
        never |= KIT_MODE(KIT_STEP) | KIT_MODE(KIT_STEP_FAILED);
    else
        never |= KIT_MODE(KIT_CONTINUOUS_TIME) | (k->event_mode ? 0 : KIT_MODE(KIT_IN_EVENT));
    return mode >= 0 && mode <= KIT_IN_FATAL && !(never & KIT_MODE(mode));
}

enum kit_status kit_state_set(struct kit *k, const struct kit_state *state, bool keep_inputs)
{
    struct head head;
    size_t at = 0;
    if (!state || !get(state, &at, &head, sizeof head) || memcmp(head.guid, k->guid, sizeof k->guid) != 0 ||
        head.size != state->size)
        return damaged(k);
    if (!has_mode(k, head.mode))
        return kit_fail(k, KIT_ERROR, "the saved state is one of another interface");
    if (!get_struct(k, state, &at, keep_inputs))
        return damaged(k);
    if (kit_resize(k) != KIT_OK)
        return KIT_ERROR;
    for (size_t i = 0; i < k->polynomial_count; i++) {
        struct kit_polynomial *p = &k->polynomials[i], saved = *p;
        unsigned char fresh = 0;
        if (!get(state, &at, &saved.start, sizeof saved.start) ||
            !get(state, &at, saved.derivative, sizeof saved.derivative) || !get(state, &at, &fresh, sizeof fresh))
            return damaged(k);
        saved.fresh = fresh != 0;
        if (!keep_inputs)
            *p = saved;
    }
    if (!get(state, &at, k->z_end, k->nz * sizeof *k->z_end) ||
        !get(state, &at, k->nominal, k->nx * sizeof *k->nominal))
        return damaged(k);
    for (size_t i = 1; i <= k->model->variable_count; i++)
        if (!get_elements(k, &k->slots[i], state, &at, keep_inputs && k->slots[i].var->causality == KIT_INPUT))
            return damaged(k);
    k->mode = (enum kit_mode)head.mode;
    for (unsigned i = 0; flag_of(k, i); i++)
        *flag_of(k, i) = head.flags >> i & 1;
    k->stale = head.stale | (keep_inputs ? KIT_STALE_POINT : 0);
    k->time = head.time;
    k->next_event = head.next_event;
    k->stop = head.stop;
    k->fixed_step = head.fixed_step;
    k->last_time = head.last_time;
    k->last_event = head.last_event;
    return KIT_OK;
}

/* ---- serialised states ---- */

/* As FNV-1a, by eight bytes at a time: states are saved often. The halves are folded, as high bits would not reach low ones. */
static uint64_t sum_of(const unsigned char *bytes, size_t size)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; i += sizeof sum) {
        uint64_t word = 0;
        memcpy(&word, bytes + i, size - i < sizeof word ? size - i : sizeof word);
        sum = (sum ^ word) * UINT64_C(0x100000001b3);
        sum ^= sum >> 32;
    }
    return sum;
}

enum kit_status kit_state_size(struct kit *k, const struct kit_state *state, size_t *size)
{
    if (!kit_offers(k, KIT_SERIALISE))
        return KIT_ERROR;
    if (!state)
        return damaged(k);
    *size = state->size;
    return KIT_OK;
}

enum kit_status kit_state_serialise(struct kit *k, const struct kit_state *state, void *bytes, size_t size)
{
    if (!kit_offers(k, KIT_SERIALISE))
        return KIT_ERROR;
    if (!state || size != state->size)
        return kit_fail(k, KIT_ERROR, "the state has %zu bytes, not %zu", state ? state->size : 0, size);
    uint64_t sum = sum_of(state->bytes, size);
    memcpy(bytes, state->bytes, size);
    memcpy((char *)bytes + offsetof(struct head, sum), &sum, sizeof sum);
    return KIT_OK;
}

enum kit_status kit_state_deserialise(struct kit *k, const void *bytes, size_t size, struct kit_state **state)
{
    struct head head;
    if (!kit_offers(k, KIT_SERIALISE))
        return KIT_ERROR;
    if (!bytes || size < sizeof head)
        return damaged(k);
    struct kit_state *copy = new_state(size);
    if (!copy)
        return kit_fail(k, KIT_ERROR, "out of memory for a state of %zu bytes", size);
    memcpy(copy->bytes, bytes, size);
    memcpy(&head, bytes, sizeof head);
    memset(copy->bytes + offsetof(struct head, sum), 0, sizeof head.sum);
    if (memcmp(head.guid, k->guid, sizeof k->guid) != 0 || head.sum != sum_of(copy->bytes, size)) {
        kit_state_free(copy);
        return damaged(k);
    }
    *state = copy;
    return KIT_OK;
}
