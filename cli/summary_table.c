/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "summary.h"

/* So many units get a line each; --stats has all of them. */
enum { MOST_LINES = 20, LEAST_NAME_COLUMNS = 16, GAP = 2 };

enum what { NAME, FMI, KIND, RANK, COUNT, SOLVER_COUNT, SHARE };

#define FIELD(name) offsetof(struct tt_unit_stats, name)

static const struct column {
    const char *title;
    enum what what;
    int weight;   /* in a terminal that is too narrow for all, the least one goes first */
    bool if_any;  /* a count that is not shown where it is 0 for all */
    size_t field; /* of a count */
} columns[] = {
    {"unit", NAME, INT_MAX, false, 0},
    {"FMI", FMI, 6, false, 0},
    {"kind", KIND, 8, false, 0},
    {"rank", RANK, 10, false, 0},
    {"do-steps", COUNT, 12, false, FIELD(do_steps)},
    {"gets", COUNT, 2, false, FIELD(gets)},
    {"sets", COUNT, 1, false, FIELD(sets)},
    {"rollbacks", COUNT, 7, true, FIELD(rollbacks)},
    {"solver steps", SOLVER_COUNT, 5, true, FIELD(solver_steps)},
    {"failed", SOLVER_COUNT, 4, true, FIELD(solver_error_failures)},
    {"restarts", SOLVER_COUNT, 3, true, FIELD(solver_restarts)},
    {"rhs", SOLVER_COUNT, 11, true, FIELD(rhs_evaluations)},
    {"Jacobians", SOLVER_COUNT, 9, true, FIELD(jacobian_evaluations)},
    {"loop time", SHARE, 13, false, 0},
};
enum { COLUMN_COUNT = sizeof columns / sizeof *columns };

struct line {
    struct tt_unit_stats unit; /* a copy, whose texts are borrowed; failures of its solver are one sum */
    char name[100];
    bool sum;
};

struct table {
    const struct tutti_run_stats *stats;
    struct line *lines;
    size_t line_count;
    int widths[COLUMN_COUNT]; /* 0: not shown */
};

struct cell {
    char text[100];
};

static bool is_text(size_t c)
{
    return columns[c].what == NAME || columns[c].what == FMI || columns[c].what == KIND;
}

static unsigned long count_of(const struct line *line, size_t c)
{
    unsigned long count;
    memcpy(&count, (const char *)&line->unit + columns[c].field, sizeof count);
    return count;
}

static struct cell show_share(const struct table *table, const struct line *line)
{
    struct cell cell = {"<1 %"};
    double share = 100 * line->unit.seconds / table->stats->loop_seconds;
    if (share >= 1 || share <= 0)
        snprintf(cell.text, sizeof cell.text, "%.0f %%", share < 100 ? share : 100); /* it may be an estimate */
    return cell;
}

/* Returns the content of a column; "" if it is empty. */
static struct cell show(const struct table *table, const struct line *line, size_t c)
{
    const struct tt_unit_stats *unit = &line->unit;
    struct cell cell = {""};
    if (columns[c].what == NAME)
        snprintf(cell.text, sizeof cell.text, "%s", line->name);
    else if (columns[c].what == SHARE)
        return show_share(table, line);
    else if (columns[c].what == COUNT || (columns[c].what == SOLVER_COUNT && (line->sum || unit->solver)))
        snprintf(cell.text, sizeof cell.text, "%lu", count_of(line, c));
    else if (line->sum)
        return cell;
    else if (columns[c].what == FMI)
        snprintf(cell.text, sizeof cell.text, "%s", unit->fmi);
    else if (columns[c].what == RANK)
        snprintf(cell.text, sizeof cell.text, "%d", unit->rank);
    else if (columns[c].what == KIND)
        snprintf(cell.text, sizeof cell.text, "%s%s%s", unit->interface, unit->solver ? ", " : "",
                 unit->solver        ? unit->solver
                 : unit->uses_events ? ", events"
                                     : "");
    return cell;
}

/* ---- which lines */

static void add(struct tt_unit_stats *sum, const struct tt_unit_stats *unit)
{
    for (size_t c = 0; c < COLUMN_COUNT; c++)
        if (columns[c].what == COUNT || columns[c].what == SOLVER_COUNT)
            *(unsigned long *)(void *)((char *)sum + columns[c].field) +=
                *(const unsigned long *)(const void *)((const char *)unit + columns[c].field);
    sum->solver_error_failures += unit->solver_other_failures;
    sum->seconds += unit->seconds;
}

static int by_time(const void *a, const void *b)
{
    const struct tt_unit_stats *one = *(const struct tt_unit_stats *const *)a;
    const struct tt_unit_stats *other = *(const struct tt_unit_stats *const *)b;
    if (one->seconds != other->seconds)
        return one->seconds > other->seconds ? -1 : 1;
    return one < other ? -1 : one > other;
}

