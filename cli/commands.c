/* SPDX-License-Identifier: MIT */
/* The table of commands, for --help, man pages, completion and the parser. */
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
    {"--json", NULL, NULL, "print JSON instead of a summary"},
    {"--variables", NULL, NULL, "list all variables"},
    {NULL},
};

static const struct option check_options[] = {
    {"--run", NULL, NULL, "also run each FMU: initialise, step, roll back, repeat, compare, get derivatives",
     .brief = "also run each FMU on trial"},
    {"--strict", NULL, NULL, "violations of FMI are errors, even if 'tutti run' tolerates them",
     .brief = "report all violations of FMI as errors"},
    {"--json", NULL, NULL, "print findings as JSON, each with the components of the system that it affects",
     .brief = "print findings as JSON"},
    {"--quiet", NULL, NULL, "print findings only, no summary line"},
    {NULL},
};

#define OPTIONS_OF(group_) {"", .group = TUTTI_GROUP_##group_}
#define COSTS_OPTION \
    {"--costs", NULL, "STATS.json", \
     "place components by the times that they took in an earlier run, from its --stats (estimated)", \
     .brief = "place by times of an earlier run [estimated]", .files = "json"}
#define LOG_OPTION \
    {"--log", NULL, "HOW", "format of messages", .brief = "message format: json or [text]", \
     .words = WORDS({"text", "plain text"}, {"json", "an object per line, with time, level, run, component or peer, message"}), \
     .otherwise = "text"}
#define MESSAGE_OPTIONS \
    {"--log-level", NULL, "LEVEL", "minimum severity of messages", \
     .brief = "minimum severity: error, info, debug or [warning]", \
     .words = WORDS({"error", NULL}, {"warning", NULL}, {"info", NULL}, {"debug", NULL}), .otherwise = "warning"}, \
    {"--quiet", NULL, NULL, "no progress line, no summary, and only warnings that concern the result", \
     .brief = "no progress line and summary, fewer warnings"}, \
    {"--verbose", NULL, NULL, "same as --log-level debug; also enables the FMU's debug messages", \
     .brief = "all messages, including those of the FMU"}

#define PROGRESS_OPTION \
    {"--progress", NULL, "HOW", "progress display", .brief = "progress display: lines, none or [auto]", \
     .words = WORDS({"auto", "a moving line on a terminal; otherwise lines, if the run takes a minute or longer"}, \
                    {"lines", "a line for every tenth of the run"}, {"none", NULL}), \
     .otherwise = "auto"}

/* The options that define how models are computed and coupled. */
#define MODEL_OPTIONS \
    HEADING("Model"), OPTIONS_OF(MODEL), HEADING("Times"), OPTIONS_OF(TIMES), HEADING("Accuracy and solvers"), OPTIONS_OF(ACCURACY)
#define SYSTEM_OPTIONS MODEL_OPTIONS, HEADING("Coupling"), OPTIONS_OF(COUPLING)

static const struct option run_options[] = {
    MODEL_OPTIONS,
    {"--compare-solvers", NULL, NULL,
     "no result: run with each solver that chooses its steps, and print steps, right-hand sides, Jacobians, seconds and errors",
     .brief = "compare the solvers with variable steps"},
    HEADING("Coupling"),
    OPTIONS_OF(COUPLING),
    HEADING("Where components run"),
    OPTIONS_OF(WHERE),
    COSTS_OPTION,
    HEADING("Checkpoints"),
    OPTIONS_OF(GOING_ON),
    HEADING("Federate (HLA)"),
    OPTIONS_OF(FEDERATION),
    HEADING("Results"),
    OPTIONS_OF(RESULTS),
    {"--stats", NULL, "FILE.json", "write statistics of the run as JSON; - for standard output",
     .brief = "write statistics as JSON", .files = "json"},
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
    {"--output", "-o", "TABLE.csv", "the table: a row per run, in their order; - for standard output (sweep.csv)",
     .brief = "the table, a row per run [sweep.csv]", .files = "csv"},
    OPTIONS_OF(RESULTS),
    SYSTEM_OPTIONS,
    HEADING("Messages"),
    PROGRESS_OPTION,
    LOG_OPTION,
    MESSAGE_OPTIONS,
    {NULL},
};

static const struct option estimate_options[] = {
    HEADING("Parameters and data"),
    OPTIONS_OF(STUDY),
    {"--output", "-o", "BEST.ssv", "write the estimated values as SSV (none)",
     .brief = "write the estimated values as SSV", .files = "ssv"},
    {"--picture", NULL, "FILE", "picture of the data and the best run: OUT.svg, OUT.png or OUT.pdf (needs gnuplot)",
     .brief = "picture of data and best run: svg, png or pdf", .files = "svg png pdf"},
    {"--json", NULL, NULL, "print everything as JSON"},
    SYSTEM_OPTIONS,
    HEADING("Messages"),
    LOG_OPTION,
    MESSAGE_OPTIONS,
    {NULL},
};

