/* SPDX-License-Identifier: MIT */
#include "run/federate/run_federate.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/options/option_words.h"
#include "base/vector.h"
#include "fmu/description/type.h"
#include "run/federate/delegate.h"
#include "sim/events.h"
#include "sim/rank.h"

/* So often may a time be granted that has been granted already. */
enum { MOST_ROUNDS = 1000 };

enum advance_mode {
#define LISTED(name, word, meaning) ADVANCE_##name,
    TUTTI_ADVANCES(LISTED)
#undef LISTED
};

/* The published variables of one own unit. */
struct federate_source {
    uint32_t component;
    uint32_t *variables;
    size_t count;
    struct tt_signals signals; /* of these */
};

/* A published variable: where its value is read. */
struct federate_outlet {
    struct federate_source *source; /* NULL: another rank's */
    size_t slot;                    /* among its variables */
    size_t place;                   /* of an element */
};

struct federate_inlet {
    struct tt_pending_set *set; /* NULL: another rank's */
    size_t place;
};

struct run_federate {
    const struct tt_attribute_links *links;
    struct tt_execution *execution;
    struct tt_rank *rank;
    struct tt_delegate *delegate; /* of the first rank */
    enum advance_mode how;
    double lookahead; /* as given by the options */
    double promised;  /* the part of it that is promised */
    double granted;
    int rounds; /* times that it was granted once more where the run is */
    struct federate_source *sources;
    size_t source_count;
    struct federate_outlet *outlets;
    struct federate_inlet *inlets;
    struct tt_byte_writer *values, *sent; /* per published link: as it is, as it was sent last */
    bool *mine, *send;
    struct tt_byte_writer news; /* what has come with a grant */
    struct tt_broadcast_buffer spread;
};

/* ---- reading and sending ---- */

static enum tutti_err encode_published_value(struct run_federate *walk, size_t i)
{
    const struct tt_attribute_link *link = &walk->links->published[i];
    const struct federate_outlet *outlet = &walk->outlets[i];
    const struct tt_signals *signals = &outlet->source->signals;
    const struct tt_unit *unit = walk->rank->members[link->end.component].unit;
    const struct tt_var *var = &unit->fmu->desc->vars[link->end.variable];
    size_t size = signals->sizes[outlet->slot];
    const char *value = (const char *)signals->slots[outlet->slot] + outlet->place * size;
    tt_wide negated = 0;
    if (var->negated) {
        memcpy(&negated, value, size);
        tt_type_negate((enum tt_type)var->type, &negated);
        value = (const char *)&negated;
    }
    tt_bytes_reset(&walk->values[i]);
    enum tutti_err err = tt_encoding_encode(link->encoding, (enum tt_type)var->type, value, &walk->values[i]);
    return tt_fail_context(err, "--publish '%s': t = %s", link->text, TIME(walk->rank->t));
}

/* Collective: the values of all, or of units with event mode. */
static enum tutti_err read_published_values(struct run_federate *walk, bool after_events)
{
    for (size_t i = 0; i < walk->source_count; i++) {
        struct tt_unit *unit = walk->rank->members[walk->sources[i].component].unit;
        if (!after_events || unit->has_events)
            TRY(tt_unit_get(unit, &walk->sources[i].signals));
    }
    for (size_t i = 0; i < walk->links->published_count; i++)
        if (walk->mine[i])
            TRY(encode_published_value(walk, i));
    return tt_run_federate_broadcast(&walk->spread, walk->rank, walk->values, walk->mine, walk->links->published_count);
}

/* Sends published values; `changed`: only those that differ from the last sent ones. */
static enum tutti_err send_published_values(struct run_federate *walk, double stamp, bool changed)
{
    size_t count = walk->links->published_count;
    if (!walk->delegate)
        return TUTTI_OK;
    for (size_t i = 0; i < count; i++) {
        const struct tt_byte_writer *value = &walk->values[i];
        struct tt_byte_writer *sent = &walk->sent[i];
        bool same = value->size == sent->size && sent->size > 0 && memcmp(value->bytes, sent->bytes, sent->size) == 0;
        walk->send[i] = !changed || walk->delegate->wanted || !same;
        tt_bytes_reset(sent);
        tt_bytes_put_bytes(sent, value->bytes, value->size);
    }
    walk->delegate->wanted = false;
    return tt_delegate_send(walk->delegate, walk->values, walk->send, stamp);
}

