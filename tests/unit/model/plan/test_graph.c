/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "model/plan/digraph.h"
#include "solve/random.h"
#include "test.h"

enum { MANY = 1000000, SMALL = 9 };

static void rows_keep_their_order(void **state)
{
    (void)state;
    const uint32_t pairs[][2] = {{2, 1}, {0, 3}, {2, 0}, {0, 1}, {2, 1}, {0, 3}, {3, 3}};
    struct tt_digraph graph;
    assert_ok(tt_digraph_init(&graph, 4, pairs, 7));
    const uint32_t first[] = {0, 2, 2, 4, 5}, needs[] = {3, 1, 1, 0, 3};
    assert_int_equal(graph.node_count, 4);
    assert_memory_equal(graph.first, first, sizeof first);
    assert_memory_equal(graph.needs, needs, sizeof needs);
    tt_digraph_fini(&graph);
    assert_null(graph.first);
}

static void wrong_edges_are_refused(void **state)
{
    (void)state;
    struct tt_digraph graph;
    const uint32_t outside[][2] = {{0, 1}, {1, 2}};
    assert_fails(tt_digraph_init(&graph, 2, outside, 2), TUTTI_ERR_ARGUMENT, "from node 1 to node 2");
    assert_fails(tt_digraph_init(&graph, UINT32_MAX, NULL, 0), TUTTI_ERR_LIMIT, "the limit");
    tt_digraph_fini(&graph);
}

static void an_empty_graph_has_no_components(void **state)
{
    (void)state;
    struct tt_digraph graph;
    struct tt_components scc;
    assert_ok(tt_digraph_init(&graph, 0, NULL, 0));
    assert_ok(tt_digraph_components_init(&scc, &graph));
    assert_int_equal(scc.count, 0);
    assert_int_equal(scc.first[0], 0);
    tt_digraph_components_fini(&scc);
    tt_digraph_fini(&graph);
}

/* Two circles, one needing the other, and a node alone between them that needs itself. */
static void components_come_after_what_they_need(void **state)
{
    (void)state;
    const uint32_t pairs[][2] = {{0, 4}, {4, 0}, {4, 2}, {2, 2}, {2, 5}, {5, 1}, {1, 3}, {3, 5}};
    struct tt_digraph graph;
    struct tt_components scc;
    assert_ok(tt_digraph_init(&graph, 6, pairs, 8));
    assert_ok(tt_digraph_components_init(&scc, &graph));
    const uint32_t first[] = {0, 3, 4, 6}, nodes[] = {1, 3, 5, 2, 0, 4}, of[] = {2, 0, 1, 0, 2, 0};
    assert_int_equal(scc.count, 3);
    assert_memory_equal(scc.first, first, sizeof first);
    assert_memory_equal(scc.nodes, nodes, sizeof nodes);
    assert_memory_equal(scc.of, of, sizeof of);
    tt_digraph_components_fini(&scc);
    tt_digraph_fini(&graph);
}

/* Node i needs node i + 1; the last one needs nothing, or the first. */
static void check_line(bool closed)
{
    uint32_t(*pairs)[2] = malloc(MANY * sizeof *pairs);
    assert_non_null(pairs);
    for (uint32_t i = 0; i < MANY; i++) {
        pairs[i][0] = i;
        pairs[i][1] = (i + 1) % MANY;
    }
    struct tt_digraph graph;
    struct tt_components scc;
    assert_ok(tt_digraph_init(&graph, MANY, (const uint32_t(*)[2])pairs, closed ? MANY : MANY - 1));
    free(pairs);
    assert_ok(tt_digraph_components_init(&scc, &graph));
    assert_int_equal(scc.count, closed ? 1 : MANY);
    assert_int_equal(scc.first[scc.count], MANY);
    for (uint32_t i = 0; i < MANY; i++) {
        if (scc.nodes[i] != (closed ? i : MANY - 1 - i) || scc.of[i] != (closed ? 0 : MANY - 1 - i))
            fail_msg("node %u is out of place", i);
    }
    tt_digraph_components_fini(&scc);
    tt_digraph_fini(&graph);
}

static void a_chain_of_a_million_nodes(void **state)
{
    (void)state;
    check_line(false);
}

static void a_circle_of_a_million_nodes(void **state)
{
    (void)state;
    check_line(true);
}

/* Against the definition: v and w are in one component if each reaches the other (Andersson 2016 definition 5.1.3). */
static void random_graphs_against_the_definition(void **state)
{
    (void)state;
    for (int trial = 0; trial < 2000; trial++) {
        uint32_t n = 1 + (uint32_t)random_below(SMALL), pairs[2 * SMALL][2];
        size_t count = (size_t)random_below(2 * SMALL);
        bool reaches[SMALL][SMALL] = {{false}};
        for (size_t i = 0; i < count; i++) {
            pairs[i][0] = (uint32_t)random_below((int32_t)n);
            pairs[i][1] = (uint32_t)random_below((int32_t)n);
            reaches[pairs[i][0]][pairs[i][1]] = true;
        }
        for (uint32_t k = 0; k < n; k++)
            for (uint32_t i = 0; i < n; i++)
                for (uint32_t j = 0; j < n; j++)
                    reaches[i][j] |= reaches[i][k] && reaches[k][j];
        struct tt_digraph graph;
        struct tt_components scc;
        assert_ok(tt_digraph_init(&graph, n, (const uint32_t(*)[2])pairs, count));
        assert_ok(tt_digraph_components_init(&scc, &graph));
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = 0; j < n; j++) {
                bool together = i == j || (reaches[i][j] && reaches[j][i]);
                assert_int_equal(scc.of[i] == scc.of[j], together);
                if (reaches[i][j] && !together)
                    assert_true(scc.of[j] < scc.of[i]);
            }
        for (uint32_t c = 0; c < scc.count; c++)
            for (uint32_t k = scc.first[c]; k < scc.first[c + 1]; k++) {
                assert_int_equal(scc.of[scc.nodes[k]], c);
                assert_true(k == scc.first[c] || scc.nodes[k - 1] < scc.nodes[k]);
            }
        tt_digraph_components_fini(&scc);
        tt_digraph_fini(&graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_keep_their_order),
        cmocka_unit_test(wrong_edges_are_refused),
        cmocka_unit_test(an_empty_graph_has_no_components),
        cmocka_unit_test(components_come_after_what_they_need),
        cmocka_unit_test(a_chain_of_a_million_nodes),
        cmocka_unit_test(a_circle_of_a_million_nodes),
        cmocka_unit_test(random_graphs_against_the_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
