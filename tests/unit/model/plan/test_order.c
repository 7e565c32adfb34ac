/* SPDX-License-Identifier: MIT */
#include "model/plan/eval_order.h"

#include "coupled.h"
#include "reference.h"
#include "solve/random.h"

static struct coupled coupled;
static struct tt_structure structure;
static struct tt_eval_order order, single;

static void release(void)
{
    tt_eval_order_fini(&order);
    tt_eval_order_fini(&single);
    tt_structure_fini(&structure);
    coupled_fini(&coupled);
}

static int teardown(void **state)
{
    (void)state;
    release();
    return 0;
}

static void analyse(void)
{
    assert_ok(tt_structure_init(&structure, &coupled.system, TUTTI_PHASE_INITIAL));
    assert_ok(tt_eval_order_init(&order, &structure, true));
    assert_ok(tt_eval_order_init(&single, &structure, false));
    check_order(&structure, &order, true);
    check_order(&structure, &single, false);
    assert_int_equal(order.loop_count, single.loop_count);
}

/* "get 1.y1; set 2.u1; ...": models from 1, as in Andersson 2016. */
static void expect_actions(const struct tt_eval_order *actual, const char *expected)
{
    static const char *const kinds[] = {"set", "get", "solve"};
    struct tt_text text = {0};
    for (uint32_t a = 0; a < actual->action_count; a++) {
        const struct tt_eval_action *action = &actual->actions[a];
        tt_text_printf(&text, "%s%s", a ? "; " : "", kinds[action->kind]);
        for (uint32_t i = 0; i < action->count; i++) {
            const struct tt_structure_node *node = &structure.nodes[actual->nodes[action->first + i]];
            tt_text_printf(&text, " %u.%s", node->component + 1,
                           coupled.fmus[node->component].desc->vars[node->variable].name);
        }
    }
    assert_string_equal(text.text ? text.text : "", expected);
    tt_text_fini(&text);
}

/* Andersson 2016 example 5.0.1, with the order of example 5.1.2. */
static void example_5_0_1(void **state)
{
    (void)state;
    uint32_t a = coupled_add(&coupled, 1, "0"), b = coupled_add(&coupled, 1, "1");
    coupled_connect(&coupled, a, "y1", b, "u1");
    coupled_connect(&coupled, b, "y1", a, "u1");
    analyse();
    expect_actions(&order, "get 1.y1; set 2.u1; get 2.y1; set 1.u1");
    expect_actions(&single, "get 1.y1; set 2.u1; get 2.y1; set 1.u1");
    assert_int_equal(order.evaluations, 2);
}

/* Andersson 2016 example 5.1.1. A fourth model stands for the world outside: it gives u1 of the first and takes y2 of the third. */
static void connect_figure(const char *second)
{
    uint32_t a = coupled_add(&coupled, 2, "01 10"), b = coupled_add(&coupled, 2, second);
    uint32_t c = coupled_add(&coupled, 2, "01 10"), world = coupled_add(&coupled, 1, "0");
    coupled_connect(&coupled, world, "y1", a, "u1");
    coupled_connect(&coupled, a, "y1", b, "u1");
    coupled_connect(&coupled, a, "y2", b, "u2");
    coupled_connect(&coupled, b, "y2", c, "u1");
    coupled_connect(&coupled, b, "y1", c, "u2");
    coupled_connect(&coupled, c, "y1", a, "u2");
    coupled_connect(&coupled, c, "y2", world, "u1");
    analyse();
}

static void example_5_1_1(void **state)
{
    (void)state;
    connect_figure("11 10");
    uint32_t larger = 0, block = TUTTI_NONE;
    for (uint32_t c = 0; c < structure.scc.count; c++)
        if (structure.scc.first[c + 1] - structure.scc.first[c] > 1) {
            larger++;
            block = c;
        }
    assert_int_equal(larger, 1);
    /* u2[1] -> y1[1] -> u1[2] -> y1[2] -> u2[3] -> y1[3] -> u2[1] */
    assert_int_equal(structure.scc.first[block + 1] - structure.scc.first[block], 6);
    expect_actions(&order, "get 4.y1; set 1.u1; get 1.y2; set 2.u2; solve 1.u2 1.y1 2.u1 2.y1 3.u2 3.y1; get 2.y2; "
                           "set 3.u1; get 3.y2; set 4.u1");
    assert_int_equal(order.loop_count, 1);
    assert_int_equal(order.evaluations, 4);
}

