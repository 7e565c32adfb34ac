/* SPDX-License-Identifier: MIT */
#include "sim/extrapolation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/options/options.h"

/* Points at which derivatives contradict values before they are not used any more. */
enum { MOST_DOUBTS = 3 };

enum tutti_err tt_extrapolation_parse_order(const char *name, unsigned *order)
{
    int place;
    TRY(tt_options_choose("extrapolate", name, &place));
    *order = place > 0 ? (unsigned)(place - 1) : 0; /* the first word is auto */
    return TUTTI_OK;
}

static double *count_extrapolated(const struct tt_extrapolation *e)
{
    return calloc((size_t)e->outputs->count + 1, sizeof(double));
}

enum tutti_err tt_extrapolation_open(struct tt_extrapolation *e, struct tt_outputs *outputs)
{
    struct tt_rank *rank = e->rank = outputs->rank;
    e->outputs = outputs;
    e->keeps = e->keeps || e->order > 0;
    if (!e->keeps)
        return TUTTI_OK;
    for (uint32_t m = 0; m < rank->member_count; m++)
        e->gives = e->gives || rank->members[m].unit->output_order > 0;
    e->references = calloc((size_t)rank->wires.real_count + 1, sizeof *e->references);
    e->values = count_extrapolated(e);
    e->doubts = calloc((size_t)rank->member_count + 1, sizeof *e->doubts);
    bool all = e->references && e->values && e->doubts;
    for (int o = 0; o < TUTTI_MOST_EXTRAPOLATION; o++) {
        e->work[o] = count_extrapolated(e);
        all = all && e->work[o];
        if (e->gives)
            TRY(tt_signal_history_init(&e->rates[o], rank->wires.real_count));
    }
    if (!all)
        return tt_fail_memory();
    TRY(tt_signal_history_init(&e->history, e->outputs->count));
    return tt_extrapolation_restart(e);
}

enum tutti_err tt_extrapolation_register(struct tt_extrapolation *e, struct tt_rollback_list *remembered)
{
    TRY(tt_rollback_list_add(remembered, &e->since, sizeof e->since));
    for (uint32_t c = 0; e->doubts && c < e->rank->member_count; c++)
        TRY(tt_rollback_list_add_of(remembered, c, &e->doubts[c], sizeof *e->doubts));
    TRY(tt_signal_history_register(&e->history, remembered));
    for (size_t point = 0; e->history.values && point < TUTTI_HISTORY_ROOM; point++)
        TRY(tt_outputs_register(e->outputs, remembered, e->history.values + point * e->history.count));
    for (int o = 0; o < TUTTI_MOST_EXTRAPOLATION; o++) {
        struct tt_signal_history *rates = &e->rates[o];
        TRY(tt_signal_history_register(rates, remembered));
        for (size_t point = 0; rates->values && point < TUTTI_HISTORY_ROOM; point++)
            TRY(tt_wires_register_reals(&e->rank->wires, remembered, rates->values + point * rates->count));
    }
    return TUTTI_OK;
}

void tt_extrapolation_close(struct tt_extrapolation *e)
{
    tt_signal_history_fini(&e->history);
    free(e->references);
    free(e->values);
    free(e->doubts);
    for (int o = 0; o < TUTTI_MOST_EXTRAPOLATION; o++) {
        tt_signal_history_fini(&e->rates[o]);
        free(e->work[o]);
    }
    *e = (struct tt_extrapolation){0};
}

/* Derivatives in time are of doubles that are scalars. */
static bool real_has_rate(const struct tt_wires *wires, uint32_t real)
{
    return wires->slots[wires->reals[real].node].count == 1 && !wires->reals[real].narrow;
}

/* Reads derivatives of reals `first` ... `end - 1` from the unit, as far as available. FMI 2.0 has some only after a
 * step. */
static enum tutti_err extrapolation_get_rates(struct tt_extrapolation *e, unsigned order, uint32_t first, uint32_t end,
                                              double *rates)
{
    struct tt_rank *rank = e->rank;
    const struct tt_member *member = &rank->members[rank->wires.reals[first].component];
    struct tt_unit *unit = member->unit;
    bool knows = tt_rank_owns(rank, member->component) && unit->output_order >= (int)order &&
                 e->doubts[member->component] < MOST_DOUBTS &&
                 (unit->kind->interface == TUTTI_ME || member->now.stepped);
    size_t count = 0;
    for (uint32_t i = first; i < end; i++) {
        rates[i] = NAN;
        if (knows && real_has_rate(&rank->wires, i))
            e->references[count++] = rank->wires.slots[rank->wires.reals[i].node].reference;
    }
    if (count == 0)
        return TUTTI_OK;
    TRY(unit->kind->get_output_derivatives(unit, e->references, count, (int32_t)order, rates + first));
    for (uint32_t i = end; i-- > first;) /* from the end: each to its own place */
        rates[i] = real_has_rate(&rank->wires, i) ? rates[first + --count] : NAN;
    return TUTTI_OK;
}

