/* SPDX-License-Identifier: MIT */
/* Pictures are Graphviz's: its program `dot` gets the text that graph_dot.c writes. */
#include "apps/describe/system_graph.h"

#include <stdlib.h>
#include <string.h>
#include <tutti/tell.h>

#include "base/log.h"
#include "base/text.h"
#include "sim/job/source.h"
#include "apps/describe/drawing.h"
#include "apps/describe/describe.h"

uint32_t tt_system_graph_find_loop(const struct tt_system_graph *graph, const struct tt_end *end, bool output)
{
    if (end->component == TUTTI_NONE)
        return 0;
    uint32_t node = tt_structure_find(&graph->structure, end->component, end->variable, output);
    return node == TUTTI_NONE ? 0 : graph->loop_of[graph->structure.scc.of[node]];
}

static enum tutti_err system_graph_analyse(struct tt_system_graph *graph)
{
    struct tt_eval_order single;
    TRY(tt_structure_init(&graph->structure, graph->system, graph->phase));
    TRY(tt_eval_order_init(&graph->order, &graph->structure, true));
    TRY(tt_eval_order_init(&single, &graph->structure, false));
    graph->single_evaluations = single.evaluations;
    tt_eval_order_fini(&single);
    const struct tt_components *scc = &graph->structure.scc;
    graph->loop_of = calloc((size_t)scc->count + 1, sizeof *graph->loop_of);
    if (!graph->loop_of)
        return tt_fail_memory();
    for (uint32_t block = 0, loops = 0; block < scc->count; block++)
        if (scc->first[block + 1] - scc->first[block] > 1)
            graph->loop_of[block] = ++loops;
    return TUTTI_OK;
}

static void system_graph_fini(struct tt_system_graph *graph)
{
    free(graph->loop_of);
    tt_eval_order_fini(&graph->order);
    tt_structure_fini(&graph->structure);
}

/* ---- forms ---- */

static enum tutti_err system_graph_write_text(char **text, const struct tt_system_graph *graph,
                                              bool (*write)(FILE *out, const struct tt_system_graph *graph))
{
    struct tt_text_stream told;
    TRY(tt_describe_open_text(&told));
    return tt_describe_close_text(&told, write(told.out, graph) ? TUTTI_OK : tt_fail_memory(), text);
}

static enum tutti_err write_graph_json(char **text, const struct tt_system_graph *graph)
{
    return system_graph_write_text(text, graph, tt_system_graph_write_json);
}

static enum tutti_err write_graph_dot(char **text, const struct tt_system_graph *graph)
{
    return system_graph_write_text(text, graph, tt_graph_dot_write);
}

static enum tutti_err write_graph_svg(char **text, const struct tt_system_graph *graph)
{
    char *const command[] = {"dot", "-Tsvg", NULL};
    struct tt_drawing drawing;
    size_t size;
    enum tutti_err err = tt_drawing_init(&drawing);
    if (!err && !tt_graph_dot_write(drawing.script, graph))
        err = tt_fail_memory();
    if (!err)
        err = tt_drawing_run(&drawing, command, "graphviz; DOT text and JSON do without it", text, &size);
    tt_drawing_fini(&drawing);
    return err;
}

/* ---- all of it ---- */

/* What is wrong with the system is said; the rest is drawn. */
static void system_graph_log_finding(void *context, enum tt_severity severity, const char *file, unsigned line,
                                     const char *text)
{
    char place[32] = "";
    if (file && line > 0)
        snprintf(place, sizeof place, ":%u", line);
    tt_log(context, severity == TUTTI_FINDING_ERROR ? TUTTI_LOG_ERROR : TUTTI_LOG_WARNING, NULL, "%s%s%s%s",
           file ? file : "", place, file ? ": " : "", text);
}

/* A unit whose terminals cannot be read is drawn without them. */
static enum tutti_err read_terminals(const struct tt_system *system, struct tt_findings *findings)
{
    const struct tt_terminals *terminals;
    for (uint32_t i = 0; i < system->fmu_count; i++) {
        enum tutti_err err = tt_fmu_terminals(system->fmus[i], findings, &terminals);
        if (err == TUTTI_ERR_MEMORY)
            return err;
        if (err)
            tt_findings_add(findings, TUTTI_FINDING_WARNING, NULL, 0, "%s", tutti_err_message());
    }
    return TUTTI_OK;
}

static enum tutti_err parse_phase(const char *word, enum tt_structure_phase *phase)
{
    *phase = strcmp(word, "run") == 0 ? TUTTI_PHASE_RUN : TUTTI_PHASE_INITIAL;
    return *phase == TUTTI_PHASE_RUN || strcmp(word, "initial") == 0
               ? TUTTI_OK
               : tt_fail(TUTTI_ERR_ARGUMENT, "--phase takes initial or run, not '%s'", tt_text_excerpt(word).text);
}

enum tutti_err tutti_tell_graph(char **text, const struct tutti_run_options *options, const char *form,
                                const char *phase)
{
    static const struct {
        const char *name;
        enum tutti_err (*tell)(char **text, const struct tt_system_graph *graph);
    } forms[] = {{"json", write_graph_json}, {"dot", write_graph_dot}, {"svg", write_graph_svg}};
    struct tt_findings findings = {.report = system_graph_log_finding, .context = (void *)options->log};
    struct tt_system_source source = tt_job_system_source(options);
    struct tt_system *system = NULL;
    struct tt_system_graph graph = {0};
    size_t i = 0;
    TRY(parse_phase(phase, &graph.phase));
    while (i < sizeof forms / sizeof *forms && strcmp(forms[i].name, form) != 0)
        i++;
    if (i == sizeof forms / sizeof *forms)
        return tt_fail(TUTTI_ERR_ARGUMENT, "a graph is told as json, dot or svg, not '%s'", tt_text_excerpt(form).text);
    enum tutti_err err = tt_system_load(&system, &source, &findings);
    graph.system = system;
    if (!err)
        err = read_terminals(system, &findings);
    if (!err)
        err = system_graph_analyse(&graph);
    if (!err)
        err = forms[i].tell(text, &graph);
    system_graph_fini(&graph);
    tt_system_free(system);
    return err;
}
