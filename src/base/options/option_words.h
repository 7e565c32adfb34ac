/* SPDX-License-Identifier: MIT */
/* option_words.h - the keywords of options, each list once; the first keyword of a list is the default. The module that
 * implements the keywords generates an enumeration or a list of implementations from the list; help, completion and
 * checks use its texts.
 *
 *     X(name in C, "word", "meaning", or NULL if the word is self-explanatory) */
#ifndef TT_BASE_OPTIONS_OPTION_WORDS_H
#define TT_BASE_OPTIONS_OPTION_WORDS_H

#define TUTTI_INTERFACES(X)                                                                                            \
    X(AUTO, "auto", "cs if the FMU supports it; me with --solver, or with a tolerance in a system")                    \
    X(CS, "cs", "Co-Simulation")                                                                                       \
    X(ME, "me", "Model Exchange")                                                                                      \
    X(SE, "se", "Scheduled Execution")

/* Interpolation of input files between rows. */
#define TUTTI_INTERPOLATIONS(X)                                                                                        \
    X(LINEAR, "linear", "continuous Real inputs linearly; others are held")                                            \
    X(HOLD, "hold", "all inputs are held")                                                                             \
    X(CUBIC, "cubic", "continuous Real inputs by a spline; others are held")

/* Values of a line that a Co-Simulation FMU receives in a step. */
#define TUTTI_INPUT_TIMES(X)                                                                                           \
    X(AUTO, "auto", "slope if the FMU supports input derivatives, otherwise end; held inputs change at their rows")    \
    X(SLOPE, "slope", "a line if the FMU supports input derivatives, otherwise begin")                                 \
    X(BEGIN, "begin", "the value at the start of the step")                                                            \
    X(MIDDLE, "middle", "the value in the middle")                                                                     \
    X(END, "end", "the value at the end")

/* Kinds of solve/: tt_solver_NAME. */
#define TUTTI_SOLVERS(X)                                                                                               \
    X(cvode, "cvode", NULL)                                                                                            \
    X(adams, "adams", NULL)                                                                                            \
    X(switch, "switch", NULL)                                                                                          \
    X(dopri5, "dopri5", NULL)                                                                                          \
    X(dopri8, "dopri8", NULL)                                                                                          \
    X(dirk, "dirk", NULL)                                                                                              \
    X(radau5, "radau5", NULL)                                                                                          \
    X(rodas, "rodas", NULL)                                                                                            \
    X(bdf, "bdf", NULL)                                                                                                \
    X(ida, "ida", NULL)                                                                                                \
    X(rk4, "rk4", NULL)                                                                                                \
    X(heun, "heun", NULL)                                                                                              \
    X(euler, "euler", NULL)                                                                                            \
    X(implicit_euler, "implicit_euler", NULL)

/* How a multistep solver continues where inputs change. */
#define TUTTI_PREDICTORS(X)                                                                                            \
    X(AUTO, "auto", "cvode restarts, bdf corrects")                                                                    \
    X(RESTART, "restart", "discards the step history")                                                                 \
    X(PROCEED, "proceed", "keeps the step history")                                                                    \
    X(CORRECT_1, "correct-1", "bdf: corrects the first derivative")                                                    \
    X(CORRECT_2, "correct-2", "bdf: corrects the first two derivatives")                                               \
    X(CORRECT_ALL, "correct-all", "bdf: corrects the whole history")

/* How a run that is a federate asks for time: run/federate/run_federate.c. */
#define TUTTI_ADVANCES(X)                                                                                              \
    X(TAR, "tar", "at the end of each step, for its time; messages received during the step take effect there")        \
    X(TARA, "tara", "tar twice: reactions to received messages are sent at the same time")                             \
    X(NMR, "nmr", "before each step, which ends at the next message")                                                  \
    X(NMRA, "nmra", "nmr, but more messages with that time may follow")

#define TUTTI_JACOBIANS(X)                                                                                             \
    X(AUTO, "auto", NULL)                                                                                              \
    X(SPARSE, "sparse", NULL)                                                                                          \
    X(DENSE, "dense", NULL)                                                                                            \
    X(PLAIN, "plain", "dense, column by column")

/* How the linear equations of implicit solvers are solved. */
#define TUTTI_LINEAR_SOLVERS(X)                                                                                        \
    X(DIRECT, "direct", "factorised by LAPACK or SUNDIALS, by KLU if sparse")                                          \
    X(KRYLOV, "krylov", "GMRES, without a matrix: cvode, ida, dirk")

#define TUTTI_FILTERS(X)                                                                                               \
    X(NONE, "none", NULL)                                                                                              \
    X(AVERAGE, "average", "over a communication step")

/* Kinds of master/coupling/: tt_coupling_NAME. */
#define TUTTI_COUPLINGS(X)                                                                                             \
    X(jacobi, "jacobi", "all components at once")                                                                      \
    X(seidel, "seidel", "one after another")                                                                           \
    X(relax, "relax", "iterated to convergence")                                                                       \
    X(newton, "newton", "iterated by Newton steps")                                                                    \
    X(strong, "strong", "all Model Exchange components in one solver")                                                 \
    X(kinematic, "kinematic", "all at once, with forces for --constrain")                                              \
    X(federated, "federated", "each with a separate time, like federates of HLA")

