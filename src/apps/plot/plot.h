/* SPDX-License-Identifier: MIT */
/* plot.h - a picture of results: panels with axes and curves.
 *
 * Variables are chosen (traces.c), read and thinned out to what a picture can show (traces.c, line.c), put into
 * panels (panels.c, steps.c) and handed to gnuplot as a script (gnuplot_script.c, picture.c), or drawn with characters by the command. */
#ifndef TT_APPS_PLOT_PLOT_H
#define TT_APPS_PLOT_PLOT_H

#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "apps/plot/line.h"
#include "results/result.h"

enum {
    TUTTI_PLOT_RESULTS = 2,
    TUTTI_PLOT_FONT = 14 /* pixels */,
    TUTTI_PLOT_MOST_CURVES = 2000,
    TUTTI_PLOT_HOUR = 3600,
    TUTTI_PLOT_DAY = 86400
};

struct tt_plot_options {
    const char **variables, **phases; /* patterns of -v; X,Y of --xy */
    size_t variable_count, phase_count;
    const char *steps, *title; /* NULL: none */
    double start, stop;        /* infinite: as the results are */
    int width, height;         /* of the picture, in pixels or characters; 0: automatic */
    bool difference, y_log;
    bool terminal; /* the picture is made of characters */
    bool unicode;  /* letters beyond ASCII can be shown */
    bool colour;   /* of a terminal */
};

/* A variable of the results, and its curves over time. */
struct tt_plot_trace {
    const char *name, *unit; /* NULL: not known, or none */
    /* Known once it was read: */
    bool moves;                       /* between rows; false: it is held */
    bool text;                        /* it has no numbers to draw */
    size_t place[TUTTI_PLOT_RESULTS]; /* in each result, or its count: it is not there */
    bool wanted;
    const struct tt_plot_curve_data *data[TUTTI_PLOT_RESULTS], *difference; /* NULL: none */
};

/* TUTTI_PLOT_KEY: only in the legend. */
enum tt_plot_style { TUTTI_PLOT_CURVE, TUTTI_PLOT_TAKEN_BACK, TUTTI_PLOT_EVENTS, TUTTI_PLOT_START, TUTTI_PLOT_KEY };

/* Colour and marks say which variable it is, dashes which result. */
struct tt_plot_curve {
    const char *label; /* NULL: not in the legend */
    enum tt_plot_style style;
    unsigned colour; /* TUTTI_PLOT_GREY: not for a particular variable */
    unsigned result;
    bool marked; /* many curves share its colour, so a mark is added */
    const struct tt_plot_curve_data *data;
};
enum { TUTTI_PLOT_GREY = 1 << 20 };

/* Drawn values are (value / scale - offset) / 10^power, so that ticks have few digits. */
struct tt_plot_axis {
    double low, high; /* values at both ends */
    double scale;     /* of the unit that is shown in the unit of the values; 0 before tt_plot_axis_fit: 1 */
    double offset;
    int power;
    bool log, whole; /* logarithmic; ticks at whole numbers only */
    const char *label;
};

struct tt_plot_panel {
    bool phase; /* it has a separate x axis; false: the x axis is time */
    bool legend, limit;
    struct tt_plot_axis x, y;
    struct tt_plot_curve *curves;
    size_t count, capacity;
};

struct tt_plot {
    const struct tt_plot_options *options;
    const struct tutti_log *log;
    struct tutti_result *results[TUTTI_PLOT_RESULTS];
    const char *names[TUTTI_PLOT_RESULTS]; /* what the legend calls them */
    size_t result_count;
    struct tt_plot_steps *steps; /* NULL: none */
    double start, stop;          /* of the time axes */
    struct tt_plot_trace *traces;
    size_t trace_count;
    struct tt_plot_panel *panels;
    size_t panel_count, panel_capacity;
    struct tt_plot_curve_data *data; /* all there are */
    struct tt_arena arena;           /* of texts and traces */
};

void tt_plot_fini(struct tt_plot *plot); /* closes the results, too */
/* Adds one; NULL: out of memory. A pointer to a panel is good until the next one is added. */
struct tt_plot_panel *tt_plot_add_panel(struct tt_plot *plot);
TUTTI_CHECKED enum tutti_err tt_plot_add_curve(struct tt_plot_panel *panel, struct tt_plot_curve curve);
/* New, empty, and the plot's; NULL: out of memory. */
struct tt_plot_curve_data *tt_plot_new_data(struct tt_plot *plot);

