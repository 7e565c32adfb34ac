/* SPDX-License-Identifier: MIT */
/* Systems as documents: read, saved, looked at. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "options/options.h"
#include "tell/json.h"
#include "web/child.h"
#include "web/system/document.h"
#include "web/system/look.h"
#include "web/site.h"

/* ---- reading ---- */

static enum tutti_err read_system(struct tutti_web_site *site, const char *name, json_t **json)
{
    struct tutti_web_draft draft;
    char revision[64] = "";
    enum tutti_err err = tutti_web_draft_init(&draft, &site->folder, name);
    if (!err)
        err = tutti_web_document_read(&draft, json);
    if (!err && !draft.tempdir)
        err = tutti_web_draft_revision(draft.file, revision);
    if (!err)
        tutti_json_set(json, "revision", json_string(revision));
    tutti_web_draft_fini(&draft);
    return err;
}

enum tutti_err tutti_web_read_system(struct tutti_web_site *site, const struct tutti_web_request *request,
                                     struct tutti_http_answer *answer)
{
    const char *name;
    json_t *json = NULL;
    TRY(tutti_web_need(request, "path", &name));
    TRY(read_system(site, name, &json));
    tutti_web_answer_json(answer, 200, json);
    return TUTTI_OK;
}

/* ---- saving ---- */

static enum tutti_err check_revision(const char *path, json_t *document, struct tutti_http_answer *answer)
{
    char revision[64];
    const char *given = json_string_value(json_object_get(document, "revision"));
    TRY(tutti_web_draft_revision(path, revision));
    if (!revision[0] || (given && strcmp(given, revision) == 0))
        return TUTTI_OK;
    answer->status = 409;
    return tutti_fail(TUTTI_ERR_STATE,
                      "%s has been changed since it was opened, or is another file; open it again, or save under "
                      "another name",
                      strrchr(path, '/') + 1);
}

static enum tutti_err save(struct tutti_web_site *site, const char *path, json_t *document)
{
    struct tutti_web_draft draft;
    struct tutti_text text = {0};
    enum tutti_err err = tutti_web_document_take(&site->folder, document, &draft, &text);
    if (!err)
        err = tutti_web_draft_pack(&draft, &text, path);
    tutti_text_fini(&text);
    tutti_web_draft_fini(&draft);
    return err;
}

enum tutti_err tutti_web_save_system(struct tutti_web_site *site, const struct tutti_web_request *request,
                                     struct tutti_http_answer *answer)
{
    const char *name;
    char *path;
    json_t *document = NULL, *json = NULL;
    TRY(tutti_web_need(request, "path", &name));
    size_t length = strlen(name);
    if (length < 5 || strcasecmp(name + length - 4, ".ssp") != 0)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "a system is saved as NAME.ssp, not as '%s'", tutti_str_show(name).text);
    TRY(tutti_web_folder_find(&site->folder, name, TUTTI_WEB_NEW_FILE, &path));
    enum tutti_err err = tutti_web_need_json(request, &document);
    if (!err)
        err = check_revision(path, document, answer);
    if (!err)
        err = save(site, path, document);
    if (!err)
        err = read_system(site, name, &json);
    json_decref(document);
    free(path);
    TRY(err);
    tutti_web_answer_json(answer, 200, json);
    return TUTTI_OK;
}

/* ---- looking ---- */

/* Asks something about the system that a document is: of the file at `path`, in the folder `root`. */
typedef enum tutti_err question(const char *path, const char *root, json_t *body, json_t **json);

static enum tutti_err ask_about(struct tutti_web_site *site, json_t *body, json_t *document, question *ask,
                                struct tutti_http_answer *answer)
{
    struct tutti_web_draft draft;
    struct tutti_text text = {0};
    json_t *json = NULL;
    char *path = NULL;
    enum tutti_err err = tutti_web_document_take(&site->folder, document, &draft, &text);
    if (!err)
        err = tutti_web_draft_put(&draft, &text, &path);
    if (!err)
        err = ask(path, draft.root, body, &json);
    free(path);
    tutti_text_fini(&text);
    tutti_web_draft_fini(&draft);
    json_decref(body);
    TRY(err);
    tutti_web_answer_json(answer, 200, json);
    return TUTTI_OK;
}

static enum tutti_err ask_findings(const char *path, const char *root, json_t *body, json_t **json)
{
    (void)body;
    return tutti_web_look(path, root, json);
}

enum tutti_err tutti_web_look_system(struct tutti_web_site *site, const struct tutti_web_request *request,
                                     struct tutti_http_answer *answer)
{
    json_t *document = NULL;
    TRY(tutti_web_need_json(request, &document));
    return ask_about(site, document, document, ask_findings, answer);
}

static enum tutti_err ask_joined(const char *path, const char *root, json_t *body, json_t **json)
{
    const char *from = json_string_value(json_object_get(body, "from")),
               *to = json_string_value(json_object_get(body, "to"));
    (void)root;
    if (!from || !to)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "\"from\" and \"to\" have to name terminals");
    return tutti_web_join_terminals(path, from, to, json);
}

enum tutti_err tutti_web_join_system(struct tutti_web_site *site, const struct tutti_web_request *request,
                                     struct tutti_http_answer *answer)
{
    json_t *body = NULL;
    TRY(tutti_web_need_json(request, &body));
    return ask_about(site, body, json_object_get(body, "document"), ask_joined, answer);
}

/* ---- analysing: code of FMUs runs, in a process of its own ---- */

static enum tutti_err analyze(struct tutti_web_site *site, const char *path, json_t *options, struct tutti_text *out)
{
    struct tutti_web_command command = {0};
    enum tutti_err err = TUTTI_OK;
    tutti_web_command_add(&command, site->plan.program);
    tutti_web_command_add(&command, "analyze");
    tutti_web_command_add(&command, path);
    tutti_web_command_add(&command, "--json");
    if (options)
        err = tutti_web_command_add_options(&command, &site->folder, options, TUTTI_IN_ANALYZE);
    if (!err)
        err = tutti_web_command_ask(&command, out);
    tutti_web_command_fini(&command);
    return err;
}

enum tutti_err tutti_web_analyze_system(struct tutti_web_site *site, const struct tutti_web_request *request,
                                        struct tutti_http_answer *answer)
{
    struct tutti_web_draft draft;
    struct tutti_text text = {0}, out = {0};
    json_t *body = NULL;
    char *path = NULL;
    TRY(tutti_web_need_json(request, &body));
    json_t *document = json_object_get(body, "document"), *options = json_object_get(body, "options");
    enum tutti_err err = tutti_web_document_take(&site->folder, document, &draft, &text);
    if (!err)
        err = tutti_web_draft_put(&draft, &text, &path);
    if (!err)
        err = analyze(site, path, options, &out);
    free(path);
    tutti_text_fini(&text);
    tutti_web_draft_fini(&draft);
    json_decref(body);
    if (err)
        tutti_text_fini(&out);
    TRY(err);
    tutti_web_answer_text(answer, "application/json", out.text, out.length);
    return TUTTI_OK;
}
