/* SPDX-License-Identifier: MIT */
/* What ranks decide together: it must be what one rank alone, which steps all units one after the other, would have seen.
 * Every placement of 4 units on 1 to 4 ranks, everything that they may say in a step: first with reductions that are made here,
 * rank after rank; then some of it with ranks that are threads. */
#include "test.h"

#include <pthread.h>

#include "sim/ranks/shared_fabric.h"
#include "sim/coupling/coupling.h"
#include "sim/rank.h"

enum { UNITS = 4 };

/* ---- units that say something ---- */

enum word { FINE, EARLY, EARLIER, REFUSES, ENDS, WORDS };

enum { CASES = WORDS * WORDS * WORDS * WORDS };

static enum word word_of(int number, uint32_t unit)
{
    for (uint32_t u = 0; u < unit; u++)
        number /= WORDS;
    return (enum word)(number % WORDS);
}

/* Each unit reaches a separate point, unless that is compared. */
static double refused_at(uint32_t unit)
{
    return 0.1 + 0.01 * unit;
}

static double ended_at(uint32_t unit)
{
    return 0.6 - 0.01 * unit;
}

/* A rank and its master, as far as they take part in decisions. */
struct half_run {
    struct tt_rank rank;
    struct tt_sim master;
    struct tt_step_result result;
    struct tt_member members[UNITS];
    uint32_t positions[UNITS];
};

/* Units in a separate order, as in seidel. */
static uint32_t shuffled[UNITS] = {2, 0, 3, 1};

static void begin(struct half_run *half, struct tt_fabric *fabric, const int32_t *place, bool in_sequence)
{
    *half = (struct half_run){.result = tt_step_result_begin(0, 0)};
    half->rank = (struct tt_rank){.fabric = fabric, .members = half->members, .member_count = UNITS, .place = place};
    half->master.rank = &half->rank;
    for (uint32_t u = 0; u < UNITS; u++) {
        half->members[u].component = u;
        half->members[u].now.t = 7; /* where units of others are, a rank does not know */
    }
    if (!in_sequence)
        return;
    for (uint32_t i = 0; i < UNITS; i++)
        half->positions[shuffled[i]] = i;
    half->master.positions = half->positions;
    half->master.sequence.components = shuffled;
    half->master.sequence.count = UNITS;
}

/* A step of the units of this rank, one after the other, as couplings make it. */
static void step(struct half_run *half, int number)
{
    struct tt_step_result *result = &half->result;
    for (uint32_t i = 0; i < UNITS && result->end != TUTTI_END_REFUSED; i++) {
        uint32_t u = half->master.positions ? shuffled[i] : i;
        if (!tt_rank_owns(&half->rank, u))
            continue;
        switch (word_of(number, u)) {
        case REFUSES: tt_step_result_set_refused(result, u, refused_at(u)); break;
        case ENDS: tt_step_result_set_ended(result, u, ended_at(u)); break;
        case EARLY: tt_step_result_set_event(result, u, 0.5); break;
        case EARLIER: tt_step_result_set_event(result, u, 0.3); break;
        default: break;
        }
    }
}

static bool is_same(const struct tt_step_result *a, const struct tt_step_result *b)
{
    return a->end == b->end && (a->end == TUTTI_END_REACHED || (a->component == b->component && a->at == b->at));
}

static uint32_t which(const struct tt_member *member)
{
    return member ? member->component : TUTTI_NONE;
}

/* ---- one rank alone ---- */

static struct tt_step_result decide_alone(int number, bool in_sequence)
{
    static const int32_t all_here[UNITS] = {0};
    struct tt_fabric *fabric;
    struct half_run half;
    assert_ok(tt_fabric_new_local(&fabric));
    begin(&half, fabric, all_here, in_sequence);
    step(&half, number);
    assert_ok(tt_coupling_agree(&half.master, &half.result));
    fabric->kind->close(fabric);
    return half.result;
}

/* By hand, so that the rest has something to stand on. Digits of a case: unit 0, 1, 2, 3. */
static int case_of(enum word a, enum word b, enum word c, enum word d)
{
    return (int)a + WORDS * ((int)b + WORDS * ((int)c + WORDS * (int)d));
}

static void check_alone(int number, bool in_sequence, enum tt_step_end why, uint32_t who, double at)
{
    struct tt_step_result result = decide_alone(number, in_sequence);
    assert_int_equal(result.end, why);
    assert_int_equal(result.component, who);
    assert_same_double(result.at, at);
}

