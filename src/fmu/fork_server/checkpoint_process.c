/* SPDX-License-Identifier: MIT */
#include "fmu/fork_server/checkpoint_process.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fmu/binding.h"
#include "fmu/fork_server/fork_safety.h"
#include "fmu/fork_server/mappings.h"
#include "fmu/fork_server/checkpoint_process_self.h"
#include "fmu/fork_server/serve_calls.h"

void tt_checkpoint_process_register(struct tt_shared_area *area, uint32_t number, pid_t pid)
{
    atomic_store(&area->holders[number].pid, pid);
    atomic_store(&area->holders[number].state, TUTTI_HOLDER_ALIVE);
}

/* Ends with its keeper. */
static void checkpoint_process_init(const struct tt_checkpoint_process *self)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != self->keeper) /* it has died before that */
        _exit(1);
    tt_checkpoint_process_register(self->area, self->number, getpid());
}

static void checkpoint_process_reply(struct tt_checkpoint_process *self, enum tt_fmi_status status)
{
    self->area->word = TUTTI_WORD_DONE;
    self->area->status = (int32_t)status;
    tt_shared_area_pass_turn(self->area, TUTTI_AREA_RANK);
}

/* What FMUs want to have done at the end of a process is for the process that goes on. */
static void checkpoint_process_quit(struct tt_checkpoint_process *self)
{
    atomic_store(&self->area->holders[self->number].state, TUTTI_HOLDER_LEAVING);
    checkpoint_process_reply(self, TUTTI_STATUS_OK);
    _exit(0);
}

/* ---- points ---- */

/* The call of the kernel, not fork(): the child is to be the keeper's. There is one thread, and what fork() does besides is for
 * others. */
static pid_t fork_sibling(void)
{
    fflush(NULL); /* or what the FMU has printed would be lost with one of the two, or be printed twice */
    return (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, NULL);
}

static void checkpoint_process_reject(struct tt_checkpoint_process *self, const char *why)
{
    tt_shared_area_put_text(self->area, why);
    checkpoint_process_reply(self, TUTTI_STATUS_UNFIT);
}

enum split {
    BEFORE,
    AFTER,
    NOT_AT_ALL
}; /* who is it that returns: the point, the one that goes on, or has it failed? */

/* Forks; the turn is the child's then, which answers. */
static enum split checkpoint_process_fork(struct tt_checkpoint_process *self)
{
    uint32_t number = self->area->number;
    pid_t pid = fork_sibling();
    if (pid > 0) {
        tt_checkpoint_process_register(self->area, number, pid);
        tt_shared_area_pass_turn(self->area, number);
        return BEFORE;
    }
    if (pid == 0) {
        self->number = number;
        checkpoint_process_init(self);
        (void)tt_shared_area_wait(self->area, self->number, INFINITY);
        checkpoint_process_reply(self, TUTTI_STATUS_OK);
        return AFTER;
    }
    char why[128];
    snprintf(why, sizeof why, "there cannot be one more process: %s", strerror(errno));
    checkpoint_process_reject(self, why);
    return NOT_AT_ALL;
}

/* Forks, and waits as a point. Returns in processes that go on from it; or if it could not fork. */
static void checkpoint_process_save(struct tt_checkpoint_process *self)
{
    char why[256];
    struct tt_fork_safety_positions positions;
    if (!tt_fork_safety_check(self->area, self->keeper, &positions, why, sizeof why)) {
        checkpoint_process_reject(self, why);
        return;
    }
    if ((self->points & (self->points - 1)) == 0) /* 0, 1, 2, 4, 8 ... */
        tt_fork_safety_use_large_pages();
    self->points++;
    if (checkpoint_process_fork(self) != BEFORE)
        return;
    while (tt_shared_area_wait(self->area, self->number, INFINITY)) {
        if (self->area->word == TUTTI_WORD_QUIT)
            checkpoint_process_quit(self);
        tt_fork_safety_restore_files(&positions); /* there is nothing else to be asked of a point */
        if (checkpoint_process_fork(self) == AFTER)
            return;
    }
}

static void checkpoint_process_check(struct tt_checkpoint_process *self)
{
    char why[256];
    struct tt_fork_safety_positions positions;
    if (tt_fork_safety_check(self->area, self->keeper, &positions, why, sizeof why))
        checkpoint_process_reply(self, TUTTI_STATUS_OK);
    else
        checkpoint_process_reject(self, why);
}

/* ---- turns ---- */

/* Makes calls until the rank has answered what was told (never, at the outermost level). */
static void checkpoint_process_serve(struct tt_checkpoint_process *self)
{
    while (tt_shared_area_wait(self->area, self->number, INFINITY)) {
        switch (self->area->word) {
        case TUTTI_WORD_ANSWERED: return;
        case TUTTI_WORD_QUIT: checkpoint_process_quit(self); break;
        case TUTTI_WORD_SAVE: checkpoint_process_save(self); break;
        case TUTTI_WORD_LOOK: checkpoint_process_check(self); break;
        default: checkpoint_process_reply(self, tt_checkpoint_process_serve(self)); break;
        }
    }
}

static void checkpoint_process_request(struct tt_checkpoint_process *self, enum tt_fork_request word, size_t frame)
{
    struct tt_shared_area *area = self->area;
    uint64_t outer = area->frame;
    area->frame = frame;
    area->word = word;
    tt_shared_area_pass_turn(area, TUTTI_AREA_RANK);
    checkpoint_process_serve(self);
    area->frame = outer;
}

void tt_checkpoint_process_run(struct tt_shared_area *area, pid_t keeper)
{
    struct tt_checkpoint_process self = {
        .area = area, .keeper = keeper, .number = TUTTI_AREA_FIRST, .tell = checkpoint_process_request};
    checkpoint_process_init(&self);
    for (;;)
        checkpoint_process_serve(&self);
}
