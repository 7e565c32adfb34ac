/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "placement.h"
#include "base/text.h"
#include "commands.h"
#include "console.h"
#include "sim/coupling/coupling.h"
#include "output.h"
#include "run_options.h"
#include "signals.h"
#include "apps/describe/analysis_report.h"

struct printer {
    bool json, cannot_run;
};

/* For a terminal: printable UTF-8. */
static char *clean(const char *text)
{
    char *copy = tt_text_copy(text);
    if (copy)
        tt_text_make_printable(copy);
    return copy;
}

static char *printable(const struct tt_system *system, const struct tt_end *end)
{
    char name[512];
    return clean(tt_system_name(system, end, name, sizeof name));
}

static char *node_name(const struct tt_structure *structure, uint32_t node)
{
    const struct tt_structure_node *n = &structure->nodes[node];
    return printable(structure->system, &(struct tt_end){.component = n->component, .variable = n->variable});
}

static void print_names(const struct tt_structure *structure, const uint32_t *nodes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        char *name = node_name(structure, nodes[i]);
        fprintf(output_standard(), "%s%s", i ? ", " : "", name ? name : "?");
        free(name);
    }
    fputc('\n', output_standard());
}

static void print_order(const struct tt_analysis *analysis)
{
    static const char *const words[] = {
        [TUTTI_ACTION_SET] = "set", [TUTTI_ACTION_GET] = "get", [TUTTI_ACTION_SOLVE] = "solve"};
    fprintf(output_standard(), "%-12s %u evaluation%s of units; with every output by itself %u\n", "start",
            analysis->order->evaluations, analysis->order->evaluations == 1 ? "" : "s", analysis->ungrouped);
    for (uint32_t a = 0; a < analysis->order->action_count; a++) {
        const struct tt_eval_action *action = &analysis->order->actions[a];
        fprintf(output_standard(), "%12u %-5s ", a + 1, words[action->kind]);
        print_names(analysis->initial, analysis->order->nodes + action->first, action->count);
    }
}

static void print_loops(const struct tt_analysis *analysis)
{
    fprintf(output_standard(), "%-12s %zu\n", "loops", analysis->loop_count);
    for (size_t i = 0; i < analysis->loop_count; i++) {
        const struct tt_loop_analysis *loop = &analysis->loops[i];
        fprintf(output_standard(), "%12zu ", i + 1);
        print_names(analysis->running, loop->nodes, loop->count);
        if (loop->stability.known)
            fprintf(output_standard(), "%12s rho(DL) = %.6g, D by %s\n", "", loop->stability.rho,
                    loop->stability.exact ? "directional derivatives" : "differences");
        else if (loop->stability.why_not[0])
            fprintf(output_standard(), "%12s rho(DL) is not known: %s\n", "", loop->stability.why_not);
    }
}

/* "unstable 1.37" */
static void print_cell(const struct tt_analysis_cell *cell, bool last)
{
    char text[40] = "-";
    if (cell->possible && !cell->known)
        snprintf(text, sizeof text, "not known");
    else if (cell->possible && isnan(cell->radius))
        snprintf(text, sizeof text, "%s", cell->stable ? "stable" : "unstable");
    else if (cell->possible)
        snprintf(text, sizeof text, "%s %.3g", cell->stable ? "stable" : "unstable", cell->radius);
    fprintf(output_standard(), last ? " %s\n" : " %-17s", text);
}

static void print_table(const struct tt_analysis *analysis)
{
    static const struct {
        const char *name;
        size_t cell;
    } lines[] = {
        {"jacobi", offsetof(struct tt_stability_row, jacobi)},
        {"  all given", offsetof(struct tt_stability_row, given)},
        {"  all from history", offsetof(struct tt_stability_row, history)},
        {"jacobi --smooth", offsetof(struct tt_stability_row, smooth)},
        {"jacobi --correct", offsetof(struct tt_stability_row, correct)},
        {"seidel", offsetof(struct tt_stability_row, seidel)},
    };
    fprintf(output_standard(), "%-12s %-18s", "stability", "");
    for (int o = 0; o < TUTTI_ORDERS; o++)
        fprintf(output_standard(), o == TUTTI_MOST_EXTRAPOLATION ? " %s\n" : " %-17s", analysis->rows[o].name);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        fprintf(output_standard(), "%-12s %-18s", "", lines[i].name);
        for (int o = 0; o < TUTTI_ORDERS; o++)
            print_cell((const void *)((const char *)&analysis->rows[o] + lines[i].cell), o == TUTTI_MOST_EXTRAPOLATION);
    }
}

