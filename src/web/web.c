/* SPDX-License-Identifier: MIT */
/* The server: who is let in, what is answered at once, what threads answer, and the loop around it. */
#include "web/web.h"

#include <errno.h>
#include <poll.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "serve/address.h"
#include "web/gate.h"
#include "web/pages.h"
#include "web/reader.h"
#include "web/site.h"
#include "web/token.h"
#include "web/work.h"

enum { MOST_CONNECTIONS = 2100, THREADS = 4, LARGEST = 512 << 20 };

struct tutti_web {
    struct tutti_web_site site;
    struct tutti_web_gate gate;
    const struct tutti_http_module *module;
    struct tutti_http *http;
    struct tutti_web_work *work;
    int bell;
    char address[300], token[TUTTI_WEB_TOKEN], *url;
    struct tutti_address at;
};

/* ---- who is let in ---- */

static bool starts_with(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

static bool is_guarded(const char *path)
{
    return starts_with(path, "/api/") || strcmp(path, "/metrics") == 0;
}

static bool refuse(struct tutti_http_answer *answer, unsigned status, const char *why)
{
    tutti_web_answer_error(answer, status, why);
    return false;
}

/* Only what is wanted, and no more of it than is sensible; before any of it is taken. */
static bool admit_body(const struct tutti_web *web, const struct tutti_http_request *request,
                       struct tutti_http_answer *answer)
{
    char id[64];
    bool known;
    const struct tutti_web_route *route = tutti_web_route_find(request->method, request->path, id, &known);
    const char *length = request->header(request, "Content-Length");
    if (strcmp(request->method, "GET") == 0)
        return true;
    if (!route)
        return refuse(answer, known ? 405 : 404, known ? "this is not asked for in this way" : "there is nothing here");
    if (route->writes && web->site.plan.read_only)
        return refuse(answer, 403, "this server is for looking only (--read-only)");
    if (request->header(request, "Transfer-Encoding") || (!length && route->largest_body > 0))
        return refuse(answer, 411, "the request has to say how large it is (Content-Length)");
    if (length && strtoull(length, NULL, 10) > route->largest_body)
        return refuse(answer, 413, "this is too large");
    return true;
}

static bool admit_client(const struct tutti_web *web, const struct tutti_http_request *request,
                         struct tutti_http_answer *answer)
{
    const char *host = request->header(request, "Host");
    if (!tutti_web_gate_knows_host(&web->gate, host))
        return refuse(answer, 421, "this server is not called so; use the address that 'tutti web' has printed");
    if (!tutti_web_gate_knows_origin(&web->gate, request->header(request, "Origin"), host))
        return refuse(answer, 403, "a page of another origin has made this request");
    if (is_guarded(request->path) && !tutti_web_gate_knows_token(&web->gate, request->header(request, "Authorization")))
        return refuse(answer, 401, "the token is missing or wrong; use the address that 'tutti web' has printed");
    return true;
}

static bool admit(void *context, const struct tutti_http_request *request, struct tutti_http_answer *answer)
{
    struct tutti_web *web = context;
    bool admitted = admit_client(web, request, answer);
    atomic_fetch_add(&web->site.requests, 1);
    atomic_fetch_add(&web->site.refused, admitted ? 0UL : 1UL);
    return admitted && admit_body(web, request, answer);
}

/* ---- answers ---- */

/* In a thread of `work`. */
static void answer_later(void *context, const struct tutti_http_request *http, struct tutti_http_answer *answer)
{
    struct tutti_web *web = context;
    struct tutti_web_request request = {.http = http};
    bool known;
    const struct tutti_web_route *route = tutti_web_route_find(http->method, http->path, request.id, &known);
    if (!route) {
        tutti_web_answer_error(answer, known ? 405 : 404,
                               known ? "this is not asked for in this way" : "there is nothing here");
        return;
    }
    if (!route->reads) {
        tutti_web_handler_call(route->answer, &web->site, &request, answer);
        return;
    }
    enum tutti_err err = tutti_web_reader_ask(web->site.reader, route->answer, &request, answer);
    if (err)
        tutti_web_answer_failure(answer, err);
}

static bool answer(void *context, const struct tutti_http_request *request, struct tutti_http_answer *answer)
{
    struct tutti_web *web = context;
    if (!is_guarded(request->path))
        return strcmp(request->method, "GET") == 0 && tutti_web_page(&web->site.plan, request, answer);
    if (!tutti_web_work_add(web->work, request, answer))
        tutti_web_answer_error(answer, 503, "too much is asked for at once; try again");
    return true;
}

/* ---- beginning and end ---- */

static enum tutti_err check_address(struct tutti_web *web, const struct tutti_web_plan *plan)
{
    TRY(tutti_address_read(&web->at, plan->listen, "--listen", true));
    if (!tutti_address_is_loopback(&web->at) && !plan->certificate)
        return tutti_fail(
            TUTTI_ERR_ARGUMENT,
            "--listen %s can be reached from other machines: it needs --tls-cert and --tls-key; or listen at "
            "127.0.0.1, and come by ssh -L",
            plan->listen);
    return TUTTI_OK;
}

static enum tutti_err make_url(struct tutti_web *web)
{
    struct tutti_text text = {0};
    const char *port = strrchr(web->address, ':');
    bool named = web->gate.loopback || strcmp(web->at.host, "0.0.0.0") == 0 || strcmp(web->at.host, "::") == 0;
    tutti_text_printf(&text, "%s://%s%s/?token=%s", web->gate.encrypted ? "https" : "http",
                      named ? web->address : web->at.host, named || !port ? "" : port, web->token);
    web->url = text.failed ? NULL : text.text;
    return web->url ? TUTTI_OK : tutti_fail_memory();
}

static enum tutti_err start(struct tutti_web *web, const struct tutti_web_plan *plan)
{
    int socket;
    web->site.plan = *plan;
    TRY(check_address(web, plan));
    if (sodium_init() < 0)
        return tutti_fail(TUTTI_ERR_UNSUPPORTED, "there are no random numbers to make a token of");
    if (plan->folder)
        TRY(tutti_web_folder_init(&web->site.folder, plan->folder));
    TRY(tutti_web_reader_new(&web->site.reader, &web->site));
    TRY(tutti_http_load(&web->module));
    TRY(tutti_web_series_new(&web->site.series));
    web->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (web->bell < 0)
        return tutti_fail(TUTTI_ERR_LIMIT, "no descriptor is left: %s", strerror(errno));
    TRY(tutti_web_token_find(plan->folder && !plan->read_only ? &web->site.folder : NULL, web->token));
    TRY(tutti_web_work_new(&web->work, &(struct tutti_web_work_plan){THREADS, answer_later, web, web->bell}));
    TRY(tutti_http_listen(&socket, plan->listen, "--listen", web->address, sizeof web->address));
    web->gate = (struct tutti_web_gate){web->token, web->address, web->at.host, tutti_address_is_loopback(&web->at),
                                        plan->certificate != NULL};
    web->http = web->module->start(&(struct tutti_http_plan){.socket = socket,
                                                             .answer = answer,
                                                             .admit = admit,
                                                             .context = web,
                                                             .largest_body = LARGEST,
                                                             .most = MOST_CONNECTIONS,
                                                             .certificate = plan->certificate,
                                                             .key = plan->key});
    if (!web->http)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "the server cannot be started%s",
                          plan->certificate ? "; are --tls-cert and --tls-key PEM files that belong together?" : "");
    return make_url(web);
}