static enum tutti_err get_all_rates(struct tt_extrapolation *e, unsigned order)
{
    struct tt_rank *rank = e->rank;
    const struct tt_real_signal *all = rank->wires.reals;
    for (uint32_t i = 0, end; i < rank->wires.real_count; i = end) {
        for (end = i + 1; end < rank->wires.real_count && all[end].component == all[i].component;)
            end++;
        TRY(extrapolation_get_rates(e, order, i, end, e->work[0]));
    }
    TRY(tt_channels_exchange_rates(&rank->channels, e->work[0]));
    if (e->correct)
        TRY(e->correct(e->context, order, e->work[0]));
    tt_signal_history_push(&e->rates[order - 1], rank->t, e->work[0]);
    return TUTTI_OK;
}

bool tt_extrapolation_provides_rates(const struct tt_rank *rank, uint32_t real)
{
    const struct tt_wires *wires = &rank->wires;
    return rank->members[wires->reals[real].component].unit->output_order > 0 && real_has_rate(wires, real) &&
           wires->reals[real].smooth;
}

double tt_extrapolation_rate(const struct tt_extrapolation *e, uint32_t real)
{
    return e->gives && e->rates[0].points > 0 ? tt_signal_history_values(&e->rates[0], 0)[real] : NAN;
}

enum tutti_err tt_extrapolation_get_rates(struct tt_extrapolation *e, uint32_t component, double *rates)
{
    const uint32_t *first = e->rank->wires.real_first;
    return first[component] < first[component + 1]
               ? extrapolation_get_rates(e, 1, first[component], first[component + 1], rates)
               : TUTTI_OK;
}

/* Uses derivatives that units provide, otherwise those of the polynomial: with error control, of one through an
 * additional point, whose derivatives at the newest point are nearly as good as provided ones. With fixed steps it is
 * Andersson 2016 eq. 6.29, whose limits of stability are known (Andersson 2016 Table 6.1). */
void tt_extrapolation_apply_slopes(struct tt_extrapolation *e)
{
    struct tt_rank *rank = e->rank;
    unsigned degree = tt_extrapolation_order(e);
    if (e->order == 0)
        return;
    if (e->varies && e->history.points > degree + 1)
        degree++;
    tt_signal_history_evaluate(&e->history, degree, e->history.times[0], NULL, e->work[0], e->work[1]);
    for (unsigned o = 1; o <= e->order; o++) {
        const double *given = e->gives ? tt_signal_history_values(&e->rates[o - 1], 0) : NULL;
        for (uint32_t i = 0; given && i < rank->wires.real_count; i++)
            if (isfinite(given[i]))
                e->work[o - 1][i] = given[i];
        tt_wires_store_slopes(&rank->wires, o, e->work[o - 1]);
    }
    for (unsigned o = e->order + 1; o <= rank->wires.order; o++)
        for (uint32_t i = 0; i < rank->wires.real_count; i++)
            rank->wires.slopes[o - 1][rank->wires.reals[i].place] = 0;
}

/* ---- derivatives that contradict values ----
 *
 * Some FMUs give derivatives that are others than those of their outputs: zeros, those of another variable, with another sign. A derivative has to
 * be near the quotients before and after its point: by half of it, which is more than inputs that are held in steps make of a right one, and by
 * some times what the two differ by; at one point it may be otherwise, where steps are coarse. Only soon after the start and events: later on a
 * coupling that becomes unstable would make it look so. */

static const double DERIVATIVE_DIFFERS = 0.5, TIMES_QUOTIENTS = 2, LEAST_MOVE = 1e-9;

