/* SPDX-License-Identifier: MIT */
/* token.h - the token of a server, which those who are let in know.
 *
 * It is kept in the folder that is served, in .tutti/token, for this user alone: a server that is started there again knows the pages of the one
 * before. */
#ifndef TT_APPS_WEB_TOKEN_H
#define TT_APPS_WEB_TOKEN_H

#include "apps/web/served_folder.h"

enum { TUTTI_WEB_TOKEN = 33 }; /* bytes of its text, with the zero at its end */

/* The one that is kept, or a new one. Without a folder (NULL), or with one that cannot be written to, it is new each time. IO where what is there is not
 * fit to be one: a link, a file of others, one that others can read or that holds something else. */
TUTTI_CHECKED enum tutti_err tt_access_find_token(const struct tt_served_folder *folder, char token[TUTTI_WEB_TOKEN]);

#endif
