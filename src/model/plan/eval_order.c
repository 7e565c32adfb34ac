/* SPDX-License-Identifier: MIT */
/* A schedule over the strongly connected components ("blocks" here: a node, or a loop), block by block as its needs are
 * met. Invariants:
 * 1. A node is known once it stands in an action, or is an input whose sources are known: such inputs wait, and are set
 *    together before their component is next evaluated.
 * 2. An output is ready once all that it needs is known. A component is evaluated for all its ready outputs.
 * 3. Evaluating a component whose outstanding outputs are all ready costs no evaluation that another schedule could save:
 *    it must be evaluated once more in any case, and afterwards never again. Loops are solved as soon as they can be.
 * 4. A choice exists only where every component waits for a second one (see choose_partial).
 * 5. The first evaluation of an FMI 1.0 component initialises it for good, so it comes last: when all its inputs are known,
 *    or when no other action is possible. */
#include "model/plan/eval_order.h"

#include <stdlib.h>

#include "base/vector.h"

struct eval_queue {
    uint64_t *keys; /* a binary heap, smallest first */
    size_t count, room;
};

/* Searches what depends on the outputs of a component. */
struct dependent_search {
    uint32_t *met, count;     /* blocks */
    uint32_t *met_by, number; /* per block: the last search that met it; this search */
    uint32_t *chain;          /* per block */
    uint64_t patience;        /* edges that may still be followed */
};

struct eval_schedule {
    const struct tt_structure *structure;
    struct tt_eval_order *order;
    uint32_t node_total;       /* nodes in actions so far */
    struct tt_digraph needing; /* the graph turned round: who needs node v */
    uint32_t *missing;         /* per block: needs that are not known */
    uint32_t *waiting;         /* per component, in the range of its nodes: inputs to be set; then ready outputs */
    uint32_t *input_waiting, *output_waiting; /* how many of these */
    uint32_t *output_first;                   /* per component: its first output */
    uint32_t *outstanding;                    /* outputs in no action yet, those of loops left out */
    uint64_t *urgency;                        /* per component: its valid key in `evaluate` */
    uint32_t *unknown_inputs;                 /* per component */
    uint32_t *fresh;                          /* a stack: known nodes whose dependents were not yet notified */
    uint32_t fresh_count;
    /* Components with ready outputs, keyed by the number of outputs that would remain; invalid keys are skipped. */
    struct eval_queue evaluate;
    struct eval_queue solve; /* blocks */
    struct dependent_search search;
};

/* A component that might be evaluated for a part of its outputs; see judge. */
struct eval_candidate {
    uint32_t component, lost, reached;
};

static inline bool is_loop(const struct tt_components *scc, uint32_t block)
{
    return scc->first[block + 1] - scc->first[block] > 1;
}

