/* SPDX-License-Identifier: MIT */
/* plot.h - a picture of results: panels with axes and curves.
 *
 * Variables are chosen (plot_choice.c), read and thinned out to what a picture can show (plot_traces.c, plot_line.c), put into
 * panels (plot_panels.c, plot_steps.c) and handed to gnuplot as a script (plot_script.c, gnuplot.c), or drawn with characters
 * (plot_characters.c). */
#ifndef TUTTI_CLI_PLOT_H
#define TUTTI_CLI_PLOT_H

#include <math.h>
#include <stdio.h>

#include "base/str.h"
#include "plot_line.h"
#include "record/result.h"

enum { PLOT_RESULTS = 2, PLOT_FONT = 14 /* pixels */, PLOT_MOST_CURVES = 2000, PLOT_HOUR = 3600, PLOT_DAY = 86400 };

struct plot_options {
    const char **variables, **phases; /* patterns of -v; X,Y of --xy */
    size_t variable_count, phase_count;
    const char *steps, *title; /* NULL: none */
    double start, stop;        /* infinite: as the results are */
    int width, height;         /* of the picture, in pixels or characters; 0: what suits it */
    bool difference, y_log;
    bool terminal; /* the picture is made of characters */
    bool unicode;  /* letters beyond ASCII can be shown */
    bool colour;   /* of a terminal */
};

/* A variable of the results, and its curves over time. */
struct plot_trace {
    const char *name, *unit; /* NULL: not known, or none */
    /* Known once it was read: */
    bool moves;                 /* between rows; else it is held */
    bool text;                  /* there are no numbers to draw */
    size_t place[PLOT_RESULTS]; /* in each result, or its count: it is not there */
    bool wanted;
    const struct plot_curve_data *data[PLOT_RESULTS], *difference; /* NULL: there is none */
};

/* PLOT_KEY: only in the legend. */
enum plot_style { PLOT_CURVE, PLOT_TAKEN_BACK, PLOT_EVENTS, PLOT_START, PLOT_KEY };

/* Colour and marks say which variable it is, dashes which result. */
struct plot_curve {
    const char *label; /* NULL: not in the legend */
    enum plot_style style;
    unsigned colour; /* PLOT_GREY: of no variable */
    unsigned result;
    bool marked; /* its colour has a mark beside it, since there are many of them */
    const struct plot_curve_data *data;
};
enum { PLOT_GREY = 1 << 20 };

/* What is drawn is (value / scale - offset) / 10^power, so that ticks have few digits. */
struct plot_axis {
    double low, high; /* values at both ends */
    double scale;     /* of the unit that is shown in the unit of the values; 0 before plot_axis_fit: 1 */
    double offset;
    int power;
    bool log, whole; /* logarithmic; ticks at whole numbers only */
    const char *label;
};

struct plot_panel {
    bool phase; /* its x axis is its own; else it is time */
    bool legend, limit;
    struct plot_axis x, y;
    struct plot_curve *curves;
    size_t count, capacity;
};

struct plot {
    const struct plot_options *options;
    const struct tutti_log *log;
    struct tutti_result *results[PLOT_RESULTS];
    const char *names[PLOT_RESULTS]; /* what the legend calls them */
    size_t result_count;
    double start, stop; /* of the time axes */
    struct plot_trace *traces;
    size_t trace_count;
    struct plot_panel *panels;
    size_t panel_count, panel_capacity;
    struct plot_curve_data *data; /* all there are */
    struct tutti_arena arena;     /* of texts and traces */
};

void plot_fini(struct plot *plot); /* closes the results, too */
/* Adds one; NULL: out of memory. A pointer to a panel is good until the next one is added. */
struct plot_panel *plot_add_panel(struct plot *plot);
TUTTI_CHECKED enum tutti_err plot_add_curve(struct plot_panel *panel, struct plot_curve curve);
/* New, empty, and the plot's; NULL: out of memory. */
struct plot_curve_data *plot_new_data(struct plot *plot);

