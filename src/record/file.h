/* SPDX-License-Identifier: MIT */
/* file.h - what the result files of all formats have in common: how they are opened and closed, and the words for what goes
 * wrong. */
#ifndef TUTTI_RECORD_FILE_H
#define TUTTI_RECORD_FILE_H

#include <stdbool.h>

#include "base/err.h"

/* The descriptor for the path "-" (<tutti/run.h>, tutti_set_standard_output); not ours to close. */
int tutti_record_standard_output(void);

/* Opens `path` for writing and makes it if it is not there. What is in it stays: the caller truncates it when nothing else can
 * fail any more. No other process can have it open so as long as this is: IO, if one has. `regular` says whether bytes
 * have a place in it; pipes and devices take them one after the other. */
TUTTI_CHECKED enum tutti_err tutti_record_file_open(int *fd, bool *regular, const char *path);
/* Closes it, if `err` is OK with an error of its own: network file systems tell a full disk here. */
TUTTI_CHECKED enum tutti_err tutti_record_file_close(int fd, const char *path, enum tutti_err err);

/* For formats that go back in their file: fails if `path` is standard output, a pipe or a device. Looks before opening, which
 * would wait for a pipe's reader. */
TUTTI_CHECKED enum tutti_err tutti_record_file_must_be_regular(const char *path, const char *extension);

/* The failure to open `path`, by errno. */
enum tutti_err tutti_record_file_fail_open(const char *path);
/* The failure to write to `path`, by the errno of that time: the same words as often as it is called. */
enum tutti_err tutti_record_file_fail_write(const char *path, int error);

#endif
