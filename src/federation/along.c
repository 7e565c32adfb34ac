/* SPDX-License-Identifier: MIT */
#include "federation/along.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "description/wide.h"
#include "federation/delegate.h"
#include "federation/spread.h"
#include "master/events.h"
#include "options/words.h"

/* So often may a time be granted that has been granted already. */
enum { MOST_ROUNDS = 1000 };

enum advance {
#define LISTED(name, word, meaning) ADVANCE_##name,
    TUTTI_ADVANCES(LISTED)
#undef LISTED
};

/* What is published of one own unit. */
struct source {
    uint32_t component;
    uint32_t *variables;
    size_t count;
    struct tutti_signals signals; /* of these */
};

/* A published variable: where its value is read. */
struct outlet {
    struct source *source; /* NULL: another rank's */
    size_t slot;           /* among its variables */
    size_t place;          /* of an element */
};

/* A subscribed one. */
struct inlet {
    struct tutti_pending_set *set; /* NULL: another rank's */
    size_t place;
};

struct walk {
    const struct tutti_attribute_links *links;
    struct tutti_execution *execution;
    struct tutti_rank *rank;
    struct tutti_delegate *delegate; /* of the first rank */
    enum advance how;
    double lookahead; /* as it is asked for ... */
    double promised;  /* ... and what of it is promised */
    double granted;
    int rounds; /* times that it was granted once more where the run is */
    struct source *sources;
    size_t source_count;
    struct outlet *outlets;
    struct inlet *inlets;
    struct tutti_parcel *values, *sent; /* per published link: as it is, as it was sent last */
    bool *mine, *send;
    struct tutti_parcel news; /* what has come with a grant */
    struct tutti_spread spread;
};

/* ---- reading and sending ---- */

static enum tutti_err encode_outlet(struct walk *walk, size_t i)
{
    const struct tutti_attribute_link *link = &walk->links->published[i];
    const struct outlet *outlet = &walk->outlets[i];
    const struct tutti_signals *signals = &outlet->source->signals;
    const struct tutti_unit *unit = walk->rank->members[link->end.component].unit;
    const struct tutti_var *var = &unit->fmu->desc->vars[link->end.variable];
    size_t size = signals->sizes[outlet->slot];
    const char *value = (const char *)signals->slots[outlet->slot] + outlet->place * size;
    tutti_wide negated = 0;
    if (var->negated) {
        memcpy(&negated, value, size);
        tutti_type_negate((enum tutti_type)var->type, &negated);
        value = (const char *)&negated;
    }
    tutti_parcel_reset(&walk->values[i]);
    enum tutti_err err = tutti_encode(link->encoding, (enum tutti_type)var->type, value, &walk->values[i]);
    return tutti_fail_context(err, "--publish '%s': t = %s", link->text, TIME(walk->rank->t));
}

/* Collective: the values of all, or of units with event mode. */
static enum tutti_err read_all(struct walk *walk, bool after_events)
{
    for (size_t i = 0; i < walk->source_count; i++) {
        struct tutti_unit *unit = walk->rank->members[walk->sources[i].component].unit;
        if (!after_events || unit->has_events)
            TRY(tutti_unit_get(unit, &walk->sources[i].signals));
    }
    for (size_t i = 0; i < walk->links->published_count; i++)
        if (walk->mine[i])
            TRY(encode_outlet(walk, i));
    return tutti_spread(&walk->spread, walk->rank, walk->values, walk->mine, walk->links->published_count);
}

/* What was read; `changed`: only what was not sent like this before. */
static enum tutti_err send_all(struct walk *walk, double stamp, bool changed)
{
    size_t count = walk->links->published_count;
    if (!walk->delegate)
        return TUTTI_OK;
    for (size_t i = 0; i < count; i++) {
        const struct tutti_parcel *value = &walk->values[i];
        struct tutti_parcel *sent = &walk->sent[i];
        bool same = value->size == sent->size && sent->size > 0 && memcmp(value->bytes, sent->bytes, sent->size) == 0;
        walk->send[i] = !changed || walk->delegate->wanted || !same;
        tutti_parcel_reset(sent);
        tutti_parcel_put_bytes(sent, value->bytes, value->size);
    }
    walk->delegate->wanted = false;
    return tutti_delegate_send(walk->delegate, walk->values, walk->send, stamp);
}

/* ---- time, and what comes ---- */

