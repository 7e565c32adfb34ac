/* SPDX-License-Identifier: MIT */
/* served_folder.h - the served folder, and untrusted names of files in it.
 *
 * A name is relative, with '/' between its parts. It cannot leave the folder: each part is opened relative to the
 * previous one, and "..", absolute names and symbolic links are rejected. Parts that begin with a dot are hidden:
 * settings, keys and the server's own files (".tutti"). */
#ifndef TT_APPS_WEB_SERVED_FOLDER_H
#define TT_APPS_WEB_SERVED_FOLDER_H

#include <stdbool.h>

#include "base/fail.h"

struct tt_served_folder {
    int fd;     /* -1: none */
    char *path; /* absolute */
};

enum tt_served_kind {
    TUTTI_WEB_FILE,     /* a file that is there */
    TUTTI_WEB_FOLDER,   /* a folder that is there; "" is the one that is served */
    TUTTI_WEB_NEW_FILE, /* a file that exists, or can be created in an existing folder */
};

/* ARGUMENT if it is none. tt_served_folder_fini follows in any case. */
TUTTI_CHECKED enum tutti_err tt_served_folder_init(struct tt_served_folder *folder, const char *path);
void tt_served_folder_fini(struct tt_served_folder *folder);

/* Finds `name`: *path is absolute, and belongs to the caller. ARGUMENT for an invalid name, IO if it does not exist. */
TUTTI_CHECKED enum tutti_err tt_served_folder_find(const struct tt_served_folder *folder, const char *name,
                                                   enum tt_served_kind wanted, char **path);
/* As above, as a descriptor of a folder, which belongs to the caller. */
TUTTI_CHECKED enum tutti_err tt_served_folder_open(const struct tt_served_folder *folder, const char *name, int *fd);

#endif
