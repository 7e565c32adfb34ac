/* SPDX-License-Identifier: MIT */
/* system.h - the system to be simulated, by names: FMUs, connections, start values, experiment. It is made from one
 * FMU, from the FMUs and connections of a command line, or from an SSP, whose nesting is flattened: only FMUs remain,
 * and each connection leads from an FMU's variable to an FMU's variable, whatever systems, dictionaries and files lie
 * between.
 *
 * Read-only once it is loaded. */
#ifndef TT_MODEL_SYSTEM_SYSTEM_H
#define TT_MODEL_SYSTEM_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/map.h"
#include "fmu/fmu.h"
#include "base/options/options.h"
#include "results/csv_table.h"
#include "model/system/conversion.h"
#include "model/system/joint.h"
#include "model/system/setting.h"

/* A setting of Tutti's own, a word of the command line and its value: from the annotation org.tutti. */
struct tt_run_setting {
    const char *name, *value; /* "step", "0.01" */
    unsigned line;
};

/* One FMU of the system. */
struct tt_component {
    const char *name;            /* "car.front.wheel": the path through the nested systems */
    struct tt_fmu *fmu;          /* shared by all components of one file; owned by the system */
    const char *implementation;  /* "CoSimulation", "ModelExchange", NULL: any */
    struct tt_setting *settings; /* at most one per variable or element: precedence is resolved */
    size_t setting_count;
    const struct tt_run_setting *words; /* its annotation */
    size_t word_count;
    double step_hint; /* from another tool's annotation; 0: none */
    bool
        has_state; /* it begins in a state of a file (sim/job/state_files.h): its first outputs do not depend on its inputs */
    const char *file; /* where it is declared; NULL: the command line */
    unsigned line;
};

/* An end of a connection: a variable of a component; or, where component is TUTTI_NONE, the input or output number
 * `variable` of the system itself. */
struct tt_end {
    uint32_t component, variable;
    struct tt_indices element; /* count 0: all of it */
};

struct tt_connection {
    struct tt_end from, to;
    const struct tt_conversion *conversion; /* NULL: values are copied */
    double factor, offset; /* that --connect gave, or the connection next to the destination; 1 and 0: none */
    bool at_start_only;    /* between parameters: handed over in the initialisation, constant after it */
    bool adds;             /* to the value of the previous connection to this place */
    bool unconverted;      /* the file that declares it suppresses the conversion of units */
    bool of_line;     /* made for a line, to one of its inputs: not at the start; it adds to what the master feeds */
    const char *file; /* of the connection next to the destination; NULL: the command line */
    unsigned line;
};

/* A component that is a table (text/csv): a source of values over time. */
struct tt_system_table {
    const char *name; /* of the component */
    const char *file; /* as messages show it */
    struct tt_csv_table *table;
};

/* A connector of the root system, of kind input or output, that is connected inside; or one of a table. */
struct tt_port {
    const char *name;
    uint32_t table, column; /* table: TUTTI_NONE unless it is a column of one */
    enum tt_type type;
    const struct tt_unit_def *unit; /* NULL: none */
    const char *file;
    unsigned line;
};

/* A connector of a nested system, or an input or a parameter of the root, that is to be recorded: by what an FMU gives to it, or
 * got from it. */
struct tt_probe {
    const char *name;                       /* "inner.speed", with its element if it has its values one by one */
    const struct tt_unit_def *unit;         /* NULL: none */
    struct tt_end from;                     /* never of the system itself */
    const struct tt_conversion *conversion; /* NULL: values are copied */
};

/* A file that was opened for the system, under one of its names. */
struct tt_system_file {
    const char *name;           /* as messages show it */
    const char *path;           /* on the disk: absolute, links resolved; unique per file */
    struct tt_package *package; /* a system: an .ssp, an .ssd, or a folder; NULL: it is none */
    struct tt_fmu *fmu;         /* NULL: it is none */
};

/* A --set, for replacing the value of its variable (tt_start_values_replace). */
struct tt_given_option {
    const char *name; /* with the '='; NULL: it is more than a number for one setting */
    const struct tt_description *desc;
    struct tt_setting *setting;
};

