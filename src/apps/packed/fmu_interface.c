/* SPDX-License-Identifier: MIT */
#include "apps/packed/fmu_interface.h"

#include <stdlib.h>

#include "apps/packed/packed_directional.h"

static void fmu_interface_log(const struct tt_fmu_interface *outside, enum tt_fmu_interface_status status,
                              const char *category, const char *text)
{
    if (outside->logging || status >= TUTTI_OUTSIDE_WARNING)
        outside->tell(outside, status, category, text);
}

static void fmu_interface_write_log(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    static const char *const categories[] = {[TUTTI_OUTSIDE_OK] = "logAll",
                                             [TUTTI_OUTSIDE_WARNING] = "logStatusWarning",
                                             [TUTTI_OUTSIDE_DISCARD] = "logStatusDiscard",
                                             [TUTTI_OUTSIDE_ERROR] = "logStatusError"};
    enum tt_fmu_interface_status status = level == TUTTI_LOG_ERROR     ? TUTTI_OUTSIDE_ERROR
                                          : level == TUTTI_LOG_WARNING ? TUTTI_OUTSIDE_WARNING
                                                                       : TUTTI_OUTSIDE_OK;
    struct tt_text whole = {0};
    tt_text_printf(&whole, "%s%s%s", origin ? origin : "", origin ? ": " : "", text);
    fmu_interface_log(context, status, categories[status], whole.failed ? text : whole.text);
    tt_text_fini(&whole);
}

enum tutti_err tt_fmu_interface_open(struct tt_fmu_interface *outside, const char *name, const char *token,
                                     const char *resources, bool exchange)
{
    const struct tutti_log log = {.level = TUTTI_LOG_WARNING, .write = fmu_interface_write_log, .context = outside};
    outside->name = tt_text_copy(name ? name : "");
    if (!outside->name)
        return tt_fail_memory();
    if (!resources)
        return tt_fail(TUTTI_ERR_ARGUMENT, "%s: the importer names no folder of resources", outside->name);
    TRY(tt_packed_new(&outside->packed, outside->name, token, resources, &log));
    outside->packed->exchange = exchange;
    return !exchange || outside->packed->table.exchange
               ? TUTTI_OK
               : tt_fail(TUTTI_ERR_UNSUPPORTED, "%s: this FMU is for Co-Simulation only", outside->name);
}

void tt_fmu_interface_close(struct tt_fmu_interface *outside)
{
    tt_packed_directional_invalidate(outside->packed);
    tt_packed_free(outside->packed);
    free(outside->name);
}

enum tutti_err tt_fmu_interface_check_exchange(const struct tt_fmu_interface *outside, const char *call)
{
    if (!outside->packed->exchange)
        return tt_fail(TUTTI_ERR_STATE, "%s: %s is for Model Exchange, and the instance is one for Co-Simulation",
                       outside->name, call);
    return outside->packed->equations
               ? TUTTI_OK
               : tt_fail(TUTTI_ERR_STATE, "%s: %s comes before the end of the initialisation", outside->name, call);
}

static enum tutti_err fmu_interface_check_mode(const struct tt_fmu_interface *outside, const char *call,
                                               bool event_mode)
{
    TRY(tt_fmu_interface_check_exchange(outside, call));
    TRY(tt_packed_check(outside->packed, TUTTI_PACKED_IN(TUTTI_PACKED_RUNNING), call));
    return outside->packed->in_event_mode == event_mode
               ? TUTTI_OK
               : tt_fail(TUTTI_ERR_STATE, "%s: %s is not allowed %s event mode", outside->name, call,
                         event_mode ? "outside of" : "in");
}

enum tutti_err tt_fmu_interface_enter_event(struct tt_fmu_interface *outside, const char *call)
{
    TRY(fmu_interface_check_mode(outside, call, false));
    TRY(tt_packed_equations_enter_event(outside->packed));
    outside->packed->in_event_mode = true;
    return TUTTI_OK;
}

enum tutti_err tt_fmu_interface_update(struct tt_fmu_interface *outside, const char *call,
                                       struct tt_equations_update *update)
{
    TRY(fmu_interface_check_mode(outside, call, true));
    return tt_packed_equations_update(outside->packed, update);
}

enum tutti_err tt_fmu_interface_leave_event(struct tt_fmu_interface *outside, const char *call)
{
    TRY(fmu_interface_check_mode(outside, call, true));
    outside->packed->in_event_mode = false;
    return TUTTI_OK;
}

enum tt_fmu_interface_status tt_fmu_interface_end_call(const struct tt_fmu_interface *outside, enum tutti_err err)
{
    if (!err)
        return TUTTI_OUTSIDE_OK;
    if (err == TUTTI_ERR_DISCARD) {
        fmu_interface_log(outside, TUTTI_OUTSIDE_DISCARD, "logStatusDiscard", tutti_err_message());
        return TUTTI_OUTSIDE_DISCARD;
    }
    fmu_interface_log(outside, TUTTI_OUTSIDE_ERROR, "logStatusError", tutti_err_message());
    return TUTTI_OUTSIDE_ERROR;
}

enum tt_fmu_interface_status tt_fmu_interface_reject(const struct tt_fmu_interface *outside, const char *function)
{
    return tt_fmu_interface_end_call(outside,
                                     tt_fail(TUTTI_ERR_UNSUPPORTED, "%s: a packed system does not offer it", function));
}
