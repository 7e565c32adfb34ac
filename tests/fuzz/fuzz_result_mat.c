/* SPDX-License-Identifier: MIT */
/* Any bytes as a .mat result. */
#include "result_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_result(data, size);
}
