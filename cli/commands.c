/* SPDX-License-Identifier: MIT */
/* The table of commands: what --help, the man page and the parser know. */
#include "commands.h"

#include <stdint.h>

/* A table reads best as one. */
/* clang-format off */

static const struct option info_options[] = {
    {"--json", NULL, NULL, "print everything as JSON instead of a summary for people"},
    {"--variables", NULL, NULL, "list every variable"},
    {NULL, NULL, NULL, NULL},
};

static const struct option check_options[] = {
    {"--quiet", NULL, NULL, "print findings only, no closing line"},
    {NULL, NULL, NULL, NULL},
};

/* What all commands that simulate take; cli/run_options.c reads it. */
#define TIME_OPTIONS \
    {"--start", NULL, "T", "start time (the file's default experiment, else 0)"}, \
    {"--stop", NULL, "T", "stop time (the file's default experiment, else 1)"}, \
    {"--step", NULL, "H", \
     "communication step, fixed or the first one (the file's default experiment, else (stop-start)/500); UNIT=H for a " \
     "unit of a system that is to step less often, with a multiple of it"}
#define SET_OPTION \
    {"--set", NULL, "UNIT.VAR=VALUE", \
     "parameter or start value (of a single FMU: VAR=VALUE); enumerations by item name, arrays as a list; repeatable"}
#define MODEL_OPTIONS \
    SET_OPTION, \
    {"--input", NULL, "FILE.csv", \
     "input trajectories: a column 'time', then one per input, UNIT.VAR, an input of the system itself, or (single " \
     "FMU) VAR; Real inputs are linear " \
     "between rows, others held; two rows with equal time are a jump"}
#define SOLVER_OPTIONS \
    {"--solver", NULL, "NAME", \
     "for Model Exchange: cvode, adams, dopri5, dopri8, dirk, radau5, bdf, rk4, heun or euler (cvode; bdf " \
     "where inputs change on the way)"}, \
    {"--rtol", NULL, "R", \
     "relative tolerance, of error control and solvers, and handed to the FMU's own (the file's default experiment, else " \
     "1e-4)"}, \
    {"--atol", NULL, "A", \
     "absolute tolerance, times the nominal value of each state or output (a hundredth of the relative one)"}, \
    {"--h-max", NULL, "H", "longest step of a control ((stop-start)/10) and of a solver ((stop-start)/50)"}, \
    {"--solver-step", NULL, "H", "step of rk4, heun and euler (the communication step)"}, \
    {"--predictor", NULL, "HOW", \
     "how a multistep solver goes on when inputs change: restart, proceed, correct-1, correct-2, correct-all; the " \
     "corrections need bdf (auto: cvode restarts, bdf corrects)"}, \
    {"--jacobian", NULL, "HOW", \
     "Jacobian of implicit solvers: sparse, dense, plain (dense, column by column), or auto (auto)"}
#define MESSAGE_OPTIONS \
    {"--log-level", NULL, "LEVEL", "error, warning, info or debug (warning)"}, \
    {"--quiet", NULL, NULL, "no progress line, no summary, errors only"}, \
    {"--verbose", NULL, NULL, "the same as --log-level debug; also asks the FMU for its debug messages"}

#define SYSTEM_OPTIONS \
    {"--connect", NULL, "A.y=B.u", "connect an output to an input; repeatable"}
#define OUTPUT_STEP_OPTION \
    {"--output-step", NULL, "D", "interval of recorded points, which are hit exactly (every communication point)"}
#define INTERFACE_OPTION \
    {"--interface", NULL, "KIND", \
     "which interface of the FMU to use: cs (Co-Simulation), me (Model Exchange) or auto: cs if the FMU has it and no " \
     "--solver is named (auto)"}
#define PLACE_OPTION \
    {"--place", NULL, "UNIT=RANK", \
     "put a unit on this rank, counted from 0; repeatable (by costs and connections)"}
#define COSTS_OPTION \
    {"--costs", NULL, "STATS.json", \
     "place units by the seconds that they took in an earlier run, as its --stats wrote them (estimated)"}
