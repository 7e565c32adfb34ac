/* SPDX-License-Identifier: MIT */
/* The table of commands: what --help, man pages, completion and the parser know. */
#include "commands.h"

#include <stdint.h>

/* The table reads best with one entry per line. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
/* clang-format off */

#define PAIRS(...) (const struct pair[]){__VA_ARGS__, {NULL, NULL}}
#define WORDS(...) (const struct tutti_option_word[]){__VA_ARGS__, {NULL, NULL}}
#define MODEL_FILES "fmu ssp ssd"
#define RESULT_FILES "csv mat h5 jsonl"
#define HEADING(text) {"", NULL, NULL, NULL, .heading = text}

static const struct option info_options[] = {
    {"--json", NULL, NULL, "print everything as JSON instead of a summary for people"},
    {"--variables", NULL, NULL, "list every variable"},
    {NULL},
};

static const struct option check_options[] = {
    {"--run", NULL, NULL, "also run each FMU on trial: initialise, step, go back, repeat, compare, ask for derivatives"},
    {"--strict", NULL, NULL, "what breaks a rule of FMI is an error, also where 'tutti run' goes on with it"},
    {"--json", NULL, NULL, "print findings as JSON, with the units of a system that each is about"},
    {"--quiet", NULL, NULL, "print findings only, no closing line"},
    {NULL},
};

#define OPTIONS_OF(group_) {"", .group = TUTTI_GROUP_##group_}
#define COSTS_OPTION \
    {"--costs", NULL, "STATS.json", \
     "place units by the seconds that they took in an earlier run, as its --stats wrote them (estimated)", .files = "json"}
#define LOG_OPTION \
    {"--log", NULL, "HOW", "how messages are written", \
     .words = WORDS({"text", "for people"}, {"json", "an object per line, with time, level, run, unit or peer, message"}), \
     .otherwise = "text"}
#define MESSAGE_OPTIONS \
    {"--log-level", NULL, "LEVEL", "what is told", \
     .words = WORDS({"error", NULL}, {"warning", NULL}, {"info", NULL}, {"debug", NULL}), .otherwise = "warning"}, \
    {"--quiet", NULL, NULL, "no progress line, no summary, and only the warnings that concern the result"}, \
    {"--verbose", NULL, NULL, "the same as --log-level debug; also asks the FMU for its debug messages"}

#define PROGRESS_OPTION \
    {"--progress", NULL, "HOW", "how far it is", \
     .words = WORDS({"auto", "a line that moves on a terminal; elsewhere as lines, if it takes a minute or longer"}, \
                    {"lines", "a line for every tenth of it"}, {"none", NULL}), \
     .otherwise = "auto"}

/* The options that define how models are computed and coupled. */
#define MODEL_OPTIONS \
    HEADING("Model"), OPTIONS_OF(MODEL), HEADING("Times"), OPTIONS_OF(TIMES), HEADING("Accuracy and solvers"), OPTIONS_OF(ACCURACY)
#define SYSTEM_OPTIONS MODEL_OPTIONS, HEADING("How coupled units are stepped"), OPTIONS_OF(COUPLING)

static const struct option run_options[] = {
    MODEL_OPTIONS,
    {"--compare-solvers", NULL, NULL,
     "no result: run with each solver that chooses its steps, and print steps, right-hand sides, Jacobians, seconds and errors"},
    HEADING("How coupled units are stepped"),
    OPTIONS_OF(COUPLING),
    HEADING("Where units run"),
    OPTIONS_OF(WHERE),
    COSTS_OPTION,
    HEADING("Runs that go on"),
    OPTIONS_OF(GOING_ON),
    HEADING("The run as a federate (HLA)"),
    OPTIONS_OF(FEDERATION),
    HEADING("Results"),
    OPTIONS_OF(RESULTS),
    {"--stats", NULL, "FILE.json", "write what the run did as JSON; - for standard output", .files = "json"},
    HEADING("Messages"),
    PROGRESS_OPTION,
    LOG_OPTION,
    MESSAGE_OPTIONS,
    {NULL},
};

static const struct option sweep_options[] = {
    HEADING("Runs"),
    OPTIONS_OF(STUDY),
    OPTIONS_OF(WHERE),
    {"--output", "-o", "TABLE.csv", "the table: a row per run, in their order; - for standard output (sweep.csv)", .files = "csv"},
    OPTIONS_OF(RESULTS),
    SYSTEM_OPTIONS,
    HEADING("Messages"),
    PROGRESS_OPTION,
    LOG_OPTION,
    MESSAGE_OPTIONS,
    {NULL},
};