enum tutti_err tutti_web_open(struct tutti_web **out, const struct tutti_web_plan *plan)
{
    struct tutti_web *web = calloc(1, sizeof *web);
    if (!web)
        return tutti_fail_memory();
    web->bell = -1;
    web->site.folder.fd = -1;
    enum tutti_err err = start(web, plan);
    if (err)
        tutti_web_close(web);
    else
        *out = web;
    return err;
}

const char *tutti_web_url(const struct tutti_web *web)
{
    return web->url;
}

void tutti_web_close(struct tutti_web *web)
{
    if (!web)
        return;
    tutti_web_work_end(web->work);
    if (web->http)
        web->module->stop(web->http);
    tutti_web_work_free(web->work);
    if (web->bell >= 0)
        close(web->bell);
    tutti_web_reader_free(web->site.reader);
    tutti_web_series_free(web->site.series);
    tutti_web_folder_fini(&web->site.folder);
    free(web->url);
    free(web);
}

/* ---- the loop ---- */

enum tutti_err tutti_web_run(struct tutti_web *web, const volatile sig_atomic_t *ended)
{
    enum { LONGEST = 1000 };
    struct pollfd watched[2 + MOST_CONNECTIONS];
    while (!*ended) {
        uint64_t rings;
        int wish = web->module->run(web->http);
        watched[0] = (struct pollfd){.fd = web->module->descriptor(web->http), .events = POLLIN};
        watched[1] = (struct pollfd){.fd = web->bell, .events = POLLIN};
        size_t count = tutti_web_relays_watch(&web->site.relays, watched + 2);
        if (poll(watched, 2 + count, wish >= 0 && wish < LONGEST ? wish : LONGEST) < 0 && errno != EINTR)
            return tutti_fail(TUTTI_ERR_IO, "cannot wait: %s", strerror(errno));
        bool news = read(web->bell, &rings, sizeof rings) > 0;
        for (size_t i = 0; i < count && !news; i++)
            news = watched[2 + i].revents != 0;
        if (news)
            web->module->wake(web->http);
    }
    return TUTTI_OK;
}
