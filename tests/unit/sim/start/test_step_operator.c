/* SPDX-License-Identifier: MIT */
#include "sim/start/step_operator.h"
#include "test.h"

#include <math.h>

static const double held_at_end[] = {1}, held_in_middle[] = {0.5};

/* Two units with one state, one input and one output each, in a ring. */
struct ring {
    struct tt_linear_unit units[2];
    double a[2], b[2], c[2], d[2];
    struct tt_linear_system system;
};

static void make(struct ring *ring, double a, const double *b, const double *c, const double *d)
{
    static const double links[] = {0, 1, 1, 0};
    *ring = (struct ring){0};
    for (int k = 0; k < 2; k++) {
        ring->a[k] = a;
        ring->b[k] = b[k];
        ring->c[k] = c[k];
        ring->d[k] = d[k];
        ring->units[k] = (struct tt_linear_unit){.states = 1,
                                                 .inputs = 1,
                                                 .outputs = 1,
                                                 .a = &ring->a[k],
                                                 .b = &ring->b[k],
                                                 .c = &ring->c[k],
                                                 .d = &ring->d[k],
                                                 .place = (uint32_t)k,
                                                 .takes = true,
                                                 .at = held_at_end};
    }
    ring->system = (struct tt_linear_system){
        .units = ring->units, .unit_count = 2, .states = 2, .inputs = 2, .outputs = 2, .links = links};
}

static double radius(const struct ring *ring, enum tt_step_method method, unsigned order, double h)
{
    double found = NAN;
    assert_ok(tt_step_operator_step_radius(&ring->system, method, order, h, &found));
    return found;
}

/* Awais 2015 section 6.3: x' = -y, y' = x. Jacobi multiplies the radius by the root of 1 + H^2; seidel keeps an ellipse for H < 2;
 * lines between both ends are the trapezoidal rule, which keeps the circle. */
static void an_oscillator(void **state)
{
    (void)state;
    struct ring ring;
    double found;
    make(&ring, 0, (double[]){-1, 1}, (double[]){1, 1}, (double[]){0, 0});
    assert_near(radius(&ring, TUTTI_STEP_JACOBI, 0, 0.5), sqrt(1.25), 1e-12);
    assert_near(radius(&ring, TUTTI_STEP_CORRECT, 0, 0.5), sqrt(1.25), 1e-12);
    assert_near(radius(&ring, TUTTI_STEP_SEIDEL, 0, 0.5), 1, 1e-12);
    assert_near(radius(&ring, TUTTI_STEP_SEIDEL, 0, 2.1), (2.41 + sqrt(2.41 * 2.41 - 4)) / 2, 1e-9);
    assert_near(radius(&ring, TUTTI_STEP_IMPLICIT, 1, 0.5), 1, 1e-12);
    assert_near(radius(&ring, TUTTI_STEP_IMPLICIT, 1, 20), 1, 1e-12);
    assert_ok(tt_step_operator_exact_radius(&ring.system, 0.5, &found));
    assert_near(found, 1, 1e-12);
    assert_ok(tt_step_operator_sweep_radius(&ring.system, false, 0.5, &found));
    assert_near(found, 0.25, 1e-9); /* H / 2 */
    assert_ok(tt_step_operator_sweep_radius(&ring.system, true, 0.5, &found));
    assert_near(found, 0.0625, 1e-12); /* ... squared: both, one after the other */
}

/* Andersson 2016 eq. 6.14 written down for example 6.1.1: [x; y] -> [e^-H x + K L y; C x+ + D L y]. */
static void two_linear_systems(void **state)
{
    (void)state;
    static const double h = 0.3;
    struct ring ring;
    double decay = exp(-h), k = 1 - decay;
    make(&ring, -1, (double[]){1, 3}, (double[]){1, -5}, (double[]){0.5, -0.5});
    /* x1+ = e x1 + k y2, x2+ = e x2 + 3 k y1, y1+ = x1+ + d y2, y2+ = -5 x2+ - d y1: z over (y1, y2) alternates, so that its square is
     * found from a problem half as large; here by power iteration. */
    double x1 = 1, x2 = 0.3, y1 = 0.2, y2 = 0.1, size = 0, before = 0;
    for (int n = 0; n < 400; n++) {
        double new_x1 = decay * x1 + k * y2, new_x2 = decay * x2 + 3 * k * y1;
        double new_y1 = new_x1 + 0.5 * y2, new_y2 = -5 * new_x2 - 0.5 * y1;
        x1 = new_x1, x2 = new_x2, y1 = new_y1, y2 = new_y2;
        if (n == 199 || n == 399) {
            before = size;
            size = log(x1 * x1 + x2 * x2 + y1 * y1 + y2 * y2) / 2;
        }
    }
    assert_near(radius(&ring, TUTTI_STEP_JACOBI, 0, h), exp((size - before) / 200), 5e-3);
    /* Eq. 6.21: y = (I - D L)^-1 C x is a function of x, and x+ = e x + K L y. */
    double loop = 1 / (1 + 0.25), to_y1[2] = {loop, -2.5 * loop}, to_y2[2] = {-0.5 * loop, -5 * loop};
    double m11 = decay + k * to_y2[0], m12 = k * to_y2[1], m21 = 3 * k * to_y1[0], m22 = decay + 3 * k * to_y1[1];
    double half = (m11 + m22) / 2, determinant = m11 * m22 - m12 * m21, root = half * half - determinant;
    double expected = root >= 0 ? fabs(half) + sqrt(root) : sqrt(determinant);
    assert_near(radius(&ring, TUTTI_STEP_CORRECT, 0, h), expected, 1e-12);
}

