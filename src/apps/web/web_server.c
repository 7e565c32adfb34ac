/* SPDX-License-Identifier: MIT */
/* The server: who is let in, what is answered at once, what threads answer, and the loop around it. */
#include "apps/web/web_server.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <tutti/tutti.h>

#include "apps/web/access.h"
#include "apps/web/reader_process.h"
#include "apps/web/request_threads.h"
#include "apps/web/routes.h"
#include "base/address.h"

enum { MOST_CONNECTIONS = 2100, THREADS = 4, LARGEST = 512 << 20 };

struct tt_web_server {
    struct tt_web_site site;
    struct tt_access gate;
    const struct tt_http_module *module;
    struct tt_http *http;
    struct tt_request_threads *work;
    int bell;
    char address[300], token[TUTTI_WEB_TOKEN], *url;
    struct tt_address at;
};

/* ---- who is let in ---- */

static bool requires_token(const char *path)
{
    return strncmp(path, "/api/", strlen("/api/")) == 0 || strcmp(path, "/metrics") == 0;
}

static bool web_server_reject(struct tt_http_response *answer, unsigned status, const char *why)
{
    tt_response_error(answer, status, why);
    return false;
}

/* Accepts only expected bodies of a sensible size, before reading any of it. */
static bool admit_body(const struct tt_web_server *web, const struct tt_http_request *request,
                       struct tt_http_response *answer)
{
    char id[64];
    bool known;
    const struct tt_web_route *route = tt_routes_find(request->method, request->path, id, &known);
    const char *length = request->header(request, "Content-Length");
    if (strcmp(request->method, "GET") == 0)
        return true;
    if (!route)
        return web_server_reject(answer, known ? 405 : 404,
                                 known ? "this is not asked for in this way" : "there is nothing here");
    if (route->writes && web->site.plan.read_only)
        return web_server_reject(answer, 403, "this server is for looking only (--read-only)");
    if (request->header(request, "Transfer-Encoding") || (!length && route->largest_body > 0))
        return web_server_reject(answer, 411, "the request has to say how large it is (Content-Length)");
    if (length && strtoull(length, NULL, 10) > route->largest_body)
        return web_server_reject(answer, 413, "this is too large");
    return true;
}

static bool admit_client(const struct tt_web_server *web, const struct tt_http_request *request,
                         struct tt_http_response *answer)
{
    const char *host = request->header(request, "Host");
    if (!tt_access_allows_host(&web->gate, host))
        return web_server_reject(answer, 421,
                                 "this server is not called so; use the address that 'tutti web' has printed");
    if (!tt_access_allows_origin(&web->gate, request->header(request, "Origin"), host))
        return web_server_reject(answer, 403, "a page of another origin has made this request");
    if (requires_token(request->path) && !tt_access_allows_token(&web->gate, request->header(request, "Authorization")))
        return web_server_reject(answer, 401,
                                 "the token is missing or wrong; use the address that 'tutti web' has printed");
    return true;
}

static bool web_server_admit(void *context, const struct tt_http_request *request, struct tt_http_response *answer)
{
    struct tt_web_server *web = context;
    bool admitted = admit_client(web, request, answer);
    atomic_fetch_add(&web->site.requests, 1);
    atomic_fetch_add(&web->site.refused, admitted ? 0UL : 1UL);
    return admitted && admit_body(web, request, answer);
}

/* ---- answers ---- */

/* In a thread of `work`. */
static void queue_request(void *context, const struct tt_http_request *http, struct tt_http_response *answer)
{
    struct tt_web_server *web = context;
    struct tt_web_request request = {.http = http};
    bool known;
    const struct tt_web_route *route = tt_routes_find(http->method, http->path, request.id, &known);
    if (!route) {
        tt_response_error(answer, known ? 405 : 404,
                          known ? "this is not asked for in this way" : "there is nothing here");
        return;
    }
    if (!route->reads) {
        tt_routes_call(route->answer, &web->site, &request, answer);
        return;
    }
    enum tutti_err err = tt_reader_process_query(web->site.reader, route->answer, &request, answer);
    if (err)
        tt_response_failure(answer, err);
}

