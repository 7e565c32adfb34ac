/* SPDX-License-Identifier: MIT */
/* mpi_interface.h - the seam between the library and the module with the fabric `mpi` (src/sim/ranks/mpi/,
 * tutti_mpi.so), which is loaded at run time, so that nothing else needs MPI. The module does not use symbols of the
 * library: struct tt_mpi_host has the functions it needs.
 *
 * All functions belong to one thread, and are collective unless stated otherwise: all processes started by mpiexec call
 * them in one order. */
#ifndef TT_SIM_RANKS_MPI_INTERFACE_H
#define TT_SIM_RANKS_MPI_INTERFACE_H

#include "sim/ranks/fabric.h"

/* Both sides must agree in these. */
enum { TUTTI_MPI_ABI = 2 };

/* Functions of the library that the module calls; valid permanently. */
struct tt_mpi_host {
    unsigned abi;
    size_t fabric_size; /* of struct tt_fabric */
    enum tutti_err (*fail)(enum tutti_err err, const char *format, ...) TUTTI_PRINTF(2, 3);
    enum tutti_err (*fail_memory)(void);
    const char *(*err_message)(void);
    size_t (*cargo_size)(const struct tt_cargo *cargo, const char *base);
    void (*cargo_pack)(const struct tt_cargo *cargo, const char *base, char *message);
    enum tutti_err (*cargo_unpack)(const struct tt_cargo *cargo, char *base, const char *message, size_t size);
    void (*lower_stop)(_Atomic uint64_t *stop_after, uint64_t step);
    enum tutti_err (*stopped)(void);
    void (*combine)(enum tt_fabric_reduction reduction, double *into, const double *from, size_t count);
};

/* Where reports end, in rank 0. */
struct tt_mpi_sink {
    void *context;
    /* Returns true if reports of rank `rank` can be accepted. If not, they wait at their sender. */
    bool (*has_room)(void *context, int rank);
    /* Takes bytes of rank `rank`. */
    enum tutti_err (*take)(void *context, int rank, const char *bytes, size_t size);
};

struct tt_mpi_module {
    unsigned abi;
    /* Once per process. UNSUPPORTED if MPI has come and gone in this process. */
    enum tutti_err (*start)(int *rank, int *ranks);
    /* Agrees on an error. `err` is that of this rank, with its message set. If one rank has an error, rank 0 gets the
     * error and message of the first such rank, the others STOPPED. */
    enum tutti_err (*agree)(enum tutti_err err);
    /* Every rank gets the bytes that rank 0 has. */
    enum tutti_err (*share)(void *bytes, size_t size);
    /* Not collective. `sink` (borrowed) is for rank 0; other ranks ignore it. One fabric per process. */
    enum tutti_err (*open)(struct tt_fabric **out, const struct tt_mpi_sink *sink);
    /* Called after the last report: waits until this rank's reports are transferred; rank 0 continues to receive from
     * the others until is_done(context). */
    enum tutti_err (*settle)(struct tt_fabric *fabric, bool (*is_done)(void *context), void *context);
    /* In a handler of a fatal signal: transfers pending reports for `seconds`, or receives them in rank 0. May not
     * return. */
    void (*last_words)(struct tt_fabric *fabric, double seconds);
    /* Without a fabric: bytes (copied) to a rank, which takes them with `take`, in order. Not collective, and does not wait. */
    enum tutti_err (*post)(int rank, const void *bytes, size_t size);
    /* How many that this rank has posted are not on their way yet, as of the last post or take. */
    unsigned (*posted)(void);
    /* Receives the next message from any rank, with its bytes (the caller's: free); *rank -1: none. Does not wait. */
    enum tutti_err (*take)(int *rank, char **bytes, size_t *size);
    /* Waits for all, and leaves MPI. */
    void (*finish)(void);
};

/* The one symbol of the module, "tt_mpi_module": NULL if the host is not of its kind. */
typedef const struct tt_mpi_module *tt_mpi_entry(const struct tt_mpi_host *host);

#endif
