/* SPDX-License-Identifier: MIT */
/* evaluate.c - computing at a point of time: the model's functions, events, derivatives of inputs and outputs. */
#include "core.h"
#include "fault.h"

#include <math.h>
#include <string.h>

/* Logs which function of the model failed; the model should have logged the reason. */
static enum kit_status checked(struct kit *k, enum kit_status status, const char *function)
{
    if (status > KIT_DISCARD)
        return kit_fail(k, status, "%s() of the model failed at t = %.17g", function, k->time);
    if (status == KIT_DISCARD)
        kit_log(k, status, "%s() of the model cannot compute the point at t = %.17g", function, k->time);
    return status;
}

enum kit_status kit_refresh(struct kit *k, unsigned needs)
{
    const struct kit_model *model = k->model;
    enum kit_status status = KIT_OK;
    if (k->mode == KIT_INSTANTIATED || k->mode == KIT_CONFIGURATION)
        return KIT_OK; /* start values are all there is */
    if (k->stale & KIT_STALE_START) {
        if (model->initialise &&
            (status = checked(k, model->initialise(k, k->self, k->time), "initialise")) > KIT_WARNING)
            return status;
        k->stale = KIT_STALE_POINT;
    }
    needs &= k->stale;
    if (needs & (KIT_STALE_DERIVATIVES | KIT_STALE_OUTPUTS) && k->stale & KIT_STALE_DERIVATIVES) {
        if (model->derivatives)
            status = kit_worse(status, checked(k, model->derivatives(k, k->self, k->time), "derivatives"));
        if (status > KIT_WARNING)
            return status;
        k->stale &= ~(unsigned)KIT_STALE_DERIVATIVES;
    }
    if (needs & KIT_STALE_OUTPUTS) {
        if (model->outputs)
            status = kit_worse(status, checked(k, model->outputs(k, k->self, k->time), "outputs"));
        if (status > KIT_WARNING)
            return status;
        k->stale &= ~(unsigned)KIT_STALE_OUTPUTS;
    }
    if (needs & KIT_STALE_INDICATORS) {
        if (model->indicators)
            status = kit_worse(status, checked(k, model->indicators(k, k->self, k->time), "indicators"));
        if (status > KIT_WARNING)
            return status;
        k->stale &= ~(unsigned)KIT_STALE_INDICATORS;
    }
    return status;
}

/* ---- events ---- */

void kit_enter_event_mode(struct kit *k)
{
    k->mode = KIT_IN_EVENT;
    k->update_needed = true;
    k->rounds = 0;
    k->last_event = k->time;
    kit_begin_ticks(k);
}

enum kit_status kit_event_once(struct kit *k, struct kit_event *event)
{
    *event = (struct kit_event){.next_time = k->next_event > k->time ? k->next_event : INFINITY};
    enum kit_status computed = kit_compute_partitions(k);
    if (computed > KIT_WARNING)
        return computed;
    kit_end_ticks(k);
    k->input_event = false;
    k->event_pending = false;
    k->rounds++;
    if (!k->model->event) {
        k->update_needed = false;
        k->stale |= KIT_STALE_POINT;
        return computed;
    }
    enum kit_status status = kit_worse(computed, checked(k, k->model->event(k, k->self, k->time, event), "event"));
    event->again = event->again || kit_output_clock_ticks(k); /* which the importer is to see */
    if (!(event->next_time > k->time))
        return kit_fail(k, KIT_ERROR, "event() at t = %.17g announced the next one at %.17g", k->time,
                        event->next_time);
    k->next_event = event->next_time;
    k->update_needed = event->again;
    k->terminated = k->terminated || event->terminate;
    k->stale |= KIT_STALE_POINT;
    return status;
}

enum kit_status kit_event_all(struct kit *k)
{
    enum { MANY = 1000 };
    enum kit_status status = KIT_OK;
    struct kit_event event = {.again = true};
    for (int i = 0; event.again && status <= KIT_WARNING; i++) {
        if (i == MANY)
            return kit_fail(k, KIT_ERROR, "event() asked %d times to be called again at t = %.17g", MANY, k->time);
        status = kit_worse(status, kit_event_once(k, &event));
    }
    if (k->model->event)
        kit_log_as(k, KIT_OK, KIT_LOG_EVENTS, "event at t = %.17g", k->time);
    return status;
}

