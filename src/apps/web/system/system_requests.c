/* SPDX-License-Identifier: MIT */
/* Systems as documents: read, saved, looked at. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/options/options.h"
#include "apps/describe/json.h"
#include "apps/web/command.h"
#include "apps/web/system/document.h"
#include "apps/web/system/inspection.h"
#include "apps/web/site.h"

/* ---- reading ---- */

static enum tutti_err read_system_document(struct tt_web_site *site, const char *name, json_t **json)
{
    struct tt_system_draft draft;
    char revision[64] = "";
    enum tutti_err err = tt_system_draft_init(&draft, &site->folder, name);
    if (!err)
        err = tt_document_read(&draft, json);
    if (!err && !draft.tempdir)
        err = tt_system_draft_revision(draft.file, revision);
    if (!err)
        tt_json_set(json, "revision", json_string(revision));
    tt_system_draft_fini(&draft);
    return err;
}

enum tutti_err tt_system_requests_get(struct tt_web_site *site, const struct tt_web_request *request,
                                      struct tt_http_response *answer)
{
    const char *name;
    json_t *json = NULL;
    TRY(tt_routes_require(request, "path", &name));
    TRY(read_system_document(site, name, &json));
    tt_response_json(answer, 200, json);
    return TUTTI_OK;
}

/* ---- saving ---- */

static enum tutti_err check_revision(const char *path, json_t *document, struct tt_http_response *answer)
{
    char revision[64];
    const char *given = json_string_value(json_object_get(document, "revision"));
    TRY(tt_system_draft_revision(path, revision));
    if (!revision[0] || (given && strcmp(given, revision) == 0))
        return TUTTI_OK;
    answer->status = 409;
    return tt_fail(TUTTI_ERR_STATE,
                   "%s has been changed since it was opened, or is another file; open it again, or save under "
                   "another name",
                   strrchr(path, '/') + 1);
}

static enum tutti_err system_requests_save(struct tt_web_site *site, const char *path, json_t *document)
{
    struct tt_system_draft draft;
    struct tt_text text = {0};
    enum tutti_err err = tt_document_write_open_draft(&site->folder, document, &draft, &text);
    if (!err)
        err = tt_system_draft_pack(&draft, &text, path);
    tt_text_fini(&text);
    tt_system_draft_fini(&draft);
    return err;
}

enum tutti_err tt_system_requests_save(struct tt_web_site *site, const struct tt_web_request *request,
                                       struct tt_http_response *answer)
{
    const char *name;
    char *path;
    json_t *document = NULL, *json = NULL;
    TRY(tt_routes_require(request, "path", &name));
    size_t length = strlen(name);
    if (length < 5 || strcasecmp(name + length - 4, ".ssp") != 0)
        return tt_fail(TUTTI_ERR_ARGUMENT, "a system is saved as NAME.ssp, not as '%s'", tt_text_excerpt(name).text);
    TRY(tt_served_folder_find(&site->folder, name, TUTTI_WEB_NEW_FILE, &path));
    enum tutti_err err = tt_routes_require_json(request, &document);
    if (!err)
        err = check_revision(path, document, answer);
    if (!err)
        err = system_requests_save(site, path, document);
    if (!err)
        err = read_system_document(site, name, &json);
    json_decref(document);
    free(path);
    TRY(err);
    tt_response_json(answer, 200, json);
    return TUTTI_OK;
}

/* ---- looking ---- */

/* Asks something about the system that a document is: of the file at `path`, in the folder `root`. */
typedef enum tutti_err question(const char *path, const char *root, json_t *body, json_t **json);

static enum tutti_err ask_about(struct tt_web_site *site, json_t *body, json_t *document, question *ask,
                                struct tt_http_response *answer)
{
    struct tt_system_draft draft;
    struct tt_text text = {0};
    json_t *json = NULL;
    char *path = NULL;
    enum tutti_err err = tt_document_write_open_draft(&site->folder, document, &draft, &text);
    if (!err)
        err = tt_system_draft_write(&draft, &text, &path);
    if (!err)
        err = ask(path, draft.root, body, &json);
    free(path);
    tt_text_fini(&text);
    tt_system_draft_fini(&draft);
    json_decref(body);
    TRY(err);
    tt_response_json(answer, 200, json);
    return TUTTI_OK;
}

static enum tutti_err ask_findings(const char *path, const char *root, json_t *body, json_t **json)
{
    (void)body;
    return tt_system_requests_inspect(path, root, json);
}

enum tutti_err tt_web_look_system(struct tt_web_site *site, const struct tt_web_request *request,
                                  struct tt_http_response *answer)
{
    json_t *document = NULL;
    TRY(tt_routes_require_json(request, &document));
    return ask_about(site, document, document, ask_findings, answer);
}

static enum tutti_err ask_joined(const char *path, const char *root, json_t *body, json_t **json)
{
    const char *from = json_string_value(json_object_get(body, "from")),
               *to = json_string_value(json_object_get(body, "to"));
    (void)root;
    if (!from || !to)
        return tt_fail(TUTTI_ERR_ARGUMENT, "\"from\" and \"to\" have to name terminals");
    return tt_system_requests_join_terminals(path, from, to, json);
}

enum tutti_err tt_web_join_system(struct tt_web_site *site, const struct tt_web_request *request,
                                  struct tt_http_response *answer)
{
    json_t *body = NULL;
    TRY(tt_routes_require_json(request, &body));
    return ask_about(site, body, json_object_get(body, "document"), ask_joined, answer);
}

/* ---- analysing: code of FMUs runs, in a process of its own ---- */

static enum tutti_err analyze(struct tt_web_site *site, const char *path, json_t *options, struct tt_text *out)
{
    struct tt_command command = {0};
    enum tutti_err err = TUTTI_OK;
    tt_command_add(&command, site->plan.program);
    tt_command_add(&command, "analyze");
    tt_command_add(&command, path);
    tt_command_add(&command, "--json");
    if (options)
        err = tt_command_add_options(&command, &site->folder, options, TUTTI_IN_ANALYZE);
    if (!err)
        err = tt_command_query(&command, out);
    tt_command_fini(&command);
    return err;
}

enum tutti_err tt_web_analyze_system(struct tt_web_site *site, const struct tt_web_request *request,
                                     struct tt_http_response *answer)
{
    struct tt_system_draft draft;
    struct tt_text text = {0}, out = {0};
    json_t *body = NULL;
    char *path = NULL;
    TRY(tt_routes_require_json(request, &body));
    json_t *document = json_object_get(body, "document"), *options = json_object_get(body, "options");
    enum tutti_err err = tt_document_write_open_draft(&site->folder, document, &draft, &text);
    if (!err)
        err = tt_system_draft_write(&draft, &text, &path);
    if (!err)
        err = analyze(site, path, options, &out);
    free(path);
    tt_text_fini(&text);
    tt_system_draft_fini(&draft);
    json_decref(body);
    if (err)
        tt_text_fini(&out);
    TRY(err);
    tt_response_text(answer, "application/json", out.text, out.length);
    return TUTTI_OK;
}