static void one_rank_knows_without_asking(void **state)
{
    (void)state;
    assert_int_equal(decide_alone(case_of(FINE, FINE, FINE, FINE), false).end, TUTTI_END_REACHED);
    check_alone(case_of(EARLY, EARLIER, EARLIER, EARLY), false, TUTTI_END_EVENT, 1, 0.3);
    check_alone(case_of(EARLY, EARLIER, EARLIER, EARLY), true, TUTTI_END_EVENT, 2, 0.3);
    check_alone(case_of(FINE, REFUSES, REFUSES, FINE), false, TUTTI_END_REFUSED, 1, refused_at(1));
    check_alone(case_of(FINE, REFUSES, REFUSES, FINE), true, TUTTI_END_REFUSED, 2, refused_at(2));
    check_alone(case_of(ENDS, ENDS, FINE, ENDS), false, TUTTI_END_OF_RUN, 3, ended_at(3));
    check_alone(case_of(ENDS, ENDS, FINE, ENDS), true, TUTTI_END_OF_RUN, 1, ended_at(1));
    check_alone(case_of(ENDS, EARLIER, FINE, EARLY), false, TUTTI_END_OF_RUN, 0, ended_at(0));
    /* a step that was refused is taken back: no unit has ended the run in it */
    check_alone(case_of(ENDS, REFUSES, FINE, ENDS), false, TUTTI_END_REFUSED, 1, refused_at(1));
}

/* ---- several ---- */

enum { PLACEMENTS = 15 };

/* All ways to divide the units among ranks, up to the ranks' names; each has the number of ranks after it. */
static const int32_t placements[PLACEMENTS][UNITS + 1] = {
    {0, 0, 0, 0, 1}, {0, 0, 0, 1, 2}, {0, 0, 1, 0, 2}, {0, 0, 1, 1, 2}, {0, 0, 1, 2, 3},
    {0, 1, 0, 0, 2}, {0, 1, 0, 1, 2}, {0, 1, 0, 2, 3}, {0, 1, 1, 0, 2}, {0, 1, 1, 1, 2},
    {0, 1, 1, 2, 3}, {0, 1, 2, 0, 3}, {0, 1, 2, 1, 3}, {0, 1, 2, 2, 3}, {0, 1, 2, 3, 4},
};

/* The units' answers and positions. */
struct question {
    int number;
    bool in_sequence;
    int ranks;
    int32_t place[UNITS];
};

/* A rank's part in the question, up to the answer; false if the answer is wrong. */
typedef enum tutti_err take_part(const struct question *question, struct tt_fabric *fabric, bool *good);

/* For all placements, with ranks by all their names in turn, and every `stride`-th case. */
static void ask_everywhere(int stride, void (*ask)(const struct question *question, take_part *part), take_part *part)
{
    for (int p = 0; p < PLACEMENTS; p++)
        for (int number = p % stride; number < CASES; number += stride) {
            struct question question = {.number = number, .ranks = placements[p][UNITS]};
            for (int u = 0; u < UNITS; u++)
                question.place[u] = (placements[p][u] + number) % question.ranks;
            ask(&question, part);
            question.in_sequence = true;
            ask(&question, part);
        }
}

static void complain(const struct question *question, int rank)
{
    const int32_t *place = question->place;
    int n = question->number;
    fail_msg("rank %d of %d: units on %d %d %d %d that say %d %d %d %d%s", rank, question->ranks, place[0], place[1],
             place[2], place[3], word_of(n, 0), word_of(n, 1), word_of(n, 2), word_of(n, 3),
             question->in_sequence ? ", in sequence" : "");
}

/* ---- ... one after the other: each comes as far as it knows what was reduced ---- */

enum { MOST_REDUCTIONS = 8, MOST_VALUES = 4 };

struct replay {
    struct tt_fabric fabric;
    _Atomic uint64_t stop_after;
    struct tt_heartbeat where;
    double known[MOST_REDUCTIONS][MOST_VALUES];
    int known_count, at;
    enum tt_fabric_reduction reduction; /* what the rank wants next, and what it brings */
    size_t count;
    double brought[MOST_VALUES];
};