/* Andersson 2016 figure 5.1: the same without the dependency of y1 on u1 in the second model has no loop. */
static void figure_5_1(void **state)
{
    (void)state;
    connect_figure("01 10");
    assert_int_equal(order.loop_count, 0);
    assert_int_equal(structure.scc.count, structure.node_count);
    expect_actions(&order, "get 4.y1; set 1.u1; get 1.y2; set 2.u2; get 2.y1; set 3.u2; get 3.y1; set 1.u2; get 1.y1; "
                           "set 2.u1; get 2.y2; set 3.u1; get 3.y2; set 4.u1");
}

/* Andersson 2016 example 5.2.1: one by one the second model is evaluated twice, in either order. */
static void example_5_2_1(void **state)
{
    (void)state;
    uint32_t a = coupled_add(&coupled, 1, "1"), b = coupled_add(&coupled, 2, "01 10");
    uint32_t world = coupled_add(&coupled, 2, "00");
    coupled_connect(&coupled, world, "y1", a, "u1");
    coupled_connect(&coupled, a, "y1", b, "u1");
    coupled_connect(&coupled, a, "y1", b, "u2");
    coupled_connect(&coupled, b, "y1", world, "u1");
    coupled_connect(&coupled, b, "y2", world, "u2");
    analyse();
    expect_actions(&order, "get 3.y1; set 1.u1; get 1.y1; set 2.u1 2.u2; get 2.y1 2.y2; set 3.u1 3.u2");
    assert_int_equal(order.evaluations, 3);
}

/* Andersson 2016 example 5.2.2: the outputs of the second model go to inputs without feed-through. One by one they are taken while
 * its inputs come in; together once. */
static void example_5_2_2(void **state)
{
    (void)state;
    uint32_t a = coupled_add(&coupled, 0, "0 0 0"), b = coupled_add(&coupled, 3, "100 010 001");
    uint32_t c = coupled_add(&coupled, 3, "000");
    coupled_connect(&coupled, a, "y1", b, "u1");
    coupled_connect(&coupled, a, "y2", b, "u2");
    coupled_connect(&coupled, a, "y3", b, "u3");
    coupled_connect(&coupled, b, "y1", c, "u1");
    coupled_connect(&coupled, b, "y2", c, "u2");
    coupled_connect(&coupled, b, "y3", c, "u3");
    analyse();
    expect_actions(&order, "get 1.y1 1.y2 1.y3; set 2.u1 2.u2 2.u3; get 2.y1 2.y2 2.y3; set 3.u1 3.u2 3.u3");
    assert_int_equal(order.evaluations, 2);
}

/* Andersson 2016 section 5.3.2: a chassis without feed-through, four wheels whose torque and force (six outputs) depend on the motion
 * of the hub (six inputs here, one each) and on the spin velocity. */
static void race_car(void **state)
{
    (void)state;
    enum { WHEELS = 4, AXES = 6, GIVEN = AXES + 1 };
    char rows[1000] = "";
    for (unsigned i = 0; i < WHEELS * GIVEN; i++)
        strcat(rows, "000000000000000000000000 ");
    uint32_t chassis = coupled_add(&coupled, WHEELS * AXES, rows);
    for (unsigned w = 0; w < WHEELS; w++) {
        uint32_t wheel = coupled_add(&coupled, GIVEN, "1000001 0100001 0010001 0001001 0000101 0000011");
        for (unsigned i = 0; i < GIVEN; i++)
            coupled_join(&coupled, chassis, WHEELS * AXES + w * GIVEN + i, wheel, i);
        for (unsigned i = 0; i < AXES; i++)
            coupled_join(&coupled, wheel, GIVEN + i, chassis, w * AXES + i);
    }
    analyse();
    assert_int_equal(order.loop_count, 0);
    assert_int_equal(single.evaluations, 25);
    assert_int_equal(order.evaluations, 5);
    assert_int_equal(order.action_count, 10);
}

/* An FMI 1.0 component is read when its inputs are known, though its output does not need them; in a ring of such
 * components one has to be the first. */
