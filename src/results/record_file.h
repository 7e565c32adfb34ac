/* SPDX-License-Identifier: MIT */
/* record_file.h - the common part of result files of all formats: opening, closing, and messages of failures. */
#ifndef TT_RESULTS_RECORD_FILE_H
#define TT_RESULTS_RECORD_FILE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/fail.h"
#include "base/fs.h"
#include "base/bytes.h"

/* A file that is open for writing. Code of an FMU may close our descriptor and open a file with its number: the file
 * behind the descriptor is checked before each write. */
struct tt_record_file {
    _Atomic int fd;   /* -1: none */
    const char *path; /* borrowed */
    struct tt_fs_identity identity;
    bool is_regular;  /* has random access; pipes and devices are sequential */
    bool is_standard; /* standard output: not ours to close */
    bool is_named;    /* its name is on the disk; only tt_record_file_sync asks */
};

/* Opens `path` for writing, creating it if necessary. The content stays: the caller truncates it once nothing else can
 * fail. Other processes cannot open it in this way at the same time: IO if one has. "-" is standard output
 * (<tutti/run.h>, tutti_set_standard_output). `path` must live as long as the file is open. */
TUTTI_CHECKED enum tutti_err tt_record_file_open(struct tt_record_file *file, const char *path);
/* Called before writing: checks that the descriptor still refers to this file and, if it is regular, that it has this
 * size (-1: any). A regular file whose descriptor was closed is opened again. False: errno has the reason, for
 * tt_record_file_fail_write. Async-signal-safe. */
bool tt_record_file_check(struct tt_record_file *file, off_t size);
/* Closes the file if it is ours. If `err` is OK, returns IO if the file is no longer at its path or if closing fails
 * (network file systems report a full disk here). Otherwise returns `err`. */
TUTTI_CHECKED enum tutti_err tt_record_file_close(struct tt_record_file *file, enum tutti_err err);

/* Ensures that written data and the file's name survive a power failure. A second thread may be writing meanwhile. No
 * effect on pipes and devices. IO. */
TUTTI_CHECKED enum tutti_err tt_record_file_sync(struct tt_record_file *file);

/* For files of lines: opens and empties it; writes a text at its end, at once. IO. */
TUTTI_CHECKED enum tutti_err tt_record_file_create(struct tt_record_file *file, const char *path);
TUTTI_CHECKED enum tutti_err tt_record_file_append(struct tt_record_file *file, const char *text);

/* --- files that a later run resumes
 *
 * A mark has the length of a regular file and its last bytes, by which it is recognised. */

/* Everything before `position` has been written; from `first` on it will not change any more. IO. */
TUTTI_CHECKED enum tutti_err tt_record_file_mark(struct tt_record_file *file, off_t first, off_t position,
                                                 struct tt_byte_writer *mark);
/* Opens a file that is there, a regular one. IO, FORMAT. */
TUTTI_CHECKED enum tutti_err tt_record_file_open_existing(struct tt_record_file *file, const char *path);
/* Opens the file of a mark and checks that it matches and is at least as long. The file is unchanged. IO if it does not
 * exist, FORMAT if it is a different file, or if the mark is invalid. */
TUTTI_CHECKED enum tutti_err tt_record_file_reopen(struct tt_record_file *file, const char *path,
                                                   struct tt_byte_reader *mark, off_t *position);
/* FORMAT unless the file has these bytes at `at`. */
TUTTI_CHECKED enum tutti_err tt_record_file_check_bytes(const struct tt_record_file *file, const void *bytes, size_t n,
                                                        off_t at);
/* Nothing is after `position`, where it is written next. IO. */
TUTTI_CHECKED enum tutti_err tt_record_file_truncate(struct tt_record_file *file, off_t position);
/* Reports that `path` does not have the file of a mark; `what` describes its content. */
enum tutti_err tt_record_file_fail_reopen(const char *path, const char *what);
/* The mark is not one that was ever made. */
enum tutti_err tt_record_file_fail_mark(const char *path);

/* For files of lines, including pipes and devices, which cannot be truncated and start again. *anew: the file is empty,
 * or is a pipe or device. */
TUTTI_CHECKED enum tutti_err tt_record_file_mark_lines(struct tt_record_file *file, struct tt_byte_writer *mark);
TUTTI_CHECKED enum tutti_err tt_record_file_resume_lines(struct tt_record_file *file, const char *path,
                                                         struct tt_byte_reader *mark, bool *anew);

/* For formats that go back in their file: fails if `path` is standard output, a pipe or a device. Looks before opening, which
 * would wait for a pipe's reader. */
TUTTI_CHECKED enum tutti_err tt_record_file_check_regular(const char *path, const char *extension);

/* The failure to open `path`, by errno. */
enum tutti_err tt_record_file_fail_open(const char *path);
/* The failure to write to `path`, by its errno: equal calls give equal messages. */
enum tutti_err tt_record_file_fail_write(const char *path, int error);

/* The descriptor that "-" stands for (tutti_set_standard_output). */
int tt_record_file_standard(void);

#endif
