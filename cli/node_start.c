/* SPDX-License-Identifier: MIT */
/* A node lives as long as the ssh that started it: its script waits for the end of standard input, which comes when this program
 * ends, however it ends, or the connection does. So nothing is left on the hosts. */
#include "node_start.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/text.h"
#include "run/key_files.h"
#include "run/list_file.h"
#include "run/node/node_protocol.h"
#include "console.h"

/* One line of the file: "[USER@]HOST [address=NAME] [ranks=N] [tutti=PATH]". */
struct host {
    char *name;    /* as ssh takes it */
    char *address; /* as runs reach it */
    char *tutti;   /* the command there */
    int ranks;
    pid_t ssh;       /* 0: not running */
    int in, out;     /* pipes to it */
    char said[1024]; /* its first line, as far as it has come */
    size_t length;
    bool listens;
};

struct crowd {
    struct host *hosts;
    size_t count;
    const char *user_key; /* the public key of the user */
    const char *options;  /* for the nodes, quoted */
};

/* ---- the file ---- */

static bool is_plain(const char *word)
{
    return word[0] != '-' &&
           word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:@[]%")] == '\0';
}

static bool read_word(struct host *host, const char *word)
{
    const char *value = strchr(word, '=');
    size_t length = value ? (size_t)(value++ - word) : 0;
    if (length == 7 && strncmp(word, "address", length) == 0 && is_plain(value)) {
        free(host->address);
        host->address = tt_text_copy(value);
    } else if (length == 5 && strncmp(word, "tutti", length) == 0) {
        free(host->tutti);
        host->tutti = tt_text_copy(value);
    } else if (length == 5 && strncmp(word, "ranks", length) == 0) {
        char *end;
        long ranks = strtol(value, &end, 10);
        host->ranks = *end == '\0' && ranks >= 1 && ranks <= TUTTI_NODE_MOST_RANKS ? (int)ranks : 0;
    } else {
        return false;
    }
    return host->ranks > 0;
}

static enum tutti_err take(void *context, char *line, const char *place)
{
    struct crowd *crowd = context;
    struct host *hosts = reallocarray(crowd->hosts, crowd->count + 1, sizeof *hosts);
    if (!hosts)
        return tt_fail_memory();
    crowd->hosts = hosts;
    struct host *host = &hosts[crowd->count++];
    char *next;
    const char *name = strtok_r(line, " \t", &next), *at = strrchr(name, '@');
    *host = (struct host){.name = tt_text_copy(name),
                          .address = tt_text_copy(at ? at + 1 : name),
                          .tutti = tt_text_copy("tutti"),
                          .ranks = 1,
                          .in = -1,
                          .out = -1};
    if (!is_plain(name))
        return tt_fail(TUTTI_ERR_ARGUMENT, "%s: '%s' is no name of a host", place, tt_text_excerpt(name).text);
    for (const char *word; (word = strtok_r(NULL, " \t", &next));)
        if (!read_word(host, word))
            return tt_fail(TUTTI_ERR_ARGUMENT, "%s: '%s' is none of address=NAME, ranks=N, tutti=PATH", place,
                           tt_text_excerpt(word).text);
    return host->name && host->address && host->tutti ? TUTTI_OK : tt_fail_memory();
}

/* ---- what is run there ---- */

/* For a shell: 'it'\''s' */
static void put_quoted(struct tt_text *text, const char *word)
{
    tt_text_append(text, " '");
    for (; *word; word++)
        if (*word == '\'')
            tt_text_append(text, "'\\''");
        else
            tt_text_append_n(text, word, 1);
    tt_text_append(text, "'");
}

/* The options that nodes get as they were given. False after a message: one makes no sense for many machines. */
static bool put_options(struct tt_text *text, const struct arguments *arguments)
{
    static const char *const handed_on[] = {"--listen",   "--ports",     "--cache",       "--cache-size", "--idle",
                                            "--max-runs", "--max-ranks", "--max-seconds", "--max-memory", "--confine",
                                            "--permit",   "--limits",    "--env"};
    static const char *const own[] = {"--start", "--key", "--quiet"};
    bool listens = arguments_value(arguments, "--listen") != NULL;
    tt_text_append(text, listens ? "" : " --listen 0.0.0.0:0");
    for (size_t i = 0; i < arguments->given_count; i++) {
        const char *name = arguments->given[i].option->name;
        bool hands_on = false, is_own = false;
        for (size_t k = 0; k < sizeof handed_on / sizeof *handed_on; k++)
            hands_on = hands_on || strcmp(name, handed_on[k]) == 0;
        for (size_t k = 0; k < sizeof own / sizeof *own; k++)
            is_own = is_own || strcmp(name, own[k]) == 0;
        if (!hands_on && !is_own) {
            fprintf(stderr, "tutti node: --start does not go with %s: start that node on its own machine\n", name);
            return false;
        }
        if (hands_on) {
            tt_text_printf(text, " %s", name);
            put_quoted(text, arguments->given[i].value);
        }
    }
    return true;
}

