/* SPDX-License-Identifier: MIT */
/* Requests for the folder's content, for uploads, and for descriptions of FMUs. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <tutti/tell.h>
#include <tutti/tutti.h>
#include <unistd.h>

#include "base/fs.h"
#include "fmu/fmu.h"
#include "apps/describe/json.h"
#include "apps/web/reader_process.h"
#include "apps/web/routes.h"

enum { MOST_ENTRIES = 10000 };

/* ---- what is there ---- */

static const char *kind_by_ending(const char *name)
{
    static const struct {
        const char *ending, *kind;
    } kinds[] = {{".fmu", "fmu"},    {".ssp", "ssp"},   {".ssd", "ssp"},      {".csv", "table"},
                 {".mat", "result"}, {".h5", "result"}, {".jsonl", "result"}, {".msim", "import"}};
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof kinds / sizeof *kinds; i++)
        if (strcasecmp(dot, kinds[i].ending) == 0)
            return kinds[i].kind;
    return strncmp(name, "OspSystemStructure", 18) == 0 && dot && strcmp(dot, ".xml") == 0 ? "import" : "other";
}

/* Files and folders; nothing else, and nothing hidden. */
static json_t *entries_json(int fd, DIR *stream, bool *all)
{
    json_t *entries = json_array();
    struct dirent *found;
    *all = true;
    while ((found = readdir(stream))) {
        struct stat st;
        if (found->d_name[0] == '.' || fstatat(fd, found->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
            (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)))
            continue;
        *all = json_array_size(entries) < MOST_ENTRIES;
        if (!*all)
            break;
        bool folder = S_ISDIR(st.st_mode);
        json_t *entry = json_object();
        tt_json_set(&entry, "name", tt_json_text(found->d_name));
        tt_json_set(&entry, "kind", json_string(folder ? "folder" : kind_by_ending(found->d_name)));
        tt_json_set(&entry, "size", folder ? json_null() : json_integer(st.st_size));
        tt_json_set(&entry, "modified", json_integer(st.st_mtime));
        tt_json_append(&entries, entry);
    }
    return entries;
}

enum tutti_err tt_served_folder_list(struct tt_web_site *site, const struct tt_web_request *request,
                                     struct tt_http_response *answer)
{
    const char *given = request->http->argument(request->http, "path"), *name = given ? given : "";
    bool all;
    int fd;
    TRY(tt_served_folder_open(&site->folder, name, &fd));
    int scan = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    DIR *stream = scan >= 0 ? fdopendir(scan) : NULL;
    if (!stream) {
        if (scan >= 0)
            close(scan);
        close(fd);
        return tt_fail_memory();
    }
    json_t *entries = entries_json(fd, stream, &all);
    closedir(stream);
    close(fd);
    tt_response_json(answer, 200,
                     json_pack("{s:o, s:o, s:b}", "path", tt_json_text(name), "entries", entries, "all", all));
    return TUTTI_OK;
}

/* ---- files that come ---- */

/* In the reader: checks that the file at "path" has the type of its name, without running code of it. */
static enum tutti_err inspect_file(struct tt_web_site *site, const struct tt_web_request *request,
                                   struct tt_http_response *answer)
{
    const char *path;
    char *json = NULL;
    (void)site;
    TRY(tt_routes_require(request, "path", &path));
    TRY(tutti_tell_info(&json, path));
    tutti_tell_free(json);
    tt_response_json(answer, 200, json_object());
    return TUTTI_OK;
}

/* Returns the path of a request that the server made for itself. */
static const char *served_files_find_path(const struct tt_http_request *http, const char *name)
{
    return strcmp(name, "path") == 0 ? http->path : NULL;
}

static enum tutti_err served_files_inspect(struct tt_web_site *site, const char *path, const char *kind)
{
    const struct tt_http_request http = {.method = "GET", .path = path, .body = "", .argument = served_files_find_path};
    struct tt_http_response answer = {0};
    if (strcmp(kind, "fmu") != 0 && strcmp(kind, "ssp") != 0)
        return TUTTI_OK;
    TRY(tt_reader_process_query(site->reader, inspect_file, &(struct tt_web_request){.http = &http}, &answer));
    enum tutti_err err = tt_response_to_err(&answer);
    tt_response_fini(&answer);
    return err;
}