static void pack_news(struct walk *walk, double granted)
{
    tutti_parcel_reset(&walk->news);
    tutti_parcel_put_double(&walk->news, granted);
    for (size_t i = 0; i < walk->links->subscribed_count; i++) {
        struct tutti_arrival *arrival = &walk->delegate->arrivals[i];
        tutti_parcel_put_u8(&walk->news, arrival->fresh);
        if (arrival->fresh)
            tutti_parcel_put_block(&walk->news, arrival->bytes.bytes, arrival->bytes.size);
        arrival->fresh = false;
    }
}

/* Collective. */
static enum tutti_err ask(struct walk *walk, enum tutti_federate_advance how, double t)
{
    const bool mine = walk->delegate != NULL;
    double granted = 0;
    if (mine) {
        enum tutti_err err = tutti_delegate_ask(walk->delegate, how, t, &granted);
        if (err)
            return err == TUTTI_ERR_INTERRUPTED ? err : tutti_fail_context(err, "t = %s", TIME(walk->rank->t));
        pack_news(walk, granted);
    }
    TRY(tutti_spread(&walk->spread, walk->rank, &walk->news, &mine, 1));
    struct tutti_unparcel in = tutti_unparcel_begin(tutti_parcel_bytes(&walk->news));
    walk->granted = tutti_unparcel_double(&in);
    return walk->news.failed || in.bad ? tutti_fail_memory() : TUTTI_OK;
}

static enum tutti_err put(struct walk *walk, size_t i, const void *bytes, size_t size)
{
    const struct tutti_attribute_link *link = &walk->links->subscribed[i];
    struct tutti_pending_set *set = walk->inlets[i].set;
    const struct tutti_unit *unit = walk->rank->members[link->end.component].unit;
    const struct tutti_var *var = &unit->fmu->desc->vars[link->end.variable];
    struct tutti_block *block = &set->signals.blocks[0];
    size_t place = walk->inlets[i].place;
    void *value = (char *)set->signals.slots[0] + place * set->signals.sizes[0];
    struct tutti_owned *owned = block->owned ? tutti_owned_at(block->owned, place) : NULL;
    if (link->end.element.count > 0)
        TRY(tutti_pending_set_renew(set, walk->rank)); /* the other elements as they are */
    enum tutti_err err = tutti_decode(link->encoding, bytes, size, (enum tutti_type)var->type, value, owned);
    if (err)
        return tutti_fail_context(err, "--subscribe '%s': t = %s", link->text, TIME(walk->rank->t));
    if (var->negated)
        tutti_type_negate((enum tutti_type)var->type, value);
    tutti_pending_set_mark(set, walk->rank);
    return TUTTI_OK;
}

/* Collective: units get what has come with the last grant. */
static enum tutti_err take(struct walk *walk)
{
    struct tutti_unparcel in = tutti_unparcel_begin(tutti_parcel_bytes(&walk->news));
    (void)tutti_unparcel_double(&in);
    for (size_t i = 0; i < walk->links->subscribed_count; i++) {
        size_t size = 0;
        const void *bytes = tutti_unparcel_u8(&in) ? tutti_unparcel_block(&in, &size) : NULL;
        if (bytes && walk->inlets[i].set)
            TRY(put(walk, i, bytes, size));
    }
    tutti_parcel_reset(&walk->news);
    return tutti_events_take_pending(&walk->execution->master);
}

/* ---- at points ---- */

static bool asks_first(const struct walk *walk)
{
    return walk->how == ADVANCE_NMR || walk->how == ADVANCE_NMRA;
}

/* So far it goes without asking: n L from the start on, if it is one of these. */
static double due_after(const struct walk *walk)
{
    const struct tutti_rank *rank = walk->rank;
    double due = walk->granted + walk->lookahead, start = rank->times.start;
    double even = start + round((due - start) / walk->lookahead) * walk->lookahead;
    return walk->lookahead > 0 && tutti_time_same(even, due, rank->span) ? even : due;
}

static enum tutti_err check_interrupt(const struct walk *walk)
{
    const volatile sig_atomic_t *interrupt = walk->rank->job->options.interrupt;
    return interrupt && *interrupt
               ? tutti_fail(TUTTI_ERR_INTERRUPTED, "interrupted at t = %s; everything up to there is kept",
                            TIME(walk->rank->t))
               : TUTTI_OK;
}

/* A point that steps have led to: its values go out, and others' come in. */
static enum tutti_err exchange(struct walk *walk)
{
    double t = walk->rank->t;
    TRY(read_all(walk, false));
    TRY(send_all(walk, fmax(t, walk->granted + walk->promised), false));
    if (walk->how == ADVANCE_TARA) {
        TRY(ask(walk, TUTTI_FEDERATE_TARA, t));
        TRY(take(walk));
        TRY(read_all(walk, true));
        TRY(send_all(walk, t, true));
    }
    TRY(ask(walk, TUTTI_FEDERATE_TAR, t));
    return take(walk);
}

