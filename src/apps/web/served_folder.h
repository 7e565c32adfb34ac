/* SPDX-License-Identifier: MIT */
/* served_folder.h - the folder that is served, and names of files in it, which strangers send.
 *
 * A name is relative, with '/' between its parts. Nothing leads out of the folder: parts are opened one after another, each from the one before,
 * and neither "..", an absolute name nor a symbolic link is followed. Parts that begin with a dot are not there: settings, keys and
 * what the server keeps for itself (".tutti") are nobody else's. */
#ifndef TT_APPS_WEB_SERVED_FOLDER_H
#define TT_APPS_WEB_SERVED_FOLDER_H

#include <stdbool.h>

#include "base/fail.h"

struct tt_served_folder {
    int fd;     /* -1: there is none */
    char *path; /* absolute */
};

enum tt_served_kind {
    TUTTI_WEB_FILE,     /* a file that is there */
    TUTTI_WEB_FOLDER,   /* a folder that is there; "" is the one that is served */
    TUTTI_WEB_NEW_FILE, /* a file that is there, or may come to be in a folder that is */
};

/* ARGUMENT if it is none. tt_served_folder_fini follows in any case. */
TUTTI_CHECKED enum tutti_err tt_served_folder_init(struct tt_served_folder *folder, const char *path);
void tt_served_folder_fini(struct tt_served_folder *folder);

/* Where `name` is: *path is absolute, and the caller's. ARGUMENT for a name that is no good, IO where there is no such thing. */
TUTTI_CHECKED enum tutti_err tt_served_folder_find(const struct tt_served_folder *folder, const char *name,
                                                   enum tt_served_kind wanted, char **path);
/* The same, as a descriptor of a folder, which is the caller's. */
TUTTI_CHECKED enum tutti_err tt_served_folder_open(const struct tt_served_folder *folder, const char *name, int *fd);

#endif