/* Starts a node with a separate key, until standard input ends. Its first line reports its key and its port. */
static void put_script(struct tt_text *script, const struct crowd *crowd, const struct host *host)
{
    struct tt_text tutti = {0};
    put_quoted(&tutti, host->tutti);
    tt_text_printf(
        script,
        "umask 077; d=$(mktemp -d) || exit 1; trap 'rm -rf \"$d\"' EXIT; trap 'exit 1' HUP INT TERM; exec 3<&0; "
        "%s node --keygen \"$d/key\" >\"$d/pub\" || exit 1; echo %s >\"$d/user.pub\"; "
        "%s node --key \"$d/key\" --allow \"$d/user.pub\"%s 2>\"$d/log\" >&2 </dev/null & n=$!; "
        "until grep -q 'listening at' \"$d/log\"; do kill -0 $n 2>/dev/null || { cat \"$d/log\" >&2; exit 1; }; "
        "sleep 0.1; done; "
        "p=$(sed -n 's/.*listening at .*:\\([0-9]*\\),.*/\\1/p' \"$d/log\"); echo \"listening $p $(cat \"$d/pub\")\"; "
        "{ cat <&3 >/dev/null; kill $n 2>/dev/null; } & c=$!; wait $n; s=$?; kill $c 2>/dev/null; "
        "[ $s = 0 ] || cat \"$d/log\" >&2; exit $s",
        tutti.text ? tutti.text : "", crowd->user_key, tutti.text ? tutti.text : "", crowd->options);
    script->failed = script->failed || tutti.failed;
    tt_text_fini(&tutti);
}

/* ---- ssh ---- */

static bool start_host(const struct crowd *crowd, struct host *host)
{
    struct tt_text script = {0}, command = {0};
    int in[2] = {-1, -1}, out[2] = {-1, -1};
    put_script(&script, crowd, host);
    tt_text_append(&command, "exec sh -c"); /* whatever shell people have there */
    put_quoted(&command, script.text ? script.text : "");
    int error = script.failed || command.failed                           ? ENOMEM
                : pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0 ? errno
                                                                          : 0;
    if (!error)
        error = tt_child_start(
            &host->ssh,
            &(struct tt_child_plan){.words = (const char *const[]){"ssh", "-o", "BatchMode=yes", "-o",
                                                                   "ConnectTimeout=20", host->name, command.text, NULL},
                                    .streams = {in[0], out[1]},
                                    .flags = TUTTI_CHILD_IN_PATH});
    tt_text_fini(&script);
    tt_text_fini(&command);
    host->in = in[1];
    host->out = out[0];
    if (in[0] >= 0)
        close(in[0]);
    if (out[1] >= 0)
        close(out[1]);
    if (error)
        fprintf(stderr, "tutti: error: ssh cannot be run: %s\n", strerror(error));
    return error == 0;
}

static void end_host(struct host *host)
{
    if (host->in >= 0)
        close(host->in); /* the end of its node */
    if (host->out >= 0)
        close(host->out);
    host->in = host->out = -1;
    (void)tt_child_wait(host->ssh, INFINITY, NULL);
    host->ssh = 0;
}

/* Reads the output of a host. False at its end. */
static bool hear(struct host *host)
{
    char drop[256];
    size_t room = sizeof host->said - 1 - host->length;
    ssize_t n = host->listens || room == 0 ? read(host->out, drop, sizeof drop)
                                           : read(host->out, host->said + host->length, room);
    if (n < 0)
        return errno == EINTR || errno == EAGAIN;
    if (!host->listens && room > 0)
        host->length += (size_t)n;
    host->said[host->length] = '\0';
    host->listens = host->listens || strchr(host->said, '\n');
    return n > 0;
}

/* ---- all of them ---- */

/* Prints "HOST:PORT KEY ranks=N" from "listening PORT KEY". False if a host sends anything else. */
static bool print_list(const struct crowd *crowd)
{
    struct tt_text list = {0};
    for (size_t i = 0; i < crowd->count; i++) {
        struct host *host = &crowd->hosts[i];
        uint8_t key[TUTTI_KEY_SIZE];
        char *next;
        const char *word = strtok_r(host->said, " \n", &next), *port = strtok_r(NULL, " \n", &next),
                   *text = strtok_r(NULL, " \n", &next);
        if (!word || strcmp(word, "listening") != 0 || !port || port[strspn(port, "0123456789")] || !text ||
            tt_curve_auth_parse_key(text, key)) {
            fprintf(stderr,
                    "tutti: error: %s: what it answers is not what a node says; does its shell print something at the "
                    "start?\n",
                    host->name);
            tt_text_fini(&list);
            return false;
        }
        bool bare_v6 = strchr(host->address, ':') && host->address[0] != '[';
        tt_text_printf(&list, bare_v6 ? "[%s]:%s %s ranks=%d\n" : "%s:%s %s ranks=%d\n", host->address, port, text,
                       host->ranks);
    }
    bool done = !list.failed && fputs(list.text, stdout) != EOF && fflush(stdout) == 0;
    tt_text_fini(&list);
    if (!done)
        console_error("the list of nodes cannot be written");
    return done;
}

