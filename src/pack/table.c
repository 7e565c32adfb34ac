/* SPDX-License-Identifier: MIT */
#include "pack/table.h"

#include <jansson.h>
#include <string.h>

#include "base/number.h"

static const char *const roles[] = {[TUTTI_PACKED_INPUT] = "input",
                                    [TUTTI_PACKED_OUTPUT] = "output",
                                    [TUTTI_PACKED_PARAMETER] = "parameter",
                                    [TUTTI_PACKED_TUNABLE] = "tunable",
                                    [TUTTI_PACKED_INDICATOR] = "indicator"};

enum { ROLES = sizeof roles / sizeof *roles };

const char *tutti_packed_role_name(enum tutti_packed_role role)
{
    return roles[role];
}

static bool find_role(const char *name, enum tutti_packed_role *role)
{
    for (unsigned i = 0; i < ROLES; i++)
        if (name && strcmp(roles[i], name) == 0) {
            *role = (enum tutti_packed_role)i;
            return true;
        }
    return false;
}

static bool find_type(const char *name, enum tutti_type *type)
{
    for (unsigned i = 0; i < TUTTI_TYPE_COUNT; i++)
        if (name && strcmp(tutti_type_name((enum tutti_type)i), name) == 0) {
            *type = (enum tutti_type)i;
            return true;
        }
    return false;
}

static const char *copy(struct tutti_packed_table *table, const json_t *text)
{
    return json_is_string(text) ? tutti_arena_text(&table->arena, json_string_value(text), json_string_length(text))
                                : NULL;
}

/* An extent of 0 is one; the product is bounded, so that it fits. */
static bool read_dimensions(const json_t *json, struct tutti_packed_row *row)
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

static bool read_size(const json_t *json, size_t *size)
{
    *size = json_is_integer(json) && json_integer_value(json) >= 0 ? (size_t)json_integer_value(json) : 0;
    return !json || (json_is_integer(json) && json_integer_value(json) >= 0);
}

static bool read_row(struct tutti_packed_table *table, const json_t *json, struct tutti_packed_row *row)
{
    const json_t *target = json_object_get(json, "target");
    row->name = copy(table, json_object_get(json, "name"));
    row->target = copy(table, target);
    row->moves = json_is_true(json_object_get(json, "moves"));
    return row->name && (row->target || !target) && read_dimensions(json_object_get(json, "dimensions"), row) &&
           find_role(json_string_value(json_object_get(json, "role")), &row->role) &&
           find_type(json_string_value(json_object_get(json, "type")), &row->type);
}

static bool read_all(struct tutti_packed_table *table, const json_t *root)
{
    const json_t *rows = json_object_get(root, "variables"), *row;
    size_t i;
    table->token = (char *)copy(table, json_object_get(root, "token"));
    table->rows = tutti_arena_array(&table->arena, json_array_size(rows), sizeof *table->rows);
    table->exchange = json_object_get(root, "states") != NULL;
    bool good = table->token && table->rows && json_is_array(rows) &&
                read_size(json_object_get(root, "states"), &table->states) &&
                read_size(json_object_get(root, "indicators"), &table->indicators);
    json_array_foreach(rows, i, row) good = good && read_row(table, row, &table->rows[table->count++]);
    return good;
}

enum tutti_err tutti_packed_table_read(struct tutti_packed_table *table, const char *path)
{
    json_error_t error;
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        return tutti_fail(TUTTI_ERR_FORMAT, "%s:%d: %s; was the FMU unpacked whole?", path, error.line, error.text);
    bool good = read_all(table, root);
    json_decref(root);
    return good ? TUTTI_OK
                : tutti_fail(TUTTI_ERR_FORMAT, "%s is not the table of a packed system; pack it again", path);
}

void tutti_packed_table_fini(struct tutti_packed_table *table)
{
    tutti_arena_fini(&table->arena);
    *table = (struct tutti_packed_table){0};
}

static void write_bytes(struct tutti_text *text, const struct tutti_bytes *bytes)
{
    for (size_t i = 0; i < bytes->size; i++)
        tutti_text_printf(text, "%02x", ((const unsigned char *)bytes->data)[i]);
}

void tutti_packed_write_value(struct tutti_text *text, enum tutti_type type, const void *value)
{
    char digits[64];
    size_t length = 0;
    switch (type) {
    case TUTTI_TYPE_FLOAT64: length = tutti_number_write_double(digits, *(const double *)value); break;
    case TUTTI_TYPE_FLOAT32: length = tutti_number_write_float(digits, *(const float *)value); break;
    case TUTTI_TYPE_INT8: length = tutti_number_write_int(digits, *(const int8_t *)value); break;
    case TUTTI_TYPE_UINT8: length = tutti_number_write_uint(digits, *(const uint8_t *)value); break;
    case TUTTI_TYPE_INT16: length = tutti_number_write_int(digits, *(const int16_t *)value); break;
    case TUTTI_TYPE_UINT16: length = tutti_number_write_uint(digits, *(const uint16_t *)value); break;
    case TUTTI_TYPE_INT32: length = tutti_number_write_int(digits, *(const int32_t *)value); break;
    case TUTTI_TYPE_UINT32: length = tutti_number_write_uint(digits, *(const uint32_t *)value); break;
    case TUTTI_TYPE_ENUMERATION:
    case TUTTI_TYPE_INT64: length = tutti_number_write_int(digits, *(const int64_t *)value); break;
    case TUTTI_TYPE_UINT64: length = tutti_number_write_uint(digits, *(const uint64_t *)value); break;
    case TUTTI_TYPE_BOOLEAN: tutti_text_append(text, *(const bool *)value ? "true" : "false"); return;
    case TUTTI_TYPE_STRING: tutti_text_append(text, *(const char *const *)value); return;
    case TUTTI_TYPE_BINARY: write_bytes(text, value); return;
    case TUTTI_TYPE_CLOCK: return; /* tutti pack exposes none */
    }
    tutti_text_append_n(text, digits, length);
}

union tutti_packed_value tutti_packed_before(const struct tutti_conversion *conversion, union tutti_packed_value value)
{
    union tutti_packed_value before = {0};
    if (conversion->from == TUTTI_TYPE_FLOAT64 && conversion->to == TUTTI_TYPE_FLOAT64 && conversion->factor != 0)
        before.number = (value.number - conversion->offset) / conversion->factor;
    return before;
}
