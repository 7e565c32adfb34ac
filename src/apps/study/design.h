/* SPDX-License-Identifier: MIT */
/* apps/study/design.h - which runs a sweep makes: the parameters that vary, and their values in each run. */
#ifndef TT_APPS_STUDY_DESIGN_H
#define TT_APPS_STUDY_DESIGN_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/options/options.h"

struct tt_design {
    const char **names; /* of parameters */
    size_t count;
    double *values; /* run after run, `count` each */
    size_t runs;
    struct tt_arena arena; /* holds the names */
};

enum { TUTTI_DESIGN_MOST_RUNS = 100000000 };

/* Creates a design from --vary and --sample, or --csv. ARGUMENT, FORMAT, LIMIT, IO; then nothing is left to release. */
TUTTI_CHECKED enum tutti_err tt_design_create(struct tt_design *design, const struct tutti_run_options *options);
void tt_design_fini(struct tt_design *design);

/* The values of one run. */
static inline const double *tt_design_run(const struct tt_design *design, size_t run)
{
    return design->values + run * design->count;
}

/* Points in a unit cube. A seed gives the same points on every machine. */

/* Random numbers: splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014). */
struct tt_random {
    uint64_t state;
};
uint64_t tt_design_random_next(struct tt_random *random);
/* In [0, 1), a multiple of 2^-53. */
double tt_design_random_uniform(struct tt_random *random);

/* points[i * dimensions + k] in [0, 1). */
void tt_design_sample_random(double *points, size_t count, size_t dimensions, uint64_t seed);
/* A Latin hypercube (McKay, Beckman, Conover, Technometrics 21 (1979) 239): in each dimension one point in each of `count` equal parts. */
TUTTI_CHECKED enum tutti_err tt_design_sample_latin(double *points, size_t count, size_t dimensions, uint64_t seed);
/* The first points of Sobol's sequence, the origin among them, with the direction numbers of Joe and Kuo, SIAM J. Sci. Comput. 30 (2008) 2635. */
enum { TUTTI_SOBOL_DIMENSIONS = 21 };
TUTTI_CHECKED enum tutti_err tt_design_sample_sobol(double *points, size_t count, size_t dimensions);

#endif
