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
 *  V6  Whatever is not above the grant was delivered before it, in the order of tutti_message_before. */
#include "rti/time_management.h"

#include "rti/delivery.h"
#include "rti/mom.h"

/* V3 */
struct bounds {
    struct tutti_bound least, second; /* second: GALT of `holder` */
    const struct tutti_federate *holder, *second_holder;
    bool regulated; /* is there a regulating federate at all? */
};

static enum tutti_time_kind kind_of(const struct tutti_federate *federate)
{
    return federate->federation->time_kind;
}

static bool waits_for_message(const struct tutti_federate *f)
{
    return f->time.pending == TUTTI_ADVANCE_NMR || f->time.pending == TUTTI_ADVANCE_NMRA;
}

static bool is_strict(enum tutti_advance advance)
{
    return advance == TUTTI_ADVANCE_TAR || advance == TUTTI_ADVANCE_NMR;
}

/* Where NMR and NMRA would end if nothing else came. */
static int64_t next_of(const struct tutti_federate *f)
{
    const struct tutti_message *first = tutti_message_heap_first(&f->tso);
    return first && first->time < f->time.target ? first->time : f->time.target;
}

/* V2, without GALT. */
static struct tutti_bound own_bound(const struct tutti_federate *f)
{
    if (!waits_for_message(f))
        return f->time.promise;
    return tutti_bound_max(f->time.promise, tutti_bound_promise(kind_of(f), next_of(f), f->time.lookahead,
                                                                f->time.pending == TUTTI_ADVANCE_NMR));
}

/* V2, if messages from `galt` on can come. */
static struct tutti_bound lowered_bound(const struct tutti_federate *f, struct tutti_bound galt)
{
    struct tutti_bound own = own_bound(f);
    if (!waits_for_message(f) || galt.after == TUTTI_BOUND_NONE.after)
        return own;
    bool strict = f->time.pending == TUTTI_ADVANCE_NMR || galt.after;
    struct tutti_bound heard = tutti_bound_promise(kind_of(f), galt.value, f->time.lookahead, strict);
    return tutti_bound_max(f->time.promise, tutti_bound_min(own, heard));
}

static struct bounds bounds_of(const struct tutti_federation *federation)
{
    struct bounds b = {.least = TUTTI_BOUND_NONE, .second = TUTTI_BOUND_NONE};
    for (size_t i = 0; i < federation->federates.count; i++) {
        const struct tutti_federate *f = tutti_federation_at(federation, i);
        if (!f->time.regulating)
            continue;
        struct tutti_bound own = own_bound(f);
        if (!b.holder || tutti_bound_below(own, b.least)) {
            b.least = own;
            b.holder = f;
        }
    }
    b.regulated = b.holder != NULL;
    for (size_t i = 0; i < federation->federates.count; i++) {
        const struct tutti_federate *f = tutti_federation_at(federation, i);
        if (!f->time.regulating || f == b.holder)
            continue;
        struct tutti_bound bound = lowered_bound(f, b.least);
        if (!b.second_holder || tutti_bound_below(bound, b.second)) {
            b.second = bound;
            b.second_holder = f;
        }
    }
    return b;
}

static struct tutti_bound galt_of(const struct bounds *bounds, const struct tutti_federate *f)
{
    return f == bounds->holder ? bounds->second : bounds->least;
}

/* What f can send: V2 with everything. */
static struct tutti_bound bound_of(const struct tutti_federate *f)
{
    if (!waits_for_message(f))
        return f->time.promise;
    struct bounds b = bounds_of(f->federation);
    return lowered_bound(f, galt_of(&b, f));
}

static void raise_promise(struct tutti_federate *f, int64_t t, bool strict)
{
    f->time.promise = tutti_bound_max(f->time.promise, tutti_bound_promise(kind_of(f), t, f->time.lookahead, strict));
}

static void tell_time(struct tutti_federate *f, enum tutti_callback_kind kind, int64_t time, int64_t optimistic)
{
    struct tutti_callback callback = {.kind = kind, .timed = true, .time = time, .optimistic_time = optimistic};
    tutti_ambassador_push(f->ambassador, &callback);
}

/* V6, V1 */
static void grant(struct tutti_federate *f, int64_t time)
{
    bool strict = is_strict(f->time.pending);
    tutti_deliver_until(f, time, TUTTI_ORDER_TIMESTAMP);
    f->time.pending = TUTTI_ADVANCE_NONE;
    f->time.now = time;
    f->time.strict = strict;
    raise_promise(f, time, strict);
    f->federation->grants++;
    tell_time(f, TUTTI_CALLBACK_TimeAdvanceGrant, time, 0);
}

