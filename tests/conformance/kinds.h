/* SPDX-License-Identifier: MIT */
/* kinds.h - all couplings and controls that there are, for suites that combine them: a new one is tested at once. */
#ifndef TESTS_CONFORMANCE_KINDS_H
#define TESTS_CONFORMANCE_KINDS_H

#include "test.h"

#include "sim/control/control.h"
#include "sim/coupling/coupling.h"

#define NAMED(name, word, meaning) #name,
enum { MOST_KINDS = 32 };
/* Their names; the rest is NULL. */
static const char *const couplings[MOST_KINDS] = {TUTTI_COUPLINGS(NAMED)};
static inline const char *control_at(size_t i)
{
    static const char *const names[MOST_KINDS] = {TUTTI_CONTROLS(NAMED)};
    return names[i];
}

/* Of extrapolation; the last one for couplings that repeat steps. */
static const char *const orders[] = {"0", "1", "2", "3"};
static const char *const detections[] = {"none", "early", "output"};

static inline const struct tt_coupling *coupling_of(const char *name)
{
    const struct tt_coupling *coupling;
    assert_ok(tt_coupling_find(name, &coupling));
    return coupling;
}

static inline const struct tt_control *control_of(const char *name)
{
    const struct tt_control *control;
    assert_ok(tt_control_find(name, &control));
    return control;
}

/* Do they go together? */
static inline bool fit(const char *coupling, const char *control)
{
    const struct tt_control *kind = control_of(control);
    if (coupling_of(coupling)->federates)
        return !kind->for_iteration && (!kind->varies || kind->takes_quantum);
    return coupling_of(coupling)->iterates || !kind->for_iteration;
}

/* ... also with this order of extrapolation, and these events? */
static inline bool fit_all(const char *coupling, const char *control, const char *order, const char *events)
{
    bool plain = strcmp(order, "0") == 0 && strcmp(events, "none") == 0;
    return fit(coupling, control) && (plain || !coupling_of(coupling)->federates);
}

/* Returns true if units make separate steps, independent of macro steps. */
static inline bool has_own_paces(const char *coupling, const char *control)
{
    return coupling_of(coupling)->federates && control_of(control)->takes_quantum;
}

static inline size_t order_count(const char *coupling)
{
    return coupling_of(coupling)->iterates ? 4 : 3;
}

#endif
