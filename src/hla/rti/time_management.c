/* SPDX-License-Identifier: MIT */
/* How far each federate may go (after Fujimoto 2000, and IEEE 1516.1 chapter 8).
 *
 *  V1  promise(j): no message of j has a stamp that it does not allow; it never falls while j regulates. A granted j has promised now +
 *      lookahead; one that asked for TAR or TARA to t, t + lookahead. Where the sum is t itself (a lookahead of 0), TAR and NMR promise
 *      nothing at t either; TARA, NMRA and FQR do not.
 *  V2  bound(j): what j can still send, whatever happens: its promise. But of a j that waits for its next message, only min(target, first in
 *      its queue, GALT(j)) + lookahead is sure, and not less than its promise.
 *  V3  GALT(i) is the least bound of the regulating federates other than i. Bounds and GALTs depend on each other through federates that
 *      wait for messages. The solution is the one in which every bound comes from a federate that could really send first: by rising bounds,
 *      as Dijkstra's shortest paths. All hear all, so that the least bound, of p, is GALT for all but p, and GALT(p) is the least of the
 *      others' after they are lowered by it: two passes over the federates.
 *  V4  now(i) of a constrained i: no message below it comes any more, nor at it if the last grant was strict: GALT(i) >= now(i).
 *  V5  A grant leaves all bounds as they are, so that one pass grants all that can be granted.
 *  V6  Whatever is not above the grant was delivered before it, in the order of tt_message_precedes. */
#include "hla/rti/time_management.h"

#include "hla/rti/message_delivery.h"
#include "hla/rti/mom.h"

/* V3 */
struct time_bounds {
    struct tt_time_bound least, second; /* second: GALT of `holder` */
    const struct tt_federate *holder, *second_holder;
    bool regulated; /* a regulating federate exists */
};

static enum tt_logical_time_kind time_management_kind(const struct tt_federate *federate)
{
    return federate->federation->time_kind;
}

static bool is_next_message_request(const struct tt_federate *f)
{
    return f->time.pending == TUTTI_ADVANCE_NMR || f->time.pending == TUTTI_ADVANCE_NMRA;
}

static bool is_strict_advance(enum tt_time_advance advance)
{
    return advance == TUTTI_ADVANCE_TAR || advance == TUTTI_ADVANCE_NMR;
}

/* Where NMR and NMRA would end if nothing else came. */
static int64_t time_management_next(const struct tt_federate *f)
{
    const struct tt_message *first = tt_message_heap_first(&f->tso);
    return first && first->time < f->time.target ? first->time : f->time.target;
}

/* V2, without GALT. */
static struct tt_time_bound bound_without_galt(const struct tt_federate *f)
{
    if (!is_next_message_request(f))
        return f->time.promise;
    return tt_logical_time_max(f->time.promise,
                               tt_logical_time_promise_bound(time_management_kind(f), time_management_next(f),
                                                             f->time.lookahead, f->time.pending == TUTTI_ADVANCE_NMR));
}

/* V2, if messages from `galt` on can come. */
static struct tt_time_bound lowered_bound(const struct tt_federate *f, struct tt_time_bound galt)
{
    struct tt_time_bound own = bound_without_galt(f);
    if (!is_next_message_request(f) || galt.after == TUTTI_BOUND_NONE.after)
        return own;
    bool strict = f->time.pending == TUTTI_ADVANCE_NMR || galt.after;
    struct tt_time_bound heard =
        tt_logical_time_promise_bound(time_management_kind(f), galt.value, f->time.lookahead, strict);
    return tt_logical_time_max(f->time.promise, tt_logical_time_min(own, heard));
}

static struct time_bounds compute_bounds(const struct tt_federation *federation)
{
    struct time_bounds b = {.least = TUTTI_BOUND_NONE, .second = TUTTI_BOUND_NONE};
    for (size_t i = 0; i < federation->federates.count; i++) {
        const struct tt_federate *f = tt_federation_at(federation, i);
        if (!f->time.regulating)
            continue;
        struct tt_time_bound own = bound_without_galt(f);
        if (!b.holder || tt_logical_time_is_below(own, b.least)) {
            b.least = own;
            b.holder = f;
        }
    }
    b.regulated = b.holder != NULL;
    for (size_t i = 0; i < federation->federates.count; i++) {
        const struct tt_federate *f = tt_federation_at(federation, i);
        if (!f->time.regulating || f == b.holder)
            continue;
        struct tt_time_bound bound = lowered_bound(f, b.least);
        if (!b.second_holder || tt_logical_time_is_below(bound, b.second)) {
            b.second = bound;
            b.second_holder = f;
        }
    }
    return b;
}

