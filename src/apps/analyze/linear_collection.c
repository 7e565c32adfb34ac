/* SPDX-License-Identifier: MIT */
#include "apps/analyze/linear_collection.h"

#include <math.h>
#include <stdlib.h>

#include "base/vector.h"
#include "sim/start/signal_links.h"

static double linear_collection_short_step(const struct tt_rank *rank)
{
    return fmax(1e-8 * rank->times.step, 1e-10 * fmax(fabs(rank->t), rank->span)); /* states do not move in it */
}

static enum tutti_err linearize_collected_unit(struct tt_linear_collection *c, uint32_t m)
{
    struct tt_unit *unit = c->rank->units[m];
    struct tt_linear *linear = NULL;
    unsigned all = TUTTI_WANT_A | TUTTI_WANT_B | TUTTI_WANT_C | TUTTI_WANT_D | TUTTI_WANT_VALUES;
    struct tt_cs_moment moment = {c->rank->t, linear_collection_short_step(c->rank), c->rank->times.stop};
    if (unit->kind->linearize) {
        TRY(unit->kind->linearize(unit, all, &linear));
    } else if (unit->kind->interface == TUTTI_CS) {
        TRY(tt_coupled_linear_compute_cs(&c->own[m], unit, &moment));
        linear = &c->own[m].linear;
    } else
        return tt_fail(TUTTI_ERR_UNSUPPORTED, "%s (%s): an FMU for Scheduled Execution cannot be linearised",
                       unit->name, unit->fmu->path);
    c->parts[m] = (struct tt_linear_part){unit->name, linear};
    c->first_state[m + 1] = c->first_state[m] + linear->state_count;
    c->first_input[m + 1] = c->first_input[m] + linear->input_count;
    c->first_output[m + 1] = c->first_output[m] + linear->output_count;
    return TUTTI_OK;
}

/* Continuous Reals in the order of the description. */
size_t tt_coupled_linear_index(const struct tt_linear_collection *collection, uint32_t component, uint32_t variable,
                               bool output)
{
    const struct tt_unit *unit = collection->rank->units[component];
    size_t place = output ? collection->first_output[component] : collection->first_input[component];
    for (uint32_t v = 0; v < variable; v++) {
        const struct tt_var *var = &unit->fmu->desc->vars[v];
        size_t extent = 0;
        if (!tt_linear_model_is_real(var) || var->causality != (output ? TUTTI_OUTPUT : TUTTI_INPUT))
            continue;
        if (tt_unit_extent(unit, v, &extent) == TUTTI_OK) /* it was asked before, and is none too large */
            place += extent;
    }
    return place;
}

static size_t linear_collection_index(const struct tt_linear_collection *c, uint32_t node)
{
    const struct tt_structure_node *at = &c->rank->job->structure.nodes[node];
    return tt_coupled_linear_index(c, at->component, at->variable, at->output);
}

static void add_collected_link(void *context, const struct tt_signal_link *link)
{
    struct tt_linear_collection *c = context;
    size_t output = linear_collection_index(c, link->from) + link->from_element;
    size_t input = linear_collection_index(c, link->to) + link->to_element;
    c->out_of_memory = c->out_of_memory ||
                       !tt_vector_reserve(&c->links, &c->link_room, c->link_count + link->count, sizeof *c->links);
    for (size_t e = 0; e < link->count && !c->out_of_memory; e++)
        c->links[c->link_count++] = (struct tt_linear_link){output + e, input + e, link->factor};
}

enum tutti_err tt_coupled_linear_collect(struct tt_linear_collection *collection)
{
    size_t count = collection->count = collection->rank->member_count;
    collection->parts = calloc(count, sizeof *collection->parts);
    collection->own = calloc(count, sizeof *collection->own);
    collection->first_state = calloc(count + 1, sizeof *collection->first_state);
    collection->first_input = calloc(count + 1, sizeof *collection->first_input);
    collection->first_output = calloc(count + 1, sizeof *collection->first_output);
    if (!collection->parts || !collection->own || !collection->first_state || !collection->first_input ||
        !collection->first_output)
        return tt_fail_memory();
    for (uint32_t m = 0; m < count; m++)
        TRY(linearize_collected_unit(collection, m));
    tt_linear_model_each_link(collection->rank, add_collected_link, collection);
    return collection->out_of_memory ? tt_fail_memory() : TUTTI_OK;
}

void tt_coupled_linear_free_collection(struct tt_linear_collection *collection)
{
    for (uint32_t m = 0; collection->own && m < collection->count; m++)
        tt_coupled_linear_free_cs(&collection->own[m]);
    free(collection->parts);
    free(collection->own);
    free(collection->first_state);
    free(collection->first_input);
    free(collection->first_output);
    free(collection->links);
    *collection = (struct tt_linear_collection){0};
}