/* For qsort: numbers, the smallest first. */
static inline int eval_order_compare(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

/* Lists a block, unless this search has met it. */
static void eval_order_visit(struct dependent_search *search, uint32_t block)
{
    if (search->met_by[block] == search->number)
        return;
    search->met_by[block] = search->number;
    search->met[search->count++] = block;
}

/* Lists the outstanding outputs of a component and all that needs them, each block after what it needs. */
static void eval_order_search_from(struct eval_schedule *schedule, uint32_t component)
{
    const struct tt_structure *structure = schedule->structure;
    const struct tt_components *scc = &structure->scc;
    const struct tt_digraph *needing = &schedule->needing;
    struct dependent_search *search = &schedule->search;
    search->number++;
    search->count = 0;
    for (uint32_t i = 0; i < schedule->output_waiting[component]; i++)
        eval_order_visit(search, scc->of[schedule->waiting[schedule->output_first[component] + i]]);
    for (uint32_t node = schedule->output_first[component]; node < structure->component_first[component + 1]; node++)
        if (schedule->missing[scc->of[node]] > 0 && !is_loop(scc, scc->of[node]))
            eval_order_visit(search, scc->of[node]);
    search->patience -= search->count < search->patience ? search->count : search->patience;
    for (uint32_t m = 0; m < search->count && search->patience > 0; m++)
        for (uint32_t k = scc->first[search->met[m]]; k < scc->first[search->met[m] + 1]; k++) {
            uint32_t from = needing->first[scc->nodes[k]], end = needing->first[scc->nodes[k] + 1];
            for (uint32_t i = from; i < end; i++)
                eval_order_visit(search, scc->of[needing->needs[i]]);
            search->patience -= end - from < search->patience ? end - from : search->patience;
        }
    qsort(search->met, search->count, sizeof *search->met, eval_order_compare);
}

static bool is_output_of_component(const struct tt_structure *structure, uint32_t block, uint32_t component)
{
    const struct tt_structure_node *node = &structure->nodes[structure->scc.nodes[structure->scc.first[block]]];
    return !is_loop(&structure->scc, block) && node->output && node->component == component;
}

/* The longest chain of outputs of the component, each needing the one before, that begins with or after the block. */
static uint32_t longest_chain(const struct eval_schedule *schedule, uint32_t block, uint32_t component)
{
    const struct tt_components *scc = &schedule->structure->scc;
    const struct tt_digraph *needing = &schedule->needing;
    const struct dependent_search *search = &schedule->search;
    uint32_t longest = 0;
    for (uint32_t k = scc->first[block]; k < scc->first[block + 1]; k++)
        for (uint32_t i = needing->first[scc->nodes[k]]; i < needing->first[scc->nodes[k] + 1]; i++) {
            uint32_t next = scc->of[needing->needs[i]];
            if (search->met_by[next] == search->number && search->chain[next] > longest)
                longest = search->chain[next];
        }
    return longest + is_output_of_component(schedule->structure, block, component);
}

/* Outputs of other components that wait for the ready ones of this component. Uses up search->chain. */
static uint32_t count_reached(struct eval_schedule *schedule, uint32_t component)
{
    const struct tt_structure *structure = schedule->structure;
    const struct tt_components *scc = &structure->scc;
    const struct tt_digraph *needing = &schedule->needing;
    struct dependent_search *search = &schedule->search;
    uint32_t reached = 0;
    for (uint32_t m = 0; m < search->count; m++)
        search->chain[search->met[m]] = schedule->missing[search->met[m]] == 0;
    for (uint32_t m = 0; m < search->count; m++) {
        uint32_t block = search->met[m];
        if (!search->chain[block])
            continue;
        reached += structure->nodes[scc->nodes[scc->first[block + 1] - 1]].output &&
                   !is_output_of_component(structure, block, component);
        for (uint32_t k = scc->first[block]; k < scc->first[block + 1]; k++)
            for (uint32_t i = needing->first[scc->nodes[k]]; i < needing->first[scc->nodes[k] + 1]; i++)
                search->chain[scc->of[needing->needs[i]]] = 1;
    }
    return reached;
}

/* Rates evaluating a component now. It must be evaluated at least as often as its longest chain of outputs, each of
 * which needs the previous one. If all longest chains begin with ready outputs, an evaluation now is one of these and
 * loses nothing; otherwise it loses the outputs that begin an equally long chain and could have been computed together
 * later. When the search budget is exhausted, the loss is 0. */
static struct eval_candidate rate_component(struct eval_schedule *schedule, uint32_t component)
{
    struct dependent_search *search = &schedule->search;
    struct eval_candidate candidate = {.component = component};
    uint32_t longest = 0;
    if (search->patience == 0)
        return candidate;
    eval_order_search_from(schedule, component);
    for (uint32_t m = search->count; m-- > 0;) {
        uint32_t block = search->met[m];
        search->chain[block] = longest_chain(schedule, block, component);
        if (schedule->missing[block] == 0 && search->chain[block] > longest)
            longest = search->chain[block];
    }
    for (uint32_t m = 0; m < search->count; m++)
        candidate.lost += schedule->missing[search->met[m]] > 0 && search->chain[search->met[m]] >= longest &&
                          is_output_of_component(schedule->structure, search->met[m], component);
    if (candidate.lost > 0) {
        candidate.reached = count_reached(schedule, component);
        if (candidate.reached == 0)
            candidate.lost = UINT32_MAX; /* no other would get on by it */
    }
    return candidate;
}

/* Limits of choose_partial: the number of candidates, and the total effort in multiples of the graph's size. */
enum { MOST_CANDIDATES = 64, MOST_PASSES = 16 };

/* In keys of components that can wait; see invariant 5. */
#define TOO_EARLY (UINT64_C(1) << 63)

static bool queue_push(struct eval_queue *queue, uint64_t key)
{
    if (!tt_vector_reserve(&queue->keys, &queue->room, queue->count + 1, sizeof *queue->keys))
        return false;
    size_t at = queue->count++;
    for (; at > 0 && queue->keys[(at - 1) / 2] > key; at = (at - 1) / 2)
        queue->keys[at] = queue->keys[(at - 1) / 2];
    queue->keys[at] = key;
    return true;
}

static uint64_t queue_pop(struct eval_queue *queue)
{
    uint64_t first = queue->keys[0], last = queue->keys[--queue->count];
    size_t at = 0, child;
    while ((child = 2 * at + 1) < queue->count) {
        if (child + 1 < queue->count && queue->keys[child + 1] < queue->keys[child])
            child++;
        if (last <= queue->keys[child])
            break;
        queue->keys[at] = queue->keys[child];
        at = child;
    }
    queue->keys[at] = last;
    return first;
}

static void schedule_fini(struct eval_schedule *schedule)
{
    tt_digraph_fini(&schedule->needing);
    free(schedule->missing);
    free(schedule->waiting);
    free(schedule->input_waiting);
    free(schedule->output_waiting);
    free(schedule->output_first);
    free(schedule->outstanding);
    free(schedule->urgency);
    free(schedule->unknown_inputs);
    free(schedule->fresh);
    free(schedule->evaluate.keys);
    free(schedule->solve.keys);
    free(schedule->search.met);
    free(schedule->search.met_by);
    free(schedule->search.chain);
}

/* Computes the dependents of each node, and the number of nodes outside a block that it needs. */
static enum tutti_err invert_dependencies(struct eval_schedule *schedule)
{
    const struct tt_digraph *graph = &schedule->structure->graph;
    const uint32_t *of = schedule->structure->scc.of;
    size_t count = 0;
    uint32_t(*pairs)[2] = malloc(((size_t)graph->first[graph->node_count] + 1) * sizeof *pairs);
    if (!pairs)
        return tt_fail_memory();
    for (uint32_t node = 0; node < graph->node_count; node++)
        for (uint32_t i = graph->first[node]; i < graph->first[node + 1]; i++) {
            uint32_t needed = graph->needs[i];
            if (of[needed] == of[node])
                continue;
            pairs[count][0] = needed;
            pairs[count++][1] = node;
            schedule->missing[of[node]]++;
        }
    enum tutti_err err = tt_digraph_init(&schedule->needing, graph->node_count, (const uint32_t(*)[2])pairs, count);
    free(pairs);
    return err;
}

static void count_outputs(struct eval_schedule *schedule)
{
    const struct tt_structure *structure = schedule->structure;
    for (uint32_t c = 0; c < structure->system->component_count; c++) {
        uint32_t node = structure->component_first[c], end = structure->component_first[c + 1];
        while (node < end && !structure->nodes[node].output)
            node++;
        schedule->output_first[c] = node;
        schedule->unknown_inputs[c] = node - structure->component_first[c];
        for (; node < end; node++)
            schedule->outstanding[c] += !is_loop(&structure->scc, structure->scc.of[node]);
    }
}

static enum tutti_err schedule_init(struct eval_schedule *schedule, const struct tt_structure *structure,
                                    struct tt_eval_order *order)
{
    size_t nodes = (size_t)structure->node_count + 1, components = (size_t)structure->system->component_count + 1;
    *schedule = (struct eval_schedule){
        .structure = structure,
        .order = order,
        .missing = calloc(nodes, sizeof *schedule->missing),
        .waiting = malloc(nodes * sizeof *schedule->waiting),
        .input_waiting = calloc(components, sizeof *schedule->input_waiting),
        .output_waiting = calloc(components, sizeof *schedule->output_waiting),
        .output_first = malloc(components * sizeof *schedule->output_first),
        .outstanding = calloc(components, sizeof *schedule->outstanding),
        .urgency = malloc(components * sizeof *schedule->urgency),
        .unknown_inputs = calloc(components, sizeof *schedule->unknown_inputs),
        .fresh = malloc(nodes * sizeof *schedule->fresh),
        .search = {.met = malloc(nodes * sizeof *schedule->search.met),
                   .met_by = calloc(nodes, sizeof *schedule->search.met_by),
                   .chain = malloc(nodes * sizeof *schedule->search.chain),
                   .patience = (uint64_t)MOST_PASSES * (nodes + structure->graph.first[nodes - 1])}};
    if (!schedule->missing || !schedule->waiting || !schedule->input_waiting || !schedule->output_waiting ||
        !schedule->output_first || !schedule->outstanding || !schedule->urgency || !schedule->unknown_inputs ||
        !schedule->fresh || !schedule->search.met || !schedule->search.met_by || !schedule->search.chain)
        return tt_fail_memory();
    count_outputs(schedule);
    return invert_dependencies(schedule);
}

/* An action on `count` nodes. There are never more actions than nodes. */
static void eval_order_add_action(struct eval_schedule *schedule, enum tt_eval_action_kind kind, uint32_t component,
                                  const uint32_t *nodes, uint32_t count)
{
    struct tt_eval_order *order = schedule->order;
    order->actions[order->action_count++] = (struct tt_eval_action){kind, component, schedule->node_total, count};
    for (uint32_t i = 0; i < count; i++)
        order->nodes[schedule->node_total++] = nodes[i];
}

static void eval_order_set_inputs(struct eval_schedule *schedule, uint32_t component)
{
    uint32_t *inputs = schedule->waiting + schedule->structure->component_first[component];
    uint32_t count = schedule->input_waiting[component];
    if (count == 0)
        return;
    qsort(inputs, count, sizeof *inputs, eval_order_compare);
    eval_order_add_action(schedule, TUTTI_ACTION_SET, component, inputs, count);
    schedule->input_waiting[component] = 0;
}

static bool queue_component(struct eval_schedule *schedule, uint32_t component)
{
    /* Outputs for which the component would have to be evaluated again, if it were evaluated now. */
    uint32_t remaining = schedule->outstanding[component] - schedule->output_waiting[component];
    uint64_t key = (uint64_t)remaining << 32 | component;
    bool too_early = schedule->unknown_inputs[component] > 0 &&
                     schedule->structure->system->components[component].fmu->desc->fmi == 1;
    schedule->urgency[component] = too_early ? key | TOO_EARLY : key;
    return queue_push(&schedule->evaluate, schedule->urgency[component]);
}

/* The last input to become known may make the component ready for more. */
static bool input_is_known(struct eval_schedule *schedule, uint32_t node)
{
    uint32_t component = schedule->structure->nodes[node].component;
    schedule->fresh[schedule->fresh_count++] = node;
    bool queued = schedule->output_waiting[component] > 0 && schedule->urgency[component] >= TOO_EARLY;
    return --schedule->unknown_inputs[component] > 0 || !queued || queue_component(schedule, component);
}

/* Returns true if a key of `evaluate` is still valid. */
static bool is_valid_key(const struct eval_schedule *schedule, uint64_t key)
{
    return key == schedule->urgency[(uint32_t)key] && schedule->output_waiting[(uint32_t)key] > 0;
}

static bool block_is_ready(struct eval_schedule *schedule, uint32_t block)
{
    const struct tt_structure *structure = schedule->structure;
    if (is_loop(&structure->scc, block))
        return queue_push(&schedule->solve, block);
    uint32_t node = structure->scc.nodes[structure->scc.first[block]], component = structure->nodes[node].component;
    if (structure->nodes[node].output) {
        schedule->waiting[schedule->output_first[component] + schedule->output_waiting[component]++] = node;
        return queue_component(schedule, component);
    }
    schedule->waiting[structure->component_first[component] + schedule->input_waiting[component]++] = node;
    return input_is_known(schedule, node);
}

/* Tells all that need the fresh nodes, and those that need what becomes known by that. */
static bool eval_order_propagate(struct eval_schedule *schedule)
{
    const struct tt_digraph *needing = &schedule->needing;
    while (schedule->fresh_count > 0) {
        uint32_t node = schedule->fresh[--schedule->fresh_count];
        for (uint32_t i = needing->first[node]; i < needing->first[node + 1]; i++) {
            uint32_t block = schedule->structure->scc.of[needing->needs[i]];
            if (--schedule->missing[block] == 0 && !block_is_ready(schedule, block))
                return false;
        }
    }
    return true;
}

static bool eval_order_get_outputs(struct eval_schedule *schedule, uint32_t component)
{
    uint32_t *outputs = schedule->waiting + schedule->output_first[component];
    uint32_t count = schedule->output_waiting[component];
    eval_order_set_inputs(schedule, component);
    qsort(outputs, count, sizeof *outputs, eval_order_compare);
    eval_order_add_action(schedule, TUTTI_ACTION_GET, component, outputs, count);
    schedule->order->evaluations++;
    schedule->outstanding[component] -= count;
    schedule->output_waiting[component] = 0;
    for (uint32_t i = 0; i < count; i++)
        schedule->fresh[schedule->fresh_count++] = outputs[i];
    return eval_order_propagate(schedule);
}

static bool eval_order_solve_loop(struct eval_schedule *schedule, uint32_t block)
{
    const struct tt_structure *structure = schedule->structure;
    const uint32_t *nodes = structure->scc.nodes + structure->scc.first[block];
    uint32_t count = structure->scc.first[block + 1] - structure->scc.first[block];
    for (uint32_t i = 0; i < count; i++) {
        eval_order_set_inputs(schedule, structure->nodes[nodes[i]].component);
        if (structure->nodes[nodes[i]].output)
            schedule->fresh[schedule->fresh_count++] = nodes[i];
        else if (!input_is_known(schedule, nodes[i]))
            return false;
    }
    eval_order_add_action(schedule, TUTTI_ACTION_SOLVE, TUTTI_NONE, nodes, count);
    schedule->order->loop_count++;
    return eval_order_propagate(schedule);
}

static bool is_better_candidate(const struct eval_candidate *a, const struct eval_candidate *b)
{
    if (a->lost != b->lost)
        return a->lost < b->lost;
    return a->reached != b->reached ? a->reached > b->reached : a->component < b->component;
}

/* Every component waits for a second one, so one must be evaluated for a part of its outputs. Only an exhaustive search
 * finds the best choice (tests/unit/model/plan/test_order.c does it). Heuristic: among the first candidates, the one
 * with the least loss; of several, the one with the most dependents. */
static bool choose_partial(struct eval_schedule *schedule, uint32_t *chosen)
{
    uint64_t keys[MOST_CANDIDATES];
    struct eval_candidate best = {.component = TUTTI_NONE, .lost = UINT32_MAX};
    uint32_t count = 0;
    while (schedule->evaluate.count > 0 && count < MOST_CANDIDATES && best.lost > 0) {
        if (schedule->evaluate.keys[0] >= TOO_EARLY && best.component != TUTTI_NONE)
            break; /* rather one evaluation more */
        uint64_t key = queue_pop(&schedule->evaluate);
        uint32_t component = (uint32_t)key;
        if (!is_valid_key(schedule, key))
            continue;
        keys[count++] = key;
        struct eval_candidate candidate = rate_component(schedule, component);
        if (is_better_candidate(&candidate, &best))
            best = candidate;
    }
    *chosen = best.component;
    for (uint32_t i = 0; i < count; i++)
        if ((uint32_t)keys[i] != *chosen && !queue_push(&schedule->evaluate, keys[i]))
            return false;
    return true;
}

/* Chooses the next component to evaluate; TUTTI_NONE if there is none. */
static bool eval_order_choose(struct eval_schedule *schedule, uint32_t *chosen)
{
    *chosen = TUTTI_NONE;
    while (schedule->evaluate.count > 0) {
        uint64_t key = schedule->evaluate.keys[0];
        bool valid = is_valid_key(schedule, key);
        if (valid && key >> 32 > 0)
            return choose_partial(schedule, chosen);
        queue_pop(&schedule->evaluate);
        if (valid) {
            *chosen = (uint32_t)key;
            return true;
        }
    }
    return true;
}

static bool eval_order_schedule(struct eval_schedule *schedule)
{
    const struct tt_structure *structure = schedule->structure;
    for (uint32_t block = 0; block < structure->scc.count; block++)
        if (schedule->missing[block] == 0 && !block_is_ready(schedule, block))
            return false;
    if (!eval_order_propagate(schedule))
        return false;
    while (schedule->solve.count > 0 || schedule->evaluate.count > 0) {
        uint32_t component = TUTTI_NONE;
        if (schedule->solve.count > 0) {
            if (!eval_order_solve_loop(schedule, (uint32_t)queue_pop(&schedule->solve)))
                return false;
        } else if (!eval_order_choose(schedule, &component) ||
                   (component != TUTTI_NONE && !eval_order_get_outputs(schedule, component))) {
            return false;
        }
    }
    for (uint32_t c = 0; c < structure->system->component_count; c++)
        eval_order_set_inputs(schedule, c);
    return true;
}

/* Lists every node separately, in Tarjan's order. set_at, evaluated_at: the action after which it is known, from 1. */
static void list_ungrouped(struct eval_schedule *schedule, uint32_t *set_at, uint32_t *evaluated_at)
{
    const struct tt_structure *structure = schedule->structure;
    struct tt_eval_order *order = schedule->order;
    for (uint32_t block = 0; block < structure->scc.count; block++) {
        const uint32_t *nodes = structure->scc.nodes + structure->scc.first[block];
        uint32_t count = structure->scc.first[block + 1] - structure->scc.first[block];
        uint32_t component = structure->nodes[nodes[0]].component;
        if (count > 1) {
            eval_order_add_action(schedule, TUTTI_ACTION_SOLVE, TUTTI_NONE, nodes, count);
            order->loop_count++;
        } else if (structure->nodes[nodes[0]].output) {
            eval_order_add_action(schedule, TUTTI_ACTION_GET, component, nodes, 1);

            /* Evaluates the component the first time, and later if something that the output needs was set since
             * (Andersson 2016 assumption 5.1, but sets that cannot change the output do not count, as in Andersson 2016
             * section 5.3.2). */
            const struct tt_digraph *graph = &structure->graph;
            bool stale = evaluated_at[component] == 0;
            for (uint32_t i = graph->first[nodes[0]]; i < graph->first[nodes[0] + 1] && !stale; i++)
                stale = set_at[graph->needs[i]] > evaluated_at[component];
            if (stale) {
                order->evaluations++;
                evaluated_at[component] = order->action_count;
            }
        } else {
            eval_order_add_action(schedule, TUTTI_ACTION_SET, component, nodes, 1);
        }
        for (uint32_t i = 0; i < count; i++)
            set_at[nodes[i]] = order->action_count;
    }
}

static enum tutti_err order_ungrouped(struct eval_schedule *schedule)
{
    uint32_t *set_at = calloc((size_t)schedule->structure->node_count + 1, sizeof *set_at);
    uint32_t *evaluated_at = calloc((size_t)schedule->structure->system->component_count + 1, sizeof *evaluated_at);
    bool made = set_at && evaluated_at;
    if (made)
        list_ungrouped(schedule, set_at, evaluated_at);
    free(set_at);
    free(evaluated_at);
    return made ? TUTTI_OK : tt_fail_memory();
}

enum tutti_err tt_eval_order_init(struct tt_eval_order *order, const struct tt_structure *structure, bool grouped)
{
    size_t nodes = (size_t)structure->node_count + 1;
    *order = (struct tt_eval_order){.actions = malloc(nodes * sizeof *order->actions),
                                    .nodes = malloc(nodes * sizeof *order->nodes)};
    struct eval_schedule schedule = {.structure = structure, .order = order};
    enum tutti_err err = TUTTI_OK;
    if (!order->actions || !order->nodes)
        err = tt_fail_memory();
    else if (!grouped)
        err = order_ungrouped(&schedule);
    else {
        err = schedule_init(&schedule, structure, order);
        if (err == TUTTI_OK && !eval_order_schedule(&schedule))
            err = tt_fail_memory();
        schedule_fini(&schedule);
    }
    if (err != TUTTI_OK)
        tt_eval_order_fini(order);
    return err;
}

void tt_eval_order_fini(struct tt_eval_order *order)
{
    free(order->actions);
    free(order->nodes);
    *order = (struct tt_eval_order){0};
}