/* ---- time, and what comes ---- */

/* Collective. */
static enum tutti_err request_time_advance(struct run_federate *walk, enum tutti_federate_advance how, double t)
{
    const bool mine = walk->delegate != NULL;
    double granted = 0;
    if (mine) {
        enum tutti_err err = tt_delegate_advance(walk->delegate, how, t, &granted);
        if (err)
            return err == TUTTI_ERR_INTERRUPTED ? err : tt_fail_context(err, "t = %s", TIME(walk->rank->t));

        tt_bytes_reset(&walk->news);
        tt_bytes_put_double(&walk->news, granted);
        for (size_t i = 0; i < walk->links->subscribed_count; i++) {
            struct tt_delegate_arrival *arrival = &walk->delegate->arrivals[i];
            tt_bytes_put_u8(&walk->news, arrival->fresh);
            if (arrival->fresh)
                tt_bytes_put_block(&walk->news, arrival->bytes.bytes, arrival->bytes.size);
            arrival->fresh = false;
        }
    }
    TRY(tt_run_federate_broadcast(&walk->spread, walk->rank, &walk->news, &mine, 1));
    struct tt_byte_reader in = tt_bytes_get_begin(tt_bytes_written(&walk->news));
    walk->granted = tt_bytes_get_double(&in);
    return walk->news.failed || in.bad ? tt_fail_memory() : TUTTI_OK;
}

static enum tutti_err store_received_value(struct run_federate *walk, size_t i, const void *bytes, size_t size)
{
    const struct tt_attribute_link *link = &walk->links->subscribed[i];
    struct tt_pending_set *set = walk->inlets[i].set;
    const struct tt_unit *unit = walk->rank->members[link->end.component].unit;
    const struct tt_var *var = &unit->fmu->desc->vars[link->end.variable];
    struct tt_block *block = &set->signals.blocks[0];
    size_t place = walk->inlets[i].place;
    void *value = (char *)set->signals.slots[0] + place * set->signals.sizes[0];
    struct tt_owned *owned = block->owned ? tt_signals_owned_at(block->owned, place) : NULL;
    if (link->end.element.count > 0)
        TRY(tt_pending_set_refresh(set, walk->rank)); /* keep all other elements */
    enum tutti_err err = tt_encoding_decode(link->encoding, bytes, size, (enum tt_type)var->type, value, owned);
    if (err)
        return tt_fail_context(err, "--subscribe '%s': t = %s", link->text, TIME(walk->rank->t));
    if (var->negated)
        tt_type_negate((enum tt_type)var->type, value);
    tt_pending_set_submit(set, walk->rank);
    return TUTTI_OK;
}

/* Collective: units get what has come with the last grant. */
static enum tutti_err apply_received_values(struct run_federate *walk)
{
    struct tt_byte_reader in = tt_bytes_get_begin(tt_bytes_written(&walk->news));
    (void)tt_bytes_get_double(&in);
    for (size_t i = 0; i < walk->links->subscribed_count; i++) {
        size_t size = 0;
        const void *bytes = tt_bytes_get_u8(&in) ? tt_bytes_get_block(&in, &size) : NULL;
        if (bytes && walk->inlets[i].set)
            TRY(store_received_value(walk, i, bytes, size));
    }
    tt_bytes_reset(&walk->news);
    return tt_events_apply_pending(&walk->execution->master);
}

/* ---- at points ---- */

static bool requests_time_first(const struct run_federate *walk)
{
    return walk->how == ADVANCE_NMR || walk->how == ADVANCE_NMRA;
}

/* So far it goes without asking: n L from the start on, if it is one of these. */
static double next_exchange_time(const struct run_federate *walk)
{
    const struct tt_rank *rank = walk->rank;
    double due = walk->granted + walk->lookahead, start = rank->times.start;
    double even = start + round((due - start) / walk->lookahead) * walk->lookahead;
    return walk->lookahead > 0 && tt_time_same(even, due, rank->span) ? even : due;
}