/* The first event of Scheduled Execution: nothing has ticked. */
static bool settles_at_once(const struct kit *k)
{
    return k->interface == KIT_SE || (k->interface == KIT_CS && !k->event_mode);
}

enum kit_status kit_exit_initialisation(struct kit *k)
{
    enum kit_status status = kit_refresh(k, KIT_STALE_START);
    if (status > KIT_WARNING)
        return status;
    k->last_time = k->last_event = k->time;
    k->update_needed = true;
    k->rounds = 0;
    if (settles_at_once(k)) {
        status = kit_worse(status, kit_event_all(k));
        if (status <= KIT_WARNING)
            status = kit_worse(status, kit_note_indicators(k));
    }
    return status;
}

/* ---- derivatives of inputs and outputs with respect to time ---- */

enum kit_status kit_set_input_derivative(struct kit *k, unsigned vr, int order, double value)
{
    enum kit_status status = KIT_OK;
    const struct kit_slot *slot = kit_slot_to_set(k, "SetRealInputDerivatives", KIT_TYPE(KIT_FLOAT64), vr, &status);
    if (!slot)
        return status;
    if (order < 1 || order > KIT_MAX_INPUT_ORDER)
        return kit_fail(k, KIT_ERROR, "SetRealInputDerivatives: order %d is not in 1 ... %d", order,
                        KIT_MAX_INPUT_ORDER);
    if (KIT_FAULT_HABIT(k, "ignore", "SetRealInputDerivatives"))
        return KIT_OK;
    for (size_t i = 0; i < k->polynomial_count; i++) {
        struct kit_polynomial *p = &k->polynomials[i];
        if (p->field != slot->data)
            continue;
        if (!p->fresh)
            memset(p->derivative, 0, sizeof p->derivative);
        p->fresh = true;
        p->start = k->time;
        p->derivative[order] = value;
        k->polynomials_active = true;
        kit_slot_written(k, slot);
        return KIT_OK;
    }
    return kit_fail(k, KIT_ERROR, "SetRealInputDerivatives: variable with value reference %u is no continuous input",
                    vr);
}

double kit_input_derivative(const struct kit *kit, const double *input, unsigned order)
{
    for (size_t i = 0; i < kit->polynomial_count && order <= KIT_MAX_INPUT_ORDER; i++) {
        const struct kit_polynomial *p = &kit->polynomials[i];
        if (p->field != input)
            continue;
        double dt = kit->time - p->start, value = 0;
        for (unsigned j = KIT_MAX_INPUT_ORDER; j > order; j--)
            value = (value + p->derivative[j]) * dt / (j - order);
        return value + p->derivative[order];
    }
    return 0;
}

/* The derivative of the unknown with respect to a known, both given by their fields. */
static enum kit_status partial(struct kit *k, bool is_state, const double *unknown, const double *known, double *value)
{
    *value = is_state && unknown == known;
    if (is_state)
        return KIT_OK;
    return checked(k, k->model->partial(k, k->self, k->time, unknown, known, value), "partial");
}

/* dy/dt by the chain rule. */
static enum kit_status total_derivative(struct kit *k, const double *output, double *value)
{
    double part = 0;
    enum kit_status status = partial(k, false, output, NULL, value);
    for (size_t i = 0; i < k->nx && status <= KIT_WARNING; i++) {
        status = partial(k, false, output, k->x[i], &part);
        *value += part * *k->dx[i];
    }
    for (size_t i = 0; i < k->polynomial_count && status <= KIT_WARNING; i++) {
        status = partial(k, false, output, k->polynomials[i].field, &part);
        *value += part * kit_input_derivative(k, k->polynomials[i].field, 1);
    }
    return status;
}

static enum kit_status output_derivative(struct kit *k, const double *output, unsigned order, double *value)
{
    *value = 0;
    if (k->model->output_derivative)
        return checked(k, k->model->output_derivative(k, k->self, k->time, output, order, value), "output_derivative");
    for (size_t i = 0; i < k->nx; i++)
        if (k->x[i] == output && order == 1) {
            *value = *k->dx[i];
            return KIT_OK;
        }
    return order == 1 && k->model->partial ? total_derivative(k, output, value) : KIT_OK;
}

