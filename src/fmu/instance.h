/* SPDX-License-Identifier: MIT */
/* instance.h - one instance of an FMU, for Co-Simulation, Model Exchange or Scheduled Execution as its library was loaded for; one form for
 * FMI 1.0, 2.0 and 3.0.
 *
 * Every function checks the state machine (fmi_state.h), calls the FMU once, and turns its status into an error that names
 * the instance, the FMI function, the simulated time and the FMU's last messages. Values lie as type.h says. An instance
 * belongs to one thread at a time. */
#ifndef TT_FMU_INSTANCE_H
#define TT_FMU_INSTANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "base/bytes.h"
#include "fmu/description/type.h"
#include "fmu/binding.h"
#include "fmu/binary/library.h"
#include "fmu/fmi_state.h"

/* `library` is borrowed for the instance's life. The FMU is not called yet if TUTTI_ERR_UNSUPPORTED comes back. */
TUTTI_CHECKED enum tutti_err tt_instance_new(struct tt_instance **out, struct tt_library *library,
                                             const struct tt_instance_options *options);
/* Terminates where the state machine asks for it, frees the FMU's instance (unless it was Fatal), then our own. Where the library
 * keeps them (library->keeps), an instance that ended well becomes idle instead: the next tt_instance_new with the same options
 * resets it, and needs no other. */
void tt_instance_free(struct tt_instance *instance);
/* Frees the idle instances of the library, and keeps no further ones. */
void tt_instance_free_idle(struct tt_library *library);

enum tt_fmi_state tt_instance_state(const struct tt_instance *instance);
double tt_instance_time(const struct tt_instance *instance);
bool tt_instance_uses_events(const struct tt_instance *instance);
/* How often the FMU returned Warning, and how many of its messages were dropped because it flooded. */
unsigned long tt_instance_warnings(const struct tt_instance *instance);
unsigned long tt_instance_dropped_messages(const struct tt_instance *instance);

TUTTI_CHECKED enum tutti_err tt_instance_enter_configuration(struct tt_instance *instance);
TUTTI_CHECKED enum tutti_err tt_instance_exit_configuration(struct tt_instance *instance);
/* Sets the experiment, before any value is set: some FMUs discard values that were set earlier. */
TUTTI_CHECKED enum tutti_err tt_instance_set_up(struct tt_instance *instance, const struct tt_experiment_setup *setup);
/* `setup`: NULL if the experiment was set up before. */
TUTTI_CHECKED enum tutti_err tt_instance_enter_initialization(struct tt_instance *instance,
                                                              const struct tt_experiment_setup *setup);
TUTTI_CHECKED enum tutti_err tt_instance_exit_initialization(struct tt_instance *instance);

/* One FMI call for `count` references of one type and `values` values (more than `count` where arrays are among them).
 * Strings and bytes that come back belong to the FMU and are good until its next call. With Float64, references may be of
 * Float32 variables, all or none of them: values are rounded. */
TUTTI_CHECKED enum tutti_err tt_instance_set(struct tt_instance *instance, enum tt_type type,
                                             const uint32_t *references, size_t count, const void *values,
                                             size_t value_count);
TUTTI_CHECKED enum tutti_err tt_instance_get(struct tt_instance *instance, enum tt_type type,
                                             const uint32_t *references, size_t count, void *values,
                                             size_t value_count);

/* As set and get, for calls that FMUs may refuse: after Error or Discard *refused becomes true (it is never set to
 * false), and the instance remains usable. The FMU itself may not be: see tt_instance_reset. */
TUTTI_CHECKED enum tutti_err tt_instance_try_set(struct tt_instance *instance, enum tt_type type,
                                                 const uint32_t *references, size_t count, const void *values,
                                                 size_t value_count, bool *refused);
TUTTI_CHECKED enum tutti_err tt_instance_try_get(struct tt_instance *instance, enum tt_type type,
                                                 const uint32_t *references, size_t count, void *values,
                                                 size_t value_count, bool *refused);

/* Derivative of order orders[i] of the Real input or output references[i]. FMI 3.0 has no input derivatives: use the
 * intermediate update. Setting is UNSUPPORTED if the FMU answers with Error or Discard, which is not the end of it. */
TUTTI_CHECKED enum tutti_err tt_instance_set_input_derivatives(struct tt_instance *instance, const uint32_t *references,
                                                               size_t count, const int32_t *orders,
                                                               const double *values);
TUTTI_CHECKED enum tutti_err tt_instance_get_output_derivatives(struct tt_instance *instance,
                                                                const uint32_t *references, size_t count,
                                                                const int32_t *orders, double *values);
/* sensitivity = d(unknowns)/d(knowns) * seed. As many values as references, more where arrays are among them (3.0). */
TUTTI_CHECKED enum tutti_err tt_instance_get_directional(struct tt_instance *instance, const uint32_t *unknowns,
                                                         size_t unknown_count, const uint32_t *knowns,
                                                         size_t known_count, const double *seed, size_t seed_count,
                                                         double *sensitivity, size_t sensitivity_count);

