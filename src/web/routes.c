/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "web/site.h"

enum { SMALL = 65536, DOCUMENT = 32 << 20, UPLOAD = 512 << 20 };

/* A table reads best as one. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
/* clang-format off */
static const struct tutti_web_route routes[] = {
    {"GET",  "/api/",        tutti_web_hello},
    {"GET",  "/api/options", tutti_web_options},
    {"GET",  "/api/files",   tutti_web_list_files},
    {"POST", "/api/files",   tutti_web_upload, .writes = true, .largest_body = UPLOAD},
    {"GET",  "/api/fmu",     tutti_web_tell_fmu, .reads = true},
    {"GET",  "/api/system",  tutti_web_read_system, .reads = true},
    {"PUT",  "/api/system",  tutti_web_save_system, .reads = true, .writes = true, .largest_body = DOCUMENT},
    {"POST", "/api/system/look",    tutti_web_look_system, .reads = true, .largest_body = DOCUMENT},
    {"POST", "/api/system/join", tutti_web_join_system, .reads = true, .largest_body = DOCUMENT},
    {"POST", "/api/system/analyze", tutti_web_analyze_system, .reads = true, .writes = true, .largest_body = DOCUMENT},
    {"GET",  "/api/runs",    tutti_web_list_runs},
    {"POST", "/api/runs",    tutti_web_start_run, .writes = true, .largest_body = DOCUMENT},
    {"GET",  "/api/runs/*",  tutti_web_tell_run},
    {"DELETE", "/api/runs/*", tutti_web_forget_run, .writes = true},
    {"GET",  "/api/runs/*/events", tutti_web_watch_run},
    {"POST", "/api/runs/*/orders", tutti_web_order_run, .writes = true, .largest_body = SMALL},
    {"GET",  "/api/runs/*/series", tutti_web_tell_series},
    {"GET",  "/api/runs/*/values", tutti_web_tell_values},
    {"GET",  "/api/runs/*/steps",  tutti_web_tell_steps},
    {"GET",  "/api/runs/*/export", tutti_web_export_run},
    {"GET",  "/api/compare", tutti_web_compare_runs},
    {"GET",  "/metrics",     tutti_web_measure},
    {"POST", "/api/import",  tutti_web_read_system, .reads = true, .largest_body = SMALL},
};
/* clang-format on */

/* Does `path` fit, with an id of letters, digits and '-' where there is a '*'? */
static bool fits(const char *pattern, const char *path, char id[64])
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

const struct tutti_web_route *tutti_web_route_find(const char *method, const char *path, char id[64], bool *known)
{
    *known = false;
    id[0] = '\0';
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++)
        if (fits(routes[i].path, path, id)) {
            if (strcmp(routes[i].method, method) == 0)
                return &routes[i];
            *known = true;
        }
    return NULL;
}

void tutti_web_handler_call(tutti_web_handler *handler, struct tutti_web_site *site,
                            const struct tutti_web_request *request, struct tutti_http_answer *answer)
{
    enum tutti_err err = handler(site, request, answer);
    unsigned status = answer->status;
    if (err && status)
        tutti_web_answer_error(answer, status, tutti_err_message());
    else if (err)
        tutti_web_answer_failure(answer, err);
}

enum tutti_err tutti_web_need(const struct tutti_web_request *request, const char *name, const char **value)
{
    *value = request->http->argument(request->http, name);
    return *value ? TUTTI_OK : tutti_fail(TUTTI_ERR_ARGUMENT, "the address needs '%s=': which one?", name);
}

enum tutti_err tutti_web_need_json(const struct tutti_web_request *request, json_t **json)
{
    json_error_t error;
    *json = json_loadb(request->http->body, request->http->size, JSON_REJECT_DUPLICATES, &error);
    if (json_is_object(*json))
        return TUTTI_OK;
    bool read = *json != NULL;
    json_decref(*json);
    *json = NULL;
    return read ? tutti_fail(TUTTI_ERR_ARGUMENT, "what is sent has to be a JSON object")
                : tutti_fail(TUTTI_ERR_ARGUMENT, "what is sent is no JSON: line %d, column %d: %s", error.line,
                             error.column, tutti_str_show(error.text).text);
}
