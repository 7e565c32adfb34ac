/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "compare.h"
#include "display.h"

enum { COLUMNS = 7, NAMES_MOST = 5 };

struct line {
    char *cells[COLUMNS]; /* the first cell is on the heap, the others are in `numbers` */
    char numbers[COLUMNS - 1][32];
    bool agrees;
};

static const char *const titles[COLUMNS] = {"variable", "error", "of allowed", "at time", "result", "reference", ""};

/* "31%", "12 times" */
static void write_share(char *out, size_t size, double share)
{
    if (share < 9.995)
        snprintf(out, size, "%.3g%%", 100 * share);
    else
        snprintf(out, size, "%.3g times", share);
}

static void write_value(char *out, size_t size, const char *text, double value)
{
    if (text)
        snprintf(out, size, "%.28s", tt_text_excerpt(text).text);
    else
        snprintf(out, size, "%.9g", value);
    tt_text_make_printable(out);
}

static bool fill_line(struct line *line, const struct tt_compared_variable *variable)
{
    const struct tt_distance *worst = &variable->worst;
    size_t size = sizeof *line->numbers;
    line->cells[0] = tt_text_copy(variable->name);
    if (!line->cells[0])
        return false;
    tt_text_make_printable(line->cells[0]);
    line->agrees = variable->agrees;
    snprintf(line->numbers[0], size, "%.3g", worst->error);
    write_share(line->numbers[1], size, worst->share);
    snprintf(line->numbers[2], size, "%.8g", worst->time);
    write_value(line->numbers[3], size, variable->result_text, worst->result);
    write_value(line->numbers[4], size, variable->reference_text, worst->reference);
    snprintf(line->numbers[5], size, "%s", variable->agrees ? "agrees" : "differs");
    for (size_t i = 1; i < COLUMNS; i++)
        line->cells[i] = line->numbers[i - 1];
    return true;
}

static void print_line(const char *const *cells, const int *widths, enum display_tint tint)
{
    struct display display = display_of(stdout);
    for (size_t i = 0; i < COLUMNS; i++) {
        int blanks = widths[i] - display_columns(cells[i]);
        if (i == 0)
            printf("%s%*s", cells[i], blanks, "");
        else if (i + 1 < COLUMNS)
            printf("  %*s%s", blanks, "", cells[i]);
        else if (cells[i][0]) {
            fputs("  ", stdout);
            display_start(&display, tint);
            fputs(cells[i], stdout);
            display_end(&display, tint);
        }
    }
    putchar('\n');
}

static void print_lines(const struct line *lines, size_t count)
{
    int widths[COLUMNS];
    for (size_t k = 0; k < COLUMNS; k++) {
        widths[k] = display_columns(titles[k]);
        for (size_t i = 0; i < count; i++) {
            int width = display_columns(lines[i].cells[k]);
            widths[k] = width > widths[k] ? width : widths[k];
        }
    }
    print_line(titles, widths, DISPLAY_PLAIN);
    for (size_t i = 0; i < count; i++)
        print_line((const char *const *)lines[i].cells, widths, lines[i].agrees ? DISPLAY_PLAIN : DISPLAY_WARNING);
}

static bool print_table(const struct tt_comparison *comparison, size_t most)
{
    size_t count = comparison->count < most ? comparison->count : most, filled = 0;
    struct line *lines = calloc(count + 1, sizeof *lines);
    while (lines && filled < count && fill_line(&lines[filled], &comparison->variables[filled]))
        filled++;
    bool done = lines && filled == count;
    if (done && count > 0)
        print_lines(lines, count);
    if (done && count > 0 && count < comparison->count)
        printf("and %zu more, which are closer (--all shows them)\n", comparison->count - count);
    for (size_t i = 0; i < filled; i++)
        free(lines[i].cells[0]);
    free(lines);
    return done;
}

/* --- what else is to be known */

static void print_names(const char *what, const char *const *names, size_t count)
{
    if (count == 0)
        return;
    printf("%zu variable%s %s: ", count, count == 1 ? " is" : "s are", what);
    for (size_t i = 0; i < count && i < NAMES_MOST; i++)
        printf("%s%s", i ? ", " : "", tt_text_excerpt(names[i]).text);
    puts(count > NAMES_MOST ? ", ..." : "");
}

static void print_range(const struct tt_comparison_report *report)
{
    const struct tt_comparison *comparison = report->comparison;
    const struct tutti_result *result = report->result;
    double first = result->times[0], last = result->times[result->rows - 1];
    if (first > comparison->start + comparison->ttol)
        printf("the result begins at t = %.8g, and %.8g is wanted\n", first, comparison->start);
    if (last < comparison->stop - comparison->ttol)
        printf("the result ends at t = %.8g, and %.8g is wanted: was its run aborted?\n", last, comparison->stop);
    else if (last > comparison->stop + comparison->ttol)
        printf("compared up to t = %.8g; the result goes on to %.8g\n", comparison->stop, last);
}

static void print_notes(const struct tt_comparison_report *report)
{
    const struct tt_comparison *comparison = report->comparison;
    print_names("only in the result", comparison->only_result, comparison->only_result_count);
    print_names("only in the reference", comparison->only_reference, comparison->only_reference_count);
    print_names("a text in a file of a format without texts, and not compared", comparison->texts,
                comparison->text_count);
    for (size_t i = 0; i < comparison->unit_count && i < NAMES_MOST; i++)
        printf("units differ: %s is in %s in the result, in %s in the reference\n",
               tt_text_excerpt(comparison->units[i].name).text, tt_text_excerpt(comparison->units[i].result).text,
               tt_text_excerpt(comparison->units[i].reference).text);
    if (comparison->unit_count > NAMES_MOST)
        printf("units of %zu more differ\n", comparison->unit_count - NAMES_MOST);
    print_range(report);
}

static void print_verdict(const struct tt_comparison *comparison)
{
    struct display display = display_of(stdout);
    enum display_tint tint = comparison->agree ? DISPLAY_BOLD : DISPLAY_WARNING;
    display_start(&display, tint);
    fputs(comparison->agree ? "agree" : "disagree", stdout);
    display_end(&display, tint);
    fputs(": ", stdout);
    if (!comparison->covered)
        printf("the result does not have all times of the reference; ");
    else if (!comparison->agree && comparison->disagreements == 0)
        printf("files with the same variables and units are wanted (--strict); ");
    bool good = comparison->disagreements == 0;
    printf("%zu of %zu variables%s", good ? comparison->count : comparison->disagreements, comparison->count,
           comparison->agree ? ""
           : good            ? " agree"
                             : " differ");
    if (comparison->count > 0) {
        const struct tt_compared_variable *worst = &comparison->variables[0];
        char share[32];
        write_share(share, sizeof share, worst->worst.share);
        printf(", worst %s: %.3g at t = %.8g (%s%s what is allowed)", tt_text_excerpt(worst->name).text,
               worst->worst.error, worst->worst.time, share, strchr(share, '%') ? " of" : "");
    }
    putchar('\n');
}

bool compare_print(const struct tt_comparison_report *report, size_t most)
{
    bool done = print_table(report->comparison, most);
    print_notes(report);
    print_verdict(report->comparison);
    return done;
}