/* A point that was granted before it was reached. */
static enum tutti_err arrive(struct walk *walk)
{
    TRY(read_all(walk, false));
    TRY(take(walk));
    TRY(read_all(walk, true));
    return send_all(walk, walk->granted + walk->lookahead, true);
}

/* After a step. Units in the middle of one of their own take what is for them later. */
static enum tutti_err look(void *context)
{
    struct walk *walk = context;
    const struct tutti_rank *rank = walk->rank;
    double due = asks_first(walk) ? walk->granted : due_after(walk);
    TRY(check_interrupt(walk));
    if (!tutti_time_reached(rank->t, due, rank->span))
        return tutti_events_take_pending(&walk->execution->master);
    return asks_first(walk) ? arrive(walk) : exchange(walk);
}

/* For time to go on. Where the time is granted once more, what has come may be an event, and the next one announced for another time than before. */
static enum tutti_err ask_ahead(struct walk *walk, double target, bool *again)
{
    const struct tutti_rank *rank = walk->rank;
    if (!tutti_time_reached(rank->t, walk->granted, rank->span))
        return TUTTI_OK;
    TRY(ask(walk, walk->how == ADVANCE_NMR ? TUTTI_FEDERATE_NMR : TUTTI_FEDERATE_NMRA, target));
    *again = tutti_time_reached(rank->t, walk->granted, rank->span);
    walk->rounds = *again ? walk->rounds + 1 : 0;
    if (walk->rounds == MOST_ROUNDS)
        return tutti_fail(TUTTI_ERR_STATE,
                          "t = %s was granted %d times: federates answer each other there without end; a --lookahead "
                          "greater than 0 leads on",
                          TIME(rank->t), MOST_ROUNDS);
    return *again ? arrive(walk) : TUTTI_OK;
}

/* The earlier of both, to the bit of `end` if they are the same. */
static void end_at(const struct walk *walk, double end, double *target)
{
    if (end < *target || tutti_time_same(end, *target, walk->rank->span))
        *target = end;
}

/* Before a step. A unit that cannot vary its step goes on to the next point that it can. */
static enum tutti_err bound(void *context, double *target, bool *again)
{
    struct walk *walk = context;
    const struct tutti_rank *rank = walk->rank;
    bool rigid = rank->single_unit && rank->members[0].unit->uniform;
    if (asks_first(walk)) {
        TRY(ask_ahead(walk, *target, again));
        end_at(walk, walk->granted, target);
    } else if (walk->lookahead > 0 && !rigid && !tutti_time_reached(walk->granted, rank->t, rank->span)) {
        end_at(walk, due_after(walk), target);
    }
    return TUTTI_OK;
}

/* ---- beginning ---- */

/* That of a unit, made if there is none. */
static struct source *source_of(struct walk *walk, uint32_t component)
{
    size_t i = 0;
    while (i < walk->source_count && walk->sources[i].component != component)
        i++;
    struct source *source = &walk->sources[i];
    if (i == walk->source_count) {
        *source = (struct source){.component = component};
        source->variables = calloc(walk->links->published_count, sizeof *source->variables);
        walk->source_count++;
    }
    return source->variables ? source : NULL;
}

static enum tutti_err open_outlet(struct walk *walk, size_t i)
{
    const struct tutti_end *end = &walk->links->published[i].end;
    struct outlet *outlet = &walk->outlets[i];
    const struct tutti_unit *unit = walk->rank->members[end->component].unit;
    walk->mine[i] = tutti_rank_owns(walk->rank, end->component);
    if (!walk->mine[i])
        return TUTTI_OK;
    struct source *source = outlet->source = source_of(walk, end->component);
    if (!source)
        return tutti_fail_memory();
    while (outlet->slot < source->count && source->variables[outlet->slot] != end->variable)
        outlet->slot++;
    if (outlet->slot == source->count)
        source->variables[source->count++] = end->variable;
    return end->element.count > 0 ? tutti_unit_element(unit, end->variable, &end->element, &outlet->place) : TUTTI_OK;
}

static enum tutti_err open_outlets(struct walk *walk)
{
    for (size_t i = 0; i < walk->links->published_count; i++)
        TRY(open_outlet(walk, i));
    for (size_t i = 0; i < walk->source_count; i++) {
        struct source *source = &walk->sources[i];
        const struct tutti_unit *unit = walk->rank->members[source->component].unit;
        TRY(tutti_unit_signals(unit, source->variables, source->count, &source->signals));
    }
    return TUTTI_OK;
}

