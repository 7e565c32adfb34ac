/* SPDX-License-Identifier: MIT */
/* fork_control.h - the processes of an FMU that is rolled back by forking, from the side of its rank: started, given
 * the turn, ended.
 *
 * The keeper is a separate program (src/fmu/fork_server/), so that a fork copies only the page tables of the FMU's
 * memory, and threads of this process need no handling. It ends with all holders when the rank's end closes a pipe. */
#ifndef TT_FMU_PROCESS_FORK_CONTROL_H
#define TT_FMU_PROCESS_FORK_CONTROL_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/fail.h"
#include "fmu/process/shared_area.h"

struct tt_fork_control {
    struct tt_shared_area *area;
    pid_t keeper;      /* 0: none */
    int life;          /* the writing end of that pipe; 0: none */
    uint32_t live;     /* the holder that continues */
    bool begun;        /* a holder has answered, so the first one is there */
    bool lost;         /* no further requests are possible */
    char trouble[512]; /* the reason of the failure: "was ended by signal 11 (...)" */
};

/* keeper: the name of the program. LOAD if it is missing or cannot be started. */
TUTTI_CHECKED enum tutti_err tt_fork_control_start(struct tt_fork_control *process, const char *keeper);
/* Ends all; a zeroed one is fine. */
void tt_fork_control_stop(struct tt_fork_control *process);

/* Returns an unused holder number; 0 if all are used. */
uint32_t tt_fork_control_free_number(const struct tt_fork_control *process);
/* Gives the turn to a holder and waits for its return. `made`: a holder that may return it instead (0: none). False:
 * lost. */
bool tt_fork_control_pass_turn(struct tt_fork_control *process, uint32_t holder, uint32_t made);

#endif