static const struct option estimate_options[] = {
    HEADING("What is looked for"),
    OPTIONS_OF(STUDY),
    {"--output", "-o", "BEST.ssv", "the values that were found, as SSV (none)", .files = "ssv"},
    {"--picture", NULL, "FILE", "data and best run: OUT.svg, OUT.png or OUT.pdf (needs gnuplot)", .files = "svg png pdf"},
    {"--json", NULL, NULL, "print everything as JSON"},
    SYSTEM_OPTIONS,
    HEADING("Messages"),
    LOG_OPTION,
    MESSAGE_OPTIONS,
    {NULL},
};

static const struct option graph_options[] = {
    {"--output", "-o", "FILE", "OUT.svg, OUT.dot or OUT.json; - for DOT on standard output (required)",
     .files = "svg dot json"},
    {"--phase", NULL, "PHASE", "which dependencies",
     .words = WORDS({"initial", "those that hold while start values are computed"}, {"run", "those of a running model"}),
     .otherwise = "initial"},
    OPTIONS_OF(MODEL),
    {NULL},
};

static const struct option new_options[] = {
    SYSTEM_OPTIONS,
    HEADING("Where units run"),
    OPTIONS_OF(WHERE),
    HEADING("The run as a federate (HLA)"),
    {"--fom", NULL, "FILE.xml", "write the object model that a run with these options needs, and no system; all FILEs are read then",
     .files = "xml"},
    OPTIONS_OF(FEDERATION),
    HEADING("Messages"),
    {"--quiet", NULL, NULL, "errors only, no warnings"},
    {NULL},
};

static const struct option linearize_options[] = {
    HEADING("Result"),
    {"--output", "-o", "FILE", "OUT.json or OUT.mat; - for JSON on standard output (required)", .files = "json mat"},
    SYSTEM_OPTIONS,
    HEADING("Messages"),
    MESSAGE_OPTIONS,
    {NULL},
};

static const struct option analyze_options[] = {
    HEADING("What is told"),
    {"--json", NULL, NULL, "print everything as JSON instead of a summary for people"},
    {"--ranks", NULL, "N", "show where the units would run on so many threads, processes or nodes, and what would cross"},
    OPTIONS_OF(WHERE),
    COSTS_OPTION,
    SYSTEM_OPTIONS,
    HEADING("Messages"),
    MESSAGE_OPTIONS,
    {NULL},
};

