/* SPDX-License-Identifier: MIT */
#include "costs.h"

#include <jansson.h>
#include <stdio.h>

#include "base/number.h"
#include "base/text.h"
#include "console.h"

static enum tutti_err add_cost(struct tutti_run_options *options, const char *name, double seconds)
{
    struct tt_text text = {0};
    tt_text_printf(&text, "%s=%s", name, NUMBER(seconds));
    enum tutti_err err = text.failed ? TUTTI_ERR_MEMORY : tutti_options_set(options, "cost", text.text);
    tt_text_fini(&text);
    return err;
}

static bool fail(const char *path, const char *why)
{
    struct tt_text text = {0};
    tt_text_printf(&text, "--costs: '%s' %s", path, why);
    console_error(text.text ? text.text : "--costs: out of memory");
    tt_text_fini(&text);
    return false;
}

/* Jansson names the file only where it cannot open it. */
static bool fail_to_load(const char *path, const json_error_t *error)
{
    struct tt_text text = {0};
    if (error->line > 0)
        tt_text_printf(&text, "is no JSON: line %d: %s", error->line, error->text);
    else
        tt_text_printf(&text, "cannot be read: %s", error->text);
    fail(path, text.text ? text.text : "cannot be read");
    tt_text_fini(&text);
    return false;
}

static bool read_units(const char *path, json_t *units, struct tutti_run_options *options)
{
    size_t i;
    json_t *unit;
    json_array_foreach(units, i, unit)
    {
        const char *name = json_string_value(json_object_get(unit, "name"));
        json_t *seconds = json_object_get(unit, "seconds");
        if (!name || !json_is_number(seconds))
            return fail(path, "is not what --stats writes: a unit has no name, or no seconds");
        if (add_cost(options, name, json_number_value(seconds)) != TUTTI_OK)
            return fail(path, "cannot be read: out of memory");
    }
    return true;
}

bool costs_read(const char *path, struct tutti_run_options *options)
{
    json_error_t error;
    json_t *stats = json_load_file(path, 0, &error);
    if (!stats)
        return fail_to_load(path, &error);
    json_t *units = json_object_get(stats, "units");
    bool done = json_array_size(units) > 0 ? read_units(path, units, options)
                                           : fail(path, "is not what --stats writes: it has no units");
    json_decref(stats);
    return done;
}