/* `values`: of what `given` is the derivative; at the last three points. */
static bool rates_contradict_values(const struct tt_signal_history *values, const struct tt_signal_history *given,
                                    uint32_t real)
{
    const double *y[3], *t = values->times;
    for (unsigned p = 0; p < 3; p++)
        y[p] = tt_signal_history_values(values, p);
    double derivative = tt_signal_history_values(given, 1)[real];
    double ahead = (y[0][real] - y[1][real]) / (t[0] - t[1]), behind = (y[1][real] - y[2][real]) / (t[1] - t[2]);
    double scale = fmax(fabs(derivative), fmax(fabs(ahead), fabs(behind)));
    bool moves = scale * (t[0] - t[2]) > LEAST_MOVE * fmax(fabs(y[0][real]), fabs(y[2][real]));
    return moves && fabs(derivative - (ahead + behind) / 2) >
                        DERIVATIVE_DIFFERS * scale + TIMES_QUOTIENTS * fabs(ahead - behind);
}

static void extrapolation_warn_contradiction(const struct tt_extrapolation *e, uint32_t real, unsigned order)
{
    const struct tt_rank *rank = e->rank;
    const struct tt_real_signal *of = &rank->wires.reals[real];
    const struct tt_structure_node *node = &rank->job->structure.nodes[of->node];
    const struct tt_unit *unit = rank->members[of->component].unit;
    tt_log(rank->unit_log, TUTTI_LOG_WARNING, unit->name,
           "the FMU's output derivatives are wrong: at t = %s the one of order %u of '%s' is %.6g, and its "
           "values move otherwise. They are not used from here on",
           TIME(e->history.times[1]), order, unit->fmu->desc->vars[node->variable].name,
           tt_signal_history_values(&e->rates[order - 1], 1)[real]);
}

/* An own Co-Simulation unit: Model Exchange derives its own. */
static void compare_unit_rates(struct tt_extrapolation *e, uint32_t component, unsigned order)
{
    const struct tt_wires *wires = &e->rank->wires;
    const struct tt_signal_history *values = order == 1 ? &e->history : &e->rates[order - 2],
                                   *given = &e->rates[order - 1];
    uint32_t real = wires->real_first[component], end = wires->real_first[component + 1];
    while (real < end && !(wires->reals[real].smooth && rates_contradict_values(values, given, real)))
        real++;
    if (real == end && order == 1)
        e->doubts[component] = 0;
    else if (real < end && ++e->doubts[component] == MOST_DOUBTS)
        extrapolation_warn_contradiction(e, real, order);
}

static void extrapolation_compare_rates(struct tt_extrapolation *e, unsigned order)
{
    const struct tt_rank *rank = e->rank;
    unsigned points = order == 1 ? e->history.points : e->rates[order - 2].points;
    if (points < 3 || e->rates[order - 1].points < 2 || !tt_extrapolation_begins(e))
        return;
    for (uint32_t c = 0; c < rank->member_count; c++)
        if (tt_rank_owns(rank, c) && rank->members[c].unit->kind->interface == TUTTI_CS && e->doubts[c] < MOST_DOUBTS)
            compare_unit_rates(e, c, order);
}

/* At rank->t. A unit that has ended the run is not asked any more. */
static enum tutti_err extrapolation_push_values(struct tt_extrapolation *e)
{
    struct tt_rank *rank = e->rank;
    if (rank->ended)
        return TUTTI_OK;
    TRY(tt_outputs_read(e->outputs, e->values));
    tt_signal_history_push(&e->history, rank->t, e->values);
    for (unsigned o = 1; e->gives && (o == 1 || o <= e->order); o++) {
        TRY(get_all_rates(e, o));
        extrapolation_compare_rates(e, o);
    }
    return TUTTI_OK;
}

enum tutti_err tt_extrapolation_accept(struct tt_extrapolation *e)
{
    e->since++;
    return e->keeps ? extrapolation_push_values(e) : TUTTI_OK;
}

enum tutti_err tt_extrapolation_restart(struct tt_extrapolation *e)
{
    e->since = 0;
    if (!e->keeps)
        return TUTTI_OK;
    tt_signal_history_restart(&e->history);
    for (int o = 0; o < TUTTI_MOST_EXTRAPOLATION; o++)
        tt_signal_history_restart(&e->rates[o]);
    return extrapolation_push_values(e);
}

enum tutti_err tt_extrapolation_enter_middle(struct tt_extrapolation *e)
{
    return tt_extrapolation_accept(e);
}

void tt_extrapolation_leave_middle(struct tt_extrapolation *e)
{
    e->since--;
    if (!e->keeps)
        return;
    tt_signal_history_pop(&e->history);
    for (int o = 0; e->gives && (o == 0 || o < (int)e->order); o++)
        tt_signal_history_pop(&e->rates[o]);
}