static const struct option node_options[] = {
    {"--listen", NULL, "HOST:PORT", "where runs reach this machine; port 0: any that is free, which is told"},
    {"--ports", NULL, "A-B",
     "ports that ranks of runs listen at, one each, and the node itself if its port is 0; others need not pass a firewall (any that is free)"},
    {"--key", NULL, "FILE", "this machine's secret key; needed unless HOST is a loopback address (the user's own)", .files = "*"},
    {"--allow", NULL, "FILE.pub", "the public key of a user who may use the node, or a folder with several; repeatable", .files = "pub"},
    {"--offer", NULL, "FILE.fmu",
     "an FMU that runs may use here and nowhere else: the file stays, only its description is shown; repeatable",
     .files = "fmu"},
    {"--cache", NULL, "DIR", "folder that keeps the files that runs bring (~/.cache/tutti)", .files = "/"},
    {"--cache-size", NULL, "SIZE",
     "bytes that the folder may hold, with K, M, G or T; what was not used for longest is removed first (10G)"},
    {"--idle", NULL, "S", "let go of runs that have not begun and say nothing for so many seconds (300)"},
    {"--max-runs", NULL, "N", "how many runs it may have at a time; others are refused (256)"},
    {"--max-ranks", NULL, "N", "how many ranks, of all its runs together (any number)"},
    {"--max-seconds", NULL, "S", "how many seconds a run may take; it is ended then (any number)"},
    {"--max-memory", NULL, "SIZE", "how much memory the processes of a run may use, with K, M, G or T; it is ended then (any)"},
    {"--quota", NULL, "FILE",
     "what each user may have: a line 'USER runs=N ranks=N seconds=S memory=SIZE', where USER is a FILE.pub or key of --allow, or * for all "
     "others (what the node has)", .files = "*"},
    {"--allow-fmu", NULL, "FILE",
     "run only FMUs whose SHA-256 is in this list (as sha256sum writes it), and those of --offer; repeatable (any FMU)", .files = "*"},
    {"--confine", NULL, "HOW",
     "what FMUs may do that runs bring", .words = WORDS({"strict", "no files but its own, no network, no other programs and processes"},
     {"auto", "the same, as far as the kernel can"}, {"none", "everything that you may do"})},
    {"--permit", NULL, "LIST",
     "what runs may --allow to their FMUs: net, fork, exec, read:PATH, write:PATH, with commas between; repeatable (nothing)"},
    {"--limits", NULL, "LIST",
     "what a worker may take, at most: memory=4G, cpu=3600 (seconds), file=1G, scratch=4G, processes=64, with commas between, 'none' for no limit "
     "(the machine's memory, no limit of time, 1G, 4G, 256)"},
    {"--env", NULL, "NAME",
     "a variable of the environment, with * and ?, that FMUs may know besides PATH, HOME, LANG and the like; repeatable"},
    {"--metrics", NULL, "[HOST:]PORT",
     "answer /metrics (Prometheus) and /health by HTTP, for all who can connect; HOST is 127.0.0.1 if not given (not answered)"},
    {"--keygen", NULL, "FILE", "make a pair of keys: FILE, the secret one, and FILE.pub, which is also printed",
     .files = "*"},
    {"--start", NULL, "HOSTS",
     "start nodes on the machines that this file names, a line 'HOST address=NAME ranks=N tutti=PATH' each, by ssh; print the list for 'tutti run "
     "--nodes', for --key; end them with this program", .files = "*"},
    LOG_OPTION,
    {"--quiet", NULL, NULL, "no line per run, only what is wrong"},
    {"--worker", NULL, NULL, NULL}, /* how a node starts its own program for a rank */
    {NULL},
};

static const struct option rti_options[] = {
    {"--listen", NULL, "HOST:PORT", "where federates reach it; port 0: any that is free, which is told (127.0.0.1:15164)"},
    {"--fom", NULL, "FILE.xml",
     "a FOM module that federates may name instead of sending it, by its path or its name; repeatable", .files = "xml"},
    {"--tls-cert", NULL, "FILE.pem", "its certificate, for connections in TLS; needed unless HOST is a loopback address", .files = "pem crt"},
    {"--tls-key", NULL, "FILE.pem", "the certificate's private key", .files = "pem key"},
    {"--allow", NULL, "FILE.pem", "certificates: only federates with one of these, or with one that was issued by one of these, get in",
     .files = "pem crt"},
    {"--key", NULL, "FILE", "a file with one line that federates have to know, as the password of their credentials or as the setting tutti.key",
     .files = "*"},
    {"--queue", NULL, "N", "how many messages may wait for a federate that does not take them in; it is lost then (100000)"},
    {"--record", NULL, "FILE", "write all updates and interactions to a file, a row for each value: .csv, .jsonl or .h5", .files = "csv jsonl h5"},
    {"--json", NULL, NULL, "with status: print everything as JSON"},
    {"--silence", NULL, "S", "a connection from which nothing has come for so many seconds counts as cut (180)"},
    {"--grace", NULL, "S", "for how many seconds a federate whose connection was cut may come back, before it is lost (10)"},
    {"--stall", NULL, "S", "tell which federate waits for which when a federation stands for so many seconds; 0: never (30)"},
    LOG_OPTION,
    {"--quiet", NULL, NULL, "no line when a federation is made or a federate joins, only what is wrong"},
    {"--verbose", NULL, NULL, "also a line for every grant: which federate may go on, and to which time"},
    {NULL},
};

static const struct option pack_options[] = {
    {"--output", "-o", "OUT.fmu", "the FMU to write", .files = "fmu"},
    {"--fmi", NULL, "VERSION", "of FMI: 2 or 3 (2)"},
    {"--expose", NULL, "PATTERN",
     "variables of units that the FMU is to have, too, UNIT.VAR with * and ?: outputs, locals, parameters, inputs that nothing drives; "
     "repeatable"},
    SYSTEM_OPTIONS,
    HEADING("Messages"),
    {"--quiet", NULL, NULL, "errors only, no warnings"},
    {NULL},
};

