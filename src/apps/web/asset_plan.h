/* SPDX-License-Identifier: MIT */
/* asset_plan.h - the configuration of a server of the page. */
#ifndef TT_APPS_WEB_ASSET_PLAN_H
#define TT_APPS_WEB_ASSET_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <tutti/log.h>

#include "base/fail.h"

/* A file of the page, packed with gzip. */
struct tt_web_asset {
    const char *name; /* "index.html" */
    const unsigned char *data;
    size_t size;
};

/* All of it is borrowed. */
struct tt_web_server_plan {
    const char *listen;                /* "127.0.0.1:0" */
    const char *folder;                /* NULL: none, with `attach` */
    const char *file;                  /* the system to begin with, a name in the folder; NULL: none */
    const char *attach, *attach_token; /* the address of a run with --live, and its token; NULL: none */
    const char *certificate, *key;     /* of TLS, as text (PEM); NULL: none */
    const char *program;               /* the command, for runs */
    bool read_only;                    /* nothing is written and nothing is run */
    const struct tt_web_asset *assets; /* of the page; `asset_count` 0: it was not built */
    size_t asset_count;
    const struct tutti_log *log;
};

#endif
