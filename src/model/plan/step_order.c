/* SPDX-License-Identifier: MIT */
#include "model/plan/step_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

/* Units that need each other directly are grouped; groups are ordered such that the needs of each are met by earlier
 * ones. */
struct step_ordering {
    const struct tt_structure *structure;
    uint32_t count;
    struct tt_digraph direct, all; /* dependencies: by feed-through or outside cycles; by any connection */
    struct tt_digraph readers;     /* `all` reversed */
    struct tt_components groups;   /* of `direct` */
    struct tt_digraph group_readers;
    uint32_t *waiting;  /* per group: groups that it needs directly and that are not done */
    uint32_t *wishing;  /* per group: the number of units outside it that it should follow */
    bool *done;         /* per group */
    uint32_t *heaps[2]; /* groups that could be next: with every wish fulfilled, and others; smallest unit first */
    uint32_t heap_sizes[2];
    uint32_t *place; /* per unit: in the sequence */
};

struct feed_pairs {
    uint32_t (*items)[2];
    size_t count, room;
};

static enum tutti_err step_order_add_pair(struct feed_pairs *pairs, uint32_t a, uint32_t b)
{
    if (a == b)
        return TUTTI_OK;
    if (!tt_vector_reserve(&pairs->items, &pairs->room, pairs->count + 1, sizeof *pairs->items))
        return tt_fail_memory();
    pairs->items[pairs->count][0] = a;
    pairs->items[pairs->count++][1] = b;
    return TUTTI_OK;
}

/* Every unit that feeds an input node. */
static enum tutti_err add_feeders(struct feed_pairs *pairs, const struct tt_structure *structure, uint32_t input)
{
    uint32_t unit = structure->nodes[input].component;
    for (uint32_t k = structure->graph.first[input]; k < structure->graph.first[input + 1]; k++)
        TRY(step_order_add_pair(pairs, unit, structure->nodes[structure->graph.needs[k]].component));
    return TUTTI_OK;
}

static enum tutti_err collect_feeds(const struct tt_structure *structure, struct feed_pairs *direct,
                                    struct feed_pairs *all)
{
    const struct tt_digraph *graph = &structure->graph;
    for (uint32_t n = 0; n < structure->node_count; n++) {
        if (!structure->nodes[n].output) {
            TRY(add_feeders(all, structure, n));
            continue;
        }
        for (uint32_t k = graph->first[n]; k < graph->first[n + 1]; k++)
            TRY(add_feeders(direct, structure, graph->needs[k]));
    }
    return TUTTI_OK;
}

static enum tutti_err reverse_digraph(struct tt_digraph *out, const struct tt_digraph *graph, const uint32_t *rename,
                                      uint32_t count)
{
    struct feed_pairs pairs = {0};
    enum tutti_err err = TUTTI_OK;
    for (uint32_t v = 0; v < graph->node_count && !err; v++)
        for (uint32_t k = graph->first[v]; k < graph->first[v + 1] && !err; k++)
            err =
                step_order_add_pair(&pairs, rename ? rename[graph->needs[k]] : graph->needs[k], rename ? rename[v] : v);
    if (!err)
        err = tt_digraph_init(out, count, (const uint32_t(*)[2])pairs.items, pairs.count);
    free(pairs.items);
    return err;
}

/* Outside cycles every soft dependency can be met, so it counts as a need. So a cycle is cut inside the cycle, not at
 * units that only read it. */
static enum tutti_err add_soft_dependencies(const struct tt_digraph *all, struct feed_pairs *direct)
{
    struct tt_components cycles = {0};
    enum tutti_err err = tt_digraph_components_init(&cycles, all);
    for (uint32_t v = 0; v < all->node_count && !err; v++)
        for (uint32_t k = all->first[v]; k < all->first[v + 1] && !err; k++)
            if (cycles.of[v] != cycles.of[all->needs[k]])
                err = step_order_add_pair(direct, v, all->needs[k]);
    tt_digraph_components_fini(&cycles);
    return err;
}

static enum tutti_err make_graphs(struct step_ordering *work)
{
    struct feed_pairs direct = {0}, all = {0};
    enum tutti_err err = collect_feeds(work->structure, &direct, &all);
    if (!err)
        err = tt_digraph_init(&work->all, work->count, (const uint32_t(*)[2])all.items, all.count);
    if (!err)
        err = add_soft_dependencies(&work->all, &direct);
    if (!err)
        err = tt_digraph_init(&work->direct, work->count, (const uint32_t(*)[2])direct.items, direct.count);
    free(direct.items);
    free(all.items);
    TRY(err);
    TRY(tt_digraph_components_init(&work->groups, &work->direct));
    TRY(reverse_digraph(&work->readers, &work->all, NULL, work->count));
    return reverse_digraph(&work->group_readers, &work->direct, work->groups.of, work->groups.count);
}