static enum tutti_err reduce(struct tt_fabric *fabric, enum tt_fabric_reduction reduction, double *values, size_t count)
{
    struct replay *replay = (struct replay *)fabric;
    assert_true(count <= MOST_VALUES);
    if (replay->at < replay->known_count) {
        memcpy(values, replay->known[replay->at++], count * sizeof *values);
        return TUTTI_OK;
    }
    replay->reduction = reduction;
    replay->count = count;
    memcpy(replay->brought, values, count * sizeof *values);
    return tt_fabric_fail_stopped();
}

static const struct tt_fabric_kind replaying = {.name = "replaying", .reduce = reduce};

/* All ranks want the same (F1): it is made. */
static void combine(struct replay *ranks, int count)
{
    double values[MOST_VALUES];
    memcpy(values, ranks[0].brought, sizeof values);
    for (int r = 1; r < count; r++) {
        assert_int_equal(ranks[r].reduction, ranks[0].reduction);
        assert_int_equal(ranks[r].count, ranks[0].count);
        tt_fabric_combine(ranks[0].reduction, values, ranks[r].brought, ranks[0].count);
    }
    for (int r = 0; r < count; r++) {
        assert_true(ranks[r].known_count < MOST_REDUCTIONS);
        memcpy(ranks[r].known[ranks[r].known_count++], values, sizeof values);
        ranks[r].at = 0;
    }
}

static void ask_in_turn(const struct question *question, take_part *part)
{
    struct replay ranks[UNITS] = {0};
    int done = 0;
    for (int r = 0; r < question->ranks; r++)
        ranks[r].fabric = (struct tt_fabric){.kind = &replaying,
                                             .rank = r,
                                             .ranks = question->ranks,
                                             .stop_after = &ranks[r].stop_after,
                                             .where = &ranks[r].where};
    while (done == 0) {
        for (int r = 0; r < question->ranks; r++) {
            bool good = false;
            enum tutti_err err = part(question, &ranks[r].fabric, &good);
            done += !err;
            if (err != TUTTI_ERR_STOPPED && (err || !good))
                complain(question, r);
        }
        if (done == 0)
            combine(ranks, question->ranks);
    }
    assert_int_equal(done, question->ranks); /* no rank wants to know more than others */
}

/* ---- ... and at once ---- */

struct attendant {
    const struct question *question;
    take_part *part;
    struct tt_fabric *fabric;
    bool good;
};

static void *attend(void *context)
{
    struct attendant *self = context;
    if (self->part(self->question, self->fabric, &self->good))
        self->good = false;
    return NULL;
}

static void ask_at_once(const struct question *question, take_part *part)
{
    struct tt_shared_fabric *area;
    struct attendant attendants[UNITS];
    pthread_t threads[UNITS];
    assert_ok(tt_shared_fabric_new(&area, question->ranks, "threads"));
    for (int r = 0; r < question->ranks; r++) {
        attendants[r] = (struct attendant){.question = question, .part = part};
        assert_ok(tt_shared_fabric_join(area, r, &attendants[r].fabric));
    }
    for (int r = 0; r < question->ranks; r++)
        assert_int_equal(pthread_create(&threads[r], NULL, attend, &attendants[r]), 0);
    for (int r = 0; r < question->ranks; r++)
        assert_int_equal(pthread_join(threads[r], NULL), 0);
    for (int r = 0; r < question->ranks; r++) {
        attendants[r].fabric->kind->close(attendants[r].fabric);
        if (!attendants[r].good)
            complain(question, r);
    }
    tt_shared_fabric_free(area);
}

/* Threads are expensive with few cores: of all cases one in STRIDE, different ones for each placement. */
enum { STRIDE = 97 };

static void ask_all(take_part *part)
{
    ask_everywhere(1, ask_in_turn, part);
    ask_everywhere(STRIDE, ask_at_once, part);
}

/* ---- what is asked ---- */

static struct tt_step_result expected[2][CASES];

static enum tutti_err decide_step(const struct question *question, struct tt_fabric *fabric, bool *good)
{
    struct half_run half;
    begin(&half, fabric, question->place, question->in_sequence);
    step(&half, question->number);
    TRY(tt_coupling_agree(&half.master, &half.result));
    *good = is_same(&half.result, &expected[question->in_sequence][question->number]);
    return TUTTI_OK;
}

