/* SPDX-License-Identifier: MIT */
#include "base/crash.h"

#include <setjmp.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#include "base/tempdir.h"

enum { MOST_ACTIONS = 64 };

/* A slot is free (0), being filled (1), or ready (2); a handler runs only what is ready. */
static struct slot {
    atomic_int state;
    void (*action)(void *context);
    void *context;
} slots[MOST_ACTIONS];

enum tutti_err tutti_crash_add(void (*action)(void *context), void *context)
{
    for (size_t i = 0; i < MOST_ACTIONS; i++) {
        int expected = 0;
        if (!atomic_compare_exchange_strong(&slots[i].state, &expected, 1))
            continue;
        slots[i].action = action;
        slots[i].context = context;
        atomic_store(&slots[i].state, 2);
        return TUTTI_OK;
    }
    return tutti_fail(TUTTI_ERR_LIMIT, "more than %d results are open at once", MOST_ACTIONS);
}

void tutti_crash_remove(void (*action)(void *context), void *context)
{
    for (size_t i = 0; i < MOST_ACTIONS; i++)
        if (atomic_load(&slots[i].state) == 2 && slots[i].action == action && slots[i].context == context) {
            atomic_store(&slots[i].state, 0);
            return;
        }
}

static _Thread_local sigjmp_buf *way_out; /* of the guarded action that this thread is in */

bool tutti_crash_guard(void (*action)(void *context), void *context)
{
    sigjmp_buf here, *outer = way_out;
    if (sigsetjmp(here, 1) != 0) {
        way_out = outer;
        return false;
    }
    way_out = &here;
    action(context);
    way_out = outer;
    return true;
}

bool tutti_crash_is_guarded(void)
{
    return way_out != NULL;
}

void tutti_crash_escape(void)
{
    siglongjmp(*way_out, 1);
}

static atomic_bool alone, lossy;

bool tutti_crash_is_alone(void)
{
    return alone;
}

void tutti_crash_admit_loss(void)
{
    lossy = true;
}

static void run_actions(void)
{
    for (size_t i = 0; i < MOST_ACTIONS; i++) {
        int expected = 2;
        if (atomic_compare_exchange_strong(&slots[i].state, &expected, 1))
            slots[i].action(slots[i].context);
    }
}

void tutti_crash_run(void)
{
    run_actions();
    tutti_tempdir_remove_all(getpid());
}

bool tutti_crash_run_for(pid_t ended)
{
    alone = true;
    run_actions();
    tutti_tempdir_remove_all(ended);
    return !lossy;
}
