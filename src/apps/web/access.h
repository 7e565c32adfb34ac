/* SPDX-License-Identifier: MIT */
/* access.h - access control: a request must have the token, address this server, and not come from a foreign page.
 *
 * A page of another origin can make a browser send requests here. It does not have the token, which is a header and
 * never a cookie, so that browsers do not add it automatically (CSRF). A name that an attacker resolves to this machine
 * (DNS rebinding) is not among the permitted values of the Host header. */
#ifndef TT_APPS_WEB_ACCESS_H
#define TT_APPS_WEB_ACCESS_H

#include "apps/web/served_folder.h"
#include "run/net/http.h"

struct tt_access {
    const char *token;
    const char *address; /* where it listens: "127.0.0.1:8080", "[::]:8080" */
    const char *host;    /* as --listen has it, without a port; "0.0.0.0", "sim.example.org" */
    bool loopback;       /* unreachable from other machines */
    bool encrypted;
};

/* Returns true for a permitted value of the Host header. */
bool tt_access_allows_host(const struct tt_access *gate, const char *host);
/* Returns true if the origin of the requesting page is this server, as reached by `host`. */
bool tt_access_allows_origin(const struct tt_access *gate, const char *origin, const char *host);
/* Returns true if the request has the token. */
bool tt_access_allows_token(const struct tt_access *gate, const char *authorization);

/* The token of a server, which grants access.
 *
 * It is kept in the served folder, in .tutti/token, for this user alone, so that pages stay connected after a restart. */

enum { TUTTI_WEB_TOKEN = 33 }; /* bytes of its text, with the zero at its end */

/* Returns the stored token, or a new one. Without a folder (NULL), or with a read-only one, it is always new. IO if the
 * file is unsuitable: a link, owned or readable by other users, or with wrong content. */
TUTTI_CHECKED enum tutti_err tt_access_find_token(const struct tt_served_folder *folder, char token[TUTTI_WEB_TOKEN]);

#endif