static const struct option graph_options[] = {
    {"--output", "-o", "FILE", "OUT.svg, OUT.dot or OUT.json; - for DOT on standard output (required)",
     .brief = "OUT.svg, OUT.dot, OUT.json or - (required)",
     .files = "svg dot json"},
    {"--phase", NULL, "PHASE", "phase whose dependencies are drawn", .brief = "dependencies: run or [initial]",
     .words = WORDS({"initial", "dependencies while start values are computed"}, {"run", "dependencies of a running model"}),
     .otherwise = "initial"},
    OPTIONS_OF(MODEL),
    {NULL},
};

static const struct option new_options[] = {
    SYSTEM_OPTIONS,
    HEADING("Where components run"),
    OPTIONS_OF(WHERE),
    HEADING("Federate (HLA)"),
    {"--fom", NULL, "FILE.xml", "write the object model that a run with these options needs, instead of a system; all FILEs are read",
     .brief = "write the object model instead of a system",
     .files = "xml"},
    OPTIONS_OF(FEDERATION),
    HEADING("Messages"),
    {"--quiet", NULL, NULL, "errors only, no warnings"},
    {NULL},
};

static const struct option linearize_options[] = {
    HEADING("Result"),
    {"--output", "-o", "FILE", "OUT.json or OUT.mat; - for JSON on standard output (required)",
     .brief = "OUT.json, OUT.mat or - (required)", .files = "json mat"},
    SYSTEM_OPTIONS,
    HEADING("Messages"),
    MESSAGE_OPTIONS,
    {NULL},
};

static const struct option analyze_options[] = {
    HEADING("Output"),
    {"--json", NULL, NULL, "print JSON instead of a summary"},
    {"--ranks", NULL, "N", "show how the components would be placed on N threads, processes or nodes, and how many values would cross",
     .brief = "show the placement on N ranks"},
    OPTIONS_OF(WHERE),
    COSTS_OPTION,
    SYSTEM_OPTIONS,
    HEADING("Messages"),
    MESSAGE_OPTIONS,
    {NULL},
};

static const struct option node_options[] = {
    {"--listen", NULL, "HOST:PORT", "address at which runs connect; port 0 picks a free port and prints it",
     .brief = "address for runs; port 0 picks a free port"},
    {"--ports", NULL, "A-B",
     "ports for the ranks of runs, one each, and for the node if its port is 0; only these need to pass a firewall (any free port)",
     .brief = "ports for ranks, to pass a firewall [any]"},
    {"--key", NULL, "FILE", "this machine's secret key; required unless HOST is a loopback address (the user's own)",
     .brief = "secret key of this machine [the user's own]", .files = "*"},
    {"--allow", NULL, "FILE.pub", "public key of a user who may use the node, or a folder with several; repeatable",
     .brief = "public key of a user, or folder; repeatable", .files = "pub"},
    {"--offer", NULL, "FILE.fmu",
     "an FMU that runs may use on this node only: the file is not sent, only its description is shown; repeatable",
     .brief = "FMU that stays on this node; repeatable",
     .files = "fmu"},
    {"--cache", NULL, "DIR", "folder for the files of runs (~/.cache/tutti)",
     .brief = "folder for files of runs [~/.cache/tutti]", .files = "/"},
    {"--cache-size", NULL, "SIZE",
     "size limit of the folder, with K, M, G or T; the least recently used files are removed first (10G)",
     .brief = "size limit of the folder [10G]"},
    {"--idle", NULL, "S", "disconnect runs that have not started and are silent for S seconds (300)",
     .brief = "disconnect silent runs after S seconds [300]"},
    {"--max-runs", NULL, "N", "limit of simultaneous runs; further ones are rejected (256)",
     .brief = "limit of simultaneous runs [256]"},
    {"--max-ranks", NULL, "N", "limit of ranks of all runs together (no limit)",
     .brief = "limit of ranks of all runs [no limit]"},
    {"--max-seconds", NULL, "S", "time limit of a run in seconds; it is ended then (no limit)",
     .brief = "time limit of a run in seconds [no limit]"},
    {"--max-memory", NULL, "SIZE", "memory limit of the processes of a run, with K, M, G or T; it is ended then (no limit)",
     .brief = "memory limit of a run [no limit]"},
    {"--quota", NULL, "FILE",
     "limits of each user: a line 'USER runs=N ranks=N seconds=S memory=SIZE', where USER is a FILE.pub or key of --allow, or * for all "
     "others (those of the node)", .brief = "file with limits of each user", .files = "*"},
    {"--allow-fmu", NULL, "FILE",
     "run only FMUs whose SHA-256 is in this list (as printed by sha256sum), and those of --offer; repeatable (any FMU)",
     .brief = "list of allowed FMUs by SHA-256 [any FMU]", .files = "*"},
    {"--confine", NULL, "HOW",
     "restrictions of the FMUs that runs bring",
     .brief = "restrict FMUs: auto, none or [strict]", .words = WORDS({"strict", "only its own files, no network, no other programs and processes"},
     {"auto", "strict, as far as the kernel supports it"}, {"none", "no restrictions"})},
    {"--permit", NULL, "LIST",
     "permissions that runs may give to their FMUs by --allow: net, fork, exec, read:PATH, write:PATH, separated by commas; repeatable (nothing)",
     .brief = "permissions that runs may give to FMUs [none]"},
    {"--limits", NULL, "LIST",
     "limits of a worker: memory=4G, cpu=3600 (seconds), file=1G, scratch=4G, processes=64, separated by commas, or 'none' for no limit "
     "(the machine's memory, unlimited time, 1G, 4G, 256)", .brief = "resource limits of a worker"},
    {"--env", NULL, "NAME",
     "environment variable, with * and ?, that FMUs may read besides PATH, HOME, LANG and similar; repeatable",
     .brief = "environment variable for FMUs; repeatable"},
    {"--metrics", NULL, "[HOST:]PORT",
     "serve /metrics (Prometheus) and /health by HTTP, without authentication; HOST defaults to 127.0.0.1 (off)",
     .brief = "serve /metrics and /health by HTTP [off]"},
    {"--keygen", NULL, "FILE", "make a pair of keys: the secret key FILE, and the public key FILE.pub, which is also printed",
     .brief = "make a pair of keys: FILE and FILE.pub",
     .files = "*"},
    {"--start", NULL, "HOSTS",
     "start nodes by ssh on the machines in this file, with a line 'HOST address=NAME ranks=N tutti=PATH' each; print the list for 'tutti run "
     "--nodes', for --key; they end with this program",
     .brief = "start nodes on other machines by ssh", .files = "*"},
    LOG_OPTION,
    {"--quiet", NULL, NULL, "no line per run, only errors and warnings", .brief = "errors and warnings only"},
    {"--worker", NULL, NULL, NULL}, /* how a node starts its own program for a rank */
    {NULL},
};