static bool all_listen(const struct crowd *crowd)
{
    for (size_t i = 0; i < crowd->count; i++)
        if (!crowd->hosts[i].listens)
            return false;
    return true;
}

/* Until it is to end. False: a node has ended before. */
static bool serve(struct crowd *crowd, struct pollfd *items, const volatile sig_atomic_t *ended, bool quiet)
{
    bool told = false;
    while (!*ended) {
        for (size_t i = 0; i < crowd->count; i++)
            items[i] = (struct pollfd){.fd = crowd->hosts[i].out, .events = POLLIN};
        if (poll(items, crowd->count, 1000) < 0)
            continue; /* a signal */
        for (size_t i = 0; i < crowd->count; i++)
            if (items[i].revents && !hear(&crowd->hosts[i])) {
                fprintf(stderr, "tutti: error: %s: %s\n", crowd->hosts[i].name,
                        told ? "the node has ended, or the connection to it" : "no node could be started there");
                return false;
            }
        if (told || !all_listen(crowd))
            continue;
        told = true;
        if (!print_list(crowd))
            return false;
        if (!quiet)
            fprintf(stderr, "tutti: info: %zu node%s; Ctrl-C ends them\n", crowd->count,
                    crowd->count == 1 ? " listens" : "s listen");
    }
    return true;
}

static int start_all(struct crowd *crowd, const volatile sig_atomic_t *ended, bool quiet)
{
    struct pollfd *items = calloc(crowd->count + 1, sizeof *items);
    bool good = items != NULL;
    for (size_t i = 0; i < crowd->count && good; i++)
        good = start_host(crowd, &crowd->hosts[i]);
    if (good)
        good = serve(crowd, items, ended, quiet);
    for (size_t i = 0; i < crowd->count; i++) { /* first all at once, then one after the other */
        if (crowd->hosts[i].in >= 0)
            close(crowd->hosts[i].in);
        crowd->hosts[i].in = -1;
    }
    for (size_t i = 0; i < crowd->count; i++)
        end_host(&crowd->hosts[i]);
    free(items);
    return good ? EXIT_DONE : EXIT_FAILED;
}

static int fail(enum tutti_err err)
{
    console_error(tutti_err_message());
    return err == TUTTI_ERR_ARGUMENT ? EXIT_USAGE : EXIT_FAILED;
}

int node_start(const struct arguments *arguments, const volatile sig_atomic_t *ended)
{
    struct crowd crowd = {0};
    struct tt_curve_keys keys;
    struct tt_text options = {0};
    char user_key[TUTTI_KEY_TEXT];
    const char *key = arguments_value(arguments, "--key");
    if (!key) {
        fputs("tutti node: --start needs --key FILE, your secret key ('tutti node --keygen FILE'): the nodes work for "
              "it\n",
              stderr);
        return EXIT_USAGE;
    }
    enum tutti_err err = tt_key_files_read(key, &keys);
    if (err)
        return fail(err);
    tt_curve_auth_format_key(keys.public_key, user_key);
    tt_curve_auth_wipe_keys(&keys);
    err = tt_list_file_read(
        &(struct tt_list_file){"--start", "a line is HOST address=NAME ranks=N tutti=PATH", take, &crowd},
        arguments_value(arguments, "--start"));
    if (!err && crowd.count == 0)
        err = tt_fail(TUTTI_ERR_ARGUMENT, "--start: %s names no host", arguments_value(arguments, "--start"));
    int status = err ? fail(err) : put_options(&options, arguments) ? EXIT_DONE : EXIT_USAGE;
    crowd.user_key = user_key;
    crowd.options = options.text ? options.text : "";
    if (status == EXIT_DONE && options.failed)
        status = fail(tt_fail_memory());
    if (status == EXIT_DONE)
        status = start_all(&crowd, ended, arguments_value(arguments, "--quiet") != NULL);
    for (size_t i = 0; i < crowd.count; i++) {
        free(crowd.hosts[i].name);
        free(crowd.hosts[i].address);
        free(crowd.hosts[i].tutti);
    }
    free(crowd.hosts);
    tt_text_fini(&options);
    return status;
}