/* traces.c: which variables there are, and which of them are meant. */
TUTTI_CHECKED enum tutti_err tt_plot_traces_list(struct tt_plot *plot);
/* Logs if the drawn variables of two results have different units. */
void tt_plot_traces_warn_of_units(const struct tt_plot *plot);
/* Calls `use` for each part of a list like "a.x,b[1,2],c*"; commas in brackets do not part. `context` is use's. */
TUTTI_CHECKED enum tutti_err tt_plot_traces_for_each_pattern(struct tt_plot *plot, const char *list,
                                                             enum tutti_err (*use)(struct tt_plot *, const char *,
                                                                                   void *),
                                                             void *context);
/* Places of all that fit, ascending, into `members` (room for all traces). ARGUMENT if a pattern fits nothing. */
TUTTI_CHECKED enum tutti_err tt_plot_traces_find(struct tt_plot *plot, const char *list, size_t *members,
                                                 size_t *count);
/* The two variables of "X,Y". ARGUMENT. */
TUTTI_CHECKED enum tutti_err tt_plot_traces_find_pair(struct tt_plot *plot, const char *pair, size_t members[2]);

/* traces.c: values. Reads the wanted traces; `columns` is how many pixels a curve is wide. */
TUTTI_CHECKED enum tutti_err tt_plot_traces_read(struct tt_plot *plot, size_t columns);
/* One trace over another, of a result. *out is NULL if one of them is not there. ARGUMENT: one is a text. */
TUTTI_CHECKED enum tutti_err tt_plot_traces_read_phase(struct tt_plot *plot, size_t result, const size_t members[2],
                                                       const struct tt_plot_curve_data **out);
/* "... is a text": ARGUMENT. */
enum tutti_err tt_plot_traces_fail_text(const struct tt_plot_trace *trace);

/* panels.c: the panels of the results. Without -v and --xy, it finds some that suit. */
TUTTI_CHECKED enum tutti_err tt_plot_panels_create(struct tt_plot *plot, size_t columns);

/* steps.c: panels of the step log `path`, a file of `tutti run --step-log`. */
struct tt_plot_steps;
TUTTI_CHECKED enum tutti_err tt_plot_steps_read(struct tt_plot_steps **out, const char *path);
void tt_plot_steps_span(const struct tt_plot_steps *steps, double *start, double *stop);
TUTTI_CHECKED enum tutti_err tt_plot_steps_add_panels(struct tt_plot *plot, const struct tt_plot_steps *steps,
                                                      size_t columns);
void tt_plot_steps_free(struct tt_plot_steps *steps);

/* axis.c: determines ends, offset and power for values from `low` to `high`, if both are finite. */
void tt_plot_axis_fit(struct tt_plot_axis *axis, double low, double high);
/* "NAME - 1000 in 10^3 UNIT"; NAME or UNIT may be NULL. NULL: out of memory. */
const char *tt_plot_axis_label(struct tt_plot *plot, const struct tt_plot_axis *axis, const char *name,
                               const char *unit);
static inline double tt_plot_axis_shown(const struct tt_plot_axis *axis, double value)
{
    int half = axis->power / 2; /* 10^-320 has three digits only */
    return (value / axis->scale - axis->offset) / pow(10, half) / pow(10, axis->power - half);
}
/* Distance of ticks, not more than about `most`, on an axis that shows `span`. */
double tt_plot_axis_tick_step(const struct tt_plot_axis *axis, double span, double most);
/* "10³", or "1e3" where letters beyond ASCII cannot be shown. */
void tt_plot_axis_append_power(struct tt_text *text, int power, bool unicode);

/* unit.c: typesets "m/s2" as m/s². Unknown units stay unchanged. NULL: out of memory. */
const char *tt_plot_axis_typeset_unit(struct tt_plot *plot, const char *unit);
/* "-12" as ⁻¹². */
void tt_plot_axis_append_superscript(struct tt_text *text, const char *digits, size_t n);

/* gnuplot_script.c: the script. `terminal` is what gnuplot is to draw with: "svg", "pngcairo" or "pdfcairo". */
void tt_gnuplot_script_write(FILE *out, const struct tt_plot *plot, const char *terminal);
/* Size of the picture (for characters: of a panel), from the options or automatic. */
struct tt_plot_size {
    int width, height;
} tt_gnuplot_script_picture_size(const struct tt_plot *plot);
/* Returns true if everything fits into a picture of that size. */
bool tt_gnuplot_script_fits_size(const struct tt_plot *plot);

#endif
