/* SPDX-License-Identifier: MIT */
#include "solve/fit_student.h"

#include <float.h>
#include <math.h>

/* The continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
    enum { MOST = 10000 };
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double h = d;
    for (int m = 1; m < MOST; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        for (int part = 0; part < 2; part++) {
            double term = part == 0 ? even : odd;
            d = 1 + term * d;
            c = 1 + term / c;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = fabs(c) < tiny ? tiny : c;
            h *= c * d;
        }
        if (fabs(c * d - 1) < 4 * DBL_EPSILON)
            break;
    }
    return h;
}

/* Regularised: I_x(a, b). */
static double incomplete_beta(double a, double b, double x)
{
    if (x <= 0 || x >= 1)
        return x <= 0 ? 0 : 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

/* P(|T| > t) = I_{f / (f + t^2)}(f / 2, 1 / 2) (DLMF 8.17, Abramowitz and Stegun 26.7.1); by bisection. */
double tt_fit_student_interval(double confidence, double freedom)
{
    double low = 0, high = 1;
    while (incomplete_beta(freedom / 2, 0.5, freedom / (freedom + high * high)) > 1 - confidence && high < 1e100)
        high *= 2;
    for (int i = 0; i < 200 && low < high; i++) {
        double t = low + (high - low) / 2;
        if (t == low || t == high)
            break;
        if (incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t)) > 1 - confidence)
            low = t;
        else
            high = t;
    }
    return high;
}
