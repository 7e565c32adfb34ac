/* SPDX-License-Identifier: MIT */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "commands.h"
#include "console.h"
#include "master/analyze.h"
#include "run_options.h"
#include "signals.h"
#include "text_json.h"

struct printer {
    bool json, failed, cannot_start;
};

/* For a terminal or for JSON: printable UTF-8. */
static char *clean(const char *text)
{
    char *copy = tutti_str_copy(text);
    if (copy)
        tutti_str_make_printable(copy);
    return copy;
}

static char *printable(const struct tutti_system *system, const struct tutti_end *end)
{
    char name[512];
    return clean(tutti_system_name(system, end, name, sizeof name));
}

static char *node_name(const struct tutti_structure *structure, uint32_t node)
{
    const struct tutti_structure_node *n = &structure->nodes[node];
    return printable(structure->system, &(struct tutti_end){.component = n->component, .variable = n->variable});
}

/* ---- for programs ---- */

static json_t *take_text(char *text)
{
    json_t *json = text ? json_string(text) : NULL;
    free(text);
    return json;
}

static json_t *names_json(const struct tutti_structure *structure, const uint32_t *nodes, uint32_t count)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < count; i++)
        json_array_append_new(list, take_text(node_name(structure, nodes[i])));
    return list;
}

static json_t *order_json(const struct tutti_analysis *analysis)
{
    static const char *const words[] = {
        [TUTTI_ACTION_SET] = "set", [TUTTI_ACTION_GET] = "get", [TUTTI_ACTION_SOLVE] = "solve"};
    json_t *list = json_array();
    for (uint32_t a = 0; a < analysis->order->action_count; a++) {
        const struct tutti_action *action = &analysis->order->actions[a];
        json_array_append_new(
            list, json_pack("{s:s, s:o}", "do", words[action->kind], "variables",
                            names_json(analysis->initial, analysis->order->nodes + action->first, action->count)));
    }
    return list;
}

static json_t *loops_json(const struct tutti_analysis *analysis)
{
    json_t *list = json_array();
    for (size_t i = 0; i < analysis->loop_count; i++) {
        const struct tutti_loop_analysis *loop = &analysis->loops[i];
        json_t *json = json_pack("{s:o, s:o, s:o}", "variables",
                                 names_json(analysis->running, loop->nodes, loop->count), "rho",
                                 loop->has_rho ? json_real(loop->rho) : json_null(), "why_not",
                                 loop->why_not ? text_json(loop->why_not) : json_null());
        if (loop->has_rho)
            json_object_set_new(json, "exact", json_boolean(loop->exact));
        json_array_append_new(list, json);
    }
    return list;
}

static json_t *analysis_json(const struct tutti_analysis *analysis)
{
    json_t *assumed = json_array(), *pointless = json_array();
    for (uint32_t i = 0; i < analysis->initial->assumed_count; i++)
        json_array_append_new(assumed, text_json(analysis->system->components[analysis->initial->assumed[i]].name));
    for (size_t i = 0; i < analysis->pointless_count; i++)
        json_array_append_new(pointless, take_text(printable(analysis->system, &analysis->pointless[i])));
    return json_pack("{s:o, s:I, s:I, s:o, s:I, s:I, s:o, s:o, s:o, s:o, s:b, s:o}", "system",
                     text_json(analysis->system->name), "units", (json_int_t)analysis->system->component_count,
                     "connections", (json_int_t)analysis->system->connection_count, "assumed", assumed, "evaluations",
                     (json_int_t)analysis->order->evaluations, "ungrouped", (json_int_t)analysis->ungrouped, "order",
                     order_json(analysis), "loops", loops_json(analysis), "pointless", pointless, "rho",
                     analysis->has_rho ? json_real(analysis->rho) : json_null(), "initialised", analysis->initialised,
                     "failure", analysis->initialised ? json_null() : text_json(analysis->failure));
}

/* ---- for people ---- */

static void print_names(const struct tutti_structure *structure, const uint32_t *nodes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        char *name = node_name(structure, nodes[i]);
        printf("%s%s", i ? ", " : "", name ? name : "?");
        free(name);
    }
    putchar('\n');
}

