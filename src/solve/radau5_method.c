/* SPDX-License-Identifier: MIT */
#include "solve/radau5_method.h"

#define ROOT6 2.449489742783178098197

/* A collocation method's eigenvectors are known: with M(s) = (s - c_1)(s - c_2)(s - c_3), the one of A^-1 that belongs
 * to lambda has the entries lambda^2 M'(c_i) + lambda M''(c_i) + M'''. (They are the values at the nodes of the
 * polynomial Z with Z' - lambda Z = -lambda^3 M, which is 0 at 0 since that is the equation for lambda.) T consists of
 * the one for gamma, and of the real part and the negative imaginary part of the one for alpha + i beta; both have a
 * last entry of 1. */
const struct tt_radau5_method tt_radau5_method = {
    .c = {(4 - ROOT6) / 10, (4 + ROOT6) / 10, 1},
    .a = {{(88 - 7 * ROOT6) / 360, (296 - 169 * ROOT6) / 1800, (-2 + 3 * ROOT6) / 225},
          {(296 + 169 * ROOT6) / 1800, (88 + 7 * ROOT6) / 360, (-2 - 3 * ROOT6) / 225},
          {(16 - ROOT6) / 36, (16 + ROOT6) / 36, 1.0 / 9}},
    .gamma = 3.637834252744495732208, /* 3 + 9^(1/3) - 3^(1/3) */
    .alpha = 2.681082873627752133896, /* 3 - (9^(1/3) - 3^(1/3)) / 2 */
    .beta = 3.050430199247410569426,  /* 3^(1/2) (9^(1/3) + 3^(1/3)) / 2 */
    .t = {{0.09443876248897524148749, -0.1412552950209542084280, -0.03002919410514742449186},
          {0.2502131229653333113765, 0.2041293522937999319960, 0.3829421127572619377954},
          {1, 1, 0}},
    .t_inverse = {{4.178718591551904727346, 0.3276828207610623870825, 0.5233764454994495480399},
                  {-4.178718591551904727346, -0.3276828207610623870825, 0.4766235545005504519601},
                  {-0.5028726349457868759512, 2.571926949855605429187, -0.5960392048282249249688}},
    .e = {(-13 - 7 * ROOT6) / 3, (-13 + 7 * ROOT6) / 3, -1.0 / 3},
};

void tt_radau5_weights(double s, double weights[TUTTI_RADAU5_STAGES])
{
    const double *c = tt_radau5_method.c;
    for (int i = 0; i < TUTTI_RADAU5_STAGES; i++) {
        double j = c[(i + 1) % 3], k = c[(i + 2) % 3];
        weights[i] = s * (s - j) * (s - k) / (c[i] * (c[i] - j) * (c[i] - k));
    }
}
