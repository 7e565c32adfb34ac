/* SPDX-License-Identifier: MIT */
/* key_files.h - keys on the disk: FILE with the secret key, for its owner only, and FILE.pub, of 64 hexadecimal digits. */
#ifndef TT_RUN_KEY_FILES_H
#define TT_RUN_KEY_FILES_H

#include "sim/ranks/curve_auth.h"

/* Makes a pair and writes both files, or none. IO if one of them exists. */
TUTTI_CHECKED enum tutti_err tt_key_files_create(const char *path, struct tt_curve_keys *keys);
/* Reads the secret key, and derives the public one. FORMAT; ARGUMENT if other users may read the file. */
TUTTI_CHECKED enum tutti_err tt_key_files_read(const char *path, struct tt_curve_keys *keys);
/* Reads a public key. */
TUTTI_CHECKED enum tutti_err tt_key_files_read_public(const char *path, uint8_t key[TUTTI_KEY_SIZE]);
/* Returns the key pair by which nodes and runs of this user authenticate each other on this machine if no keys were
 * made: "local.key" in tt_fs_own_cache, made on first use. IO if it cannot be stored. */
TUTTI_CHECKED enum tutti_err tt_key_files_local(struct tt_curve_keys *keys);

#endif
