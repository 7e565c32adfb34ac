/* SPDX-License-Identifier: MIT */
/* site.h - what requests are about, and the list of those that are answered (routes.c). */
#ifndef TUTTI_WEB_SITE_H
#define TUTTI_WEB_SITE_H

#include <stdatomic.h>

#include "web/answer.h"
#include "web/folder.h"
#include "web/relay.h"
#include "web/series.h"
#include "web/plan.h"

struct tutti_web_reader;

/* Read by all threads; what changes has a lock of its own. */
struct tutti_web_site {
    struct tutti_web_plan plan;
    struct tutti_web_folder folder;
    struct tutti_web_relays relays; /* the loop's */
    struct tutti_web_series *series;
    struct tutti_web_reader *reader; /* where files that users bring are read */
    atomic_ulong requests, refused;  /* so far; refused: by token, host or origin */
};

struct tutti_web_request {
    const struct tutti_http_request *http;
    char id[64];      /* of "/api/runs/ID/...", or "" */
    const char *rest; /* after that: "events" */
};

/* Fills in *answer. On failure this thread's message is the answer; a status that was set then stays. */
typedef enum tutti_err tutti_web_handler(struct tutti_web_site *site, const struct tutti_web_request *request,
                                         struct tutti_http_answer *answer);

/* A request that is answered, and how. */
struct tutti_web_route {
    const char *method, *path; /* "*" stands for an id */
    tutti_web_handler *answer;
    bool writes;         /* not for those who only look */
    bool reads;          /* files that users bring: the reader calls it (reader.h) */
    size_t largest_body; /* bytes */
};

/* NULL: there is none. *known: there is one for another method. */
const struct tutti_web_route *tutti_web_route_find(const char *method, const char *path, char id[64], bool *known);

/* Calls the handler; an error becomes an answer. */
void tutti_web_handler_call(tutti_web_handler *handler, struct tutti_web_site *site,
                            const struct tutti_web_request *request, struct tutti_http_answer *answer);

/* An argument that has to be there. ARGUMENT. */
TUTTI_CHECKED enum tutti_err tutti_web_need(const struct tutti_web_request *request, const char *name,
                                            const char **value);
/* The body as JSON, an object; the caller's. ARGUMENT. */
TUTTI_CHECKED enum tutti_err tutti_web_need_json(const struct tutti_web_request *request, json_t **json);

tutti_web_handler tutti_web_hello, tutti_web_options, tutti_web_list_files, tutti_web_upload, tutti_web_tell_fmu;
tutti_web_handler tutti_web_read_system, tutti_web_save_system, tutti_web_look_system, tutti_web_join_system,
    tutti_web_analyze_system;
tutti_web_handler tutti_web_list_runs, tutti_web_start_run, tutti_web_tell_run, tutti_web_forget_run,
    tutti_web_watch_run;
tutti_web_handler tutti_web_order_run, tutti_web_compare_runs, tutti_web_tell_series, tutti_web_tell_values,
    tutti_web_tell_steps, tutti_web_export_run, tutti_web_measure;

#endif