static struct tt_time_bound federate_galt(const struct time_bounds *bounds, const struct tt_federate *f)
{
    return f == bounds->holder ? bounds->second : bounds->least;
}

static void raise_promise(struct tt_federate *f, int64_t t, bool strict)
{
    f->time.promise = tt_logical_time_max(
        f->time.promise, tt_logical_time_promise_bound(time_management_kind(f), t, f->time.lookahead, strict));
}

static void time_management_notify(struct tt_federate *f, enum tt_callback_kind kind, int64_t time, int64_t optimistic)
{
    struct tt_callback callback = {.kind = kind, .timed = true, .time = time, .optimistic_time = optimistic};
    tt_federation_push_callback(f->ambassador, &callback);
}

/* V4: returns true if no message can arrive below t, or at t if `strict`. */
static bool no_message_before(const struct time_bounds *bounds, const struct tt_federate *f, int64_t t, bool strict)
{
    struct tt_time_bound galt = federate_galt(bounds, f);
    if (!bounds->regulated && !f->federation->fom->switches.non_regulated_grant)
        return false;
    return galt.value > t || (galt.value == t && (!strict || galt.after));
}

static void grant_if_possible(const struct time_bounds *bounds, struct tt_federate *f)
{
    struct tutti_federate_time *time = &f->time;
    if (time->constrained_pending && no_message_before(bounds, f, time->now, time->strict)) {
        time->constrained_pending = false;
        time->constrained = true;
        tt_mom_update_time(f);
        time_management_notify(f, TUTTI_CALLBACK_TimeConstrainedEnabled, time->now, 0);
    }
    if (time->pending == TUTTI_ADVANCE_NONE)
        return;
    int64_t t = time->constrained && is_next_message_request(f) ? time_management_next(f) : time->target;
    bool strict = is_strict_advance(time->pending);
    if (time->constrained && !no_message_before(bounds, f, t, strict))
        return;

    /* V6, V1 */
    tt_message_deliver_until(f, t, TUTTI_ORDER_TIMESTAMP);
    time->pending = TUTTI_ADVANCE_NONE;
    time->now = t;
    time->strict = strict;
    raise_promise(f, t, strict);
    f->federation->grants++;
    time_management_notify(f, TUTTI_CALLBACK_TimeAdvanceGrant, t, 0);
}

void tt_time_management_grant(struct tt_federation *federation)
{
    if (!federation->unsettled)
        return;
    federation->unsettled = false;
    struct time_bounds bounds = compute_bounds(federation);
    for (size_t i = 0; i < federation->federates.count; i++)
        grant_if_possible(&bounds, tt_federation_at(federation, i));
}

static enum tt_hla on_bound_changed(struct tt_federate *f)
{
    f->federation->unsettled = true;
    tt_time_management_grant(f->federation);
    return TUTTI_HLA_OK;
}

enum tt_hla tt_time_management_check_stamp(struct tt_federate *f, int64_t time)
{
    if (time < 0 || time > tt_logical_time_final(time_management_kind(f)))
        return RAISE(InvalidLogicalTime, "this is no time of the federation");
    if (!f->time.regulating)
        return TUTTI_HLA_OK;

    /* The bound of what f can send: V2 with everything. */
    struct tt_time_bound bound = f->time.promise;
    if (is_next_message_request(f)) {
        struct time_bounds b = compute_bounds(f->federation);
        bound = lowered_bound(f, federate_galt(&b, f));
    }
    if (tt_logical_time_allows(bound, time))
        return TUTTI_HLA_OK;
    return RAISE(InvalidLogicalTime, "federate '%s' sends at %s, but has promised to send nothing before %s%s", f->name,
                 tt_logical_time_show(time_management_kind(f), time).text,
                 tt_logical_time_show(time_management_kind(f), bound.value).text, bound.after ? ", nor at it" : "");
}

