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

/* There are none yet. *out is set on success only. MEMORY. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_recording_make(struct tutti_recording **out);
/* NULL is fine. Not while a run uses it. */
TUTTI_API void tutti_recording_free(struct tutti_recording *recording);

/* The next run with these options puts its rows there, in the thread that called; when it begins, rows of an earlier one are forgotten.
 * It is the options' watcher: there is no other beside it. `recording` is borrowed. NULL: as if it had never been set. */
TUTTI_API void tutti_options_set_recording(struct tutti_run_options *options, struct tutti_recording *recording);

/* What is recorded, `time` not counted. Known once a run has begun. */
TUTTI_API size_t tutti_recording_column_count(const struct tutti_recording *recording);
/* The column with this number, from 0 on; false: there are fewer. Texts are the recording's. */
TUTTI_API bool tutti_recording_describe(const struct tutti_recording *recording, size_t column,
                                        struct tutti_recorded *out);

/* How many there are so far. */
TUTTI_API size_t tutti_recording_rows(const struct tutti_recording *recording);
/* Row after row: the time, then the columns; numbers of all types as doubles, NaN for texts. Good until the next row comes, or the
 * recording is freed. NULL if there is none. */
TUTTI_API const double *tutti_recording_values(const struct tutti_recording *recording);
/* What a String was in a row; a Binary as pairs of hexadecimal digits; of an integer of 2^53 and more, which a double may not hold, its digits.
 * NULL: the column does not contain text, the number is shorter, or the row does not exist. */
TUTTI_API const char *tutti_recording_text(const struct tutti_recording *recording, size_t row, size_t column);
/* Writes all of it to a result file, whose extension tells the format, as the option "output" of a run. IO, ARGUMENT. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_recording_save(const struct tutti_recording *recording, const char *path);

#ifdef __cplusplus
}
#endif
#endif