static bool web_server_answer(void *context, const struct tt_http_request *request, struct tt_http_response *answer)
{
    struct tt_web_server *web = context;
    if (!requires_token(request->path))
        return strcmp(request->method, "GET") == 0 && tt_web_server_send_page(&web->site.plan, request, answer);
    if (!tt_request_threads_add(web->work, request, answer))
        tt_response_error(answer, 503, "too much is asked for at once; try again");
    return true;
}

/* ---- beginning and end ---- */

static enum tutti_err web_server_check_address(struct tt_web_server *web, const struct tt_web_server_plan *plan)
{
    TRY(tt_address_read(&web->at, plan->listen, &(struct tt_address_rule){.option = "--listen", .any_port = true}));
    if (!tt_address_is_loopback(&web->at) && !plan->certificate)
        return tt_fail(
            TUTTI_ERR_ARGUMENT,
            "--listen %s can be reached from other machines: it needs --tls-cert and --tls-key; or listen at "
            "127.0.0.1, and come by ssh -L",
            plan->listen);
    return TUTTI_OK;
}

static enum tutti_err build_server_url(struct tt_web_server *web)
{
    struct tt_text text = {0};
    const char *port = strrchr(web->address, ':');
    bool named = web->gate.loopback || strcmp(web->at.host, "0.0.0.0") == 0 || strcmp(web->at.host, "::") == 0;
    tt_text_printf(&text, "%s://%s%s/?token=%s", web->gate.encrypted ? "https" : "http",
                   named ? web->address : web->at.host, named || !port ? "" : port, web->token);
    web->url = text.failed ? NULL : text.text;
    return web->url ? TUTTI_OK : tt_fail_memory();
}

static enum tutti_err web_server_start(struct tt_web_server *web, const struct tt_web_server_plan *plan)
{
    int socket;
    struct tt_socket_address bound;
    web->site.plan = *plan;
    TRY(web_server_check_address(web, plan));
    if (plan->folder)
        TRY(tt_served_folder_init(&web->site.folder, plan->folder));
    TRY(tt_reader_process_new(&web->site.reader, &web->site));
    TRY(tt_http_load(&web->module));
    TRY(tt_series_new(&web->site.series));
    web->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (web->bell < 0)
        return tt_fail(TUTTI_ERR_LIMIT, "no descriptor is left: %s", strerror(errno));
    TRY(tt_access_find_token(plan->folder && !plan->read_only ? &web->site.folder : NULL, web->token));
    TRY(tt_request_threads_new(&web->work, &(struct tt_request_threads_plan){THREADS, queue_request, web, web->bell}));
    TRY(tt_address_listen(&socket, &bound, &web->at, "--listen"));
    snprintf(web->address, sizeof web->address, "%s", bound.text);
    web->gate = (struct tt_access){web->token, web->address, web->at.host, tt_address_is_loopback(&web->at),
                                   plan->certificate != NULL};
    web->http = web->module->start(&(struct tt_http_plan){.socket = socket,
                                                          .answer = web_server_answer,
                                                          .admit = web_server_admit,
                                                          .context = web,
                                                          .largest_body = LARGEST,
                                                          .most = MOST_CONNECTIONS,
                                                          .certificate = plan->certificate,
                                                          .key = plan->key});
    if (!web->http)
        return tt_fail(TUTTI_ERR_ARGUMENT, "the server cannot be started%s",
                       plan->certificate ? "; are --tls-cert and --tls-key PEM files that belong together?" : "");
    return build_server_url(web);
}

enum tutti_err tt_web_server_open(struct tt_web_server **out, const struct tt_web_server_plan *plan)
{
    struct tt_web_server *web = calloc(1, sizeof *web);
    if (!web)
        return tt_fail_memory();
    web->bell = -1;
    web->site.folder.fd = -1;
    enum tutti_err err = web_server_start(web, plan);
    if (err)
        tt_web_server_close(web);
    else
        *out = web;
    return err;
}

const char *tt_web_server_url(const struct tt_web_server *web)
{
    return web->url;
}

void tt_web_server_close(struct tt_web_server *web)
{
    if (!web)
        return;
    tt_request_threads_stop(web->work);
    if (web->http)
        web->module->stop(web->http);
    tt_request_threads_free(web->work);
    if (web->bell >= 0)
        close(web->bell);
    tt_reader_process_free(web->site.reader);
    tt_series_free(web->site.series);
    tt_served_folder_fini(&web->site.folder);
    free(web->url);
    free(web);
}