static enum tutti_err served_files_store(struct tt_web_site *site, const char *path, const char *beside,
                                         const char *kind, const struct tt_http_request *http)
{
    int fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0)
        return tt_fail(TUTTI_ERR_STATE, "%s cannot be written: %s", beside, strerror(errno));
    bool written = tt_fs_write(fd, http->body, http->size, -1) == http->size;
    int error = errno;
    written = close(fd) == 0 && written;
    enum tutti_err err = written ? served_files_inspect(site, beside, kind)
                                 : tt_fail(TUTTI_ERR_STATE, "%s cannot be written: %s", beside, strerror(error));
    if (!err && link(beside, path) != 0)
        err = tt_fail(TUTTI_ERR_STATE, "%s",
                      errno == EEXIST ? "a file of this name is there already; remove it first, or take another name"
                                      : strerror(errno));
    (void)unlink(beside);
    return err;
}

enum tutti_err tt_served_folder_upload(struct tt_web_site *site, const struct tt_web_request *request,
                                       struct tt_http_response *answer)
{
    const char *name;
    char *path;
    struct tt_text beside = {0};
    TRY(tt_routes_require(request, "path", &name));
    const char *kind = kind_by_ending(name);
    if (strcmp(kind, "other") == 0)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "'%s' is no .fmu, .ssp, .ssd, .csv, .mat, .h5, .jsonl, .msim or "
                       "OspSystemStructure.xml",
                       tt_text_excerpt(name).text);
    TRY(tt_served_folder_find(&site->folder, name, TUTTI_WEB_NEW_FILE, &path));
    const char *slash = strrchr(path, '/');
    tt_text_printf(&beside, "%.*s/.coming-%s", (int)(slash - path), path, slash + 1);
    enum tutti_err err = beside.failed ? tt_fail_memory()
                                       : served_files_store(site, path, beside.text, kind, request->http);
    tt_text_fini(&beside);
    free(path);
    TRY(err);
    tt_response_json(answer, 201,
                     json_pack("{s:o, s:s, s:I}", "path", tt_json_text(name), "kind", kind, "size",
                               (json_int_t)request->http->size));
    return TUTTI_OK;
}

/* ---- what FMUs are ---- */

enum tutti_err tt_served_folder_describe_fmu(struct tt_web_site *site, const struct tt_web_request *request,
                                             struct tt_http_response *answer)
{
    const char *name;
    char *path, *json = NULL;
    TRY(tt_routes_require(request, "path", &name));
    TRY(tt_served_folder_find(&site->folder, name, TUTTI_WEB_FILE, &path));
    enum tutti_err err = tutti_tell_info(&json, path);
    free(path);
    TRY(err);
    tt_response_text(answer, "application/json", json, strlen(json));
    return TUTTI_OK;
}

/* ---- the server itself ---- */

enum tutti_err tt_served_folder_describe_server(struct tt_web_site *site, const struct tt_web_request *request,
                                                struct tt_http_response *answer)
{
    const struct tt_web_server_plan *plan = &site->plan;
    json_t *json = json_object();
    (void)request;
    tt_json_set(&json, "version", json_string(tutti_version()));
    tt_json_set(&json, "folder", site->folder.path ? tt_json_text(site->folder.path) : json_null());
    tt_json_set(&json, "readOnly", json_boolean(plan->read_only));
    tt_json_set(&json, "file", plan->file ? tt_json_text(plan->file) : json_null());
    tt_json_set(&json, "attached", plan->attach ? tt_json_text(plan->attach) : json_null());
    tt_json_set(&json, "limits",
                json_pack("{s:I, s:I}", "upload", (json_int_t)(512 << 20), "document", (json_int_t)(32 << 20)));
    tt_response_json(answer, 200, json);
    return TUTTI_OK;
}
