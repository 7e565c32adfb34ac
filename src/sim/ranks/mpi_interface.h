/* SPDX-License-Identifier: MIT */
/* module.h - the seam between the library and the module with the fabric `mpi` (src/mpi/, tutti_mpi.so), which is loaded at run
 * time, so that nothing else needs MPI. The module sees no symbol of the library: it is given what it needs.
 *
 * All functions belong to one thread, and are collective where nothing else is said: all processes that mpiexec started call them in the same order. */
#ifndef TT_SIM_RANKS_MPI_INTERFACE_H
#define TT_SIM_RANKS_MPI_INTERFACE_H

#include "sim/ranks/fabric.h"

/* Both sides must agree in these. */
enum { TUTTI_MPI_ABI = 2 };

/* What the library lends to the module; for all time. */
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
    /* Is rank `rank` to be heard? If not, its reports wait where they are. */
    bool (*has_room)(void *context, int rank);
    /* Takes bytes of rank `rank`. */
    enum tutti_err (*take)(void *context, int rank, const char *bytes, size_t size);
};

struct tt_mpi_module {
    unsigned abi;
    /* Once per process. UNSUPPORTED if MPI has come and gone in this process. */
    enum tutti_err (*start)(int *rank, int *ranks);
    /* Are all ranks well? `err` says how this rank is, with its message in place. If one is not, rank 0 gets the error and
     * the message of the first that has one, the others STOPPED. */
    enum tutti_err (*agree)(enum tutti_err err);
    /* Every rank gets the bytes that rank 0 has. */
    enum tutti_err (*share)(void *bytes, size_t size);
    /* Not collective. `sink` (borrowed) is for rank 0, others do not look at it. One fabric per process. */
    enum tutti_err (*open)(struct tt_fabric **out, const struct tt_mpi_sink *sink);
    /* After the last report: waits until what this rank reported is on its way; rank 0 goes on hearing the others until
     * is_done(context). */
    enum tutti_err (*settle)(struct tt_fabric *fabric, bool (*is_done)(void *context), void *context);
    /* In a handler of a fatal signal: for so many seconds, what was reported goes on to rank 0, or comes there. It need not
     * return. */
    void (*last_words)(struct tt_fabric *fabric, double seconds);
    /* Without a fabric: bytes (copied) to a rank, which takes them with `take`, in order. Not collective, and does not wait. */
    enum tutti_err (*post)(int rank, const void *bytes, size_t size);
    /* How many that this rank has posted are not on their way yet, as of the last post or take. */
    unsigned (*posted)(void);
    /* The next one that has come from any rank, and its bytes (the caller's: free); *rank -1: there is none. Does not wait. */
    enum tutti_err (*take)(int *rank, char **bytes, size_t *size);
    /* Waits for all, and leaves MPI. */
    void (*finish)(void);
};

/* The one symbol of the module, "tt_mpi_module": NULL if the host is not of its kind. */
typedef const struct tt_mpi_module *tt_mpi_entry(const struct tt_mpi_host *host);

#endif