static const struct option watch_options[] = {
    {"--variable", "-v", "PATTERN", "variables to see, UNIT.VAR with * and ?; repeatable (all that are recorded)"},
    {"--token", NULL, "TOKEN", "as the run has shown it; for runs of this user on this machine it is known"},
    {"--json", NULL, NULL, "print every event as a line of JSON, for programs"},
    {NULL},
};

static const struct option web_options[] = {
    {"--listen", NULL, "HOST:PORT", "where browsers reach it; port 0: any that is free, which is told (127.0.0.1:0)"},
    {"--attach", NULL, "HOST:PORT", "show a run that was started with --live HOST:PORT, and nothing else"},
    {"--token", NULL, "TOKEN", "with --attach: as the run has shown it; for runs of this user on this machine it is known"},
    {"--no-browser", NULL, NULL, "print the address only"},
    {"--read-only", NULL, NULL, "for looking: nothing is saved, started, steered or removed"},
    {"--tls-cert", NULL, "FILE.pem", "its certificate, for connections in TLS; needed unless HOST is a loopback address", .files = "pem crt"},
    {"--tls-key", NULL, "FILE.pem", "the certificate's private key", .files = "pem key"},
    {NULL},
};

static const struct option plot_options[] = {
    {"--output", "-o", "FILE", "the picture to write: OUT.svg, OUT.png or OUT.pdf (drawn in the terminal)",
     .files = "svg png pdf"},
    {"--terminal", NULL, NULL, "draw with characters on standard output, as large as the terminal is; so it is without -o"},
    {"--variable", "-v", "PATTERN,...",
     "variables to show, with * and ?; each -v makes a panel (a panel per unit and physical unit)"},
    {"--xy", NULL, "X,Y", "a phase plot: variable Y over variable X; repeatable"},
    {"--steps", NULL, "FILE.csv", "panels of step size and error, from the file of 'tutti run --step-log'", .files = "csv"},
    {"--difference", NULL, NULL, "with two results: below each panel, RESULT minus RESULT2"},
    {"--start", NULL, "T", "show times from here on (where the result begins)"},
    {"--stop", NULL, "T", "show times up to here (where the result ends)"},
    {"--y-log", NULL, NULL, "logarithmic y axes; values that are not positive are left out"},
    {"--title", NULL, "TEXT", "a title above the picture (none)"},
    {"--size", NULL, "WxH", "size of the picture in pixels, or of --terminal in characters (by what it shows)"},
    {NULL},
};

static const struct option compare_options[] = {
    {"--rtol", NULL, "R", "how far values may be off, relative to the range of the reference (1e-3)"},
    {"--atol", NULL, "A",
     "how far they may be off in addition (for each variable 1e-4 --rtol times its largest value in the reference)"},
    {"--ttol", NULL, "T", "how early or late events may come (1e-6 of the time compared)"},
    {"--start", NULL, "T", "compare from this time on (the reference's first)"},
    {"--stop", NULL, "T", "compare up to this time (the reference's last)"},
    {"--variable", "-v", "PATTERN", "variables to compare, with * and ?; repeatable (all that both files have)"},
    {"--strict", NULL, NULL, "variables that only one file has, and units that differ, are disagreements, too"},
    {"--all", NULL, NULL, "show all variables, not the 10 worst"},
    {"--json", NULL, NULL, "print everything as JSON"},
    {"--quiet", NULL, NULL, "print nothing; the exit status tells"},
    {NULL},
};

static const struct option compile_options[] = {
    {"--output", "-o", "OUT.fmu", "the FMU to write (FMU itself, which gets the binary)", .files = "fmu"},
    {"--compiler", NULL, "PROGRAM", "the compiler, by its name or its path: GCC, Clang or one that takes their options (cc)", .files = "*"},
    {"--platform", NULL, "NAME", "what the compiler makes libraries for, as in binaries/NAME: aarch64-linux, ... (this platform)"},
    {"--sanitize", NULL, NULL, "with checks of addresses and undefined behaviour (AddressSanitizer, UBSan), to find faults of a model"},
    {"--timeout", NULL, "S", "how many seconds it may take (600)"},
    {"--quiet", NULL, NULL, "errors only"},
    {NULL},
};

static const struct option completion_options[] = {
    {NULL},
};

static const struct option help_options[] = {
    {"--man", NULL, NULL, "print the manual page (roff) instead"},
    {NULL},
};


