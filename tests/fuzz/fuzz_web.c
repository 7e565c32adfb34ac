/* SPDX-License-Identifier: MIT */
/* What strangers send to the server of the page: the first byte says what the rest is. Lines of a request; the name of a file; a document;
 * options of a run. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "options/options.h"
#include "web/child.h"
#include "web/gate.h"
#include "web/site.h"
#include "web/system/document.h"

static const struct tutti_web_gate GATE = {"secret", "127.0.0.1:8080", "127.0.0.1", true, false};

static void request(char *text)
{
    char id[64], *rest = NULL;
    bool known;
    const char *method = strtok_r(text, "\n", &rest), *path = method ? strtok_r(NULL, "\n", &rest) : NULL;
    const char *host = path ? strtok_r(NULL, "\n", &rest) : NULL, *origin = host ? strtok_r(NULL, "\n", &rest) : NULL;
    if (path)
        (void)tutti_web_route_find(method, path, id, &known);
    if (tutti_web_gate_knows_host(&GATE, host) && tutti_web_gate_knows_origin(&GATE, origin, host) && origin &&
        strncmp(origin, "http://", 7) != 0)
        abort();
    if (tutti_web_gate_knows_token(&GATE, host) && strcmp(host, "Bearer secret") != 0)
        abort();
}

static void name(const struct tutti_web_folder *folder, const char *text)
{
    char *path;
    if (tutti_web_folder_find(folder, text, TUTTI_WEB_NEW_FILE, &path) == TUTTI_OK) {
        if (strstr(path, "/../") || strncmp(path, folder->path, strlen(folder->path)) != 0)
            abort();
        free(path);
    }
}

static void document(const struct tutti_web_folder *folder, json_t *json)
{
    struct tutti_web_draft draft;
    struct tutti_text text = {0};
    if (tutti_web_document_take(folder, json, &draft, &text) == TUTTI_OK && text.failed)
        abort();
    tutti_text_fini(&text);
    tutti_web_draft_fini(&draft);
}

static void options(const struct tutti_web_folder *folder, json_t *json)
{
    struct tutti_web_command command = {0};
    struct tutti_text text = {0};
    if (tutti_web_command_add_options(&command, folder, json, TUTTI_IN_RUN) == TUTTI_OK)
        tutti_web_command_show(&command, &text);
    tutti_text_fini(&text);
    tutti_web_command_fini(&command);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tutti_tempdir *tempdir;
    struct tutti_web_folder folder;
    if (size < 1 || tutti_tempdir_new(&tempdir) != TUTTI_OK)
        return 0;
    char *text = strndup((const char *)data + 1, size - 1);
    json_t *json = json_loadb((const char *)data + 1, size - 1, JSON_REJECT_DUPLICATES, NULL);
    if (text && tutti_web_folder_init(&folder, tutti_tempdir_path(tempdir)) == TUTTI_OK) {
        switch (data[0]) {
        case 'r': request(text); break;
        case 'n': name(&folder, text); break;
        case 'd': document(&folder, json); break;
        case 'o': options(&folder, json); break;
        default: break;
        }
        tutti_web_folder_fini(&folder);
    }
    json_decref(json);
    free(text);
    tutti_tempdir_free(tempdir);
    return 0;
}
