/* SPDX-License-Identifier: MIT */
#include "apps/web/routes.h"

#include <string.h>

enum { SMALL = 65536, DOCUMENT = 32 << 20, UPLOAD = 512 << 20 };

/* A table reads best as one. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
/* clang-format off */
static const struct tt_web_route routes[] = {
    {"GET",  "/api/",        tt_served_folder_describe_server},
    {"GET",  "/api/options", tt_command_list_options},
    {"GET",  "/api/files",   tt_served_folder_list},
    {"POST", "/api/files",   tt_served_folder_upload, .writes = true, .largest_body = UPLOAD},
    {"GET",  "/api/fmu",     tt_served_folder_describe_fmu, .reads = true},
    {"GET",  "/api/system",  tt_system_requests_get, .reads = true},
    {"PUT",  "/api/system",  tt_system_requests_save, .reads = true, .writes = true, .largest_body = DOCUMENT},
    {"POST", "/api/system/look",    tt_web_look_system, .reads = true, .largest_body = DOCUMENT},
    {"POST", "/api/system/join", tt_web_join_system, .reads = true, .largest_body = DOCUMENT},
    {"POST", "/api/system/analyze", tt_web_analyze_system, .reads = true, .writes = true, .largest_body = DOCUMENT},
    {"GET",  "/api/runs",    tt_run_requests_list},
    {"POST", "/api/runs",    tt_run_requests_start, .writes = true, .largest_body = DOCUMENT},
    {"GET",  "/api/runs/*",  tt_run_requests_get},
    {"DELETE", "/api/runs/*", tt_run_requests_delete, .writes = true},
    {"GET",  "/api/runs/*/events", tt_run_requests_watch},
    {"POST", "/api/runs/*/orders", tt_run_requests_control, .writes = true, .largest_body = SMALL},
    {"GET",  "/api/runs/*/series", tt_result_requests_get_series},
    {"GET",  "/api/runs/*/values", tt_result_requests_get_values},
    {"GET",  "/api/runs/*/steps",  tt_result_requests_get_steps},
    {"GET",  "/api/runs/*/export", tt_result_requests_export},
    {"GET",  "/api/compare", tt_run_requests_compare},
    {"GET",  "/metrics",     tt_run_requests_metrics},
    {"POST", "/api/import",  tt_system_requests_get, .reads = true, .largest_body = SMALL},
};
/* clang-format on */

/* Returns true if `path` matches; '*' stands for an id of letters, digits and '-'. */
static bool routes_match(const char *pattern, const char *path, char id[64])
{
    static const char IDS[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
    const char *star = strchr(pattern, '*');
    if (!star)
        return strcmp(pattern, path) == 0;
    size_t before = (size_t)(star - pattern),
           length = strncmp(pattern, path, before) == 0 ? strspn(path + before, IDS) : 0;
    if (length == 0 || length >= 64 || strcmp(path + before + length, star + 1) != 0)
        return false;
    memcpy(id, path + before, length);
    id[length] = '\0';
    return true;
}

const struct tt_web_route *tt_routes_find(const char *method, const char *path, char id[64], bool *known)
{
    *known = false;
    id[0] = '\0';
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++)
        if (routes_match(routes[i].path, path, id)) {
            if (strcmp(routes[i].method, method) == 0)
                return &routes[i];
            *known = true;
        }
    return NULL;
}

void tt_routes_call(tt_routes_handler *handler, struct tt_web_site *site, const struct tt_web_request *request,
                    struct tt_http_response *answer)
{
    enum tutti_err err = handler(site, request, answer);
    unsigned status = answer->status;
    if (err && status)
        tt_response_error(answer, status, tutti_err_message());
    else if (err)
        tt_response_failure(answer, err);
}

enum tutti_err tt_routes_require(const struct tt_web_request *request, const char *name, const char **value)
{
    *value = request->http->argument(request->http, name);
    return *value ? TUTTI_OK : tt_fail(TUTTI_ERR_ARGUMENT, "the address needs '%s=': which one?", name);
}

enum tutti_err tt_routes_require_json(const struct tt_web_request *request, json_t **json)
{
    json_error_t error;
    *json = json_loadb(request->http->body, request->http->size, JSON_REJECT_DUPLICATES, &error);
    if (json_is_object(*json))
        return TUTTI_OK;
    bool read = *json != NULL;
    json_decref(*json);
    *json = NULL;
    return read ? tt_fail(TUTTI_ERR_ARGUMENT, "what is sent has to be a JSON object")
                : tt_fail(TUTTI_ERR_ARGUMENT, "what is sent is no JSON: line %d, column %d: %s", error.line,
                          error.column, tt_text_excerpt(error.text).text);
}
