/* SPDX-License-Identifier: MIT */
#include "base/time.h"

/* How far a quotient of two times may be from a whole number by rounding alone; relative, with room for steps that were
 * themselves computed ((stop - start) / 500). */
#define WHOLE_TOLERANCE 1e-9

void tutti_grid_init(struct tutti_grid *grid, double start, double step, double stop)
{
    double intervals = (stop - start) / step;
    double whole = nearbyint(intervals);
    bool fits = fabs(intervals - whole) <= WHOLE_TOLERANCE * fmax(1, fabs(whole));
    double last = fits ? whole : ceil(intervals);
    /* Beyond 2^53 steps single ones cannot be told apart any more; nobody will see the end of such a run. */
    last = fmin(fmax(last, 1), 9007199254740992.0);
    *grid = (struct tutti_grid){start, step, stop, (int64_t)last, 1, 0};
    grid->next = tutti_grid_point(grid, 1);
}

void tutti_grid_pass_to(struct tutti_grid *grid, double t)
{
    double span = grid->stop - grid->start;
    /* Usually one point is passed; after a long step the index is computed, not counted up. */
    double guess = floor((t - grid->start) / grid->step) - 1;
    if (guess > (double)grid->next_index)
        grid->next_index = guess < (double)grid->last ? (int64_t)guess : grid->last;
    while (grid->next_index < grid->last) {
        double point = tutti_grid_point(grid, grid->next_index);
        if (point > t && !tutti_time_same(point, t, span))
            break;
        grid->next_index++;
    }
    grid->next = tutti_grid_point(grid, grid->next_index);
}

bool tutti_grid_fits(double start, double step, double stop)
{
    double intervals = (stop - start) / step;
    return fabs(intervals - nearbyint(intervals)) <= WHOLE_TOLERANCE * fmax(1, fabs(intervals));
}