/* The unit that stands for a group: the first one listed. */
static uint32_t first_of_group(const struct step_ordering *work, uint32_t group)
{
    return work->groups.nodes[work->groups.first[group]];
}

static void heap_push(struct step_ordering *work, int which, uint32_t group)
{
    uint32_t *heap = work->heaps[which], at = work->heap_sizes[which]++;
    while (at > 0 && first_of_group(work, heap[(at - 1) / 2]) > first_of_group(work, group)) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = group;
}

static uint32_t heap_pop(struct step_ordering *work, int which)
{
    uint32_t *heap = work->heaps[which], top = heap[0], last = heap[--work->heap_sizes[which]], at = 0;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= work->heap_sizes[which])
            break;
        if (child + 1 < work->heap_sizes[which] &&
            first_of_group(work, heap[child + 1]) < first_of_group(work, heap[child]))
            child++;
        if (first_of_group(work, heap[child]) >= first_of_group(work, last))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return top;
}

/* A group enters the second heap when its needs are met, and the first when its wishes are, too: at most once each. */
static void step_order_enqueue(struct step_ordering *work, uint32_t group)
{
    if (work->waiting[group] == 0 && work->wishing[group] == 0)
        heap_push(work, 0, group);
    else if (work->waiting[group] == 0)
        heap_push(work, 1, group);
}

static void finish_group(struct step_ordering *work, uint32_t group)
{
    work->done[group] = true;
    for (uint32_t i = work->groups.first[group]; i < work->groups.first[group + 1]; i++) {
        uint32_t unit = work->groups.nodes[i];
        for (uint32_t k = work->readers.first[unit]; k < work->readers.first[unit + 1]; k++) {
            uint32_t reader = work->groups.of[work->readers.needs[k]];
            if (reader != group && --work->wishing[reader] == 0 && work->waiting[reader] == 0 && !work->done[reader])
                heap_push(work, 0, reader);
        }
    }
    for (uint32_t k = work->group_readers.first[group]; k < work->group_readers.first[group + 1]; k++)
        if (--work->waiting[work->group_readers.needs[k]] == 0)
            step_order_enqueue(work, work->group_readers.needs[k]);
}

static void step_order_sort(struct step_ordering *work, uint32_t *sequence)
{
    uint32_t at = 0;
    const struct tt_components *groups = &work->groups;
    for (uint32_t g = 0; g < groups->count; g++)
        for (uint32_t k = work->group_readers.first[g]; k < work->group_readers.first[g + 1]; k++)
            work->waiting[work->group_readers.needs[k]]++;
    for (uint32_t v = 0; v < work->count; v++)
        for (uint32_t k = work->all.first[v]; k < work->all.first[v + 1]; k++)
            work->wishing[groups->of[v]] += groups->of[work->all.needs[k]] != groups->of[v];
    for (uint32_t g = 0; g < groups->count; g++)
        step_order_enqueue(work, g);

    for (uint32_t n = 0; n < work->groups.count; n++) {
        /* The next group, preferably one with all its soft dependencies met. */
        uint32_t group;
        do
            group = heap_pop(work, work->heap_sizes[0] > 0 ? 0 : 1);
        while (work->done[group]);
        for (uint32_t i = work->groups.first[group]; i < work->groups.first[group + 1]; i++) {
            work->place[work->groups.nodes[i]] = at;
            sequence[at++] = work->groups.nodes[i];
        }
        finish_group(work, group);
    }
}

/* Units that an option ordered come first; `place` marks them. */
static enum tutti_err apply_order_option(struct step_ordering *work, const char *order, uint32_t *sequence)
{
    uint32_t named = 0, *others = calloc((size_t)work->count + 1, sizeof *others);
    enum tutti_err err = others ? TUTTI_OK : tt_fail_memory();
    for (uint32_t i = 0; i < work->count && !err; i++)
        others[i] = sequence[i];
    memset(work->place, 0xff, work->count * sizeof *work->place); /* TUTTI_NONE */
    for (const char *name = order; !err && name; name = strchr(name, ',') ? strchr(name, ',') + 1 : NULL) {
        size_t length = strcspn(name, ",");
        const struct tt_system *system = work->structure->system;
        uint32_t unit = TUTTI_NONE;
        for (uint32_t c = 0; c < system->component_count && unit == TUTTI_NONE; c++)
            if (strlen(system->components[c].name) == length && strncmp(system->components[c].name, name, length) == 0)
                unit = c;
        if (unit == TUTTI_NONE)
            err = tt_fail(TUTTI_ERR_ARGUMENT, "--order: there is no unit '%.*s'", (int)length, name);
        else if (work->place[unit] != TUTTI_NONE)
            err = tt_fail(TUTTI_ERR_ARGUMENT, "--order: '%.*s' is there twice", (int)length, name);
        else
            sequence[work->place[unit] = named++] = unit;
    }
    for (uint32_t i = 0; i < work->count && !err; i++)
        if (work->place[others[i]] == TUTTI_NONE)
            sequence[work->place[others[i]] = named++] = others[i];
    free(others);
    return err;
}

