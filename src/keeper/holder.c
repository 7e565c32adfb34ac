/* SPDX-License-Identifier: MIT */
#include "keeper/holder.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fmi/binding.h"
#include "keeper/alone.h"
#include "keeper/mappings.h"
#include "keeper/self.h"
#include "keeper/serve.h"

void tutti_holder_enter(struct tutti_area *area, uint32_t number, pid_t pid)
{
    atomic_store(&area->holders[number].pid, pid);
    atomic_store(&area->holders[number].state, TUTTI_HOLDER_ALIVE);
}

/* Ends with its keeper. */
static void settle_in(const struct tutti_self *self)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != self->keeper) /* it has died before that */
        _exit(1);
    tutti_holder_enter(self->area, self->number, getpid());
}

static void answer(struct tutti_self *self, enum tutti_status status)
{
    self->area->word = TUTTI_WORD_DONE;
    self->area->status = (int32_t)status;
    tutti_area_give(self->area, TUTTI_AREA_RANK);
}

/* What FMUs want to have done at the end of a process is for the process that goes on. */
static void quit(struct tutti_self *self)
{
    atomic_store(&self->area->holders[self->number].state, TUTTI_HOLDER_LEAVING);
    answer(self, TUTTI_STATUS_OK);
    _exit(0);
}

/* ---- points ---- */

/* The call of the kernel, not fork(): the child is to be the keeper's. There is one thread, and what fork() does besides is for
 * others. */
static pid_t fork_brother(void)
{
    fflush(NULL); /* or what the FMU has printed would be lost with one of the two, or be printed twice */
    return (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, NULL);
}

static void refuse(struct tutti_self *self, const char *why)
{
    tutti_area_put_text(self->area, why);
    answer(self, TUTTI_STATUS_UNFIT);
}

enum split {
    BEFORE,
    AFTER,
    NOT_AT_ALL
}; /* who is it that returns: the point, the one that goes on, or has it failed? */

/* Forks; the turn is the child's then, which answers. */
static enum split split(struct tutti_self *self)
{
    uint32_t number = self->area->number;
    pid_t pid = fork_brother();
    if (pid > 0) {
        tutti_holder_enter(self->area, number, pid);
        tutti_area_give(self->area, number);
        return BEFORE;
    }
    if (pid == 0) {
        self->number = number;
        settle_in(self);
        (void)tutti_area_wait(self->area, self->number, INFINITY);
        answer(self, TUTTI_STATUS_OK);
        return AFTER;
    }
    char why[128];
    snprintf(why, sizeof why, "there cannot be one more process: %s", strerror(errno));
    refuse(self, why);
    return NOT_AT_ALL;
}

/* Forks, and waits as a point. Returns in processes that go on from it; or if it could not fork. */
static void save(struct tutti_self *self)
{
    char why[256];
    struct tutti_positions positions;
    if (!tutti_alone_look(self->area, self->keeper, &positions, why, sizeof why)) {
        refuse(self, why);
        return;
    }
    if ((self->points & (self->points - 1)) == 0) /* 0, 1, 2, 4, 8 ... */
        tutti_mappings_enlarge();
    self->points++;
    if (split(self) != BEFORE)
        return;
    while (tutti_area_wait(self->area, self->number, INFINITY)) {
        if (self->area->word == TUTTI_WORD_QUIT)
            quit(self);
        tutti_alone_return(&positions); /* there is nothing else to be asked of a point */
        if (split(self) == AFTER)
            return;
    }
}

static void look(struct tutti_self *self)
{
    char why[256];
    struct tutti_positions positions;
    if (tutti_alone_look(self->area, self->keeper, &positions, why, sizeof why))
        answer(self, TUTTI_STATUS_OK);
    else
        refuse(self, why);
}

/* ---- turns ---- */

/* Makes calls until the rank has answered what was told (never, at the outermost level). */
static void serve(struct tutti_self *self)
{
    while (tutti_area_wait(self->area, self->number, INFINITY)) {
        switch (self->area->word) {
        case TUTTI_WORD_ANSWERED: return;
        case TUTTI_WORD_QUIT: quit(self); break;
        case TUTTI_WORD_SAVE: save(self); break;
        case TUTTI_WORD_LOOK: look(self); break;
        default: answer(self, tutti_serve(self)); break;
        }
    }
}

static void tell(struct tutti_self *self, enum tutti_word word, size_t frame)
{
    struct tutti_area *area = self->area;
    uint64_t outer = area->frame;
    area->frame = frame;
    area->word = word;
    tutti_area_give(area, TUTTI_AREA_RANK);
    serve(self);
    area->frame = outer;
}

void tutti_holder_run(struct tutti_area *area, pid_t keeper)
{
    struct tutti_self self = {.area = area, .keeper = keeper, .number = TUTTI_AREA_FIRST, .tell = tell};
    settle_in(&self);
    for (;;)
        serve(&self);
}
