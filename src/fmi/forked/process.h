/* SPDX-License-Identifier: MIT */
/* process.h - the processes of an FMU that is taken back by forking, as its rank sees them: started, given the turn, ended.
 *
 * The keeper is a program of its own (src/keeper/), so that a fork copies the tables of the FMU's memory and of nothing else, and
 * so that no thread of this process has to be considered. It ends with all holders when the rank does, in whatever way: it sees
 * that a pipe is closed. */
#ifndef TUTTI_FMI_FORKED_PROCESS_H
#define TUTTI_FMI_FORKED_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "fmi/forked/area.h"

struct tutti_process {
    struct tutti_area *area;
    pid_t keeper;      /* 0: there is none */
    int life;          /* the writing end of that pipe; 0: there is none */
    uint32_t live;     /* the holder that goes on */
    bool begun;        /* a holder has answered, so the first one is there */
    bool lost;         /* nothing can be asked any more */
    char trouble[512]; /* why: "was ended by signal 11 (...)" */
};

/* keeper: the name of the program. LOAD if it is missing or cannot be started. */
TUTTI_CHECKED enum tutti_err tutti_process_start(struct tutti_process *process, const char *keeper);
/* Ends all; a zeroed one is fine. */
void tutti_process_end(struct tutti_process *process);

/* The number of a holder that there is none of; 0: there are too many. */
uint32_t tutti_process_free_number(const struct tutti_process *process);
/* Gives the turn to a holder and waits for it to come back. `made`: a holder that it may come back from instead (0: none).
 * False: the holder is lost. */
bool tutti_process_turn(struct tutti_process *process, uint32_t holder, uint32_t made);

#endif
