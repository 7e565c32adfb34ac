/* SPDX-License-Identifier: MIT */
/* options.h - the options of a run, as the library uses them. options.def lists them; programs see <tutti/options.h>. */
#ifndef TT_BASE_OPTIONS_OPTIONS_H
#define TT_BASE_OPTIONS_OPTIONS_H

#include <stdint.h>
#include <tutti/options.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/fail.h"

/* A file that is stored under a different path. */
struct tt_file_alias {
    const char *name; /* as messages show it: "dir/ball.fmu", "car.ssp/resources/wheel.fmu" */
    const char *path; /* path of the file; for a folder, that of the folder itself */
    bool system;      /* it is a system (.ssp, .ssd, or such a folder), not an FMU or another file */
    bool if_missing;  /* `name` is without folders; for every FMU called so that is not where it should be */
};

/* The options of a run. Zeroed, with `files` set, is a valid set with defaults. Options that are not set may come from
 * the annotation org.tutti of an SSP. */
struct tt_command_ring;
struct tt_rank_load;

struct tutti_run_options {
#define FIELDS_FLAG(field) bool field;
#define FIELDS_COUNT(field) unsigned field;
#define FIELDS_NUMBER(field)                                                                                           \
    bool has_##field;                                                                                                  \
    double field;
#define FIELDS_TIME(field) FIELDS_NUMBER(field)
#define FIELDS_TEXT(field) const char *field;
#define FIELDS_TEXTS(field)                                                                                            \
    const char *const *field##s;                                                                                       \
    size_t field##_count;
#define FIELDS_STEP(field)                                                                                             \
    FIELDS_NUMBER(field)                                                                                               \
    FIELDS_TEXTS(unit_##field)
#define FIELDS_UNITS(field)                                                                                            \
    bool field;                                                                                                        \
    FIELDS_TEXTS(field##_unit)
#define FIELDS_CHOICE(field)                                                                                           \
    bool field;                                                                                                        \
    const char *field##_how;
#define OPTION(kind, name, field, ...) FIELDS_##kind(field)
#include "base/options/options.def"
#undef OPTION
    /* The following fields are meaningful in this process only. */
    const struct tutti_extra *extra;
    const struct tutti_watcher *watcher;
    bool tells_digits; /* the watcher gets, as texts, integers that a double does not hold (results/output.h) */
    const struct tt_row_room *room; /* of a watcher that keeps rows (results/output.h); NULL: none */
    struct tt_seen_rows *watched;   /* what the watcher has got of this run before (results/output.h); NULL: nothing */
    const struct tutti_log *log;
    void (*progress)(void *context, const struct tutti_progress *progress);
    void *progress_context;
    /* Receives the load of a rank (sim/report/reporter.h), for clients that watch the run. */
    void (*load)(void *context, int rank, const struct tt_rank_load *load);
    void *load_context;
    void (*finished)(void *context, enum tutti_err err, const struct tutti_run_stats *stats);
    void *finished_context;
    void (*used)(void *context, const struct tutti_used_file *file);
    void *used_context;
    const volatile sig_atomic_t *interrupt;
    struct tt_command_ring
        *orders;   /* commands to the run from clients that watch it (sim/ranks/command_ring.h); NULL: none */
    bool open_end; /* `stop` is an estimate that the run may exceed (apps/packed/packed.h): FMUs receive no stop time */
    bool prefers_exchange; /* an FMU that has both interfaces runs by Model Exchange, if `interface` leaves it open */
    bool untimed;          /* how long do-steps take is not asked for, and not measured */
    bool spares_nodes;     /* nodes that do not answer are done without */
    bool
        ends_hangs; /* the program ends itself, with what was recorded, where a call of an FMU takes longer than `timeout` */
    const uint8_t *run_id;               /* NULL: none was given */
    const struct tt_file_alias *aliases; /* of `files`, of files that a system names, and of `inputs` */
    size_t alias_count;
    const char *within; /* files are read only if they have an alias, or lie below this folder; NULL: all may be */
    /* Of a set that tutti_options_make made; copies of it borrow. */
    struct tt_arena memory; /* holds the texts */
    struct tutti_watcher own_watcher;
    struct tutti_log own_log;
    uint8_t own_run_id[TUTTI_RUN_ID_SIZE];
};

/* Values of `live` for ranks: the rows that watching clients receive. */
#define TUTTI_LIVE_ALL_ROWS "all"       /* that are recorded anyway */
#define TUTTI_LIVE_WANTED_ROWS "wanted" /* while a client watches */

/* Replaces `live` by one of the values above, unless it has one. If nothing is recorded, or the result has no reader,
 * rows are made for watching clients only and contain all outputs. */
void tt_options_resolve_live(struct tutti_run_options *options);
/* Returns true if nothing is recorded (--record none). */
bool tt_options_records_nothing(const struct tutti_run_options *options);

enum tt_option_kind {
    TUTTI_OPTION_FLAG,
    TUTTI_OPTION_COUNT,
    TUTTI_OPTION_NUMBER,
    TUTTI_OPTION_TIME,
    TUTTI_OPTION_TEXT,
    TUTTI_OPTION_TEXTS,
    TUTTI_OPTION_STEP,
    TUTTI_OPTION_UNITS,
    TUTTI_OPTION_CHOICE,
};

/* Headings of --help; NONE: not on the command line. */
enum tt_option_group {
    TUTTI_GROUP_NONE,
    TUTTI_GROUP_MODEL,
    TUTTI_GROUP_TIMES,
    TUTTI_GROUP_ACCURACY,
    TUTTI_GROUP_COUPLING,
    TUTTI_GROUP_WHERE,
    TUTTI_GROUP_GOING_ON,
    TUTTI_GROUP_FEDERATION,
    TUTTI_GROUP_RESULTS,
    TUTTI_GROUP_STUDY,
};

/* Commands that take an option. */
enum {
    TUTTI_IN_RUN = 1,
    TUTTI_IN_NEW = 2,
    TUTTI_IN_ANALYZE = 4,
    TUTTI_IN_LINEARIZE = 8,
    TUTTI_IN_GRAPH = 16,
    TUTTI_IN_SWEEP = 32,
    TUTTI_IN_ESTIMATE = 64,
    TUTTI_IN_STUDY = TUTTI_IN_SWEEP | TUTTI_IN_ESTIMATE,
    TUTTI_IN_SIMULATING = TUTTI_IN_RUN | TUTTI_IN_NEW | TUTTI_IN_ANALYZE | TUTTI_IN_LINEARIZE | TUTTI_IN_STUDY,
    TUTTI_IN_ALL = TUTTI_IN_SIMULATING | TUTTI_IN_GRAPH,
};

/* Whether an SSP's annotation may say it: of a system, or of a component as well. */
enum tt_option_annotation { TUTTI_NOT_ANNOTATED, TUTTI_OF_SYSTEM, TUTTI_OF_UNIT };

struct tt_option {
    const char *name;
    enum tt_option_kind kind;
    /* Offsets in struct tutti_run_options, as far as the kind has them: `value` of the flag, count, number or text;
     * `given` of has_...; `list` and `length` of the list of texts; `how` of ..._how. */
    size_t value, given, list, length, how;
    unsigned most; /* of a COUNT */
    bool travels;  /* to nodes and workers */
    enum tt_option_annotation annotation;
    /* For people. */
    enum tt_option_group group;
    unsigned commands;
    const char *short_name; /* "-o", or NULL */
    const char *argument;   /* "T"; NULL for a flag */
    const char *help;       /* for the manual; the default in parentheses at its end */
    const char *brief;      /* for --help: one line, with the default in brackets */
    const struct tutti_option_word
        *words;            /* ended by a NULL name; the first one holds if none is given; NULL: any text */
    const char *otherwise; /* what holds if none is given and that is more than the first word */
    const char *files;     /* endings of files that it takes, "csv mat"; "*" for any */
};

/* All of them, ended by a NULL name. */
extern const struct tt_option tt_options[];
enum {
#define OPTION(kind, name, field, ...) +1
    TUTTI_OPTIONS_TOTAL =
#include "base/options/options.def"
#undef OPTION
};

/* Finds an option by its name; NULL if it does not exist. */
const struct tt_option *tt_options_find(const char *name);

/* Sets an option from `text`. Texts are copied to `memory`; if that is NULL, they are borrowed, which lists forbid.
 * ARGUMENT, with what is expected. */
TUTTI_CHECKED enum tutti_err tt_options_read(struct tutti_run_options *options, const struct tt_option *option,
                                             const char *text, struct tt_arena *memory);
/* The option of one set becomes that of another, which borrows its texts. */
void tt_options_copy_one(struct tutti_run_options *to, const struct tutti_run_options *from,
                         const struct tt_option *option);
bool tt_options_is_given(const struct tutti_run_options *options, const struct tt_option *option);

/* Checks that the words of all options are among those that they accept and that numbers are in range. ARGUMENT. For
 * sets that were not made by tt_options_read. */
TUTTI_CHECKED enum tutti_err tt_options_check(const struct tutti_run_options *options);

/* Returns the index of the option's keyword in its list, the value of the enumeration; NULL is the first. ARGUMENT. */
TUTTI_CHECKED enum tutti_err tt_options_choose(const char *name, const char *word, int *place);

/* The options of a run as bytes, for a process that makes the same job from them. */

/* Further data that a worker receives with the options. */
struct tt_options_extras {
    int log_level;     /* of options->log; -1: silent */
    bool has_progress; /* the caller receives the progress of the run */
    bool has_dashes;   /* messages are to name options with dashes */
};

/* Packs the value of one option; equal values give equal bytes. MEMORY is reported in the parcel. */
void tt_options_pack_one(const struct tutti_run_options *options, const struct tt_option *option,
                         struct tt_byte_writer *parcel);
/* Packs the options. ARGUMENT if they contain equations of the program (extra), which cannot be sent. */
TUTTI_CHECKED enum tutti_err tt_options_pack(const struct tutti_run_options *options, struct tt_byte_writer *parcel);
/* Unpacks options. Texts are copied to `arena`; options that are not packed are unset. FORMAT for a bad parcel. */
TUTTI_CHECKED enum tutti_err tt_options_unpack(struct tutti_run_options *options, struct tt_options_extras *extras,
                                               struct tt_byte_reader *in, struct tt_arena *arena);

#endif
