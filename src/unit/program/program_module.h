/* SPDX-License-Identifier: MIT */
/* program.h - the module tutti_program.so: an FMI 3.0 library (of the kit) whose models are created while the program
 * runs.
 *
 * The folder of a unit (<tutti/program.h>) has a link to it in place of a library. The loader knows a file by its
 * inode, so that all units have one library, and this table of it. An instance finds its model by its token. */
#ifndef TT_UNIT_PROGRAM_PROGRAM_MODULE_H
#define TT_UNIT_PROGRAM_PROGRAM_MODULE_H

#include <tutti/program.h>

#define TUTTI_PROGRAM_IDENTIFIER "tutti_program"

struct tt_program_module {
    /* `starts` are the start values as texts, whatever the locale. *description is its modelDescription.xml, the caller's (free). NULL:
     * out of memory. */
    struct tutti_program_unit *(*make)(const struct tutti_program *program, const char *const *starts,
                                       char **description);
    void (*drop)(struct tutti_program_unit *unit);
};

#endif
