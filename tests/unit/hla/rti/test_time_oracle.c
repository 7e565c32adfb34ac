/* SPDX-License-Identifier: MIT */
/* Thousands of random federations against a sequential oracle.
 *
 * The oracle knows the rules and nothing of the code: it keeps every message of every federate in plain lists, finds what can still come by
 * repeating the definition until nothing changes, and grants one federate after the other until none can be granted. It says which callbacks each
 * federate gets after every call; the RTI must say the same, to the bit. What must hold whatever the rules say is checked of the callbacks
 * themselves: no message below a grant, time order, nothing lost, and that not all wait. */
#include "rti_helper.h"

enum { FEDERATES = 6, MESSAGES = 400, CALLS = 120, EXPECTED = 2000 };

/* "From value on", or "after value". */
struct from {
    double value;
    int after;
};
static const struct from never = {INFINITY, 1};

static bool earlier(struct from a, struct from b)
{
    return a.value < b.value || (a.value == b.value && a.after < b.after);
}

struct expectation {
    enum tt_callback_kind kind;
    double time;
    int message; /* -1: none */
    enum tt_message_order received;
};

struct member {
    bool joined;
    uint32_t handle;
    struct tt_ambassador *a;
    bool regulating, constrained, constrained_pending, asynchronous;
    double now, lookahead, target;
    bool strict;  /* nothing at `now` any more */
    bool assured; /* by the grant that it got as a constrained federate: nothing comes at `now` any more */
    struct from promise;
    enum tt_time_advance pending;
    struct expectation expected[EXPECTED];
    int expected_count;
    double last_stamp; /* of what it got in time order since its last grant */
};

struct sent {
    int sender; /* index of the member */
    uint32_t handle;
    double time;
    bool in_order, retractable, retracted;
    uint64_t retraction;
    enum { NOT_FOR_IT, QUEUED, HELD, DELIVERED } at[FEDERATES];
};

static struct member members[FEDERATES];
static struct sent sent[MESSAGES];
static int sent_count;
static struct world w;
static uint64_t seed;
static uint64_t hash;

static unsigned dice(unsigned sides)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % sides;
}

static void mix(uint64_t value)
{
    hash = (hash ^ value) * 1099511628211u;
}

/* The oracle */

static struct from promised(double t, double lookahead, bool strict)
{
    double sum = t + lookahead;
    return (struct from){sum, sum == t && strict};
}

static int first_queued(int f)
{
    int first = -1;
    for (int m = 0; m < sent_count; m++) {
        if (sent[m].at[f] != QUEUED)
            continue;
        if (first < 0 || sent[m].time < sent[first].time ||
            (sent[m].time == sent[first].time && sent[m].handle < sent[first].handle))
            first = m;
    }
    return first;
}

static bool waits_for_message(const struct member *m)
{
    return m->constrained && (m->pending == TUTTI_ADVANCE_NMR || m->pending == TUTTI_ADVANCE_NMRA);
}

static double next_point(int f)
{
    int first = first_queued(f);
    return first >= 0 && sent[first].time < members[f].target ? sent[first].time : members[f].target;
}

static struct from galt_among(int f, const struct from *bounds)
{
    struct from least = never;
    for (int j = 0; j < FEDERATES; j++)
        if (j != f && members[j].joined && members[j].regulating && earlier(bounds[j], least))
            least = bounds[j];
    return least;
}

/* Begins with what each would do if it heard nothing, and lowers until it is so. */
static void find_bounds(struct from *bounds)
{
    for (int j = 0; j < FEDERATES; j++) {
        const struct member *m = &members[j];
        bounds[j] = m->promise;
        if (m->joined && waits_for_message(m)) {
            struct from own = promised(next_point(j), m->lookahead, m->pending == TUTTI_ADVANCE_NMR);
            bounds[j] = earlier(own, m->promise) ? m->promise : own;
        }
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (int j = 0; j < FEDERATES; j++) {
            const struct member *m = &members[j];
            struct from galt = galt_among(j, bounds);
            if (!m->joined || !m->regulating || !waits_for_message(m) || isinf(galt.value))
                continue;
            struct from heard = promised(galt.value, m->lookahead, m->pending == TUTTI_ADVANCE_NMR || galt.after);
            if (earlier(heard, m->promise))
                heard = m->promise;
            if (earlier(heard, bounds[j])) {
                bounds[j] = heard;
                changed = true;
            }
        }
    }
}

static struct from galt_of(int f)
{
    struct from bounds[FEDERATES];
    find_bounds(bounds);
    return galt_among(f, bounds);
}

