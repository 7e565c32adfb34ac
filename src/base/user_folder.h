/* SPDX-License-Identifier: MIT */
/* user_folder.h - where a user's own files are, by the environment (XDG Base Directory Specification) and the system's list of users. */
#ifndef TT_BASE_USER_FOLDER_H
#define TT_BASE_USER_FOLDER_H

/* "$XDG_CACHE_HOME/tutti", "~/.cache/tutti". The caller's (free); NULL: there is no such place, or memory is out. */
char *tt_fs_user_cache(void);
/* A folder that belongs to this user, as root does not own that of the user who became root: that of tt_fs_user_cache, or
 * ".cache/tutti" in the home folder that the system knows, or "$XDG_RUNTIME_DIR/tutti"; it is made. The caller's (free); NULL: there
 * is no such place, or memory is out. */
char *tt_fs_own_cache(void);

#endif