/* A point that steps have led to: its values go out, and others' come in. */
static enum tutti_err exchange_at_point(struct run_federate *walk)
{
    double t = walk->rank->t;
    TRY(read_published_values(walk, false));
    TRY(send_published_values(walk, fmax(t, walk->granted + walk->promised), false));
    if (walk->how == ADVANCE_TARA) {
        TRY(request_time_advance(walk, TUTTI_FEDERATE_TARA, t));
        TRY(apply_received_values(walk));
        TRY(read_published_values(walk, true));
        TRY(send_published_values(walk, t, true));
    }
    TRY(request_time_advance(walk, TUTTI_FEDERATE_TAR, t));
    return apply_received_values(walk);
}

/* A point that was granted before it was reached. */
static enum tutti_err handle_granted_point(struct run_federate *walk)
{
    TRY(read_published_values(walk, false));
    TRY(apply_received_values(walk));
    TRY(read_published_values(walk, true));
    return send_published_values(walk, walk->granted + walk->lookahead, true);
}

/* Called after a step. Units in the middle of a separate step receive their values later. */
static enum tutti_err run_federate_after_step(void *context)
{
    struct run_federate *walk = context;
    const struct tt_rank *rank = walk->rank;
    double due = requests_time_first(walk) ? walk->granted : next_exchange_time(walk);
    const volatile sig_atomic_t *interrupt = rank->job->options.interrupt;
    if (interrupt && *interrupt)
        return tt_fail(TUTTI_ERR_INTERRUPTED, "interrupted at t = %s; everything up to there is kept", TIME(rank->t));
    if (!tt_time_reached(rank->t, due, rank->span))
        return tt_events_apply_pending(&walk->execution->master);
    return requests_time_first(walk) ? handle_granted_point(walk) : exchange_at_point(walk);
}

/* Requests an advance of time. If the time is granted again, received values may be an event, which may change the next
 * announced event. */
static enum tutti_err request_next_grant(struct run_federate *walk, double target, bool *again)
{
    const struct tt_rank *rank = walk->rank;
    if (!tt_time_reached(rank->t, walk->granted, rank->span))
        return TUTTI_OK;
    TRY(request_time_advance(walk, walk->how == ADVANCE_NMR ? TUTTI_FEDERATE_NMR : TUTTI_FEDERATE_NMRA, target));
    *again = tt_time_reached(rank->t, walk->granted, rank->span);
    walk->rounds = *again ? walk->rounds + 1 : 0;
    if (walk->rounds == MOST_ROUNDS)
        return tt_fail(TUTTI_ERR_STATE,
                       "t = %s was granted %d times: federates answer each other there without end; a --lookahead "
                       "greater than 0 leads on",
                       TIME(rank->t), MOST_ROUNDS);
    return *again ? handle_granted_point(walk) : TUTTI_OK;
}

/* The earlier of both, to the bit of `end` if they are the same. */
static void limit_step_end(const struct run_federate *walk, double end, double *target)
{
    if (end < *target || tt_time_same(end, *target, walk->rank->span))
        *target = end;
}

/* Called before a step. A unit with a fixed step continues to the next point that it can reach. */
static enum tutti_err run_federate_before_step(void *context, double *target, bool *again)
{
    struct run_federate *walk = context;
    const struct tt_rank *rank = walk->rank;
    bool rigid = rank->single_unit && rank->members[0].unit->uniform;
    if (requests_time_first(walk)) {
        TRY(request_next_grant(walk, *target, again));
        limit_step_end(walk, walk->granted, target);
    } else if (walk->lookahead > 0 && !rigid && !tt_time_reached(walk->granted, rank->t, rank->span)) {
        limit_step_end(walk, next_exchange_time(walk), target);
    }
    return TUTTI_OK;
}

/* ---- beginning ---- */

/* Returns the source of a unit, created if it does not exist. */
static struct federate_source *find_or_add_source(struct run_federate *walk, uint32_t component)
{
    size_t i = 0;
    while (i < walk->source_count && walk->sources[i].component != component)
        i++;
    struct federate_source *source = &walk->sources[i];
    if (i == walk->source_count) {
        *source = (struct federate_source){.component = component};
        source->variables = calloc(walk->links->published_count, sizeof *source->variables);
        walk->source_count++;
    }
    return source->variables ? source : NULL;
}