static void fmi1_comes_last(void **state)
{
    (void)state;
    for (uint32_t first = 0; first < 2; first++) {
        uint32_t a = coupled_add(&coupled, 1, "0"), b = coupled_add(&coupled, 1, "0");
        coupled.fmus[first].desc->fmi = 1;
        coupled_connect(&coupled, b, "y1", a, "u1");
        coupled_connect(&coupled, a, "y1", b, "u1");
        analyse();
        expect_actions(&order, first == 0 ? "get 2.y1; set 1.u1; get 1.y1; set 2.u1"
                                          : "get 1.y1; set 2.u1; get 2.y1; set 1.u1");
        release();
    }
    uint32_t a = coupled_add(&coupled, 1, "0"), b = coupled_add(&coupled, 1, "0");
    coupled.fmus[a].desc->fmi = coupled.fmus[b].desc->fmi = 1;
    coupled_connect(&coupled, b, "y1", a, "u1");
    coupled_connect(&coupled, a, "y1", b, "u1");
    analyse();
    expect_actions(&order, "get 1.y1; set 2.u1; get 2.y1; set 1.u1");
}

/* ... also if another one has to be evaluated twice for it: y1 is read before u1, which y2 needs, is known. */
static void fmi1_comes_last_at_a_price(void **state)
{
    (void)state;
    uint32_t old = coupled_add(&coupled, 1, "0"), other = coupled_add(&coupled, 1, "0 1");
    coupled.fmus[old].desc->fmi = 1;
    coupled_connect(&coupled, other, "y1", old, "u1");
    coupled_connect(&coupled, old, "y1", other, "u1");
    coupled_connect(&coupled, other, "y2", coupled_add(&coupled, 1, "0"), "u1");
    analyse();
    expect_actions(&order, "get 2.y1; set 1.u1; get 1.y1; set 2.u1; get 2.y2; set 3.u1");
}

static void nothing_connected(void **state)
{
    (void)state;
    coupled_add(&coupled, 1, "1");
    analyse();
    assert_int_equal(order.action_count, 0);
    assert_int_equal(order.evaluations, 0);
}

/* Two loops, one after the other, and an output of the first one's model that both leave alone. */
static void loops_in_a_row(void **state)
{
    (void)state;
    uint32_t a = coupled_add(&coupled, 1, "1 1"), b = coupled_add(&coupled, 2, "11 01"),
             c = coupled_add(&coupled, 2, "11");
    coupled_connect(&coupled, a, "y1", b, "u2");
    coupled_connect(&coupled, b, "y2", a, "u1");
    coupled_connect(&coupled, b, "y1", c, "u1");
    coupled_connect(&coupled, c, "y1", b, "u1");
    coupled_connect(&coupled, a, "y2", c, "u2");
    analyse();
    expect_actions(&order, "solve 1.u1 1.y1 2.u2 2.y2; get 1.y2; set 3.u2; solve 2.u1 2.y1 3.u1 3.y1");
}

/* Two models that need each other all the way up: rung i of one needs rung i of the other, that one rung i - 1 of the
 * first. Each evaluation gives one output; looking ahead must not make it quadratic. */
static void a_ladder_of_many_rungs(void **state)
{
    (void)state;
    enum { RUNGS = 100000, NODES = 4 * RUNGS };
    struct tt_description desc = {.fmi = 2};
    struct tt_fmu fmu = {.desc = &desc};
    struct tt_component components[] = {{.fmu = &fmu}, {.fmu = &fmu}};
    struct tt_system system = {.components = components, .component_count = 2};
    uint32_t component_first[] = {0, 2 * RUNGS, NODES};
    structure = (struct tt_structure){.system = &system, .node_count = NODES};
    structure.nodes = calloc(NODES, sizeof *structure.nodes);
    structure.component_first = malloc(sizeof component_first);
    uint32_t(*pairs)[2] = malloc(NODES * sizeof *pairs), count = 0;
    assert_true(structure.nodes && structure.component_first && pairs);
    memcpy(structure.component_first, component_first, sizeof component_first);
    for (uint32_t c = 0; c < 2; c++)
        for (uint32_t i = 0; i < RUNGS; i++) {
            uint32_t input = 2 * RUNGS * c + i, output = input + RUNGS, other = 2 * RUNGS * (1 - c) + RUNGS + i;
            structure.nodes[input] = (struct tt_structure_node){c, i, false};
            structure.nodes[output] = (struct tt_structure_node){c, RUNGS + i, true};
            pairs[count][0] = output;
            pairs[count++][1] = input;
            if (c == 0 && i == 0)
                continue;
            pairs[count][0] = input;
            pairs[count++][1] = c == 0 ? other - 1 : other;
        }
    assert_ok(tt_digraph_init(&structure.graph, NODES, (const uint32_t(*)[2])pairs, count));
    free(pairs);
    assert_ok(tt_digraph_components_init(&structure.scc, &structure.graph));
    assert_ok(tt_eval_order_init(&order, &structure, true));
    check_order(&structure, &order, true);
    assert_int_equal(order.evaluations, 2 * RUNGS);
}

