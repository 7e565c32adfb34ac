/* SPDX-License-Identifier: MIT */
/* A coupled run allocates nothing from one step to the next. Every allocation of the process counts, also those of other
 * libraries and of the FMUs: the C library's functions are replaced here. */
#include "base/options/options.h"
#include "sim/stats.h"
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <tutti/tutti.h>

/* The sanitizers replace the same functions themselves. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define IS_SANITIZED true
static unsigned long allocations;
#else
#define IS_SANITIZED false
static _Atomic unsigned long allocations;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the system's names are reserved */
void *malloc(size_t size)
{
    allocations++;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    allocations++;
    return __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    allocations++;
    return __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    allocations++;
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    allocations++;
    *out = __libc_memalign(alignment, size);
    return *out ? 0 : ENOMEM;
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
#endif

enum { FEW = 20, MANY = 2000, MOST_UNITS = 4 };

/* Units u0, u1, ... of one FMU, connected. */
struct system {
    const char *fmu; /* "ChainMass_fmi2" */
    int units;
    const char *const *connections;
    size_t connection_count;
    const char *interface; /* NULL: "cs" */
    const char *solver;
    const char *coupling;
    const char *extrapolate, *reevaluate;
    const char *const *unit_steps;
    size_t unit_step_count;
};

#define CONNECTIONS(table) .connections = (table), .connection_count = sizeof(table) / sizeof *(table)

static const char *const chain[] = {
    "u0.x=u1.x_left", "u0.v=u1.v_left", "u1.F=u0.F_right", /* */
    "u1.x=u2.x_left", "u1.v=u2.v_left", "u2.F=u1.F_right", /* */
    "u2.x=u3.x_left", "u2.v=u3.v_left", "u3.F=u2.F_right",
};

/* The allocations of a whole run. */
static unsigned long allocations_of(const struct system *system, int steps, const char *output)
{
    char files[MOST_UNITS][1000];
    const char *names[MOST_UNITS];
    for (int i = 0; i < system->units; i++) {
        snprintf(files[i], sizeof files[i], "u%d=%s/%s.fmu", i, TUTTI_FMUS, system->fmu);
        names[i] = files[i];
    }
    struct tutti_run_options options = {
        .files = names,
        .file_count = (size_t)system->units,
        .connects = system->connections,
        .connect_count = system->connection_count,
        .has_stop = true,
        .stop = steps * 0.01,
        .has_step = true,
        .step = 0.01,
        .unit_steps = system->unit_steps,
        .unit_step_count = system->unit_step_count,
        .interface = system->interface,
        .solver = system->solver,
        .coupling = system->coupling,
        .extrapolate = system->extrapolate,
        .reevaluate = system->reevaluate,
        .output = output,
    };
    struct tutti_run_stats stats;
    unsigned long before = allocations;
    assert_ok(tutti_run(&options, &stats));
    unsigned long made = allocations - before;
    assert_int_equal(stats.steps, steps);
    assert_int_equal(stats.unit_count, system->units);
    tt_stats_fini(&stats);
    return made;
}

static void check(const struct system *system)
{
    const char *const outputs[] = {NULL, "/dev/null"};
    if (IS_SANITIZED) {
        print_message("skipped: a sanitizer counts allocations of its own\n");
        skip();
    }
    for (int i = 0; i < 2; i++) {
        unsigned long few = allocations_of(system, FEW, outputs[i]);
        assert_true(few > 0);
        assert_int_equal(allocations_of(system, MANY, outputs[i]), few);
    }
}

static void test_each_version(void **state)
{
    (void)state;
    const char *const fmus[] = {"ChainMass_fmi1cs", "ChainMass_fmi2", "ChainMass_fmi3"};
    for (size_t i = 0; i < 3; i++)
        check(&(struct system){fmus[i], 4, CONNECTIONS(chain)});
}

static void test_own_steps(void **state)
{
    (void)state;
    const char *const steps[] = {"u1=0.02", "u3=0.1"};
    check(&(struct system){"ChainMass_fmi2", 4, CONNECTIONS(chain), .unit_steps = steps, .unit_step_count = 2});
}

static void test_model_exchange(void **state)
{
    (void)state;
    const char *const solvers[] = {"rk4", "bdf"};
    for (size_t i = 0; i < 2; i++)
        check(&(struct system){"ChainMass_fmi2", 4, CONNECTIONS(chain), .interface = "me", .solver = solvers[i]});
}

static void test_iterations(void **state)
{
    (void)state;
    const char *const couplings[] = {"relax", "newton"}, *const interfaces[] = {"cs", "me"},
                      *const orders[] = {"1", "3"};
    for (size_t i = 0; i < 8; i++)
        check(&(struct system){"ChainMass_fmi2", 4, CONNECTIONS(chain), .coupling = couplings[i % 2],
                               .interface = interfaces[i / 2 % 2], .extrapolate = orders[i / 4]});
}

static void test_last_steps_of_solvers(void **state)
{
    (void)state;
    check(&(struct system){"ChainMass_fmi2", 4, CONNECTIONS(chain), .coupling = "newton", .interface = "me",
                           .reevaluate = "last"});
}

/* Discrete inputs are compared at every step, and set if they change; some are converted. */
static void test_all_types(void **state)
{
    (void)state;
    static const char *const connections[] = {
        "u0.float32_out=u1.float32_in", "u0.float64_out=u1.float64_in",        "u0.int8_out=u1.int16_in",
        "u0.uint64_out=u1.uint64_in",   "u0.boolean_out=u1.boolean_in",        "u0.color_out=u1.color_in",
        "u0.string_out=u1.string_in",   "u0.binary_out=u1.binary_in",          "u0.strings_out=u1.strings_in",
        "u0.matrix_out=u1.matrix_in",   "u0.int32_out=u1.float64_discrete_in",
    };
    check(&(struct system){"Feedthrough_fmi3", 2, CONNECTIONS(connections)});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_version),          cmocka_unit_test(test_own_steps),
        cmocka_unit_test(test_model_exchange),        cmocka_unit_test(test_iterations),
        cmocka_unit_test(test_last_steps_of_solvers), cmocka_unit_test(test_all_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
