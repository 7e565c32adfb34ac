/* SPDX-License-Identifier: MIT */
/* info.h - what is known of an FMU or a system without running it, as JSON; and what the words for people share with that. */
#ifndef TUTTI_TELL_INFO_H
#define TUTTI_TELL_INFO_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "fmi/fmu.h"
#include "tell/named_system.h"

/* Why a run would refuse the FMU, without the file's name, or NULL. Good until the next error of this thread. */
const char *tutti_info_obstacle(const struct tutti_fmu *fmu);
/* ARGUMENT for a system in another tool's format, of which nothing can be told. */
TUTTI_CHECKED enum tutti_err tutti_info_check_format(const char *file);

/* A capability of an interface and what happens without it. */
struct tutti_info_capability {
    uint32_t flag;
    const char *name;    /* JSON key */
    const char *words;   /* for people */
    const char *without; /* what Tutti does where the FMU lacks it; NULL: nothing worth saying */
    int since;           /* first FMI version that knows it */
    int until;           /* last one */
};
extern const struct tutti_info_capability tutti_info_capabilities[];
extern const size_t tutti_info_capability_count;

/* Write everything as JSON; false: memory was not enough, or the file is not whole. */
bool tutti_info_write_fmu(FILE *out, struct tutti_fmu *fmu);
bool tutti_info_write_system(FILE *out, const struct tutti_named_system *file);

/* Parts of objects. Text that is no UTF-8, and numbers that JSON does not know, become null. A NULL text adds nothing. */
void tutti_info_add_text(json_t **object, const char *key, const char *value);
json_t *tutti_info_value(enum tutti_type type, const void *values, size_t i);
json_t *tutti_info_experiment(const struct tutti_experiment *experiment);
/* A terminal; the icon of an FMU that has a file of terminals and icons; the layered standards that an FMU follows. */
json_t *tutti_info_terminal(const struct tutti_desc *desc, const struct tutti_terminals *terminals, uint32_t index);
json_t *tutti_info_icon(const struct tutti_fmu *fmu);
json_t *tutti_info_layers(struct tutti_fmu *fmu);
/* Writes a value, which it takes; false as above. */
bool tutti_info_dump(FILE *out, json_t *json, size_t flags);

#endif
