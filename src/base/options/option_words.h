/* SPDX-License-Identifier: MIT */
/* option_words.h - the keywords of options, each list once; the first keyword of a list is the default. The module that
 * implements the keywords generates an enumeration or a list of implementations from the list; help, completion and
 * checks use its texts.
 *
 *     X(name in C, "word", "meaning", or NULL if the word is self-explanatory) */
#ifndef TT_BASE_OPTIONS_OPTION_WORDS_H
#define TT_BASE_OPTIONS_OPTION_WORDS_H

#define TUTTI_INTERFACES(X)                                                                                            \
    X(AUTO, "auto", "cs if the FMU has it, unless a --solver, or in a system a tolerance, asks for me")                \
    X(CS, "cs", "Co-Simulation")                                                                                       \
    X(ME, "me", "Model Exchange")                                                                                      \
    X(SE, "se", "Scheduled Execution")

/* Interpolation of input files between rows. */
#define TUTTI_INTERPOLATIONS(X)                                                                                        \
    X(LINEAR, "linear", "continuous Real inputs, on a line; others are held")                                          \
    X(HOLD, "hold", "all keep the value of their row")                                                                 \
    X(CUBIC, "cubic", "continuous Real inputs, on a spline; others are held")

/* Values of a line that a Co-Simulation FMU receives in a step. */
#define TUTTI_INPUT_TIMES(X)                                                                                           \
    X(AUTO, "auto", "the line, if it takes one, else as with end; what is held changes at its rows")                   \
    X(SLOPE, "slope", "the line, if it takes one, else as with begin")                                                 \
    X(BEGIN, "begin", "the value at the beginning of the step")                                                        \
    X(MIDDLE, "middle", "in the middle")                                                                               \
    X(END, "end", "at the end")

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
    X(RESTART, "restart", "forgets what was")                                                                          \
    X(PROCEED, "proceed", "as if nothing had happened")                                                                \
    X(CORRECT_1, "correct-1", "bdf: the first derivative is corrected")                                                \
    X(CORRECT_2, "correct-2", "bdf: the second one, too")                                                              \
    X(CORRECT_ALL, "correct-all", "bdf: all that it keeps")

/* How a run that is a federate asks for time: run/federate/run_federate.c. */
#define TUTTI_ADVANCES(X)                                                                                              \
    X(TAR, "tar", "at the end of each step, for its time; what others send inside of it counts from there on")         \
    X(TARA, "tara", "the same twice: what units make of what has come goes out at the same time, too")                 \
    X(NMR, "nmr", "before each step, which ends where the next message comes")                                         \
    X(NMRA, "nmra", "the same; more messages of that time may come")

#define TUTTI_JACOBIANS(X)                                                                                             \
    X(AUTO, "auto", NULL)                                                                                              \
    X(SPARSE, "sparse", NULL)                                                                                          \
    X(DENSE, "dense", NULL)                                                                                            \
    X(PLAIN, "plain", "dense, column by column")

/* How the linear equations of implicit solvers are solved. */
#define TUTTI_LINEAR_SOLVERS(X)                                                                                        \
    X(DIRECT, "direct", "factorised: LAPACK or SUNDIALS, KLU if sparse")                                               \
    X(KRYLOV, "krylov", "GMRES, without a matrix: cvode, ida, dirk")

#define TUTTI_FILTERS(X)                                                                                               \
    X(NONE, "none", NULL)                                                                                              \
    X(AVERAGE, "average", "over a communication step")

/* Kinds of master/coupling/: tt_coupling_NAME. */
#define TUTTI_COUPLINGS(X)                                                                                             \
    X(jacobi, "jacobi", "all at once")                                                                                 \
    X(seidel, "seidel", "one after the other")                                                                         \
    X(relax, "relax", "repeated until it rests")                                                                       \
    X(newton, "newton", "repeated with steps of Newton")                                                               \
    X(strong, "strong", "all Model Exchange units in one solver")                                                      \
    X(kinematic, "kinematic", "all at once, with forces that keep --constrain")                                        \
    X(federated, "federated", "each at a pace of its own, as federates of HLA")

/* Kinds of master/control/: tt_control_NAME. */
#define TUTTI_CONTROLS(X)                                                                                              \
    X(fixed, "fixed", NULL)                                                                                            \
    X(richardson, "richardson", "step doubling")                                                                       \
    X(slope, "slope", "and a test of slopes")                                                                          \
    X(embedded, "embedded", "against a prediction")                                                                    \
    X(quantum, "quantum", "by how far outputs move")                                                                   \
    X(converge, "converge", "for relax, newton")                                                                       \
    X(diverge, "diverge", "for relax, newton")