unsigned tt_extrapolation_order(const struct tt_extrapolation *e)
{
    unsigned known = e->history.points > 0 ? e->history.points - 1 : 0;
    return known < e->order ? known : e->order;
}

/* With y smooth, the polynomial through the last d + 1 points misses y(t_n + h) by
 *     y^(d+1) / (d+1)! * h (h + h_1) ... (h + h_1 + ... + h_d),
 * which goes with the first power of h if the steps before were long. The error of the coupling goes with h^(d+1): inputs
 * extrapolated from d points err by y^(d) / d! * s (s + h_1) ..., integrated over the step with equal steps by
 *     d = 1: 1/2 y^(1) h^2,  d = 2: 5/12 y^(2) h^3,  d = 3: 3/8 y^(3) h^4,
 * and each further derivative of y is what the coupled equations make of the one before. The defect, brought to h^(d+1) and
 * to these factors, is an estimate of it. */
static double extrapolation_error_scale(const struct tt_signal_history *history, unsigned degree, double h)
{
    static const double factors[] = {0, 1, 2.5, 9}; /* (d + 1)! times those above */
    double scale = factors[degree];
    for (unsigned k = 1; k <= degree; k++)
        scale *= h / (h + history->times[0] - history->times[k]);
    return scale;
}

/* Adams-Bashforth with variable steps: y^(1) is extrapolated linearly through its last two values (Galtier 2015,
 * "Coordinated Variable Step"; Euler's method is its first order). Its error is h^2 (h / 6 + h_1 / 4) y^(3), that of
 * Euler's method h^2 / 2 y^(2). */
static void defect_by_rates(const struct tt_extrapolation *e, unsigned degree, double t, const double *now,
                            double *defect)
{
    const struct tt_signal_history *rates = &e->rates[0];
    double h = t - rates->times[0], since = rates->points > 1 ? rates->times[0] - rates->times[1] : INFINITY;
    const double *y = tt_signal_history_values(&e->history, 0);
    const double *newest = tt_signal_history_values(rates, 0), *last = tt_signal_history_values(rates, 1);
    for (size_t i = 0; i < rates->count; i++) {
        double rate = newest[i], before = rates->points > 1 ? last[i] : NAN;
        double foretold = y[i] + h * rate, scale = 1;
        if (degree == 2) {
            foretold += h * h / 2 * (rate - before) / since;
            scale = h / (h + 1.5 * since);
        }
        if (isfinite(foretold))
            defect[i] = scale * (now[i] - foretold);
    }
}

/* With two derivatives given, inputs err by y^(3) / 6 s^3, and the step by y^(4) / 24 h^4 as above. The cubic through them and
 * the point before misses by y^(4) / 24 h^3 (h + h_1). */
static void defect_by_two_rates(const struct tt_extrapolation *e, double t, const double *now, double *defect)
{
    const double *y = tt_signal_history_values(&e->history, 0), *before = tt_signal_history_values(&e->history, 1);
    const double *times = e->history.times,
                 *rates[2] = {tt_signal_history_values(&e->rates[0], 0), tt_signal_history_values(&e->rates[1], 0)};
    double h = t - times[0], since = times[0] - times[1], ratio = h / since;
    for (size_t i = 0; i < e->rates[0].count; i++) {
        double first = rates[0][i], second = rates[1][i];
        double missed = before[i] - (y[i] - since * first + since * since / 2 * second);
        double foretold = y[i] + h * first + h * h / 2 * second - ratio * ratio * ratio * missed;
        if (isfinite(foretold))
            defect[i] = h / (h + since) * (now[i] - foretold);
    }
}

double tt_extrapolation_defect(const struct tt_extrapolation *e, unsigned degree, double t, const double *now,
                               double *defect)
{
    double scale = extrapolation_error_scale(&e->history, degree, t - e->history.times[0]);
    tt_signal_history_evaluate(&e->history, degree, t, defect, NULL, NULL);
    for (size_t i = 0; i < e->history.count; i++)
        defect[i] = scale * (now[i] - defect[i]);
    if (e->gives && degree <= 2)
        defect_by_rates(e, degree, t, now, defect);
    else if (e->gives && e->order >= 2 && e->rates[1].points > 0)
        defect_by_two_rates(e, t, now, defect);
    return scale;
}