/* Kinds of master/control/: tt_control_NAME. */
#define TUTTI_CONTROLS(X)                                                                                              \
    X(fixed, "fixed", NULL)                                                                                            \
    X(richardson, "richardson", "step doubling")                                                                       \
    X(slope, "slope", "step doubling and a test of slopes")                                                            \
    X(embedded, "embedded", "compared with a prediction")                                                              \
    X(quantum, "quantum", "by the change of outputs")                                                                  \
    X(converge, "converge", "for relax, newton")                                                                       \
    X(diverge, "diverge", "for relax, newton")

/* Kinds of sim/detector.c: tt_detection_NAME. */
#define TUTTI_DETECTIONS(X)                                                                                            \
    X(none, "none", "each component handles its events")                                                               \
    X(early, "early", "events for which a component returns early")                                                    \
    X(output, "output", "also changes of discrete outputs, which are located")

#define TUTTI_EXTRAPOLATIONS(X)                                                                                        \
    X(AUTO, "auto", NULL)                                                                                              \
    X(CONSTANT, "0", "held")                                                                                           \
    X(LINE, "1", "a line")                                                                                             \
    X(PARABOLA, "2", "a parabola")                                                                                     \
    X(CUBIC, "3", "relax, newton: a cubic between both ends of the step")

/* The quantity that a tolerance bounds. */
#define TUTTI_ERRORS_PER(X)                                                                                            \
    X(TIME, "time", "the error of the run, relative to the range of each signal")                                      \
    X(STEP, "step", "the error of each step")

/* How units are taken back to an earlier point. */
#define TUTTI_ROLLBACKS(X)                                                                                             \
    X(AUTO, "auto",                                                                                                    \
      "fmu; fork if saved states are missing or incomplete, and a tolerance or the method needs rollback")             \
    X(FMU, "fmu", "by its saved states only")                                                                          \
    X(FORK, "fork", "in a separate process, which forks where a state is saved")                                       \
    X(REJECT, "reject", "by its saved states; FMI 1.0: by rejecting and repeating the last step (canRejectSteps)")

/* How outputs at the end of a step are made to fit together. */
#define TUTTI_CORRECTIONS(X)                                                                                           \
    X(LINEAR, "linear", "one Newton step (default)")                                                                   \
    X(SOLVE, "solve", "components are read again until they are consistent")

#define TUTTI_SWEEPS(X)                                                                                                \
    X(SEIDEL, "seidel", NULL)                                                                                          \
    X(JACOBI, "jacobi", NULL)

#define TUTTI_ACCELERATIONS(X)                                                                                         \
    X(NONE, "none", NULL)                                                                                              \
    X(AITKEN, "aitken", NULL)                                                                                          \
    X(ANDERSON, "anderson", NULL)

/* The Jacobian of a step. */
#define TUTTI_NEWTONS(X)                                                                                               \
    X(KEPT, "kept", "computed again only when convergence is slow")                                                    \
    X(FULL, "full", "computed in every iteration")                                                                     \
    X(BROYDEN, "broyden", "updated by each iteration")                                                                 \
    X(KRYLOV, "krylov", "only products with it, for GMRES")

/* The units that an iteration of a step repeats. */
#define TUTTI_REEVALUATIONS(X)                                                                                         \
    X(FULL, "full", "the whole step")                                                                                  \
    X(LAST, "last", "the last step of their solvers: Model Exchange")

/* Confinement of the code of FMUs. */
#define TUTTI_CONFINEMENTS(X)                                                                                          \
    X(NONE, "none", "no restrictions")                                                                                 \
    X(AUTO, "auto", "strict, as far as the kernel supports it")                                                        \
    X(STRICT, "strict", "only its own files, no network, no other programs and processes")

/* When ranks send signals of a step that may be taken back. */
#define TUTTI_MODES(X)                                                                                                 \
    X(OPTIMISTIC, "optimistic", "at once")                                                                             \
    X(PRUDENT, "prudent", "when the step is accepted")

/* Which combinations of varied values a sweep runs; the first is the default. */
#define TUTTI_SAMPLES(X)                                                                                               \
    X(GRID, "grid", "all combinations")                                                                                \
    X(LATIN, "latin", "Latin hypercube: one value in each of --runs equal parts of every range")                       \
    X(SOBOL, "sobol", "--runs points of a Sobol sequence, which fill the ranges evenly")                               \
    X(RANDOM, "random", "--runs uniformly distributed random points")

/* How parameters are estimated. */
#define TUTTI_FIT_METHODS(X)                                                                                           \
    X(LM, "lm", "Levenberg-Marquardt")                                                                                 \
    X(BOBYQA, "bobyqa", "by Powell, with quadratic models, without derivatives")                                       \
    X(NELDER_MEAD, "nelder-mead", "a simplex")                                                                         \
    X(SUBPLEX, "subplex", "simplexes in subspaces, for many parameters")                                               \
    X(GLOBAL, "global", "search within bounds, which are required, then lm from the best point")

#endif
