/* SPDX-License-Identifier: MIT */
#include "model/plan/stages.h"

#include <stdlib.h>

/* A strongly connected component of units. */
struct stage_component {
    uint32_t component; /* the first of its units */
    uint32_t number;    /* among the strongly connected components */
    uint32_t level;     /* so many others have to come before it, one after the other */
    bool cyclic;
};

struct stage_builder {
    struct tt_digraph graph; /* of units */
    struct tt_components scc;
    struct stage_component *knots;
};

/* Who feeds whom. */
static enum tutti_err step_order_connect(struct stage_builder *builder, const struct tt_structure *structure)
{
    size_t count = 0;
    uint32_t(*pairs)[2] = calloc((size_t)structure->graph.first[structure->node_count] + 1, sizeof *pairs);
    if (!pairs)
        return tt_fail_memory();
    for (uint32_t n = 0; n < structure->node_count; n++)
        for (uint32_t k = structure->graph.first[n]; !structure->nodes[n].output && k < structure->graph.first[n + 1];
             k++, count++) {
            pairs[count][0] = structure->nodes[n].component;
            pairs[count][1] = structure->nodes[structure->graph.needs[k]].component;
        }
    enum tutti_err err =
        tt_digraph_init(&builder->graph, structure->system->component_count, (const uint32_t(*)[2])pairs, count);
    free(pairs);
    return err ? err : tt_digraph_components_init(&builder->scc, &builder->graph);
}

/* Each one comes after what it needs, so levels of these are known. */
static void step_order_set_level(struct stage_builder *builder, uint32_t number)
{
    const struct tt_components *scc = &builder->scc;
    struct stage_component *knot = &builder->knots[number];
    uint32_t first = scc->first[number], end = scc->first[number + 1];
    *knot = (struct stage_component){.component = scc->nodes[first], .number = number, .cyclic = end - first > 1};
    for (uint32_t i = first; i < end; i++)
        for (uint32_t k = builder->graph.first[scc->nodes[i]]; k < builder->graph.first[scc->nodes[i] + 1]; k++) {
            uint32_t needed = builder->graph.needs[k], of = scc->of[needed];
            knot->cyclic = knot->cyclic || needed == scc->nodes[i];
            if (of != number && knot->level <= builder->knots[of].level)
                knot->level = builder->knots[of].level + 1;
        }
}

static int compare_levels(const void *a, const void *b)
{
    const struct stage_component *left = a, *right = b;
    if (left->level != right->level)
        return left->level < right->level ? -1 : 1;
    if (left->cyclic != right->cyclic)
        return left->cyclic ? 1 : -1;
    return left->component < right->component ? -1 : left->component > right->component;
}

static void step_order_list_stages(struct tt_step_stages *stages, const struct stage_builder *builder)
{
    uint32_t used = 0;
    for (uint32_t k = 0; k < builder->scc.count; k++) {
        const struct stage_component *knot = &builder->knots[k], *before = k > 0 ? knot - 1 : NULL;
        if (!before || knot->cyclic || before->cyclic || before->level != knot->level)
            stages->items[stages->count++] = (struct tt_step_stage){.first = used, .cyclic = knot->cyclic};
        for (uint32_t i = builder->scc.first[knot->number]; i < builder->scc.first[knot->number + 1]; i++) {
            stages->components[used++] = builder->scc.nodes[i];
            stages->of[builder->scc.nodes[i]] = stages->count - 1;
            stages->items[stages->count - 1].count++;
        }
    }
}

static enum tutti_err step_order_build_stages(struct stage_builder *builder, struct tt_step_stages *stages,
                                              const struct tt_structure *structure)
{
    size_t count = structure->system->component_count;
    TRY(step_order_connect(builder, structure));
    builder->knots = calloc(count + 1, sizeof *builder->knots);
    stages->items = calloc(count + 1, sizeof *stages->items);
    stages->components = calloc(count + 1, sizeof *stages->components);
    stages->of = calloc(count + 1, sizeof *stages->of);
    if (!builder->knots || !stages->items || !stages->components || !stages->of)
        return tt_fail_memory();
    for (uint32_t k = 0; k < builder->scc.count; k++)
        step_order_set_level(builder, k);
    if (builder->scc.count > 0)
        qsort(builder->knots, builder->scc.count, sizeof *builder->knots, compare_levels);
    step_order_list_stages(stages, builder);
    return TUTTI_OK;
}

enum tutti_err tt_step_order_init_stages(struct tt_step_stages *stages, const struct tt_structure *structure)
{
    struct stage_builder builder = {0};
    *stages = (struct tt_step_stages){0};
    enum tutti_err err = step_order_build_stages(&builder, stages, structure);
    tt_digraph_fini(&builder.graph);
    tt_digraph_components_fini(&builder.scc);
    free(builder.knots);
    if (err)
        tt_step_order_fini_stages(stages);
    return err;
}

void tt_step_order_fini_stages(struct tt_step_stages *stages)
{
    free(stages->items);
    free(stages->components);
    free(stages->of);
    *stages = (struct tt_step_stages){0};
}