/* For small steps only feed-through is left: rho(DL), and with a line through two points eq. 6.41. */
static void small_steps(void **state)
{
    (void)state;
    struct ring ring;
    make(&ring, -1, (double[]){1, 3}, (double[]){1, -5}, (double[]){1.5, 1.5});
    double line = 1.5 + sqrt(1.5 * 1.5 + 1.5); /* of the eigenvalue -1.5 */
    assert_near(radius(&ring, TUTTI_STEP_JACOBI, 0, 1e-9), 1.5, 1e-6);
    assert_near(radius(&ring, TUTTI_STEP_JACOBI, 1, 1e-9), line, 1e-6);
    assert_near(radius(&ring, TUTTI_STEP_SMOOTH, 1, 1e-9), line, 1e-6);
    assert_near(radius(&ring, TUTTI_STEP_SEIDEL, 0, 1e-9), 2.25, 1e-6);
    assert_near(radius(&ring, TUTTI_STEP_CORRECT, 2, 1e-9), 1, 1e-6);
    for (int k = 0; k < 2; k++)
        ring.units[k].gives = 2; /* eq. 6.45: as held */
    assert_near(radius(&ring, TUTTI_STEP_JACOBI, 1, 1e-9), 1.5, 1e-5);
    assert_near(radius(&ring, TUTTI_STEP_JACOBI, 2, 1e-9), 1.5, 1e-3);
}

/* A unit that holds its input in the middle is as good for its state as the middle of the line is. */
static void inputs_that_are_held(void **state)
{
    (void)state;
    struct ring ring;
    make(&ring, 0, (double[]){-1, 1}, (double[]){1, 1}, (double[]){0, 0});
    double moving = radius(&ring, TUTTI_STEP_JACOBI, 1, 0.5);
    for (int k = 0; k < 2; k++) {
        ring.units[k].takes = false;
        ring.units[k].at = held_in_middle;
    }
    assert_near(radius(&ring, TUTTI_STEP_JACOBI, 1, 0.5), moving, 1e-12); /* integrators see the mean only */
    assert_near(radius(&ring, TUTTI_STEP_JACOBI, 0, 0.5), sqrt(1.25), 1e-12);
}

static void loops_without_a_solution(void **state)
{
    (void)state;
    struct ring ring;
    double unused;
    make(&ring, -1, (double[]){1, 1}, (double[]){1, 1}, (double[]){1, 1});
    assert_fails(tt_step_operator_step_radius(&ring.system, TUTTI_STEP_CORRECT, 0, 0.1, &unused), TUTTI_ERR_SOLVER,
                 "do not determine");
    assert_fails(tt_step_operator_exact_radius(&ring.system, 0.1, &unused), TUTTI_ERR_SOLVER, "do not determine");
    make(&ring, 1e6, (double[]){1, 1}, (double[]){1, 1}, (double[]){0, 0});
    assert_fails(tt_step_operator_step_radius(&ring.system, TUTTI_STEP_JACOBI, 0, 1, &unused), TUTTI_ERR_SOLVER,
                 "not finite");
}

/* A free mass, x' = v, v' = f, that is to stand: what is wrong goes as the powers of [1 - 2 gamma, h / 2 (1 + gamma); -4 gamma / h, gamma],
 * whose determinant is 3 gamma (sim/coupling/kinematic.c). Of its velocity alone: gone after a step, the place stays. */
static void a_constraint(void **state)
{
    (void)state;
    static const double a[] = {0, 0, 1, 0}, b[] = {0, 1}, c[] = {1, 0, 0, 1}, d[] = {0, 0}, links[] = {0, 0};
    static const double velocities[] = {0, 1}, positions[] = {1, 0}, none[] = {0, 0}, forces[] = {1};
    static const bool yes = true, no = false;
    double compliance = 0, found;
    struct tt_linear_unit unit = {
        .states = 2, .inputs = 1, .outputs = 2, .a = a, .b = b, .c = c, .d = d, .at = held_at_end};
    struct tt_linear_system system = {
        .units = &unit, .unit_count = 1, .states = 2, .inputs = 1, .outputs = 2, .links = links};
    for (unsigned order = 0; order < 3; order++)
        for (double relax_time = 0.25; relax_time < 1; relax_time += 0.25) {
            system.constraints =
                (struct tt_linear_constraints){1, velocities, positions, forces, &compliance, &yes, relax_time};
            assert_ok(tt_step_operator_step_radius(&system, TUTTI_STEP_KINEMATIC, order, 0.1, &found));
            assert_near(found, sqrt(3 / (1 + 4 * relax_time)), 1e-9);
        }
    system.constraints = (struct tt_linear_constraints){1, velocities, none, forces, &compliance, &no, 0.75};
    assert_ok(tt_step_operator_step_radius(&system, TUTTI_STEP_KINEMATIC, 0, 0.1, &found));
    assert_near(found, 1, 1e-12);
    /* v(n+1) = v(n) + h l and v(n+1) + eps / h l = 0: the velocity goes as eps / (eps + h^2), ever more slowly with more of it. */
    unit.states = system.states = 1;
    unit.a = (const double[]){0};
    unit.b = (const double[]){1};
    unit.c = (const double[]){0, 1};
    compliance = 0.03;
    assert_ok(tt_step_operator_step_radius(&system, TUTTI_STEP_KINEMATIC, 0, 0.1, &found));
    assert_near(found, 0.75, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_oscillator),
        cmocka_unit_test(two_linear_systems),
        cmocka_unit_test(small_steps),
        cmocka_unit_test(inputs_that_are_held),
        cmocka_unit_test(loops_without_a_solution),
        cmocka_unit_test(a_constraint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
