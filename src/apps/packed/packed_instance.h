/* SPDX-License-Identifier: MIT */
/* instance.h - the life of an instance of a packed system, its values, its states. fmi2.c and fmi3.c give it the functions of both versions. */
#ifndef TT_APPS_PACKED_PACKED_INSTANCE_H
#define TT_APPS_PACKED_PACKED_INSTANCE_H

#include "apps/packed/packed.h"

/* `resources` is the folder of the FMU's resources. `log` is copied. FORMAT if the token is another FMU's. */
TUTTI_CHECKED enum tutti_err tt_packed_new(struct tt_packed **out, const char *name, const char *token,
                                           const char *resources, const struct tutti_log *log);
void tt_packed_free(struct tt_packed *packed);

/* The life of an instance. */
TUTTI_CHECKED enum tutti_err tt_packed_initialise(struct tt_packed *packed);
TUTTI_CHECKED enum tutti_err tt_packed_start(struct tt_packed *packed);
/* Returns the current time, once a simulation exists. */
double tt_packed_time(const struct tt_packed *packed);
TUTTI_CHECKED enum tutti_err tt_packed_step(struct tt_packed *packed, double t, double h, struct tt_packed_step *step);
/* Crosses the event that the last step left, and what was set since then as an event, now. */
TUTTI_CHECKED enum tutti_err tt_packed_handle_event(struct tt_packed *packed);
/* The time that units and their clocks announce for their next event; INFINITY: none. */
TUTTI_CHECKED enum tutti_err tt_packed_next_event(struct tt_packed *packed, double *event);
/* Called when the importer makes no more steps: warns of signals that exploded. Values remain readable. */
TUTTI_CHECKED enum tutti_err tt_packed_terminate(struct tt_packed *packed);
void tt_packed_reset(struct tt_packed *packed);

/* Reads values (packed_values.c). Variables have value references from 1 on. The call returns all values of a variable,
 * laid out as fmu/description/type.h defines; texts are valid until the next point. ARGUMENT: wrong reference or type. */
TUTTI_CHECKED enum tutti_err tt_packed_values_get(struct tt_packed *packed, uint32_t reference, enum tt_type type,
                                                  void *values);
TUTTI_CHECKED enum tutti_err tt_packed_values_set(struct tt_packed *packed, uint32_t reference, enum tt_type type,
                                                  const void *values);
/* How many there are; 1 for a reference that is none. */
size_t tt_packed_values_size(const struct tt_packed *packed, uint32_t reference);
/* Returns the conversion between a packed variable and the unit's; NULL: identity. Looked up by connection, because
 * each start with different values makes a new system. */
const struct tt_conversion *tt_packed_values_conversion(const struct tt_packed *packed,
                                                        const struct tt_packed_end *end);
/* Allocates room for kept values (PK1); and frees it. */
TUTTI_CHECKED enum tutti_err tt_packed_values_allocate(struct tt_packed *packed);
void tt_packed_values_release(struct tt_packed *packed);
/* After open; before the simulation is freed. */
TUTTI_CHECKED enum tutti_err tt_packed_values_bind(struct tt_packed *packed);
void tt_packed_values_unbind(struct tt_packed *packed);
/* Passes kept values (PK1) to the simulation, which is not started. */
TUTTI_CHECKED enum tutti_err tt_packed_values_pass_start_values(struct tt_packed *packed);
/* The simulation is started, with everything that was set. */
TUTTI_CHECKED enum tutti_err tt_packed_ensure_started(struct tt_packed *packed);

/* Points (packed_points.c): a state of FMI is a point of the simulation. */
TUTTI_CHECKED enum tutti_err tt_packed_save(struct tt_packed *packed, void **state);
TUTTI_CHECKED enum tutti_err tt_packed_restore(struct tt_packed *packed, const void *state);
void tt_packed_free_state(struct tt_packed *packed, void *from);
TUTTI_CHECKED enum tutti_err tt_packed_serialised_size(struct tt_packed *packed, const void *state, size_t *size);
TUTTI_CHECKED enum tutti_err tt_packed_serialise(struct tt_packed *packed, const void *state, void *bytes, size_t size);
TUTTI_CHECKED enum tutti_err tt_packed_deserialise(struct tt_packed *packed, struct tt_bytes bytes, void **state);

#endif
