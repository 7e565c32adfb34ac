/* SPDX-License-Identifier: MIT */
/* Directional derivatives of an FMU: asked for, and compared with differences before they are relied on. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/number.h"
#include "unit/unit.h"

void tt_unit_disable_directional(struct tt_unit *unit, const struct tutti_log *log, const char *why)
{
    unit->can &= ~(uint32_t)TUTTI_CAN_DIRECTIONAL;
    tt_log(log, TUTTI_LOG_WARNING, unit->name,
           "%s. Differences take the place of the FMU's directional derivatives "
           "(--no-directional-derivatives=%s says so from the start)",
           why, unit->name);
}

enum tutti_err tt_unit_get_directional(struct tt_unit *unit, struct tt_instance *instance, const struct tutti_log *log,
                                       const uint32_t *unknowns, size_t unknown_count, const uint32_t *knowns,
                                       size_t known_count, const double *seed, size_t seed_count, double *sensitivity,
                                       size_t sensitivity_count)
{
    if (!(unit->can & TUTTI_CAN_DIRECTIONAL))
        return tt_fail(TUTTI_ERR_UNSUPPORTED, "%s: the FMU offers no directional derivatives", unit->name);
    enum tutti_err err = tt_instance_get_directional(instance, unknowns, unknown_count, knowns, known_count, seed,
                                                     seed_count, sensitivity, sensitivity_count);
    if (err == TUTTI_ERR_UNSUPPORTED)
        tt_unit_disable_directional(unit, log, tt_instance_refusal(instance));
    for (size_t i = 0; i < sensitivity_count && !err; i++)
        if (!isfinite(sensitivity[i])) {
            err = tt_fail(TUTTI_ERR_UNSUPPORTED, "%s: a directional derivative is not a finite number", unit->name);
            tt_unit_disable_directional(unit, log, "a directional derivative is not a finite number");
        }
    return err;
}

bool tt_unit_differences_contradict(double derivative, double ahead, double behind)
{
    double scale = fmax(fabs(derivative), fmax(fabs(ahead), fabs(behind)));
    return fabs(ahead - behind) <= 0.02 * scale && fabs(derivative - (ahead + behind) / 2) > 0.2 * scale;
}

static enum tutti_err unit_get_reals(struct tt_unit *unit, struct tt_instance *instance, const uint32_t *references,
                                     size_t count, double *values)
{
    unit->counts.gets++;
    return tt_instance_get(instance, TUTTI_TYPE_FLOAT64, references, count, values, count);
}

enum tutti_err tt_unit_central_difference(struct tt_unit *unit, struct tt_instance *instance, const uint32_t *unknowns,
                                          size_t unknown_count, const uint32_t *knowns, size_t known_count,
                                          const double *seed, double share, struct tt_central_difference *beside)
{
    double *base = malloc((2 * known_count + 1) * sizeof *base), largest = 0, scale = 0;
    if (!base)
        return tt_fail_memory();
    double *moved = base + known_count;
    enum tutti_err err = unit_get_reals(unit, instance, knowns, known_count, base);
    for (size_t i = 0; i < known_count && !err; i++) {
        largest = fmax(largest, fabs(seed[i]));
        scale = fmax(scale, fabs(base[i]));
    }
    double d = largest > 0 ? share * fmax(scale, 1) / largest : 0;
    for (int side = -1; side <= 1 && !err && d > 0; side += 2) {
        for (size_t i = 0; i < known_count; i++)
            moved[i] = base[i] + side * d * seed[i];
        err = tt_instance_set(instance, TUTTI_TYPE_FLOAT64, knowns, known_count, moved, known_count);
        if (!err)
            err = unit_get_reals(unit, instance, unknowns, unknown_count, side < 0 ? beside->behind : beside->ahead);
    }
    bool moves = d > 0 && (!err || err == TUTTI_ERR_DISCARD);
    enum tutti_err back = moves ? tt_instance_set(instance, TUTTI_TYPE_FLOAT64, knowns, known_count, base, known_count)
                                : TUTTI_OK;
    err = err ? err : back;
    if (!err && beside->here)
        err = unit_get_reals(unit, instance, unknowns, unknown_count, beside->here);
    beside->distance = d;
    free(base);
    return err;
}

enum tutti_err tt_unit_test_directional(struct tt_unit *unit, struct tt_instance *instance, const struct tutti_log *log,
                                        const uint32_t *unknowns, size_t unknown_count, const uint32_t *knowns,
                                        size_t known_count, const double *seed, const double *sensitivity)
{
    double *room = malloc(3 * (unknown_count + 1) * sizeof *room);
    if (!room)
        return tt_fail_memory();
    struct tt_central_difference b = {.here = room, .ahead = room + unknown_count, .behind = room + 2 * unknown_count};
    unit->directional_tests++;
    enum tutti_err err =
        tt_unit_central_difference(unit, instance, unknowns, unknown_count, knowns, known_count, seed, 1e-4, &b);
    for (size_t i = 0; i < unknown_count && !err && b.distance > 0 && (unit->can & TUTTI_CAN_DIRECTIONAL); i++) {
        double ahead = (b.ahead[i] - b.here[i]) / b.distance, behind = (b.here[i] - b.behind[i]) / b.distance;
        bool told = b.distance * fabs(sensitivity[i]) > 1e-12 * fabs(b.here[i]) || ahead != 0;
        if (!told || !tt_unit_differences_contradict(sensitivity[i], ahead, behind))
            continue;
        char why[256];
        snprintf(
            why, sizeof why,
            "the FMU's directional derivatives are wrong: at t = %s one of an output by an input is %.6g, and %.6g "
            "by differences",
            TIME(tt_instance_time(instance)), sensitivity[i], (ahead + behind) / 2);
        tt_unit_disable_directional(unit, log, why);
    }
    free(room);
    return err == TUTTI_ERR_DISCARD ? TUTTI_OK : err; /* not here, then */
}
