/* SPDX-License-Identifier: MIT */
/* composed.h - checkpoints of runs that never were. */
#ifndef TUTTI_TEST_COMPOSED_H
#define TUTTI_TEST_COMPOSED_H

#include "sim/checkpoint/checkpoint.h"
#include "test.h"

static inline struct tt_bytes bytes_of(const char *text)
{
    return (struct tt_bytes){strlen(text), (const uint8_t *)text};
}

#define assert_bytes(bytes, text)                                                                                      \
    do {                                                                                                               \
        assert_int_equal((bytes).size, strlen(text));                                                                  \
        assert_memory_equal((bytes).data, text, strlen(text));                                                         \
    } while (0)

/* The file of a run of two units that has come to t; the caller's. */
static inline void compose(struct tt_byte_writer *file, double t)
{
    struct tt_bytes units[] = {bytes_of("the first"), bytes_of("")};
    const struct tt_checkpoint checkpoint = {.t = t,
                                             .identity = bytes_of("who"),
                                             .result = bytes_of("row 7"),
                                             .common = bytes_of("all"),
                                             .units = units,
                                             .unit_count = 2};
    tt_checkpoint_encode_and_hash(file, &checkpoint);
    assert_false(file->failed);
}

/* Its time, from a file that must be whole. */
static inline double time_in(const char *path)
{
    struct tt_checkpoint *checkpoint;
    bool kept;
    assert_ok(tt_checkpoint_read(&checkpoint, path, &kept));
    assert_false(kept);
    double t = checkpoint->t;
    tt_checkpoint_free(checkpoint);
    return t;
}

#endif
