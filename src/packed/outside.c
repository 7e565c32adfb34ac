/* SPDX-License-Identifier: MIT */
#include "packed/outside.h"

#include <stdlib.h>

#include "packed/directional.h"

static void say(const struct tutti_outside *outside, enum tutti_outside_status status, const char *category,
                const char *text)
{
    if (outside->logging || status >= TUTTI_OUTSIDE_WARNING)
        outside->tell(outside, status, category, text);
}

static void write_log(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    static const char *const categories[] = {[TUTTI_OUTSIDE_OK] = "logAll",
                                             [TUTTI_OUTSIDE_WARNING] = "logStatusWarning",
                                             [TUTTI_OUTSIDE_DISCARD] = "logStatusDiscard",
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
                                  const char *resources, bool exchange)
{
    const struct tutti_log log = {.level = TUTTI_LOG_WARNING, .write = write_log, .context = outside};
    outside->name = tutti_str_copy(name ? name : "");
    if (!outside->name)
        return tutti_fail_memory();
    if (!resources)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "%s: the importer names no folder of resources", outside->name);
    TRY(tutti_packed_make(&outside->packed, outside->name, token, resources, &log));
    outside->packed->exchange = exchange;
    return !exchange || outside->packed->table.exchange
               ? TUTTI_OK
               : tutti_fail(TUTTI_ERR_UNSUPPORTED, "%s: this FMU is for Co-Simulation only", outside->name);
}

void tutti_outside_close(struct tutti_outside *outside)
{
    tutti_directional_forget(outside->packed);
    tutti_packed_free(outside->packed);
    free(outside->name);
}

enum tutti_err tutti_outside_check_exchange(const struct tutti_outside *outside, const char *call)
{
    if (!outside->packed->exchange)
        return tutti_fail(TUTTI_ERR_STATE, "%s: %s is for Model Exchange, and the instance is one for Co-Simulation",
                          outside->name, call);
    return outside->packed->equations
               ? TUTTI_OK
               : tutti_fail(TUTTI_ERR_STATE, "%s: %s comes before the end of the initialisation", outside->name, call);
}

static enum tutti_err check_mode(const struct tutti_outside *outside, const char *call, bool event_mode)
{
    TRY(tutti_outside_check_exchange(outside, call));
    TRY(tutti_packed_check(outside->packed, TUTTI_PACKED_IN(TUTTI_PACKED_RUNNING), call));
    return outside->packed->in_event_mode == event_mode
               ? TUTTI_OK
               : tutti_fail(TUTTI_ERR_STATE, "%s: %s is not allowed %s event mode", outside->name, call,
                            event_mode ? "outside of" : "in");
}

enum tutti_err tutti_outside_enter_event(struct tutti_outside *outside, const char *call)
{
    TRY(check_mode(outside, call, false));
    TRY(tutti_equations_enter_event(outside->packed));
    outside->packed->in_event_mode = true;
    return TUTTI_OK;
}

enum tutti_err tutti_outside_update(struct tutti_outside *outside, const char *call,
                                    struct tutti_equations_update *update)
{
    TRY(check_mode(outside, call, true));
    return tutti_equations_update(outside->packed, update);
}

enum tutti_err tutti_outside_leave_event(struct tutti_outside *outside, const char *call)
{
    TRY(check_mode(outside, call, true));
    outside->packed->in_event_mode = false;
    return TUTTI_OK;
}

enum tutti_outside_status tutti_outside_conclude(const struct tutti_outside *outside, enum tutti_err err)
{
    if (!err)
        return TUTTI_OUTSIDE_OK;
    if (err == TUTTI_ERR_DISCARD) {
        say(outside, TUTTI_OUTSIDE_DISCARD, "logStatusDiscard", tutti_err_message());
        return TUTTI_OUTSIDE_DISCARD;
    }
    say(outside, TUTTI_OUTSIDE_ERROR, "logStatusError", tutti_err_message());
    return TUTTI_OUTSIDE_ERROR;
}

enum tutti_outside_status tutti_outside_refuse(const struct tutti_outside *outside, const char *function)
{
    return tutti_outside_conclude(outside,
                                  tutti_fail(TUTTI_ERR_UNSUPPORTED, "%s: a packed system does not offer it", function));
}
