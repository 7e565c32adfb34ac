/* SPDX-License-Identifier: MIT */
/* values.c - getting and setting variables. */
#include "core.h"
#include "fault.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *name_of(const struct kit_slot *slot)
{
    return slot->var ? kit_var_name(slot->var) : "time";
}

static enum kit_status wrong_type(struct kit *k, const char *call, unsigned vr)
{
    if (vr > k->model->variable_count || k->slots[vr].type == KIT_ABSENT)
        return kit_fail(k, KIT_ERROR, "%s: there is no variable with value reference %u", call, vr);
    return kit_fail(k, KIT_ERROR, "%s: variable %s (value reference %u) has another type", call, name_of(&k->slots[vr]),
                    vr);
}

static inline bool fits(const struct kit *k, unsigned types, unsigned vr)
{
    return vr <= k->model->variable_count && k->slots[vr].type != KIT_ABSENT && types & KIT_TYPE(k->slots[vr].type);
}

/* The rules that do not depend on the variable. */
static enum kit_status may_get(struct kit *k, const char *call)
{
    if (k->mode == KIT_STEP && k->set_in_step)
        return kit_fail(k, KIT_ERROR, "%s after a set call needs a do-step in between", call);
    if (k->mode == KIT_CLOCK_ACTIVATION && k->set_in_step)
        return kit_fail(k, KIT_ERROR, "%s after a set call needs a partition in between", call);
    if (k->mode == KIT_INTERMEDIATE_UPDATE && (!k->update->get_allowed || k->get_closed))
        return kit_fail(k, KIT_ERROR, "%s is not allowed %s", call,
                        k->get_closed ? "after a set call in the intermediate update" : "in this intermediate update");
    return KIT_OK;
}

struct kit_slot *kit_slot_to_get(struct kit *k, const char *call, unsigned types, unsigned vr, enum kit_status *status)
{
    if (!fits(k, types, vr)) {
        *status = wrong_type(k, call, vr);
        return NULL;
    }
    struct kit_slot *slot = &k->slots[vr];
    *status = KIT_FAULT_GET(k, call, name_of(slot));
    if (*status != KIT_OK)
        return NULL;
    if (k->mode == KIT_STEP || k->mode == KIT_INTERMEDIATE_UPDATE || k->mode == KIT_CLOCK_ACTIVATION) {
        *status = may_get(k, call);
        if (*status == KIT_OK && k->mode == KIT_INTERMEDIATE_UPDATE && !slot->required)
            *status = kit_fail(k, KIT_ERROR, "%s: %s is not in requiredIntermediateVariables", call, name_of(slot));
        if (*status != KIT_OK)
            return NULL;
    }
    if ((slot->clocks || slot->type == KIT_CLOCK) && (*status = kit_clocked_access(k, call, slot, false)) != KIT_OK)
        return NULL;
    bool may_lag = k->interface == KIT_ME && (k->mode == KIT_CONTINUOUS_TIME || k->version == 1);
    bool lags = may_lag && KIT_FAULT_HABIT(k, "lag", call); /* until derivatives are computed */
    if (!lags && slot->needs & k->stale && (*status = kit_refresh(k, slot->needs)) > KIT_WARNING)
        return NULL;
    return slot;
}

static enum kit_status refuse_set(struct kit *k, const char *call, const struct kit_slot *slot)
{
    return kit_fail(k, KIT_ERROR, "%s: variable %s must not be set now", call, name_of(slot));
}

struct kit_slot *kit_slot_to_set(struct kit *k, const char *call, unsigned types, unsigned vr, enum kit_status *status)
{
    if (!fits(k, types, vr)) {
        *status = wrong_type(k, call, vr);
        return NULL;
    }
    struct kit_slot *slot = &k->slots[vr];
    bool allowed = slot->settable & KIT_MODE(k->mode);
    if (k->mode == KIT_INTERMEDIATE_UPDATE)
        allowed = allowed && slot->required && k->update->set_requested;
    *status = allowed ? KIT_FAULT_SET(k, call, slot) : refuse_set(k, call, slot);
    if (*status == KIT_OK && slot->clocks)
        *status = kit_clocked_access(k, call, slot, true);
    return *status == KIT_OK ? slot : NULL;
}

