/* SPDX-License-Identifier: MIT */
/* linear.h - a linearisation as people and programs want it: words, JSON, MAT. */
#ifndef TUTTI_CLI_LINEAR_H
#define TUTTI_CLI_LINEAR_H

#include <stdbool.h>
#include <tutti/linearize.h>

/* How fast A is: of the eigenvalues whose real part is not 0, the time constants 1 / |Re|. */
struct linear_speed {
    bool known; /* there is such an eigenvalue */
    double slowest, fastest;
    double ratio; /* slowest / fastest: the stiffness */
};
struct linear_speed linear_speed_of(const struct tutti_linearization *linearization);

/* A few aligned lines on stderr. `name` is that of the instance, or of the file of a system of `units`. */
void linear_print(const struct tutti_linearization *linearization, const char *name, size_t units);

/* False after a message. `path` may be "-" for JSON: standard output. */
bool linear_write_json(const struct tutti_linearization *linearization, const char *fmu, const char *path);
/* Is the library for MAT files here? False after a message. */
bool linear_can_write_mat(void);
bool linear_write_mat(const struct tutti_linearization *linearization, const char *fmu, const char *path);

#endif
