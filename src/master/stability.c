/* SPDX-License-Identifier: MIT */
#include "master/stability.h"

#include <math.h>
#include <stdio.h>

#include "master/block.h"
#include "solve/eigen.h"

/* The largest magnitude of an eigenvalue of a dense matrix, column-major. */
static enum tutti_err spectral_radius(struct tutti_arena *arena, double *values, size_t n, double *rho)
{
    int *first = tutti_arena_array(arena, n + 1, sizeof *first);
    int *rows = tutti_arena_array(arena, n * n, sizeof *rows);
    double *re = tutti_arena_array(arena, n, sizeof *re), *im = tutti_arena_array(arena, n, sizeof *im);
    if (!first || !rows || !re || !im)
        return tutti_fail_memory();
    for (size_t c = 0; c <= n; c++)
        first[c] = (int)(c * n);
    for (size_t i = 0; i < n * n; i++)
        rows[i] = (int)(i % n);
    struct tutti_matrix matrix = {n, n, first, rows, values};
    TRY(tutti_eigenvalues(&matrix, re, im, NULL));
    for (size_t i = 0; i < n; i++)
        *rho = fmax(*rho, hypot(re[i], im[i]));
    return TUTTI_OK;
}

/* A loop's nodes in the structure of the initial phase, which the signals are laid out by. */
static enum tutti_err measure_loop(struct run *run, const struct tutti_structure *running, const uint32_t *loop,
                                   uint32_t count, struct tutti_stability *stability)
{
    struct tutti_arena arena = {0};
    uint32_t *nodes = tutti_arena_array(&arena, count, sizeof *nodes);
    double *matrix = NULL;
    size_t n = 0;
    bool exact = true;
    if (!nodes)
        return tutti_fail_memory();
    for (uint32_t i = 0; i < count; i++) {
        const struct tutti_structure_node *node = &running->nodes[loop[i]];
        nodes[i] = tutti_structure_find(&run->structure, node->component, node->variable, node->output);
    }
    enum tutti_err err = tutti_block_feedback(run, nodes, count, &arena, &matrix, &n, &exact);
    if (!err)
        err = spectral_radius(&arena, matrix, n, &stability->rho);
    tutti_arena_fini(&arena);
    return err;
}

enum tutti_err tutti_stability_measure(struct run *run, const struct tutti_structure *running,
                                       const struct tutti_sequence *sequence, struct tutti_stability *stability)
{
    const struct tutti_components *scc = &running->scc;
    (void)sequence;
    *stability = (struct tutti_stability){.known = true};
    for (uint32_t c = 0; c < scc->count; c++) {
        uint32_t count = scc->first[c + 1] - scc->first[c];
        if (count < 2)
            continue;
        stability->loops++;
        enum tutti_err err = measure_loop(run, running, scc->nodes + scc->first[c], count, stability);
        if (err == TUTTI_ERR_MEMORY)
            return err;
        if (err && stability->known)
            snprintf(stability->why_not, sizeof stability->why_not, "%s", tutti_err_message());
        stability->known = stability->known && !err;
    }
    return TUTTI_OK;
}