static void print_order(const struct tutti_analysis *analysis)
{
    static const char *const words[] = {
        [TUTTI_ACTION_SET] = "set", [TUTTI_ACTION_GET] = "get", [TUTTI_ACTION_SOLVE] = "solve"};
    printf("%-12s %u evaluation%s of units; with every output by itself %u\n", "start", analysis->order->evaluations,
           analysis->order->evaluations == 1 ? "" : "s", analysis->ungrouped);
    for (uint32_t a = 0; a < analysis->order->action_count; a++) {
        const struct tutti_action *action = &analysis->order->actions[a];
        printf("%12u %-5s ", a + 1, words[action->kind]);
        print_names(analysis->initial, analysis->order->nodes + action->first, action->count);
    }
}

static void print_loops(const struct tutti_analysis *analysis)
{
    printf("%-12s %zu\n", "loops", analysis->loop_count);
    for (size_t i = 0; i < analysis->loop_count; i++) {
        const struct tutti_loop_analysis *loop = &analysis->loops[i];
        printf("%12zu ", i + 1);
        print_names(analysis->running, loop->nodes, loop->count);
        if (loop->has_rho)
            printf("%12s rho(DL) = %.6g, D by %s\n", "", loop->rho,
                   loop->exact ? "directional derivatives" : "differences");
        else if (loop->why_not)
            printf("%12s rho(DL) is not known: %s\n", "", loop->why_not);
    }
}

static void print_rho(const struct tutti_analysis *analysis)
{
    if (!analysis->has_rho)
        printf("%-12s not known\n", "rho(DL)");
    else if (analysis->loop_count == 0)
        printf("%-12s 0: there is no algebraic loop\n", "rho(DL)");
    else
        printf("%-12s %.6g: explicit coupling with held inputs %s\n", "rho(DL)", analysis->rho,
               analysis->rho <= 1 ? "is stable for small steps" : "is unstable, however small the step");
}

static void print_words(const struct tutti_analysis *analysis)
{
    const struct tutti_system *system = analysis->system;
    char *title = clean(system->name);
    printf("%-12s %s: %u unit%s, %u connection%s\n", "system", title ? title : "?", system->component_count,
           system->component_count == 1 ? "" : "s", system->connection_count, system->connection_count == 1 ? "" : "s");
    free(title);
    for (uint32_t i = 0; i < analysis->initial->assumed_count; i++) {
        char *name = clean(system->components[analysis->initial->assumed[i]].name);
        printf("%-12s %s does not tell all its dependencies: each output is taken to need every input\n", "structure",
               name ? name : "?");
        free(name);
    }
    print_order(analysis);
    print_loops(analysis);
    for (size_t i = 0; i < analysis->pointless_count; i++) {
        char *name = printable(system, &analysis->pointless[i]);
        printf("%-12s the start value of %s: its source's value takes its place\n", "pointless", name ? name : "?");
        free(name);
    }
    print_rho(analysis);
    if (!analysis->initialised)
        printf("%-12s %s\n", "cannot start", analysis->failure);
}

static void report(void *context, const struct tutti_analysis *analysis)
{
    struct printer *printer = context;
    printer->cannot_start = !analysis->initialised;
    if (!printer->json) {
        print_words(analysis);
        return;
    }
    json_t *json = analysis_json(analysis);
    printer->failed = !json || json_dumpf(json, stdout, JSON_INDENT(2)) != 0 || putchar('\n') == EOF;
    json_decref(json);
}

int command_analyze(const struct arguments *arguments)
{
    struct run_options run;
    struct printer printer = {.json = arguments_value(arguments, "--json") != NULL};
    int status = run_options_read(&run, arguments);
    if (status == EXIT_DONE) {
        signals_in_run(true);
        enum tutti_err err = tutti_analyze(&run.options, report, &printer);
        signals_in_run(false);
        if (err)
            console_error(tutti_err_message());
        else if (printer.failed)
            console_error("out of memory, or standard output cannot be written");
        status = err ? run_exit_status(err) : printer.failed || printer.cannot_start ? EXIT_FAILED : EXIT_DONE;
    }
    run_options_fini(&run);
    return status;
}
