/* SPDX-License-Identifier: MIT */
#include "base/floating.h"

#if defined(__x86_64__) || defined(__i386__)

/* Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, figures 8-6 and 10-3. */
enum {
    SSE_DENORMALS_ARE_ZERO = 0x0040,
    SSE_TRAPS = 0x1f80,
    SSE_ROUNDING = 0x6000,
    SSE_FLUSH_TO_ZERO = 0x8000,
    X87_TRAPS = 0x003f,
    X87_PRECISION = 0x0300,
    X87_ROUNDING = 0x0c00
};

const char *tutti_floating_difference(const struct tutti_floating *a, const struct tutti_floating *b)
{
    uint32_t sse = a->sse ^ b->sse, x87 = (uint32_t)(a->x87 ^ b->x87);
    if (sse & SSE_TRAPS || x87 & X87_TRAPS)
        return "traps of arithmetic faults";
    if (sse & SSE_ROUNDING || x87 & X87_ROUNDING)
        return "the direction of rounding";
    if (sse & (SSE_FLUSH_TO_ZERO | SSE_DENORMALS_ARE_ZERO))
        return "flush-to-zero of very small numbers";
    return x87 & X87_PRECISION ? "the precision of long double" : "a mode";
}

#else

const char *tutti_floating_difference(const struct tutti_floating *a, const struct tutti_floating *b)
{
    (void)a;
    (void)b;
    return "rounding, flush-to-zero or traps";
}

#endif
