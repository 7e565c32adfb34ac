/* SPDX-License-Identifier: MIT */
/* base/byte_source.h - bytes that arrive one buffer after another: a ZIP entry, a file, a fuzzer's block. */
#ifndef TT_BASE_BYTE_SOURCE_H
#define TT_BASE_BYTE_SOURCE_H

#include <stddef.h>

#include "base/fail.h"

struct tt_byte_source {
    /* Fills at most `size` bytes; *got is 0 at the end only. */
    enum tutti_err (*read)(void *context, void *buffer, size_t size, size_t *got);
    void *context;
};

#endif
