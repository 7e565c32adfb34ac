/* SPDX-License-Identifier: MIT */
#include "costs.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/number.h"
#include "base/str.h"
#include "console.h"

/* "UNIT=SECONDS", or NULL without memory. */
static char *cost_text(const char *name, double seconds)
{
    struct tutti_text text = {0};
    tutti_text_printf(&text, "%s=%s", name, NUMBER(seconds));
    if (text.failed) {
        tutti_text_fini(&text);
        return NULL;
    }
    return text.text;
}

static bool fail(const char *path, const char *why)
{
    struct tutti_text text = {0};
    tutti_text_printf(&text, "--costs: '%s' %s", path, why);
    console_error(text.text ? text.text : "--costs: out of memory");
    tutti_text_fini(&text);
    return false;
}

/* Jansson names the file only where it cannot open it. */
static bool fail_to_load(const char *path, const json_error_t *error)
{
    struct tutti_text text = {0};
    if (error->line > 0)
        tutti_text_printf(&text, "is no JSON: line %d: %s", error->line, error->text);
    else
        tutti_text_printf(&text, "cannot be read: %s", error->text);
    fail(path, text.text ? text.text : "cannot be read");
    tutti_text_fini(&text);
    return false;
}

static bool read_units(const char *path, json_t *units, char **costs, size_t *count)
{
    size_t i;
    json_t *unit;
    json_array_foreach(units, i, unit)
    {
        const char *name = json_string_value(json_object_get(unit, "name"));
        json_t *seconds = json_object_get(unit, "seconds");
        if (!name || !json_is_number(seconds))
            return fail(path, "is not what --stats writes: a unit has no name, or no seconds");
        costs[*count] = cost_text(name, json_number_value(seconds));
        if (!costs[(*count)++])
            return fail(path, "cannot be read: out of memory");
    }
    return true;
}

bool costs_read(const char *path, char ***costs, size_t *count)
{
    json_error_t error;
    *costs = NULL;
    *count = 0;
    json_t *stats = json_load_file(path, 0, &error);
    if (!stats)
        return fail_to_load(path, &error);
    json_t *units = json_object_get(stats, "units");
    bool done = json_array_size(units) > 0 || fail(path, "is not what --stats writes: it has no units");
    if (done) {
        *costs = calloc(json_array_size(units), sizeof **costs);
        done = *costs ? read_units(path, units, *costs, count) : fail(path, "cannot be read: out of memory");
    }
    json_decref(stats);
    return done;
}

void costs_free(char **costs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(costs[i]);
    free(costs);
}
