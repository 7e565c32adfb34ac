/* SPDX-License-Identifier: MIT */
/* linear.h - output of a linearisation for people and programs: text, JSON, MAT. */
#ifndef TUTTI_CLI_LINEAR_H
#define TUTTI_CLI_LINEAR_H

#include <stdbool.h>
#include <tutti/linearize.h>

/* The speed of A: the time constants 1 / |Re| of the eigenvalues whose real part is not 0. */
struct linear_speed {
    bool known; /* such an eigenvalue exists */
    double slowest, fastest;
    double ratio; /* slowest / fastest: the stiffness */
};
struct linear_speed linear_speed_of(const struct tutti_linearization *linearization);

/* A few aligned lines on stderr. `name` is that of the instance, or of the file of a system of `units`. */
void linear_print(const struct tutti_linearization *linearization, const char *name, size_t units);

/* False after a message. `path` may be "-" for JSON: standard output. */
bool linear_write_json(const struct tutti_linearization *linearization, const char *fmu, const char *path);
/* Returns true if the library for MAT files is available; false after a message. */
bool linear_can_write_mat(void);
bool linear_write_mat(const struct tutti_linearization *linearization, const char *fmu, const char *path);

#endif