static void ranks_decide_as_one_would(void **state)
{
    (void)state;
    for (int number = 0; number < CASES; number++)
        for (int in_sequence = 0; in_sequence < 2; in_sequence++)
            expected[in_sequence][number] = decide_alone(number, in_sequence);
    ask_all(decide_step);
}

/* Of words EARLY is an event to cross, REFUSES an input that jumped. Units settle in their own order, whatever the sequence. */
static enum tutti_err decide_point(const struct question *question, struct tt_fabric *fabric, bool *good)
{
    struct half_run half;
    struct tt_point_events here = {0};
    bool any_pending = false, any_jumped = false;
    uint32_t last = TUTTI_NONE;
    begin(&half, fabric, question->place, question->in_sequence);
    for (uint32_t u = 0; u < UNITS; u++) {
        enum word word = word_of(question->number, u);
        any_pending = any_pending || word == EARLY;
        any_jumped = any_jumped || word == REFUSES;
        last = word == ENDS ? u : last;
        if (question->place[u] != fabric->rank)
            continue;
        here.pending = here.pending || word == EARLY;
        here.jumped = here.jumped || word == REFUSES;
        if (word == ENDS)
            half.rank.ended = &half.members[u];
    }
    TRY(tt_rank_agree_point(&half.rank, &here));
    *good = here.pending == any_pending && here.jumped == any_jumped && which(half.rank.ended) == last;
    return TUTTI_OK;
}

static void points_are_the_same_for_all(void **state)
{
    (void)state;
    ask_all(decide_point);
}

/* Is any unit not fine; the least and the greatest number of all ranks. */
static enum tutti_err find_extremes(const struct question *question, struct tt_fabric *fabric, bool *good)
{
    struct half_run half;
    double number = question->number, all_least = INFINITY, all_most = -INFINITY;
    double least[] = {INFINITY, number}, most[] = {-INFINITY, -number};
    bool any = false, really = false;
    begin(&half, fabric, question->place, question->in_sequence);
    for (uint32_t u = 0; u < UNITS; u++) {
        double value = word_of(question->number, u);
        really = really || value > 0;
        all_least = fmin(all_least, value);
        all_most = fmax(all_most, value);
        if (question->place[u] != fabric->rank)
            continue;
        any = any || value > 0;
        least[0] = fmin(least[0], value);
        most[0] = fmax(most[0], value);
    }
    TRY(tt_rank_agree_any(&half.rank, &any));
    TRY(tt_rank_reduce(&half.rank, TUTTI_REDUCE_MIN, least, 2));
    TRY(tt_rank_reduce(&half.rank, TUTTI_REDUCE_MAX, most, 2));
    *good = any == really && least[0] == all_least && most[0] == all_most && least[1] == number && most[1] == -number;
    return TUTTI_OK;
}

static void questions_have_one_answer(void **state)
{
    (void)state;
    ask_all(find_extremes);
}

/* One rank does not take part: the others are stopped, and report it. */
static void a_decision_ends_where_the_run_is_stopped(void **state)
{
    (void)state;
    static const int32_t place[UNITS] = {0, 0, 1, 1};
    for (int which_one = 0; which_one < 3; which_one++) {
        struct tt_shared_fabric *area;
        struct tt_fabric *fabrics[2];
        struct half_run half;
        bool any = true;
        struct tt_point_events here = {0};
        assert_ok(tt_shared_fabric_new(&area, 2, "threads"));
        for (int r = 0; r < 2; r++)
            assert_ok(tt_shared_fabric_join(area, r, &fabrics[r]));
        fabrics[1]->kind->stop(fabrics[1], 0);
        begin(&half, fabrics[0], place, false);
        step(&half, case_of(ENDS, FINE, FINE, FINE));
        enum tutti_err err = which_one == 0   ? tt_coupling_agree(&half.master, &half.result)
                             : which_one == 1 ? tt_rank_agree_point(&half.rank, &here)
                                              : tt_rank_agree_any(&half.rank, &any);
        assert_int_equal(err, TUTTI_ERR_STOPPED);
        for (int r = 0; r < 2; r++)
            fabrics[r]->kind->close(fabrics[r]);
        tt_shared_fabric_free(area);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_rank_knows_without_asking),
        cmocka_unit_test(ranks_decide_as_one_would),
        cmocka_unit_test(points_are_the_same_for_all),
        cmocka_unit_test(questions_have_one_answer),
        cmocka_unit_test(a_decision_ends_where_the_run_is_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
