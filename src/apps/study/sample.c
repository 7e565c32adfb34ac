/* SPDX-License-Identifier: MIT */
#include "apps/study/sample.h"

#include <stdlib.h>

uint64_t tt_design_random_next(struct tt_random *random)
{
    uint64_t z = random->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

double tt_design_random_uniform(struct tt_random *random)
{
    return (double)(tt_design_random_next(random) >> 11) * 0x1p-53;
}

/* A number below `bound`, all alike but for bound / 2^64. */
static size_t random_below(struct tt_random *random, size_t bound)
{
    return (size_t)(tt_design_random_next(random) % bound);
}

void tt_design_sample_random(double *points, size_t count, size_t dimensions, uint64_t seed)
{
    struct tt_random random = {seed};
    for (size_t i = 0; i < count * dimensions; i++)
        points[i] = tt_design_random_uniform(&random);
}

enum tutti_err tt_design_sample_latin(double *points, size_t count, size_t dimensions, uint64_t seed)
{
    struct tt_random random = {seed};
    size_t *parts = calloc(count, sizeof *parts);
    if (!parts)
        return tt_fail_memory();
    for (size_t k = 0; k < dimensions; k++) {
        for (size_t i = 0; i < count; i++)
            parts[i] = i;
        for (size_t i = count - 1; i > 0; i--) { /* Fisher and Yates' shuffle */
            size_t j = random_below(&random, i + 1), kept = parts[i];
            parts[i] = parts[j];
            parts[j] = kept;
        }
        for (size_t i = 0; i < count; i++)
            points[i * dimensions + k] = ((double)parts[i] + tt_design_random_uniform(&random)) / (double)count;
    }
    free(parts);
    return TUTTI_OK;
}

enum { BITS = 32 };

/* Of dimension 2 on: the degree of a primitive polynomial, its inner coefficients, the first direction numbers. */
static const struct {
    unsigned degree, coefficients, first[7];
} joe_kuo[TUTTI_SOBOL_DIMENSIONS - 1] = {
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}},
    {5, 4, {1, 1, 5, 5, 5}},
    {5, 7, {1, 1, 7, 11, 19}},
    {5, 11, {1, 1, 5, 1, 1}},
    {5, 13, {1, 1, 1, 3, 11}},
    {5, 14, {1, 3, 5, 5, 31}},
    {6, 1, {1, 3, 3, 9, 7, 49}},
    {6, 13, {1, 1, 1, 15, 21, 21}},
    {6, 16, {1, 3, 1, 13, 27, 49}},
    {6, 19, {1, 1, 1, 15, 7, 5}},
    {6, 22, {1, 3, 1, 15, 13, 25}},
    {6, 25, {1, 1, 5, 5, 19, 61}},
    {7, 1, {1, 3, 7, 11, 23, 15, 103}},
    {7, 4, {1, 3, 7, 13, 13, 15, 69}},
};

/* The direction numbers of a dimension, as fractions of 2^BITS (Joe and Kuo, eq. 2). */
static void compute_sobol_directions(size_t dimension, uint32_t v[BITS])
{
    if (dimension == 0) {
        for (unsigned i = 0; i < BITS; i++)
            v[i] = 1u << (BITS - 1 - i);
        return;
    }
    unsigned s = joe_kuo[dimension - 1].degree, a = joe_kuo[dimension - 1].coefficients;
    for (unsigned i = 0; i < s; i++)
        v[i] = joe_kuo[dimension - 1].first[i] << (BITS - 1 - i);
    for (unsigned i = s; i < BITS; i++) {
        v[i] = v[i - s] ^ (v[i - s] >> s);
        for (unsigned k = 1; k < s; k++)
            v[i] ^= ((a >> (s - 1 - k)) & 1) * v[i - k];
    }
}

/* In Gray code's order (Antonov, Saleev 1979): each point differs from the last by one direction number. */
enum tutti_err tt_design_sample_sobol(double *points, size_t count, size_t dimensions)
{
    if (dimensions > TUTTI_SOBOL_DIMENSIONS)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "--sample sobol takes up to %d parameters, not %zu; --sample latin takes any number",
                       TUTTI_SOBOL_DIMENSIONS, dimensions);
    for (size_t k = 0; k < dimensions; k++) {
        uint32_t v[BITS], x = 0;
        compute_sobol_directions(k, v);
        for (size_t i = 0; i < count; i++) {
            points[i * dimensions + k] = x * 0x1p-32;
            x ^= v[__builtin_ctz(~(unsigned)i)]; /* the lowest bit of i that is 0 */
        }
    }
    return TUTTI_OK;
}