static struct line *add_line(struct table *table, const char *name, const struct tt_unit_stats *unit)
{
    struct line *line = &table->lines[table->line_count++];
    *line = (struct line){.unit = *unit};
    snprintf(line->name, sizeof line->name, "%s", name);
    return line;
}

/* In the order of the system; of many units, those with the most time, and the rest in one line. */
static void fill(struct table *table, const struct tt_unit_stats **order)
{
    const struct tutti_run_stats *stats = table->stats;
    struct tt_unit_stats rest = {0}, all = {0};
    char name[64];
    for (size_t i = 0; i < stats->unit_count; i++)
        order[i] = &stats->units[i];
    if (stats->unit_count > MOST_LINES)
        qsort(order, stats->unit_count, sizeof *order, by_time);
    for (size_t i = 0; i < stats->unit_count; i++) {
        add(&all, order[i]);
        if (i >= MOST_LINES)
            add(&rest, order[i]);
        else
            add_line(table, tt_text_excerpt(order[i]->name).text, order[i])->unit.solver_error_failures +=
                order[i]->solver_other_failures;
    }
    snprintf(name, sizeof name, "and %zu more", stats->unit_count - table->line_count);
    if (stats->unit_count > MOST_LINES)
        add_line(table, name, &rest)->sum = true;
    all.seconds /= stats->ranks > 0 ? stats->ranks : 1; /* of the time that all of them had */
    if (stats->unit_count > 1)
        add_line(table, "all", &all)->sum = true;
}

/* ---- which columns */

static bool has_something(const struct table *table, size_t c)
{
    double seconds = 0;
    unsigned long count = 0;
    for (size_t i = 0; i < table->line_count; i++) {
        seconds += table->lines[i].unit.seconds;
        count |= columns[c].if_any ? count_of(&table->lines[i], c) : 1;
    }
    switch (columns[c].what) {
    case RANK: return table->stats->ranks > 1;
    case SHARE: return seconds > 0 && table->stats->loop_seconds > 0;
    default: return count > 0;
    }
}

static int total_width(const struct table *table)
{
    int total = -GAP;
    for (size_t c = 0; c < COLUMN_COUNT; c++)
        total += table->widths[c] > 0 ? table->widths[c] + GAP : 0;
    return total;
}

/* Leaves out what does not fit; the names get what remains. */
static void lay_out(struct table *table, int width)
{
    for (size_t c = 0; c < COLUMN_COUNT; c++) {
        table->widths[c] = has_something(table, c) ? (int)strlen(columns[c].title) : 0;
        for (size_t i = 0; table->widths[c] > 0 && i < table->line_count; i++) {
            int wide = display_columns(show(table, &table->lines[i], c).text);
            table->widths[c] = wide > table->widths[c] ? wide : table->widths[c];
        }
    }
    int name = table->widths[0], least = name < LEAST_NAME_COLUMNS ? name : LEAST_NAME_COLUMNS;
    while (total_width(table) - (name - least) > width) {
        size_t worst = 0;
        for (size_t c = 1; c < COLUMN_COUNT; c++)
            if (table->widths[c] > 0 && columns[c].weight < columns[worst].weight)
                worst = c;
        if (worst == 0)
            break;
        table->widths[worst] = 0;
    }
    int excess = total_width(table) - width;
    if (excess > 0)
        table->widths[0] = name - excess > 1 ? name - excess : 1;
}

/* ---- printing */

static void print_cell(const struct display *display, const struct table *table, size_t c, const char *text)
{
    int wide = display_columns(text), width = table->widths[c], padding = width > wide ? width - wide : 0;
    if (width == 0)
        return;
    fprintf(display->file, "%*s", c > 0 ? GAP : 0, "");
    if (!is_text(c))
        fprintf(display->file, "%*s", padding, "");
    if (wide > width)
        fprintf(display->file, "%.*s\u2026", (int)display_fit(text, width - 1), text);
    else
        fputs(text, display->file);
    if (is_text(c))
        fprintf(display->file, "%*s", padding, "");
}

void summary_table(const struct display *display, const struct tutti_run_stats *stats)
{
    struct table table = {.stats = stats};
    const struct tt_unit_stats **order = calloc(stats->unit_count + 1, sizeof *order);
    table.lines = calloc(MOST_LINES + 2, sizeof *table.lines);
    if (order && table.lines && stats->unit_count > 0) {
        fill(&table, order);
        lay_out(&table, display->width);
        display_start(display, DISPLAY_BOLD);
        for (size_t c = 0; c < COLUMN_COUNT; c++)
            print_cell(display, &table, c, columns[c].title);
        display_end(display, DISPLAY_BOLD);
        fputc('\n', display->file);
        for (size_t i = 0; i < table.line_count; i++) {
            for (size_t c = 0; c < COLUMN_COUNT; c++)
                print_cell(display, &table, c, show(&table, &table.lines[i], c).text);
            fputc('\n', display->file);
        }
    }
    free(table.lines);
    free(order);
}