void kit_slot_written(struct kit *k, const struct kit_slot *slot)
{
    k->stale |= KIT_STALE_POINT;
    if ((k->mode == KIT_INITIALISATION && !k->solved) || k->mode == KIT_INSTANTIATED)
        k->stale |= KIT_STALE_START;
    if (k->mode == KIT_STEP)
        k->set_in_step = k->interface == KIT_CS;
    if (k->mode == KIT_CLOCK_ACTIVATION)
        k->set_in_step = true;
    if (k->mode == KIT_INTERMEDIATE_UPDATE)
        k->get_closed = true;
    if (slot->event_on_set)
        k->input_event = true;
}

static size_t total(const struct kit *k, const unsigned vr[], size_t n)
{
    size_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += vr[i] <= k->model->variable_count ? k->slots[vr[i]].count : 1;
    return sum;
}

static enum kit_status check_total(struct kit *k, const char *call, const unsigned vr[], size_t n, size_t n_values)
{
    size_t sum = total(k, vr, n);
    if (sum == n_values)
        return KIT_OK;
    return kit_fail(k, KIT_ERROR, "%s: the variables have %zu values together, not %zu", call, sum, n_values);
}

enum kit_status kit_get(struct kit *k, const char *call, unsigned types, const unsigned vr[], size_t n, void *values,
                        size_t n_values)
{
    enum kit_status status = KIT_OK;
    char *out = values;
    if (k->version == 3 && check_total(k, call, vr, n, n_values) != KIT_OK)
        return KIT_ERROR;
    for (size_t i = 0; i < n; i++) {
        const struct kit_slot *slot = kit_slot_to_get(k, call, types, vr[i], &status);
        if (!slot)
            return status;
        if (slot->type == KIT_FLOAT64 && slot->count == 1) { /* by far the most frequent case */
            memcpy(out, slot->data, sizeof(double));
            out += sizeof(double);
            continue;
        }
        size_t size = slot->count * kit_type_size(slot->type);
        memcpy(out, slot->data, size);
        out += size;
    }
    return status;
}

/* With event mode, discrete inputs are constant outside it. */
static bool changes_discrete(const struct kit *k, const struct kit_slot *slot, const void *values, size_t size)
{
    if (k->mode != KIT_STEP || !k->event_mode || slot->var->causality != KIT_INPUT || !slot->event_on_set)
        return false;
    if (slot->type != KIT_STRING)
        return memcmp(slot->data, values, size) != 0;
    for (size_t i = 0; i < slot->count; i++)
        if (!((const char *const *)values)[i] ||
            strcmp(((char **)slot->data)[i], ((const char *const *)values)[i]) != 0)
            return true;
    return false;
}

static enum kit_status check_extent(struct kit *k, const struct kit_slot *slot, const void *value)
{
    const struct kit_var *var = slot->var;
    if (var->causality != KIT_STRUCTURAL || slot->type != KIT_UINT64)
        return KIT_OK;
    uint64_t extent = *(const uint64_t *)value;
    if ((var->min && extent < strtoull(var->min, NULL, 10)) || (var->max && extent > strtoull(var->max, NULL, 10)))
        return kit_fail(k, KIT_ERROR, "structural parameter %s cannot be %" PRIu64, kit_var_name(var), extent);
    return KIT_OK;
}

static enum kit_status store(struct kit *k, const char *call, struct kit_slot *slot, const void *values, size_t size)
{
    if (KIT_FAULT_HABIT(k, "ignore", name_of(slot)))
        return KIT_OK;
    if (slot->type != KIT_STRING) {
        memcpy(slot->data, values, size);
        return KIT_OK;
    }
    for (size_t i = 0; i < slot->count; i++) {
        const char *text = ((const char *const *)values)[i];
        if (!text)
            return kit_fail(k, KIT_ERROR, "%s: no text for %s", call, name_of(slot));
        if (kit_set_string(k, (char **)slot->data + i, text) != KIT_OK)
            return KIT_ERROR;
    }
    return KIT_OK;
}