static enum tutti_err open_outlet(struct run_federate *walk, size_t i)
{
    const struct tt_end *end = &walk->links->published[i].end;
    struct federate_outlet *outlet = &walk->outlets[i];
    const struct tt_unit *unit = walk->rank->members[end->component].unit;
    walk->mine[i] = tt_rank_owns(walk->rank, end->component);
    if (!walk->mine[i])
        return TUTTI_OK;
    struct federate_source *source = outlet->source = find_or_add_source(walk, end->component);
    if (!source)
        return tt_fail_memory();
    while (outlet->slot < source->count && source->variables[outlet->slot] != end->variable)
        outlet->slot++;
    if (outlet->slot == source->count)
        source->variables[source->count++] = end->variable;
    return end->element.count > 0 ? tt_unit_element(unit, end->variable, &end->element, &outlet->place) : TUTTI_OK;
}

static enum tutti_err open_inlet(struct run_federate *walk, size_t i)
{
    const struct tt_attribute_link *link = &walk->links->subscribed[i];
    const struct tt_end *end = &link->end;
    struct tt_rank *rank = walk->rank;
    struct federate_inlet *inlet = &walk->inlets[i];
    const struct tt_member *member = &rank->members[end->component];
    if (!tt_rank_owns(rank, end->component))
        return TUTTI_OK;
    if (end->element.count > 0)
        TRY(tt_unit_element(member->unit, end->variable, &end->element, &inlet->place));
    if (member->inputs && tt_inputs_slot(member->inputs, end->variable, inlet->place))
        return tt_fail(TUTTI_ERR_ARGUMENT, "--subscribe '%s': that gets its values from %s", link->text,
                       tt_inputs_file_name(member->inputs, end->variable));
    for (size_t j = 0; j < i && !inlet->set; j++) {
        const struct tt_end *other = &walk->links->subscribed[j].end;
        if (other->component == end->component && other->variable == end->variable)
            inlet->set = walk->inlets[j].set;
    }
    if (!inlet->set)
        TRY(tt_pending_set_new(&inlet->set, rank->pending_sets, rank, end->component, end->variable));
    const struct tt_var *var = &member->unit->fmu->desc->vars[end->variable];
    inlet->set->moves = var->causality == TUTTI_INPUT && var->variability == TUTTI_CONTINUOUS &&
                        (walk->how == ADVANCE_TAR || !member->unit->has_events);
    return TUTTI_OK;
}

/* Allocates one item per link. */
static enum tutti_err run_federate_allocate(struct run_federate *walk)
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
               : tt_fail_memory();
}

/* The first point: with a lookahead of 0, so that the values there can be sent. */
static enum tutti_err run_federate_start(struct run_federate *walk)
{
    const struct tutti_run_options *options = &walk->rank->job->options;
    struct tt_rank *rank = walk->rank;
    bool exact = walk->how == ADVANCE_TARA || walk->how == ADVANCE_NMRA;
    if (rank->fabric->rank == 0) {
        TRY(tt_delegate_join(&walk->delegate, walk->links, rank, rank->t));
        TRY(tt_delegate_gather(walk->delegate));
    }
    walk->granted = -INFINITY;
    TRY(exchange_at_point(walk));
    walk->lookahead = options->has_lookahead ? options->lookahead : exact ? 0 : rank->times.step;

    /* Times are sums with rounding errors: a message at the end of a step that is as long as the lookahead must not be
     * too early because of them. */
    double scale = fmax(fabs(rank->times.stop), rank->span);
    bool whole = walk->delegate && tutti_federate_counts(walk->delegate->client);
    walk->promised = whole ? walk->lookahead : fmax(0, walk->lookahead - 16 * DBL_EPSILON * scale);
    return walk->delegate && walk->promised > 0 ? tutti_federate_look_ahead(walk->delegate->client, walk->promised)
                                                : TUTTI_OK;
}