/* V4: can nothing come below t, nor at it if `strict`? */
static bool is_past(const struct bounds *bounds, const struct tutti_federate *f, int64_t t, bool strict)
{
    struct tutti_bound galt = galt_of(bounds, f);
    if (!bounds->regulated && !f->federation->fom->switches.non_regulated_grant)
        return false;
    return galt.value > t || (galt.value == t && (!strict || galt.after));
}

static void settle_federate(const struct bounds *bounds, struct tutti_federate *f)
{
    struct tutti_federate_time *time = &f->time;
    if (time->constrained_pending && is_past(bounds, f, time->now, time->strict)) {
        time->constrained_pending = false;
        time->constrained = true;
        tutti_mom_time_changed(f);
        tell_time(f, TUTTI_CALLBACK_TimeConstrainedEnabled, time->now, 0);
    }
    if (time->pending == TUTTI_ADVANCE_NONE)
        return;
    int64_t t = time->constrained && waits_for_message(f) ? next_of(f) : time->target;
    if (!time->constrained || is_past(bounds, f, t, is_strict(time->pending)))
        grant(f, t);
}

void tutti_time_settle(struct tutti_federation *federation)
{
    if (!federation->unsettled)
        return;
    federation->unsettled = false;
    struct bounds bounds = bounds_of(federation);
    for (size_t i = 0; i < federation->federates.count; i++)
        settle_federate(&bounds, tutti_federation_at(federation, i));
}