/* ---- the loop ---- */

enum tutti_err tt_web_server_run(struct tt_web_server *web, const volatile sig_atomic_t *ended)
{
    enum { LONGEST = 1000 };
    struct pollfd watched[2 + MOST_CONNECTIONS];
    while (!*ended) {
        uint64_t rings;
        int wish = web->module->run(web->http);
        watched[0] = (struct pollfd){.fd = web->module->descriptor(web->http), .events = POLLIN};
        watched[1] = (struct pollfd){.fd = web->bell, .events = POLLIN};
        size_t count = tt_upstream_relays_poll(&web->site.relays, watched + 2);
        if (poll(watched, 2 + count, wish >= 0 && wish < LONGEST ? wish : LONGEST) < 0 && errno != EINTR)
            return tt_fail(TUTTI_ERR_IO, "cannot wait: %s", strerror(errno));
        bool news = read(web->bell, &rings, sizeof rings) > 0;
        for (size_t i = 0; i < count && !news; i++)
            news = watched[2 + i].revents != 0;
        if (news)
            web->module->wake(web->http);
    }
    return TUTTI_OK;
}

/* Scripts, styles and connections of this server alone; no scripts in the page's text; no frames around it. */
static const char POLICY[] = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
                             "img-src 'self' data: blob:; font-src 'self'; worker-src 'self'; manifest-src 'self'; "
                             "form-action 'none'; frame-ancestors 'none'; base-uri 'none'";

static const char MISSING[] = "<!doctype html><title>Tutti</title><p>This Tutti was built without its page, since "
                              "Node.js and npm were not there. "
                              "Install them (Debian: nodejs, npm) and build again. Everything else works, /api/ too.\n";

static const char *pages_media_type(const char *name)
{
    static const struct {
        const char *ending, *type;
    } types[] = {{".html", "text/html; charset=utf-8"},
                 {".js", "text/javascript; charset=utf-8"},
                 {".css", "text/css; charset=utf-8"},
                 {".svg", "image/svg+xml"},
                 {".png", "image/png"},
                 {".woff2", "font/woff2"},
                 {".json", "application/json"},
                 {".txt", "text/plain; charset=utf-8"},
                 {".wasm", "application/wasm"}};
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof types / sizeof *types; i++)
        if (strcmp(dot, types[i].ending) == 0)
            return types[i].type;
    return "application/octet-stream";
}

static void add_security_headers(struct tt_http_response *answer)
{
    const struct tt_http_header headers[] = {{"Content-Security-Policy", POLICY},
                                             {"Referrer-Policy", "no-referrer"},
                                             {"Cross-Origin-Opener-Policy", "same-origin"},
                                             {"Cross-Origin-Resource-Policy", "same-origin"}};
    memcpy(answer->headers, headers, sizeof headers);
}

/* The page is small and the server near: it is asked for again each time, so that a newer Tutti shows its own. */
static void send_asset(const struct tt_web_asset *asset, struct tt_http_response *answer)
{
    *answer = (struct tt_http_response){.status = 200,
                                        .type = pages_media_type(asset->name),
                                        .body = asset->data,
                                        .size = asset->size,
                                        .is_lent = true};
    add_security_headers(answer);
    answer->headers[4] = (struct tt_http_header){"Content-Encoding", "gzip"};
    answer->headers[5] = (struct tt_http_header){"Cache-Control", "no-cache"};
}

bool tt_web_server_send_page(const struct tt_web_server_plan *plan, const struct tt_http_request *request,
                             struct tt_http_response *answer)
{
    const char *name = strcmp(request->path, "/") == 0 ? "index.html" : request->path + 1;
    for (size_t i = 0; i < plan->asset_count; i++)
        if (strcmp(plan->assets[i].name, name) == 0) {
            send_asset(&plan->assets[i], answer);
            return true;
        }
    if (plan->asset_count > 0 || strcmp(request->path, "/") != 0)
        return false;
    *answer = (struct tt_http_response){.status = 503,
                                        .type = "text/html; charset=utf-8",
                                        .body = MISSING,
                                        .size = sizeof MISSING - 1,
                                        .is_lent = true};
    add_security_headers(answer);
    return true;
}
