/* SPDX-License-Identifier: MIT */
/* access.h - who is let in: requests that bring the token, that were meant for this server, and that no page of others has made.
 *
 * A page of another origin can make a browser send requests here. It does not know the token, which is a header and never a cookie, so that a
 * browser adds it by itself to nothing (CSRF). A name that an attacker lets point to this machine (DNS rebinding) is not among those that the
 * Host header may have. */
#ifndef TT_APPS_WEB_ACCESS_H
#define TT_APPS_WEB_ACCESS_H

#include "apps/web/served_folder.h"
#include "run/net/http.h"

struct tt_access {
    const char *token;
    const char *address; /* where it listens: "127.0.0.1:8080", "[::]:8080" */
    const char *host;    /* as --listen has it, without a port; "0.0.0.0", "sim.example.org" */
    bool loopback;       /* nobody else can reach it */
    bool encrypted;
};

/* May the Host header say this? */
bool tt_access_allows_host(const struct tt_access *gate, const char *host);
/* Is the origin of the page that made the request the server's own, as reached by `host`? */
bool tt_access_allows_origin(const struct tt_access *gate, const char *origin, const char *host);
/* Does it bring the token? */
bool tt_access_allows_token(const struct tt_access *gate, const char *authorization);

/* The token of a server, which those who are let in know.
 *
 * It is kept in the folder that is served, in .tutti/token, for this user alone: a server that is started there again knows the pages of the one
 * before. */

enum { TUTTI_WEB_TOKEN = 33 }; /* bytes of its text, with the zero at its end */

/* The one that is kept, or a new one. Without a folder (NULL), or with one that cannot be written to, it is new each time. IO where what is there is not
 * fit to be one: a link, a file of others, one that others can read or that holds something else. */
TUTTI_CHECKED enum tutti_err tt_access_find_token(const struct tt_served_folder *folder, char token[TUTTI_WEB_TOKEN]);

#endif
