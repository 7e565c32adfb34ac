/* SPDX-License-Identifier: MIT */
/* options_parcel.h - the options of a run, for a process that makes the same job from them.
 *
 * Every field of struct tutti_run_options is in the table; a test compares the table with the header. */
#ifndef TUTTI_CONDUCT_OPTIONS_PARCEL_H
#define TUTTI_CONDUCT_OPTIONS_PARCEL_H

#include <tutti/run.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/parcel.h"

enum tutti_options_kind {
    TUTTI_OPTIONS_FLAG,   /* bool */
    TUTTI_OPTIONS_COUNT,  /* unsigned */
    TUTTI_OPTIONS_NUMBER, /* double */
    TUTTI_OPTIONS_TEXT,   /* const char *, or NULL */
    TUTTI_OPTIONS_TEXTS,  /* const char *const *, with their number in another field */
    TUTTI_OPTIONS_LENGTH, /* ... that one: goes with the texts */
    TUTTI_OPTIONS_HERE,   /* means something in this process only, or is the conductor's affair: does not travel */
};

struct tutti_options_field {
    const char *name;
    enum tutti_options_kind kind;
    size_t offset, length; /* length: of TEXTS, where their number is */
};
/* All fields, ended by a NULL name. */
extern const struct tutti_options_field tutti_options_fields[];

/* What else of them a worker has to know. */
struct tutti_options_extras {
    int log_level;     /* of options->log; -1: silent */
    bool has_progress; /* the caller wants to know how far the run is */
};

/* ARGUMENT if there is something in the options that cannot travel: equations of a program's own (extra). */
TUTTI_CHECKED enum tutti_err tutti_options_pack(const struct tutti_run_options *options, struct tutti_parcel *parcel);
/* Texts are copied to `arena`; fields that do not travel are as if they had not been set. FORMAT if it is no such parcel. */
TUTTI_CHECKED enum tutti_err tutti_options_unpack(struct tutti_run_options *options,
                                                  struct tutti_options_extras *extras, struct tutti_unparcel *in,
                                                  struct tutti_arena *arena);

#endif
