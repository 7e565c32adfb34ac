/* SPDX-License-Identifier: MIT */
/* Prints a linearisation. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "base/text.h"
#include "linear.h"

enum { MOST_LISTED = 5 };

struct linear_speed linear_speed_of(const struct tutti_linearization *linearization)
{
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < linearization->eigenvalue_count; i++) {
        double size = fabs(linearization->eigenvalues_re[i]);
        if (size > linearization->margin) {
            least = fmin(least, size);
            most = fmax(most, size);
        }
    }
    if (most == 0)
        return (struct linear_speed){0};
    return (struct linear_speed){.known = true, .slowest = 1 / least, .fastest = 1 / most, .ratio = most / least};
}

static void print_entries(const char *letter, const struct tutti_matrix *matrix, const char *behind)
{
    fprintf(stderr, "%s %d of %zu%s", letter, matrix->starts[matrix->column_count],
            matrix->row_count * matrix->column_count, behind);
}

static void print_matrices(const struct tutti_linearization *linearization, size_t units)
{
    int32_t entries = linearization->a.starts[linearization->a.column_count] +
                      linearization->b.starts[linearization->b.column_count] +
                      linearization->c.starts[linearization->c.column_count] +
                      linearization->d.starts[linearization->d.column_count];
    fprintf(stderr, "%-10s by %s\n", "matrices",
            entries == 0 ? "the model structure alone: nothing depends on anything at once"
            : linearization->exact
                ? units > 1 ? "the FMUs' directional derivatives" : "the FMU's directional derivatives"
            : units > 1 ? "differences, of FMUs that have no directional ones"
                        : "differences: the FMU has no directional ones");
    fprintf(stderr, "%-10s ", "entries");
    print_entries("A", &linearization->a, ", ");
    print_entries("B", &linearization->b, ", ");
    print_entries("C", &linearization->c, ", ");
    print_entries("D", &linearization->d,
                  linearization->structure_known ? "\n"
                  : units > 1                    ? "; not all FMUs say where zeros are\n"
                                                 : "; the FMU does not say where zeros are\n");
}

/* Away from an equilibrium the matrices still apply, but to the deviation from a moving point. */
static void print_rest(const struct tutti_linearization *linearization)
{
    size_t fastest = 0;
    for (size_t i = 0; i < linearization->state_count; i++)
        if (fabs(linearization->derivatives[i]) > fabs(linearization->derivatives[fastest]))
            fastest = i;
    if (linearization->state_count == 0)
        return;
    if (linearization->derivatives[fastest] == 0)
        fprintf(stderr, "%-10s yes: no state moves\n", "at rest");
    else
        fprintf(stderr, "%-10s no: '%s' moves fastest, by %.6g per second\n", "at rest",
                tt_text_excerpt(linearization->state_names[fastest]).text, linearization->derivatives[fastest]);
}

static bool is_second_of_pair(const struct tutti_linearization *linearization, size_t i)
{
    return linearization->eigenvalues_im[i] < 0;
}

/* Eigenvalues with re > above, which are the first ones; a pair is one entry. */
static void list_eigenvalues(const struct tutti_linearization *linearization, double above)
{
    const double *re = linearization->eigenvalues_re, *im = linearization->eigenvalues_im;
    size_t listed = 0, left = 0;
    for (size_t i = 0; i < linearization->eigenvalue_count && re[i] > above; i++) {
        bool second = is_second_of_pair(linearization, i);
        if (listed == MOST_LISTED && !(second && left == 0)) /* its first one is listed */
            left++;
        else if (!second) {
            fprintf(stderr, "%s%.6g", listed++ ? ", " : ": ", re[i]);
            if (im[i] > 0)
                fprintf(stderr, " +- %.6gi", im[i]);
        }
    }
    if (left > 0)
        fprintf(stderr, " and %zu more", left);
    fputc('\n', stderr);
}

static size_t count_above(const struct tutti_linearization *linearization, double bound)
{
    size_t count = 0;
    while (count < linearization->eigenvalue_count && linearization->eigenvalues_re[count] > bound)
        count++;
    return count;
}

