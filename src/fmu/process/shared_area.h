/* SPDX-License-Identifier: MIT */
/* shared_area.h - memory that a rank shares with the processes of an FMU that is taken back by forking: one call at a time.
 *
 * Such an FMU lives in a process of its own, its *holder*. A point to go back to is a holder that has forked, and waits; its
 * child is the holder that goes on. A *keeper* (src/keeper/), the parent of all of them, sees how each ends.
 *
 * Invariants:
 *  A1  `turn` says who reads and writes what is here, apart from `holders`: 0, the rank; else the holder of that number. Giving it
 *      away is the last thing that a process does.
 *  A2  What is put here is a stack: a call that is made inside of another one (by a callback) begins above the other's values.
 *  A3  holders[n] is set by holder n, or by the one that makes it; once it has ended by its keeper. */
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
/* Bytes of address space; memory is taken for what is used. */
#define TUTTI_AREA_SIZE ((size_t)1 << 30)

/* Descriptors that a keeper is started with. */
enum { TUTTI_KEEPER_AREA = 3, TUTTI_KEEPER_LIFE = 4 };

/* Of a library that is to be loaded: these numbers, then as texts its path, the folder of the FMU, that of its resources (none: there is
 * none), the model identifier, the token, and the FMU's name for messages. The answer is TUTTI_CAN_* as one number, or a text: why not. */
enum {
    TUTTI_AREA_LIBRARY_FMI,
    TUTTI_AREA_LIBRARY_KIND,
    TUTTI_AREA_LIBRARY_FLAGS, /* of the interface, as its maxOutputDerivativeOrder */
    TUTTI_AREA_LIBRARY_ORDER,
    TUTTI_AREA_LIBRARY_TELLS, /* what is odd about it is to be logged */
    TUTTI_AREA_LIBRARY_NUMBERS
};

/* What a process says to the one that it gives the turn to. */
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
    TUTTI_WORD_LOOK,   /* is there something that a fork would not bring back? */
    TUTTI_WORD_SAVE,   /* fork as holder `number`, which goes on, and wait as a point */
    TUTTI_WORD_RESUME, /* to a point: the same once more */
    TUTTI_WORD_QUIT,
    TUTTI_WORD_ANSWERED, /* to a holder that told or asked something in a call: go on with it */
    /* From a holder. */
    TUTTI_WORD_DONE,
    TUTTI_WORD_MESSAGE, /* the FMU says something */
    TUTTI_WORD_LOG,     /* it is to be logged */
    TUTTI_WORD_UPDATE   /* the FMU is in an intermediate update */
};

enum tt_process_state {
    TUTTI_HOLDER_NONE,
    TUTTI_HOLDER_ALIVE,
    TUTTI_HOLDER_LEAVING, /* it was told to quit, and is none once its keeper has seen that it has */
    TUTTI_HOLDER_DEAD     /* it was not */
};

struct tt_process_entry {
    _Atomic int32_t pid, state; /* enum tt_process_state */
    _Atomic int32_t status;     /* of a dead one: as waitpid told it */
};

struct tt_shared_area {
    _Atomic uint32_t turn;
    uint32_t word;       /* enum tt_fork_request */
    uint32_t number;     /* of the holder that is to be made */
    int32_t status;      /* of a call: enum tt_fmi_status */
    int32_t call, type;  /* of the instance, for what is said of it */
    double time;         /* ... */
    uint64_t frame, top; /* where the values of the present call begin; where there is room */
    struct tt_process_entry holders[TUTTI_AREA_HOLDERS];
    _Alignas(64) unsigned char bytes[];
};

/* A keeper may be a program for another kind of processor: nothing in here, nor of what is put here, has a size or place that depends on it. */
_Static_assert(offsetof(struct tt_shared_area, time) == 24 && offsetof(struct tt_shared_area, holders) == 48 &&
                   sizeof(struct tt_process_entry) == 12,
               "the same for 32 and 64 bits");

/* Maps the memory of a descriptor; NULL, with errno: it cannot be. */
struct tt_shared_area *tt_shared_area_map(int fd);
void tt_shared_area_unmap(struct tt_shared_area *area);

/* Gives the turn away. */
void tt_shared_area_pass_turn(struct tt_shared_area *area, uint32_t to);
/* Waits for its turn, at most so many seconds (INFINITY: as long as it takes); is it? A rank may be woken before. */
bool tt_shared_area_wait(struct tt_shared_area *area, uint32_t self, double seconds);
/* Wakes the rank, whichever side's turn it is. */
void tt_shared_area_wake_rank(struct tt_shared_area *area);

/* Room for so many bytes, with their values unless `data` is NULL. NULL: there is none. */
void *tt_shared_area_put(struct tt_shared_area *area, const void *data, size_t size);
bool tt_shared_area_put_text(struct tt_shared_area *area, const char *text); /* which may be NULL */
/* Values of one type as type.h says; of texts all bytes. */
bool tt_shared_area_put_values(struct tt_shared_area *area, enum tt_type type, const void *values, size_t count);

/* Where the other side reads: from `frame` on, in the order in which things were put. */
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
/* Texts, String or Binary, into values[0 ... count - 1], which point into the area. */
void tt_shared_area_get_texts(struct tt_shared_area_cursor *cursor, enum tt_type type, void *values, size_t count);

#endif