/* sensitivity = transposed d(unknowns)/d(knowns) * seed (3.0), for an instance that has them. */
bool tt_instance_has_adjoint(const struct tt_instance *instance);
TUTTI_CHECKED enum tutti_err tt_instance_get_adjoint(struct tt_instance *instance, const uint32_t *unknowns,
                                                     size_t unknown_count, const uint32_t *knowns, size_t known_count,
                                                     const double *seed, size_t seed_count, double *sensitivity,
                                                     size_t sensitivity_count);

/* `no_going_back`: no state before t will be restored any more. *pending becomes true if the FMU still computes
 * (canRunAsynchronuously, 1.0 and 2.0): then only tt_instance_end_step, which waits for it, may be called.
 * NULL: the step waits. */
TUTTI_CHECKED enum tutti_err tt_instance_do_step(struct tt_instance *instance, double t, double h, bool no_going_back,
                                                 struct tt_fmi_step *step, bool *pending);
TUTTI_CHECKED enum tutti_err tt_instance_end_step(struct tt_instance *instance, double t, double h,
                                                  struct tt_fmi_step *step);

TUTTI_CHECKED enum tutti_err tt_instance_enter_event(struct tt_instance *instance);
TUTTI_CHECKED enum tutti_err tt_instance_update_discrete(struct tt_instance *instance,
                                                         struct tt_discrete_update *discrete);
TUTTI_CHECKED enum tutti_err tt_instance_enter_step(struct tt_instance *instance);

/* Clocks (FMI 3.0), in event mode: activates or deactivates input clocks; reads whether they tick (in Scheduled
 * Execution only in the callback of a partition). STATE, with the clock's name, if the standard forbids it (I16 to
 * I19). */
TUTTI_CHECKED enum tutti_err tt_instance_clocks_set(struct tt_instance *instance, const uint32_t *references,
                                                    size_t count, const bool *values);
TUTTI_CHECKED enum tutti_err tt_instance_clocks_get(struct tt_instance *instance, const uint32_t *references,
                                                    size_t count, bool *values);
/* Reads the next interval of a clock, and its shift. timing->fraction selects the form of a fraction. An invalid time
 * is reported as an error of the FMU. */
TUTTI_CHECKED enum tutti_err tt_instance_clocks_get_interval(struct tt_instance *instance, uint32_t reference,
                                                             struct tt_clock_timing *timing);
TUTTI_CHECKED enum tutti_err tt_instance_clocks_get_shift(struct tt_instance *instance, uint32_t reference,
                                                          struct tt_clock_timing *timing);
TUTTI_CHECKED enum tutti_err tt_instance_clocks_set_interval(struct tt_instance *instance, uint32_t reference,
                                                             const struct tt_clock_timing *timing);
/* Scheduled Execution: computes the partition of an input clock at time t, which the instance is at from then on. */
TUTTI_CHECKED enum tutti_err tt_instance_clocks_activate(struct tt_instance *instance, uint32_t reference, double t);

/* Returns true if it can save states. An FMU for a different platform may turn out to have state that a fork loses. */
bool tt_instance_can_save(const struct tt_instance *instance);
/* Saves into `saved`, reusing what it holds. */
TUTTI_CHECKED enum tutti_err tt_saved_state_save(struct tt_instance *instance, struct tt_saved_state *saved);
TUTTI_CHECKED enum tutti_err tt_saved_state_restore(struct tt_instance *instance, const struct tt_saved_state *saved);
void tt_saved_state_discard(struct tt_instance *instance, struct tt_saved_state *saved);
/* A saved state as bytes that another process of the same FMU can read; *bytes is the caller's (free). */
TUTTI_CHECKED enum tutti_err tt_saved_state_serialize(struct tt_instance *instance, const struct tt_saved_state *saved,
                                                      unsigned char **bytes, size_t *size);
TUTTI_CHECKED enum tutti_err tt_saved_state_deserialize(struct tt_instance *instance, const unsigned char *bytes,
                                                        size_t size, struct tt_saved_state *saved);

/* The same in a parcel. */
TUTTI_CHECKED enum tutti_err tt_saved_state_pack(struct tt_instance *instance, const struct tt_saved_state *saved,
                                                 struct tt_byte_writer *parcel);
TUTTI_CHECKED enum tutti_err tt_saved_state_unpack(struct tt_instance *instance, struct tt_byte_reader *parcel,
                                                   struct tt_saved_state *saved);

/* The present state as the FMU's own bytes and nothing else, as importers write them to files; *bytes is the caller's (free). */
TUTTI_CHECKED enum tutti_err tt_saved_state_export(struct tt_instance *instance, unsigned char **bytes, size_t *size);
/* Restores serialised state into a new instance whose experiment is set up, at the start of its experiment and without
 * an initialisation: between two steps, Model Exchange in continuous-time mode. Only the FMU can verify the bytes. */