static struct from bound_of(int f)
{
    struct from bounds[FEDERATES];
    find_bounds(bounds);
    return bounds[f];
}

static void expect(int f, enum tt_callback_kind kind, double time, int message, enum tt_message_order received)
{
    struct member *m = &members[f];
    assert_true(m->expected_count < EXPECTED);
    m->expected[m->expected_count++] = (struct expectation){kind, time, message, received};
}

static void expect_message(int f, int message, enum tt_message_order received)
{
    sent[message].at[f] = DELIVERED;
    expect(f, TUTTI_CALLBACK_ReceiveInteraction, sent[message].time, message, received);
}

static void expect_queued(int f, double until, enum tt_message_order received)
{
    for (int m = first_queued(f); m >= 0 && sent[m].time <= until; m = first_queued(f))
        expect_message(f, m, received);
}

static void expect_held(int f)
{
    for (int m = 0; m < sent_count; m++)
        if (sent[m].at[f] == HELD)
            expect_message(f, m, TUTTI_ORDER_RECEIVE);
}

static void raise(struct member *m, double t, bool strict)
{
    struct from more = promised(t, m->lookahead, strict);
    if (earlier(m->promise, more))
        m->promise = more;
}

static bool is_past(int f, double t, bool strict)
{
    struct from galt = galt_of(f);
    return galt.value > t || (galt.value == t && (!strict || galt.after));
}

static bool grant_one(void)
{
    for (int f = 0; f < FEDERATES; f++) {
        struct member *m = &members[f];
        if (!m->joined)
            continue;
        if (m->constrained_pending && is_past(f, m->now, m->strict)) {
            m->constrained_pending = false;
            m->constrained = true;
            expect(f, TUTTI_CALLBACK_TimeConstrainedEnabled, m->now, -1, TUTTI_ORDER_RECEIVE);
            return true;
        }
        bool strict = m->pending == TUTTI_ADVANCE_TAR || m->pending == TUTTI_ADVANCE_NMR;
        double t = waits_for_message(m) ? next_point(f) : m->target;
        if (m->pending == TUTTI_ADVANCE_NONE || (m->constrained && !is_past(f, t, strict)))
            continue;
        expect_queued(f, t, TUTTI_ORDER_TIMESTAMP);
        m->pending = TUTTI_ADVANCE_NONE;
        m->now = t;
        m->strict = strict;
        raise(m, t, strict);
        expect(f, TUTTI_CALLBACK_TimeAdvanceGrant, t, -1, TUTTI_ORDER_RECEIVE);
        return true;
    }
    return false;
}

static void settle(void)
{
    while (grant_one()) {
    }
}

/* Callbacks of the RTI */

static int message_of(const struct tt_callback *callback)
{
    int message;
    assert_int_equal(callback->value_count, 1);
    assert_int_equal(callback->values[0].bytes.size, sizeof message);
    memcpy(&message, callback->values[0].bytes.data, sizeof message);
    return message;
}

/* Invariants that hold whatever the oracle says. `now`: the last grant reported by the RTI. */
static void check_receipt(struct member *m, const struct tt_callback *callback, double now)
{
    if (callback->kind != TUTTI_CALLBACK_ReceiveInteraction || callback->received != TUTTI_ORDER_TIMESTAMP)
        return;
    double stamp = tt_logical_time_to_double(w.time, callback->time);
    if (stamp < now || (stamp == now && m->assured))
        fail_msg("a message at %.17g below the grant of %.17g", stamp, now);
    if (stamp < m->last_stamp)
        fail_msg("a message at %.17g after one at %.17g", stamp, m->last_stamp);
    m->last_stamp = stamp;
}

static void check_one(int f, int i, const struct tt_callback *callback)
{
    const struct expectation *e = &members[f].expected[i];
    if (!callback || callback->kind != e->kind)
        fail_msg("federate %d: %s, expected %s at %.17g", f, callback ? tt_callback_name(callback->kind) : "nothing",
                 tt_callback_name(e->kind), e->time);
    mix((uint64_t)callback->kind << 32 | callback->federate);
    mix((uint64_t)callback->time);
    if (callback->timed)
        assert_same_double(tt_logical_time_to_double(w.time, callback->time), e->time);
    if (e->message < 0)
        return;
    assert_int_equal(message_of(callback), e->message);
    assert_int_equal(callback->received, e->received);
    assert_int_equal(callback->sent, sent[e->message].in_order ? TUTTI_ORDER_TIMESTAMP : TUTTI_ORDER_RECEIVE);
    assert_int_equal(callback->federate, sent[e->message].handle);
}