static const struct option rti_options[] = {
    {"--listen", NULL, "HOST:PORT", "address at which federates connect; port 0 picks a free port and prints it (127.0.0.1:15164)",
     .brief = "address for federates [127.0.0.1:15164]"},
    {"--fom", NULL, "FILE.xml",
     "a FOM module that federates may name instead of sending it; repeatable",
     .brief = "FOM module that federates may name; repeatable", .files = "xml"},
    {"--tls-cert", NULL, "FILE.pem", "certificate for TLS; required unless HOST is a loopback address",
     .brief = "certificate for TLS", .files = "pem crt"},
    {"--tls-key", NULL, "FILE.pem", "private key of the certificate", .files = "pem key"},
    {"--allow", NULL, "FILE.pem", "certificates: accept only federates with one of these, or with one issued by one of these",
     .brief = "accept only federates with these certificates",
     .files = "pem crt"},
    {"--key", NULL, "FILE", "a file with one line that federates must send as the password of their credentials, or as the setting tutti.key",
     .brief = "file with the key that federates must send",
     .files = "*"},
    {"--queue", NULL, "N", "limit of pending messages for a federate that does not receive them; it is disconnected then (100000)",
     .brief = "limit of pending messages [100000]"},
    {"--record", NULL, "FILE", "write all updates and interactions to a file, a row for each value: .csv, .jsonl or .h5",
     .brief = "record messages: .csv, .jsonl or .h5", .files = "csv jsonl h5"},
    {"--json", NULL, NULL, "with status: print everything as JSON", .brief = "status as JSON"},
    {"--silence", NULL, "S", "close a connection that is silent for S seconds (180)",
     .brief = "close silent connections after S seconds [180]"},
    {"--grace", NULL, "S", "time in seconds for a disconnected federate to reconnect, before it is removed (10)",
     .brief = "time to reconnect in seconds [10]"},
    {"--stall", NULL, "S", "report which federate waits for which if no time was granted for S seconds; 0: never (30)",
     .brief = "report a stalled federation after S seconds [30]"},
    LOG_OPTION,
    {"--quiet", NULL, NULL, "no line when a federation is created or a federate joins, only errors and warnings",
     .brief = "errors and warnings only"},
    {"--verbose", NULL, NULL, "also a line for every time grant", .brief = "also a line for every time grant"},
    {NULL},
};

