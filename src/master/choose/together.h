/* SPDX-License-Identifier: MIT */
/* together.h - what choices and options do not go together: refused, with what to use instead; or told, where an option has no effect. */
#ifndef TUTTI_MASTER_CHOOSE_TOGETHER_H
#define TUTTI_MASTER_CHOOSE_TOGETHER_H

#include "master/choose/facts.h"

/* ARGUMENT, UNSUPPORTED: what has been chosen does not go together, or a unit is in the way. */
TUTTI_CHECKED enum tutti_err tutti_together_check(const struct tutti_master *master, const struct tutti_facts *facts,
                                                  unsigned order);
/* One FMU has no other unit to be coupled with. ARGUMENT: an option is about that. */
TUTTI_CHECKED enum tutti_err tutti_together_check_alone(const struct tutti_master *master);
/* Does the coupling take units back inside a step? */
bool tutti_together_goes_back(const struct tutti_master *master);

/* "--rollback fork, ": a way by which a unit that cannot go back could do so; "": there is none, or it can. */
const char *tutti_together_other_rollback(const struct tutti_member *member);

/* Tells the log what `auto` has chosen, and which options have no effect. */
void tutti_master_tell(const struct tutti_master *master);

#endif
