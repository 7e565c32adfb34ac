/* SPDX-License-Identifier: MIT */
/* flusher.h - rows reach the file also while the run does not flush: an FMU may stay in one step for hours, or for ever.
 *
 * A thread of its own flushes a recorder some times a second if rows have come; a thread that uses the recorder holds it. */
#ifndef TT_RESULTS_FLUSHER_H
#define TT_RESULTS_FLUSHER_H

#include "results/recorder.h"

struct tt_output_flusher;

/* Both are borrowed until free. NULL if no thread can be had: rows then reach the file with the next flush. */
struct tt_output_flusher *tt_output_flusher_new(const struct tt_record_format *format, struct tt_recorder *recorder);
/* Around every use of the recorder; NULL is fine. */
void tt_output_flusher_lock(struct tt_output_flusher *flusher);
void tt_output_flusher_unlock(struct tt_output_flusher *flusher);
/* For a handler of a fatal signal: the thread writes no more; waits a moment for it. NULL is fine. */
void tt_output_flusher_halt(struct tt_output_flusher *flusher);
/* Ends the thread. The recorder stays. NULL is fine. */
void tt_output_flusher_free(struct tt_output_flusher *flusher);

#endif