static void print_stability(const struct tt_analysis *analysis)
{
    if (analysis->loop_count == 0)
        fprintf(output_standard(),
                "%-12s 0: there is no algebraic loop, and every coupling is stable for small steps\n", "rho(DL)");
    else if (!analysis->stability.known)
        fprintf(output_standard(), "%-12s not known\n", "rho(DL)");
    else {
        fprintf(output_standard(), "%-12s %.6g: explicit coupling with held inputs %s\n", "rho(DL)",
                analysis->stability.rho,
                tt_stability_is_stable_radius(analysis->stability.rho) ? "is stable for small steps"
                                                                       : "is unstable, however small the step");
        print_table(analysis);
    }
}

/* "unstable 1.118" */
static void print_step_cell(const struct tt_step_cell *cell, bool last)
{
    char text[40] = "-";
    if (cell->known)
        snprintf(text, sizeof text, "%s %.4g", cell->stable ? "stable" : "unstable", cell->radius);
    fprintf(output_standard(), last ? " %s\n" : " %-17s", text);
}

/* "0.732": with shorter steps it is stable. */
static void print_longest(const struct tt_step_cell *cell, bool last)
{
    char text[40] = "-";
    if (cell->known && !cell->searched)
        snprintf(text, sizeof text, "not known");
    else if (cell->known && cell->any_step)
        snprintf(text, sizeof text, "all");
    else if (cell->known && isfinite(cell->largest))
        snprintf(text, sizeof text, "%.3g", cell->largest);
    else if (cell->known)
        snprintf(text, sizeof text, "none");
    fprintf(output_standard(), last ? " %s\n" : " %-17s", text);
}

/* relax, and what solves the same equations in another way. */
static const char *name_implicit(void)
{
    for (size_t i = 0; tt_coupling_at(i); i++)
        if (strcmp(tt_coupling_at(i)->name, "newton") == 0)
            return "relax, newton";
    return "relax";
}

static void print_step_table(const struct tt_step_analysis *step,
                             void (*print)(const struct tt_step_cell *cell, bool last))
{
    const char *const names[TUTTI_STEP_ROWS] = {
        [TUTTI_ROW_JACOBI] = "jacobi", [TUTTI_ROW_SMOOTH] = "jacobi --smooth", [TUTTI_ROW_CORRECT] = "jacobi --correct",
        [TUTTI_ROW_SEIDEL] = "seidel", [TUTTI_ROW_IMPLICIT] = name_implicit(), [TUTTI_ROW_KINEMATIC] = "kinematic"};
    for (int row = 0; row < TUTTI_STEP_ROWS; row++) {
        int count = row == TUTTI_ROW_IMPLICIT ? 1 : TUTTI_ORDERS;
        if (!tt_analyze_step_row_applies(step, (enum tt_step_row)row))
            continue;
        fprintf(output_standard(), "%-12s %-18s", "", names[row]);
        for (int o = 0; o < count; o++)
            print(&step->cells[row][o], o + 1 == count);
    }
}

static void print_step(const struct tt_step_analysis *step)
{
    if (!step->asked)
        return;
    if (!step->known) {
        fprintf(output_standard(), "%-12s what is stable with it is not known: %s\n", "step", step->why_not);
        return;
    }
    fprintf(output_standard(), "%-12s %.6g multiplies errors by this", "step", step->h);
    if (isfinite(step->exact))
        fprintf(output_standard(), "; the equations themselves by %.4g", step->exact);
    fputc('\n', output_standard());
    fprintf(output_standard(), "%-12s %-18s %-17s %-17s %s\n", "", "", "constant", "linear", "quadratic");
    print_step_table(step, print_step_cell);
    fprintf(output_standard(), "%-12s of %.3g to %.3g: the longest up to which all are stable\n", "steps", step->least,
            step->most);
    print_step_table(step, print_longest);
    if (isfinite(step->sweeps[0]))
        fprintf(output_standard(), "%-12s %-18s leaves %.3g of an error with each%s\n", "", "sweeps of relax",
                step->sweeps[0], step->sweeps[0] < 1 ? "" : ": it does not converge by itself");
    if (step->by_twins)
        fprintf(output_standard(), "%-12s units for Co-Simulation are taken for exact solutions of their models\n", "");
}