const struct command commands[] = {
    {"info", "FILE", "say what an FMU or SSP is",
     "Of an FMU: version, interfaces, variables, capabilities, default experiment, and what Tutti makes up for where the "
     "FMU lacks something. Of a system (x.ssp, x.ssp#Variant.ssd, x.ssd): its variants, components, connectors, "
     "connections, values and settings. Folders with the same, unpacked, will do. Only descriptions are read; no code of "
     "an FMU runs.",
     1, 1, info_options, command_info,
     .examples = PAIRS({"tutti info ball.fmu", "what is in the file"},
                       {"tutti info --variables ball.fmu", "with all its variables"},
                       {"tutti info --json car.ssp", "a system, for programs"}),
     .files = MODEL_FILES},
    {"check", "FILE", "validate an FMU or SSP",
     "Checks archive, XML, references, types, units, dependencies, start values, and the binary for this platform, "
     "which is read; only with --run it is loaded, and code of the FMU runs. Of a system: all variants (x.ssp#Variant.ssd: this one), connections, parameters, and "
     "every FMU in it. "
     "One line per finding, with file, line and what is wrong: 'error:' if it stops a run, else 'warning:'.",
     1, 1, check_options, command_check,
     .examples = PAIRS({"tutti check ball.fmu", "one FMU"},
                       {"tutti check --run ball.fmu", "does it do what it says?"},
                       {"tutti check car.ssp", "a system with all that is in it"}),
     .files = MODEL_FILES, .failure = "the file has an error"},
    {"run", "FILE...", "simulate an FMU or a system of FMUs",
     "Simulates from start to stop and records the outputs: one FMU (FMI 1.0, 2.0 or 3.0); several, each named by its "
     "file or as NAME=FILE.fmu, with --connect between them; or a system as SSP (x.ssp, x.ssp#Variant.ssd, x.ssd). A "
     "Co-Simulation FMU runs with its own solver, a Model Exchange FMU with one of Tutti's. Ctrl-C ends the run at the "
     "next communication point and keeps the result; a second Ctrl-C ends it at once.",
     1, SIZE_MAX, run_options, command_run, .takes = TUTTI_IN_RUN,
     .examples = PAIRS({"tutti run ball.fmu --stop 2 --output-step 0.01 -o ball.csv", "simulate; a row every 0.01 s"},
                       {"tutti run room.fmu --set T_set=295 --input weather.csv", "with a parameter, and inputs from a file"},
                       {"tutti run a=mass.fmu b=mass.fmu --connect a.x=b.x_left --connect b.F=a.F_right --set a.v=1",
                        "one FMU twice, coupled"},
                       {"tutti run car.ssp --rtol 1e-6 --step-log steps.csv", "a system, with steps that Tutti chooses"},
                       {"tutti run car.ssp --threads 2 --quiet --stats stats.json", "on two threads, for a script"}),
     .files = MODEL_FILES,
     .paths = PAIRS({"result.csv", "the result, unless --output says otherwise"})},
    {"sweep", "FILE...", "simulate many times, with other values each time",
     "Runs an FMU or a system, as 'tutti run' does, once for each combination of the values that --vary says (or --sample, or the rows of --csv), and "
     "writes a table: values, what --measure asks for, and how it went. FMUs are loaded once per worker process, and reset between runs. The "
     "table is the same to the byte whatever the number of workers. A run that fails, or crashes its worker, is told in its row, and costs "
     "no other. Whatever ends a sweep, the same command goes on with the runs that are missing: until the table is whole, runs that are "
     "over are in TABLE.csv.journal.",
     1, SIZE_MAX, sweep_options, command_sweep, .takes = TUTTI_IN_SWEEP,
     .examples = PAIRS({"tutti sweep ball.fmu --vary e=0.5:0.9:5 --vary h=1,2 --measure 'max(v)' -o bounce.csv", "ten runs"},
                       {"tutti sweep ball.fmu --vary e=0.5:0.9 --vary h=1:2 --sample sobol --runs 100", "a hundred points in two ranges"},
                       {"tutti sweep room.fmu --vary T_set=290:300:11 --trajectories all.h5", "with all trajectories in one file"}),
     .files = MODEL_FILES, .failure = "a run has failed (its row tells why), or the sweep",
     .paths = PAIRS({"sweep.csv", "the table, unless --output says otherwise"},
                    {"TABLE.csv.journal", "runs that are over, until the table is whole"})},
    {"estimate", "FILE...", "find parameters from measurements",
     "Looks for the values of parameters and start values with which a run comes closest to what was measured: the sum of squares of the "
     "differences, each times its weight, at the times of the data. Tells the values, their standard errors and intervals of confidence, their "
     "covariance, and what the data cannot determine. Runs go from the start to the last time of the data, with a relative tolerance of 1e-7, "
     "unless options say otherwise.",
     1, SIZE_MAX, estimate_options, command_estimate, .takes = TUTTI_IN_ESTIMATE,
     .examples = PAIRS({"tutti estimate ball.fmu --fit e=0.6:0:1 --data measured.csv -o best.ssv", "one parameter, in bounds"},
                       {"tutti estimate ball.fmu --fit e=0.6 --fit h=1 --data measured.csv --method nelder-mead --picture fit.svg", "without derivatives, and a picture"}),
     .files = MODEL_FILES},
    {"plot", "RESULT [RESULT2]", "draw a result, or two",
     "Draws the variables of a result over time: a panel per unit and physical unit, or what -v says. Of a second result the "
     "same variables are drawn over it, dashed. Events are jumps. A gigabyte is no trouble: what is drawn are the least and "
     "the greatest value per pixel. With --steps alone no result is needed. Without -o the terminal shows the picture; files are "
     "drawn by gnuplot (Debian package gnuplot-nox).",
     0, 2, plot_options, command_plot,
     .examples = PAIRS({"tutti plot ball.csv", "a look at it, in the terminal"},
                       {"tutti plot ball.csv -o ball.svg -v h -v v", "a picture with two panels"},
                       {"tutti plot coarse.csv fine.mat --difference -o both.pdf", "two results, and where they differ"},
                       {"tutti plot ball.csv --xy h,v -o phase.svg", "speed over height"},
                       {"tutti plot car.csv --steps steps.csv -v 'wheel.*'", "a result and the steps that it took"}),
     .files = RESULT_FILES},
    {"compare", "RESULT REFERENCE", "say whether two results agree",
     "Compares every variable that both results have, over the reference's time, and prints the worst: how far off, when, and "
     "how much of what is allowed that is. Results may be of any format and any tool, with rows at other times: between rows "
     "values are interpolated, and an event may come early or late by --ttol. A file - is CSV on standard input.",
     2, 2, compare_options, command_compare,
     .examples = PAIRS({"tutti compare ball.csv reference.csv", "the worst variables, and whether all is well"},
                       {"tutti compare ball.csv reference.csv --rtol 1e-2 --quiet", "for a script: the exit status tells"}),
     .files = RESULT_FILES, .failure = "the results differ, or cannot be read"},
    {"analyze", "FILE...", "order of evaluation, loops, stability and the choices of auto",
     "Loads a system as run does, initialises it (code of its FMUs runs), and tells what follows from its structure: the order in which inputs "
     "and outputs are computed at the start, and how many evaluations of units that takes; algebraic loops; start "
     "values that are pointless because a connection overwrites them; which couplings and extrapolations are stable for "
     "small steps; and what a run with the same options would choose where they say auto, with its reasons; "
     "with --ranks, which unit would run on which rank.",
     1, SIZE_MAX, analyze_options, command_analyze, .takes = TUTTI_IN_ANALYZE,
     .examples = PAIRS({"tutti analyze car.ssp", "what is to be known before a run"},
                       {"tutti analyze car.ssp --ranks 2", "and where units would run"}),
     .files = MODEL_FILES},
    {"graph", "FILE...", "draw a system and its dependency graph",
     "Draws the units of a system with what connects them, which outputs depend directly on which inputs, and "
     "algebraic loops in colour: as SVG picture (needs Graphviz, Debian package graphviz), as DOT text for Graphviz, or "
     "as JSON with nodes, dependencies, loops and the order of evaluation. FILE... as for run. Only descriptions are "
     "read; no code of an FMU runs.",
     1, SIZE_MAX, graph_options, command_graph, .takes = TUTTI_IN_GRAPH,
     .examples = PAIRS({"tutti graph car.ssp -o car.svg", "a picture"},
                       {"tutti graph car.ssp --phase run -o -", "the graph of the running system, as text"}),
     .files = MODEL_FILES},
    {"linearize", "FILE...", "linear system of FMUs at a point of time",
     "Simulates an FMU or a system up to a time, the start if no --at is given, and linearises it there: writes the "
     "matrices A, B, C, D of x' = A x + B u, y = C x + D u with names, the values at that point and the eigenvalues of "
     "A, and says whether it is stable. FILE... as for run. FMUs are taken by Model Exchange if they have it; of one that has Co-Simulation "
     "only, D is found.",
     1, SIZE_MAX, linearize_options, command_linearize, .takes = TUTTI_IN_LINEARIZE,
     .examples = PAIRS({"tutti linearize room.fmu --at 100 -o room.mat",
                        "about the state at t = 100, for Matlab, Octave or SciPy"},
                       {"tutti linearize room.fmu -o -", "about the start, as text"},
                       {"tutti linearize car.ssp --interface me -o car.mat",
                        "a system: its units and connections as one"}),
     .files = MODEL_FILES},
    {"new", "OUT.ssp FILE...", "write a system as SSP",
     "Writes what 'tutti run FILE...' with the same options would simulate: FMUs, connections, values, start and stop, and "
     "Tutti's own settings. FMUs become a new system with all of them inside; OUT.ssd is written beside FMUs, which stay "
     "where they are. An SSP (x.ssp, x.ssp#Variant.ssd, x.ssd) is copied with the changes that the options say; all else "
     "in it stays.",
     1, SIZE_MAX, new_options, command_new, .takes = TUTTI_IN_NEW,
     .examples = PAIRS({"tutti new pair.ssp a=mass.fmu b=mass.fmu --connect a.x=b.x_left --connect b.F=a.F_right",
                        "two FMUs become a system"},
                       {"tutti new faster.ssp car.ssp --step 1e-4", "a copy with another step"},
                       {"tutti new --fom car.xml car=mass.fmu --publish car.x=Car.x", "the object model of a run that joins a federation"}),
     .files = MODEL_FILES},
    {"pack", "FILE... -o OUT.fmu", "write a system as one FMU",
     "The system, its master and the options that are given become an FMU for Co-Simulation, with Tutti inside: it runs in every importer on "
     "this kind of machine, also in Tutti, where it gives the results of the system itself. Its variables are the inputs and outputs of the "
     "system (of an SSP without any: all outputs of units, and the inputs that nothing drives) and what --expose names. FILE... as for run.",
     1, SIZE_MAX, pack_options, command_pack, .takes = TUTTI_IN_NEW,
     .examples = PAIRS({"tutti pack car.ssp -o car.fmu", "a system"},
                       {"tutti pack a=mass.fmu b=mass.fmu --connect a.x=b.x_left --connect b.F=a.F_right --expose '*.k' --fmi 3 -o pair.fmu",
                        "two FMUs with their parameters k, by FMI 3.0"}),
     .files = MODEL_FILES},
    {"wrap", "FMU -o OUT.fmu", "write a Model Exchange FMU as one for Co-Simulation",
     "The FMU, of FMI 1.0, 2.0 or 3.0, becomes one for Co-Simulation with a solver of Tutti inside. Its variables keep their names.",
     1, 1, pack_options, command_wrap, .takes = TUTTI_IN_NEW,
     .examples = PAIRS({"tutti wrap ball.fmu --solver bdf -o ball_cs.fmu", "integrated by bdf"}), .files = "fmu"},
    {"compile", "FMU", "make a binary for this platform from an FMU's sources",
     "Compiles the sources of an FMU, as its modelDescription.xml (FMI 2.0) or sources/buildDescription.xml (FMI 3.0) says, and writes the "
     "FMU with the new binary. The headers of FMI need not be among the sources. The compiler works in a temporary folder, is confined "
     "to it and the system's own files, and has no network. No code of the FMU runs.",
     1, 1, compile_options, command_compile,
     .examples = PAIRS({"tutti compile pump.fmu", "the FMU gets a binary"},
                       {"tutti compile pump.fmu -o pump_here.fmu", "another FMU, with the binary"},
                       {"tutti compile pump.fmu -o checked.fmu --sanitize", "one whose faults are told when it runs"}),
     .files = "fmu", .failure = "the sources do not compile, or there are none",
     .paths = PAIRS({"~/.cache/tutti/compiled", "FMUs that 'tutti run --compile' has compiled, by their content"})},
    {"node", "--listen HOST:PORT", "let runs use this machine",
     "Waits for runs (tutti run --nodes HOST:PORT,...) that have some of their units here. Each rank of a run is a process of "
     "its own; FMUs are sent once and kept by their content. All who may use a node can run any code on it, as the user that "
     "it runs as: without a key it therefore works for that user alone, on loopback. Everything is encrypted. SIGTERM or Ctrl-C ends it; after "
     "SIGUSR1 it takes no new runs, and ends with the last.",
     0, 0, node_options, command_node,
     .examples = PAIRS({"tutti node --keygen desk.key", "a pair of keys, once"},
                       {"tutti node --listen 127.0.0.1:0", "for runs from this machine"},
                       {"tutti node --listen 0.0.0.0:7077 --key desk.key --allow desk.key.pub",
                        "for those who have the key"}),
     .paths = PAIRS({"~/.cache/tutti", "files that runs brought, by their content; --cache names another folder"})},
    {"rti", "[status HOST:PORT]", "let programs join a federation (HLA)",
     "A run-time infrastructure (RTI) for federates of IEEE 1516-2025: programs join federations, publish and subscribe, send updates and "
     "interactions with times, and are granted time so that no message comes in their past. It speaks the HLA 4 Federate Protocol over TCP, TLS and WebSockets, "
     "for which there are libraries that programs of IEEE 1516-2010 and -2025 use as they are. Federates bring their FOM modules. A federate "
     "whose connection is cut may come back and misses nothing. SIGTERM or Ctrl-C ends it. With 'status' "
     "it asks an RTI that runs, and prints its federations: federates, times, lookaheads, GALT, messages that wait, and which federate holds which.",
     0, 2, rti_options, command_rti,
     .examples = PAIRS({"tutti rti --listen 127.0.0.1:0", "for programs on this machine, at any port that is free"},
                       {"tutti rti --listen 127.0.0.1:0 --fom road.xml --verbose", "with a FOM module; tells every grant"})},
    {"watch", "HOST:PORT", "look at a run while it goes on",
     "Joins a run that was started with --live HOST:PORT, and shows how far it is and its last values; keys let it pause, make single "
     "steps, go on and end. Others may watch at the same time. One that leaves, or is slow, does not hold it up.",
     1, 1, watch_options, command_watch,
     .examples = PAIRS({"tutti watch 127.0.0.1:7500", "the run of 'tutti run --live 127.0.0.1:7500'"},
                       {"tutti watch 127.0.0.1:7500 --json -v 'car.*'", "for a program: a line of JSON per event"})},
    {"web", "[DIR|FILE.ssp]", "build, run and watch systems in the browser",
     "Serves a page for the systems, FMUs and results of a folder (this one, if none is named), and opens the browser: systems are drawn and changed, "
     "checked as they change, saved as SSP, run, and watched while they run. Each run is a process of its own, which goes on when the "
     "page or the server is closed; what it computes is in DIR/.tutti/runs. All who know the address with its token can use it, and running an FMU runs its "
     "code. SIGTERM or Ctrl-C ends it.",
     0, 1, web_options, command_web,
     .examples = PAIRS({"tutti web", "the files of this folder"},
                       {"tutti web car.ssp", "a system, and the folder that it is in"},
                       {"tutti web --attach 127.0.0.1:7500", "the run of 'tutti run --live 127.0.0.1:7500'"}),
     .files = "ssp ssd",
     .paths = PAIRS({"DIR/.tutti/runs", "a folder for each run: what was asked for, command line, result, statistics, messages"})},
    {"completion", "SHELL", "let a shell complete commands, options and files",
     "Prints a script that teaches bash, zsh or fish to complete what is typed after tutti: commands, options, the words "
     "that options take, and files with the right endings. An installed Tutti has put these scripts where the shells look "
     "for them.",
     1, 1, completion_options, command_completion,
     .examples = PAIRS({"tutti completion bash > ~/.bash_tutti", "for bash; '. ~/.bash_tutti' in ~/.bashrc loads it"},
                       {"tutti completion zsh > ~/.zsh/_tutti", "for zsh; ~/.zsh has to be in fpath before compinit"},
                       {"tutti completion fish > ~/.config/fish/completions/tutti.fish", "for fish"}),
     .words = WORDS({"bash", NULL}, {"zsh", NULL}, {"fish", NULL})},
    {"help", "[COMMAND]", "show this help, or that of a command", NULL, 0, 1, help_options, command_help,
     .examples = PAIRS({"tutti help run", "the options of a command"},
                       {"tutti help --man run", "its manual page"})},
    {NULL},
};

/* clang-format on */
