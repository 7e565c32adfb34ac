/* SPDX-License-Identifier: MIT */
/* masters_log.h - the log of steps of a run (--step-log), as lines. Names in it have no commas here. */
#ifndef TUTTI_TEST_MASTERS_LOG_H
#define TUTTI_TEST_MASTERS_LOG_H

#include "masters.h"

struct line {
    double t, h, error; /* NAN: none */
    char verdict[32];
    unsigned iterations;
    char unit[32], variable[32];
};

struct steps {
    struct line *lines;
    size_t count;
};

static inline void read_line(const char *text, struct line *line)
{
    const char *cells[7];
    size_t lengths[7];
    for (int i = 0; i < 7; i++) {
        cells[i] = text;
        lengths[i] = strcspn(text, ",\n");
        text += lengths[i];
        assert_int_equal(*text, i < 6 ? ',' : '\n');
        text++;
    }
    double *const numbers[] = {&line->t, &line->h, &line->error};
    for (int i = 0; i < 3; i++) {
        *numbers[i] = NAN;
        assert_true((i == 2 && lengths[i] == 0) || tt_number_read_double(cells[i], lengths[i], numbers[i]));
    }
    snprintf(line->verdict, sizeof line->verdict, "%.*s", (int)lengths[3], cells[3]);
    line->iterations = (unsigned)strtoul(cells[4], NULL, 10);
    snprintf(line->unit, sizeof line->unit, "%.*s", (int)lengths[5], cells[5]);
    snprintf(line->variable, sizeof line->variable, "%.*s", (int)lengths[6], cells[6]);
}

static inline struct steps read_steps(void)
{
    struct steps steps = {0};
    char *text = slurp_file(scratch_path(&scratch, "steps.csv"), NULL), *at = strchr(text, '\n');
    assert_memory_equal(text, "t,h,error,verdict,iterations,unit,variable\n", 43);
    for (const char *c = at + 1; *c; c++)
        steps.count += *c == '\n';
    steps.lines = calloc(steps.count + 1, sizeof *steps.lines);
    assert_non_null(steps.lines);
    for (size_t i = 0; i < steps.count; i++, at = strchr(at + 1, '\n'))
        read_line(at + 1, &steps.lines[i]);
    free(text);
    return steps;
}

static inline bool verdict_is(const struct line *line, const char *word)
{
    return strcmp(line->verdict, word) == 0;
}

static inline bool stays(const struct line *line)
{
    return verdict_is(line, "accepted") || verdict_is(line, "forced") || verdict_is(line, "event");
}

#endif
