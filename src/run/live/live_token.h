/* SPDX-License-Identifier: MIT */
/* live_token.h - the token of a run that others may watch, in a file that its user alone can read: live-HOST:PORT in tt_fs_own_cache. */
#ifndef TT_RUN_LIVE_LIVE_TOKEN_H
#define TT_RUN_LIVE_LIVE_TOKEN_H

#include "base/fail.h"

enum { TUTTI_LIVE_TOKEN = 33 }; /* bytes of its text, with the zero at its end */

/* Makes one, and the file; *path, which is the caller's, is NULL where there is no place for it. MEMORY. */
TUTTI_CHECKED enum tutti_err tt_live_token_create(const char *address, char token[TUTTI_LIVE_TOKEN], char **path);
/* Reads it. IO, with what to do. */
TUTTI_CHECKED enum tutti_err tt_live_token_read(const char *address, char token[TUTTI_LIVE_TOKEN]);

#endif
