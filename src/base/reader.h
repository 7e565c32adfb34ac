/* SPDX-License-Identifier: MIT */
/* base/reader.h - bytes that arrive one buffer after another: a ZIP entry, a file, a fuzzer's block. */
#ifndef TUTTI_BASE_READER_H
#define TUTTI_BASE_READER_H

#include <stddef.h>

#include "base/err.h"

struct tt_byte_source {
    /* Fills at most `size` bytes; *got is 0 at the end only. */
    enum tutti_err (*read)(void *context, void *buffer, size_t size, size_t *got);
    void *context;
};

#endif