/* Kinds of sim/detector.c: tt_detection_NAME. */
#define TUTTI_DETECTIONS(X)                                                                                            \
    X(none, "none", "each crosses its own")                                                                            \
    X(early, "early", "those that a unit comes back with")                                                             \
    X(output, "output", "and changes of discrete outputs, which are located")

#define TUTTI_EXTRAPOLATIONS(X)                                                                                        \
    X(AUTO, "auto", NULL)                                                                                              \
    X(CONSTANT, "0", "held")                                                                                           \
    X(LINE, "1", "a line")                                                                                             \
    X(PARABOLA, "2", "a parabola")                                                                                     \
    X(CUBIC, "3", "relax, newton: a cubic between both ends of the step")

/* The quantity that a tolerance bounds. */
#define TUTTI_ERRORS_PER(X)                                                                                            \
    X(TIME, "time", "the error of the run, as a part of what each signal moves over")                                  \
    X(STEP, "step", "that of each step")

/* How units are taken back to an earlier point. */
#define TUTTI_ROLLBACKS(X)                                                                                             \
    X(AUTO, "auto",                                                                                                    \
      "by its saved states; if it has none, or incomplete ones, and a tolerance, or a method that goes back, is "      \
      "asked "                                                                                                         \
      "for: as with fork")                                                                                             \
    X(FMU, "fmu", "by its saved states only")                                                                          \
    X(FORK, "fork", "it runs in a process of its own, which forks where a state is to be saved")                       \
    X(REJECT, "reject",                                                                                                \
      "by its saved states; one of FMI 1.0 has none, and rejects its last step, and repeats it, if it can "            \
      "(canRejectSteps)")

/* How outputs at the end of a step are made to fit together. */
#define TUTTI_CORRECTIONS(X)                                                                                           \
    X(LINEAR, "linear", "one Newton step; also if nothing is said")                                                    \
    X(SOLVE, "solve", "units are read again until they fit")

#define TUTTI_SWEEPS(X)                                                                                                \
    X(SEIDEL, "seidel", NULL)                                                                                          \
    X(JACOBI, "jacobi", NULL)

#define TUTTI_ACCELERATIONS(X)                                                                                         \
    X(NONE, "none", NULL)                                                                                              \
    X(AITKEN, "aitken", NULL)                                                                                          \
    X(ANDERSON, "anderson", NULL)

/* The Jacobian of a step. */
#define TUTTI_NEWTONS(X)                                                                                               \
    X(KEPT, "kept", "made anew only where it does not serve any more")                                                 \
    X(FULL, "full", "made anew in every iteration")                                                                    \
    X(BROYDEN, "broyden", "updated by what each iteration shows")                                                      \
    X(KRYLOV, "krylov", "none: products with it, for GMRES")

/* The units that an iteration of a step repeats. */
#define TUTTI_REEVALUATIONS(X)                                                                                         \
    X(FULL, "full", "the whole step")                                                                                  \
    X(LAST, "last", "the last one of the steps of their solvers: Model Exchange")

/* Confinement of the code of FMUs. */
#define TUTTI_CONFINEMENTS(X)                                                                                          \
    X(NONE, "none", "everything that you may do")                                                                      \
    X(AUTO, "auto", "as with strict, as far as the kernel can")                                                        \
    X(STRICT, "strict", "no files but its own, no network, no other programs and processes")

/* When ranks send signals of a step that may be taken back. */
#define TUTTI_MODES(X)                                                                                                 \
    X(OPTIMISTIC, "optimistic", "at once")                                                                             \
    X(PRUDENT, "prudent", "when it is known to be good")

/* Which combinations of varied values a sweep runs; the first is the default. */
#define TUTTI_SAMPLES(X)                                                                                               \
    X(GRID, "grid", "every value with every other")                                                                    \
    X(LATIN, "latin", "--runs values, one in each of so many equal parts of every range")                              \
    X(SOBOL, "sobol", "--runs points of a Sobol sequence, which fill the ranges evenly")                               \
    X(RANDOM, "random", "--runs values by chance, all alike")

/* How parameters are estimated. */
#define TUTTI_FIT_METHODS(X)                                                                                           \
    X(LM, "lm", "by Levenberg and Marquardt")                                                                          \
    X(BOBYQA, "bobyqa", "by Powell, with quadratic models, without derivatives")                                       \
    X(NELDER_MEAD, "nelder-mead", "a simplex")                                                                         \
    X(SUBPLEX, "subplex", "simplexes in subspaces, for many parameters")                                               \
    X(GLOBAL, "global", "in all of the bounds, which must be given, and lm from the best point")

#endif