static const struct option pack_options[] = {
    {"--output", "-o", "OUT.fmu", "the FMU to write", .files = "fmu"},
    {"--fmi", NULL, "VERSION", "version of FMI: 2 or 3 (2)", .brief = "version of FMI: 3 or [2]"},
    {"--expose", NULL, "PATTERN",
     "additional variables of the FMU, NAME.VAR with * and ?: outputs, locals, parameters and unconnected inputs of components; "
     "repeatable", .brief = "additional variables of the FMU; repeatable"},
    SYSTEM_OPTIONS,
    HEADING("Messages"),
    {"--quiet", NULL, NULL, "errors only, no warnings"},
    {NULL},
};

static const struct option watch_options[] = {
    {"--variable", "-v", "PATTERN", "variables to show: NAME.VAR with * and ?; repeatable (all recorded ones)",
     .brief = "variables to show; repeatable [all recorded]"},
    {"--token", NULL, "TOKEN", "token that the run printed; not needed for runs of the same user on this machine",
     .brief = "token that the run printed"},
    {"--json", NULL, NULL, "print every event as a line of JSON"},
    {NULL},
};

static const struct option web_options[] = {
    {"--listen", NULL, "HOST:PORT", "address at which browsers connect; port 0 picks a free port and prints it (127.0.0.1:0)",
     .brief = "address for browsers [127.0.0.1:0]"},
    {"--attach", NULL, "HOST:PORT", "show only a run that was started with --live HOST:PORT",
     .brief = "show a run that was started with --live"},
    {"--token", NULL, "TOKEN", "with --attach: token that the run printed; not needed for runs of the same user on this machine",
     .brief = "--attach: token that the run printed"},
    {"--no-browser", NULL, NULL, "print the address, do not open a browser"},
    {"--read-only", NULL, NULL, "do not save, start, control or remove anything"},
    {"--tls-cert", NULL, "FILE.pem", "certificate for TLS; required unless HOST is a loopback address",
     .brief = "certificate for TLS", .files = "pem crt"},
    {"--tls-key", NULL, "FILE.pem", "private key of the certificate", .files = "pem key"},
    {NULL},
};

static const struct option plot_options[] = {
    {"--output", "-o", "FILE", "the picture to write: OUT.svg, OUT.png or OUT.pdf (drawn in the terminal)",
     .brief = "OUT.svg, OUT.png or OUT.pdf [terminal]",
     .files = "svg png pdf"},
    {"--terminal", NULL, NULL, "draw with characters on standard output, in the size of the terminal (default without -o)",
     .brief = "draw with characters (default without -o)"},
    {"--variable", "-v", "PATTERN,...",
     "variables to show, with * and ?; one panel per -v (one panel per component and unit of measure)",
     .brief = "variables to show; each -v makes a panel"},
    {"--xy", NULL, "X,Y", "a phase plot: variable Y over variable X; repeatable",
     .brief = "phase plot of Y over X; repeatable"},
    {"--steps", NULL, "FILE.csv", "panels of step size and error, from the file of 'tutti run --step-log'",
     .brief = "panels of step size and error, from --step-log", .files = "csv"},
    {"--difference", NULL, NULL, "with two results: below each panel, RESULT minus RESULT2",
     .brief = "add panels of RESULT minus RESULT2"},
    {"--start", NULL, "T", "first time to show (start of the result)",
     .brief = "first time to show [start of the result]"},
    {"--stop", NULL, "T", "last time to show (end of the result)", .brief = "last time to show [end of the result]"},
    {"--y-log", NULL, NULL, "logarithmic y axes; values that are not positive are left out",
     .brief = "logarithmic y axes"},
    {"--title", NULL, "TEXT", "title of the picture (none)", .brief = "title of the picture"},
    {"--size", NULL, "WxH", "size of the picture in pixels, or of --terminal in characters (automatic)",
     .brief = "size in pixels or characters [automatic]"},
    {NULL},
};

static const struct option compare_options[] = {
    {"--rtol", NULL, "R", "tolerance relative to the range of the reference (1e-3)",
     .brief = "tolerance relative to the reference's range [1e-3]"},
    {"--atol", NULL, "A",
     "additional absolute tolerance (for each variable 1e-4 --rtol times its largest value in the reference)",
     .brief = "additional absolute tolerance"},
    {"--ttol", NULL, "T", "tolerance of event times (1e-6 of the compared time range)",
     .brief = "tolerance of event times [1e-6 of the range]"},
    {"--start", NULL, "T", "first time to compare (start of the reference)",
     .brief = "first time to compare [start of the reference]"},
    {"--stop", NULL, "T", "last time to compare (end of the reference)",
     .brief = "last time to compare [end of the reference]"},
    {"--variable", "-v", "PATTERN", "variables to compare, with * and ?; repeatable (all common variables)",
     .brief = "variables to compare; repeatable [all common]"},
    {"--strict", NULL, NULL, "variables in only one file and different units of measure are disagreements",
     .brief = "require the same variables and units"},
    {"--all", NULL, NULL, "show all variables, not only the 10 worst"},
    {"--json", NULL, NULL, "print everything as JSON"},
    {"--quiet", NULL, NULL, "print nothing; only the exit status counts",
     .brief = "print nothing, set the exit status"},
    {NULL},
};