static enum tutti_err run_federate_attach(const void *context, struct tt_execution *execution, void **self)
{
    struct run_federate *walk = *self = calloc(1, sizeof *walk);
    int how;
    if (!walk)
        return tt_fail_memory();
    walk->links = context;
    walk->execution = execution;
    walk->rank = &execution->rank;
    TRY(tt_options_choose("advance", walk->rank->job->options.advance, &how));
    walk->how = (enum advance_mode)how;
    if (requests_time_first(walk) && walk->rank->single_unit && walk->rank->members[0].unit->uniform)
        return tt_fail(TUTTI_ERR_UNSUPPORTED,
                       "--advance %s: steps are to end where messages come, and %s cannot vary its step; use tar",
                       walk->rank->job->options.advance, walk->rank->members[0].unit->name);
    TRY(run_federate_allocate(walk));
    for (size_t i = 0; i < walk->links->published_count; i++)
        TRY(open_outlet(walk, i));
    for (size_t i = 0; i < walk->source_count; i++) {
        struct federate_source *source = &walk->sources[i];
        const struct tt_unit *unit = walk->rank->members[source->component].unit;
        TRY(tt_unit_signals(unit, source->variables, source->count, &source->signals));
    }
    for (size_t i = 0; i < walk->links->subscribed_count; i++)
        TRY(open_inlet(walk, i));
    TRY(run_federate_start(walk));
    (void)tt_run_add_hook(&execution->loop, &(struct tt_step_hook){.due = INFINITY,
                                                                   .look = run_federate_after_step,
                                                                   .minds_interrupt = true,
                                                                   .bound = run_federate_before_step,
                                                                   .context = walk});
    return TUTTI_OK;
}

/* ---- the end ---- */

/* Called at the end of the run, when all ranks have ended. */
static enum tutti_err run_federate_finish(void *self)
{
    struct run_federate *walk = self;
    const struct tt_rank *rank = walk->rank;
    if (rank->ended || rank->t < rank->times.stop)
        return TUTTI_OK;
    TRY(read_published_values(walk, false));
    return requests_time_first(walk)
               ? send_published_values(walk, walk->granted + walk->lookahead, true)
               : send_published_values(walk, fmax(rank->t, walk->granted + walk->promised), false);
}

static void run_federate_detach(void *self)
{
    struct run_federate *walk = self;
    tt_delegate_leave(walk->delegate);
    for (size_t i = 0; i < walk->source_count; i++) {
        tt_signals_fini(&walk->sources[i].signals);
        free(walk->sources[i].variables);
    }
    for (size_t i = 0; i < walk->links->published_count && walk->values && walk->sent; i++) {
        tt_bytes_fini(&walk->values[i]);
        tt_bytes_fini(&walk->sent[i]);
    }
    free(walk->outlets);
    free(walk->sources);
    free(walk->inlets);
    free(walk->values);
    free(walk->sent);
    free(walk->mine);
    free(walk->send);
    tt_bytes_fini(&walk->news);
    tt_run_federate_free_broadcast(&walk->spread);
    free(walk);
}

/* ---- before the run ---- */

/* Rejects options that require `join`. */
static enum tutti_err check_options_without_join(const struct tutti_run_options *options)
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
    return given ? tt_fail(TUTTI_ERR_ARGUMENT, "--%s needs --join HOST:PORT/FEDERATION", given) : TUTTI_OK;
}

enum tutti_err tt_run_federate_check(const struct tutti_run_options *options)
{
    int how;
    if (!options->join)
        return TUTTI_OK;
    TRY(tt_options_choose("advance", options->advance, &how));
    if (!strchr(options->join, '/'))
        return tt_fail(TUTTI_ERR_ARGUMENT, "--join takes HOST:PORT/FEDERATION, not '%s'", options->join);
    if (options->nodes || (options->confine && strcmp(options->confine, "none") != 0))
        return tt_fail(TUTTI_ERR_UNSUPPORTED,
                       "--join: the first rank speaks with the RTI, which it cannot %s: use --processes or --threads",
                       options->nodes ? "from a node" : "where it is confined");
    if (options->checkpoint || options->resume || options->recover > 0)
        return tt_fail(TUTTI_ERR_UNSUPPORTED,
                       "--join: a run cannot go back while the federation goes on: leave out --%s",
                       options->checkpoint ? "checkpoint"
                       : options->resume   ? "resume"
                                           : "recover");
    if (options->has_lookahead && !(options->lookahead >= 0 && isfinite(options->lookahead)))
        return tt_fail(TUTTI_ERR_ARGUMENT, "--lookahead takes a number from 0 on, not %s", NUMBER(options->lookahead));
    if (how == ADVANCE_NMR && options->has_lookahead && options->lookahead == 0)
        return tt_fail(TUTTI_ERR_ARGUMENT, "--advance nmr needs a --lookahead greater than 0; nmra does not");
    if (how == ADVANCE_TARA && options->has_lookahead && options->lookahead > 0)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "--advance tara sends twice at one time, and needs a --lookahead of 0; tar takes any");
    return TUTTI_OK;
}

