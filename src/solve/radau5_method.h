/* SPDX-License-Identifier: MIT */
/* radau5_method.h - the numbers of Radau IIA of order 5: Hairer, Wanner, Solving ODEs II (2nd ed. 1996), IV.5, IV.8. */
#ifndef TT_SOLVE_RADAU5_METHOD_H
#define TT_SOLVE_RADAU5_METHOD_H

enum { TUTTI_RADAU5_STAGES = 3 };

struct tt_radau5_method {
    double c[TUTTI_RADAU5_STAGES];                      /* the nodes: zeros of s^3 - 9/5 s^2 + 9/10 s - 1/10 */
    double a[TUTTI_RADAU5_STAGES][TUTTI_RADAU5_STAGES]; /* table IV.5.6; its last row are the weights */
    /* Eigenvalues of A^-1, zeros of s^3 - 9 s^2 + 36 s - 60: gamma, and alpha +- i beta. */
    double gamma, alpha, beta;
    /* T^-1 A^-1 T = (gamma 0 0; 0 alpha -beta; 0 beta alpha), "The Linear System" */
    double t[TUTTI_RADAU5_STAGES][TUTTI_RADAU5_STAGES], t_inverse[TUTTI_RADAU5_STAGES][TUTTI_RADAU5_STAGES];
    double e[TUTTI_RADAU5_STAGES]; /* of the error estimate, times gamma: "Step Size Selection" */
};

extern const struct tt_radau5_method tt_radau5_method;

/* The polynomial of degree 3 that is 0 at 0 and z_i at c_i has the value sum_i weights_i z_i at s. */
void tt_radau5_weights(double s, double weights[TUTTI_RADAU5_STAGES]);

#endif
