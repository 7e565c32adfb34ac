/* SPDX-License-Identifier: MIT */
/* The table of a macro step: every state with every case, and the way from each state to the end. */
#include "test.h"

#include "sim/step.h"

enum { NO = TUTTI_STEP_DONE + 1, STATES = TUTTI_STEP_DONE };

#define TRIED TUTTI_STEP_TRY
#define LOCATING TUTTI_STEP_LOCATE
#define CROSSING TUTTI_STEP_CROSS
#define ENDS TUTTI_STEP_DONE

/* The state that follows, per case: from an attempt, from a location, from a step across an event. */
static const struct {
    enum tt_step_case found;
    int next[STATES];
} EXPECTED[] = {
    {TUTTI_CASE_GOOD, {ENDS, NO, ENDS}},
    {TUTTI_CASE_ALL_AT_EVENT, {ENDS, NO, NO}},
    {TUTTI_CASE_TOO_INEXACT, {TRIED, NO, NO}},
    {TUTTI_CASE_JUMP, {LOCATING, NO, NO}},
    {TUTTI_CASE_REFUSED, {TRIED, NO, TRIED}},
    {TUTTI_CASE_EVENT, {TRIED, NO, NO}},
    {TUTTI_CASE_EVENT_AT_START, {TRIED, NO, NO}},
    {TUTTI_CASE_EVENT_AGAIN, {LOCATING, NO, NO}},
    {TUTTI_CASE_EVENT_REPEATED, {CROSSING, NO, NO}},
    {TUTTI_CASE_CHANGED, {LOCATING, NO, NO}},
    {TUTTI_CASE_CHANGED_LATE, {TRIED, NO, NO}},
    {TUTTI_CASE_END_OF_RUN, {TRIED, NO, NO}},
    {TUTTI_CASE_ENDED_AT_START, {ENDS, NO, NO}},
    {TUTTI_CASE_NARROWED, {NO, LOCATING, NO}},
    {TUTTI_CASE_LOCATED, {NO, TRIED, NO}},
    {TUTTI_CASE_LOCATED_AT_START, {NO, CROSSING, NO}},
};

static void every_state_with_every_case(void **state)
{
    (void)state;
    assert_int_equal(sizeof EXPECTED / sizeof *EXPECTED, TUTTI_STEP_CASES);
    for (int c = 0; c < TUTTI_STEP_CASES; c++)
        for (int s = 0; s < STATES; s++) {
            enum tt_step_state next;
            bool possible = tt_step_next((enum tt_step_state)s, EXPECTED[c].found, &next);
            assert_int_equal(EXPECTED[c].found, c);
            assert_int_equal(possible ? (int)next : (int)NO, EXPECTED[c].next[s]);
        }
}

/* A state that could not be left towards the end would keep a run for ever. */
static void every_state_leads_to_the_end(void **state)
{
    (void)state;
    bool ends[STATES] = {false};
    for (int round = 0; round < STATES; round++)
        for (int s = 0; s < STATES; s++)
            for (int c = 0; c < TUTTI_STEP_CASES; c++) {
                enum tt_step_state next;
                if (tt_step_next((enum tt_step_state)s, (enum tt_step_case)c, &next))
                    ends[s] = ends[s] || next == TUTTI_STEP_DONE || ends[next];
            }
    for (int s = 0; s < STATES; s++)
        assert_true(ends[s]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_state_with_every_case),
        cmocka_unit_test(every_state_leads_to_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
