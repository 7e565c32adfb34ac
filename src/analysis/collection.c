/* SPDX-License-Identifier: MIT */
#include "analysis/collection.h"

#include <math.h>
#include <stdlib.h>

#include "base/vector.h"
#include "start/links.h"

static double short_step(const struct tutti_rank *rank)
{
    return fmax(1e-8 * rank->times.step, 1e-10 * fmax(fabs(rank->t), rank->span)); /* states do not move in it */
}

static enum tutti_err linearize_unit(struct tutti_collection *c, uint32_t m)
{
    struct tutti_unit *unit = c->rank->units[m];
    struct tutti_linear *linear = NULL;
    unsigned all = TUTTI_WANT_A | TUTTI_WANT_B | TUTTI_WANT_C | TUTTI_WANT_D | TUTTI_WANT_VALUES;
    struct tutti_cs_moment moment = {c->rank->t, short_step(c->rank), c->rank->times.stop};
    if (unit->kind->linearize) {
        TRY(unit->kind->linearize(unit, all, &linear));
    } else if (unit->kind->interface == TUTTI_CS) {
        TRY(tutti_cs_linearize(&c->own[m], unit, &moment));
        linear = &c->own[m].linear;
    } else
        return tutti_fail(TUTTI_ERR_UNSUPPORTED, "%s (%s): an FMU for Scheduled Execution cannot be linearised",
                          unit->name, unit->fmu->path);
    c->parts[m] = (struct tutti_whole_part){unit->name, linear};
    c->first_state[m + 1] = c->first_state[m] + linear->state_count;
    c->first_input[m + 1] = c->first_input[m] + linear->input_count;
    c->first_output[m + 1] = c->first_output[m] + linear->output_count;
    return TUTTI_OK;
}

/* Continuous Reals in the order of the description. */
size_t tutti_collection_place(const struct tutti_collection *collection, uint32_t component, uint32_t variable,
                              bool output)
{
    const struct tutti_unit *unit = collection->rank->units[component];
    size_t place = output ? collection->first_output[component] : collection->first_input[component];
    for (uint32_t v = 0; v < variable; v++) {
        const struct tutti_var *var = &unit->fmu->desc->vars[v];
        size_t extent = 0;
        if (!tutti_signal_is_real(var) || var->causality != (output ? TUTTI_OUTPUT : TUTTI_INPUT))
            continue;
        if (tutti_unit_extent(unit, v, &extent) == TUTTI_OK) /* it was asked before, and is none too large */
            place += extent;
    }
    return place;
}

static size_t place_of(const struct tutti_collection *c, uint32_t node)
{
    const struct tutti_structure_node *at = &c->rank->job->structure.nodes[node];
    return tutti_collection_place(c, at->component, at->variable, at->output);
}

static void note_link(void *context, const struct tutti_signal_link *link)
{
    struct tutti_collection *c = context;
    size_t output = place_of(c, link->from) + link->from_element;
    size_t input = place_of(c, link->to) + link->to_element;
    c->out_of_memory = c->out_of_memory ||
                       !tutti_vector_reserve(&c->links, &c->link_room, c->link_count + link->count, sizeof *c->links);
    for (size_t e = 0; e < link->count && !c->out_of_memory; e++)
        c->links[c->link_count++] = (struct tutti_whole_link){output + e, input + e, link->factor};
}

enum tutti_err tutti_collection_make(struct tutti_collection *collection)
{
    size_t count = collection->count = collection->rank->member_count;
    collection->parts = calloc(count, sizeof *collection->parts);
    collection->own = calloc(count, sizeof *collection->own);
    collection->first_state = calloc(count + 1, sizeof *collection->first_state);
    collection->first_input = calloc(count + 1, sizeof *collection->first_input);
    collection->first_output = calloc(count + 1, sizeof *collection->first_output);
    if (!collection->parts || !collection->own || !collection->first_state || !collection->first_input ||
        !collection->first_output)
        return tutti_fail_memory();
    for (uint32_t m = 0; m < count; m++)
        TRY(linearize_unit(collection, m));
    tutti_links_each(collection->rank, note_link, collection);
    return collection->out_of_memory ? tutti_fail_memory() : TUTTI_OK;
}

void tutti_collection_fini(struct tutti_collection *collection)
{
    for (uint32_t m = 0; collection->own && m < collection->count; m++)
        tutti_cs_linear_fini(&collection->own[m]);
    free(collection->parts);
    free(collection->own);
    free(collection->first_state);
    free(collection->first_input);
    free(collection->first_output);
    free(collection->links);
    *collection = (struct tutti_collection){0};
}
