/* SPDX-License-Identifier: MIT */
/* float_mode.h - the floating-point modes of a thread (rounding, flush-to-zero, traps, precision). Foreign code may
 * change them, which would affect all later computations. Raised exceptions are not modes.
 *
 * Reading the modes waits for all pending arithmetic, 5 ns or more, which is too slow for a single do-step. There a
 * computation detects changes of the modes that affect results. */
#ifndef TT_BASE_FLOAT_MODE_H
#define TT_BASE_FLOAT_MODE_H

#include <fenv.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) || defined(__i386__)

struct tt_float_mode {
    uint32_t sse; /* rounding, flush-to-zero and traps of SSE, which compilers use */
    uint16_t x87; /* these and precision, of long double */
};

static inline struct tt_float_mode tt_float_mode_get(void)
{
    enum { RAISED = 0x3f }; /* flags, not modes */
    struct tt_float_mode now = {0};
    __asm__ volatile("fnstcw %0" : "=m"(now.x87));
#ifdef __SSE__
    now.sse = __builtin_ia32_stmxcsr() & ~(uint32_t)RAISED;
#endif
    return now;
}

static inline bool tt_float_mode_is_same(const struct tt_float_mode *a, const struct tt_float_mode *b)
{
    return a->sse == b->sse && a->x87 == b->x87;
}

static inline void tt_float_mode_set(const struct tt_float_mode *modes)
{
    __asm__ volatile("fnclex; fldcw %0" : : "m"(modes->x87)); /* an exception raised before must not trap now */
#ifdef __SSE__
    __builtin_ia32_ldmxcsr(modes->sse);
#endif
}

#else

struct tt_float_mode {
    femode_t modes;
};

static inline struct tt_float_mode tt_float_mode_get(void)
{
    struct tt_float_mode now;
    memset(&now, 0, sizeof now); /* including padding */
    fegetmode(&now.modes);
    return now;
}

static inline bool tt_float_mode_is_same(const struct tt_float_mode *a, const struct tt_float_mode *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static inline void tt_float_mode_set(const struct tt_float_mode *modes)
{
    fesetmode(&modes->modes);
}

#endif

/* A computation whose result depends on rounding and flush-to-zero. */
static inline unsigned tt_float_mode_probe(void)
{
    typedef float four __attribute__((vector_size(16)));
    typedef int32_t bits __attribute__((vector_size(16)));
    /* Up; down and towards zero; flush-to-zero. Additions: they are fast with denormal numbers, too. */
    static const four large = {1, 1, 0x1p-140F, 0}, small = {0x1p-25F, -0x1p-26F, 0x1p-141F, 0};
    static const four nearest = {1, 1, 0x1.8p-140F, 0};
    four sum = large;
    /* Evaluated at run time: the compiler cannot fold the result or move the computation across a call. */
#ifdef __SSE2__
    __asm__ volatile("" : "+x"(sum));
#else
    __asm__ volatile("" : "+m"(sum));
#endif
    sum += small;
    bits same = (bits)sum == (bits)nearest;
#ifdef __SSE2__
    return (unsigned)__builtin_ia32_movmskps((four)same);
#else
    return (unsigned)(same[0] | same[1] << 1 | same[2] << 2);
#endif
}

/* Describes a difference of modes, "the direction of rounding"; of several differences the most severe. Static. */
#if defined(__x86_64__) || defined(__i386__)

static inline const char *tt_float_mode_difference(const struct tt_float_mode *a, const struct tt_float_mode *b)
{
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

static inline const char *tt_float_mode_difference(const struct tt_float_mode *a, const struct tt_float_mode *b)
{
    (void)a;
    (void)b;
    return "rounding, flush-to-zero or traps";
}

#endif

#endif