/* Some models with inputs and outputs, every input connected to some output of any model, or not. An output depends on
 * inputs at random; without loops only on those whose source is before it in a random order of all outputs. */
enum { LARGEST = 5, PORTS = 4 };

static void make_random(bool loops)
{
    uint32_t models = 2 + (uint32_t)random_below(LARGEST - 1), inputs[LARGEST], outputs[LARGEST];
    uint32_t source[LARGEST][PORTS], rank[LARGEST][PORTS];
    int density = 1 + random_below(3);
    for (uint32_t m = 0, room = MOST_OUTPUTS; m < models; m++) {
        uint32_t most = room - (models - 1 - m) < PORTS ? room - (models - 1 - m) : PORTS;
        inputs[m] = 1 + (uint32_t)random_below(PORTS);
        outputs[m] = 1 + (uint32_t)random_below((int32_t)most);
        room -= outputs[m];
        for (uint32_t i = 0; i < PORTS; i++)
            rank[m][i] = (uint32_t)random_below(1000000);
    }
    for (uint32_t m = 0; m < models; m++)
        for (uint32_t i = 0; i < inputs[m]; i++) {
            uint32_t from = (uint32_t)random_below((int32_t)models);
            source[m][i] = from * PORTS + (uint32_t)random_below((int32_t)outputs[from]);
        }
    for (uint32_t m = 0; m < models; m++) {
        char depends[PORTS * (PORTS + 1) + 1], *at = depends;
        for (uint32_t row = 0; row < outputs[m]; row++, *at++ = ' ')
            for (uint32_t i = 0; i < inputs[m]; i++) {
                bool possible = loops || rank[source[m][i] / PORTS][source[m][i] % PORTS] < rank[m][row];
                *at++ = possible && random_below(4) < density ? '1' : '0';
            }
        *at = '\0';
        coupled_add(&coupled, inputs[m], depends);
    }
    for (uint32_t m = 0; m < models; m++)
        for (uint32_t i = 0; i < inputs[m]; i++)
            if (random_below(16) > 0)
                coupled_join(&coupled, source[m][i] / PORTS, inputs[source[m][i] / PORTS] + source[m][i] % PORTS, m, i);
}

static void random_systems_against_the_optimum(void **state)
{
    (void)state;
    enum { TRIALS = 4000 };
    uint32_t best = 0, optimum = 0, ours = 0, published = 0, published_best = 0, singly = 0, most = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        make_random(trial % 4 == 0);
        analyse();
        uint32_t least = least_evaluations(&structure), paper = published_evaluations(&structure);
        assert_true(order.evaluations >= least);
        optimum += least;
        ours += order.evaluations;
        published += paper;
        singly += single.evaluations;
        best += order.evaluations == least;
        published_best += paper == least;
        if (order.evaluations - least > most)
            most = order.evaluations - least;
        release();
    }
    print_message("%d systems: the least is %u evaluations, found in %u, %u at most too many; %u evaluations in all. "
                  "Andersson 2016 "
                  "Alg. 2: %u, the least in %u. One by one: %u.\n",
                  TRIALS, optimum, best, most, ours, published, published_best, singly);
    assert_true(ours <= published);
    assert_true(best > TRIALS / 100 * 99);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(example_5_0_1, teardown),
        cmocka_unit_test_teardown(example_5_1_1, teardown),
        cmocka_unit_test_teardown(figure_5_1, teardown),
        cmocka_unit_test_teardown(example_5_2_1, teardown),
        cmocka_unit_test_teardown(example_5_2_2, teardown),
        cmocka_unit_test_teardown(race_car, teardown),
        cmocka_unit_test_teardown(fmi1_comes_last, teardown),
        cmocka_unit_test_teardown(fmi1_comes_last_at_a_price, teardown),
        cmocka_unit_test_teardown(nothing_connected, teardown),
        cmocka_unit_test_teardown(loops_in_a_row, teardown),
        cmocka_unit_test_teardown(a_ladder_of_many_rungs, teardown),
        cmocka_unit_test_teardown(random_systems_against_the_optimum, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
