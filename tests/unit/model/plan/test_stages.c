/* SPDX-License-Identifier: MIT */
#include "model/plan/step_order.h"

#include "coupled.h"

static struct coupled coupled;
static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};

/* "ab bc": a's output to b's next input, b's to c's; dependencies inside units do not matter. Expected: "a|(bc)|d": a,
 * then the cycle of b and c, then d. */
static void expect(uint32_t units, const char *pairs, const char *expected)
{
    struct tt_structure structure;
    struct tt_step_stages stages;
    struct tt_text text = {0};
    uint32_t used[8] = {0};
    coupled = (struct coupled){0};
    for (uint32_t i = 0; i < units; i++)
        (void)coupled_add(&coupled, 3, i % 2 ? "111" : "000");
    for (const char *pair = pairs; *pair; pair += strspn(pair, " ")) {
        uint32_t to = (uint32_t)(pair[1] - 'a');
        coupled_join(&coupled, (uint32_t)(pair[0] - 'a'), 3, to, used[to]++);
        pair += 2;
    }
    assert_ok(tt_structure_init(&structure, &coupled.system, TUTTI_PHASE_RUN));
    assert_ok(tt_step_order_init_stages(&stages, &structure));
    uint32_t count = 0;
    for (uint32_t s = 0; s < stages.count; s++) {
        const struct tt_step_stage *stage = &stages.items[s];
        assert_int_equal(stage->first, count);
        tt_text_append(&text, s > 0 ? "|" : "");
        tt_text_append(&text, stage->cyclic ? "(" : "");
        for (uint32_t i = stage->first; i < stage->first + stage->count; i++, count++) {
            tt_text_append(&text, names[stages.components[i]]);
            assert_int_equal(stages.of[stages.components[i]], s);
        }
        tt_text_append(&text, stage->cyclic ? ")" : "");
    }
    assert_int_equal(count, units);
    assert_string_equal(text.text ? text.text : "", expected);
    tt_text_fini(&text);
    tt_step_order_fini_stages(&stages);
    tt_structure_fini(&structure);
    coupled_fini(&coupled);
}

static void cycles_are_stages_of_their_own(void **state)
{
    (void)state;
    expect(0, "", "");
    expect(3, "", "abc");
    expect(3, "ab bc", "a|b|c");
    expect(3, "cb ba", "c|b|a");
    expect(3, "ab bc ca", "(abc)");
    expect(4, "ab bc cb cd", "a|(bc)|d");
    expect(1, "aa", "(a)");
    expect(2, "aa ab", "(a)|b");
}

/* Those that do not wait for each other: units together, cycles one by one. */
static void stages_come_after_what_feeds_them(void **state)
{
    (void)state;
    expect(6, "ab ba cd dc ae ce fe", "f|(ab)|(cd)|e");
    expect(6, "ab ba fa", "cdef|(ab)");
    expect(4, "ab ba cd dc", "(ab)|(cd)");
    expect(5, "ab ac bd cd de", "a|bc|d|e");
    expect(6, "ab bc cb cd de ed ef", "a|(bc)|(de)|f");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cycles_are_stages_of_their_own),
        cmocka_unit_test(stages_come_after_what_feeds_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
