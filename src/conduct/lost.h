/* SPDX-License-Identifier: MIT */
/* lost.h - the words about a worker that will not come to its end, wherever it ran. Each fills `out` and returns it. */
#ifndef TUTTI_CONDUCT_LOST_H
#define TUTTI_CONDUCT_LOST_H

#include "conduct/conductor.h"

/* "was ended by signal 11 (Segmentation fault): ask ..." */
const char *tutti_lost_by_signal(int number, char *out, size_t size);
/* "ended by itself with status 3: ..." */
const char *tutti_lost_by_exit(int status, char *out, size_t size);
/* "has given no sign of life for 10 s: ..." */
const char *tutti_lost_by_silence(double seconds, char *out, size_t size);
/* "; its last words: ...", in one line; "" if there are none. */
const char *tutti_lost_last_words(struct tutti_conductor *conductor, int rank, char *out, size_t size);

#endif