static void print_choices(const struct tt_analysis *analysis)
{
    for (int i = 0; i < TUTTI_CHOICES && analysis->chosen; i++) {
        const struct tt_choice *choice = &analysis->choices[i];
        fprintf(output_standard(), "%-12s %s: %s\n", choice->name, choice->value,
                choice->reason ? choice->reason : "as asked for");
    }
    if (!analysis->initialised)
        fprintf(output_standard(), "%-12s %s\n", "cannot start", analysis->failure);
    else if (!analysis->chosen)
        fprintf(output_standard(), "%-12s %s\n", "refused", analysis->failure);
}

static void print_words(const struct tt_analysis *analysis, const struct tt_placement_report *placement)
{
    const struct tt_system *system = analysis->system;
    char *title = clean(system->name);
    fprintf(output_standard(), "%-12s %s: %u unit%s, %u connection%s\n", "system", title ? title : "?",
            system->component_count, system->component_count == 1 ? "" : "s", system->connection_count,
            system->connection_count == 1 ? "" : "s");
    free(title);
    for (uint32_t i = 0; i < analysis->initial->assumed_count; i++) {
        char *name = clean(system->components[analysis->initial->assumed[i]].name);
        fprintf(output_standard(),
                "%-12s %s does not tell all its dependencies: each output is taken to need every input\n", "structure",
                name ? name : "?");
        free(name);
    }
    print_order(analysis);
    print_loops(analysis);
    for (size_t i = 0; i < analysis->pointless_count; i++) {
        char *name = printable(system, &analysis->pointless[i]);
        fprintf(output_standard(), "%-12s the start value of %s: its source's value takes its place\n", "pointless",
                name ? name : "?");
        free(name);
    }
    print_stability(analysis);
    print_step(&analysis->step);
    if (placement)
        placement_print(placement);
    print_choices(analysis);
}

static enum tutti_err tell(void *context, const struct tt_analysis *analysis,
                           const struct tt_placement_report *placement)
{
    struct printer *printer = context;
    char *json = NULL;
    printer->cannot_run = !analysis->chosen;
    if (!printer->json) {
        print_words(analysis, placement);
        return TUTTI_OK;
    }
    TRY(tt_analysis_report_write_json(&json, analysis, placement));
    fputs(json, output_standard());
    tutti_tell_free(json);
    return TUTTI_OK;
}

/* False after a message. The library reports an invalid number of ranks. */
static bool read_ranks(const struct arguments *arguments, int *ranks)
{
    bool given = false;
    double number = 0;
    if (!arguments_number(arguments, "--ranks", &given, &number))
        return false;
    const char *alone = arguments_value(arguments, "--place")   ? "--place"
                        : arguments_value(arguments, "--costs") ? "--costs"
                                                                : NULL;
    if (!given && alone)
        fprintf(stderr, "tutti analyze: %s goes with --ranks N\n", alone);
    *ranks = !given ? 0 : number >= 1 && number <= INT_MAX && number == floor(number) ? (int)number : -1;
    return given || !alone;
}

int command_analyze(const struct arguments *arguments)
{
    struct run_options run;
    struct printer printer = {.json = arguments_value(arguments, "--json") != NULL};
    int status = run_options_read(&run, arguments), ranks = 0;
    if (status == EXIT_DONE && !read_ranks(arguments, &ranks))
        status = EXIT_USAGE;
    if (status == EXIT_DONE) {
        signals_in_run(true);
        output_keep_apart();
        enum tutti_err err = tt_analysis_report_create(run.options, ranks, tell, &printer);
        signals_in_run(false);
        if (err)
            console_error(tutti_err_message());
        status = err ? run_exit_status(err) : printer.cannot_run ? EXIT_FAILED : EXIT_DONE;
    }
    run_options_fini(&run);
    return status;
}
