/* SPDX-License-Identifier: MIT */
/* info.h - what `tutti info` knows of an FMU or a system, in words; shared by its forms. */
#ifndef TUTTI_CLI_INFO_H
#define TUTTI_CLI_INFO_H

#include <jansson.h>
#include <stdbool.h>

#include "base/str.h"
#include "fmi/fmu.h"
#include "options.h"
#include "system_file.h"

/* Why `tutti run` would refuse the FMU, without the file's name, or NULL. Good until the next error of this thread. */
const char *info_obstacle(const struct tutti_fmu *fmu);

/* A capability of an interface and what happens without it. */
struct info_capability {
    uint32_t flag;
    const char *name;    /* JSON key */
    const char *words;   /* for people */
    const char *without; /* what Tutti does where the FMU lacks it; NULL: nothing worth saying */
    int since;           /* first FMI version that knows it */
    int until;           /* last one */
};
extern const struct info_capability info_capabilities[];
extern const size_t info_capability_count;

/* Prints everything as JSON to stdout; false after a message. */
bool info_print_json(const struct tutti_fmu *fmu);

/* The command for a system. */
int info_system(const struct arguments *arguments);
bool info_print_system_json(const struct system_file *file);

/* Prints text of a file: nothing in it may steer the terminal. */
void info_put(const char *text);
/* "WORD         TEXT"; nothing if there is no text. */
void info_line(const char *word, const char *text);
/* Frees a text that was printed; if memory was not enough for it, the command fails in the end. */
void info_release(struct tutti_text *text);
void info_print_experiment(const struct tutti_experiment *experiment);

/* Parts of objects. Text that is no UTF-8, and numbers that JSON does not know, become null. A NULL text adds nothing. */
void info_json_add_text(json_t *object, const char *key, const char *value);
json_t *info_json_value(enum tutti_type type, const void *values, size_t i);
json_t *info_json_experiment(const struct tutti_experiment *experiment);

#endif
