/* SPDX-License-Identifier: MIT */
/* Pictures are Graphviz's: its program `dot` gets the text that graph_dot.c writes. */
#include "tell/graph.h"

#include <stdlib.h>
#include <string.h>
#include <tutti/tell.h>

#include "base/log.h"
#include "base/str.h"
#include "job/source.h"
#include "tell/drawing.h"
#include "tell/told.h"

uint32_t tutti_graph_loop(const struct tutti_graph *graph, const struct tutti_end *end, bool output)
{
    if (end->component == TUTTI_NONE)
        return 0;
    uint32_t node = tutti_structure_find(&graph->structure, end->component, end->variable, output);
    return node == TUTTI_NONE ? 0 : graph->loop_of[graph->structure.scc.of[node]];
}

static enum tutti_err analyse(struct tutti_graph *graph)
{
    struct tutti_run_order single;
    TRY(tutti_structure_init(&graph->structure, graph->system, graph->phase));
    TRY(tutti_order_init(&graph->order, &graph->structure, true));
    TRY(tutti_order_init(&single, &graph->structure, false));
    graph->single_evaluations = single.evaluations;
    tutti_order_fini(&single);
    const struct tutti_components *scc = &graph->structure.scc;
    graph->loop_of = calloc((size_t)scc->count + 1, sizeof *graph->loop_of);
    if (!graph->loop_of)
        return tutti_fail_memory();
    for (uint32_t block = 0, loops = 0; block < scc->count; block++)
        if (scc->first[block + 1] - scc->first[block] > 1)
            graph->loop_of[block] = ++loops;
    return TUTTI_OK;
}

static void graph_fini(struct tutti_graph *graph)
{
    free(graph->loop_of);
    tutti_order_fini(&graph->order);
    tutti_structure_fini(&graph->structure);
}

/* ---- forms ---- */

static enum tutti_err tell_text(char **text, const struct tutti_graph *graph,
                                bool (*write)(FILE *out, const struct tutti_graph *graph))
{
    struct tutti_told told;
    TRY(tutti_told_open(&told));
    return tutti_told_take(&told, write(told.out, graph) ? TUTTI_OK : tutti_fail_memory(), text);
}

static enum tutti_err tell_json(char **text, const struct tutti_graph *graph)
{
    return tell_text(text, graph, tutti_graph_write_json);
}

static enum tutti_err tell_dot(char **text, const struct tutti_graph *graph)
{
    return tell_text(text, graph, tutti_graph_write_dot);
}

static enum tutti_err tell_svg(char **text, const struct tutti_graph *graph)
{
    char *const command[] = {"dot", "-Tsvg", NULL};
    struct tutti_drawing drawing;
    size_t size;
    enum tutti_err err = tutti_drawing_init(&drawing);
    if (!err && !tutti_graph_write_dot(drawing.script, graph))
        err = tutti_fail_memory();
    if (!err)
        err = tutti_drawing_run(&drawing, command, "graphviz; DOT text and JSON do without it", text, &size);
    tutti_drawing_fini(&drawing);
    return err;
}

/* ---- all of it ---- */

/* What is wrong with the system is said; the rest is drawn. */
static void report(void *context, enum tutti_severity severity, const char *file, unsigned line, const char *text)
{
    char place[32] = "";
    if (file && line > 0)
        snprintf(place, sizeof place, ":%u", line);
    tutti_log_printf(context, severity == TUTTI_FINDING_ERROR ? TUTTI_LOG_ERROR : TUTTI_LOG_WARNING, NULL, "%s%s%s%s",
                     file ? file : "", place, file ? ": " : "", text);
}

/* A unit whose terminals cannot be read is drawn without them. */
static enum tutti_err read_terminals(const struct tutti_system *system, struct tutti_findings *findings)
{
    const struct tutti_terminals *terminals;
    for (uint32_t i = 0; i < system->fmu_count; i++) {
        enum tutti_err err = tutti_fmu_terminals(system->fmus[i], findings, &terminals);
        if (err == TUTTI_ERR_MEMORY)
            return err;
        if (err)
            tutti_findings_add(findings, TUTTI_FINDING_WARNING, NULL, 0, "%s", tutti_err_message());
    }
    return TUTTI_OK;
}

static enum tutti_err read_phase(const char *word, enum tutti_phase *phase)
{
    *phase = strcmp(word, "run") == 0 ? TUTTI_PHASE_RUN : TUTTI_PHASE_INITIAL;
    return *phase == TUTTI_PHASE_RUN || strcmp(word, "initial") == 0
               ? TUTTI_OK
               : tutti_fail(TUTTI_ERR_ARGUMENT, "--phase takes initial or run, not '%s'", tutti_str_show(word).text);
}

enum tutti_err tutti_tell_graph(char **text, const struct tutti_run_options *options, const char *form,
                                const char *phase)
{
    static const struct {
        const char *name;
        enum tutti_err (*tell)(char **text, const struct tutti_graph *graph);
    } forms[] = {{"json", tell_json}, {"dot", tell_dot}, {"svg", tell_svg}};
    struct tutti_findings findings = {.report = report, .context = (void *)options->log};
    struct tutti_system_source source = tutti_job_source(options);
    struct tutti_system *system = NULL;
    struct tutti_graph graph = {0};
    size_t i = 0;
    TRY(read_phase(phase, &graph.phase));
    while (i < sizeof forms / sizeof *forms && strcmp(forms[i].name, form) != 0)
        i++;
    if (i == sizeof forms / sizeof *forms)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "a graph is told as json, dot or svg, not '%s'",
                          tutti_str_show(form).text);
    enum tutti_err err = tutti_system_load(&system, &source, &findings);
    graph.system = system;
    if (!err)
        err = read_terminals(system, &findings);
    if (!err)
        err = analyse(&graph);
    if (!err)
        err = forms[i].tell(text, &graph);
    graph_fini(&graph);
    tutti_system_free(system);
    return err;
}
