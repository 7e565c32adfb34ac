/* SPDX-License-Identifier: MIT */
/* Project files of MasterSim (.msim): a line each for a setting ("tEnd 10 s"), a simulator, a connection, a parameter. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "model/import/import.h"

enum { MOST_WORDS = 8, MOST_BYTES = 16 * 1024 * 1024 };

/* The settings of the master, collected until all of them are read. */
struct msim {
    struct tt_import *assembly;
    unsigned line, fall_back_line; /* of hFallBackLimit; 0: by default */
    const char *mode, *error_control;
    bool adjusts;
    double h_start, h_max, h_min, h_fall_back, output, rtol, atol, most_iterations;
};

/* What MasterSim assumes where a project does not specify it (MasterSim 0.9, class Project); times in s. */
static const struct msim DEFAULTS = {.h_start = 600,
                                     .h_max = 1800,
                                     .h_min = 1e-5,
                                     .h_fall_back = 1e-3,
                                     .rtol = 1e-5,
                                     .atol = 1e-6,
                                     .most_iterations = 1};
static const double DEFAULT_STOP = 31536000; /* a year */

/* ---- words of a line ---- */

/* Splits a line in place at white space; quotes keep words together. False if there are more than MOST_WORDS. */
static bool msim_split_words(char *line, char *words[MOST_WORDS], size_t *count)
{
    *count = 0;
    for (char *at = line; *at;) {
        at += strspn(at, " \t\r");
        if (!*at)
            break;
        if (*count == MOST_WORDS)
            return false;
        bool quoted = *at == '"';
        words[(*count)++] = at += quoted;
        at += strcspn(at, quoted ? "\"" : " \t\r");
        if (*at)
            *at++ = '\0';
    }
    return true;
}

static const char *msim_copy_text(struct msim *msim, const char *text)
{
    return tt_arena_copy_text(&msim->assembly->arena, text, strlen(text));
}

/* "Part1.x2": the unit's name ends at the first point. */
static enum tutti_err msim_read_name(struct msim *msim, char *text, const char **owner, const char **name)
{
    char *point = strchr(text, '.');
    if (!point || point == text || !point[1])
        return tt_import_fail(msim->assembly, msim->line, "found '%s', expected SIMULATOR.VARIABLE",
                              tt_text_excerpt(text).text);
    *point = '\0';
    *owner = msim_copy_text(msim, text);
    *name = msim_copy_text(msim, point + 1);
    return *owner && *name ? TUTTI_OK : tt_fail_memory();
}

static enum tutti_err msim_read_number(const struct msim *msim, const char *text, double *value)
{
    if (tt_number_read_double(text, strlen(text), value) && isfinite(*value))
        return TUTTI_OK;
    return tt_import_fail(msim->assembly, msim->line, "found '%s', expected a number", tt_text_excerpt(text).text);
}

static enum tutti_err msim_read_seconds(const struct msim *msim, char *const *words, size_t count, double *value)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"s", 1},     {"ms", 1e-3},    {"min", 60},    {"h", 3600},
                 {"d", 86400}, {"a", 31536000}, {"min15", 900}, {"-", 1}};
    TRY(msim_read_number(msim, words[1], value));
    if (count < 3)
        return TUTTI_OK;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(units[i].name, words[2]) == 0) {
            *value *= units[i].seconds;
            return TUTTI_OK;
        }
    return tt_import_fail(msim->assembly, msim->line, "'%s' is no unit of time that is known (s, ms, min, h, d, a)",
                          tt_text_excerpt(words[2]).text);
}

/* ---- simulators, connections, parameters ---- */

/* simulator PRIORITY CYCLE NAME COLOUR "PATH" */
static enum tutti_err msim_read_simulator(struct msim *msim, char *const *words, size_t count)
{
    if (count < 6)
        return tt_import_fail(msim->assembly, msim->line,
                              "found %zu words, expected: simulator PRIORITY CYCLE NAME COLOUR \"PATH\"", count);
    struct tt_import_component *unit = tt_import_add_component(msim->assembly);
    if (!unit)
        return tt_fail_memory();
    *unit = (struct tt_import_component){
        .name = msim_copy_text(msim, words[3]), .source = msim_copy_text(msim, words[5]), .line = msim->line};
    return unit->name && unit->source ? TUTTI_OK : tt_fail_memory();
}

/* graph FROM TO [OFFSET FACTOR ...] */
static enum tutti_err msim_read_graph(struct msim *msim, char *const *words, size_t count)
{
    struct tt_import_connection link = {.factor = 1, .line = msim->line};
    if (count < 3)
        return tt_import_fail(msim->assembly, msim->line, "found %zu words, expected: graph FROM TO", count);
    TRY(msim_read_name(msim, words[1], &link.ends[0].owner, &link.ends[0].name));
    TRY(msim_read_name(msim, words[2], &link.ends[1].owner, &link.ends[1].name));
    if (count >= 5) {
        TRY(msim_read_number(msim, words[3], &link.offset));
        TRY(msim_read_number(msim, words[4], &link.factor));
    }
    struct tt_import_connection *place = tt_import_add_connection(msim->assembly);
    if (!place)
        return tt_fail_memory();
    *place = link;
    return TUTTI_OK;
}