TUTTI_CHECKED enum tutti_err tt_saved_state_import(struct tt_instance *instance, const unsigned char *bytes,
                                                   size_t size);

TUTTI_CHECKED enum tutti_err tt_instance_terminate(struct tt_instance *instance);
TUTTI_CHECKED enum tutti_err tt_instance_reset(struct tt_instance *instance);

/* For a rank of several, which may be threads: permits calls although an instance in a different thread is Fatal, until
 * it is withdrawn. So the rank reaches the step in which that instance was Fatal, as it would have with a single
 * thread. An instance that is Fatal in this thread withdraws the permission. */
void tt_instance_ignore_fatal(bool allowed);

/* Where this thread is inside an FMU, as text ("instance ball in fmi2DoStep at t = 0.5"), or "" if it is not.
 * Async-signal-safe; for the message about a crash. Returns the length; out is NUL-terminated. */
size_t tt_instance_describe_call(char *out, size_t size);
/* Makes the calls of this thread known to tt_instance_describe_calls; false: not any more, which it must say before it ends. */
void tt_instance_show_thread(bool shown);
enum { TUTTI_SHOWN_THREADS = 64 }; /* at most */
/* A call that such a thread is in; `instance` is NULL if it is in none. Two that are equal, with whatever time between them, are one call. */
struct tt_shown_call {
    const void *instance;
    uint32_t calls, call;
    double time;
};
/* From another thread. `thread` < TUTTI_SHOWN_THREADS. */
struct tt_shown_call tt_instance_inspect_thread(size_t thread);
/* As tt_instance_describe_call, of that thread. */
size_t tt_instance_describe_thread(size_t thread, char *out, size_t size);
/* The same of all such threads, with ", or " between them, in a process that shares the memory of theirs, which has ended. */
size_t tt_instance_describe_calls(char *out, size_t size);
/* Its FMU's calls may reach functions of the program (library.h, is_mixed): a crash may have other causes.
 * Async-signal-safe. */
bool tt_instance_is_mixed(void);

/* ---- Model Exchange (exchange.c); only for instances of a Model Exchange library ---- */

/* Numbers of continuous states and event indicators now (FMI 3.0: structural parameters may have changed them). To be
 * asked when instantiated, after a configuration, or in event mode; good until the next configuration. */
TUTTI_CHECKED enum tutti_err tt_instance_count_states(struct tt_instance *instance, size_t *states, size_t *indicators);
/* Functions of continuous-time mode (the getters also in event mode, the initialisation mode of 2.0 and 3.0, and
 * terminated). Discard is not an error here: *discarded becomes true (it is never set to false), the values are
 * undefined, and a different point may be tried. Error of the last two counts as Discard. With count 0 the FMU is not
 * called. */
TUTTI_CHECKED enum tutti_err tt_instance_set_time(struct tt_instance *instance, double t, bool *discarded);
TUTTI_CHECKED enum tutti_err tt_instance_set_states(struct tt_instance *instance, const double *states, size_t count,
                                                    bool *discarded);
TUTTI_CHECKED enum tutti_err tt_instance_get_derivatives(struct tt_instance *instance, double *derivatives,
                                                         size_t count, bool *discarded);
TUTTI_CHECKED enum tutti_err tt_instance_get_indicators(struct tt_instance *instance, double *indicators, size_t count,
                                                        bool *discarded);
/* Returns true if the last call of one of these functions was answered by Error. tt_instance_refusal returns the FMU's
 * messages as a sentence, valid until the next refusal; "" without one. */
bool tt_instance_refused(const struct tt_instance *instance);
const char *tt_instance_refusal(const struct tt_instance *instance);
TUTTI_CHECKED enum tutti_err tt_instance_get_states(struct tt_instance *instance, double *states, size_t count);
/* Returns nominal values of the states as the FMU reports them, even if they are 0 or negative. */
TUTTI_CHECKED enum tutti_err tt_instance_get_nominals(struct tt_instance *instance, double *nominals, size_t count);
/* Returns the value references of the states, in the order of the state vector (FMI 1.0; later versions have them in
 * the description). UNSUPPORTED if the FMU does not provide them, as many do not: the instance remains usable. */
TUTTI_CHECKED enum tutti_err tt_instance_get_state_references(struct tt_instance *instance, uint32_t *references,
                                                              size_t count);
/* After every accepted step of the solver, with time and states set to its end. */
TUTTI_CHECKED enum tutti_err tt_instance_completed_step(struct tt_instance *instance, bool no_going_back, bool *event,
                                                        bool *terminate);
/* Enters continuous-time mode from event mode, in which initialisation ends, once update_discrete no longer sets
 * `again`; enter_event is the way back. (FMI 1.0 has no modes: the calls are not passed on. Its first update_discrete
 * returns the result of the initialisation, unless values were set since.) */
TUTTI_CHECKED enum tutti_err tt_instance_enter_continuous(struct tt_instance *instance);

#endif