/* A unit's wave: after those of its feeders that are before it in the sequence, and not before those of its readers that
 * are, because they are to see what it gave at the beginning of the step. */
static uint32_t step_order_wave_of(const struct step_ordering *work, const uint32_t *waves, uint32_t unit)
{
    uint32_t wave = 0;
    for (uint32_t k = work->all.first[unit]; k < work->all.first[unit + 1]; k++) {
        uint32_t feeder = work->all.needs[k];
        if (work->place[feeder] < work->place[unit] && waves[feeder] + 1 > wave)
            wave = waves[feeder] + 1;
    }
    for (uint32_t k = work->readers.first[unit]; k < work->readers.first[unit + 1]; k++) {
        uint32_t reader = work->readers.needs[k];
        if (work->place[reader] < work->place[unit] && waves[reader] > wave)
            wave = waves[reader];
    }
    return wave;
}

static void assign_waves(const struct step_ordering *work, struct tt_step_sequence *sequence, uint32_t *waves)
{
    for (uint32_t i = 0; i < work->count; i++) {
        uint32_t unit = sequence->components[i];
        waves[unit] = step_order_wave_of(work, waves, unit);
        sequence->wave_count = waves[unit] + 1 > sequence->wave_count ? waves[unit] + 1 : sequence->wave_count;
    }
    for (uint32_t i = 0; i < work->count; i++)
        sequence->wave_first[waves[i] + 1]++;
    for (uint32_t w = 0; w < sequence->wave_count; w++)
        sequence->wave_first[w + 1] += sequence->wave_first[w];
    /* `place` has the previous order; within a wave units are listed in the order of the system. */
    for (uint32_t w = sequence->wave_count; w > 0; w--)
        sequence->wave_first[w] = sequence->wave_first[w - 1];
    sequence->wave_first[0] = 0;
    for (uint32_t unit = 0; unit < work->count; unit++)
        sequence->components[sequence->wave_first[waves[unit] + 1]++] = unit;
}

static enum tutti_err step_order_build_sequence(struct step_ordering *work, const char *order,
                                                struct tt_step_sequence *sequence)
{
    TRY(make_graphs(work));
    size_t groups = (size_t)work->groups.count + 1;
    work->waiting = calloc(groups, sizeof *work->waiting);
    work->wishing = calloc(groups, sizeof *work->wishing);
    work->done = calloc(groups, sizeof *work->done);
    work->heaps[0] = calloc(groups, sizeof **work->heaps);
    work->heaps[1] = calloc(groups, sizeof **work->heaps);
    work->place = calloc((size_t)work->count + 1, sizeof *work->place);
    uint32_t *waves = calloc((size_t)work->count + 1, sizeof *waves);
    sequence->components = calloc((size_t)work->count + 1, sizeof *sequence->components);
    sequence->wave_first = calloc((size_t)work->count + 2, sizeof *sequence->wave_first);
    bool all = work->waiting && work->wishing && work->done && work->heaps[0] && work->heaps[1] && work->place &&
               waves && sequence->components && sequence->wave_first;
    enum tutti_err err = all ? TUTTI_OK : tt_fail_memory();
    if (!err)
        step_order_sort(work, sequence->components);
    if (!err && order)
        err = apply_order_option(work, order, sequence->components);
    if (!err)
        assign_waves(work, sequence, waves);
    free(waves);
    return err;
}

enum tutti_err tt_step_order_init_sequence(struct tt_step_sequence *sequence, const struct tt_structure *structure,
                                           const char *order)
{
    struct step_ordering work = {.structure = structure, .count = structure->system->component_count};
    *sequence = (struct tt_step_sequence){.count = work.count};
    enum tutti_err err = step_order_build_sequence(&work, order, sequence);
    tt_digraph_fini(&work.direct);
    tt_digraph_fini(&work.all);
    tt_digraph_fini(&work.readers);
    tt_digraph_fini(&work.group_readers);
    tt_digraph_components_fini(&work.groups);
    free(work.waiting);
    free(work.wishing);
    free(work.done);
    free(work.heaps[0]);
    free(work.heaps[1]);
    free(work.place);
    return err;
}

void tt_step_order_fini_sequence(struct tt_step_sequence *sequence)
{
    free(sequence->components);
    free(sequence->wave_first);
    *sequence = (struct tt_step_sequence){0};
}

struct stage_component {
    uint32_t component; /* the first of its units */
    uint32_t number;    /* among the strongly connected components */
    uint32_t level;     /* length of the longest chain of units that must step before it */
    bool cyclic;
};

struct stage_builder {
    struct tt_digraph graph; /* of units */
    struct tt_components scc;
    struct stage_component *knots;
};

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
