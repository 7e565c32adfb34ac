/* SPDX-License-Identifier: MIT */
/* linear_parts.h - the two ways behind linear.h. */
#ifndef TUTTI_SOLVE_LINEAR_PARTS_H
#define TUTTI_SOLVE_LINEAR_PARTS_H

#include "solve/linear.h"

/* Complex numbers are pairs of doubles, real part first, as LAPACK and KLU want them. */
struct tutti_lu_dense;
struct tutti_lu_sparse;

TUTTI_CHECKED enum tutti_err tutti_lu_dense_new(struct tutti_lu_dense **out, size_t count, bool complex_shift);
void tutti_lu_dense_free(struct tutti_lu_dense *lu);
/* As the function of linear.h; it cannot fail. Returns whether the matrix is regular. */
bool tutti_lu_dense_factor(struct tutti_lu_dense *lu, const double *values, double re, double im);
/* Solves in place, complex or not as the matrix is. */
void tutti_lu_dense_solve(struct tutti_lu_dense *lu, double *right);

TUTTI_CHECKED enum tutti_err tutti_lu_sparse_new(struct tutti_lu_sparse **out, const struct tutti_pattern *pattern,
                                                 bool complex_shift);
void tutti_lu_sparse_free(struct tutti_lu_sparse *lu);
TUTTI_CHECKED enum tutti_err tutti_lu_sparse_factor(struct tutti_lu_sparse *lu, const double *values, double re,
                                                    double im, bool *singular);
void tutti_lu_sparse_forget(struct tutti_lu_sparse *lu);
bool tutti_lu_sparse_reordered(const struct tutti_lu_sparse *lu);
void tutti_lu_sparse_solve(struct tutti_lu_sparse *lu, double *right);

#endif