#define COUPLING_OPTIONS \
    {"--coupling", NULL, "HOW", \
     "how a macro step of coupled units is made: jacobi (all at once), seidel (one after the other), relax (repeated until " \
     "it rests) or auto, which says why (auto)"}, \
    {"--control", NULL, "HOW", \
     "how its size is chosen: fixed, richardson (step doubling), slope (and a test of slopes), embedded (against a " \
     "prediction), quantum; converge and diverge for relax; or auto: fixed if --step is given, or FMUs propose a step and " \
     "no tolerance is given (auto)"}, \
    {"--extrapolate", NULL, "ORDER", "how inputs move in a step: 0 (held), 1 (a line), 2 (a parabola) or auto (auto)"}, \
    {"--events", NULL, "HOW", \
     "which events end a step for all units: none (each crosses its own), early (those that a unit comes back with), " \
     "output (and changes of discrete outputs, which are located) or auto (auto)"}, \
    {"--correct", NULL, NULL, "jacobi: correct outputs for feed-through at the end of a step"}, \
    {"--smooth", NULL, NULL, "jacobi: inputs go on from where they are instead of jumping at the end of a step"}, \
    {"--h-min", NULL, "H", "shortest step of a control, which is accepted as it is ((stop-start)/1e8)"}, \
    {"--max-iterations", NULL, "N", "relax: most sweeps over the units in a step (10)"}, \
    {"--sweeps", NULL, "HOW", "relax: seidel or jacobi (seidel)"}, \
    {"--accelerate", NULL, "HOW", "relax: anderson, aitken or none (none)"}, \
    {"--order", NULL, "A,B,...", "seidel: these units step first, in this order (by the graph)"}, \
    {"--event-tolerance", NULL, "D", "how closely events are located in time (--rtol times the first step)"}, \
    {"--quantum", NULL, "Q", "control quantum: how far an output may move in a step"}, \
    {"--divergence", NULL, "D", "control diverge: how far an iteration may lead from its first result (1e-3)"}, \
    {"--filter", NULL, "HOW", "average: outputs are those of the averages over a communication step (none)"}

static const struct option run_options[] = {
    SYSTEM_OPTIONS,
    TIME_OPTIONS,
    OUTPUT_STEP_OPTION,
    MODEL_OPTIONS,
    INTERFACE_OPTION,
    SOLVER_OPTIONS,
    COUPLING_OPTIONS,
    PLACE_OPTION,
    COSTS_OPTION,
    {"--realtime", NULL, "R", "simulated time goes R times as fast as the clock, and no faster (as fast as it can)"},
    {"--threads", NULL, "N", "run the units on so many threads (one)"},
    {"--processes", NULL, "N",
     "run the units in so many worker processes: one that crashes or hangs takes only the run with it, and what was "
     "computed is kept"},
    {"--nodes", NULL, "LIST",
     "run the units on other machines, where 'tutti node' waits: HOST:PORT,... or a file with a line 'HOST:PORT PUBLICKEY' "
     "for each"},
    {"--key", NULL, "FILE", "with --nodes: the secret key of whoever runs this ('tutti node --keygen')"},
    {"--timeout", NULL, "S", "processes and nodes: give up one that gives no sign of life for so many seconds (never)"},
    {"--mode", NULL, "HOW",
     "when ranks send signals of a step that may be taken back: optimistic (at once) or prudent (when it is known to be "
     "good); the result is the same (optimistic)"},
    {"--step-log", NULL, "FILE.csv", "a line per attempt at a step: time, size, error, verdict, who drove it"},
    {"--record", NULL, "PATTERN",
     "variables to record, UNIT.VAR with * and ?; 'none' for nothing; repeatable (all outputs)"},
    {"--output", "-o", "FILE", "result file, .csv; - for CSV on standard output (result.csv)"},
    {"--stats", NULL, "FILE.json", "write what the run did as JSON; - for standard output"},
    MESSAGE_OPTIONS,
    {NULL, NULL, NULL, NULL},
};