/* `now`: of each before the call. */
static void compare(const double *now)
{
    for (int f = 0; f < FEDERATES; f++) {
        struct member *m = &members[f];
        double time = now[f];
        for (int i = 0; m->joined && i < m->expected_count; i++) {
            const struct tt_callback *callback = tt_rti_next_callback(m->a);
            check_one(f, i, callback);
            if (m->expected[i].kind != TUTTI_CALLBACK_RequestRetraction)
                check_receipt(m, callback, time);
            if (callback->kind == TUTTI_CALLBACK_TimeAdvanceGrant || callback->kind == TUTTI_CALLBACK_FlushQueueGrant) {
                assert_true(m->expected[i].time >= time);
                time = m->expected[i].time;
                m->assured = m->strict && m->constrained;
                m->last_stamp = 0;
            }
        }
        m->expected_count = 0;
        if (m->joined)
            assert_quiet(m->a);
    }
}

static void check_queries(int f)
{
    const struct member *m = &members[f];
    struct from galt = galt_of(f);
    bool valid;
    int64_t time;
    assert_done(tt_time_management_query_galt(m->a, &valid, &time));
    assert_int_equal(valid, !isinf(galt.value));
    if (valid)
        assert_same_double(tt_logical_time_to_double(w.time, time), galt.value);
    int first = first_queued(f);
    double lits = first >= 0 ? fmin(sent[first].time, galt.value) : galt.value;
    assert_done(tt_time_management_query_lits(m->a, &valid, &time));
    assert_int_equal(valid, !isinf(lits));
    if (valid)
        assert_same_double(tt_logical_time_to_double(w.time, time), lits);
    assert_done(tt_time_management_query_logical_time(m->a, &time));
    assert_same_double(tt_logical_time_to_double(w.time, time), m->now);
}

/* Some federate can advance: not all waiting ones wait for each other. */
static void check_progress(void)
{
    int joined = 0, waiting = 0;
    for (int f = 0; f < FEDERATES; f++) {
        joined += members[f].joined;
        waiting += members[f].joined && (members[f].pending != TUTTI_ADVANCE_NONE || members[f].constrained_pending);
    }
    if (joined && joined == waiting) {
        struct tt_text text = {0};
        for (int f = 0; f < FEDERATES && !text.text; f++)
            if (members[f].joined)
                tt_time_management_explain(members[f].a->federate->federation, &text);
        fail_msg("all wait:\n%s", text.text);
    }
}

/* Calls */

static void send(int f, bool timed, double stamp)
{
    struct member *m = &members[f];
    int64_t time = timed ? at(&w, stamp) : 0;
    int id = sent_count;
    uint64_t retraction;
    struct tt_hla_value value = {WHAT, {&id, sizeof id}};
    struct from bound = bound_of(f);
    enum tt_hla got = tt_objects_send_interaction(m->a, EVENT, &value, 1,
                                                  (struct tt_message_stamp){timed ? &time : NULL, NO_TAG}, &retraction);
    if (timed && m->regulating && (stamp < bound.value || (stamp == bound.value && bound.after))) {
        assert_int_equal(got, TUTTI_HLA_InvalidLogicalTime);
        return;
    }
    assert_int_equal(got, TUTTI_HLA_OK);
    struct sent *s = &sent[sent_count++];
    *s = (struct sent){.sender = f, .handle = m->handle, .time = timed ? stamp : 0, .in_order = timed && m->regulating};
    s->retraction = retraction;
    s->retractable = s->in_order;
    assert_int_equal(retraction != 0, s->in_order);
    for (int j = 0; j < FEDERATES; j++) {
        struct member *to = &members[j];
        if (j == f || !to->joined)
            continue;
        if (s->in_order && to->constrained)
            s->at[j] = QUEUED;
        else if (to->constrained && !to->asynchronous && to->pending == TUTTI_ADVANCE_NONE)
            s->at[j] = HELD;
        else
            expect_message(j, id, TUTTI_ORDER_RECEIVE);
    }
}

static void retract(int f)
{
    struct member *m = &members[f];
    int id = (int)dice((unsigned)sent_count + 1);
    if (id == sent_count || sent[id].handle != m->handle || sent[id].retracted || !sent[id].retractable)
        return;
    struct sent *s = &sent[id];
    enum tt_hla got = tt_message_retract(m->a, s->retraction);
    if (!m->regulating) {
        assert_int_equal(got, TUTTI_HLA_TimeRegulationIsNotEnabled);
        return;
    }
    if (s->time < m->promise.value || (s->time == m->promise.value && m->promise.after)) {
        assert_int_equal(got, TUTTI_HLA_MessageCanNoLongerBeRetracted);
        return;
    }
    assert_int_equal(got, TUTTI_HLA_OK);
    s->retracted = true;
    for (int j = 0; j < FEDERATES; j++) {
        if (s->at[j] == DELIVERED && members[j].joined)
            expect(j, TUTTI_CALLBACK_RequestRetraction, 0, -1, TUTTI_ORDER_RECEIVE);
        s->at[j] = NOT_FOR_IT;
    }
}

