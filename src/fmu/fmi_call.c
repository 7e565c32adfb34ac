/* SPDX-License-Identifier: MIT */
/* Handles calls into FMUs that do not simply succeed, and their messages. */
#include "fmu/fmi_call.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/number.h"
#include "base/text.h"
#include "fmu/process/forked.h"

_Thread_local struct tt_instance *tt_fmi_call_current __attribute__((tls_model("initial-exec")));

_Thread_local volatile bool tt_fmi_call_takes_message __attribute__((tls_model("initial-exec")));

_Thread_local bool tt_fmi_call_ignores_fatal;

struct tt_instance *tt_fmi_call_current_instance(void)
{
    return tt_fmi_call_current;
}

/* The FMI function of the last call, or NULL. */
const char *tt_fmi_call_function_name(const struct tt_instance *in)
{
    return in->binding->call_names[in->library->kind][in->call];
}

/* Writes the name of the call with the type of its values ("fmi3GetFloat64"). */
static void call_name(const struct tt_instance *in, char *out, size_t size)
{
    const char *name = tt_fmi_call_function_name(in);
    const char *word = in->binding->type_word(in->call_type);
    if (in->call == TUTTI_CALL_SET || in->call == TUTTI_CALL_GET)
        snprintf(out, size, "%s%s", name, word ? word : "");
    else
        snprintf(out, size, "%s", name ? name : tt_fmi_state_call_name(in->call));
}

/* " at t = 0.5", or nothing before the initialisation, when the time is undefined. */
struct call_moment {
    char text[TUTTI_NUMBER_MAX + 16];
};

static struct call_moment fmi_call_moment(const struct tt_instance *in)
{
    struct call_moment when = {""};
    if (!isnan(in->time))
        snprintf(when.text, sizeof when.text, " at t = %s", TIME(in->time));
    return when;
}

/* Sets the parts of the message for programs. */
static enum tutti_err fmi_call_set_error_info(const struct tt_instance *in, enum tutti_err err)
{
    return tt_fail_about(err, in->options.name, NULL, in->time);
}

enum tutti_err tt_fmi_call_fail_forbidden(const struct tt_instance *in, enum tt_fmi_call call)
{
    if (in->library->fatal)
        tt_fail(TUTTI_ERR_STATE, "%s: nothing is called any more: an instance of %s returned Fatal", in->options.name,
                in->library->file);
    else
        tt_fail(TUTTI_ERR_STATE,
                "%s: FMI %s does not allow to %s in the state \"%s\"%s; this is a fault in the program that "
                "drives the FMU",
                in->options.name, in->binding->version, tt_fmi_state_call_name(call),
                tt_fmi_state_name(in->library->kind, in->state), fmi_call_moment(in).text);
    return fmi_call_set_error_info(in, TUTTI_ERR_STATE);
}

/* Appends the FMU's last messages to an error message. */
static void append_messages(struct tt_instance *in, struct tt_text *text)
{
    struct tt_messages *messages = &in->messages;
    pthread_mutex_lock(&messages->lock);
    unsigned long first = messages->count > TUTTI_MESSAGES_KEPT ? messages->count - TUTTI_MESSAGES_KEPT : 0;
    tt_text_append(text, messages->count ? ". The FMU's last messages: " : ". The FMU gave no message");
    for (unsigned long i = first; i < messages->count; i++)
        tt_text_printf(text, "%s\"%s\"", i > first ? ", " : "", messages->texts->kept[i % TUTTI_MESSAGES_KEPT]);
    pthread_mutex_unlock(&messages->lock);
}

bool tt_fmi_call_is_about_states(const struct tt_instance *in)
{
    return !in->forked &&
           (in->call == TUTTI_CALL_GET_STATE || in->call == TUTTI_CALL_SET_STATE || in->call == TUTTI_CALL_FREE_STATE);
}

/* Returns the option of the unit that avoids the failed call, or NULL. */
static const char *option_to_avoid(const struct tt_instance *in)
{
    switch (in->call) {
    case TUTTI_CALL_GET_DIRECTIONAL: return "--no-directional-derivatives";
    case TUTTI_CALL_ENTER_EVENT:
    case TUTTI_CALL_UPDATE_DISCRETE:
    case TUTTI_CALL_ENTER_STEP: return in->library->kind == TUTTI_CS ? "--no-event-mode" : NULL;
    default: return NULL;
    }
}

/* "fmi2GetReal returned Error at t = 1. The FMU's last messages: ..." */
static void fmi_call_describe(struct tt_instance *in, const char *what, struct tt_text *text)
{
    char name[64];
    call_name(in, name, sizeof name);
    tt_text_printf(text, "%s %s%s", name, what, fmi_call_moment(in).text);
    append_messages(in, text);
    if (option_to_avoid(in))
        tt_text_printf(text, ". A run can do without: %s=%s", option_to_avoid(in), in->options.name);
    else if (tt_fmi_call_is_about_states(in))
        tt_text_append(text, ". A run can do without: --rollback fork");
    in->deferred = 0; /* they are in the text */
}

