/* SPDX-License-Identifier: MIT */
/* instance.h - the life of an instance of a packed system, its values, its states. fmi2.c and fmi3.c give it the functions of both versions. */
#ifndef TUTTI_PACKED_INSTANCE_H
#define TUTTI_PACKED_INSTANCE_H

#include "packed/packed.h"

/* `resources` is the folder of the FMU's resources. `log` is copied. FORMAT if the token is another FMU's. */
TUTTI_CHECKED enum tutti_err tutti_packed_make(struct tutti_packed **out, const char *name, const char *token,
                                               const char *resources, const struct tutti_log *log);
void tutti_packed_free(struct tutti_packed *packed);

/* The life of an instance. */
TUTTI_CHECKED enum tutti_err tutti_packed_initialise(struct tutti_packed *packed);
TUTTI_CHECKED enum tutti_err tutti_packed_begin(struct tutti_packed *packed);
/* Where it is, once there is a simulation. */
double tutti_packed_time(const struct tutti_packed *packed);
TUTTI_CHECKED enum tutti_err tutti_packed_step(struct tutti_packed *packed, double t, double h,
                                               struct tutti_packed_step *step);
/* Crosses the event that the last step left, and what was set since then as an event, now. */
TUTTI_CHECKED enum tutti_err tutti_packed_cross(struct tutti_packed *packed);
/* The time that units and their clocks announce for their next event; INFINITY: none. */
TUTTI_CHECKED enum tutti_err tutti_packed_next_event(struct tutti_packed *packed, double *event);
/* The importer makes no more steps: a warning of signals that exploded comes now. Values can be read. */
TUTTI_CHECKED enum tutti_err tutti_packed_end(struct tutti_packed *packed);
void tutti_packed_reset(struct tutti_packed *packed);

/* Values (values.c). The variables have value references from 1 on. All values of a variable, laid out as description/type.h says; texts are good until
 * the next point. ARGUMENT for a reference that is none, or of another type. */
TUTTI_CHECKED enum tutti_err tutti_packed_get(struct tutti_packed *packed, uint32_t reference, enum tutti_type type,
                                              void *values);
TUTTI_CHECKED enum tutti_err tutti_packed_set(struct tutti_packed *packed, uint32_t reference, enum tutti_type type,
                                              const void *values);
/* How many there are; 1 for a reference that is none. */
size_t tutti_packed_size(const struct tutti_packed *packed, uint32_t reference);
/* What lies between a packed variable and the unit's; NULL: nothing. By the connection: the system is another one after each start with other values. */
const struct tutti_conversion *tutti_packed_conversion(const struct tutti_packed *packed,
                                                       const struct tutti_packed_end *end);
/* Room for what is given (PK1); and its release. */
TUTTI_CHECKED enum tutti_err tutti_packed_make_room(struct tutti_packed *packed);
void tutti_packed_release_room(struct tutti_packed *packed);
/* After open; before the simulation is freed. */
TUTTI_CHECKED enum tutti_err tutti_packed_bind(struct tutti_packed *packed);
void tutti_packed_unbind(struct tutti_packed *packed);
/* Gives the simulation, which is not started, what is kept (PK1). */
TUTTI_CHECKED enum tutti_err tutti_packed_hand_over(struct tutti_packed *packed);
/* The simulation is started, with everything that was set. */
TUTTI_CHECKED enum tutti_err tutti_packed_need(struct tutti_packed *packed);

/* Points (points.c): a state of FMI is a point of the simulation. */
TUTTI_CHECKED enum tutti_err tutti_packed_save(struct tutti_packed *packed, void **state);
TUTTI_CHECKED enum tutti_err tutti_packed_restore(struct tutti_packed *packed, const void *state);
void tutti_packed_drop(struct tutti_packed *packed, void *from);
TUTTI_CHECKED enum tutti_err tutti_packed_serialised_size(struct tutti_packed *packed, const void *state, size_t *size);
TUTTI_CHECKED enum tutti_err tutti_packed_serialise(struct tutti_packed *packed, const void *state, void *bytes,
                                                    size_t size);
TUTTI_CHECKED enum tutti_err tutti_packed_deserialise(struct tutti_packed *packed, struct tutti_bytes bytes,
                                                      void **state);

#endif