enum kit_status kit_get_output_derivative(struct kit *k, unsigned vr, int order, double *values, size_t count)
{
    enum kit_status status = KIT_OK;
    const struct kit_slot *slot = kit_slot_to_get(k, "GetOutputDerivatives", KIT_TYPE(KIT_FLOAT64), vr, &status);
    if (!slot)
        return status;
    if (!slot->var || slot->var->causality != KIT_OUTPUT || kit_var_variability(slot->var) != KIT_CONTINUOUS)
        return kit_fail(k, KIT_ERROR, "GetOutputDerivatives: variable with value reference %u is no continuous output",
                        vr);
    if (order < 1 || (unsigned)order > k->model->output_derivatives)
        return kit_fail(k, KIT_ERROR, "GetOutputDerivatives: order %d is not in 1 ... %u", order,
                        k->model->output_derivatives);
    if (count < slot->count)
        return kit_fail(k, KIT_ERROR, "GetOutputDerivatives: too few values");
    status = kit_refresh(k, KIT_STALE_DERIVATIVES | KIT_STALE_OUTPUTS);
    for (size_t i = 0; i < slot->count && status <= KIT_WARNING; i++)
        status = kit_worse(status, output_derivative(k, (const double *)slot->data + i, (unsigned)order, &values[i]));
    return status;
}

/* ---- partial derivatives ---- */

static enum kit_status check_directional(struct kit *k, const unsigned vr[], size_t n, bool known, size_t *sum)
{
    *sum = 0;
    for (size_t i = 0; i < n; i++) {
        size_t state;
        const struct kit_slot *slot = vr[i] <= k->model->variable_count ? &k->slots[vr[i]] : NULL;
        if (!slot || slot->type != KIT_FLOAT64)
            return kit_fail(k, KIT_ERROR, "directional derivative: no floating point variable with value reference %u",
                            vr[i]);
        const struct kit_var *var = slot->var;
        bool fits = known ? !var || var->derivative || var->causality == KIT_INPUT
                          : var && (var->causality == KIT_OUTPUT || kit_var_is_derivative(k->model, var, &state));
        if (!fits)
            return kit_fail(k, KIT_ERROR, "directional derivative: %s is no %s", var ? kit_var_name(var) : "time",
                            known ? "known (input, state or time)" : "unknown (output or derivative)");
        *sum += slot->count;
    }
    return KIT_OK;
}

enum kit_status kit_directional(struct kit *k, bool adjoint, const unsigned unknowns[], size_t n_unknowns,
                                const unsigned knowns[], size_t n_knowns, const double seed[], size_t n_seed,
                                double sensitivity[], size_t n_sensitivity)
{
    size_t rows, columns;
    if (check_directional(k, unknowns, n_unknowns, false, &rows) != KIT_OK ||
        check_directional(k, knowns, n_knowns, true, &columns) != KIT_OK)
        return KIT_ERROR;
    if (n_seed != (adjoint ? rows : columns) || n_sensitivity != (adjoint ? columns : rows))
        return kit_fail(k, KIT_ERROR, "directional derivative: wrong number of seeds or sensitivities");
    enum kit_status status = kit_refresh(k, KIT_STALE_DERIVATIVES | KIT_STALE_OUTPUTS);
    for (size_t i = 0; i < n_sensitivity; i++)
        sensitivity[i] = 0;
    for (size_t u = 0, row = 0; u < n_unknowns; row += k->slots[unknowns[u++]].count) {
        const struct kit_slot *unknown = &k->slots[unknowns[u]];
        for (size_t v = 0, column = 0; v < n_knowns; column += k->slots[knowns[v++]].count) {
            const struct kit_slot *known = &k->slots[knowns[v]];
            for (size_t i = 0; i < unknown->count * known->count && status <= KIT_WARNING; i++) {
                size_t r = i / known->count, c = i % known->count;
                double value;
                const double *at = known->var ? (const double *)known->data + c : NULL;
                status = kit_worse(status,
                                   partial(k, unknown->var->derivative, (const double *)unknown->data + r, at, &value));
                sensitivity[adjoint ? column + c : row + r] += value * seed[adjoint ? row + r : column + c];
            }
        }
    }
    return status;
}