enum tutti_err tt_run_federate_open(struct tt_run_federate *along, struct tt_job *job)
{
    if (!job->options.join)
        return check_options_without_join(job->asked);
    TRY(tt_run_federate_check(&job->options));
    TRY(tt_attribute_links_read(&along->links, job));
    along->companion = (struct tt_run_extension){.context = &along->links,
                                                 .open = run_federate_attach,
                                                 .finish = run_federate_finish,
                                                 .close = run_federate_detach};
    job->companions[0] = &along->companion;
    job->is_fed = true;
    return TUTTI_OK;
}

void tt_run_federate_close(struct tt_run_federate *along)
{
    tt_attribute_links_fini(&along->links);
}

/* Ranks have minima and maxima of doubles to agree by (fabric.h). A double holds six bytes as a whole number; who does not know them has 0. */

enum { BYTES = 6 };

static size_t doubles_for_bytes(size_t bytes)
{
    return (bytes + BYTES - 1) / BYTES;
}

static void broadcast_pack(const struct tt_byte_writer *parcel, double *numbers)
{
    for (size_t i = 0; i < parcel->size; i += BYTES) {
        uint64_t whole = 0;
        for (size_t b = i; b < i + BYTES; b++)
            whole = whole << 8 | (b < parcel->size ? (uint8_t)parcel->bytes[b] : 0U);
        numbers[i / BYTES] = (double)whole;
    }
}

static enum tutti_err broadcast_unpack(struct tt_byte_writer *parcel, const double *numbers, size_t size)
{
    tt_bytes_reset(parcel);
    char *bytes = tt_bytes_extend(parcel, size);
    for (size_t i = 0; bytes && i < size; i++)
        bytes[i] = (char)((uint64_t)numbers[i / BYTES] >> 8 * (BYTES - 1 - i % BYTES));
    return parcel->failed ? tt_fail_memory() : TUTTI_OK;
}

static enum tutti_err broadcast_reserve(struct tt_broadcast_buffer *spread, size_t count)
{
    return tt_vector_reserve(&spread->numbers, &spread->room, count, sizeof *spread->numbers) ? TUTTI_OK
                                                                                              : tt_fail_memory();
}

/* Sizes first, then what all of them need. */
static enum tutti_err broadcast_values(struct tt_broadcast_buffer *spread, struct tt_rank *rank,
                                       struct tt_byte_writer *parcels, const bool *mine, const size_t *sizes,
                                       size_t count)
{
    size_t total = 0, at = 0;
    for (size_t i = 0; i < count; i++)
        total += doubles_for_bytes(sizes[i]);
    TRY(broadcast_reserve(spread, total + 1));
    memset(spread->numbers, 0, (total + 1) * sizeof *spread->numbers);
    for (size_t i = 0; i < count; at += doubles_for_bytes(sizes[i++]))
        if (mine[i])
            broadcast_pack(&parcels[i], spread->numbers + at);
    TRY(tt_rank_reduce(rank, TUTTI_REDUCE_MAX, spread->numbers, total));
    at = 0;
    for (size_t i = 0; i < count; at += doubles_for_bytes(sizes[i++]))
        if (!mine[i])
            TRY(broadcast_unpack(&parcels[i], spread->numbers + at, sizes[i]));
    return TUTTI_OK;
}

enum tutti_err tt_run_federate_broadcast(struct tt_broadcast_buffer *spread, struct tt_rank *rank,
                                         struct tt_byte_writer *parcels, const bool *mine, size_t count)
{
    if (rank->fabric->ranks == 1 || count == 0)
        return TUTTI_OK;
    TRY(broadcast_reserve(spread, count));
    for (size_t i = 0; i < count; i++)
        spread->numbers[i] = mine[i] ? (double)parcels[i].size : 0;
    TRY(tt_rank_reduce(rank, TUTTI_REDUCE_MAX, spread->numbers, count));
    size_t *sizes = calloc(count, sizeof *sizes);
    if (!sizes)
        return tt_fail_memory();
    for (size_t i = 0; i < count; i++)
        sizes[i] = (size_t)spread->numbers[i];
    enum tutti_err err = broadcast_values(spread, rank, parcels, mine, sizes, count);
    free(sizes);
    return err;
}

void tt_run_federate_free_broadcast(struct tt_broadcast_buffer *spread)
{
    free(spread->numbers);
    *spread = (struct tt_broadcast_buffer){0};
}
