/* SPDX-License-Identifier: MIT */
#include "unit/me_axis.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "base/vector.h"

enum tutti_err tt_me_model_axis_init(struct tt_me_axis *axis, size_t count)
{
    axis->references = calloc(count + 1, sizeof *axis->references);
    axis->indices = calloc(count + 1, sizeof *axis->indices);
    axis->starts = calloc(count + 1, sizeof *axis->starts);
    return axis->references && axis->indices && axis->starts ? TUTTI_OK : tt_fail_memory();
}

void tt_me_model_axis_fini(struct tt_me_axis *axis)
{
    free(axis->references);
    free(axis->indices);
    free(axis->starts);
    *axis = (struct tt_me_axis){0};
}

void tt_me_model_axis_add(struct tt_me_axis *axis, uint32_t reference, uint32_t index, size_t extent)
{
    axis->references[axis->count] = reference;
    axis->indices[axis->count++] = index;
    axis->size += extent;
    axis->starts[axis->count] = axis->size;
}

static bool axis_has_variable(const struct tt_var *var, enum tt_causality causality)
{
    return var->causality == causality && var->type == TUTTI_TYPE_FLOAT64 && var->variability == TUTTI_CONTINUOUS;
}

enum tutti_err tt_me_model_axis_collect(struct tt_me_axis *axis, const struct tt_unit *unit,
                                        enum tt_causality causality)
{
    const struct tt_description *desc = unit->fmu->desc;
    size_t count = 0;
    for (uint32_t i = 0; i < desc->var_count; i++)
        count += axis_has_variable(&desc->vars[i], causality);
    TRY(tt_me_model_axis_init(axis, count));
    for (uint32_t i = 0; i < desc->var_count; i++)
        if (axis_has_variable(&desc->vars[i], causality)) {
            size_t extent;
            TRY(tt_unit_extent(unit, i, &extent));
            tt_me_model_axis_add(axis, desc->vars[i].reference, i, extent);
        }
    return TUTTI_OK;
}

void tt_me_model_axis_name(const struct tt_me_axis *axis, const struct tt_unit *unit, size_t i, const char *word,
                           char *out, size_t size)
{
    size_t k = 0;
    while (k + 1 < axis->count && axis->starts[k + 1] <= i)
        k++;
    if (k >= axis->count || axis->indices[k] == TUTTI_NONE) {
        snprintf(out, size, "%s %zu", word, i + 1);
        return;
    }
    const struct tt_var *var = &unit->fmu->desc->vars[axis->indices[k]];
    int length = snprintf(out, size, "%s", var->name);
    size_t at = i - axis->starts[k], below = axis->starts[k + 1] - axis->starts[k];
    for (unsigned d = 0; d < var->dimension_count && length >= 0 && (size_t)length < size; d++) {
        below /= (size_t)tt_unit_dimension(unit, &var->dimensions[d]); /* scalars per step of this index */
        length += snprintf(out + length, size - (size_t)length, "%s%zu%s", d ? "," : "[", at / below + 1,
                           d + 1u == var->dimension_count ? "]" : "");
        at %= below;
    }
}

enum tutti_err tt_me_model_axis_names(const struct tt_me_axis *axis, const struct tt_unit *unit, size_t count,
                                      const char *word, char ***out)
{
    size_t room = 0;
    for (size_t k = 0; k < axis->count; k++)
        if (axis->indices[k] != TUTTI_NONE) {
            const struct tt_var *var = &unit->fmu->desc->vars[axis->indices[k]];
            size_t length = strlen(var->name) + (size_t)var->dimension_count * TUTTI_NUMBER_MAX;
            room = length > room ? length : room;
        }
    room += strlen(word) + TUTTI_NUMBER_MAX;
    *out = calloc(count + 1, sizeof **out);
    char *text = malloc(room);
    bool enough = *out && text;
    for (size_t i = 0; i < count && enough; i++) {
        tt_me_model_axis_name(axis, unit, i, word, text, room);
        (*out)[i] = tt_text_copy(text);
        enough = (*out)[i] != NULL;
    }
    free(text);
    return enough ? TUTTI_OK : tt_fail_memory();
}

void tt_me_model_axis_free_names(char **names, size_t count)
{
    for (size_t i = 0; names && i < count; i++)
        free(names[i]);
    free(names);
}

void tt_me_model_axis_negate(const struct tt_me_axis *axis, const struct tt_unit *unit, double *values)
{
    for (size_t k = 0; k < axis->count; k++)
        if (unit->fmu->desc->vars[axis->indices[k]].negated)
            values[k] = -values[k];
}

double *tt_me_model_axis_nominals(const struct tt_me_axis *axis, const struct tt_unit *unit)
{
    double *nominals = calloc(axis->size + 1, sizeof *nominals);
    for (size_t k = 0; nominals && k < axis->count; k++) {
        const struct tt_bounds *bounds = unit->fmu->desc->vars[axis->indices[k]].bounds;
        double nominal = bounds && bounds->has_nominal ? fabs(bounds->nominal) : 1;
        for (size_t i = axis->starts[k]; i < axis->starts[k + 1]; i++)
            nominals[i] = nominal > 0 && isfinite(nominal) ? nominal : 1;
    }
    return nominals;
}

