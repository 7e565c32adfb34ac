/* SPDX-License-Identifier: MIT */
/* plot_canvas.h - a drawing made of characters. A cell holds 2 x 4 dots (Braille), or one symbol. */
#ifndef TUTTI_CLI_PLOT_CANVAS_H
#define TUTTI_CLI_PLOT_CANVAS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/fail.h"

struct plot_cell {
    unsigned char dots;   /* a bit per dot, as in Unicode's block of Braille patterns */
    unsigned char colour; /* of 256; 0: none */
    const char *sign;     /* NULL: dots */
};

struct plot_canvas {
    int columns, rows;
    bool braille;
    struct plot_cell *cells;
};

/* The style of a line. */
struct plot_pen {
    unsigned char colour;
    const char *sign; /* used without dots */
    int on, off;      /* of dashes, in steps along the line; off 0: a whole line */
};

/* Zeroes `canvas` first; plot_canvas_fini is fine after a failure. */
TUTTI_CHECKED enum tutti_err plot_canvas_init(struct plot_canvas *canvas, int columns, int rows, bool braille);
void plot_canvas_fini(struct plot_canvas *canvas);
/* Both ends are from 0 to 1 of the canvas, y upwards. *step counts along a line of several strokes. */
void plot_canvas_line(struct plot_canvas *canvas, const struct plot_pen *pen, const double from[2], const double to[2],
                      int *step);
/* Draws a sign in this cell, over the drawing. */
void plot_canvas_sign(struct plot_canvas *canvas, const double at[2], const char *sign, unsigned char colour);
/* One row, without spaces at its end and without a line feed. */
void plot_canvas_print(const struct plot_canvas *canvas, int row, FILE *out);

/* Text printed between a call with a colour and one with 0 has this colour. */
void plot_print_colour(FILE *out, unsigned char colour);

#endif
