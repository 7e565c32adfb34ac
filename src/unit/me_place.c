/* SPDX-License-Identifier: MIT */
/* Where a Model Exchange FMU stands: time, states and inputs are set together. */
#include <string.h>

#include "base/number.h"
#include "base/time.h"
#include "unit/me.h"

enum tutti_err tutti_me_place(struct me *me, double t, const double *x, bool *discarded)
{
    bool refused = false;
    if (t < me->event_time && tutti_time_same(t, me->event_time, me->setup.stop - me->setup.start))
        t = me->event_time;
    me->placements++;
    me->here_time = t;
    me->here = x;
    TRY(tutti_instance_set_time(me->instance, t, &refused));
    if (me->states > 0)
        TRY(tutti_instance_set_states(me->instance, x, me->states, &refused));
    if (me->inputs.moving_count > 0)
        TRY(tutti_me_inputs_apply(me, t));
    if (discarded)
        *discarded = *discarded || refused;
    else if (refused)
        return tutti_fail(TUTTI_ERR_FMU,
                          "%s (%s): the FMU discards the states at t = %s, which solver %s had reached; "
                          "check inputs and parameters there",
                          me->unit.name, me->unit.fmu->path, TIME(t), me->solver ? me->solver->kind->name : "none");
    return TUTTI_OK;
}

enum tutti_err tutti_me_place_back(struct me *me)
{
    return tutti_me_place(me, me->t, me->x, NULL);
}

enum tutti_err tutti_me_states_at(struct me *me, double t, double *x)
{
    if (!me->solver)
        return TUTTI_OK;
    /* The beginning of the step to the bit, too: a ball that an event put just above the floor is there. */
    if (t == me->solver->t || t == me->t)
        memmove(x, t == me->t ? me->x : me->ahead, me->ode.count * sizeof *x);
    else
        TRY(me->solver->kind->interpolate(me->solver, t, x));
    return TUTTI_OK;
}
