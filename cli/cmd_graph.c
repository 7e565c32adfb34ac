/* SPDX-License-Identifier: MIT */
/* Pictures are Graphviz's: its program `dot` gets the text that graph_dot.c writes, without a shell between. */
#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands.h"
#include "console.h"
#include "graph.h"
#include "output.h"
#include "run_options.h"
#include "system/system.h"

enum format { FORMAT_SVG, FORMAT_DOT, FORMAT_JSON, FORMAT_NONE };

static enum format format_of(const char *output)
{
    static const struct {
        const char *ending;
        enum format format;
    } formats[] = {{".svg", FORMAT_SVG}, {".dot", FORMAT_DOT}, {".gv", FORMAT_DOT}, {".json", FORMAT_JSON}};
    if (strcmp(output, "-") == 0)
        return FORMAT_DOT;
    size_t length = strlen(output);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        size_t ending = strlen(formats[i].ending);
        if (length > ending && strcmp(output + length - ending, formats[i].ending) == 0)
            return formats[i].format;
    }
    return FORMAT_NONE;
}

uint32_t graph_loop(const struct graph *graph, const struct tutti_end *end, bool output)
{
    if (end->component == TUTTI_NONE)
        return 0;
    uint32_t node = tutti_structure_find(&graph->structure, end->component, end->variable, output);
    return node == TUTTI_NONE ? 0 : graph->loop_of[graph->structure.scc.of[node]];
}

