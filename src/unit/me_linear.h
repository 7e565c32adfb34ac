/* SPDX-License-Identifier: MIT */
/* me_linear.h - A, B, C, D of a Model Exchange unit. */
#ifndef TUTTI_UNIT_ME_LINEAR_H
#define TUTTI_UNIT_ME_LINEAR_H

#include "unit/linear.h"
#include "unit/me.h"

/* `want` of TUTTI_WANT_*; where the FMU stands (me->here). */
enum tutti_err tutti_me_linearize(struct tutti_unit *unit, unsigned want, struct tutti_linear **linear);
void tutti_me_linear_fini(struct me *me);

#endif
