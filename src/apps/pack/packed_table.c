/* SPDX-License-Identifier: MIT */
#include "apps/pack/packed_table.h"

#include <jansson.h>
#include <string.h>

#include "base/number.h"

static const char *const roles[] = {[TUTTI_PACKED_INPUT] = "input",
                                    [TUTTI_PACKED_OUTPUT] = "output",
                                    [TUTTI_PACKED_PARAMETER] = "parameter",
                                    [TUTTI_PACKED_TUNABLE] = "tunable",
                                    [TUTTI_PACKED_INDICATOR] = "indicator"};

enum { ROLES = sizeof roles / sizeof *roles };

const char *tt_packed_table_role_name(enum tt_packed_role role)
{
    return roles[role];
}

static bool packed_table_find_role(const char *name, enum tt_packed_role *role)
{
    for (unsigned i = 0; i < ROLES; i++)
        if (name && strcmp(roles[i], name) == 0) {
            *role = (enum tt_packed_role)i;
            return true;
        }
    return false;
}

static bool packed_table_find_type(const char *name, enum tt_type *type)
{
    for (unsigned i = 0; i < TUTTI_TYPE_COUNT; i++)
        if (name && strcmp(tt_type_name((enum tt_type)i), name) == 0) {
            *type = (enum tt_type)i;
            return true;
        }
    return false;
}

static const char *packed_table_copy_text(struct tt_packed_table *table, const json_t *text)
{
    return json_is_string(text) ? tt_arena_copy_text(&table->arena, json_string_value(text), json_string_length(text))
                                : NULL;
}

/* An extent of 0 is one; the product is bounded, so that it fits. */
static bool packed_table_read_dimensions(const json_t *json, struct tt_packed_row *row)
{
    const uint64_t most = UINT64_C(1) << 32;
    uint64_t product = 1;
    if (!json)
        return true;
    if (!json_is_array(json) || json_array_size(json) > TUTTI_MOST_INDICES)
        return false;
    for (size_t i = 0; i < json_array_size(json); i++) {
        const json_t *extent = json_array_get(json, i);
        json_int_t value = json_integer_value(extent);
        if (!json_is_integer(extent) || value < 0 || (uint64_t)value > most / product)
            return false;
        row->dimensions[row->dimension_count++] = (uint64_t)value;
        product *= value > 0 ? (uint64_t)value : 1;
    }
    return true;
}

static bool packed_table_read_size(const json_t *json, size_t *size)
{
    *size = json_is_integer(json) && json_integer_value(json) >= 0 ? (size_t)json_integer_value(json) : 0;
    return !json || (json_is_integer(json) && json_integer_value(json) >= 0);
}

static bool packed_table_read_row(struct tt_packed_table *table, const json_t *json, struct tt_packed_row *row)
{
    const json_t *target = json_object_get(json, "target");
    row->name = packed_table_copy_text(table, json_object_get(json, "name"));
    row->target = packed_table_copy_text(table, target);
    row->moves = json_is_true(json_object_get(json, "moves"));
    return row->name && (row->target || !target) &&
           packed_table_read_dimensions(json_object_get(json, "dimensions"), row) &&
           packed_table_find_role(json_string_value(json_object_get(json, "role")), &row->role) &&
           packed_table_find_type(json_string_value(json_object_get(json, "type")), &row->type);
}

static bool packed_table_read_all(struct tt_packed_table *table, const json_t *root)
{
    const json_t *rows = json_object_get(root, "variables"), *row;
    size_t i;
    table->token = (char *)packed_table_copy_text(table, json_object_get(root, "token"));
    table->rows = tt_arena_array(&table->arena, json_array_size(rows), sizeof *table->rows);
    table->exchange = json_object_get(root, "states") != NULL;
    bool good = table->token && table->rows && json_is_array(rows) &&
                packed_table_read_size(json_object_get(root, "states"), &table->states) &&
                packed_table_read_size(json_object_get(root, "indicators"), &table->indicators);
    json_array_foreach(rows, i, row) good = good && packed_table_read_row(table, row, &table->rows[table->count++]);
    return good;
}

enum tutti_err tt_packed_table_read(struct tt_packed_table *table, const char *path)
{
    json_error_t error;
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        return tt_fail(TUTTI_ERR_FORMAT, "%s:%d: %s; was the FMU unpacked whole?", path, error.line, error.text);
    bool good = packed_table_read_all(table, root);
    json_decref(root);
    return good ? TUTTI_OK : tt_fail(TUTTI_ERR_FORMAT, "%s is not the table of a packed system; pack it again", path);
}

void tt_packed_table_fini(struct tt_packed_table *table)
{
    tt_arena_fini(&table->arena);
    *table = (struct tt_packed_table){0};
}

void tt_packed_table_write_value(struct tt_text *text, enum tt_type type, const void *value)
{
    char digits[64];
    size_t length = 0;
    switch (type) {
    case TUTTI_TYPE_FLOAT64: length = tt_number_write_double(digits, *(const double *)value); break;
    case TUTTI_TYPE_FLOAT32: length = tt_number_write_float(digits, *(const float *)value); break;
    case TUTTI_TYPE_INT8: length = tt_number_write_int(digits, *(const int8_t *)value); break;
    case TUTTI_TYPE_UINT8: length = tt_number_write_uint(digits, *(const uint8_t *)value); break;
    case TUTTI_TYPE_INT16: length = tt_number_write_int(digits, *(const int16_t *)value); break;
    case TUTTI_TYPE_UINT16: length = tt_number_write_uint(digits, *(const uint16_t *)value); break;
    case TUTTI_TYPE_INT32: length = tt_number_write_int(digits, *(const int32_t *)value); break;
    case TUTTI_TYPE_UINT32: length = tt_number_write_uint(digits, *(const uint32_t *)value); break;
    case TUTTI_TYPE_ENUMERATION:
    case TUTTI_TYPE_INT64: length = tt_number_write_int(digits, *(const int64_t *)value); break;
    case TUTTI_TYPE_UINT64: length = tt_number_write_uint(digits, *(const uint64_t *)value); break;
    case TUTTI_TYPE_BOOLEAN: tt_text_append(text, *(const bool *)value ? "true" : "false"); return;
    case TUTTI_TYPE_STRING: tt_text_append(text, *(const char *const *)value); return;
    case TUTTI_TYPE_BINARY: {
        const struct tt_bytes *bytes = value;
        for (size_t i = 0; i < bytes->size; i++)
            tt_text_printf(text, "%02x", ((const unsigned char *)bytes->data)[i]);
        return;
    }
    case TUTTI_TYPE_CLOCK: return; /* tutti pack exposes none */
    }
    tt_text_append_n(text, digits, length);
}

union tt_packed_value tt_packed_table_invert_conversion(const struct tt_conversion *conversion,
                                                        union tt_packed_value value)
{
    union tt_packed_value before = {0};
    if (conversion->from == TUTTI_TYPE_FLOAT64 && conversion->to == TUTTI_TYPE_FLOAT64 && conversion->factor != 0)
        before.number = (value.number - conversion->offset) / conversion->factor;
    return before;
}