static const struct option graph_options[] = {
    {"--output", "-o", "FILE", "OUT.svg, OUT.dot or OUT.json; - for DOT on standard output (required)"},
    {"--phase", NULL, "PHASE",
     "which dependencies: initial (those that hold while start values are computed) or run (those of a running model) "
     "(initial)"},
    SYSTEM_OPTIONS,
    {"--set", NULL, "UNIT.VAR=VALUE", "parameter or start value; repeatable"},
    {NULL, NULL, NULL, NULL},
};

static const struct option new_options[] = {
    SYSTEM_OPTIONS,
    SET_OPTION,
    TIME_OPTIONS,
    OUTPUT_STEP_OPTION,
    INTERFACE_OPTION,
    SOLVER_OPTIONS,
    COUPLING_OPTIONS,
    PLACE_OPTION,
    {"--quiet", NULL, NULL, "errors only, no warnings"},
    {NULL, NULL, NULL, NULL},
};

static const struct option linearize_options[] = {
    {"--output", "-o", "FILE", "OUT.json or OUT.mat; - for JSON on standard output (required)"},
    {"--at", NULL, "T", "time of the run at which to linearise, after the events there (the start time)"},
    TIME_OPTIONS,
    MODEL_OPTIONS,
    SOLVER_OPTIONS,
    MESSAGE_OPTIONS,
    {NULL, NULL, NULL, NULL},
};

static const struct option analyze_options[] = {
    {"--json", NULL, NULL, "print everything as JSON instead of a summary for people"},
    SYSTEM_OPTIONS,
    TIME_OPTIONS,
    MODEL_OPTIONS,
    INTERFACE_OPTION,
    SOLVER_OPTIONS,
    COUPLING_OPTIONS,
    {"--ranks", NULL, "N", "show where the units would run on so many threads, processes or nodes, and what would cross"},
    PLACE_OPTION,
    COSTS_OPTION,
    MESSAGE_OPTIONS,
    {NULL, NULL, NULL, NULL},
};

static const struct option node_options[] = {
    {"--listen", NULL, "HOST:PORT", "where runs reach this machine; port 0: any that is free, which is told"},
    {"--key", NULL, "FILE", "this machine's secret key; needed unless HOST is a loopback address"},
    {"--allow", NULL, "FILE.pub", "the public key of somebody who may use the node; repeatable"},
    {"--offer", NULL, "FILE.fmu",
     "an FMU that runs may use here and nowhere else: the file stays, only its description is shown; repeatable"},
    {"--cache", NULL, "DIR", "folder that keeps the files that runs bring (~/.cache/tutti)"},
    {"--keygen", NULL, "FILE", "make a pair of keys: FILE, the secret one, and FILE.pub, which is also printed"},
    {"--quiet", NULL, NULL, "no line per run, only what is wrong"},
    {"--worker", NULL, NULL, NULL}, /* how a node starts its own program for a rank */
    {NULL, NULL, NULL, NULL},
};

static const struct option plot_options[] = {
    {"--output", "-o", "OUT.svg", "the picture to write (required)"},
    {"--variable", "-v", "PATTERN",
     "variables to show, with * and ?; each -v makes a panel (all numbers, in one panel)"},
    {"--title", NULL, "TEXT", "a title above the picture (none)"},
    {NULL, NULL, NULL, NULL},
};

static const struct option help_options[] = {
    {"--man", NULL, NULL, "print the man page (roff)"},
    {NULL, NULL, NULL, NULL},
};

