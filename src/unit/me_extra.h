/* SPDX-License-Identifier: MIT */
/* me_extra.h - equations that a program adds to those of a Model Exchange FMU (<tutti/extra.h>). The vector of the solver
 * is then (x, p), and its Jacobian ((A, 0), (0, dr/dp)) as in 001 eq. 9.17. */
#ifndef TUTTI_UNIT_ME_EXTRA_H
#define TUTTI_UNIT_ME_EXTRA_H

#include "unit/me.h"

size_t tutti_me_extra_count(const struct me *me);
/* Puts the equations behind those of me->fmu_ode into me->ode. */
TUTTI_CHECKED enum tutti_err tutti_me_extra_init(struct me *me);
void tutti_me_extra_fini(struct me *me);
/* The FMU's directional derivatives are none (me_ode.c). */
void tutti_me_extra_drop_directional(struct me *me);
/* Start values into me->x; the FMU is initialised. */
TUTTI_CHECKED enum tutti_err tutti_me_extra_start(struct me *me);
/* Values for the result where the unit is; `unit` is a Model Exchange unit with extra equations. */
TUTTI_CHECKED enum tutti_err tutti_me_extra_outputs(struct tutti_unit *unit, double *values);

#endif
