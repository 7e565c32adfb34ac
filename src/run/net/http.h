/* SPDX-License-Identifier: MIT */
/* http.h - the seam between the library and the module with libmicrohttpd (src/http/, tt_http.so), which is loaded when
 * an HTTP server is needed. The module uses no symbols of the library.
 *
 * A server has no thread: its owner polls its descriptor and calls `run`, which never waits and makes all callbacks.
 * Connections that take longer than some seconds for a request, send too much or are too many are cut. */
#ifndef TT_RUN_NET_HTTP_H
#define TT_RUN_NET_HTTP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fail.h"

/* Both sides must agree in this. */
enum { TUTTI_HTTP_ABI = 3 };

struct tt_http_request {
    const char *method; /* "GET"; HEAD comes as GET */
    const char *path;   /* "/metrics", decoded, without the part after "?" */
    const char *body;   /* `size` bytes */
    size_t size;
    /* Return the value of "?name=value", decoded; and of a header. NULL if it is missing. Valid during the call. */
    const char *(*argument)(const struct tt_http_request *request, const char *name);
    const char *(*header)(const struct tt_http_request *request, const char *name);
    void *connection; /* the module's */
};

/* A body that comes bit by bit, for as long as the client stays. */
struct tt_http_stream {
    /* Puts at most `size` bytes. 0: none at the moment, call again after `wake`. -1: end. */
    ptrdiff_t (*read)(void *context, char *bytes, size_t size);
    void (*close)(void *context); /* the client has left, or has it all */
    void *context;
};

struct tt_http_response;

/* An answer that is not ready yet, because a different thread prepares it. The connection waits without cost; the
 * request with its body and arguments stays valid until then. */
struct tt_http_pending {
    /* After each `wake`: fills in *answer, which is zeroed, and returns true once it is known. */
    bool (*take)(void *context, struct tt_http_response *answer);
    void (*drop)(void *context); /* the server ends; `take` is not called any more */
    void *context;
};

/* "Name", "value". */
struct tt_http_header {
    const char *name, *value;
};

enum { TUTTI_HTTP_HEADERS = 8 };

struct tt_http_response {
    unsigned status; /* 200 */
    const char *type;
    const void *body; /* `size` bytes */
    size_t size;
    bool is_lent;                   /* the body is borrowed; false: it is by malloc, and the server frees it */
    struct tt_http_stream stream;   /* replaces the body if `read` is set */
    struct tt_http_pending pending; /* replaces all other fields if `take` is set */
    struct tt_http_header headers[TUTTI_HTTP_HEADERS]; /* besides those that every answer has; ended by a NULL name */
};

struct tt_http_plan {
    int socket; /* that listens, not blocking; the server's from here on */
    /* Fills in *answer, which is zeroed; false: not found, or no memory. */
    bool (*answer)(void *context, const struct tt_http_request *request, struct tt_http_response *answer);
    /* Called before a body of unknown size is read: false, with *answer filled in, rejects it. NULL: accepts all. */
    bool (*admit)(void *context, const struct tt_http_request *request, struct tt_http_response *answer);
    void *context;
    size_t largest_body;           /* bytes; 0: only GET is answered */
    unsigned most;                 /* connections, half of them from one address; 0: 64 */
    const char *certificate, *key; /* of TLS, as text (PEM); NULL: none */
};

struct tt_http;

struct tt_http_module {
    unsigned abi;
    /* NULL: it cannot be had, and the socket is closed. */
    struct tt_http *(*start)(const struct tt_http_plan *plan);
    /* To poll for input. */
    int (*descriptor)(const struct tt_http *http);
    /* Does pending work, and returns the milliseconds until it must be called again; -1: when there is input. */
    int (*run)(struct tt_http *http);
    /* Makes the next `run`, which is due, query streams without data and pending answers again. */
    void (*wake)(struct tt_http *http);
    void (*stop)(struct tt_http *http); /* NULL is fine */
};

/* The one symbol of the module, "tt_http_module". */
typedef const struct tt_http_module *tt_http_module_entry(void);

/* Loads the module. LOAD, with the remedy. */
TUTTI_CHECKED enum tutti_err tt_http_load(const struct tt_http_module **module);

#endif
