/* SPDX-License-Identifier: MIT */
#ifndef TT_APPS_WEB_ROUTES_H
#define TT_APPS_WEB_ROUTES_H

#include <stdatomic.h>

#include "apps/web/asset_plan.h"
#include "apps/web/response.h"
#include "apps/web/series.h"
#include "apps/web/served_folder.h"
#include "apps/web/upstream.h"

/* The data of requests, and the list of routes (routes.c). */

struct tt_reader_process;

/* Read by all threads; mutable parts have their own locks. */
struct tt_web_site {
    struct tt_web_server_plan plan;
    struct tt_served_folder folder;
    struct tt_web_relays relays; /* the loop's */
    struct tt_series *series;
    struct tt_reader_process *reader; /* where files that users bring are read */
    atomic_ulong requests, refused;   /* so far; refused: by token, host or origin */
};

struct tt_web_request {
    const struct tt_http_request *http;
    char id[64];      /* id in "/api/runs/ID/...", or "" */
    const char *rest; /* after that: "events" */
};

/* Fills in *answer. On failure this thread's message is the answer; a status that was set then stays. */
typedef enum tutti_err tt_routes_handler(struct tt_web_site *site, const struct tt_web_request *request,
                                         struct tt_http_response *answer);

/* A request that is answered, and how. */
struct tt_web_route {
    const char *method, *path; /* "*" stands for an id */
    tt_routes_handler *answer;
    bool writes;         /* requires more than read access */
    bool reads;          /* files that users bring: the reader calls it (reader_process.h) */
    size_t largest_body; /* bytes */
};

/* Finds a route; NULL if there is none. *known: one exists for a different method. */
const struct tt_web_route *tt_routes_find(const char *method, const char *path, char id[64], bool *known);

/* Calls the handler; an error becomes an answer. */
void tt_routes_call(tt_routes_handler *handler, struct tt_web_site *site, const struct tt_web_request *request,
                    struct tt_http_response *answer);

/* An argument that has to be there. ARGUMENT. */
TUTTI_CHECKED enum tutti_err tt_routes_require(const struct tt_web_request *request, const char *name,
                                               const char **value);
/* The body as JSON, an object; the caller's. ARGUMENT. */
TUTTI_CHECKED enum tutti_err tt_routes_require_json(const struct tt_web_request *request, json_t **json);

tt_routes_handler tt_served_folder_describe_server, tt_command_list_options, tt_served_folder_list,
    tt_served_folder_upload, tt_served_folder_describe_fmu;
tt_routes_handler tt_system_requests_get, tt_system_requests_save, tt_web_look_system, tt_web_join_system,
    tt_web_analyze_system;
tt_routes_handler tt_run_requests_list, tt_run_requests_start, tt_run_requests_get, tt_run_requests_delete,
    tt_run_requests_watch;
tt_routes_handler tt_run_requests_control, tt_run_requests_compare, tt_result_requests_get_series,
    tt_result_requests_get_values, tt_result_requests_get_steps, tt_result_requests_export, tt_run_requests_metrics;

#endif