static int compare_numbers(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

bool graph_is_assumed(const struct graph *graph, uint32_t component)
{
    const struct tutti_structure *structure = &graph->structure;
    return structure->assumed_count > 0 && bsearch(&component, structure->assumed, structure->assumed_count,
                                                   sizeof *structure->assumed, compare_numbers) != NULL;
}

static enum tutti_err analyse(struct graph *graph)
{
    struct tutti_order single;
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

static void graph_fini(struct graph *graph)
{
    free(graph->loop_of);
    tutti_order_fini(&graph->order);
    tutti_structure_fini(&graph->structure);
}

/* Runs `dot` from one file to another. */
static bool draw(FILE *text, FILE *picture)
{
    char *const command[] = {"dot", "-Tsvg", NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = 0;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return false;
    int error = posix_spawn_file_actions_adddup2(&actions, fileno(text), STDIN_FILENO);
    if (!error)
        error = posix_spawn_file_actions_adddup2(&actions, fileno(picture), STDOUT_FILENO);
    if (!error)
        error = posix_spawnp(&child, command[0], &actions, NULL, command, environ);
    posix_spawn_file_actions_destroy(&actions);
    while (!error && waitpid(child, &status, 0) < 0)
        error = errno == EINTR ? 0 : errno;
    if (!error && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    console_error(error == ENOENT || (WIFEXITED(status) && WEXITSTATUS(status) == 127)
                      ? "dot, which draws the pictures, is not installed (Debian package graphviz); -o OUT.dot and "
                        "-o OUT.json do without it"
                      : "dot, which draws the pictures, failed");
    return false;
}

/* Replaces the text of a graph by its picture. */
static bool text_to_picture(char **text, size_t *size)
{
    FILE *from = tmpfile(), *to = tmpfile();
    bool good = from && to && fwrite(*text, 1, *size, from) == *size && fflush(from) == 0 &&
                lseek(fileno(from), 0, SEEK_SET) == 0;
    if (!good) {
        console_error("a temporary file cannot be written; /tmp may be full");
    } else if ((good = draw(from, to))) {
        long end = fseek(to, 0, SEEK_END) == 0 ? ftell(to) : -1;
        char *picture = end > 0 ? malloc((size_t)end) : NULL;
        rewind(to);
        good = picture && fread(picture, 1, (size_t)end, to) == (size_t)end;
        if (!good)
            console_error("the picture cannot be read back");
        free(*text);
        *text = picture;
        *size = good ? (size_t)end : 0;
    }
    if (from)
        fclose(from);
    if (to)
        fclose(to);
    return good;
}

static bool write_file(const char *output, const char *text, size_t size)
{
    bool standard = strcmp(output, "-") == 0;
    FILE *file = standard ? stdout : fopen(output, "we");
    errno = file ? 0 : errno;
    bool good = file && fwrite(text, 1, size, file) == size && fflush(file) == 0;
    int error = errno;
    if (file && !standard && fclose(file) != 0 && good) {
        good = false;
        error = errno;
    }
    if (!good)
        output_complain(output, error);
    return good;
}

static bool write_graph(const struct graph *graph, const char *output, enum format format)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    bool good = memory && (format == FORMAT_JSON ? graph_write_json(memory, graph) : graph_write_dot(memory, graph));
    good = memory && fclose(memory) == 0 && good;
    if (!good)
        console_error("out of memory");
    good = good && (format != FORMAT_SVG || text_to_picture(&text, &size)) && write_file(output, text, size);
    free(text);
    return good;
}

/* What is wrong with the system is said; the rest is drawn. */
static void print_finding(void *context, enum tutti_severity severity, const char *file, unsigned line,
                          const char *text)
{
    (void)context;
    fprintf(stderr, "tutti: %s: ", severity == TUTTI_FINDING_ERROR ? "error" : "warning");
    if (file && line > 0)
        fprintf(stderr, "%s:%u: ", file, line);
    else if (file)
        fprintf(stderr, "%s: ", file);
    fprintf(stderr, "%s\n", text);
}

static int graph_system(const struct arguments *arguments, enum tutti_phase phase, enum format format)
{
    const char **connect = calloc(arguments->given_count + 1, sizeof *connect);
    const char **set = calloc(arguments->given_count + 1, sizeof *set);
    const char **tlms = calloc(arguments->given_count + 1, sizeof *tlms);
    const char **constrains = calloc(arguments->given_count + 1, sizeof *constrains);
    struct tutti_findings findings = {.report = print_finding};
    struct tutti_system *system = NULL;
    struct graph graph = {.phase = phase};
    enum tutti_err err = connect && set && tlms && constrains ? TUTTI_OK : tutti_fail_memory();
    if (err == TUTTI_OK) {
        struct tutti_system_source source = {.files = arguments->operands,
                                             .file_count = arguments->operand_count,
                                             .connect = connect,
                                             .connect_count = arguments_values(arguments, "--connect", connect),
                                             .tlms = tlms,
                                             .tlm_count = arguments_values(arguments, "--tlm", tlms),
                                             .constrains = constrains,
                                             .constrain_count = arguments_values(arguments, "--constrain", constrains),
                                             .convert = arguments_value(arguments, "--convert") != NULL,
                                             .set = set,
                                             .set_count = arguments_values(arguments, "--set", set)};
        err = tutti_system_load(&system, &source, &findings);
    }
    graph.system = system;
    if (err == TUTTI_OK)
        err = analyse(&graph);
    int status = run_exit_status(err);
    if (err != TUTTI_OK)
        console_error(tutti_err_message());
    else if (!write_graph(&graph, arguments_value(arguments, "--output"), format) || findings.errors > 0)
        status = EXIT_FAILED;
    graph_fini(&graph);
    tutti_system_free(system);
    free(constrains);
    free(tlms);
    free(set);
    free(connect);
    return status;
}

int command_graph(const struct arguments *arguments)
{
    const char *output = arguments_value(arguments, "--output"), *phase = arguments_value(arguments, "--phase");
    enum format format = output ? format_of(output) : FORMAT_NONE;
    if (format == FORMAT_NONE) {
        fputs("tutti graph: -o OUT.svg, OUT.dot or OUT.json is needed: the file to write\n", stderr);
        return EXIT_USAGE;
    }
    if (phase && strcmp(phase, "initial") != 0 && strcmp(phase, "run") != 0) {
        fprintf(stderr, "tutti graph: --phase takes initial or run, not '%s'\n", phase);
        return EXIT_USAGE;
    }
    if (strcmp(output, "-") != 0 && !output_can_be_written(output))
        return EXIT_FAILED;
    return graph_system(arguments, phase && strcmp(phase, "run") == 0 ? TUTTI_PHASE_RUN : TUTTI_PHASE_INITIAL, format);
}