const struct command commands[] = {
    {"info", "FILE", "say what an FMU or SSP is",
     "Of an FMU: version, interfaces, variables, capabilities, default experiment, and what Tutti makes up for where the "
     "FMU lacks something. Of a system (x.ssp, x.ssp#Variant.ssd, x.ssd): its variants, components, connectors, "
     "connections, values and settings. Folders with the same, unpacked, will do. Only descriptions are read; no code of "
     "an FMU runs.",
     1, 1, info_options, command_info},
    {"check", "FILE", "validate an FMU or SSP",
     "Checks archive, XML, references, types, units, dependencies, start values, and the binary for this platform, "
     "which is loaded but not run. Of a system: all variants (x.ssp#Variant.ssd: this one), connections, parameters, and "
     "every FMU in it. "
     "One line per finding, 'error:' or 'warning:', with file, line and what is wrong. Exit status 1 if there is any "
     "error.",
     1, 1, check_options, command_check},
    {"run", "FILE...", "simulate an FMU or a system of FMUs",
     "Simulates from start to stop and records the outputs: one FMU (FMI 1.0, 2.0 or 3.0); several, each named by its "
     "file or as NAME=FILE.fmu, with --connect between them; or a system as SSP (x.ssp, x.ssp#Variant.ssd, x.ssd). A "
     "Co-Simulation FMU runs with its own solver, a Model Exchange FMU with one of Tutti's. Ctrl-C ends the run at the "
     "next communication point and keeps the result; a second Ctrl-C ends it at once.",
     1, SIZE_MAX, run_options, command_run},
    {"analyze", "FILE...", "order of evaluation, loops, stability and the choices of auto",
     "Loads a system as run does, initialises it, and tells what follows from its structure: the order in which inputs "
     "and outputs are computed at the start, and how many evaluations of units that takes; algebraic loops; start "
     "values that are pointless because a connection overwrites them; which couplings and extrapolations are stable for "
     "small steps; and what a run with the same options would choose where they say auto, with its reasons; "
     "with --ranks, which unit would run on which rank.",
     1, SIZE_MAX, analyze_options, command_analyze},
    {"graph", "FILE...", "draw a system and its dependency graph",
     "Draws the units of a system with what connects them, which outputs depend directly on which inputs, and "
     "algebraic loops in colour: as SVG picture (needs Graphviz, Debian package graphviz), as DOT text for Graphviz, or "
     "as JSON with nodes, dependencies, loops and the order of evaluation. FILE... as for run. Only descriptions are "
     "read; no code of an FMU runs.",
     1, SIZE_MAX, graph_options, command_graph},
    {"linearize", "FMU", "linear system of an FMU at a point of time",
     "Simulates a Model Exchange FMU up to a time, the start if no --at is given, and linearises it there: writes the "
     "matrices A, B, C, D of x' = A x + B u, y = C x + D u with names, the values at that point and the eigenvalues of "
     "A, and says whether it is stable.",
     1, 1, linearize_options, command_linearize},
    {"new", "OUT.ssp FILE...", "write a system as SSP",
     "Writes what 'tutti run FILE...' with the same options would simulate: FMUs, connections, values, start and stop, and "
     "Tutti's own settings. FMUs become a new system with all of them inside; OUT.ssd is written beside FMUs, which stay "
     "where they are. An SSP (x.ssp, x.ssp#Variant.ssd, x.ssd) is copied with the changes that the options say; all else "
     "in it stays.",
     2, SIZE_MAX, new_options, command_new},
    {"node", "--listen HOST:PORT", "let runs use this machine",
     "Waits for runs (tutti run --nodes HOST:PORT,...) that have some of their units here. Each rank of a run is a process of "
     "its own; FMUs are sent once and kept by their content. Whoever may use a node can run any code on it, as the user that "
     "it runs as: beyond loopback it therefore wants keys, and everything is encrypted. SIGTERM or Ctrl-C ends it.",
     0, 0, node_options, command_node},
    {"plot", "RESULT", "draw a result",
     "Draws the variables of a result file over time, as an SVG picture: one panel per -v, or all in one. Needs "
     "gnuplot (Debian package gnuplot-nox).",
     1, 1, plot_options, command_plot},
    {"help", "[COMMAND]", "show this help, or that of a command", NULL, 0, 1, help_options, command_help},
    {NULL, NULL, NULL, NULL, 0, 0, NULL, NULL},
};

/* clang-format on */
