/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tutti/tutti.h>
#include <unistd.h>

#include "base/child.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/text.h"
#include "commands.h"
#include "run/live/live.h"
#include "console.h"
#include "page.h"
#include "service.h"

/* Data that the plan borrows. */
struct wishes {
    struct tt_web_server_plan plan;
    char *folder, *file, *certificate, *key, *program;
    char token[TUTTI_LIVE_TOKEN];
    struct tutti_log log;
};

static enum tutti_err read_file(const char *path, const char *option, char **text)
{
    size_t size;
    *text = tt_fs_read_whole(path, &size);
    return *text ? TUTTI_OK : tt_fail(TUTTI_ERR_ARGUMENT, "%s: %s: %s", option, path, strerror(errno));
}

static enum tutti_err read_certificate(const struct arguments *arguments, struct wishes *wishes)
{
    const char *certificate = arguments_value(arguments, "--tls-cert"), *key = arguments_value(arguments, "--tls-key");
    if (!certificate != !key)
        return tt_fail(TUTTI_ERR_ARGUMENT, "--tls-cert and --tls-key belong together");
    if (certificate) {
        TRY(read_file(certificate, "--tls-cert", &wishes->certificate));
        TRY(read_file(key, "--tls-key", &wishes->key));
    }
    wishes->plan.certificate = wishes->certificate;
    wishes->plan.key = wishes->key;
    return TUTTI_OK;
}

/* A folder; or a system, and the folder that it is in. */
static enum tutti_err read_place(const char *place, struct wishes *wishes)
{
    struct stat st;
    if (stat(place, &st) != 0)
        return tt_fail(TUTTI_ERR_ARGUMENT, "%s: %s", place, strerror(errno));
    wishes->folder = tt_fs_absolute(place);
    if (!wishes->folder)
        return tt_fail_memory();
    if (!S_ISDIR(st.st_mode)) {
        char *slash = strrchr(wishes->folder, '/');
        wishes->file = tt_text_copy(slash + 1);
        slash[slash == wishes->folder] = '\0';
        if (!wishes->file)
            return tt_fail_memory();
    }
    wishes->plan.folder = wishes->folder;
    wishes->plan.file = wishes->file;
    return TUTTI_OK;
}

static enum tutti_err read_run(const struct arguments *arguments, struct wishes *wishes)
{
    const char *attach = arguments_value(arguments, "--attach"), *token = arguments_value(arguments, "--token");
    if (!attach && token)
        return tt_fail(TUTTI_ERR_ARGUMENT, "--token is for a run that --attach names");
    if (attach && arguments->operand_count > 0)
        return tt_fail(TUTTI_ERR_ARGUMENT, "with --attach the run is shown, and no folder");
    if (attach && !token)
        TRY(tt_live_token_read(attach, wishes->token));
    wishes->plan.attach = attach;
    wishes->plan.attach_token = token ? token : wishes->token;
    return TUTTI_OK;
}

static enum tutti_err read_wishes(const struct arguments *arguments, struct wishes *wishes)
{
    const char *listen = arguments_value(arguments, "--listen");
    wishes->log = (struct tutti_log){.write = console_log, .level = TUTTI_LOG_INFO};
    wishes->program = realpath("/proc/self/exe", NULL);
    wishes->plan = (struct tt_web_server_plan){.listen = listen ? listen : "127.0.0.1:0",
                                               .program = wishes->program,
                                               .read_only = arguments_value(arguments, "--read-only") != NULL,
                                               .assets = page_assets,
                                               .asset_count = page_asset_count,
                                               .log = &wishes->log};
    if (!wishes->program)
        return tt_fail(TUTTI_ERR_IO, "this program cannot be found: %s", strerror(errno));
    TRY(read_run(arguments, wishes));
    TRY(read_certificate(arguments, wishes));
    return wishes->plan.attach ? TUTTI_OK
                               : read_place(arguments->operand_count > 0 ? arguments->operands[0] : ".", wishes);
}

/* ---- the browser ---- */

/* Writes a file that redirects to the URL, for this user alone: the arguments of a browser are visible to all users.
 * NULL: it cannot be written. */
static char *write_door(const char *url)
{
    struct tt_text path = {0}, text = {0};
    char *own = tt_fs_own_cache();
    tt_text_printf(&path, "%s/web-%d.html", own ? own : "", (int)getpid());
    tt_text_printf(&text, "<!doctype html><meta charset=utf-8><meta http-equiv=refresh content=\"0;url=%s\">\n", url);
    bool written = own && !path.failed && !text.failed && tt_fs_replace(path.text, text.text, text.length);
    free(own);
    tt_text_fini(&text);
    if (!written)
        tt_text_fini(&path);
    return written ? path.text : NULL;
}

/* Without a browser, users open the printed address. */
static void open_browser(const char *door)
{
    pid_t pid;
    if (door)
        (void)!tt_child_start(&pid, &(struct tt_child_plan){.words = (const char *const[]){"xdg-open", door, NULL},
                                                            .streams = {TUTTI_CHILD_NOWHERE, 0, TUTTI_CHILD_NOWHERE},
                                                            .flags = TUTTI_CHILD_IN_PATH});
}

/* ---- the command ---- */

static enum tutti_err serve(const struct arguments *arguments, const struct wishes *wishes)
{
    struct tt_web_server *web;
    TRY(tt_web_server_open(&web, &wishes->plan));
    bool browser = !arguments_value(arguments, "--no-browser");
    char *door = browser ? write_door(tt_web_server_url(web)) : NULL;
    if (wishes->plan.asset_count == 0)
        tt_log(&wishes->log, TUTTI_LOG_WARNING, NULL,
               "this Tutti was built without its page, since Node.js or npm was missing (Debian: nodejs, npm); "
               "only /api/ is answered");
    service_heed_signals();
    printf("%s\n", tt_web_server_url(web));
    fflush(stdout);
    open_browser(door);
    enum tutti_err err = tt_web_server_run(web, &service_ended_by);
    if (door)
        (void)unlink(door);
    free(door);
    tt_web_server_close(web);
    return err;
}

int command_web(const struct arguments *arguments)
{
    struct wishes wishes = {0};
    service_raise_limit_of_files();
    enum tutti_err err = read_wishes(arguments, &wishes);
    err = err ? err : serve(arguments, &wishes);
    if (err)
        console_error(tutti_err_message());
    free(wishes.folder);
    free(wishes.file);
    free(wishes.certificate);
    free(wishes.key);
    free(wishes.program);
    return err == TUTTI_ERR_ARGUMENT ? EXIT_USAGE : err ? EXIT_FAILED : EXIT_DONE;
}
