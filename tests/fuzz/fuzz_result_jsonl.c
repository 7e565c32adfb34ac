/* SPDX-License-Identifier: MIT */
/* Any bytes as a result of JSON lines. */
#include "result_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_result(data, size);
}
