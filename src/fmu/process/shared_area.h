/* SPDX-License-Identifier: MIT */
/* shared_area.h - memory that a rank shares with the processes of an FMU that is rolled back by forking: one call at a
 * time.
 *
 * Such an FMU runs in a separate process, its *holder*. A saved point is a holder that has forked and waits; its child
 * is the holder that continues. A *keeper* (src/fmu/fork_server/), the parent of all holders, observes how each ends.
 *
 * Invariants:
 *  A1  `turn` names the process that may read and write the area, apart from `holders`: 0 is the rank, otherwise it is a
 *      holder's number. Giving the turn away is the last action of a process.
 *  A2  The data is a stack: a call that is made inside a call (by a callback) begins above the values of the outer call.
 *  A3  holders[n] is set by holder n, or by the process that creates it; by its keeper once it has ended. */
#ifndef TT_FMU_PROCESS_SHARED_AREA_H
#define TT_FMU_PROCESS_SHARED_AREA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fmu/description/type.h"

enum {
    TUTTI_AREA_RANK = 0,
    TUTTI_AREA_FIRST = 1,      /* the holder that is made first */
    TUTTI_AREA_HOLDERS = 1024, /* numbers are below it */
};
/* Bytes of address space; memory is allocated on use. */
#define TUTTI_AREA_SIZE ((size_t)1 << 30)

/* Descriptors that a keeper is started with. */
enum { TUTTI_KEEPER_AREA = 3, TUTTI_KEEPER_LIFE = 4 };

/* Data of a library that is to be loaded: these numbers, then as texts its path, the folder of the FMU, that of its
 * resources (NULL if it has none), the model identifier, the token, and the FMU's name for messages. The answer is
 * TUTTI_CAN_* as one number, or a text with the reason of the failure. */
enum {
    TUTTI_AREA_LIBRARY_FMI,
    TUTTI_AREA_LIBRARY_KIND,
    TUTTI_AREA_LIBRARY_FLAGS, /* of the interface, as its maxOutputDerivativeOrder */
    TUTTI_AREA_LIBRARY_ORDER,
    TUTTI_AREA_LIBRARY_TELLS, /* anomalies of it are to be logged */
    TUTTI_AREA_LIBRARY_NUMBERS
};

/* The message of a process to the process that gets the turn. */
enum tt_fork_request {
    /* From the rank: a slot of the binding, with its arguments; the same names as in binding.h. */
    TUTTI_WORD_INSTANTIATE,
    TUTTI_WORD_FREE,
    TUTTI_WORD_SET_DEBUG_LOGGING,
    TUTTI_WORD_ENTER_CONFIGURATION,
    TUTTI_WORD_EXIT_CONFIGURATION,
    TUTTI_WORD_SETUP_EXPERIMENT,
    TUTTI_WORD_ENTER_INITIALIZATION,
    TUTTI_WORD_EXIT_INITIALIZATION,
    TUTTI_WORD_SET,
    TUTTI_WORD_GET,
    TUTTI_WORD_SET_INPUT_DERIVATIVES,
    TUTTI_WORD_GET_OUTPUT_DERIVATIVES,
    TUTTI_WORD_GET_DIRECTIONAL,
    TUTTI_WORD_DO_STEP,
    TUTTI_WORD_AFTER_STEP,
    TUTTI_WORD_ENTER_EVENT,
    TUTTI_WORD_UPDATE_DISCRETE,
    TUTTI_WORD_ENTER_STEP,
    TUTTI_WORD_TERMINATE,
    TUTTI_WORD_RESET,
    TUTTI_WORD_COUNT_STATES,
    TUTTI_WORD_SET_TIME,
    TUTTI_WORD_SET_STATES,
    TUTTI_WORD_GET_STATES,
    TUTTI_WORD_GET_DERIVATIVES,
    TUTTI_WORD_GET_INDICATORS,
    TUTTI_WORD_GET_NOMINALS,
    TUTTI_WORD_GET_STATE_REFERENCES,
    TUTTI_WORD_COMPLETED_STEP,
    TUTTI_WORD_ENTER_CONTINUOUS,
    /* From the rank: about the process. */
    TUTTI_WORD_LOAD,   /* open the FMU */
    TUTTI_WORD_LOOK,   /* check for state that a fork would not restore */
    TUTTI_WORD_SAVE,   /* fork as holder `number`, which continues, and wait as a saved point */
    TUTTI_WORD_RESUME, /* to a saved point: fork again */
    TUTTI_WORD_QUIT,
    TUTTI_WORD_ANSWERED, /* to a holder that made a request during a call: the answer is ready */
    /* From a holder. */
    TUTTI_WORD_DONE,
    TUTTI_WORD_MESSAGE, /* the FMU has a message */
    TUTTI_WORD_LOG,     /* it is to be logged */
    TUTTI_WORD_UPDATE   /* the FMU is in an intermediate update */
};

