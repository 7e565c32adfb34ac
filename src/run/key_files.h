/* SPDX-License-Identifier: MIT */
/* key_files.h - keys on the disk: FILE with the secret one, for its owner only, and FILE.pub with the public one, each a line of
 * 64 hexadecimal digits. */
#ifndef TT_RUN_KEY_FILES_H
#define TT_RUN_KEY_FILES_H

#include "sim/ranks/curve_auth.h"

/* Makes a pair and writes both files, or none. IO if one of them is there already. */
TUTTI_CHECKED enum tutti_err tt_key_files_create(const char *path, struct tt_curve_keys *keys);
/* Reads the secret key, and derives the other. FORMAT; ARGUMENT if others may read the file. */
TUTTI_CHECKED enum tutti_err tt_key_files_read(const char *path, struct tt_curve_keys *keys);
/* Reads a public key. */
TUTTI_CHECKED enum tutti_err tt_key_files_read_public(const char *path, uint8_t key[TUTTI_KEY_SIZE]);
/* The pair by which nodes and runs of this user know each other on this machine, where no keys were made for them: "local.key" in
 * tt_fs_own_cache, made when it is first asked for. IO if there is no place for it. */
TUTTI_CHECKED enum tutti_err tt_key_files_local(struct tt_curve_keys *keys);

#endif