static enum tutti_hla changed(struct tutti_federate *f)
{
    f->federation->unsettled = true;
    tutti_time_settle(f->federation);
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_time_check_stamp(struct tutti_federate *f, int64_t time)
{
    if (time < 0 || time > tutti_time_final(kind_of(f)))
        return RAISE(InvalidLogicalTime, "this is no time of the federation");
    if (!f->time.regulating)
        return TUTTI_HLA_OK;
    struct tutti_bound bound = bound_of(f);
    if (tutti_bound_allows(bound, time))
        return TUTTI_HLA_OK;
    return RAISE(InvalidLogicalTime, "federate '%s' sends at %s, but has promised to send nothing before %s%s", f->name,
                 tutti_time_show(kind_of(f), time).text, tutti_time_show(kind_of(f), bound.value).text,
                 bound.after ? ", nor at it" : "");
}

static enum tutti_hla check_not_advancing(const struct tutti_federate *f)
{
    if (f->time.pending == TUTTI_ADVANCE_NONE)
        return TUTTI_HLA_OK;
    return RAISE(InTimeAdvancingState, "federate '%s' waits for the grant of %s", f->name,
                 tutti_time_show(kind_of(f), f->time.target).text);
}

static enum tutti_hla check_lookahead(const struct tutti_federate *f, int64_t lookahead)
{
    if (lookahead >= 0 && lookahead <= tutti_time_final(kind_of(f)))
        return TUTTI_HLA_OK;
    return RAISE(InvalidLookahead, "a lookahead is not negative");
}

/* The earliest time from which f, not yet regulating, can promise what constrained federates rely on (V4). */
static void choose_start(struct tutti_federate *f, int64_t lookahead)
{
    struct tutti_bound limit = {0, 0};
    for (size_t i = 0; i < f->federation->federates.count; i++) {
        const struct tutti_federate *other = tutti_federation_at(f->federation, i);
        if (other != f && other->time.constrained)
            limit = tutti_bound_max(limit, (struct tutti_bound){other->time.now, other->time.strict});
    }
    int64_t start = tutti_time_subtract(kind_of(f), limit.value, lookahead);
    if (start > f->time.now) {
        f->time.now = start;
        f->time.strict = false;
    }
    if (tutti_bound_below(tutti_bound_promise(kind_of(f), f->time.now, lookahead, f->time.strict), limit)) {
        f->time.now = limit.value;
        f->time.strict = limit.after;
    }
}

enum tutti_hla tutti_rti_enable_time_regulation(struct tutti_ambassador *ambassador, int64_t lookahead)
{
    struct tutti_federate *f;
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    HLA_TRY(check_lookahead(f, lookahead));
    HLA_TRY(check_not_advancing(f));
    if (f->time.regulating)
        return RAISE(TimeRegulationAlreadyEnabled, "federate '%s' regulates already", f->name);
    int64_t before = f->time.now;
    choose_start(f, lookahead);
    if (f->time.now > before) /* messages below would be in its past */
        tutti_deliver_until(f, f->time.now - 1, TUTTI_ORDER_TIMESTAMP);
    f->time.regulating = true;
    f->time.lookahead = lookahead;
    f->time.promise = tutti_bound_promise(kind_of(f), f->time.now, lookahead, f->time.strict);
    tell_time(f, TUTTI_CALLBACK_TimeRegulationEnabled, f->time.now, 0);
    tutti_mom_time_changed(f);
    return changed(f);
}

enum tutti_hla tutti_rti_disable_time_regulation(struct tutti_ambassador *ambassador)
{
    struct tutti_federate *f;
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    if (!f->time.regulating)
        return RAISE(TimeRegulationIsNotEnabled, "federate '%s' does not regulate", f->name);
    f->time.regulating = false;
    tutti_mom_time_changed(f);
    return changed(f);
}

enum tutti_hla tutti_rti_enable_time_constrained(struct tutti_ambassador *ambassador)
{
    struct tutti_federate *f;
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    HLA_TRY(check_not_advancing(f));
    if (f->time.constrained_pending)
        return RAISE(RequestForTimeConstrainedPending, "federate '%s' waits to be constrained", f->name);
    if (f->time.constrained)
        return RAISE(TimeConstrainedAlreadyEnabled, "federate '%s' is constrained already", f->name);
    f->time.constrained_pending = true;
    return changed(f);
}

enum tutti_hla tutti_rti_disable_time_constrained(struct tutti_ambassador *ambassador)
{
    struct tutti_federate *f;
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    if (!f->time.constrained)
        return RAISE(TimeConstrainedIsNotEnabled, "federate '%s' is not constrained", f->name);
    f->time.constrained = false;
    tutti_deliver_held(f);
    tutti_deliver_until(f, INT64_MAX, TUTTI_ORDER_RECEIVE);
    tutti_mom_time_changed(f);
    return changed(f);
}

static enum tutti_hla check_request(const struct tutti_federate *f, int64_t time)
{
    if (time < 0 || time > tutti_time_final(kind_of(f)))
        return RAISE(InvalidLogicalTime, "this is no time of the federation");
    if (time < f->time.now)
        return RAISE(LogicalTimeAlreadyPassed, "federate '%s' asks for %s, and is at %s", f->name,
                     tutti_time_show(kind_of(f), time).text, tutti_time_show(kind_of(f), f->time.now).text);
    HLA_TRY(check_not_advancing(f));
    if (f->time.constrained_pending)
        return RAISE(RequestForTimeConstrainedPending, "federate '%s' waits to be constrained", f->name);
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_advance(struct tutti_ambassador *ambassador, enum tutti_advance advance, int64_t time)
{
    struct tutti_federate *f;
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    HLA_TRY(check_request(f, time));
    f->time.pending = advance;
    f->time.target = time;
    if (!waits_for_message(f) || !f->time.constrained)
        raise_promise(f, time, is_strict(advance));
    tutti_deliver_held(f);
    return changed(f);
}

enum tutti_hla tutti_rti_flush_queue_request(struct tutti_ambassador *ambassador, int64_t time)
{
    struct tutti_federate *f;
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    HLA_TRY(check_request(f, time));
    const struct tutti_message *first = tutti_message_heap_first(&f->tso);
    int64_t optimistic = first && first->time < time ? first->time : time, granted = optimistic;
    struct bounds bounds = bounds_of(f->federation);
    struct tutti_bound galt = galt_of(&bounds, f);
    if (f->time.constrained && galt.value < granted)
        granted = galt.value;
    if (granted < f->time.now)
        granted = f->time.now;
    tutti_deliver_held(f);
    tutti_deliver_until(f, INT64_MAX, TUTTI_ORDER_TIMESTAMP);
    f->time.now = granted;
    f->time.strict = false;
    raise_promise(f, granted, false);
    f->federation->grants++;
    tell_time(f, TUTTI_CALLBACK_FlushQueueGrant, granted, optimistic);
    return changed(f);
}

enum tutti_hla tutti_rti_enable_asynchronous_delivery(struct tutti_ambassador *ambassador)
{
    struct tutti_federate *f;
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    if (f->time.asynchronous)
        return RAISE(AsynchronousDeliveryAlreadyEnabled, "asynchronous delivery to federate '%s' is on", f->name);
    f->time.asynchronous = true;
    tutti_deliver_held(f);
    tutti_mom_time_changed(f);
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_disable_asynchronous_delivery(struct tutti_ambassador *ambassador)
{
    struct tutti_federate *f;
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    if (!f->time.asynchronous)
        return RAISE(AsynchronousDeliveryAlreadyDisabled, "asynchronous delivery to federate '%s' is off", f->name);
    f->time.asynchronous = false;
    tutti_mom_time_changed(f);
    return TUTTI_HLA_OK;
}

void tutti_time_status(struct tutti_federate *federate, struct tutti_time_status *status)
{
    struct bounds bounds = bounds_of(federate->federation);
    struct tutti_bound galt = galt_of(&bounds, federate);
    const struct tutti_federate *holder = federate == bounds.holder ? bounds.second_holder : bounds.holder;
    const struct tutti_message *first = tutti_message_heap_first(&federate->tso);
    *status = (struct tutti_time_status){
        .has_galt = holder != NULL, .galt = galt.value, .holder = holder ? holder->handle : 0};
    status->has_lits = status->has_galt || first;
    status->lits = first && (!holder || first->time < galt.value) ? first->time : galt.value;
}

enum tutti_hla tutti_rti_query_galt(struct tutti_ambassador *ambassador, bool *valid, int64_t *time)
{
    struct tutti_federate *f;
    struct tutti_time_status status;
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    tutti_time_status(f, &status);
    *valid = status.has_galt;
    *time = status.galt;
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_query_lits(struct tutti_ambassador *ambassador, bool *valid, int64_t *time)
{
    struct tutti_federate *f;
    struct tutti_time_status status;
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    tutti_time_status(f, &status);
    *valid = status.has_lits;
    *time = status.lits;
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_query_logical_time(struct tutti_ambassador *ambassador, int64_t *time)
{
    struct tutti_federate *f;
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    *time = f->time.now;
    return TUTTI_HLA_OK;
}

static enum tutti_hla check_regulating(const struct tutti_federate *f)
{
    if (f->time.regulating)
        return TUTTI_HLA_OK;
    return RAISE(TimeRegulationIsNotEnabled, "federate '%s' does not regulate", f->name);
}

enum tutti_hla tutti_rti_query_lookahead(struct tutti_ambassador *ambassador, int64_t *lookahead)
{
    struct tutti_federate *f;
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    HLA_TRY(check_regulating(f));
    int64_t actual = tutti_time_subtract(kind_of(f), f->time.promise.value, f->time.now);
    *lookahead = f->time.pending == TUTTI_ADVANCE_NONE && actual > f->time.lookahead ? actual : f->time.lookahead;
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_modify_lookahead(struct tutti_ambassador *ambassador, int64_t lookahead)
{
    struct tutti_federate *f;
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    HLA_TRY(check_lookahead(f, lookahead));
    HLA_TRY(check_not_advancing(f));
    HLA_TRY(check_regulating(f));
    f->time.lookahead = lookahead;
    raise_promise(f, f->time.now, f->time.strict);
    return changed(f);
}

static const char *const requests[] = {
    [TUTTI_ADVANCE_NONE] = "granted",
    [TUTTI_ADVANCE_TAR] = "time advance request",
    [TUTTI_ADVANCE_TARA] = "time advance request available",
    [TUTTI_ADVANCE_NMR] = "next message request",
    [TUTTI_ADVANCE_NMRA] = "next message request available",
};

static void explain_holder(struct tutti_text *text, const struct bounds *bounds, const struct tutti_federate *f)
{
    const struct tutti_federate *holder = f == bounds->holder ? bounds->second_holder : bounds->holder;
    enum tutti_time_kind kind = kind_of(f);
    struct tutti_bound galt = galt_of(bounds, f);
    if (!holder) {
        tutti_text_append(text, "for a federate that regulates\n");
        return;
    }
    tutti_text_printf(text, "for '%s', which is at %s with lookahead %s", holder->name,
                      tutti_time_show(kind, holder->time.now).text, tutti_time_show(kind, holder->time.lookahead).text);
    if (holder->time.pending != TUTTI_ADVANCE_NONE)
        tutti_text_printf(text, ", waits for %s itself", tutti_time_show(kind, holder->time.target).text);
    tutti_text_printf(text, " and may send %s %s\n", galt.after ? "after" : "from",
                      tutti_time_show(kind, galt.value).text);
}

void tutti_time_explain(struct tutti_federation *federation, struct tutti_text *text)
{
    struct bounds bounds = bounds_of(federation);
    for (size_t i = 0; i < federation->federates.count; i++) {
        const struct tutti_federate *f = tutti_federation_at(federation, i);
        if (f->time.constrained_pending)
            tutti_text_printf(text, "'%s' at %s waits to be constrained ", f->name,
                              tutti_time_show(kind_of(f), f->time.now).text);
        else if (f->time.pending != TUTTI_ADVANCE_NONE)
            tutti_text_printf(text, "'%s' at %s waits for %s (%s) ", f->name,
                              tutti_time_show(kind_of(f), f->time.now).text,
                              tutti_time_show(kind_of(f), f->time.target).text, requests[f->time.pending]);
        else
            continue;
        explain_holder(text, &bounds, f);
    }
}