/* parameter SIMULATOR.NAME VALUE, where VALUE extends to the end of the line. */
static enum tutti_err msim_read_parameter(struct msim *msim, char *rest)
{
    rest += strspn(rest, " \t");
    size_t n = strcspn(rest, " \t");
    char *value = rest + n;
    value += strspn(value, " \t");
    if (n == 0 || !*value)
        return tt_import_fail(msim->assembly, msim->line, "expected: parameter SIMULATOR.NAME VALUE");
    rest[n] = '\0';
    size_t length = strlen(value);
    if (length >= 2 && value[0] == '"' && value[length - 1] == '"') {
        value[length - 1] = '\0';
        value++;
    }
    struct tt_import_value *place = tt_import_add_value(msim->assembly);
    if (!place)
        return tt_fail_memory();
    *place = (struct tt_import_value){.value = msim_copy_text(msim, value), .line = msim->line};
    TRY(msim_read_name(msim, rest, &place->unit, &place->variable));
    return place->value ? TUTTI_OK : tt_fail_memory();
}

/* ---- settings ---- */

static enum tutti_err msim_read_time_setting(struct msim *msim, char *const *words, size_t count, bool *known)
{
    struct tt_import *assembly = msim->assembly;
    const struct {
        const char *name;
        double *value;
        bool *has;
    } times[] = {{"tStart", &assembly->start, &assembly->has_start},
                 {"tEnd", &assembly->stop, &assembly->has_stop},
                 {"hStart", &msim->h_start, NULL},
                 {"hMax", &msim->h_max, NULL},
                 {"hMin", &msim->h_min, NULL},
                 {"hFallBackLimit", &msim->h_fall_back, NULL},
                 {"hOutputMin", &msim->output, NULL}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (strcmp(words[0], times[i].name) == 0) {
            *known = true;
            TRY(msim_read_seconds(msim, words, count, times[i].value));
            if (times[i].has)
                *times[i].has = true;
            if (times[i].value == &msim->h_fall_back)
                msim->fall_back_line = msim->line;
        }
    return TUTTI_OK;
}

static enum tutti_err msim_read_setting(struct msim *msim, char *const *words, size_t count)
{
    bool known = false;
    if (count < 2)
        return tt_import_fail(msim->assembly, msim->line, "found '%s' alone, expected a value after it",
                              tt_text_excerpt(words[0]).text);
    TRY(msim_read_time_setting(msim, words, count, &known));
    if (known)
        return TUTTI_OK;
    if (strcmp(words[0], "relTol") == 0)
        return msim_read_number(msim, words[1], &msim->rtol);
    if (strcmp(words[0], "absTol") == 0)
        return msim_read_number(msim, words[1], &msim->atol);
    if (strcmp(words[0], "maxIterations") == 0)
        return msim_read_number(msim, words[1], &msim->most_iterations);
    if (strcmp(words[0], "adjustStepSize") == 0)
        msim->adjusts = strcmp(words[1], "yes") == 0 || strcmp(words[1], "true") == 0 || strcmp(words[1], "1") == 0;
    else if (strcmp(words[0], "MasterMode") == 0)
        msim->mode = msim_copy_text(msim, words[1]);
    else if (strcmp(words[0], "ErrorControlMode") == 0)
        msim->error_control = msim_copy_text(msim, words[1]);
    return TUTTI_OK; /* what is about its own output files and its editor */
}

static enum tutti_err msim_read_line(struct msim *msim, char *line)
{
    char *words[MOST_WORDS];
    size_t count, n = strcspn(line, " \t\r");
    if (line[0] == '#')
        return TUTTI_OK;
    if (n == 9 && strncmp(line, "parameter", 9) == 0)
        return msim_read_parameter(msim, line + 9);
    if (!msim_split_words(line, words, &count))
        return tt_import_fail(msim->assembly, msim->line, "the line has more than %d words", MOST_WORDS);
    if (count == 0)
        return TUTTI_OK;
    if (strcmp(words[0], "simulator") == 0)
        return msim_read_simulator(msim, words, count);
    if (strcmp(words[0], "graph") == 0)
        return msim_read_graph(msim, words, count);
    return msim_read_setting(msim, words, count);
}

/* ---- its master in our words ---- */

/* Iterated where it may be. */
static enum tutti_err msim_set_coupling(struct msim *msim)
{
    struct tt_import *assembly = msim->assembly;
    const char *mode = msim->mode ? msim->mode : "GAUSS_SEIDEL";
    bool jacobi = strcmp(mode, "GAUSS_JACOBI") == 0, newton = strcmp(mode, "NEWTON") == 0;
    if (!jacobi && !newton && strcmp(mode, "GAUSS_SEIDEL") != 0)
        return tt_import_fail(assembly, msim->line, "MasterMode '%s' is none of GAUSS_JACOBI, GAUSS_SEIDEL, NEWTON",
                              tt_text_excerpt(mode).text);
    if (!newton && !(msim->most_iterations > 1))
        return tt_import_set(assembly, "coupling", jacobi ? "jacobi" : "seidel", msim->line);
    TRY(tt_import_set(assembly, "coupling", newton ? "newton" : "relax", msim->line));
    if (jacobi)
        TRY(tt_import_set(assembly, "sweeps", "jacobi", msim->line));
    return msim->most_iterations > 1
               ? tt_import_set_number(assembly, "max-iterations", floor(msim->most_iterations), msim->line)
               : TUTTI_OK;
}

/* MasterSim adjusts steps for one of two reasons: the error of a step (STEP_DOUBLING), or an iteration that does not
 * converge. In the second case it stops iterating below hFallBackLimit and accepts the step, as `converge` does below --h-min.
 * No event of a discrete output is located. */
static enum tutti_err msim_set_control(struct msim *msim, struct tt_findings *findings)
{
    struct tt_import *assembly = msim->assembly;
    const char *mode = msim->error_control ? msim->error_control : "NONE";
    bool doubles = strcmp(mode, "ADAPT_STEP") == 0 || strcmp(mode, "STEP_DOUBLING") == 0;
    bool iterates = msim->most_iterations > 1;
    const char *control = msim->adjusts && doubles ? "richardson" : msim->adjusts && iterates ? "converge" : "fixed";
    bool varies = strcmp(control, "fixed") != 0;
    double h_min = msim->h_min;
    if (varies && iterates && msim->h_fall_back > h_min) {
        if (doubles && msim->fall_back_line > 0)
            tt_findings_add(findings, TUTTI_FINDING_WARNING, assembly->file, msim->fall_back_line,
                            "hFallBackLimit has no effect: steps shorter than %s s are iterated, too",
                            NUMBER(msim->h_fall_back));
        else if (!doubles)
            h_min = msim->h_fall_back;
    }
    TRY(tt_import_set(assembly, "control", control, msim->line));
    TRY(tt_import_set(assembly, "events", "none", msim->line));
    TRY(tt_import_set_number(assembly, "step", msim->h_start, msim->line));
    if (varies) {
        TRY(tt_import_set_number(assembly, "h-max", msim->h_max, msim->line));
        TRY(tt_import_set_number(assembly, "h-min", h_min, msim->line));
    }
    TRY(tt_import_set_number(assembly, "rtol", msim->rtol, msim->line));
    return tt_import_set_number(assembly, "atol", msim->atol, msim->line);
}

/* ---- the file ---- */

static enum tutti_err msim_read_all(struct tt_byte_source *reader, struct tt_text *text, const char *file)
{
    char buffer[8192];
    for (size_t got = 1; got > 0 && !text->failed;) {
        TRY(reader->read(reader->context, buffer, sizeof buffer, &got));
        if (memchr(buffer, '\0', got))
            return tt_fail(TUTTI_ERR_FORMAT, "%s: found a zero byte, expected a text file", file);
        if (text->length + got > MOST_BYTES)
            return tt_fail(TUTTI_ERR_LIMIT, "%s: larger than %d MiB", file, MOST_BYTES / (1024 * 1024));
        tt_text_append_n(text, buffer, got);
    }
    return text->failed ? tt_fail_memory() : TUTTI_OK;
}

static enum tutti_err msim_read_lines(struct msim *msim, char *text, struct tt_findings *findings)
{
    for (char *line = text; line;) {
        char *end = strchr(line, '\n');
        if (end)
            *end = '\0';
        msim->line++;
        TRY(msim_read_line(msim, line + strspn(line, " \t")));
        line = end ? end + 1 : NULL;
    }
    TRY(msim_set_coupling(msim));
    return msim_set_control(msim, findings);
}

enum tutti_err tt_msim_read(struct tt_import *assembly, struct tt_byte_source *reader, struct tt_findings *findings)
{
    struct msim msim = DEFAULTS;
    msim.assembly = assembly;
    assembly->stop = DEFAULT_STOP;
    assembly->has_stop = true;
    struct tt_text text = {0};
    enum tutti_err err = msim_read_all(reader, &text, assembly->file);
    if (err == TUTTI_OK && text.text)
        err = msim_read_lines(&msim, text.text, findings);
    tt_text_fini(&text);
    return err;
}
