/* SPDX-License-Identifier: MIT */
#include "sim/start/feedthrough.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

bool tt_feedthrough_is_real(const struct tt_wires *wires, uint32_t node)
{
    const struct tt_structure_node *n = &wires->structure->nodes[node];
    const struct tt_var *var = &wires->structure->system->components[n->component].fmu->desc->vars[n->variable];
    return var->type == TUTTI_TYPE_FLOAT64 && var->variability == TUTTI_CONTINUOUS && wires->slots[node].count == 1;
}

struct feedthrough_probe {
    struct tt_wires *wires;
    const struct tt_feedthrough_request *asked;
    uint32_t *references; /* of the outputs */
    double *base, *moved;
    unsigned long evaluations;
};

static enum tutti_err probe_set_input(const struct feedthrough_probe *probe, uint32_t node, double value)
{
    struct tt_slot *slot = &probe->wires->slots[node];
    struct tt_block block = {TUTTI_TYPE_FLOAT64, 1, 1, &slot->reference, &value, NULL};
    return probe->asked->unit->kind->set(probe->asked->unit, &block);
}

static enum tutti_err probe_get_outputs(struct feedthrough_probe *probe, double *values)
{
    size_t count = probe->asked->output_count;
    struct tt_block block = {TUTTI_TYPE_FLOAT64, count, count, probe->references, values, NULL};
    probe->evaluations++;
    return probe->asked->unit->kind->get(probe->asked->unit, &block);
}

static double probe_step_size(const struct feedthrough_probe *probe, uint32_t node, double value)
{
    const struct tt_structure_node *n = &probe->wires->structure->nodes[node];
    const struct tt_bounds *bounds = probe->asked->unit->fmu->desc->vars[n->variable].bounds;
    bool has_nominal = bounds && bounds->has_nominal && bounds->nominal > 0;
    double known = has_nominal ? bounds->nominal : probe->asked->size(probe->asked->context, node);
    double step = sqrt(DBL_EPSILON) * fmax(fabs(value), known > 0 ? known : 1);
    return value + step - value; /* exactly what the input moves by */
}

/* The quotients with the input moved by `step`; *good: all are numbers. *steep: an output follows steeply. */
static enum tutti_err probe_quotients(struct feedthrough_probe *probe, uint32_t input, double step, double *column,
                                      bool *steep, bool *good)
{
    double value = *(const double *)probe->wires->slots[input].values;
    TRY(probe_set_input(probe, input, value + step));
    enum tutti_err err = probe_get_outputs(probe, probe->moved);
    *good = err != TUTTI_ERR_DISCARD;
    *steep = false;
    if (*good)
        TRY(err);
    for (size_t i = 0; i < probe->asked->output_count; i++) {
        column[i] = *good ? (probe->moved[i] - probe->base[i]) / step : NAN;
        *steep = *steep || tt_feedthrough_is_steep(probe->base[i], probe->moved[i]);
        *good = *good && isfinite(column[i]);
    }
    return TUTTI_OK;
}

static enum tutti_err probe_is_derivative(struct feedthrough_probe *probe, uint32_t input, double step,
                                          const double *column, bool *good)
{
    double *again = probe->moved + 2 * probe->asked->output_count;
    bool unused;
    TRY(probe_quotients(probe, input, 2 * step, again, &unused, good));
    for (size_t i = 0; i < probe->asked->output_count && *good; i++)
        *good = tt_feedthrough_quotient_agrees(column[i], again[i]);
    return TUTTI_OK;
}

/* One column by a forward difference; by a backward one if that leads out of the domain, or over a jump. With jumps on
 * both sides the result is used as it is. */
static enum tutti_err probe_difference(struct feedthrough_probe *probe, uint32_t input, double *column)
{
    double value = *(const double *)probe->wires->slots[input].values;
    double size = probe_step_size(probe, input, value);
    bool good = false, steep;
    for (int side = 0; side < 2 && !good; side++) {
        double step = side ? -size : size;
        TRY(probe_quotients(probe, input, step, column, &steep, &good));
        if (good && steep)
            TRY(probe_is_derivative(probe, input, step, column, &good));
    }
    return probe_set_input(probe, input, value);
}

