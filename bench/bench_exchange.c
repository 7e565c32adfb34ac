/* SPDX-License-Identifier: MIT */
/* The cost of a right-hand side of a Model Exchange FMU in Tutti: CVODE on a hand-written C function with equal FMI
 * calls is 1.0.
 *
 *     bench_exchange FMU2
 *
 * FMU2 is VanDerPol as FMI 2.0, integrated for a long time with the same tolerances, the same longest step and the
 *      FMU's
 * own directional derivatives as Jacobian. Runs alternate, the best of each counts; both are divided by their number of
 * right-hand sides, which should be equal. */
#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <stdlib.h>
#include <sundials/sundials_types.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <time.h>
#include <tutti/tutti.h>

#include "fmu/api2.h"
#include "fmu/fmu.h"
#include "base/options/options.h"
#include "sim/stats.h"

enum { ROUNDS = 7 };
#define STOP 2000.0
#define RTOL 1e-6
#define ATOL 1e-8
#define BOUND 1.3

struct functions {
#define X(name, ret, params, group) ret(*name) params;
    FMI2_FUNCTIONS(X)
#undef X
};

struct hand {
    const struct functions *f;
    fmi2Component c;
    uint32_t states[2], derivatives[2];
    unsigned long rhs;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void die(const char *what)
{
    fprintf(stderr, "bench_exchange: %s\n", what);
    exit(1);
}

static void ignore(fmi2ComponentEnvironment e, fmi2String n, fmi2Status s, fmi2String c, fmi2String m, ...)
{
    (void)e, (void)n, (void)s, (void)c, (void)m;
}

static int rhs(double t, N_Vector x, N_Vector dx, void *context)
{
    struct hand *h = context;
    h->rhs++;
    return h->f->fmi2SetTime(h->c, t) || h->f->fmi2SetContinuousStates(h->c, NV_DATA_S(x), 2) ||
           h->f->fmi2GetDerivatives(h->c, NV_DATA_S(dx), 2);
}

static int jacobian(double t, N_Vector x, N_Vector dx, SUNMatrix j, void *context, N_Vector a, N_Vector b, N_Vector c)
{
    (void)dx, (void)a, (void)b, (void)c;
    struct hand *h = context;
    if (h->f->fmi2SetTime(h->c, t) || h->f->fmi2SetContinuousStates(h->c, NV_DATA_S(x), 2))
        return -1;
    for (int column = 0; column < 2; column++) {
        double seed[2] = {column == 0, column == 1};
        if (h->f->fmi2GetDirectionalDerivative(h->c, h->derivatives, 2, h->states, 2, seed, SM_COLUMN_D(j, column)))
            return -1;
    }
    return 0;
}

static void start(struct hand *h, const struct tt_fmu *fmu, const fmi2CallbackFunctions *callbacks)
{
    fmi2EventInfo info;
    const struct tt_description *desc = fmu->desc;
    h->f = (const struct functions *)fmu->libraries[TUTTI_ME]->functions;
    for (int i = 0; i < 2; i++) {
        const struct tt_var *derivative = &desc->vars[desc->derivatives.items[i].variable];
        h->derivatives[i] = derivative->reference;
        h->states[i] = desc->vars[derivative->derivative_of].reference;
    }
    h->c = h->f->fmi2Instantiate("bench", fmi2ModelExchange, desc->token, "", callbacks, 0, 0);
    if (!h->c || h->f->fmi2SetupExperiment(h->c, 0, 0, 0, 1, STOP) || h->f->fmi2EnterInitializationMode(h->c) ||
        h->f->fmi2ExitInitializationMode(h->c) || h->f->fmi2NewDiscreteStates(h->c, &info) ||
        h->f->fmi2EnterContinuousTimeMode(h->c))
        die("the FMU cannot be initialised");
}

/* The program that a programmer would write by hand; seconds. */
static double by_hand(const struct tt_fmu *fmu, unsigned long *count)
{
    fmi2CallbackFunctions callbacks = {ignore, calloc, free, NULL, NULL};
    struct hand h = {0};
    start(&h, fmu, &callbacks);
    SUNContext context;
    if (SUNContext_Create(NULL, &context))
        die("SUNDIALS cannot start");
    N_Vector x = N_VNew_Serial(2, context);
    SUNMatrix matrix = SUNDenseMatrix(2, 2, context);
    SUNLinearSolver linear = SUNLinSol_Dense(x, matrix, context);
    void *cvode = CVodeCreate(CV_BDF, context);
    double t = 0;
    if (h.f->fmi2GetContinuousStates(h.c, NV_DATA_S(x), 2) || CVodeInit(cvode, rhs, 0, x) ||
        CVodeSStolerances(cvode, RTOL, ATOL) || CVodeSetUserData(cvode, &h) ||
        CVodeSetLinearSolver(cvode, linear, matrix) || CVodeSetJacFn(cvode, jacobian) ||
        CVodeSetMaxStep(cvode, STOP / 50) || CVodeSetStopTime(cvode, STOP))
        die("CVODE cannot be set up");
    double begin = now();
    while (t < STOP)
        if (CVode(cvode, STOP, x, &t, CV_ONE_STEP) < 0)
            die("CVODE failed");
    double seconds = now() - begin;
    CVodeFree(&cvode);
    SUNLinSolFree(linear);
    SUNMatDestroy(matrix);
    N_VDestroy(x);
    SUNContext_Free(&context);
    h.f->fmi2Terminate(h.c);
    h.f->fmi2FreeInstance(h.c);
    *count = h.rhs;
    return seconds;
}

static double by_tutti(const char *file, unsigned long *count)
{
    struct tutti_run_options options = {
        .files = (const char *const[]){file},
        .file_count = 1,
        .interface = "me",
        .solver = "cvode",
        .has_stop = true,
        .stop = STOP,
        .has_step = true,
        .step = STOP,
        .has_rtol = true,
        .rtol = RTOL,
        .has_atol = true,
        .atol = ATOL,
        .jacobian = "dense",
    };
    struct tutti_run_stats stats;
    if (tutti_run(&options, &stats))
        die(tutti_err_message());
    *count = stats.units[0].rhs_evaluations;
    double seconds = stats.loop_seconds;
    tt_stats_fini(&stats);
    return seconds;
}

int main(int argc, char **argv)
{
    if (argc != 2)
        die("usage: bench_exchange FMU2");
    struct tt_fmu *fmu = NULL;
    if (tt_fmu_open(&fmu, argv[1], NULL) || tt_fmu_load(fmu, TUTTI_ME, NULL))
        die(tutti_err_message());
    double hand = 1e9, tutti = 1e9;
    for (int i = 0; i < ROUNDS; i++) {
        unsigned long hands, tuttis;
        double seconds = by_hand(fmu, &hands) / (double)hands;
        hand = seconds < hand ? seconds : hand;
        seconds = by_tutti(argv[1], &tuttis) / (double)tuttis;
        tutti = seconds < tutti ? seconds : tutti;
        if (i == 0)
            printf("exchange    CVODE on an FMU, right-hand sides  hand %7lu           tutti %7lu\n", hands, tuttis);
    }
    double ratio = tutti / hand;
    printf(
        "exchange    ... each                           hand %7.1f ns        tutti %7.1f ns        ratio %5.2f   (at "
        "most %.1f)\n",
        1e9 * hand, 1e9 * tutti, ratio, BOUND);
    tt_fmu_free(fmu);
    return ratio <= BOUND ? 0 : 1;
}
