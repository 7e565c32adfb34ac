/* SPDX-License-Identifier: MIT */
#include "apps/web/pages.h"

#include <string.h>
#include <tutti/tutti.h>

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