static enum tutti_err probe_columns(struct feedthrough_probe *probe, bool *exact)
{
    const uint32_t *inputs = probe->asked->inputs;
    struct tt_unit *unit = probe->asked->unit;
    bool directional = unit->can & TUTTI_CAN_DIRECTIONAL;
    for (size_t i = 0; i < probe->asked->output_count; i++)
        probe->base[i] = *(const double *)probe->wires->slots[probe->asked->outputs[i]].values;
    for (size_t j = 0; j < probe->asked->input_count; j++) {
        double seed = 1;
        double *column = probe->moved + probe->asked->output_count;
        if (directional) {
            enum tutti_err err = unit->kind->get_directional(unit, probe->references, probe->asked->output_count,
                                                             &probe->wires->slots[inputs[j]].reference, 1, &seed,
                                                             column);
            if (err != TUTTI_OK && err != TUTTI_ERR_UNSUPPORTED)
                return err;
            directional = err == TUTTI_OK;
        }
        if (!directional)
            TRY(probe_difference(probe, inputs[j], column));
        *exact = *exact && directional;
        for (size_t i = 0; i < probe->asked->output_count; i++)
            TRY(probe->asked->entry(probe->asked->context, probe->asked->outputs[i], inputs[j], column[i]));
    }
    return TUTTI_OK;
}

enum tutti_err tt_feedthrough(struct tt_wires *wires, const struct tt_feedthrough_request *question, bool *exact,
                              unsigned long *evaluations)
{
    size_t outputs = question->output_count;
    struct feedthrough_probe probe = {.wires = wires, .asked = question};
    *evaluations = 0;
    if (question->input_count == 0 || outputs == 0)
        return TUTTI_OK;
    probe.references = calloc(outputs, sizeof *probe.references);
    probe.base = calloc(4 * outputs, sizeof *probe.base);
    enum tutti_err err = TUTTI_OK;
    if (probe.references && probe.base) {
        probe.moved = probe.base + outputs;
        for (size_t i = 0; i < outputs; i++)
            probe.references[i] = wires->slots[question->outputs[i]].reference;
        err = probe_columns(&probe, exact);
    } else
        err = tt_fail_memory();
    *evaluations = probe.evaluations;
    free(probe.references);
    free(probe.base);
    return err;
}

/* The references of the component's outputs that follow an input. */
static size_t find_dependent_outputs(const struct tt_wires *wires, uint32_t component, uint32_t input,
                                     uint32_t *references)
{
    const struct tt_structure *structure = wires->structure;
    const struct tt_digraph *graph = &structure->graph;
    size_t count = 0;
    for (uint32_t n = structure->component_first[component]; n < structure->component_first[component + 1]; n++)
        for (uint32_t k = graph->first[n]; structure->nodes[n].output && k < graph->first[n + 1]; k++)
            if (graph->needs[k] == input && tt_feedthrough_is_real(wires, n))
                references[count++] = wires->slots[n].reference;
    return count;
}

enum tutti_err tt_feedthrough_test(struct tt_wires *wires, struct tt_unit *unit, uint32_t component)
{
    const struct tt_structure *structure = wires->structure;
    uint32_t first = structure->component_first[component], end = structure->component_first[component + 1];
    uint32_t *references = calloc((size_t)(end - first) + 1, sizeof *references);
    double *column = calloc((size_t)(end - first) + 1, sizeof *column), seed = 1;
    enum tutti_err err = references && column ? TUTTI_OK : tt_fail_memory();
    for (uint32_t n = first; n < end && !err && (unit->can & TUTTI_CAN_DIRECTIONAL); n++) {
        bool input = !structure->nodes[n].output && tt_feedthrough_is_real(wires, n);
        size_t outputs = input ? find_dependent_outputs(wires, component, n, references) : 0;
        if (outputs > 0)
            err = unit->kind->get_directional(unit, references, outputs, &wires->slots[n].reference, 1, &seed, column);
    }
    free(references);
    free(column);
    return err == TUTTI_ERR_UNSUPPORTED || err == TUTTI_ERR_DISCARD ? TUTTI_OK : err;
}
