/* SPDX-License-Identifier: MIT */
/* pack.h - a system as one FMU. */
#ifndef TUTTI_PACK_H
#define TUTTI_PACK_H

#include <tutti/options.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the system of the files that the options name, with everything that tutti_save would keep in an SSP, as an FMU for Co-Simulation by
 * FMI `fmi` (2 or 3), and for Model Exchange, too, if all its units are run by that. Its variables are the inputs and outputs of the system itself; if it has none, the outputs of its units and those of
 * their inputs that nothing drives, as "unit.var"; and besides, variables of units that one of the patterns `expose` fits: outputs, locals,
 * inputs that nothing drives, parameters. A single FMU (a Model Exchange FMU that is to be one for Co-Simulation) keeps the names of its
 * variables, and all its parameters.
 *
 * ARGUMENT for a pattern that nothing fits, UNSUPPORTED for what an FMU cannot have, naming it; errors of a run that loads the files; IO. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_pack(const char *output, const struct tutti_run_options *options,
                                                  unsigned fmi, const char *const *expose, size_t expose_count);

#ifdef __cplusplus
}
#endif
#endif
