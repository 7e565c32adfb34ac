/* SPDX-License-Identifier: MIT */
/* What strangers send to the server of the page: the first byte says what the rest is. Lines of a request; the name of a file; a document;
 * options of a run. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/options/options.h"
#include "apps/web/command.h"
#include "apps/web/access.h"
#include "apps/web/routes.h"
#include "apps/web/system/document_read.h"

static const struct tt_access GATE = {"secret", "127.0.0.1:8080", "127.0.0.1", true, false};

static void request(char *text)
{
    char id[64], *rest = NULL;
    bool known;
    const char *method = strtok_r(text, "\n", &rest), *path = method ? strtok_r(NULL, "\n", &rest) : NULL;
    const char *host = path ? strtok_r(NULL, "\n", &rest) : NULL, *origin = host ? strtok_r(NULL, "\n", &rest) : NULL;
    if (path)
        (void)tt_routes_find(method, path, id, &known);
    if (tt_access_allows_host(&GATE, host) && tt_access_allows_origin(&GATE, origin, host) && origin &&
        strncmp(origin, "http://", 7) != 0)
        abort();
    if (tt_access_allows_token(&GATE, host) && strcmp(host, "Bearer secret") != 0)
        abort();
}

static void name(const struct tt_served_folder *folder, const char *text)
{
    char *path;
    if (tt_served_folder_find(folder, text, TUTTI_WEB_NEW_FILE, &path) == TUTTI_OK) {
        if (strstr(path, "/../") || strncmp(path, folder->path, strlen(folder->path)) != 0)
            abort();
        free(path);
    }
}

static void document(const struct tt_served_folder *folder, json_t *json)
{
    struct tt_system_draft draft;
    struct tt_text text = {0};
    if (tt_document_write_open_draft(folder, json, &draft, &text) == TUTTI_OK && text.failed)
        abort();
    tt_text_fini(&text);
    tt_system_draft_fini(&draft);
}

static void options(const struct tt_served_folder *folder, json_t *json)
{
    struct tt_command command = {0};
    struct tt_text text = {0};
    if (tt_command_add_options(&command, folder, json, TUTTI_IN_RUN) == TUTTI_OK)
        tt_command_show(&command, &text);
    tt_text_fini(&text);
    tt_command_fini(&command);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tt_tempdir *tempdir;
    struct tt_served_folder folder;
    if (size < 1 || tt_tempdir_new(&tempdir) != TUTTI_OK)
        return 0;
    char *text = strndup((const char *)data + 1, size - 1);
    json_t *json = json_loadb((const char *)data + 1, size - 1, JSON_REJECT_DUPLICATES, NULL);
    if (text && tt_served_folder_init(&folder, tt_tempdir_path(tempdir)) == TUTTI_OK) {
        switch (data[0]) {
        case 'r': request(text); break;
        case 'n': name(&folder, text); break;
        case 'd': document(&folder, json); break;
        case 'o': options(&folder, json); break;
        default: break;
        }
        tt_served_folder_fini(&folder);
    }
    json_decref(json);
    free(text);
    tt_tempdir_free(tempdir);
    return 0;
}
