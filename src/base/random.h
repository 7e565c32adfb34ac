/* SPDX-License-Identifier: MIT */
/* random.h - bytes and tokens that cannot be guessed. */
#ifndef TT_BASE_RANDOM_H
#define TT_BASE_RANDOM_H

#include <stddef.h>

#include "base/fail.h"

/* Fills `bytes` from the random source of the system; waits until the source is ready. IO. */
TUTTI_CHECKED enum tutti_err tt_random_bytes(void *bytes, size_t size);
/* Writes size - 1 random hexadecimal digits and a zero; `size` is odd and at most 65. IO. */
TUTTI_CHECKED enum tutti_err tt_random_token(char *text, size_t size);

#endif
