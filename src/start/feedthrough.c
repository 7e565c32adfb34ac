/* SPDX-License-Identifier: MIT */
#include "start/feedthrough.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "start/difference.h"

bool tutti_feedthrough_is_real(const struct tutti_wires *wires, uint32_t node)
{
    const struct tutti_structure_node *n = &wires->structure->nodes[node];
    const struct tutti_var *var = &wires->structure->system->components[n->component].fmu->desc->vars[n->variable];
    return var->type == TUTTI_TYPE_FLOAT64 && var->variability == TUTTI_CONTINUOUS && wires->slots[node].count == 1;
}

struct probe {
    struct tutti_wires *wires;
    const struct tutti_feedthrough_question *asked;
    uint32_t *references; /* of the outputs */
    double *base, *moved;
    unsigned long evaluations;
};

static enum tutti_err set_input(const struct probe *probe, uint32_t node, double value)
{
    struct tutti_slot *slot = &probe->wires->slots[node];
    struct tutti_block block = {TUTTI_TYPE_FLOAT64, 1, 1, &slot->reference, &value, NULL};
    return probe->asked->unit->kind->set(probe->asked->unit, &block);
}

static enum tutti_err get_outputs(struct probe *probe, double *values)
{
    size_t count = probe->asked->output_count;
    struct tutti_block block = {TUTTI_TYPE_FLOAT64, count, count, probe->references, values, NULL};
    probe->evaluations++;
    return probe->asked->unit->kind->get(probe->asked->unit, &block);
}

static double difference_step(const struct probe *probe, uint32_t node, double value)
{
    const struct tutti_structure_node *n = &probe->wires->structure->nodes[node];
    const struct tutti_bounds *bounds = probe->asked->unit->fmu->desc->vars[n->variable].bounds;
    bool has_nominal = bounds && bounds->has_nominal && bounds->nominal > 0;
    double known = has_nominal ? bounds->nominal : probe->asked->size(probe->asked->context, node);
    double step = sqrt(DBL_EPSILON) * fmax(fabs(value), known > 0 ? known : 1);
    return value + step - value; /* exactly what the input moves by */
}

/* The quotients with the input moved by `step`; *good: all are numbers. *steep: an output follows steeply. */
static enum tutti_err quotients(struct probe *probe, uint32_t input, double step, double *column, bool *steep,
                                bool *good)
{
    double value = *(const double *)probe->wires->slots[input].values;
    TRY(set_input(probe, input, value + step));
    enum tutti_err err = get_outputs(probe, probe->moved);
    *good = err != TUTTI_ERR_DISCARD;
    *steep = false;
    if (*good)
        TRY(err);
    for (size_t i = 0; i < probe->asked->output_count; i++) {
        column[i] = *good ? (probe->moved[i] - probe->base[i]) / step : NAN;
        *steep = *steep || tutti_difference_is_steep(probe->base[i], probe->moved[i]);
        *good = *good && isfinite(column[i]);
    }
    return TUTTI_OK;
}

static enum tutti_err is_derivative(struct probe *probe, uint32_t input, double step, const double *column, bool *good)
{
    double *again = probe->moved + 2 * probe->asked->output_count;
    bool unused;
    TRY(quotients(probe, input, 2 * step, again, &unused, good));
    for (size_t i = 0; i < probe->asked->output_count && *good; i++)
        *good = tutti_difference_agrees(column[i], again[i]);
    return TUTTI_OK;
}

/* One column by a forward difference; backward where that leads out of the domain, or over a jump. Where there is a jump on
 * both sides, it is what it is. */
static enum tutti_err difference(struct probe *probe, uint32_t input, double *column)
{
    double value = *(const double *)probe->wires->slots[input].values;
    double size = difference_step(probe, input, value);
    bool good = false, steep;
    for (int side = 0; side < 2 && !good; side++) {
        double step = side ? -size : size;
        TRY(quotients(probe, input, step, column, &steep, &good));
        if (good && steep)
            TRY(is_derivative(probe, input, step, column, &good));
    }
    return set_input(probe, input, value);
}

static enum tutti_err columns(struct probe *probe, bool *exact)
{
    const uint32_t *inputs = probe->asked->inputs;
    struct tutti_unit *unit = probe->asked->unit;
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
            TRY(difference(probe, inputs[j], column));
        *exact = *exact && directional;
        for (size_t i = 0; i < probe->asked->output_count; i++)
            TRY(probe->asked->entry(probe->asked->context, probe->asked->outputs[i], inputs[j], column[i]));
    }
    return TUTTI_OK;
}

enum tutti_err tutti_feedthrough(struct tutti_wires *wires, const struct tutti_feedthrough_question *question,
                                 bool *exact, unsigned long *evaluations)
{
    size_t outputs = question->output_count;
    struct probe probe = {.wires = wires, .asked = question};
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
        err = columns(&probe, exact);
    } else
        err = tutti_fail_memory();
    *evaluations = probe.evaluations;
    free(probe.references);
    free(probe.base);
    return err;
}

/* The references of the component's outputs that follow an input. */
static size_t find_followers(const struct tutti_wires *wires, uint32_t component, uint32_t input, uint32_t *references)
{
    const struct tutti_structure *structure = wires->structure;
    const struct tutti_digraph *graph = &structure->graph;
    size_t count = 0;
    for (uint32_t n = structure->component_first[component]; n < structure->component_first[component + 1]; n++)
        for (uint32_t k = graph->first[n]; structure->nodes[n].output && k < graph->first[n + 1]; k++)
            if (graph->needs[k] == input && tutti_feedthrough_is_real(wires, n))
                references[count++] = wires->slots[n].reference;
    return count;
}

enum tutti_err tutti_feedthrough_test(struct tutti_wires *wires, struct tutti_unit *unit, uint32_t component)
{
    const struct tutti_structure *structure = wires->structure;
    uint32_t first = structure->component_first[component], end = structure->component_first[component + 1];
    uint32_t *references = calloc((size_t)(end - first) + 1, sizeof *references);
    double *column = calloc((size_t)(end - first) + 1, sizeof *column), seed = 1;
    enum tutti_err err = references && column ? TUTTI_OK : tutti_fail_memory();
    for (uint32_t n = first; n < end && !err && (unit->can & TUTTI_CAN_DIRECTIONAL); n++) {
        bool input = !structure->nodes[n].output && tutti_feedthrough_is_real(wires, n);
        size_t outputs = input ? find_followers(wires, component, n, references) : 0;
        if (outputs > 0)
            err = unit->kind->get_directional(unit, references, outputs, &wires->slots[n].reference, 1, &seed, column);
    }
    free(references);
    free(column);
    return err == TUTTI_ERR_UNSUPPORTED || err == TUTTI_ERR_DISCARD ? TUTTI_OK : err;
}
