/* SPDX-License-Identifier: MIT */
/* content.h - files by content: SHA-256, and a cache of files by their hash, so that nothing is sent twice.
 *
 * A cache has files named by the 64 digits of their hash, which were verified when they got that name; and a folder per
 * process, for incoming and temporary files, which is removed with the process (or, if that was killed, by the next
 * one). Foreign names never become paths. */
#ifndef TT_RUN_CONTENT_H
#define TT_RUN_CONTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "base/fail.h"

enum { TUTTI_CONTENT_SIZE = 32, TUTTI_CONTENT_TEXT = 2 * TUTTI_CONTENT_SIZE + 1 };

struct tt_content {
    uint8_t hash[TUTTI_CONTENT_SIZE];
    uint64_t size;
};

bool tt_content_equal(const struct tt_content *a, const struct tt_content *b);
/* The hash as digits. */
void tt_content_format(const struct tt_content *content, char text[TUTTI_CONTENT_TEXT]);
/* Of a plain file; IO, naming `path`. */
TUTTI_CHECKED enum tutti_err tt_content_of_file(struct tt_content *out, const char *path);
void tt_content_of_bytes(struct tt_content *out, const void *bytes, size_t size);

struct tt_content_cache;

/* Makes the folder, private to this user, unless it is there. IO, naming it. */
TUTTI_CHECKED enum tutti_err tt_content_cache_open(struct tt_content_cache **out, const char *folder);
void tt_content_cache_free(struct tt_content_cache *cache);
/* This process's folder: absolute; borrowed. */
const char *tt_content_cache_work_folder(const struct tt_content_cache *cache);
/* Returns true if the cache has the content and it matches its hash. A mismatch is removed: code of FMUs runs as the
 * user who owns the cache. */
bool tt_content_cache_has(const struct tt_content_cache *cache, const struct tt_content *content);
/* Where it is, or would be. The caller's (free); NULL when memory is out. */
char *tt_content_cache_path(const struct tt_content_cache *cache, const struct tt_content *content);
/* Copies it to `path`, so that a changed copy affects no other run. IO if it is missing, or does not match its hash. */
TUTTI_CHECKED enum tutti_err tt_content_cache_copy_out(const struct tt_content_cache *cache,
                                                       const struct tt_content *content, const char *path);

/* Removes what processes left that were killed: folders that no process holds the lock of. Also done when it is opened. */
void tt_content_cache_clean_up(const struct tt_content_cache *cache);
/* The bytes of all files in it, and how many there are. */
uint64_t tt_content_cache_size(const struct tt_content_cache *cache, uint64_t *files);
/* Removes files, the least recently used first, down to `limit` bytes; those used since then stay. Returns the number. */
size_t tt_content_cache_evict(const struct tt_content_cache *cache, uint64_t limit, const struct timespec *since);

/* A file on its way. */
struct tt_content_arrival;

TUTTI_CHECKED enum tutti_err tt_content_arrival_new(struct tt_content_arrival **out,
                                                    const struct tt_content_cache *cache,
                                                    const struct tt_content *content);
const struct tt_content *tt_content_arrival_content(const struct tt_content_arrival *arrival);
uint64_t tt_content_arrival_size(const struct tt_content_arrival *arrival); /* bytes so far */
/* Writes the next bytes. FORMAT if there are more than announced; IO. */
TUTTI_CHECKED enum tutti_err tt_content_arrival_write(struct tt_content_arrival *arrival, const void *bytes,
                                                      size_t size);
/* Called after all bytes: checks the hash and renames the file. FORMAT for different content. Releases it. */
TUTTI_CHECKED enum tutti_err tt_content_arrival_finish(struct tt_content_arrival *arrival);
/* Gives it up; NULL is fine. */
void tt_content_arrival_free(struct tt_content_arrival *arrival);

#endif