enum kit_status kit_set(struct kit *k, const char *call, unsigned types, const unsigned vr[], size_t n,
                        const void *values, size_t n_values)
{
    enum kit_status status = KIT_OK;
    const char *in = values;
    if (k->version == 3 && check_total(k, call, vr, n, n_values) != KIT_OK)
        return KIT_ERROR;
    for (size_t i = 0; i < n; i++) {
        struct kit_slot *slot = kit_slot_to_set(k, call, types, vr[i], &status);
        if (!slot)
            return status;
        size_t size = slot->count * kit_type_size(slot->type);
        if (changes_discrete(k, slot, in, size))
            return kit_fail(k, KIT_ERROR, "%s: discrete input %s may change in event mode only", call, name_of(slot));
        if (check_extent(k, slot, in) != KIT_OK || store(k, call, slot, in, size) != KIT_OK)
            return KIT_ERROR;
        kit_slot_written(k, slot);
        in += size;
    }
    return KIT_OK;
}

enum kit_status kit_get_binary(struct kit *k, const unsigned vr[], size_t n, size_t sizes[], const uint8_t *values[],
                               size_t n_values)
{
    enum kit_status status = KIT_OK;
    if (check_total(k, "GetBinary", vr, n, n_values) != KIT_OK)
        return KIT_ERROR;
    for (size_t i = 0, at = 0; i < n; i++) {
        const struct kit_slot *slot = kit_slot_to_get(k, "GetBinary", KIT_TYPE(KIT_BINARY), vr[i], &status);
        if (!slot)
            return status;
        const struct kit_binary *data = slot->data;
        for (size_t j = 0; j < slot->count; j++, at++) {
            sizes[at] = data[j].size;
            values[at] = data[j].data;
        }
    }
    return status;
}

enum kit_status kit_set_binaries(struct kit *k, const unsigned vr[], size_t n, const size_t sizes[],
                                 const uint8_t *const values[], size_t n_values)
{
    enum kit_status status = KIT_OK;
    if (check_total(k, "SetBinary", vr, n, n_values) != KIT_OK)
        return KIT_ERROR;
    for (size_t i = 0, at = 0; i < n; i++) {
        struct kit_slot *slot = kit_slot_to_set(k, "SetBinary", KIT_TYPE(KIT_BINARY), vr[i], &status);
        if (!slot)
            return status;
        struct kit_binary *data = slot->data;
        for (size_t j = 0; j < slot->count; j++, at++) {
            bool same = data[j].size == sizes[at] &&
                        (sizes[at] == 0 || memcmp(data[j].data, values[at], sizes[at]) == 0);
            if (!same && k->mode == KIT_STEP && k->event_mode)
                return kit_fail(k, KIT_ERROR, "SetBinary: discrete input %s may change in event mode only",
                                name_of(slot));
            if (kit_set_binary(k, &data[j], values[at], sizes[at]) != KIT_OK)
                return KIT_ERROR;
        }
        kit_slot_written(k, slot);
    }
    return KIT_OK;
}

enum kit_status kit_get_integer(struct kit *k, unsigned vr, int *value)
{
    enum kit_status status = KIT_OK;
    const struct kit_slot *slot =
        kit_slot_to_get(k, "GetInteger", KIT_TYPE(KIT_INT32) | KIT_TYPE(KIT_ENUMERATION), vr, &status);
    if (slot)
        *value = slot->type == KIT_INT32 ? *(const int32_t *)slot->data : (int)*(const int64_t *)slot->data;
    return status;
}

enum kit_status kit_set_integer(struct kit *k, unsigned vr, int value)
{
    int64_t wide = value;
    if (vr <= k->model->variable_count && k->slots[vr].type == KIT_ENUMERATION)
        return kit_set(k, "SetInteger", KIT_TYPE(KIT_ENUMERATION), &vr, 1, &wide, 1);
    return kit_set(k, "SetInteger", KIT_TYPE(KIT_INT32), &vr, 1, &value, 1);
}