static enum tutti_err open_inlet(struct walk *walk, size_t i)
{
    const struct tutti_attribute_link *link = &walk->links->subscribed[i];
    const struct tutti_end *end = &link->end;
    struct tutti_rank *rank = walk->rank;
    struct inlet *inlet = &walk->inlets[i];
    const struct tutti_member *member = &rank->members[end->component];
    if (!tutti_rank_owns(rank, end->component))
        return TUTTI_OK;
    if (end->element.count > 0)
        TRY(tutti_unit_element(member->unit, end->variable, &end->element, &inlet->place));
    if (member->inputs && tutti_inputs_slot(member->inputs, end->variable, inlet->place))
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--subscribe '%s': that gets its values from %s", link->text,
                          tutti_inputs_file(member->inputs, end->variable));
    for (size_t j = 0; j < i && !inlet->set; j++) {
        const struct tutti_end *other = &walk->links->subscribed[j].end;
        if (other->component == end->component && other->variable == end->variable)
            inlet->set = walk->inlets[j].set;
    }
    if (!inlet->set)
        TRY(tutti_pending_set_new(&inlet->set, rank->pending_sets, rank, end->component, end->variable));
    const struct tutti_var *var = &member->unit->fmu->desc->vars[end->variable];
    inlet->set->moves = var->causality == TUTTI_INPUT && var->variability == TUTTI_CONTINUOUS &&
                        (walk->how == ADVANCE_TAR || !member->unit->has_events);
    return TUTTI_OK;
}

/* Room for as many items as there are links. */
static enum tutti_err allocate(struct walk *walk)
{
    size_t out = walk->links->published_count + 1, in = walk->links->subscribed_count + 1;
    walk->outlets = calloc(out, sizeof *walk->outlets);
    walk->sources = calloc(out, sizeof *walk->sources);
    walk->values = calloc(out, sizeof *walk->values);
    walk->sent = calloc(out, sizeof *walk->sent);
    walk->mine = calloc(out, sizeof *walk->mine);
    walk->send = calloc(out, sizeof *walk->send);
    walk->inlets = calloc(in, sizeof *walk->inlets);
    return walk->outlets && walk->sources && walk->values && walk->sent && walk->mine && walk->send && walk->inlets
               ? TUTTI_OK
               : tutti_fail_memory();
}

/* Times are sums, with their rounding errors: what is sent at the end of a step that is as long as the lookahead must not be too early by these. */
static double promise(const struct walk *walk)
{
    const struct tutti_rank *rank = walk->rank;
    double scale = fmax(fabs(rank->times.stop), rank->span);
    bool whole = walk->delegate && tutti_federate_counts(walk->delegate->client);
    return whole ? walk->lookahead : fmax(0, walk->lookahead - 16 * DBL_EPSILON * scale);
}

/* The first point: with a lookahead of 0, so that the values there can be sent. */
static enum tutti_err begin(struct walk *walk)
{
    const struct tutti_run_options *options = &walk->rank->job->options;
    struct tutti_rank *rank = walk->rank;
    bool exact = walk->how == ADVANCE_TARA || walk->how == ADVANCE_NMRA;
    if (rank->fabric->rank == 0) {
        TRY(tutti_delegate_join(&walk->delegate, walk->links, rank, rank->t));
        TRY(tutti_delegate_gather(walk->delegate));
    }
    walk->granted = -INFINITY;
    TRY(exchange(walk));
    walk->lookahead = options->has_lookahead ? options->lookahead : exact ? 0 : rank->times.step;
    walk->promised = promise(walk);
    return walk->delegate && walk->promised > 0 ? tutti_federate_look_ahead(walk->delegate->client, walk->promised)
                                                : TUTTI_OK;
}

static enum tutti_err set_out(const void *context, struct tutti_execution *execution, void **self)
{
    struct walk *walk = *self = calloc(1, sizeof *walk);
    int how;
    if (!walk)
        return tutti_fail_memory();
    walk->links = context;
    walk->execution = execution;
    walk->rank = &execution->rank;
    TRY(tutti_option_choose("advance", walk->rank->job->options.advance, &how));
    walk->how = (enum advance)how;
    if (asks_first(walk) && walk->rank->single_unit && walk->rank->members[0].unit->uniform)
        return tutti_fail(TUTTI_ERR_UNSUPPORTED,
                          "--advance %s: steps are to end where messages come, and %s cannot vary its step; use tar",
                          walk->rank->job->options.advance, walk->rank->members[0].unit->name);
    TRY(allocate(walk));
    TRY(open_outlets(walk));
    for (size_t i = 0; i < walk->links->subscribed_count; i++)
        TRY(open_inlet(walk, i));
    TRY(begin(walk));
    (void)tutti_loop_add_between(
        &execution->loop, &(struct tutti_between){
                              .due = INFINITY, .look = look, .minds_interrupt = true, .bound = bound, .context = walk});
    return TUTTI_OK;
}

