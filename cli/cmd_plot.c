/* SPDX-License-Identifier: MIT */
/* Pictures are gnuplot's: this file writes its script. Names come from files and go between single quotes, where gnuplot
 * expands nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/number.h"
#include "base/str.h"
#include "commands.h"
#include "console.h"
#include "output.h"
#include "record/table.h"

enum { PANEL_HEIGHT = 320, WIDTH = 900, MOST_CURVES = 2000 };

struct panel {
    size_t *columns;
    size_t count;
};

static bool is_numeric(const struct tutti_table *table, size_t column)
{
    double value;
    for (size_t row = 0; row < tutti_table_rows(table); row++) {
        const char *cell = tutti_table_cell(table, row, column);
        if (!tutti_number_read_double(cell, strlen(cell), &value))
            return false;
    }
    return true;
}

static void print_quoted(FILE *out, const char *text)
{
    fputc('\'', out);
    for (; *text; text++) {
        if (*text == '\'')
            fputc('\'', out);
        fputc((unsigned char)*text < 0x20 ? ' ' : *text, out);
    }
    fputc('\'', out);
}

/* Fills the panel with the columns that fit; false, after a message, if none does. */
static bool choose(struct panel *panel, const struct tutti_table *table, const bool *numeric, const char *pattern)
{
    size_t columns = tutti_table_columns(table);
    struct tutti_nearest nearest = {.wanted = pattern ? pattern : ""};
    panel->columns = calloc(columns + 1, sizeof *panel->columns);
    for (size_t c = 0; panel->columns && c < columns && panel->count < MOST_CURVES; c++) {
        const char *name = tutti_table_name(table, c);
        if (!numeric[c])
            continue;
        tutti_nearest_offer(&nearest, name);
        if (!pattern || tutti_str_glob(pattern, name))
            panel->columns[panel->count++] = c;
    }
    if (panel->count > 0)
        return true;
    if (!pattern)
        console_error("the result has no numbers to draw");
    else if (nearest.best)
        fprintf(stderr, "tutti plot: no variable fits '%s'; did you mean '%s'?\n", pattern, nearest.best);
    else
        fprintf(stderr, "tutti plot: no variable fits '%s'\n", pattern);
    return false;
}

static void write_data(FILE *out, const struct tutti_table *table, const bool *numeric)
{
    fputs("$data << TUTTI_END\n", out);
    for (size_t row = 0; row < tutti_table_rows(table); row++) {
        fprintf(out, "%.17g", tutti_table_times(table)[row]);
        for (size_t c = 0; c < tutti_table_columns(table); c++) {
            /* gnuplot reads "nan" and leaves a gap; texts are of no use to it. */
            fputc(' ', out);
            fputs(numeric[c] ? tutti_table_cell(table, row, c) : "nan", out);
        }
        fputc('\n', out);
    }
    fputs("TUTTI_END\n", out);
}

static void write_panel(FILE *out, const struct tutti_table *table, const struct panel *panel, bool last)
{
    fprintf(out, "set xlabel %s\nset bmargin %s\nplot ", last ? "'time'" : "''", last ? "3.5" : "2");
    for (size_t i = 0; i < panel->count; i++) {
        fprintf(out, "%s$data using 1:%zu with lines lw 1.8 lc %zu title ", i ? ", " : "", panel->columns[i] + 2,
                i % 8 + 1);
        print_quoted(out, tutti_table_name(table, panel->columns[i]));
    }
    fputc('\n', out);
}

