/* SPDX-License-Identifier: MIT */
/* library.h - an FMU's shared library: found, loaded once, its functions in a table. */
#ifndef TUTTI_FMI_LIBRARY_H
#define TUTTI_FMI_LIBRARY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/log.h"
#include "base/str.h"
#include "archive/archive.h"
#include "description/desc.h"

struct tutti_binding; /* binding.h */

enum { TUTTI_MOST_NEIGHBOURS = 32 };

/* Is an instance that was reset as good as a new one? Only a trial tells (api/reset.h). */
enum tutti_resets { TUTTI_RESETS_UNTRIED, TUTTI_RESETS_WELL, TUTTI_RESETS_BADLY };

struct tutti_instance;

struct tutti_library {
    const struct tutti_desc *desc;           /* borrowed */
    const struct tutti_interface *interface; /* of desc: the one that was asked for */
    enum tutti_interface_kind kind;
    const struct tutti_binding *binding;
    uint32_t can;                            /* TUTTI_CAN_* that both the description and the library offer */
    void **functions;                        /* in the order of the version's list; NULL where the library lacks one */
    void *handle;                            /* of dlopen */
    void *neighbours[TUTTI_MOST_NEIGHBOURS]; /* libraries beside it that it needs */
    size_t neighbour_count;
    const char
        *keeper; /* the program in which the library lives, which is for another platform; NULL: it is loaded here */
    const char *file;     /* the FMU, for messages; borrowed */
    char *path;           /* of the shared library */
    char *folder;         /* absolute path of the unpacked FMU, without a slash at its end */
    char *resources;      /* absolute path of its resources folder, with a slash at its end */
    bool has_resources;   /* that folder exists */
    atomic_int instances; /* alive now */
    bool is_mixed;        /* its calls may reach functions of the program in place of its own: scope.h */
    atomic_bool fatal;    /* an instance was Fatal: nothing is called any more, nor unloaded */
    uint32_t *narrow;     /* references of its Float32 variables, sorted; NULL: it has none */
    size_t narrow_count;
    enum tutti_resets resets;
    bool keeps; /* instances that end well become idle, and are used again ... */
    struct tutti_instance
        *idle; /* ... and are these: used again also where they are known to reset well (instance.c) */
};

/* Appends the platforms that the FMU has binaries for: "linux64, win64". */
void tutti_library_list_platforms(const struct tutti_archive *archive, struct tutti_text *out);

/* Where an FMU has its library. */
struct tutti_library_entry {
    const char *name;   /* of the archive's entry; the archive's */
    bool misnamed;      /* it is not that of the model identifier, but the only one */
    const char *keeper; /* as in struct tutti_library */
};

/* Finds the library for this platform in an archive, or else for another one that a program of ours runs (platform.h); an error that says which
 * platforms there are if there is none. */
TUTTI_CHECKED enum tutti_err tutti_library_find(const struct tutti_archive *archive, const char *file,
                                                const char *model_identifier, struct tutti_library_entry *found);

/* Unpacks if necessary and loads, but for a library that a keeper has to load: its functions and what it can are not known yet
 * (forked/forked.h, tutti_forked_probe). Functions that the run cannot do without and that are missing are all named in the
 * error; optional ones that the description claims are warned of, and the capability is taken back. */
TUTTI_CHECKED enum tutti_err tutti_library_load(struct tutti_library **out, struct tutti_archive *archive,
                                                const char *file, const struct tutti_desc *desc,
                                                enum tutti_interface_kind kind, const struct tutti_log *log);
/* Says what tutti_library_load would, as far as the files tell it, and runs nothing of the FMU. Only loading shows variables and
 * functions that other libraries lack, or have in other versions. */
TUTTI_CHECKED enum tutti_err tutti_library_inspect(struct tutti_archive *archive, const char *file,
                                                   const struct tutti_desc *desc, enum tutti_interface_kind kind,
                                                   const struct tutti_log *log);
/* Is it the reference of a Float32 variable? Only FMI 3.0 has them, and there a reference has one type. */
bool tutti_library_is_narrow(const struct tutti_library *library, uint32_t reference);
void tutti_library_free(struct tutti_library *library);

#endif