/* ---- the end ---- */

/* What all have reached. */
static enum tutti_err finish(void *self)
{
    struct walk *walk = self;
    const struct tutti_rank *rank = walk->rank;
    if (rank->ended || rank->t < rank->times.stop)
        return TUTTI_OK;
    TRY(read_all(walk, false));
    return asks_first(walk) ? send_all(walk, walk->granted + walk->lookahead, true)
                            : send_all(walk, fmax(rank->t, walk->granted + walk->promised), false);
}

static void close_down(void *self)
{
    struct walk *walk = self;
    tutti_delegate_leave(walk->delegate);
    for (size_t i = 0; i < walk->source_count; i++) {
        tutti_signals_fini(&walk->sources[i].signals);
        free(walk->sources[i].variables);
    }
    for (size_t i = 0; i < walk->links->published_count && walk->values && walk->sent; i++) {
        tutti_parcel_fini(&walk->values[i]);
        tutti_parcel_fini(&walk->sent[i]);
    }
    free(walk->outlets);
    free(walk->sources);
    free(walk->inlets);
    free(walk->values);
    free(walk->sent);
    free(walk->mine);
    free(walk->send);
    tutti_parcel_fini(&walk->news);
    tutti_spread_fini(&walk->spread);
    free(walk);
}

/* ---- before the run ---- */

/* What has no meaning without it. */
static enum tutti_err check_without(const struct tutti_run_options *options)
{
    const char *given = options->publish_count > 0     ? "publish"
                        : options->subscribe_count > 0 ? "subscribe"
                        : options->has_lookahead       ? "lookahead"
                        : options->advance             ? "advance"
                        : options->federates > 0       ? "federates"
                        : options->federate            ? "federate"
                        : options->fom_count > 0       ? "fom"
                        : options->tls_cert            ? "tls-cert"
                        : options->tls_own             ? "tls-own"
                        : options->has_patience        ? "patience"
                                                       : NULL;
    return given ? tutti_fail(TUTTI_ERR_ARGUMENT, "--%s needs --join HOST:PORT/FEDERATION", given) : TUTTI_OK;
}

enum tutti_err tutti_along_check(const struct tutti_run_options *options)
{
    int how;
    if (!options->join)
        return TUTTI_OK;
    TRY(tutti_option_choose("advance", options->advance, &how));
    if (!strchr(options->join, '/'))
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--join takes HOST:PORT/FEDERATION, not '%s'", options->join);
    if (options->nodes || (options->confine && strcmp(options->confine, "none") != 0))
        return tutti_fail(
            TUTTI_ERR_UNSUPPORTED,
            "--join: the first rank speaks with the RTI, which it cannot %s: use --processes or --threads",
            options->nodes ? "from a node" : "where it is confined");
    if (options->checkpoint || options->resume || options->recover > 0)
        return tutti_fail(TUTTI_ERR_UNSUPPORTED,
                          "--join: a run cannot go back while the federation goes on: leave out --%s",
                          options->checkpoint ? "checkpoint"
                          : options->resume   ? "resume"
                                              : "recover");
    if (options->has_lookahead && !(options->lookahead >= 0 && isfinite(options->lookahead)))
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--lookahead takes a number from 0 on, not %s",
                          NUMBER(options->lookahead));
    if (how == ADVANCE_NMR && options->has_lookahead && options->lookahead == 0)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--advance nmr needs a --lookahead greater than 0; nmra does not");
    if (how == ADVANCE_TARA && options->has_lookahead && options->lookahead > 0)
        return tutti_fail(TUTTI_ERR_ARGUMENT,
                          "--advance tara sends twice at one time, and needs a --lookahead of 0; tar takes any");
    return TUTTI_OK;
}

enum tutti_err tutti_along_open(struct tutti_along *along, struct tutti_job *job)
{
    if (!job->options.join)
        return check_without(job->asked);
    TRY(tutti_along_check(&job->options));
    TRY(tutti_attribute_links_read(&along->links, job));
    along->companion =
        (struct tutti_companion){.context = &along->links, .open = set_out, .finish = finish, .close = close_down};
    job->companions[0] = &along->companion;
    job->is_fed = true;
    return TUTTI_OK;
}

void tutti_along_close(struct tutti_along *along)
{
    tutti_attribute_links_fini(&along->links);
}