static void write_script(FILE *out, const struct arguments *arguments, const struct tutti_table *table,
                         const bool *numeric, const struct panel *panels, size_t count)
{
    const char *title = arguments_value(arguments, "--title");
    fprintf(out,
            "set encoding utf8\nset terminal svg size %d,%zu noenhanced font 'Helvetica,14' background '#ffffff'\n",
            WIDTH, count * PANEL_HEIGHT + (title ? 40 : 0));
    fputs("set output ", out);
    print_quoted(out, arguments_value(arguments, "--output"));
    /* Colours that stay apart for colour-blind readers (Okabe and Ito). */
    static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                          "#56b4e9", "#e69f00", "#333333", "#999999"};
    for (size_t i = 0; i < sizeof colours / sizeof *colours; i++)
        fprintf(out, "\nset linetype %zu lc rgb '%s'", i + 1, colours[i]);
    /* Equal margins, so that the panels share their time axis. */
    fputs("\nset border 3 lw 0.8 lc rgb '#444444'\nset tics nomirror out scale 0.6\n"
          "set grid lt 1 dt solid lc rgb '#e4e4e4' lw 0.6\nset key tmargin left horizontal Left reverse samplen 1.5\n"
          "set lmargin 9\nset rmargin 3\nset autoscale fix\nset offsets 0,0,graph 0.04,graph 0.04\n",
          out);
    write_data(out, table, numeric);
    if (title) {
        fprintf(out, "set multiplot layout %zu,1 title ", count);
        print_quoted(out, title);
        fputc('\n', out);
    } else {
        fprintf(out, "set multiplot layout %zu,1\n", count);
    }
    for (size_t i = 0; i < count; i++)
        write_panel(out, table, &panels[i], i + 1 == count);
    fputs("unset multiplot\n", out);
}

static int run_gnuplot(const struct arguments *arguments, const struct tutti_table *table, const bool *numeric,
                       const struct panel *panels, size_t count)
{
    FILE *gnuplot = popen("LC_ALL=C.UTF-8 exec gnuplot -d", "w");
    if (!gnuplot) {
        console_error("gnuplot cannot be started");
        return EXIT_FAILED;
    }
    write_script(gnuplot, arguments, table, numeric, panels, count);
    int status = pclose(gnuplot);
    if (status == 0)
        return EXIT_DONE;
    console_error(WIFEXITED(status) && WEXITSTATUS(status) == 127
                      ? "gnuplot, which draws the pictures, is not installed (Debian package gnuplot-nox)"
                      : "gnuplot failed");
    return EXIT_FAILED;
}

static int plot(const struct arguments *arguments, const struct tutti_table *table)
{
    size_t columns = tutti_table_columns(table);
    const char **patterns = calloc(arguments->given_count + 1, sizeof *patterns);
    bool *numeric = calloc(columns + 1, sizeof *numeric);
    struct panel *panels = calloc(arguments->given_count + 1, sizeof *panels);
    int status = EXIT_FAILED;
    if (patterns && numeric && panels) {
        for (size_t c = 0; c < columns; c++)
            numeric[c] = is_numeric(table, c);
        size_t given = arguments_values(arguments, "--variable", patterns), count = 0;
        bool good = true;
        while (good && count < (given ? given : 1)) {
            good = choose(&panels[count], table, numeric, given ? patterns[count] : NULL);
            count++;
        }
        status = good ? run_gnuplot(arguments, table, numeric, panels, count) : given ? EXIT_USAGE : EXIT_FAILED;
        for (size_t i = 0; i < count; i++)
            free(panels[i].columns);
    }
    free(panels);
    free(numeric);
    free(patterns);
    return status;
}

int command_plot(const struct arguments *arguments)
{
    const char *output = arguments_value(arguments, "--output");
    size_t length = output ? strlen(output) : 0;
    if (length < 5 || strcmp(output + length - 4, ".svg") != 0) {
        fputs("tutti plot: -o OUT.svg is needed: the picture to write\n", stderr);
        return EXIT_USAGE;
    }
    /* gnuplot would only say that it failed. */
    if (!output_can_be_written(output))
        return EXIT_FAILED;
    int status = EXIT_FAILED;
    struct tutti_table *table = NULL;
    if (tutti_table_read(&table, arguments->operands[0]) != TUTTI_OK)
        console_error(tutti_err_message());
    else
        status = plot(arguments, table);
    tutti_table_free(table);
    return status;
}