static void advance(int f, enum tt_time_advance kind, double t)
{
    struct member *m = &members[f];
    enum tt_hla got = tt_time_management_advance(m->a, kind, at(&w, t));
    if (t < m->now || m->constrained_pending || m->pending != TUTTI_ADVANCE_NONE) {
        assert_int_equal(got, t < m->now                         ? TUTTI_HLA_LogicalTimeAlreadyPassed
                              : m->pending != TUTTI_ADVANCE_NONE ? TUTTI_HLA_InTimeAdvancingState
                                                                 : TUTTI_HLA_RequestForTimeConstrainedPending);
        return;
    }
    assert_int_equal(got, TUTTI_HLA_OK);
    m->pending = kind;
    m->target = t;
    if (!waits_for_message(m))
        raise(m, t, kind == TUTTI_ADVANCE_TAR || kind == TUTTI_ADVANCE_NMR);
    expect_held(f);
}

static void flush(int f, double t)
{
    struct member *m = &members[f];
    if (m->pending != TUTTI_ADVANCE_NONE || m->constrained_pending)
        return;
    int first = first_queued(f);
    double galt = m->constrained ? galt_of(f).value : INFINITY;
    double granted = fmin(t, galt);
    if (first >= 0)
        granted = fmin(granted, sent[first].time);
    granted = fmax(granted, m->now);
    assert_done(tt_time_management_flush_queue(m->a, at(&w, t)));
    expect_held(f);
    expect_queued(f, INFINITY, TUTTI_ORDER_TIMESTAMP);
    m->now = granted;
    m->strict = false;
    raise(m, granted, false);
    expect(f, TUTTI_CALLBACK_FlushQueueGrant, granted, -1, TUTTI_ORDER_RECEIVE);
}

/* The earliest time at which it breaks no promise of the RTI to those that are constrained. */
static void regulate(int f, double lookahead)
{
    struct member *m = &members[f];
    if (m->pending != TUTTI_ADVANCE_NONE || m->regulating)
        return;
    struct from limit = {0, 0};
    for (int j = 0; j < FEDERATES; j++) {
        struct from at_least = {members[j].now, members[j].strict};
        if (j != f && members[j].joined && members[j].constrained && earlier(limit, at_least))
            limit = at_least;
    }
    double before = m->now;
    m->assured = false;
    if (limit.value - lookahead > m->now) {
        m->now = limit.value - lookahead;
        m->strict = false;
    }
    if (earlier(promised(m->now, lookahead, m->strict), limit)) {
        m->now = limit.value;
        m->strict = limit.after;
    }
    assert_done(tt_time_management_enable_regulation(m->a, at(&w, lookahead)));
    if (m->now > before)
        expect_queued(f, nextafter(m->now, 0), TUTTI_ORDER_TIMESTAMP);
    m->regulating = true;
    m->lookahead = lookahead;
    m->promise = promised(m->now, lookahead, m->strict);
    expect(f, TUTTI_CALLBACK_TimeRegulationEnabled, m->now, -1, TUTTI_ORDER_RECEIVE);
}

static void constrain(int f, bool on)
{
    struct member *m = &members[f];
    if (m->pending != TUTTI_ADVANCE_NONE || m->constrained_pending || (!on && !m->constrained) ||
        (on && m->constrained))
        return;
    if (on) {
        assert_done(tt_time_management_enable_constrained(m->a));
        m->constrained_pending = true;
        return;
    }
    assert_done(tt_time_management_disable_constrained(m->a));
    m->constrained = m->assured = false;
    expect_held(f);
    expect_queued(f, INFINITY, TUTTI_ORDER_RECEIVE);
}

static void modify(int f, double lookahead)
{
    struct member *m = &members[f];
    int64_t actual;
    if (!m->regulating || m->pending != TUTTI_ADVANCE_NONE)
        return;
    assert_done(tt_time_management_modify_lookahead(m->a, at(&w, lookahead)));
    m->lookahead = lookahead;
    raise(m, m->now, m->strict);
    assert_done(tt_time_management_query_lookahead(m->a, &actual));
    assert_same_double(tt_logical_time_to_double(w.time, actual), fmax(lookahead, m->promise.value - m->now));
}

