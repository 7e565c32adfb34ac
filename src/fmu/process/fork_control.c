/* SPDX-License-Identifier: MIT */
#include "fmu/process/fork_control.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/wall_clock.h"
#include "base/child.h"
#include "fmu/process/exit_message.h"
#include "base/module.h"

/* A waiting rank checks at this interval (seconds) that the keeper is alive. */
static const double NAP = 0.1;
/* Seconds that a keeper has to end its holders before it is ended itself. */
static const double LAST_SECONDS = 2;

enum { OUT_OF_THE_WAY = 10 }; /* above descriptors that the keeper is started with */

/* ---- the start ---- */

/* Moves a descriptor; -1, with errno, if it is none. */
static int move_descriptor(int fd)
{
    int moved = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, OUT_OF_THE_WAY);
    int reason = errno;
    if (fd >= 0)
        close(fd);
    errno = reason;
    return moved;
}

static enum tutti_err fork_control_fail_start(int error)
{
    bool is_foreign = error == ENOENT || error == ENOEXEC; /* the program is there: what starts such programs is not */
    return tt_fail(error == ENOMEM || error == EAGAIN || error == EMFILE ? TUTTI_ERR_LIMIT : TUTTI_ERR_LOAD,
                   "cannot start a process for an FMU: %s%s", strerror(error),
                   is_foreign ? "; the system lacks what programs of this kind need (for 32 bits on Debian: libc6-i386)"
                              : "");
}

static enum tutti_err fork_control_start(struct tt_fork_control *process, char *program, int area, const int life[2])
{
    if (area < 0 || life[0] < 0 || life[1] < 0 || ftruncate(area, (off_t)TUTTI_AREA_SIZE) != 0)
        return fork_control_fail_start(errno);
    process->area = tt_shared_area_map(area);
    if (!process->area)
        return fork_control_fail_start(errno);
    process->live = TUTTI_AREA_FIRST;
    pid_t pid = 0;
    /* Signals of a terminal reach the keeper, too, which leaves them to the rank. */
    int error = tt_child_start(&pid, &(struct tt_child_plan){.words = (const char *const[]){program, NULL},
                                                             .streams = {TUTTI_CHILD_NOWHERE},
                                                             .passed = (const int[]){area, life[0]},
                                                             .passed_count = 2,
                                                             .flags = TUTTI_CHILD_CLEAR_SIGNALS});
    if (error)
        return fork_control_fail_start(error);
    process->keeper = pid;
    return TUTTI_OK;
}

enum tutti_err tt_fork_control_start(struct tt_fork_control *process, const char *keeper)
{
    char *program = NULL;
    int life[2] = {-1, -1};
    *process = (struct tt_fork_control){0};
    TRY(tt_module_find_program(&program, keeper));
    int area = move_descriptor(memfd_create("tutti", MFD_CLOEXEC));
    if (pipe2(life, O_CLOEXEC) == 0) {
        life[0] = move_descriptor(life[0]);
        life[1] = move_descriptor(life[1]);
    }
    enum tutti_err err = fork_control_start(process, program, area, life);
    free(program);
    if (area >= 0)
        close(area);
    if (life[0] >= 0)
        close(life[0]);
    process->life = life[1] < 0 ? 0 : life[1];
    if (err)
        tt_fork_control_stop(process);
    return err;
}

/* ---- the end ---- */

/* Returns true if the keeper has ended, and reaps it. A program that reaps all its children may have been faster. */
static bool has_ended(pid_t keeper)
{
    return tt_child_wait(keeper, 0, NULL) != TUTTI_CHILD_RUNS;
}

void tt_fork_control_stop(struct tt_fork_control *process)
{
    static const struct timespec nap = {.tv_nsec = 200000};
    if (process->life > 0)
        close(process->life);
    double deadline = tt_wall_clock_now() + LAST_SECONDS;
    while (process->keeper && !has_ended(process->keeper)) {
        if (tt_wall_clock_now() > deadline)
            (void)tt_child_kill(process->keeper, SIGKILL); /* holders end with it */
        nanosleep(&nap, NULL);
    }
    tt_shared_area_unmap(process->area);
    *process = (struct tt_fork_control){.lost = true};
}

/* ---- turns ---- */

uint32_t tt_fork_control_free_number(const struct tt_fork_control *process)
{
    for (uint32_t n = TUTTI_AREA_FIRST; n < TUTTI_AREA_HOLDERS; n++)
        if (atomic_load(&process->area->holders[n].state) == TUTTI_HOLDER_NONE)
            return n;
    return 0;
}

/* Returns true if this holder can no longer give the turn back: it has ended, or its entry is invalid, as neither a
 * holder nor its keeper leaves it while the turn is away. `is_made`: the holder exists. */
static bool is_process_dead(struct tt_fork_control *process, uint32_t number, bool is_made)
{
    if (number == 0)
        return false;
    int32_t state = atomic_load(&process->area->holders[number].state);
    if (state == TUTTI_HOLDER_DEAD) {
        int status = atomic_load(&process->area->holders[number].status);
        if (WIFSIGNALED(status))
            tt_exit_message_signal(WTERMSIG(status), process->trouble, sizeof process->trouble);
        else
            tt_exit_message_status(WEXITSTATUS(status), process->trouble, sizeof process->trouble);
        return true;
    }
    if (state == TUTTI_HOLDER_ALIVE || state == TUTTI_HOLDER_LEAVING || (state == TUTTI_HOLDER_NONE && !is_made))
        return false;
    if (atomic_load(&process->area->turn) == TUTTI_AREA_RANK) /* it has left, after it gave the turn back */
        return false;
    tt_exit_message_overwritten(process->trouble, sizeof process->trouble);
    return true;
}

/* Whether the turn is held by no process that could give it back. */
static bool is_turn_lost(struct tt_fork_control *process, uint32_t holder, uint32_t made)
{
    uint32_t turn = atomic_load(&process->area->turn);
    if (turn == TUTTI_AREA_RANK || turn == holder || (made != 0 && turn == made))
        return false;
    tt_exit_message_overwritten(process->trouble, sizeof process->trouble);
    return true;
}

bool tt_fork_control_pass_turn(struct tt_fork_control *process, uint32_t holder, uint32_t made)
{
    if (process->lost)
        return false;
    tt_shared_area_pass_turn(process->area, holder);
    while (!tt_shared_area_wait(process->area, TUTTI_AREA_RANK, NAP)) {
        bool dead = is_process_dead(process, holder, process->begun) || is_process_dead(process, made, false) ||
                    is_turn_lost(process, holder, made);
        if (!dead && has_ended(process->keeper)) {
            process->keeper = 0;
            dead = true;
            tt_exit_message_signal(SIGKILL, process->trouble, sizeof process->trouble);
        }
        if (dead) {
            process->lost = true;
            return false;
        }
    }
    process->begun = true;
    return true;
}
