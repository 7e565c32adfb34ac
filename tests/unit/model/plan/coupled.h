/* SPDX-License-Identifier: MIT */
/* coupled.h - small systems, made by hand: models of inputs u1 ... and outputs y1 ... with given dependencies, and
 * connections between them. */
#ifndef TUTTI_TEST_COUPLED_H
#define TUTTI_TEST_COUPLED_H

#include "test.h"

#include <stdlib.h>

#include "base/text.h"
#include "description.h"
#include "model/plan/eval_order.h"
#include "model/plan/structure.h"

enum { MOST_MODELS = 64 };

struct coupled {
    struct tt_system system;
    struct tt_fmu fmus[MOST_MODELS];
};

/* FMI 2.0. depends: one row per output, of '1' and '0' per input, rows parted by blanks: "01 10"; a row "*" says
 * nothing. Variables: inputs from 0 on, then outputs. */
static inline struct tt_description *feed_through(uint32_t inputs, const char *depends)
{
    struct tt_text text = {0};
    tt_text_append(&text, "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"M\" guid=\"g\">\n"
                          "<CoSimulation modelIdentifier=\"M\"/>\n<ModelVariables>\n");
    for (uint32_t i = 0; i < inputs; i++)
        tt_text_printf(&text,
                       "<ScalarVariable name=\"u%u\" valueReference=\"%u\" causality=\"input\">"
                       "<Real start=\"0\"/></ScalarVariable>\n",
                       i + 1, i);
    struct tt_text list = {0};
    uint32_t outputs = 0;
    for (const char *row = depends; *row;) {
        size_t length = strcspn(row, " ");
        uint32_t index = inputs + ++outputs;
        tt_text_printf(&text,
                       "<ScalarVariable name=\"y%u\" valueReference=\"%u\" causality=\"output\"><Real/>"
                       "</ScalarVariable>\n",
                       outputs, index);
        tt_text_printf(&list, "<Unknown index=\"%u\"", index);
        if (*row != '*') {
            tt_text_append(&list, " dependencies=\"");
            for (uint32_t i = 0; i < inputs; i++)
                if (row[i] == '1')
                    tt_text_printf(&list, "%u ", i + 1);
            tt_text_append(&list, "\"");
        }
        tt_text_append(&list, "/>\n");
        row += length + strspn(row + length, " ");
    }
    tt_text_printf(&text,
                   "</ModelVariables>\n<ModelStructure>\n<Outputs>%s</Outputs>\n"
                   "<InitialUnknowns>%s</InitialUnknowns>\n</ModelStructure>\n</fmiModelDescription>\n",
                   list.text, list.text);
    assert_false(text.failed || list.failed);
    struct tt_description *desc = description(text.text);
    tt_text_fini(&text);
    tt_text_fini(&list);
    return desc;
}

/* Takes the description; returns the component. */
static inline uint32_t coupled_add_desc(struct coupled *coupled, struct tt_description *desc)
{
    uint32_t c = coupled->system.component_count++;
    assert_true(c < MOST_MODELS);
    coupled->system.components =
        realloc(coupled->system.components, coupled->system.component_count * sizeof *coupled->system.components);
    assert_non_null(coupled->system.components);
    coupled->fmus[c].desc = desc;
    coupled->system.components[c] = (struct tt_component){.name = "model", .fmu = &coupled->fmus[c]};
    return c;
}

static inline uint32_t coupled_add(struct coupled *coupled, uint32_t inputs, const char *depends)
{
    return coupled_add_desc(coupled, feed_through(inputs, depends));
}

/* By indices of variables. */
static inline struct tt_connection *coupled_join(struct coupled *coupled, uint32_t from, uint32_t source, uint32_t to,
                                                 uint32_t destination)
{
    struct tt_system *system = &coupled->system;
    system->connections = realloc(system->connections, (system->connection_count + 1) * sizeof *system->connections);
    assert_non_null(system->connections);
    struct tt_connection *connection = &system->connections[system->connection_count++];
    *connection = (struct tt_connection){.from = {.component = from, .variable = source},
                                         .to = {.component = to, .variable = destination}};
    return connection;
}

static inline uint32_t coupled_variable(const struct coupled *coupled, uint32_t component, const char *name)
{
    uint32_t variable = tt_description_find(coupled->system.components[component].fmu->desc, name);
    if (variable == TUTTI_NONE)
        fail_msg("component %u has no %s", component, name);
    return variable;
}

static inline struct tt_connection *coupled_connect(struct coupled *coupled, uint32_t from, const char *output,
                                                    uint32_t to, const char *input)
{
    return coupled_join(coupled, from, coupled_variable(coupled, from, output), to,
                        coupled_variable(coupled, to, input));
}

static inline void coupled_fini(struct coupled *coupled)
{
    for (uint32_t c = 0; c < coupled->system.component_count; c++)
        tt_description_free(coupled->fmus[c].desc);
    free(coupled->system.components);
    free(coupled->system.connections);
    *coupled = (struct coupled){0};
}

static inline uint32_t coupled_node(const struct coupled *coupled, const struct tt_structure *structure,
                                    uint32_t component, const char *name, bool output)
{
    return tt_structure_find(structure, component, coupled_variable(coupled, component, name), output);
}

/* The order is valid: each node once, in an action of its kind and component, after all that it needs, or in a loop
 * with it; actions follow each other without gaps; loops and evaluations are counted. */
static inline void check_order(const struct tt_structure *structure, const struct tt_eval_order *order, bool grouped)
{
    uint32_t n = structure->node_count, total = 0, loops = 0, gets = 0;
    uint32_t *place = malloc((n + 1) * sizeof *place);
    assert_non_null(place);
    memset(place, 0xff, (n + 1) * sizeof *place);
    for (uint32_t a = 0; a < order->action_count; a++) {
        const struct tt_eval_action *action = &order->actions[a];
        assert_int_equal(action->first, total);
        assert_true(action->count > 0);
        total += action->count;
        loops += action->kind == TUTTI_ACTION_SOLVE;
        gets += action->kind == TUTTI_ACTION_GET;
        assert_true((action->kind == TUTTI_ACTION_SOLVE) == (action->component == TUTTI_NONE));
        for (uint32_t i = 0; i < action->count; i++) {
            uint32_t node = order->nodes[action->first + i];
            assert_true(node < n);
            assert_int_equal(place[node], UINT32_MAX);
            place[node] = a;
            if (i > 0)
                assert_true(node > order->nodes[action->first + i - 1]);
            if (action->kind == TUTTI_ACTION_SOLVE) {
                assert_int_equal(structure->scc.of[node], structure->scc.of[order->nodes[action->first]]);
                continue;
            }
            assert_int_equal(structure->nodes[node].component, action->component);
            assert_int_equal(structure->nodes[node].output, action->kind == TUTTI_ACTION_GET);
        }
    }
    assert_int_equal(total, n);
    for (uint32_t node = 0; node < n; node++)
        for (uint32_t i = structure->graph.first[node]; i < structure->graph.first[node + 1]; i++) {
            uint32_t needed = structure->graph.needs[i];
            if (structure->scc.of[needed] == structure->scc.of[node])
                assert_int_equal(place[needed], place[node]);
            else
                assert_true(place[needed] < place[node]);
        }
    assert_int_equal(order->loop_count, loops);
    if (grouped)
        assert_int_equal(order->evaluations, gets);
    else
        assert_true(order->evaluations <= gets);
    free(place);
}

#endif
