/* SPDX-License-Identifier: MIT */
/* base/tempdir.h - temporary folders that are removed on free, on a fatal signal and, after a kill -9, by the next run.
 *
 * All folders of a process lie in one, "$TMPDIR/tutti-PID-XXXXXX", mode 0700, on which the process holds a lock
 * (flock), so that a later process can distinguish abandoned folders from used ones. A process needs only one
 * descriptor for all its folders. The outer folder is removed with the last folder in it. */
#ifndef TT_BASE_TEMPDIR_H
#define TT_BASE_TEMPDIR_H

#include <sys/types.h>

#include "base/fail.h"

struct tt_tempdir;

/* Makes a folder; also sweeps abandoned ones of this user, once per process: those that no process holds the lock of and
 * that were not touched for a minute. Thread-safe, as is tt_tempdir_free. */
TUTTI_CHECKED enum tutti_err tt_tempdir_new(struct tt_tempdir **out);
const char *tt_tempdir_path(const struct tt_tempdir *dir); /* absolute; borrowed */
/* Removes the folder and all that is in it, whatever put it there; links are removed, not followed. In a forked child
 * it only releases the memory of a folder that the parent made. */
void tt_tempdir_free(struct tt_tempdir *dir);

/* Removes all folders that the process `owner` has made; `owner` is this process or one that shares its memory.
 * Async-signal-safe: for handlers of fatal signals. Folders that a parent process made before a fork stay. */
void tt_tempdir_remove_all(pid_t owner);

#endif