struct pattern_places {
    struct tt_pattern_place *items;
    size_t count, room;
};

/* All scalars of a row variable by all of a column variable. */
static enum tutti_err axis_add_block(struct pattern_places *places, const struct tt_me_axis *rows, size_t row,
                                     const struct tt_me_axis *columns, size_t column)
{
    size_t height = rows->starts[row + 1] - rows->starts[row];
    size_t width = columns->starts[column + 1] - columns->starts[column], more = height * width;
    if (!tt_vector_reserve(&places->items, &places->room, places->count + more, sizeof *places->items))
        return tt_fail_memory();
    for (size_t r = rows->starts[row]; r < rows->starts[row + 1]; r++)
        for (size_t c = columns->starts[column]; c < columns->starts[column + 1]; c++)
            places->items[places->count++] = (struct tt_pattern_place){(int32_t)r, (int32_t)c};
    return TUTTI_OK;
}

static int compare_pattern_places(const void *a, const void *b)
{
    const uint32_t *left = a, *right = b;
    return left[0] < right[0] ? -1 : left[0] > right[0];
}

/* Per variable of the description: its place among the variables of the axis, itself or as an alias (the same
 * reference); TUTTI_NONE for all others. NULL: no memory. */
static uint32_t *axis_map_variables(const struct tt_description *desc, const struct tt_me_axis *axis)
{
    uint32_t *place_of = malloc((desc->var_count + 1) * sizeof *place_of);
    uint32_t(*sorted)[2] = malloc((axis->count + 1) * sizeof *sorted);
    if (!place_of || !sorted) {
        free(place_of);
        free(sorted);
        return NULL;
    }
    for (size_t k = 0; k < axis->count; k++) {
        sorted[k][0] = axis->references[k];
        sorted[k][1] = (uint32_t)k;
    }
    qsort(sorted, axis->count, sizeof *sorted, compare_pattern_places);
    for (uint32_t i = 0; i < desc->var_count; i++) {
        uint32_t key[2] = {desc->vars[i].reference, 0};
        const uint32_t *found = NULL;
        if (desc->vars[i].type == TUTTI_TYPE_FLOAT64)
            found = bsearch(key, sorted, axis->count, sizeof *sorted, compare_pattern_places);
        place_of[i] = found ? found[1] : TUTTI_NONE;
    }
    free(sorted);
    return place_of;
}

static enum tutti_err axis_add_row(struct pattern_places *places, const struct tt_me_axis *rows, size_t row,
                                   const struct tt_unknown *unknown, const struct tt_me_axis *columns,
                                   const uint32_t *place_of)
{
    if (!unknown || !unknown->has_dependencies) {
        for (size_t column = 0; column < columns->count; column++)
            TRY(axis_add_block(places, rows, row, columns, column));
        return TUTTI_OK;
    }
    for (uint32_t d = 0; d < unknown->dependency_count; d++)
        if (place_of[unknown->dependencies[d]] != TUTTI_NONE)
            TRY(axis_add_block(places, rows, row, columns, place_of[unknown->dependencies[d]]));
    return TUTTI_OK;
}

enum tutti_err tt_me_model_axis_pattern(const struct tt_unit *unit, const struct tt_me_axis *rows,
                                        const struct tt_unknown *const *unknowns, const struct tt_me_axis *columns,
                                        struct tt_pattern *pattern)
{
    uint32_t *place_of = axis_map_variables(unit->fmu->desc, columns);
    struct pattern_places places = {0};
    enum tutti_err err = place_of ? TUTTI_OK : tt_fail_memory();
    for (size_t row = 0; row < rows->count && !err; row++)
        err = axis_add_row(&places, rows, row, unknowns[row], columns, place_of);
    if (!err)
        err = tt_pattern_init(pattern, (int32_t)rows->size, (int32_t)columns->size, places.items, places.count);
    free(places.items);
    free(place_of);
    return err;
}

enum tutti_err tt_me_model_axis_outputs_pattern(const struct tt_unit *unit, const struct tt_me_axis *rows,
                                                const struct tt_me_axis *columns, struct tt_pattern *pattern,
                                                bool *known)
{
    const struct tt_unknowns *outputs = &unit->fmu->desc->outputs;
    const struct tt_unknown **unknowns = calloc(rows->count + 1, sizeof *unknowns);
    if (!unknowns)
        return tt_fail_memory();
    for (size_t row = 0; row < rows->count; row++)
        for (uint32_t i = 0; i < outputs->count; i++)
            if (outputs->items[i].variable == rows->indices[row]) {
                unknowns[row] = &outputs->items[i];
                *known = *known || outputs->items[i].has_dependencies;
            }
    enum tutti_err err = tt_me_model_axis_pattern(unit, rows, unknowns, columns, pattern);
    free(unknowns);
    return err;
}