static void deliver_asynchronously(int f)
{
    struct member *m = &members[f];
    m->asynchronous = !m->asynchronous;
    assert_done(m->asynchronous ? tt_time_management_enable_async(m->a) : tt_time_management_disable_async(m->a));
    if (m->asynchronous)
        expect_held(f);
}

static void join(int f)
{
    members[f] = (struct member){.joined = true, .a = members[f].a};
    if (!members[f].a)
        members[f].a = connected(w.rti);
    members[f].handle = join_as(members[f].a, NULL);
    assert_done(tt_declarations_publish_interaction(members[f].a, EVENT));
    assert_done(tt_declarations_subscribe_interaction(members[f].a, EVENT, false)); /* passively: no advisories */
}

static void leave(int f)
{
    for (int m = 0; m < sent_count; m++)
        sent[m].at[f] = NOT_FOR_IT;
    members[f].joined = false;
    members[f].expected_count = 0;
    if (dice(2)) {
        tt_rti_drop_federate(members[f].a, "it is gone");
        members[f].a = NULL;
    } else {
        assert_done(tt_rti_resign(members[f].a, TUTTI_RESIGN_NO_ACTION));
        assert_quiet(members[f].a);
    }
}

static double quantum; /* all times are multiples of it */

static double some(unsigned most)
{
    return quantum * dice(most + 1);
}

static void call(int f)
{
    struct member *m = &members[f];
    double stamp = fmax(m->now, m->promise.value) + some(4);
    switch (dice(16)) {
    case 0:
    case 1:
    case 2:
    case 3:
        if (sent_count < MESSAGES)
            send(f, dice(4) > 0, dice(8) ? stamp : fmax(0, stamp - some(6)));
        break;
    case 4: retract(f); break;
    case 5: regulate(f, some(3)); break;
    case 6: constrain(f, dice(6) > 0); break;
    case 7: modify(f, some(3)); break;
    case 8: flush(f, m->now + some(6)); break;
    case 9:
        if (dice(4) == 0)
            deliver_asynchronously(f);
        break;
    case 10:
        if (m->regulating && dice(5) == 0) {
            assert_done(tt_time_management_disable_regulation(m->a));
            m->regulating = false;
            m->promise = (struct from){0, 0};
        }
        break;
    default:
        advance(f, (enum tt_time_advance)(TUTTI_ADVANCE_TAR + (int)dice(4)),
                fmax(0, m->now + some(5) - (dice(20) ? 0 : quantum)));
    }
}

static void step(void)
{
    double now[FEDERATES];
    int f = (int)dice(FEDERATES);
    for (int j = 0; j < FEDERATES; j++) {
        now[j] = members[j].now;
    }
    if (!members[f].joined) {
        if (dice(6) == 0)
            join(f);
        return;
    }
    if (dice(60) == 0)
        leave(f);
    else
        call(f);
    settle();
    compare(now);
    check_progress();
    if (members[f].joined && dice(4) == 0)
        check_queries(f);
}

static void create(const char *time)
{
    struct tt_fom_module *module = read_module(test_fom);
    w = (struct world){.rti = tt_rti_new((struct tt_rti_limits){0})};
    assert_true(tt_logical_time_kind_find(time, &w.time));
    w.a[0] = connected(w.rti);
    assert_done(tt_rti_create(w.a[0], "fed", &module, 1, time, NULL));
}

static uint64_t play(uint64_t number)
{
    seed = number * 2862933555777941757u + 1;
    hash = 14695981039346656037u;
    static const double quanta[] = {1, 0.25, 0.1, 1e-3, 3e15};
    bool integers = number % 2;
    create(integers ? "HLAinteger64Time" : "HLAfloat64Time");
    quantum = integers ? 1 : quanta[dice(5)];
    memset(members, 0, sizeof members);
    sent_count = 0;
    for (int f = 0; f < 2 + (int)dice(FEDERATES - 1); f++) {
        join(f);
        if (dice(5))
            regulate(f, some(2));
        settle();
        if (dice(5))
            constrain(f, true);
        settle();
    }
    double zero[FEDERATES] = {0};
    compare(zero);
    for (int i = 0; i < CALLS; i++)
        step();
    tt_rti_free(w.rti);
    return hash;
}

static void test_random_federations(void **state)
{
    (void)state;
    for (uint64_t number = 1; number <= 4000; number++)
        (void)play(number);
}

static void test_same_twice(void **state)
{
    (void)state;
    for (uint64_t number = 1; number <= 100; number++)
        assert_true(play(number) == play(number));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_federations),
        cmocka_unit_test(test_same_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
