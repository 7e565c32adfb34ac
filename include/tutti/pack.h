/* SPDX-License-Identifier: MIT */
/* pack.h - a system as one FMU. */
#ifndef TUTTI_PACK_H
#define TUTTI_PACK_H

#include <tutti/options.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the system of the files that the options name, with everything that tutti_save would keep in an SSP, as an FMU
 * for Co-Simulation by FMI `fmi` (2 or 3), and also for Model Exchange if all its components run by Model Exchange. Its
 * variables are the inputs and outputs of the system; if the system declares none, the outputs and the undriven inputs
 * of its components, as "component.var". Variables of components that match one of the patterns `expose` are added:
 * outputs, locals, undriven inputs, parameters. A single FMU (a Model Exchange FMU that is to be one for Co-Simulation)
 * keeps the names of its variables, and all its parameters.
 *
 * ARGUMENT for a pattern that matches no variable; UNSUPPORTED, naming the feature, if an FMU cannot contain it; errors
 * of a run that loads the files; IO. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_pack(const char *output, const struct tutti_run_options *options,
                                                  unsigned fmi, const char *const *expose, size_t expose_count);

#ifdef __cplusplus
}
#endif
#endif