static enum tt_hla check_not_advancing(const struct tt_federate *f)
{
    if (f->time.pending == TUTTI_ADVANCE_NONE)
        return TUTTI_HLA_OK;
    return RAISE(InTimeAdvancingState, "federate '%s' waits for the grant of %s", f->name,
                 tt_logical_time_show(time_management_kind(f), f->time.target).text);
}

static enum tt_hla check_lookahead(const struct tt_federate *f, int64_t lookahead)
{
    if (lookahead >= 0 && lookahead <= tt_logical_time_final(time_management_kind(f)))
        return TUTTI_HLA_OK;
    return RAISE(InvalidLookahead, "a lookahead is not negative");
}

/* The earliest time from which f, not yet regulating, can promise what constrained federates rely on (V4). */
static void choose_start(struct tt_federate *f, int64_t lookahead)
{
    struct tt_time_bound limit = {0, 0};
    for (size_t i = 0; i < f->federation->federates.count; i++) {
        const struct tt_federate *other = tt_federation_at(f->federation, i);
        if (other != f && other->time.constrained)
            limit = tt_logical_time_max(limit, (struct tt_time_bound){other->time.now, other->time.strict});
    }
    int64_t start = tt_logical_time_subtract(time_management_kind(f), limit.value, lookahead);
    if (start > f->time.now) {
        f->time.now = start;
        f->time.strict = false;
    }
    if (tt_logical_time_is_below(
            tt_logical_time_promise_bound(time_management_kind(f), f->time.now, lookahead, f->time.strict), limit)) {
        f->time.now = limit.value;
        f->time.strict = limit.after;
    }
}

enum tt_hla tt_time_management_enable_regulation(struct tt_ambassador *ambassador, int64_t lookahead)
{
    struct tt_federate *f;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    HLA_TRY(check_lookahead(f, lookahead));
    HLA_TRY(check_not_advancing(f));
    if (f->time.regulating)
        return RAISE(TimeRegulationAlreadyEnabled, "federate '%s' regulates already", f->name);
    int64_t before = f->time.now;
    choose_start(f, lookahead);
    if (f->time.now > before) /* messages below would be in its past */
        tt_message_deliver_until(f, f->time.now - 1, TUTTI_ORDER_TIMESTAMP);
    f->time.regulating = true;
    f->time.lookahead = lookahead;
    f->time.promise = tt_logical_time_promise_bound(time_management_kind(f), f->time.now, lookahead, f->time.strict);
    time_management_notify(f, TUTTI_CALLBACK_TimeRegulationEnabled, f->time.now, 0);
    tt_mom_update_time(f);
    return on_bound_changed(f);
}

enum tt_hla tt_time_management_disable_regulation(struct tt_ambassador *ambassador)
{
    struct tt_federate *f;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    if (!f->time.regulating)
        return RAISE(TimeRegulationIsNotEnabled, "federate '%s' does not regulate", f->name);
    f->time.regulating = false;
    tt_mom_update_time(f);
    return on_bound_changed(f);
}

enum tt_hla tt_time_management_enable_constrained(struct tt_ambassador *ambassador)
{
    struct tt_federate *f;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    HLA_TRY(check_not_advancing(f));
    if (f->time.constrained_pending)
        return RAISE(RequestForTimeConstrainedPending, "federate '%s' waits to be constrained", f->name);
    if (f->time.constrained)
        return RAISE(TimeConstrainedAlreadyEnabled, "federate '%s' is constrained already", f->name);
    f->time.constrained_pending = true;
    return on_bound_changed(f);
}

enum tt_hla tt_time_management_disable_constrained(struct tt_ambassador *ambassador)
{
    struct tt_federate *f;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    if (!f->time.constrained)
        return RAISE(TimeConstrainedIsNotEnabled, "federate '%s' is not constrained", f->name);
    f->time.constrained = false;
    tt_message_deliver_held(f);
    tt_message_deliver_until(f, INT64_MAX, TUTTI_ORDER_RECEIVE);
    tt_mom_update_time(f);
    return on_bound_changed(f);
}

