/* SPDX-License-Identifier: MIT */
#include "master/coupling.h"

#include <string.h>

#include "base/str.h"

static const struct tutti_coupling *const couplings[] = {&tutti_coupling_jacobi, &tutti_coupling_seidel,
                                                         &tutti_coupling_relax};

enum tutti_err tutti_coupling_find(const char *name, const struct tutti_coupling **out)
{
    struct tutti_text all = {0};
    for (size_t i = 0; i < sizeof couplings / sizeof *couplings; i++) {
        *out = couplings[i];
        if (strcmp(name, couplings[i]->name) == 0) {
            tutti_text_fini(&all);
            return TUTTI_OK;
        }
        tutti_text_printf(&all, ", %s", couplings[i]->name);
    }
    enum tutti_err err =
        tutti_fail(TUTTI_ERR_ARGUMENT, "--coupling takes auto%s, not '%s'", all.text ? all.text : "", name);
    tutti_text_fini(&all);
    return err;
}

enum tutti_err tutti_coupling_stage(struct run *run, struct tutti_member *member)
{
    TRY(tutti_wires_gather(&run->wires, member->wires));
    return member->unit->has_events || member->wires->held_count == 0
               ? TUTTI_OK
               : tutti_wires_gather_held(&run->wires, member->wires);
}

/* A line between both ends; where a slope at the beginning is known to order 2, the parabola with that slope. */
void tutti_coupling_pass_on(struct run *run, uint32_t component, double h)
{
    const struct tutti_wires *wires = &run->wires;
    const double *now = (const void *)wires->signals;
    double *begin = (void *)run->master.begin;
    bool parabola = wires->order == 2 && tutti_extrapolation_order(&run->master.extrapolation) == 2;
    for (uint32_t i = wires->real_first[component]; i < wires->real_first[component + 1]; i++) {
        const struct tutti_real *real = &wires->reals[i];
        double *slope = &wires->slopes[0][real->place], move = now[real->place] - begin[real->place];
        if (!real->smooth) {
            begin[real->place] = now[real->place];
            continue;
        }
        if (parabola)
            wires->slopes[1][real->place] = 2 * (move - h * *slope) / (h * h);
        else
            *slope = move / h;
        if (!parabola && wires->order == 2)
            wires->slopes[1][real->place] = 0;
    }
}
