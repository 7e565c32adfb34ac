/* SPDX-License-Identifier: MIT */
/* setup.h - the first half of a run: everything up to units that are configured and wired. */
#ifndef TUTTI_MASTER_SETUP_H
#define TUTTI_MASTER_SETUP_H

#include "master/loop.h"

/* Loads the system; a fault in it is an error that names the first and counts the others. Settles options and times. */
TUTTI_CHECKED enum tutti_err tutti_setup_system(struct run *run);
/* Makes the units, applies start values, lays out the signals. What it made is in `run`, also after an error. */
TUTTI_CHECKED enum tutti_err tutti_setup_members(struct run *run);
/* Tells a new instance of a unit's FMU the experiment, then the parameters and start values of its component. */
TUTTI_CHECKED enum tutti_err tutti_setup_values(struct run *run, uint32_t component);

/* Another unit in the place of one that is not where it should be: configured, with its start values. */
TUTTI_CHECKED enum tutti_err tutti_setup_renew(struct run *run, struct tutti_member *member);

#endif