static enum tt_hla check_request(const struct tt_federate *f, int64_t time)
{
    if (time < 0 || time > tt_logical_time_final(time_management_kind(f)))
        return RAISE(InvalidLogicalTime, "this is no time of the federation");
    if (time < f->time.now)
        return RAISE(LogicalTimeAlreadyPassed, "federate '%s' asks for %s, and is at %s", f->name,
                     tt_logical_time_show(time_management_kind(f), time).text,
                     tt_logical_time_show(time_management_kind(f), f->time.now).text);
    HLA_TRY(check_not_advancing(f));
    if (f->time.constrained_pending)
        return RAISE(RequestForTimeConstrainedPending, "federate '%s' waits to be constrained", f->name);
    return TUTTI_HLA_OK;
}

enum tt_hla tt_time_management_advance(struct tt_ambassador *ambassador, enum tt_time_advance advance, int64_t time)
{
    struct tt_federate *f;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    HLA_TRY(check_request(f, time));
    f->time.pending = advance;
    f->time.target = time;
    if (!is_next_message_request(f) || !f->time.constrained)
        raise_promise(f, time, is_strict_advance(advance));
    tt_message_deliver_held(f);
    return on_bound_changed(f);
}

enum tt_hla tt_time_management_flush_queue(struct tt_ambassador *ambassador, int64_t time)
{
    struct tt_federate *f;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    HLA_TRY(check_request(f, time));
    const struct tt_message *first = tt_message_heap_first(&f->tso);
    int64_t optimistic = first && first->time < time ? first->time : time, granted = optimistic;
    struct time_bounds bounds = compute_bounds(f->federation);
    struct tt_time_bound galt = federate_galt(&bounds, f);
    if (f->time.constrained && galt.value < granted)
        granted = galt.value;
    if (granted < f->time.now)
        granted = f->time.now;
    tt_message_deliver_held(f);
    tt_message_deliver_until(f, INT64_MAX, TUTTI_ORDER_TIMESTAMP);
    f->time.now = granted;
    f->time.strict = false;
    raise_promise(f, granted, false);
    f->federation->grants++;
    time_management_notify(f, TUTTI_CALLBACK_FlushQueueGrant, granted, optimistic);
    return on_bound_changed(f);
}

enum tt_hla tt_time_management_enable_async(struct tt_ambassador *ambassador)
{
    struct tt_federate *f;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    if (f->time.asynchronous)
        return RAISE(AsynchronousDeliveryAlreadyEnabled, "asynchronous delivery to federate '%s' is on", f->name);
    f->time.asynchronous = true;
    tt_message_deliver_held(f);
    tt_mom_update_time(f);
    return TUTTI_HLA_OK;
}

enum tt_hla tt_time_management_disable_async(struct tt_ambassador *ambassador)
{
    struct tt_federate *f;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    if (!f->time.asynchronous)
        return RAISE(AsynchronousDeliveryAlreadyDisabled, "asynchronous delivery to federate '%s' is off", f->name);
    f->time.asynchronous = false;
    tt_mom_update_time(f);
    return TUTTI_HLA_OK;
}

void tt_time_management_status(struct tt_federate *federate, struct tt_time_status *status)
{
    struct time_bounds bounds = compute_bounds(federate->federation);
    struct tt_time_bound galt = federate_galt(&bounds, federate);
    const struct tt_federate *holder = federate == bounds.holder ? bounds.second_holder : bounds.holder;
    const struct tt_message *first = tt_message_heap_first(&federate->tso);
    *status =
        (struct tt_time_status){.has_galt = holder != NULL, .galt = galt.value, .holder = holder ? holder->handle : 0};
    status->has_lits = status->has_galt || first;
    status->lits = first && (!holder || first->time < galt.value) ? first->time : galt.value;
}

enum tt_hla tt_time_management_query_galt(struct tt_ambassador *ambassador, bool *valid, int64_t *time)
{
    struct tt_federate *f;
    struct tt_time_status status;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    tt_time_management_status(f, &status);
    *valid = status.has_galt;
    *time = status.galt;
    return TUTTI_HLA_OK;
}