enum tt_process_state {
    TUTTI_HOLDER_NONE,
    TUTTI_HOLDER_ALIVE,
    TUTTI_HOLDER_LEAVING, /* it is to quit; its entry is free once its keeper has seen it end */
    TUTTI_HOLDER_DEAD     /* it was not */
};

struct tt_process_entry {
    _Atomic int32_t pid, state; /* enum tt_process_state */
    _Atomic int32_t status;     /* of a dead holder: the status of waitpid */
};

struct tt_shared_area {
    _Atomic uint32_t turn;
    uint32_t word;       /* enum tt_fork_request */
    uint32_t number;     /* of the holder that is to be made */
    int32_t status;      /* of a call: enum tt_fmi_status */
    int32_t call, type;  /* call and type of values of the instance, for messages */
    double time;         /* simulated time, for messages */
    uint64_t frame, top; /* where the values of the present call begin; where free space begins */
    struct tt_process_entry holders[TUTTI_AREA_HOLDERS];
    _Alignas(64) unsigned char bytes[];
};

/* A keeper may be a program for a different processor: no size or offset here may depend on it. */
_Static_assert(offsetof(struct tt_shared_area, time) == 24 && offsetof(struct tt_shared_area, holders) == 48 &&
                   sizeof(struct tt_process_entry) == 12,
               "the same for 32 and 64 bits");

/* Maps the memory of a descriptor; NULL, with errno: it cannot be. */
struct tt_shared_area *tt_shared_area_map(int fd);
void tt_shared_area_unmap(struct tt_shared_area *area);

/* Gives the turn away. */
void tt_shared_area_pass_turn(struct tt_shared_area *area, uint32_t to);
/* Waits until the turn is that of `self`, at most `seconds` (may be INFINITY); true if it is. May wake a rank earlier. */
bool tt_shared_area_wait(struct tt_shared_area *area, uint32_t self, double seconds);
/* Wakes the rank, whichever side's turn it is. */
void tt_shared_area_wake_rank(struct tt_shared_area *area);

/* Reserves `size` bytes and copies `data` to them unless it is NULL. NULL if the area is full. */
void *tt_shared_area_put(struct tt_shared_area *area, const void *data, size_t size);
bool tt_shared_area_put_text(struct tt_shared_area *area, const char *text); /* which may be NULL */
/* Puts values of one type as type.h defines; of texts all bytes. */
bool tt_shared_area_put_values(struct tt_shared_area *area, enum tt_type type, const void *values, size_t count);

/* The position at which the receiver reads: from `frame` on, in the order in which the data was put. */
struct tt_shared_area_cursor {
    struct tt_shared_area *area;
    size_t at;
    bool bad; /* there was less than expected; everything is NULL from then on */
};
struct tt_shared_area_cursor tt_shared_area_start_read(struct tt_shared_area *area);
void *tt_shared_area_get(struct tt_shared_area_cursor *cursor, size_t size);
const char *tt_shared_area_get_text(struct tt_shared_area_cursor *cursor);
/* One plain value. */
#define TUTTI_AREA_TAKE(cursor, type, otherwise)                                                                       \
    ({                                                                                                                 \
        const type *taken_ = tt_shared_area_get(cursor, sizeof(type));                                                 \
        taken_ ? *taken_ : (otherwise);                                                                                \
    })
/* Reads texts, String or Binary, into values[0 ... count - 1], which point into the area. */
void tt_shared_area_get_texts(struct tt_shared_area_cursor *cursor, enum tt_type type, void *values, size_t count);

#endif