struct tt_system {
    const char *name; /* of the SSD, the FMU, or "system" */
    const char *path; /* as the user wrote it */
    bool single;      /* a single FMU: names of its variables have no component prefix */
    struct tt_component *components;
    uint32_t component_count;
    struct tt_connection *connections; /* sorted by destination (component, variable) */
    uint32_t connection_count;
    struct tt_end *fed;  /* inputs that the master itself feeds; scalars */
    struct tt_end *read; /* outputs that it reads for that */
    uint32_t fed_count, read_count;
    struct tt_tlm_line *lines;
    struct tt_constraint *constraints; /* these have `fed` and `read` among them */
    uint32_t line_count, constraint_count;
    struct tt_port *inputs, *outputs; /* of the system itself; tables are inputs of it, too */
    uint32_t input_count, output_count;
    struct tt_probe *probes; /* connectors that fit the source's patterns */
    uint32_t probe_count;
    const struct tt_run_setting *words; /* of the document, and which file they are from */
    size_t word_count;
    const char *words_file;
    /* SSP: start and stop, and the values of `foreign`. A single FMU: its default experiment */
    struct tt_experiment experiment;
    const char *foreign; /* the tool whose annotation has step settings ("OMSimulator"); NULL: none */
    unsigned foreign_line;
    const char *foreign_file;
    struct tt_map names;  /* component's name -> index */
    struct tt_fmu **fmus; /* each file once */
    uint32_t fmu_count;
    struct tt_system_table *tables; /* owners of the FMUs' files */
    uint32_t table_count;
    struct tt_package **packages; /* whose files the FMUs are */
    uint32_t package_count;
    struct tt_given_option *given; /* per --set of the source */
    size_t given_count;
    /* All names that files were opened by; but not documents that lie in a package. */
    struct tt_system_file *files;
    uint32_t file_count;
    struct tt_arena arena;
};

/* The files and settings that the user named. */
struct tt_system_source {
    const char *const *files; /* "a.fmu", "NAME=a.fmu", "car.ssp", "car.ssp#Variant.ssd", "car.ssd", unpacked folders */
    size_t file_count;
    const char *const *connect; /* "A.y=B.u", "A.y*2+1=B.u"; also with an SSP: added to its connections */
    size_t connect_count;
    const char *const *tlms; /* "A.f,A.v=B.f,B.v; delay=D; impedance=Z": transmission lines; added to an annotation's */
    size_t tlm_count;
    const char *const *constrains; /* "A.x=B.x; A.v=B.v; A.f,B.f": constraints, likewise */
    size_t constrain_count;
    bool convert;           /* connections may round */
    bool compile;           /* FMUs without a library for this platform are compiled from their sources */
    const char *const *set; /* "A.x=1"; above every binding of an SSP */
    size_t set_count;
    const char *const *record; /* which connectors of systems are to be recorded, as for --record */
    size_t record_count;
    const struct tt_file_alias *aliases; /* files that lie elsewhere */
    size_t alias_count;
    const char *within;          /* files without an alias are read only below this folder; NULL: anywhere */
    const struct tutti_log *log; /* NULL: silent */
    /* An earlier system: FMUs and packages of equal files are shared with it. NULL: none. */
    const struct tt_system *earlier;
};

/* The failure of a file that is not to be read, by `within`. */
enum tutti_err tt_model_files_fail_foreign(const char *name);
/* Loads and flattens a system. Only descriptions are read, no code of an FMU runs. Faults of a connection, a binding or
 * a value go to `findings` (may be NULL) with file and line, naming both ends, and loading continues without the faulty
 * part. A caller that intends to run checks findings->errors, which counts all errors; the first 20,000 errors, and
 * warnings, are reported. An error is returned if loading cannot continue: an unreadable file, a cycle of nested
 * systems, LIMIT for excessive size, ARGUMENT for a wrong command line. */
TUTTI_CHECKED enum tutti_err tt_system_load(struct tt_system **out, const struct tt_system_source *source,
                                            struct tt_findings *findings);
/* Applies --set options that differ from those of the source in values only. False, and the system is unchanged, if the
 * names differ, or if only a newly loaded system can apply them or report their faults. */
bool tt_start_values_replace(struct tt_system *system, const char *const *sets, size_t count);
void tt_system_free(struct tt_system *system);

/* Splits "car.wheel.x" into a component (the longest name that fits) and a variable of it. ARGUMENT with the nearest name;
 * `option` is for the message. In a single system the component's name may be left out. */
TUTTI_CHECKED enum tutti_err tt_system_find(const struct tt_system *system, const char *name, const char *option,
                                            uint32_t *component, uint32_t *variable, struct tt_indices *element);
/* The connections that end at a variable, or at elements of it: the first one, and how many there are. */
const struct tt_connection *tt_system_connections_to(const struct tt_system *system, uint32_t component,
                                                     uint32_t variable, uint32_t *count);
/* Returns true if units exchange values with each other, themselves, or the master. Several units always are coupled. */
bool tt_system_is_coupled(const struct tt_system *system);
/* Returns true for one FMU of a command line without any coupling, even to itself: it determines the steps of the run
 * and uses the tolerance of its own experiment. (`single` only concerns names.) */
bool tt_system_is_alone(const struct tt_system *system);
/* Writes "wheel.x", for messages and columns, or "x" in a single system, to `out`, truncated if necessary; returns out.
 * An end of the system itself is taken for an input unless it is the `to` of one of system->connections. */
const char *tt_system_name(const struct tt_system *system, const struct tt_end *end, char *out, size_t size);

#endif