static void print_stability(const struct tutti_linearization *linearization)
{
    size_t n = linearization->eigenvalue_count, count;
    fprintf(stderr, "%-10s %s: ", "stability", tutti_stability_name(linearization->stability));
    switch (linearization->stability) {
    case TUTTI_STABLE:
        fputs("all eigenvalues of A have negative real parts", stderr);
        list_eigenvalues(linearization, -INFINITY);
        break;
    case TUTTI_MARGINAL:
        count = count_above(linearization, -linearization->margin);
        fprintf(stderr, "%zu of %zu eigenvalues of A %s a real part that is 0, or cannot be told from it", count, n,
                count == 1 ? "has" : "have");
        list_eigenvalues(linearization, -linearization->margin);
        break;
    case TUTTI_UNSTABLE:
        count = count_above(linearization, linearization->margin);
        fprintf(stderr, "%zu of %zu eigenvalues of A %s a positive real part", count, n, count == 1 ? "has" : "have");
        list_eigenvalues(linearization, linearization->margin);
        break;
    case TUTTI_STABILITY_UNKNOWN:
        fputs(linearization->state_count == 0 ? "there are no states, only D\n" : "there are no eigenvalues\n", stderr);
        break;
    }
}

static void print_speed(const struct tutti_linearization *linearization)
{
    struct linear_speed speed = linear_speed_of(linearization);
    if (!speed.known)
        return;
    fprintf(stderr, "%-10s time constants from %.6g s to %.6g s; stiffness ratio %.3g\n", "speed", speed.fastest,
            speed.slowest, speed.ratio);
}

/* -Re / |lambda|: 1 does not oscillate at all, 0 for ever, less than 0 more and more. */
static double damping(const struct tutti_linearization *linearization, size_t i)
{
    double re = linearization->eigenvalues_re[i];
    return re == 0 ? 0 : -re / hypot(re, linearization->eigenvalues_im[i]); /* and never -0 */
}

/* Returns the least damped mode after `after` (SIZE_MAX: of all); SIZE_MAX if there is none. */
static size_t next_mode(const struct tutti_linearization *linearization, size_t after)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < linearization->eigenvalue_count; i++) {
        if (!(linearization->eigenvalues_im[i] > 0))
            continue;
        double own = damping(linearization, i), last = after == SIZE_MAX ? -INFINITY : damping(linearization, after);
        bool behind = own > last || (own == last && i > after);
        if (behind && (best == SIZE_MAX || own < damping(linearization, best)))
            best = i;
    }
    return best;
}

static void print_modes(const struct tutti_linearization *linearization)
{
    size_t count = 0, last = SIZE_MAX;
    for (size_t i = 0; i < linearization->eigenvalue_count; i++)
        count += linearization->eigenvalues_im[i] > 0;
    for (size_t listed = 0; listed < count && listed < MOST_LISTED; listed++) {
        last = next_mode(linearization, last);
        double re = linearization->eigenvalues_re[last], im = linearization->eigenvalues_im[last];
        fprintf(stderr, "%-10s %.6g Hz, damping ratio %.3g", "oscillates", im / (2 * M_PI),
                damping(linearization, last));
        if (fabs(re) > linearization->margin)
            fprintf(stderr, ", %s with time constant %.6g s", re < 0 ? "decays" : "grows", 1 / fabs(re));
        fputc('\n', stderr);
    }
    if (count > MOST_LISTED)
        fprintf(stderr, "%-10s and in %zu more modes, more damped\n", "", count - MOST_LISTED);
}

static void print_hidden(const struct tutti_linearization *linearization)
{
    for (size_t i = 0; i < linearization->hidden_count; i++)
        fprintf(stderr, "%-10s '%s' is for Co-Simulation: D only, its states count as constant\n", "hidden",
                tt_text_excerpt(linearization->hidden_names[i]).text);
}

void linear_print(const struct tutti_linearization *linearization, const char *name, size_t units)
{
    fprintf(stderr, "%-10s %s (", "point", name);
    if (units > 1)
        fprintf(stderr, "%zu FMUs, ", units);
    fprintf(stderr, "FMI %s) at t = %.9g\n", linearization->fmi, linearization->time);
    size_t states = linearization->state_count, inputs = linearization->input_count,
           outputs = linearization->output_count;
    fprintf(stderr, "%-10s %zu state%s, %zu input%s, %zu output%s\n", "size", states, states == 1 ? "" : "s", inputs,
            inputs == 1 ? "" : "s", outputs, outputs == 1 ? "" : "s");
    print_hidden(linearization);
    print_matrices(linearization, units);
    print_rest(linearization);
    print_stability(linearization);
    print_speed(linearization);
    print_modes(linearization);
}
