/* SPDX-License-Identifier: MIT */
/* thread.h - Tutti's own threads, as opposed to threads of FMUs and libraries; crash messages distinguish them. */
#ifndef TT_BASE_THREAD_H
#define TT_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* Starts a thread that runs no code of FMUs. Signals are for the threads of the program, and blocked in it; faults are for the
 * thread that causes them. To be joined. Returns an error number. */
int tt_thread_start(pthread_t *thread, void *(*work)(void *context), void *context);

/* The thread that calls is one of ours, however it was started. */
void tt_thread_mark_own(void);
/* Returns true if the calling thread is one of Tutti's. Async-signal-safe. */
bool tt_thread_is_own(void);

#endif