enum tutti_err tt_fmi_call_fail(struct tt_instance *in, enum tutti_err err, const char *what)
{
    struct tt_text text = {0};
    char name[64];
    call_name(in, name, sizeof name);
    if (in->refused)
        tt_text_printf(&text, "%s. Another way was tried, but %s %s then: this FMU cannot go on after an Error",
                       in->refusal, name, what);
    else
        fmi_call_describe(in, what, &text);
    in->deferred = 0;
    tt_fail(err, "%s (%s): %s", in->options.name, in->library->file, text.text ? text.text : what);
    tt_text_fini(&text);
    return fmi_call_set_error_info(in, err);
}

void tt_fmi_call_set_refused(struct tt_instance *in, const char *what)
{
    struct tt_text text = {0};
    fmi_call_describe(in, what, &text);
    free(in->refusal);
    in->refusal = text.text;
    in->refused = in->refusal != NULL;
}

void tt_fmi_call_clear_refused(struct tt_instance *in)
{
    in->refused = false;
    tt_fmu_callbacks_log_deferred(in);
}

void tt_fmi_call_restore_modes(struct tt_instance *in, const struct tt_float_mode *modes)
{
    struct tt_float_mode now = tt_float_mode_get();
    tt_float_mode_set(modes);
    if (!in || in->modes_told)
        return;
    in->modes_told = true;
    char name[64];
    call_name(in, name, sizeof name);
    tt_log(in->options.log, TUTTI_LOG_WARNING, in->options.name,
           "%s changes a floating-point mode of the processor%s and leaves it so: %s. That is taken back after "
           "every call, so that no other unit computes with it",
           name, fmi_call_moment(in).text, tt_float_mode_difference(&now, modes));
}

static void warn_once(struct tt_instance *in)
{
    if (in->warnings++ > 0)
        return;
    char name[64];
    call_name(in, name, sizeof name);
    tt_log(in->options.log, TUTTI_LOG_WARNING, in->options.name,
           "%s returned Warning%s; going on (further warnings are counted, not shown)", name, fmi_call_moment(in).text);
}

void tt_fmi_call_mark_fatal(struct tt_instance *in)
{
    in->state = TUTTI_STATE_FATAL;
    in->library->fatal = true;
    tt_fmi_call_ignores_fatal = false;
}

static enum tutti_err fmi_call_fail_lost(struct tt_instance *in)
{
    struct tt_text said = {0};
    char name[64];
    call_name(in, name, sizeof name);
    append_messages(in, &said);
    tt_fail(TUTTI_ERR_LOST, "%s (%s): the process of the FMU, which was in %s%s, %s%s", in->options.name,
            in->library->file, name, fmi_call_moment(in).text, tt_forked_failure(in), said.text ? said.text : "");
    tt_text_fini(&said);
    in->deferred = 0;
    return fmi_call_set_error_info(in, TUTTI_ERR_LOST);
}

enum tutti_err tt_fmi_call_handle_status(struct tt_instance *in, enum tt_fmi_call call, enum tt_fmi_status status)
{
    switch (status) {
    case TUTTI_STATUS_OK:
    case TUTTI_STATUS_WARNING:
        warn_once(in);
        tt_fmu_callbacks_log_deferred(in);
        in->state = tt_fmi_state_after(in->library->kind, call, in->state, in->event_mode);
        return TUTTI_OK;
    case TUTTI_STATUS_DISCARD:
        /* Values may be there with other inputs; elsewhere it is an error like others. */
        return tt_fmi_call_fail(in, call == TUTTI_CALL_GET ? TUTTI_ERR_DISCARD : TUTTI_ERR_FMU,
                                "returned Discard: the FMU cannot compute these values");
    case TUTTI_STATUS_MEMORY: return tt_fail_memory();
    case TUTTI_STATUS_LOST: in->state = TUTTI_STATE_FATAL; return fmi_call_fail_lost(in);
    case TUTTI_STATUS_UNFIT:
        return tt_fail(TUTTI_ERR_UNSUPPORTED,
                       "%s (%s): the FMU cannot be taken back by forking its process%s (--rollback fork): %s",
                       in->options.name, in->library->file, fmi_call_moment(in).text, tt_forked_failure(in));
    case TUTTI_STATUS_PENDING:
        in->state = TUTTI_STATE_ERROR;
        return tt_fmi_call_fail(in, TUTTI_ERR_FMU, "returned Pending, which only a do-step may");
    case TUTTI_STATUS_FATAL: tt_fmi_call_mark_fatal(in); return tt_fmi_call_fail(in, TUTTI_ERR_FATAL, "returned Fatal");
    case TUTTI_STATUS_ERROR:
    default:
        in->state = TUTTI_STATE_ERROR;
        return tt_fmi_call_fail(in, TUTTI_ERR_FMU,
                                status == TUTTI_STATUS_ERROR ? "returned Error" : "returned an unknown status");
    }
}

enum tutti_err tt_fmi_call_fail_unsupported(const struct tt_instance *in, const char *what)
{
    tt_fail(TUTTI_ERR_UNSUPPORTED, "%s (%s): the FMU offers no %s", in->options.name, in->library->file, what);
    return fmi_call_set_error_info(in, TUTTI_ERR_UNSUPPORTED);
}