static const struct option compile_options[] = {
    {"--output", "-o", "OUT.fmu", "the FMU to write (FMU itself, to which the binary is added)",
     .brief = "the FMU to write [FMU itself]", .files = "fmu"},
    {"--compiler", NULL, "PROGRAM", "name or path of the compiler: GCC, Clang or a compatible one (cc)",
     .brief = "compiler [cc]", .files = "*"},
    {"--platform", NULL, "NAME", "target platform, as in binaries/NAME: aarch64-linux, ... (this platform)",
     .brief = "target platform [this platform]"},
    {"--sanitize", NULL, NULL, "compile with AddressSanitizer and UBSan, to find bugs of a model",
     .brief = "compile with AddressSanitizer and UBSan"},
    {"--timeout", NULL, "S", "time limit in seconds (600)", .brief = "time limit in seconds [600]"},
    {"--quiet", NULL, NULL, "errors only"},
    {NULL},
};

static const struct option completion_options[] = {
    {NULL},
};

static const struct option help_options[] = {
    {"--man", NULL, NULL, "print the manual page (roff) instead", .brief = "print the manual page (roff)"},
    {NULL},
};


const struct command commands[] = {
    {"info", "FILE", "describe an FMU or SSP",
     "For an FMU: version, interfaces, variables, capabilities, default experiment, and how Tutti compensates for missing "
     "capabilities. For a system (x.ssp, x.ssp#Variant.ssd, x.ssd): its variants, components, connectors, connections, "
     "values and settings. Unpacked folders are accepted. Only descriptions are read; no code of an FMU runs.",
     1, 1, info_options, command_info,
     .examples = PAIRS({"tutti info ball.fmu", "description of an FMU"},
                       {"tutti info --variables ball.fmu", "with all its variables"},
                       {"tutti info --json car.ssp", "a system as JSON"}),
     .files = MODEL_FILES},
    {"check", "FILE", "validate an FMU or SSP",
     "Checks archive, XML, references, types, units of measure, dependencies, start values, and the binary for this "
     "platform. The binary is read, but code of the FMU runs only with --run. For a system: all variants (x.ssp#Variant.ssd: "
     "this one), connections, parameters, and every FMU in it. One line per finding, with file and line: 'error:' if it "
     "stops a run, otherwise 'warning:'.",
     1, 1, check_options, command_check,
     .examples = PAIRS({"tutti check ball.fmu", "one FMU"},
                       {"tutti check --run ball.fmu", "also run it"},
                       {"tutti check car.ssp", "a system with all its FMUs"}),
     .files = MODEL_FILES, .failure = "the file has an error"},
    {"run", "FILE...", "simulate an FMU or a system of FMUs",
     "Simulates from start to stop and records the outputs: one FMU (FMI 1.0, 2.0 or 3.0); several FMUs, each named by its "
     "file or as NAME=FILE.fmu, with --connect between them; or a system as SSP (x.ssp, x.ssp#Variant.ssd, x.ssd). A "
     "Co-Simulation FMU uses its own solver, a Model Exchange FMU one of Tutti's. Ctrl-C ends the run at the next "
     "communication point and keeps the result; a second Ctrl-C ends it at once.",
     1, SIZE_MAX, run_options, command_run, .takes = TUTTI_IN_RUN,
     .examples = PAIRS({"tutti run ball.fmu --stop 2 --output-step 0.01 -o ball.csv", "simulate; a row every 0.01 s"},
                       {"tutti run room.fmu --set T_set=295 --input weather.csv", "a parameter, and inputs from a file"},
                       {"tutti run a=mass.fmu b=mass.fmu --connect a.x=b.x_left --connect b.F=a.F_right --set a.v=1",
                        "one FMU twice, coupled"},
                       {"tutti run car.ssp --rtol 1e-6 --step-log steps.csv", "a system, with error control"},
                       {"tutti run car.ssp --threads 2 --quiet --stats stats.json", "two threads, for a script"}),
     .files = MODEL_FILES,
     .paths = PAIRS({"result.csv", "the result, unless --output is given"})},
    {"sweep", "FILE...", "simulate many times, with different values",
     "Runs an FMU or a system, as 'tutti run' does, once for each combination of values from --vary, --sample or the rows of "
     "--csv, and writes a table with values, measures (--measure) and outcome. FMUs are loaded once per worker process, and "
     "reset between runs. The table does not depend on the number of workers. A run that fails, or crashes its worker, is "
     "reported in its row and does not affect the others. An interrupted sweep is continued by the same command: until the "
     "table is complete, finished runs are in TABLE.csv.journal.",
     1, SIZE_MAX, sweep_options, command_sweep, .takes = TUTTI_IN_SWEEP,
     .examples = PAIRS({"tutti sweep ball.fmu --vary e=0.5:0.9:5 --vary h=1,2 --measure 'max(v)' -o bounce.csv", "ten runs"},
                       {"tutti sweep ball.fmu --vary e=0.5:0.9 --vary h=1:2 --sample sobol --runs 100", "100 points in two ranges"},
                       {"tutti sweep room.fmu --vary T_set=290:300:11 --trajectories all.h5", "with all trajectories in one file"}),
     .files = MODEL_FILES, .failure = "a run (its row gives the reason) or the sweep has failed",
     .paths = PAIRS({"sweep.csv", "the table, unless --output is given"},
                    {"TABLE.csv.journal", "finished runs, until the table is complete"})},
    {"estimate", "FILE...", "estimate parameters from measurements",
     "Estimates parameters and start values by least squares: minimises the weighted sum of squares of the differences "
     "between the run and the measured data, at the times of the data. Reports the values, their standard errors and "
     "confidence intervals, their covariance, and which parameters the data do not determine. By default, runs last from the "
     "start to the last time of the data, with a relative tolerance of 1e-7.",
     1, SIZE_MAX, estimate_options, command_estimate, .takes = TUTTI_IN_ESTIMATE,
     .examples = PAIRS({"tutti estimate ball.fmu --fit e=0.6:0:1 --data measured.csv -o best.ssv", "one parameter, in bounds"},
                       {"tutti estimate ball.fmu --fit e=0.6 --fit h=1 --data measured.csv --method nelder-mead --picture fit.svg", "without derivatives, with a picture"}),
     .files = MODEL_FILES},
    {"plot", "RESULT [RESULT2]", "draw one or two results",
     "Draws the variables of a result over time: a panel per component and unit of measure, or a panel per -v. The variables "
     "of a second result are drawn over them, dashed. Events are jumps. Large results are reduced to the minimum and maximum "
     "per pixel. With --steps alone no result is needed. Without -o the picture is drawn in the terminal; files are drawn by "
     "gnuplot (Debian package gnuplot-nox).",
     0, 2, plot_options, command_plot,
     .examples = PAIRS({"tutti plot ball.csv", "in the terminal"},
                       {"tutti plot ball.csv -o ball.svg -v h -v v", "a picture with two panels"},
                       {"tutti plot coarse.csv fine.mat --difference -o both.pdf", "two results and their difference"},
                       {"tutti plot ball.csv --xy h,v -o phase.svg", "speed over height"},
                       {"tutti plot car.csv --steps steps.csv -v 'wheel.*'", "a result and its steps"}),
     .files = RESULT_FILES},
    {"compare", "RESULT REFERENCE", "compare two results",
     "Compares every variable that both results have, over the time range of the reference, and prints the largest "
     "differences: how large, when, and in relation to the tolerance. Results may have any format, come from any tool, and "
     "have rows at different times: values are interpolated between rows, and events may differ in time by --ttol. A file - "
     "is CSV on standard input.",
     2, 2, compare_options, command_compare,
     .examples = PAIRS({"tutti compare ball.csv reference.csv", "the largest differences"},
                       {"tutti compare ball.csv reference.csv --rtol 1e-2 --quiet", "for a script: only the exit status"}),
     .files = RESULT_FILES, .failure = "the results differ, or cannot be read"},
    {"analyze", "FILE...", "report loops, stability and the choices of auto",
     "Loads a system as run does, initialises it (code of its FMUs runs), and reports what follows from its structure: the "
     "order in which inputs and outputs are computed at the start, and the number of evaluations; algebraic loops; start "
     "values that have no effect because a connection overwrites them; which couplings and extrapolations are stable for "
     "small steps; and the choices that a run with the same options would make for auto, with its reasons; with --ranks, the "
     "placement of components on ranks.",
     1, SIZE_MAX, analyze_options, command_analyze, .takes = TUTTI_IN_ANALYZE,
     .examples = PAIRS({"tutti analyze car.ssp", "before a run"},
                       {"tutti analyze car.ssp --ranks 2", "with the placement of components"}),
     .files = MODEL_FILES},
    {"graph", "FILE...", "draw a system and its dependency graph",
     "Draws the components of a system and their connections, the direct dependencies of outputs on inputs, and algebraic "
     "loops in colour: as SVG picture (needs Graphviz, Debian package graphviz), as DOT text for Graphviz, or as JSON with "
     "nodes, dependencies, loops and the order of evaluation. FILE... as for run. Only descriptions are read; no code of an "
     "FMU runs.",
     1, SIZE_MAX, graph_options, command_graph, .takes = TUTTI_IN_GRAPH,
     .examples = PAIRS({"tutti graph car.ssp -o car.svg", "a picture"},
                       {"tutti graph car.ssp --phase run -o -", "the graph of the running system, as text"}),
     .files = MODEL_FILES},
    {"linearize", "FILE...", "linearise FMUs at a point in time",
     "Simulates an FMU or a system up to a time (--at, the start by default), and linearises it there: writes the matrices "
     "A, B, C, D of x' = A x + B u, y = C x + D u with names, the values at that point and the eigenvalues of A, and reports "
     "whether it is stable. FILE... as for run. Model Exchange is used if the FMU has it; for Co-Simulation only D is "
     "computed.",
     1, SIZE_MAX, linearize_options, command_linearize, .takes = TUTTI_IN_LINEARIZE,
     .examples = PAIRS({"tutti linearize room.fmu --at 100 -o room.mat",
                        "about the state at t = 100, for Matlab, Octave or SciPy"},
                       {"tutti linearize room.fmu -o -", "about the start, as text"},
                       {"tutti linearize car.ssp --interface me -o car.mat",
                        "a system with its connections"}),
     .files = MODEL_FILES},
    {"new", "OUT.ssp FILE...", "write a system as SSP",
     "Writes the system that 'tutti run FILE...' with the same options would simulate: FMUs, connections, values, start and "
     "stop, and settings of Tutti. An OUT.ssp contains the FMUs; an OUT.ssd refers to FMUs beside it. An SSP (x.ssp, "
     "x.ssp#Variant.ssd, x.ssd) is copied with the changes from the options; everything else is kept.",
     1, SIZE_MAX, new_options, command_new, .takes = TUTTI_IN_NEW,
     .examples = PAIRS({"tutti new pair.ssp a=mass.fmu b=mass.fmu --connect a.x=b.x_left --connect b.F=a.F_right",
                        "two FMUs become a system"},
                       {"tutti new faster.ssp car.ssp --step 1e-4", "a copy with a different step"},
                       {"tutti new --fom car.xml car=mass.fmu --publish car.x=Car.x", "the object model of a federate"}),
     .files = MODEL_FILES},
    {"pack", "FILE... -o OUT.fmu", "write a system as one FMU",
     "Writes the system, its master and the given options as an FMU for Co-Simulation that contains Tutti: it runs in every "
     "importer on this kind of machine, also in Tutti, with the results of the system itself. Its variables are the inputs "
     "and outputs of the system (of an SSP without any: all outputs and unconnected inputs of components) and those of "
     "--expose. FILE... as for run.",
     1, SIZE_MAX, pack_options, command_pack, .takes = TUTTI_IN_NEW,
     .examples = PAIRS({"tutti pack car.ssp -o car.fmu", "a system"},
                       {"tutti pack a=mass.fmu b=mass.fmu --connect a.x=b.x_left --connect b.F=a.F_right --expose '*.k' --fmi 3 -o pair.fmu",
                        "two FMUs with their parameters k, by FMI 3.0"}),
     .files = MODEL_FILES},
    {"wrap", "FMU -o OUT.fmu", "write a Model Exchange FMU as a Co-Simulation FMU",
     "Writes an FMU of FMI 1.0, 2.0 or 3.0 as an FMU for Co-Simulation that contains a solver of Tutti. Its variables keep "
     "their names.",
     1, 1, pack_options, command_wrap, .takes = TUTTI_IN_NEW,
     .examples = PAIRS({"tutti wrap ball.fmu --solver bdf -o ball_cs.fmu", "integrated by bdf"}), .files = "fmu"},
    {"compile", "FMU", "compile an FMU's sources for this platform",
     "Compiles the sources of an FMU, as specified by its modelDescription.xml (FMI 2.0) or sources/buildDescription.xml "
     "(FMI 3.0), and adds the binary to the FMU. The headers of FMI need not be among the sources. The compiler works in a "
     "temporary folder, is confined to it and the system's files, and has no network. No code of the FMU runs.",
     1, 1, compile_options, command_compile,
     .examples = PAIRS({"tutti compile pump.fmu", "the FMU gets a binary"},
                       {"tutti compile pump.fmu -o pump_here.fmu", "a new FMU with the binary"},
                       {"tutti compile pump.fmu -o checked.fmu --sanitize", "with checks for bugs at run time"}),
     .files = "fmu", .failure = "the sources are missing or do not compile",
     .paths = PAIRS({"~/.cache/tutti/compiled", "FMUs compiled by 'tutti run --compile'"})},
    {"node", "--listen HOST:PORT", "let runs use this machine",
     "Accepts runs (tutti run --nodes HOST:PORT,...) that place components on this machine. Each rank of a run is a separate "
     "process; FMUs are sent once and kept by their content. Every user of a node can run any code on it, as the user who "
     "started it: therefore a node without a key serves only this user, on loopback. All connections are encrypted. SIGTERM "
     "or Ctrl-C ends it; after SIGUSR1 it accepts no new runs, and exits with the last.",
     0, 0, node_options, command_node,
     .examples = PAIRS({"tutti node --keygen desk.key", "a pair of keys, once"},
                       {"tutti node --listen 127.0.0.1:0", "for runs from this machine"},
                       {"tutti node --listen 0.0.0.0:7077 --key desk.key --allow desk.key.pub",
                        "for users with the key"}),
     .paths = PAIRS({"~/.cache/tutti", "files of runs; --cache sets a different folder"})},
    {"rti", "[status HOST:PORT]", "let programs join a federation (HLA)",
     "A run-time infrastructure (RTI) for federates of IEEE 1516-2025: programs join federations, publish and subscribe, "
     "send updates and interactions with times, and are granted time so that no message arrives in their past. It speaks the "
     "HLA 4 Federate Protocol over TCP, TLS and WebSockets, for which libraries exist that programs of IEEE 1516-2010 and "
     "-2025 can use unchanged. Federates bring their FOM modules. A federate whose connection is cut can reconnect without "
     "loss. SIGTERM or Ctrl-C ends it. 'status' queries a running RTI and prints its federations: federates, times, "
     "lookaheads, GALT, pending messages, and which federate holds up which.",
     0, 2, rti_options, command_rti,
     .examples = PAIRS({"tutti rti --listen 127.0.0.1:0", "for programs on this machine, at a free port"},
                       {"tutti rti --listen 127.0.0.1:0 --fom road.xml --verbose", "with a FOM module; reports every grant"})},
    {"watch", "HOST:PORT", "watch a run in the terminal",
     "Connects to a run that was started with --live HOST:PORT, and shows its progress and last values; keys pause it, make "
     "single steps, continue and end it. Several users may watch at the same time. A viewer that leaves, or is slow, does "
     "not delay the run.",
     1, 1, watch_options, command_watch,
     .examples = PAIRS({"tutti watch 127.0.0.1:7500", "the run of 'tutti run --live 127.0.0.1:7500'"},
                       {"tutti watch 127.0.0.1:7500 --json -v 'car.*'", "a line of JSON per event"})},
    {"web", "[DIR|FILE.ssp]", "build, run and watch systems in the browser",
     "Serves a page for the systems, FMUs and results of a folder (the current one by default), and opens the browser: "
     "systems are drawn and changed, checked as they change, saved as SSP, run, and watched while they run. Each run is a "
     "separate process, which continues when the page or the server is closed; its results are in DIR/.tutti/runs. Anyone "
     "with the address and its token can use it, and running an FMU runs its code. SIGTERM or Ctrl-C ends it.",
     0, 1, web_options, command_web,
     .examples = PAIRS({"tutti web", "the files of this folder"},
                       {"tutti web car.ssp", "a system and its folder"},
                       {"tutti web --attach 127.0.0.1:7500", "the run of 'tutti run --live 127.0.0.1:7500'"}),
     .files = "ssp ssd",
     .paths = PAIRS({"DIR/.tutti/runs", "a folder for each run: request, command line, result, statistics, messages"})},
    {"completion", "SHELL", "print a script for shell completion",
     "Prints a script with which bash, zsh or fish complete commands, options, keywords of options, and files with the right "
     "endings. An installed Tutti has put these scripts where the shells find them.",
     1, 1, completion_options, command_completion,
     .examples = PAIRS({"tutti completion bash > ~/.bash_tutti", "for bash; '. ~/.bash_tutti' in ~/.bashrc loads it"},
                       {"tutti completion zsh > ~/.zsh/_tutti", "for zsh; ~/.zsh must be in fpath before compinit"},
                       {"tutti completion fish > ~/.config/fish/completions/tutti.fish", "for fish"}),
     .words = WORDS({"bash", NULL}, {"zsh", NULL}, {"fish", NULL})},
    {"help", "[COMMAND]", "show help for tutti or a command", NULL, 0, 1, help_options, command_help,
     .examples = PAIRS({"tutti help run", "the options of a command"},
                       {"tutti help --man run", "its manual page"})},
    {NULL},
};

/* clang-format on */
