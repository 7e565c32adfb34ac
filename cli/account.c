/* SPDX-License-Identifier: MIT */
#include "account.h"

#include <gnu/libc-version.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "run/content.h"
#include "base/options/options.h"
#include "apps/describe/json.h"

void account_begin(struct account *account, const struct tutti_run_options *options)
{
    *account = (struct account){.options = options, .began = time(NULL), .files = json_array()};
}

void account_fini(struct account *account)
{
    json_decref(account->files);
    account->files = NULL;
}

/* A folder, or what cannot be read (any more), has no hash. */
static void add(json_t *files, const char *role, const char *name, const char *path)
{
    struct tt_content content;
    char digits[TUTTI_CONTENT_TEXT];
    bool known = tt_content_of_file(&content, path) == TUTTI_OK;
    if (known)
        tt_content_format(&content, digits);
    json_array_append_new(files, json_pack("{s:s, s:o, s:o, s:o}", "role", role, "file", tt_json_text(name), "size",
                                           known ? json_integer((json_int_t)content.size) : json_null(), "sha256",
                                           known ? json_string(digits) : json_null()));
}

void account_add_used(void *context, const struct tutti_used_file *file)
{
    struct account *account = context;
    account->knows_files = true;
    add(account->files, file->role, file->name, file->path);
}

void account_add_written(struct account *account, const char *role, const char *name, const char *path)
{
    struct stat st;
    if (path && stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_mtime >= account->began)
        add(account->files, role, name, path);
}

const char *account_status(enum tutti_err err)
{
    return !err ? "completed" : err == TUTTI_ERR_INTERRUPTED ? "interrupted" : "failed";
}

static json_t *versions_json(const struct utsname *host)
{
    char system[sizeof host->sysname + sizeof host->release + sizeof host->machine + 3];
    struct tutti_used_library library;
    json_t *json = json_pack("{s:s}", "tutti", tutti_version());
    for (size_t i = 0; tutti_used_library_get(i, &library); i++)
        json_object_set_new(json, library.name, library.version[0] ? json_string(library.version) : json_null());
    json_object_set_new(json, "glibc", json_string(gnu_get_libc_version()));
    snprintf(system, sizeof system, "%s %s %s", host->sysname, host->release, host->machine);
    json_object_set_new(json, "system", json_string(system));
    return json;
}

/* Of a run that never came to know its files: those that were named. */
static void add_named(const struct account *account)
{
    const struct tutti_run_options *options = account->options;
    for (size_t i = 0; i < options->file_count; i++)
        add(account->files, "named", options->files[i], options->files[i]);
    for (size_t i = 0; i < options->input_count; i++)
        add(account->files, "input", options->inputs[i], options->inputs[i]);
}

json_t *account_json(struct account *account, const char *status, const char *error)
{
    struct utsname host = {.nodename = ""};
    struct tm utc = {0};
    char date[32] = "";
    (void)uname(&host);
    if (gmtime_r(&account->began, &utc))
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    if (!account->knows_files)
        add_named(account);
    return json_pack("{s:s, s:o, s:s, s:o, s:o, s:s, s:o, s:O}", "version", tutti_version(), "system",
                     tt_json_text(account->options->files[0]), "status", status, "error",
                     error ? tt_json_text(error) : json_null(), "host", tt_json_text(host.nodename), "date", date,
                     "versions", versions_json(&host), "files", account->files);
}
