/* SPDX-License-Identifier: MIT */
/* system_draft.h - a system that is edited on the page: the files of its package, unpacked, and its document.
 *
 * Other formats (.ssd, .msim, OspSystemStructure.xml) are converted to .ssp first, as `tutti new` does. FMUs that the
 * page adds from the folder are linked into the draft. A draft thus is the package as it will be, and can be checked,
 * analysed, packed and run. */
#ifndef TT_APPS_WEB_SYSTEM_SYSTEM_DRAFT_H
#define TT_APPS_WEB_SYSTEM_SYSTEM_DRAFT_H

#include "base/tempdir.h"
#include "model/ssp/package.h"
#include "model/ssp/ssp.h"
#include "apps/web/served_folder.h"

/* An FMU that came from the folder. */
struct tt_system_draft_file {
    char *entry; /* in the package: "resources/x.fmu" */
    char *path;  /* on the disk */
};

struct tt_system_draft {
    const struct tt_served_folder *folder; /* borrowed */
    char *name, *variant;                  /* of the file, in the folder, without "#VARIANT"; NULL: it is new */
    char *file;                            /* the .ssp on the disk; NULL: it is new */
    struct tt_tempdir *tempdir;            /* of the draft's files; NULL: none */
    struct tt_package *package;            /* NULL: it is new */
    char *root;                            /* the folder with all its files */
    char *ssd_name;                        /* "SystemStructure.ssd" */
    struct tt_ssd *ssd;                    /* its document; NULL: it is new */
    struct tt_system_draft_file *added;
    size_t added_count;
};

/* `name` is a file of the folder, or NULL for a new system. tt_system_draft_fini follows in any case. */
TUTTI_CHECKED enum tutti_err tt_system_draft_init(struct tt_system_draft *draft, const struct tt_served_folder *folder,
                                                  const char *name);
void tt_system_draft_fini(struct tt_system_draft *draft);

/* Identifies the state of the file; "" for a new one. */
TUTTI_CHECKED enum tutti_err tt_system_draft_revision(const char *path, char out[64]);
/* The file on the disk that a component's `source` names, in the package or, if it is not there, in the folder; the caller's. */
TUTTI_CHECKED enum tutti_err tt_system_draft_find(const struct tt_system_draft *draft, const char *source, char **path);
/* The source as the document has it: an FMU of the folder comes into the package. *uri is the caller's. */
TUTTI_CHECKED enum tutti_err tt_system_draft_adopt(struct tt_system_draft *draft, const char *source, char **uri);
/* The document's text instead of the one that is there, to be loaded. *path is the caller's. */
TUTTI_CHECKED enum tutti_err tt_system_draft_write(const struct tt_system_draft *draft, const struct tt_text *text,
                                                   char **path);
/* The package with this document, as a file. Entries that are not concerned are copied as they are. */
TUTTI_CHECKED enum tutti_err tt_system_draft_pack(const struct tt_system_draft *draft, const struct tt_text *text,
                                                  const char *path);

#endif
