/* SPDX-License-Identifier: MIT */
#include "base/time.h"

/* The number of whole steps from start to stop if, up to rounding, it is one; else 0. */
static double count_whole_steps(double start, double step, double stop)
{
    double whole = nearbyint((stop - start) / step);
    return tt_time_same(start + whole * step, stop, stop - start) ? whole : 0;
}

void tt_time_grid_init(struct tt_time_grid *grid, double start, double step, double stop)
{
    double whole = count_whole_steps(start, step, stop);
    double last = whole > 0 ? whole : ceil((stop - start) / step);
    /* Beyond 2^53 steps single ones cannot be told apart any more; such a run will never come to its end. */
    last = fmin(fmax(last, 1), 9007199254740992.0);
    *grid = (struct tt_time_grid){start, step, stop, (int64_t)last, 1, 0};
    grid->next = tt_time_grid_point(grid, 1);
}

void tt_time_grid_pass_to(struct tt_time_grid *grid, double t)
{
    double span = grid->stop - grid->start;
    /* Usually one point is passed; after a long step the index is computed, not counted up. */
    double guess = floor((t - grid->start) / grid->step) - 1;
    if (guess > (double)grid->next_index)
        grid->next_index = guess < (double)grid->last ? (int64_t)guess : grid->last;
    while (grid->next_index < grid->last) {
        double point = tt_time_grid_point(grid, grid->next_index);
        if (point > t && !tt_time_same(point, t, span))
            break;
        grid->next_index++;
    }
    grid->next = tt_time_grid_point(grid, grid->next_index);
}

bool tt_time_grid_fits(double start, double step, double stop)
{
    return count_whole_steps(start, step, stop) > 0;
}
