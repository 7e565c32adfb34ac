/* SPDX-License-Identifier: MIT */
/* save.h - what a run would simulate, as a file: an .ssp with all that it needs, or an .ssd that refers to the FMUs where they lie. */
#ifndef TUTTI_SAVE_H
#define TUTTI_SAVE_H

#include <tutti/options.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the system of the files that the options name, with `set`, `connect`, start, stop and every option that an annotation can hold,
 * so that running the file is running with these options. FMUs make a new document. A single SSP is copied with all its files, and its
 * document (or that of the variant that is named) changed. Errors as those of a run; IO for a file that cannot be written. It is never
 * one of those that are read: ARGUMENT. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_save(const char *output, const struct tutti_run_options *options);

/* Writes the object model (FOM) of HLA that tutti_run with these options needs to join a federation: the classes and attributes that `publish`
 * and `subscribe` name, as a module of IEEE 1516-2025. ARGUMENT if there are none. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_save_fom(const char *path, const struct tutti_run_options *options);

#ifdef __cplusplus
}
#endif
#endif
