/* SPDX-License-Identifier: MIT */
/* http.h - the seam between the library and the module with libmicrohttpd (src/http/, tutti_http.so), which is loaded when a node is
 * to be asked by HTTP. The module sees no symbol of the library.
 *
 * A server has no thread: who has it polls its descriptor and calls `run`, which never waits. It answers GET and HEAD, one request
 * per connection; connections that take longer than some seconds, say too much or are too many are cut. */
#ifndef TUTTI_CONDUCT_NODE_HTTP_H
#define TUTTI_CONDUCT_NODE_HTTP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Both sides must agree in this. */
enum { TUTTI_HTTP_ABI = 1 };

struct tutti_http_answer {
    unsigned status; /* 200 */
    const char *type;
    char *body; /* by malloc; the server's */
    size_t size;
};

struct tutti_http_plan {
    int socket; /* that listens, not blocking; the server's from here on */
    /* What a path ("/metrics") is answered with; false: there is no such thing, or no memory. In `run`. */
    bool (*answer)(void *context, const char *path, struct tutti_http_answer *answer);
    void *context;
};

struct tutti_http;

struct tutti_http_module {
    unsigned abi;
    /* NULL: it cannot be had, and the socket is closed. */
    struct tutti_http *(*start)(const struct tutti_http_plan *plan);
    /* To poll for input. */
    int (*descriptor)(const struct tutti_http *http);
    /* Does what is to be done, and returns after how many milliseconds at most it wants to be called again; -1: when there is input. */
    int (*run)(struct tutti_http *http);
    void (*stop)(struct tutti_http *http); /* NULL is fine */
};

/* The one symbol of the module, "tutti_http_module". */
typedef const struct tutti_http_module *tutti_http_entry(void);

/* Loads the module. LOAD, with what to do in words. */
TUTTI_CHECKED enum tutti_err tutti_http_load(const struct tutti_http_module **module);
/* A socket that listens at "HOST:PORT", or at "PORT" of loopback; `option` is named in messages. *address (of `size` bytes) is where
 * it really is. ARGUMENT, IO. */
TUTTI_CHECKED enum tutti_err tutti_http_listen(int *socket, const char *where, const char *option, char *address,
                                               size_t size);

#endif
