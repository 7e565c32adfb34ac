/* SPDX-License-Identifier: MIT */
/* Recordings of simulations that go back: rows of a future that was given up go. */
#ifndef TT_APPS_API_RECORDING_H
#define TT_APPS_API_RECORDING_H

#include <tutti/recording.h>

/* Returns the recording that a run with these options fills; NULL if there is none. */
struct tutti_recording *tt_recording_find(const struct tutti_run_options *options);
/* Removes the rows from number `rows` on. */
void tt_recording_cut(struct tutti_recording *recording, size_t rows);
/* Removes the rows whose times are after t. */
void tt_recording_cut_after(struct tutti_recording *recording, double t);

#endif
