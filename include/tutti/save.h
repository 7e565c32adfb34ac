/* SPDX-License-Identifier: MIT */
/* save.h - writes the simulation that a run would make to a file: an .ssp with all files it needs, or an .ssd that
 * refers to the FMUs by path. */
#ifndef TUTTI_SAVE_H
#define TUTTI_SAVE_H

#include <tutti/options.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the system that the options describe, with `set`, `connect`, start, stop and every option that an annotation
 * can contain, so that running the file equals running with these options. FMUs make a new document. A single SSP is
 * copied with all its files; only its document (or that of the selected variant) is changed. Errors as those of a run;
 * IO if the file cannot be written; ARGUMENT if it is one of the files that are read. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_save(const char *output, const struct tutti_run_options *options);

/* Writes the HLA object model (FOM) that tutti_run with these options needs to join a federation: the classes and
 * attributes that `publish` and `subscribe` name, as a module of IEEE 1516-2025. ARGUMENT if they name none. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_save_fom(const char *path, const struct tutti_run_options *options);

#ifdef __cplusplus
}
#endif
#endif
