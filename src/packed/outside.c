/* SPDX-License-Identifier: MIT */
#include "packed/outside.h"

#include <stdlib.h>

static void say(const struct tutti_outside *outside, enum tutti_outside_status status, const char *category,
                const char *text)
{
    if (outside->logging || status > TUTTI_OUTSIDE_WARNING)
        outside->tell(outside, status, category, text);
}

static void write_log(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    static const char *const categories[] = {[TUTTI_OUTSIDE_OK] = "logAll",
                                             [TUTTI_OUTSIDE_WARNING] = "logStatusWarning",
                                             [TUTTI_OUTSIDE_ERROR] = "logStatusError"};
    enum tutti_outside_status status = level == TUTTI_LOG_ERROR     ? TUTTI_OUTSIDE_ERROR
                                       : level == TUTTI_LOG_WARNING ? TUTTI_OUTSIDE_WARNING
                                                                    : TUTTI_OUTSIDE_OK;
    struct tutti_text whole = {0};
    tutti_text_printf(&whole, "%s%s%s", origin ? origin : "", origin ? ": " : "", text);
    say(context, status, categories[status], whole.failed ? text : whole.text);
    tutti_text_fini(&whole);
}

enum tutti_err tutti_outside_open(struct tutti_outside *outside, const char *name, const char *token,
                                  const char *resources)
{
    const struct tutti_log log = {.level = TUTTI_LOG_WARNING, .write = write_log, .context = outside};
    outside->name = tutti_str_copy(name ? name : "");
    if (!outside->name)
        return tutti_fail_memory();
    if (!resources)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "%s: the importer names no folder of resources", outside->name);
    return tutti_packed_make(&outside->packed, outside->name, token, resources, &log);
}

void tutti_outside_close(struct tutti_outside *outside)
{
    tutti_packed_free(outside->packed);
    free(outside->name);
}

enum tutti_outside_status tutti_outside_conclude(const struct tutti_outside *outside, enum tutti_err err)
{
    if (!err)
        return TUTTI_OUTSIDE_OK;
    say(outside, TUTTI_OUTSIDE_ERROR, "logStatusError", tutti_err_message());
    return TUTTI_OUTSIDE_ERROR;
}

enum tutti_outside_status tutti_outside_refuse(const struct tutti_outside *outside, const char *function)
{
    return tutti_outside_conclude(outside,
                                  tutti_fail(TUTTI_ERR_UNSUPPORTED, "%s: a packed system does not offer it", function));
}
