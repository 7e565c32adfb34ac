/* SPDX-License-Identifier: MIT */
#include "model/system/number_value.h"

#include <float.h>
#include <math.h>

#include "base/number.h"
#include "fmu/description/wide.h"
#include "model/system/conversion.h"
#include "model/system/setting.h"

static bool setting_is_item(const struct tt_description *desc, const struct tt_var *var, double value)
{
    const struct tt_type_def *def = var->type_def == TUTTI_NONE ? NULL : &desc->types[var->type_def];
    bool found = !def || def->item_count == 0;
    for (uint32_t i = 0; !found && i < def->item_count; i++)
        found = (double)def->items[i].value == value;
    return found;
}

static bool setting_number_fits(const struct tt_description *desc, const struct tt_var *var, double value)
{
    enum tt_type type = (enum tt_type)var->type;
    bool whole = value == floor(value) && fabs(value) < 0x1p64;
    if (type == TUTTI_TYPE_FLOAT64)
        return true;
    if (type == TUTTI_TYPE_FLOAT32)
        return !(fabs(value) > FLT_MAX) || isinf(value);
    return whole && tt_conversion_fits(type, (tt_wide)value) &&
           (type != TUTTI_TYPE_ENUMERATION || setting_is_item(desc, var, value));
}

static void setting_store_value(enum tt_type type, double value, void *to)
{
    switch (type) {
#define STORE(name, ctype)                                                                                             \
    case TUTTI_TYPE_##name: *(ctype *)to = (ctype)value; break
        STORE(FLOAT64, double);
        STORE(FLOAT32, float);
        STORE(INT8, int8_t);
        STORE(UINT8, uint8_t);
        STORE(INT16, int16_t);
        STORE(UINT16, uint16_t);
        STORE(INT32, int32_t);
        STORE(UINT32, uint32_t);
        STORE(INT64, int64_t);
        STORE(UINT64, uint64_t);
        STORE(ENUMERATION, int64_t);
        STORE(BOOLEAN, bool);
#undef STORE
    default: break;
    }
}

enum tutti_err tt_setting_check_number(const struct tt_description *desc, const struct tt_var *var, const char *name,
                                       double value)
{
    enum tt_type type = (enum tt_type)var->type;
    tt_wide room; /* as large as the largest */
    if (!setting_number_fits(desc, var, value))
        return tt_fail(TUTTI_ERR_ARGUMENT, "'%s' is %s: it cannot be %s", name, tt_type_name(type), NUMBER(value));
    setting_store_value(type, value, &room);
    return tt_setting_check_bounds(var, &room, 1);
}

void tt_setting_store_number(const struct tt_var *var, double value, void *to)
{
    setting_store_value((enum tt_type)var->type, value, to);
    if (var->negated)
        tt_type_negate((enum tt_type)var->type, to);
}
