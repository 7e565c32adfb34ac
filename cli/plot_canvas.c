/* SPDX-License-Identifier: MIT */
#include "plot_canvas.h"

#include <math.h>
#include <stdlib.h>

enum { DOT_COLUMNS = 2, DOT_ROWS = 4 };

enum tutti_err plot_canvas_init(struct plot_canvas *canvas, int columns, int rows, bool braille)
{
    *canvas = (struct plot_canvas){.columns = columns, .rows = rows, .braille = braille};
    canvas->cells = calloc((size_t)columns * (size_t)rows, sizeof *canvas->cells);
    return canvas->cells ? TUTTI_OK : tt_fail_memory();
}

void plot_canvas_fini(struct plot_canvas *canvas)
{
    free(canvas->cells);
}

/* Also for what is beyond the ends, or no number. */
static int place(double share, int count)
{
    return !(share > 0) ? 0 : share >= 1 ? count - 1 : (int)(share * count);
}

/* x and y are in dots, or in cells without dots; y points down. */
static void put(struct plot_canvas *canvas, const struct plot_pen *pen, int x, int y)
{
    static const unsigned char bits[DOT_ROWS][DOT_COLUMNS] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    int column = canvas->braille ? x / DOT_COLUMNS : x, row = canvas->braille ? y / DOT_ROWS : y;
    struct plot_cell *cell = &canvas->cells[(size_t)row * (size_t)canvas->columns + (size_t)column];
    if (canvas->braille)
        cell->dots |= bits[y % DOT_ROWS][x % DOT_COLUMNS];
    else
        cell->sign = pen->sign;
    cell->colour = pen->colour;
}

/* From dot to dot, one per step along the longer side. */
void plot_canvas_line(struct plot_canvas *canvas, const struct plot_pen *pen, const double from[2], const double to[2],
                      int *step)
{
    int width = canvas->columns * (canvas->braille ? DOT_COLUMNS : 1),
        height = canvas->rows * (canvas->braille ? DOT_ROWS : 1);
    int x0 = place(from[0], width), y0 = place(1 - from[1], height), x1 = place(to[0], width),
        y1 = place(1 - to[1], height);
    int count = abs(x1 - x0) > abs(y1 - y0) ? abs(x1 - x0) : abs(y1 - y0);
    for (int i = 0; i <= count; i++) {
        double share = count > 0 ? (double)i / count : 0;
        if (pen->off == 0 || *step % (pen->on + pen->off) < pen->on)
            put(canvas, pen, x0 + (int)lround(share * (x1 - x0)), y0 + (int)lround(share * (y1 - y0)));
        *step += i < count;
    }
}

void plot_canvas_sign(struct plot_canvas *canvas, const double at[2], const char *sign, unsigned char colour)
{
    size_t row = (size_t)place(1 - at[1], canvas->rows), column = (size_t)place(at[0], canvas->columns);
    struct plot_cell *cell = &canvas->cells[row * (size_t)canvas->columns + column];
    cell->sign = sign;
    cell->colour = colour;
}

void plot_print_colour(FILE *out, unsigned char colour)
{
    if (colour)
        fprintf(out, "\033[38;5;%dm", colour);
    else
        fputs("\033[39m", out);
}

void plot_canvas_print(const struct plot_canvas *canvas, int row, FILE *out)
{
    const struct plot_cell *cells = &canvas->cells[(size_t)row * (size_t)canvas->columns];
    int end = canvas->columns;
    unsigned char colour = 0;
    while (end > 0 && !cells[end - 1].sign && cells[end - 1].dots == 0)
        end--;
    for (int i = 0; i < end; i++) {
        bool empty = !cells[i].sign && cells[i].dots == 0;
        if (!empty && cells[i].colour != colour)
            plot_print_colour(out, colour = cells[i].colour);
        if (cells[i].sign)
            fputs(cells[i].sign, out);
        else if (empty)
            fputc(' ', out);
        else /* U+2800 and its dots, in UTF-8 */
            fprintf(out, "\xe2%c%c", 0xa0 | cells[i].dots >> 6, 0x80 | (cells[i].dots & 0x3f));
    }
    if (colour)
        plot_print_colour(out, 0);
}