enum tt_hla tt_time_management_query_lits(struct tt_ambassador *ambassador, bool *valid, int64_t *time)
{
    struct tt_federate *f;
    struct tt_time_status status;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    tt_time_management_status(f, &status);
    *valid = status.has_lits;
    *time = status.lits;
    return TUTTI_HLA_OK;
}

enum tt_hla tt_time_management_query_logical_time(struct tt_ambassador *ambassador, int64_t *time)
{
    struct tt_federate *f;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    *time = f->time.now;
    return TUTTI_HLA_OK;
}

static enum tt_hla check_regulating(const struct tt_federate *f)
{
    if (f->time.regulating)
        return TUTTI_HLA_OK;
    return RAISE(TimeRegulationIsNotEnabled, "federate '%s' does not regulate", f->name);
}

enum tt_hla tt_time_management_query_lookahead(struct tt_ambassador *ambassador, int64_t *lookahead)
{
    struct tt_federate *f;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    HLA_TRY(check_regulating(f));
    int64_t actual = tt_logical_time_subtract(time_management_kind(f), f->time.promise.value, f->time.now);
    *lookahead = f->time.pending == TUTTI_ADVANCE_NONE && actual > f->time.lookahead ? actual : f->time.lookahead;
    return TUTTI_HLA_OK;
}

enum tt_hla tt_time_management_modify_lookahead(struct tt_ambassador *ambassador, int64_t lookahead)
{
    struct tt_federate *f;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    HLA_TRY(check_lookahead(f, lookahead));
    HLA_TRY(check_not_advancing(f));
    HLA_TRY(check_regulating(f));
    f->time.lookahead = lookahead;
    raise_promise(f, f->time.now, f->time.strict);
    return on_bound_changed(f);
}

static const char *const requests[] = {
    [TUTTI_ADVANCE_NONE] = "granted",
    [TUTTI_ADVANCE_TAR] = "time advance request",
    [TUTTI_ADVANCE_TARA] = "time advance request available",
    [TUTTI_ADVANCE_NMR] = "next message request",
    [TUTTI_ADVANCE_NMRA] = "next message request available",
};

static void explain_blocking_federate(struct tt_text *text, const struct time_bounds *bounds,
                                      const struct tt_federate *f)
{
    const struct tt_federate *holder = f == bounds->holder ? bounds->second_holder : bounds->holder;
    enum tt_logical_time_kind kind = time_management_kind(f);
    struct tt_time_bound galt = federate_galt(bounds, f);
    if (!holder) {
        tt_text_append(text, "for a federate that regulates\n");
        return;
    }
    tt_text_printf(text, "for '%s', which is at %s with lookahead %s", holder->name,
                   tt_logical_time_show(kind, holder->time.now).text,
                   tt_logical_time_show(kind, holder->time.lookahead).text);
    if (holder->time.pending != TUTTI_ADVANCE_NONE)
        tt_text_printf(text, ", waits for %s itself", tt_logical_time_show(kind, holder->time.target).text);
    tt_text_printf(text, " and may send %s %s\n", galt.after ? "after" : "from",
                   tt_logical_time_show(kind, galt.value).text);
}

void tt_time_management_explain(struct tt_federation *federation, struct tt_text *text)
{
    struct time_bounds bounds = compute_bounds(federation);
    for (size_t i = 0; i < federation->federates.count; i++) {
        const struct tt_federate *f = tt_federation_at(federation, i);
        if (f->time.constrained_pending)
            tt_text_printf(text, "'%s' at %s waits to be constrained ", f->name,
                           tt_logical_time_show(time_management_kind(f), f->time.now).text);
        else if (f->time.pending != TUTTI_ADVANCE_NONE)
            tt_text_printf(text, "'%s' at %s waits for %s (%s) ", f->name,
                           tt_logical_time_show(time_management_kind(f), f->time.now).text,
                           tt_logical_time_show(time_management_kind(f), f->time.target).text,
                           requests[f->time.pending]);
        else
            continue;
        explain_blocking_federate(text, &bounds, f);
    }
}
