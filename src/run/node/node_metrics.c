/* SPDX-License-Identifier: MIT */
#include "run/node/node_metrics.h"

#include <inttypes.h>
#include <string.h>
#include <tutti/run.h>

#include "base/wall_clock.h"
#include "run/node/node_session.h"

#define PREFIX "tutti_node_"

/* ---- the text ---- */

static void node_metrics_write_head(struct tt_text *out, const char *name, const char *type, const char *help)
{
    tt_text_printf(out, "# HELP " PREFIX "%s %s\n# TYPE " PREFIX "%s %s\n", name, help, name, type);
}

static void node_metrics_write_count(struct tt_text *out, const char *name, uint64_t value, const char *help)
{
    node_metrics_write_head(out, name, "counter", help);
    tt_text_printf(out, PREFIX "%s %" PRIu64 "\n", name, value);
}

static void node_metrics_write_gauge(struct tt_text *out, const char *name, uint64_t value, const char *help)
{
    node_metrics_write_head(out, name, "gauge", help);
    tt_text_printf(out, PREFIX "%s %" PRIu64 "\n", name, value);
}

static bool is_draining(const struct tt_node_daemon *node)
{
    return node->options->drain && *node->options->drain;
}

static void node_metrics_write_state(struct tt_text *out, const struct tt_node_daemon *node)
{
    uint64_t runs = 0, ranks = 0, files, bytes = tt_content_cache_size(node->cache, &files);
    for (size_t i = 0; i < node->session_count; i++) {
        runs += node->sessions[i]->worker_count > 0;
        for (uint32_t w = 0; w < node->sessions[i]->worker_count; w++)
            ranks += node->sessions[i]->workers[w].pid > 0;
    }
    node_metrics_write_gauge(out, "sessions", node->session_count,
                             "Connections of runs, whether they have begun or not.");
    node_metrics_write_gauge(out, "runs", runs, "Runs that have begun and are not over.");
    node_metrics_write_gauge(out, "ranks", ranks, "Workers, one per rank.");
    node_metrics_write_gauge(out, "cache_bytes", bytes, "Bytes of files that the cache holds.");
    node_metrics_write_gauge(out, "cache_files", files, "Files that the cache holds.");
    node_metrics_write_gauge(out, "cache_limit_bytes", node->options->cache_size, "Bytes that the cache may hold.");
    node_metrics_write_gauge(out, "draining", is_draining(node), "1: it takes no new runs, and ends with the last.");
    node_metrics_write_head(out, "uptime_seconds", "gauge", "Seconds since the node began.");
    tt_text_printf(out, PREFIX "uptime_seconds %.3f\n", tt_wall_clock_now() - node->began);
}

void tt_node_metrics_write(const struct tt_node_daemon *node, struct tt_text *out)
{
    node_metrics_write_head(out, "build_info", "gauge", "The version, as a label.");
    tt_text_printf(out, PREFIX "build_info{version=\"%s\"} 1\n", tutti_version());
#define X(field, name, help) node_metrics_write_count(out, name, node->counts.field, help);
    TUTTI_NODE_COUNTS(X)
#undef X

    static const char refused[] = "refused_total";
    node_metrics_write_head(out, refused, "counter", "Runs and keys that were refused, by reason.");
#define X(err, label)                                                                                                  \
    tt_text_printf(out, PREFIX "%s{reason=\"%s\"} %" PRIu64 "\n", refused, label, node->counts.refused_##err);
    TUTTI_NODE_REFUSALS(X)
#undef X
    tt_text_printf(out, PREFIX "%s{reason=\"other\"} %" PRIu64 "\n", refused, node->counts.refused_otherwise);
    tt_text_printf(out, PREFIX "%s{reason=\"key\"} %lu\n", refused, tt_curve_auth_count_refused(node->zap));

    node_metrics_write_state(out, node);
}

/* ---- the server ---- */

static bool node_metrics_answer(void *context, const struct tt_http_request *request, struct tt_http_response *out)
{
    const struct tt_node_daemon *node = context;
    struct tt_text text = {0};
    out->status = 200;
    out->type = "text/plain; charset=utf-8";
    if (strcmp(request->path, "/metrics") == 0) {
        out->type = "text/plain; version=0.0.4; charset=utf-8";
        tt_node_metrics_write(node, &text);
    } else if (strcmp(request->path, "/health") == 0) {
        out->status = is_draining(node) ? 503 : 200;
        tt_text_append(&text, is_draining(node) ? "draining\n" : "ok\n");
    }
    if (text.failed)
        tt_text_fini(&text);
    out->body = text.text;
    out->size = text.length;
    return out->body != NULL;
}

enum tutti_err tt_node_metrics_open(struct tt_node_daemon *node)
{
    int socket;
    struct tt_address address;
    struct tt_socket_address bound;
    if (!node->options->metrics)
        return TUTTI_OK;
    TRY(tt_http_load(&node->http_module));
    TRY(tt_address_read(&address, node->options->metrics,
                        &(struct tt_address_rule){.option = "--metrics", .any_port = true, .host = "127.0.0.1"}));
    TRY(tt_address_listen(&socket, &bound, &address, "--metrics"));
    node->http = node->http_module->start(
        &(struct tt_http_plan){.socket = socket, .answer = node_metrics_answer, .context = node});
    if (!node->http)
        return tt_fail(TUTTI_ERR_IO, "--metrics: libmicrohttpd cannot serve %s", bound.text);
    tt_node_daemon_log(node, (struct tt_node_event){.name = "metrics", .level = TUTTI_LOG_INFO},
                       "metrics at http://%s/metrics", bound.text);
    return TUTTI_OK;
}

void tt_node_metrics_close(struct tt_node_daemon *node)
{
    if (node->http)
        node->http_module->stop(node->http);
    node->http = NULL;
}

void tt_node_metrics_count_refusal(struct tt_node_counts *counts, enum tutti_err err)
{
    switch (err) {
#define X(err_, label)                                                                                                 \
    case TUTTI_ERR_##err_: counts->refused_##err_++; break;
        TUTTI_NODE_REFUSALS(X)
#undef X
    default: counts->refused_otherwise++; break;
    }
}
