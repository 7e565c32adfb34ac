/* SPDX-License-Identifier: MIT */
/* recording.h - the rows of a run in memory: one block of numbers, instead of a result file or beside it.
 *
 *     struct tutti_recording *recording;
 *     if (tutti_recording_make(&recording) == TUTTI_OK) {
 *         tutti_options_set_recording(options, recording);
 *         if (tutti_run(options, NULL) == TUTTI_OK)
 *             printf("%zu rows\n", tutti_recording_rows(recording));
 *     } */
#ifndef TUTTI_RECORDING_H
#define TUTTI_RECORDING_H

#include <tutti/options.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tutti_recording;

/* Creates an empty recording. *out is set on success only. MEMORY. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_recording_make(struct tutti_recording **out);
/* NULL is allowed. Must not be called while a run uses the recording. */
TUTTI_API void tutti_recording_free(struct tutti_recording *recording);

/* The next run with these options stores its rows in `recording`, in the calling thread; rows of an earlier run are
 * discarded when it begins. A recording replaces the options' watcher. `recording` is borrowed. NULL removes it. */
TUTTI_API void tutti_options_set_recording(struct tutti_run_options *options, struct tutti_recording *recording);

/* Returns the number of recorded variables, without `time`. Known once a run has begun. */
TUTTI_API size_t tutti_recording_column_count(const struct tutti_recording *recording);
/* Describes the column `number`, counted from 0; false if there are fewer. Texts belong to the recording. */
TUTTI_API bool tutti_recording_describe(const struct tutti_recording *recording, size_t column,
                                        struct tutti_recorded *out);

/* Returns the number of rows recorded so far. */
TUTTI_API size_t tutti_recording_rows(const struct tutti_recording *recording);
/* Returns the rows one after the other: the time, then the columns. Numbers of all types are doubles, texts are NaN.
 * Valid until the next row is recorded or the recording is freed. NULL if it has no rows. */
TUTTI_API const double *tutti_recording_values(const struct tutti_recording *recording);
/* Returns the text of a column in a row: a String; a Binary as pairs of hexadecimal digits; the digits of an integer of
 * at least 2^53, which a double may not represent. NULL if the column does not contain text, the integer is smaller, or
 * the row does not exist. */
TUTTI_API const char *tutti_recording_text(const struct tutti_recording *recording, size_t row, size_t column);
/* Writes the recording to a result file, whose extension selects the format, as for the option "output". IO, ARGUMENT. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_recording_save(const struct tutti_recording *recording, const char *path);

#ifdef __cplusplus
}
#endif
#endif
