/* SPDX-License-Identifier: MIT */
#include "conduct/node/metrics.h"

#include <inttypes.h>
#include <string.h>
#include <tutti/run.h>

#include "base/clock.h"
#include "conduct/node/session.h"

#define PREFIX "tutti_node_"

/* ---- the text ---- */

static void put_head(struct tutti_text *out, const char *name, const char *type, const char *help)
{
    tutti_text_printf(out, "# HELP " PREFIX "%s %s\n# TYPE " PREFIX "%s %s\n", name, help, name, type);
}

static void put_count(struct tutti_text *out, const char *name, uint64_t value, const char *help)
{
    put_head(out, name, "counter", help);
    tutti_text_printf(out, PREFIX "%s %" PRIu64 "\n", name, value);
}

static void put_gauge(struct tutti_text *out, const char *name, uint64_t value, const char *help)
{
    put_head(out, name, "gauge", help);
    tutti_text_printf(out, PREFIX "%s %" PRIu64 "\n", name, value);
}

static void put_refusals(struct tutti_text *out, const struct tutti_daemon *node)
{
    static const char name[] = "refused_total";
    put_head(out, name, "counter", "Runs and keys that were refused, by reason.");
#define X(err, label)                                                                                                  \
    tutti_text_printf(out, PREFIX "%s{reason=\"%s\"} %" PRIu64 "\n", name, label, node->counts.refused_##err);
    TUTTI_NODE_REFUSALS(X)
#undef X
    tutti_text_printf(out, PREFIX "%s{reason=\"other\"} %" PRIu64 "\n", name, node->counts.refused_otherwise);
    tutti_text_printf(out, PREFIX "%s{reason=\"key\"} %lu\n", name, tutti_zap_refused(node->zap));
}

static bool is_draining(const struct tutti_daemon *node)
{
    return node->options->drain && *node->options->drain;
}

static void put_state(struct tutti_text *out, const struct tutti_daemon *node)
{
    uint64_t runs = 0, ranks = 0, files, bytes = tutti_cache_held(node->cache, &files);
    for (size_t i = 0; i < node->session_count; i++) {
        runs += node->sessions[i]->worker_count > 0;
        for (uint32_t w = 0; w < node->sessions[i]->worker_count; w++)
            ranks += node->sessions[i]->workers[w].pid > 0;
    }
    put_gauge(out, "sessions", node->session_count, "Connections of runs, whether they have begun or not.");
    put_gauge(out, "runs", runs, "Runs that have begun and are not over.");
    put_gauge(out, "ranks", ranks, "Workers, one per rank.");
    put_gauge(out, "cache_bytes", bytes, "Bytes of files that the cache holds.");
    put_gauge(out, "cache_files", files, "Files that the cache holds.");
    put_gauge(out, "cache_limit_bytes", node->options->cache_size, "Bytes that the cache may hold.");
    put_gauge(out, "draining", is_draining(node), "1: it takes no new runs, and ends with the last.");
    put_head(out, "uptime_seconds", "gauge", "Seconds since the node began.");
    tutti_text_printf(out, PREFIX "uptime_seconds %.3f\n", tutti_clock_now() - node->began);
}

void tutti_node_metrics_write(const struct tutti_daemon *node, struct tutti_text *out)
{
    put_head(out, "build_info", "gauge", "The version, as a label.");
    tutti_text_printf(out, PREFIX "build_info{version=\"%s\"} 1\n", tutti_version());
#define X(field, name, help) put_count(out, name, node->counts.field, help);
    TUTTI_NODE_COUNTS(X)
#undef X
    put_refusals(out, node);
    put_state(out, node);
}

/* ---- the server ---- */

static bool answer(void *context, const struct tutti_http_request *request, struct tutti_http_answer *out)
{
    const struct tutti_daemon *node = context;
    struct tutti_text text = {0};
    out->status = 200;
    out->type = "text/plain; charset=utf-8";
    if (strcmp(request->path, "/metrics") == 0) {
        out->type = "text/plain; version=0.0.4; charset=utf-8";
        tutti_node_metrics_write(node, &text);
    } else if (strcmp(request->path, "/health") == 0) {
        out->status = is_draining(node) ? 503 : 200;
        tutti_text_append(&text, is_draining(node) ? "draining\n" : "ok\n");
    }
    if (text.failed)
        tutti_text_fini(&text);
    out->body = text.text;
    out->size = text.length;
    return out->body != NULL;
}

enum tutti_err tutti_node_metrics_open(struct tutti_daemon *node)
{
    int socket;
    char address[TUTTI_ADDRESS_SIZE];
    if (!node->options->metrics)
        return TUTTI_OK;
    TRY(tutti_http_load(&node->http_module));
    TRY(tutti_http_listen(&socket, node->options->metrics, "--metrics", address, sizeof address));
    node->http =
        node->http_module->start(&(struct tutti_http_plan){.socket = socket, .answer = answer, .context = node});
    if (!node->http)
        return tutti_fail(TUTTI_ERR_IO, "--metrics: libmicrohttpd cannot serve %s", address);
    tutti_daemon_tell(node, (struct tutti_node_event){.name = "metrics", .level = TUTTI_LOG_INFO},
                      "metrics at http://%s/metrics", address);
    return TUTTI_OK;
}

void tutti_node_metrics_close(struct tutti_daemon *node)
{
    if (node->http)
        node->http_module->stop(node->http);
    node->http = NULL;
}
