/* SPDX-License-Identifier: MIT */
/* library.h - an FMU's shared library in this process, with a table of its functions. Independent of archives and
 * descriptions (binary/binary.h handles these): the fork server (src/fmu/fork_server/), which receives the library's
 * path, opens the library by this module, too. */
#ifndef TT_FMU_BINARY_LIBRARY_H
#define TT_FMU_BINARY_LIBRARY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "base/log.h"
#include "base/text.h"
#include "fmu/description/description.h"

struct tt_binding; /* binding.h */

enum { TUTTI_MOST_NEIGHBOURS = 32 };

/* Whether a reset instance is equal to a new one, which only a trial can show (apps/api/reset.h). */
enum tt_library_resets { TUTTI_RESETS_UNTRIED, TUTTI_RESETS_WELL, TUTTI_RESETS_BADLY };

struct tt_instance;

struct tt_library {
    const struct tt_description *desc;    /* borrowed */
    const struct tt_interface *interface; /* of desc: the one that was asked for */
    enum tt_interface_kind kind;
    const struct tt_binding *binding;
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
    bool is_mixed;        /* its calls may reach functions of the program instead of its own: library.h */
    atomic_bool fatal;    /* an instance was Fatal: nothing is called any more, nor unloaded */
    uint32_t *narrow;     /* references of its Float32 variables, sorted; NULL: it has none */
    size_t narrow_count;
    enum tt_library_resets resets;
    bool keeps;               /* instances that ended without errors become idle and are reused */
    struct tt_instance *idle; /* the idle instances; also reused where they are known to reset well (instance.c) */
};

/* Sets the binding of a library whose description and interface are known, and allocates its function table. */
TUTTI_CHECKED enum tutti_err tt_library_bind(struct tt_library *library);
/* Opens the file library->path. Functions that a run cannot do without and that are missing are all named in the error; optional ones that the
 * description claims are warned of, and the capability is taken back. */
TUTTI_CHECKED enum tutti_err tt_library_open(struct tt_library *library, const struct tutti_log *log);
/* The last part of loading, for a library whose functions were found differently. */
TUTTI_CHECKED enum tutti_err tt_library_check(struct tt_library *library, const struct tutti_log *log);
/* The error for a library that it needs and that is not found; is_nameless: it is beside it, but has another name inside. */
enum tutti_err tt_library_fail_missing(const struct tt_library *library, const char *missing, bool is_nameless);
/* Returns true for the reference of a Float32 variable. Only FMI 3.0 has them; there a reference has one type. */
bool tt_library_is_narrow(const struct tt_library *library, uint32_t reference);
void tt_library_free(struct tt_library *library);

/* Which definitions the code of an FMU calls.
 *
 * Many FMUs contain libraries that this process uses, too (SUNDIALS, LAPACK, expat), in different versions with equal
 * names. The loader searches the program's libraries first, so that the FMU would call incompatible functions. With
 * RTLD_DEEPBIND the FMU's libraries are searched first. The opposite direction needs no action: RTLD_LOCAL hides the
 * names of an FMU from the program and all other FMUs. */

struct tt_library_scope {
    int mode; /* mode for dlopen: RTLD_DEEPBIND, or 0 where that would do harm */
    /* the reason for mode 0: a name that the program defines differently from the C and C++ libraries, "malloc" under a
     * sanitizer or "_ZSt4cout" in a program that has a copy of std::cout; otherwise empty */
    char cause[64];
};

/* How to load the library at `path`. With RTLD_DEEPBIND, names of the C and C++ libraries reach these, even if the
 * program replaces them for all libraries: an allocation would be freed by another allocator, std::cout would be an
 * object that was never made. So it is omitted if the library uses such a name, and under sanitizers, which reject it. */
struct tt_library_scope tt_library_choose_scope(const char *path);

/* Appends the names of functions that the library defines and that the program has, too ("CVode, dgetrf_ and 7 more"):
 * without RTLD_DEEPBIND its calls of them reach the program's. Names of the C and C++ libraries are not among them. */
void tt_library_list_clashes(const char *path, struct tt_text *out);

#endif
