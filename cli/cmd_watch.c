/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <tutti/tutti.h>
#include <unistd.h>

#include "base/wall_clock.h"
#include "commands.h"
#include "run/live/live.h"
#include "console.h"
#include "watch_client.h"
#include "watch_screen.h"

static const double FRAME = 0.1; /* seconds between two pictures */

static volatile sig_atomic_t left; /* by a signal */

static void on_signal(int number)
{
    (void)number;
    left = 1;
}

/* ---- for programs ---- */

/* A line for each event: {"event":"rows",...}. */
static void print_event(const char *kind, json_t *data)
{
    json_object_set_new(data, "event", json_string(kind));
    char *text = json_dumps(data, JSON_COMPACT | JSON_REAL_PRECISION(17));
    if (text)
        puts(text);
    fflush(stdout);
    free(text);
}

/* ---- for people ---- */

static enum tutti_err press(const struct watch_client *client, const struct watch_screen *screen, char key)
{
    bool pauses = screen->state && strcmp(screen->state, "paused") == 0;
    switch (key) {
    case 'p':
    case ' ': return watch_order(client, pauses ? "{\"go\":true}" : "{\"pause\":true}");
    case 's': return watch_order(client, "{\"step\":1}");
    case 'x': return watch_order(client, "{\"stop\":true}");
    case 'q': left = 1; break;
    default: break;
    }
    return TUTTI_OK;
}

static bool tame_terminal(struct termios *before)
{
    struct termios raw;
    if (!isatty(STDIN_FILENO) || tcgetattr(STDIN_FILENO, before) != 0)
        return false;
    raw = *before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    return tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
}

/* ---- the loop ---- */

struct watching {
    struct watch_client client;
    struct watch_screen screen;
    bool json, draws, over;
    double drawn_at;
};

static void take_events(struct watching *watching)
{
    const char *kind;
    json_t *data;
    while (watch_next(&watching->client, &kind, &data)) {
        watch_screen_take(&watching->screen, kind, data);
        if (watching->json)
            print_event(kind, data);
        json_decref(data);
    }
}

static void draw_if_due(struct watching *watching)
{
    double now = tt_wall_clock_now();
    if (!watching->draws || (now - watching->drawn_at < FRAME && !watching->over))
        return;
    watching->drawn_at = now;
    watch_screen_draw(&watching->screen);
}

static enum tutti_err go_on(struct watching *watching, bool keys)
{
    struct pollfd watched[] = {{.fd = watching->client.fd, .events = POLLIN},
                               {.fd = keys ? STDIN_FILENO : -1, .events = POLLIN}};
    char key;
    if (poll(watched, 2, (int)(1e3 * FRAME)) < 0 && errno != EINTR)
        return tt_fail(TUTTI_ERR_IO, "cannot wait: %s", strerror(errno));
    if (watched[1].revents && read(STDIN_FILENO, &key, 1) == 1)
        TRY(press(&watching->client, &watching->screen, key));
    if (watched[0].revents)
        TRY(watch_receive(&watching->client, &watching->over));
    take_events(watching);
    draw_if_due(watching);
    return TUTTI_OK;
}

static enum tutti_err watch(struct watching *watching, const char *address, const char *token, const char *columns)
{
    struct termios before;
    TRY(watch_connect(&watching->client, address, token, columns));
    bool keys = watching->draws && tame_terminal(&before);
    enum tutti_err err = TUTTI_OK;
    while (!err && !left && !watching->over)
        err = go_on(watching, keys);
    if (keys)
        tcsetattr(STDIN_FILENO, TCSANOW, &before);
    if (!err && watching->over && !watching->screen.over)
        err = tt_fail(TUTTI_ERR_LOST, "the run has ended without a word");
    return err;
}

/* All patterns, with ';' between; NULL: none are given. */
static const char *join_patterns(const struct arguments *arguments, struct tt_text *text)
{
    const char **patterns = calloc(arguments->given_count + 1, sizeof *patterns);
    size_t count = patterns ? arguments_values(arguments, "--variable", patterns) : 0;
    for (size_t i = 0; i < count; i++)
        tt_text_printf(text, "%s%s", i ? ";" : "", patterns[i]);
    free(patterns);
    return count > 0 ? text->text : NULL;
}

int command_watch(const struct arguments *arguments)
{
    struct watching watching = {.client = {.fd = -1}, .json = arguments_value(arguments, "--json") != NULL};
    const char *address = arguments->operands[0], *given = arguments_value(arguments, "--token");
    char token[TUTTI_LIVE_TOKEN];
    struct tt_text patterns = {0};
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    watching.draws = !watching.json && isatty(STDOUT_FILENO);
    enum tutti_err err = given ? TUTTI_OK : tt_live_token_read(address, token);
    if (!err)
        err = watch(&watching, address, given ? given : token, join_patterns(arguments, &patterns));
    if (err)
        console_error(tutti_err_message());
    else if (!watching.json && !watching.draws && watching.screen.state)
        printf("%s at t = %g\n", watching.screen.state, watching.screen.time);
    bool failed = err || (watching.screen.state && strcmp(watching.screen.state, "failed") == 0);
    watch_screen_fini(&watching.screen);
    watch_disconnect(&watching.client);
    tt_text_fini(&patterns);
    return failed ? EXIT_FAILED : EXIT_DONE;
}