/* plot_choice.c: which variables there are, and which of them are meant. */
TUTTI_CHECKED enum tutti_err plot_list_traces(struct plot *plot);
/* Says so if two results have what is drawn in different units. */
void plot_warn_of_units(const struct plot *plot);
/* Calls `use` for each part of a list like "a.x,b[1,2],c*"; commas in brackets do not part. `context` is use's. */
TUTTI_CHECKED enum tutti_err plot_for_each_pattern(struct plot *plot, const char *list,
                                                   enum tutti_err (*use)(struct plot *, const char *, void *),
                                                   void *context);
/* Places of all that fit, ascending, into `members` (room for all traces). ARGUMENT if a pattern fits nothing. */
TUTTI_CHECKED enum tutti_err plot_find(struct plot *plot, const char *list, size_t *members, size_t *count);
/* The two variables of "X,Y". ARGUMENT. */
TUTTI_CHECKED enum tutti_err plot_find_pair(struct plot *plot, const char *pair, size_t members[2]);

/* plot_traces.c: values. Reads the wanted traces; `columns` is how many pixels a curve is wide. */
TUTTI_CHECKED enum tutti_err plot_read_traces(struct plot *plot, size_t columns);
/* One trace over another, of a result. *out is NULL if one of them is not there. ARGUMENT: one is a text. */
TUTTI_CHECKED enum tutti_err plot_read_phase(struct plot *plot, size_t result, const size_t members[2],
                                             const struct plot_curve_data **out);
/* "... is a text": ARGUMENT. */
enum tutti_err plot_fail_text(const struct plot_trace *trace);

/* plot_panels.c: the panels of the results. Without -v and --xy, it finds some that suit. */
TUTTI_CHECKED enum tutti_err plot_make_panels(struct plot *plot, size_t columns);

/* plot_steps.c: panels of the step log `path`, a file of `tutti run --step-log`. */
struct plot_steps;
TUTTI_CHECKED enum tutti_err plot_steps_read(struct plot_steps **out, const char *path);
void plot_steps_span(const struct plot_steps *steps, double *start, double *stop);
TUTTI_CHECKED enum tutti_err plot_steps_add_panels(struct plot *plot, const struct plot_steps *steps, size_t columns);
void plot_steps_free(struct plot_steps *steps);

/* plot_axis.c: ends, offset and power for values from `low` to `high`, both finite (else: there are none). */
void plot_axis_fit(struct plot_axis *axis, double low, double high);
/* "NAME - 1000 in 10^3 UNIT"; NAME or UNIT may be NULL. NULL: out of memory. */
const char *plot_axis_label(struct plot *plot, const struct plot_axis *axis, const char *name, const char *unit);
static inline double plot_axis_shown(const struct plot_axis *axis, double value)
{
    return (value / axis->scale - axis->offset) / pow(10, axis->power);
}
/* Distance of ticks, not more than about `most`, on an axis that shows `span`. */
double plot_tick_step(const struct plot_axis *axis, double span, double most);
/* "10³", or "1e3" where letters beyond ASCII cannot be shown. */
void plot_append_power(struct tutti_text *text, int power, bool unicode);

/* plot_unit.c: "m/s2" as m/s². What is not known stays as it is. NULL: out of memory. */
const char *plot_typeset_unit(struct plot *plot, const char *unit);
/* "-12" as ⁻¹². */
void plot_append_superscript(struct tutti_text *text, const char *digits, size_t n);

/* plot_script.c: the script. `terminal` is what gnuplot is to draw with: "svg", "pngcairo" or "pdfcairo". */
void plot_write_script(FILE *out, const struct plot *plot, const char *terminal);
/* plot_characters.c: the picture of a terminal. */
TUTTI_CHECKED enum tutti_err plot_print_characters(FILE *out, const struct plot *plot);
/* Size of the picture (of characters: of a panel), the options' or what suits it. */
struct plot_size {
    int width, height;
} plot_size(const struct plot *plot);
/* Has everything room in a picture of that size? */
bool plot_fits_size(const struct plot *plot);

#endif
