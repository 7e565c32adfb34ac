/* SPDX-License-Identifier: MIT */
#include "base/crash.h"

#include <setjmp.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#include "base/tempdir.h"

enum { MOST_ACTIONS = 64 };

/* A slot is free (0), being filled (1), or ready (2); a handler runs only what is ready. */
static struct crash_slot {
    atomic_int state;
    void (*action)(void *context);
    void *context;
} slots[MOST_ACTIONS];

enum tutti_err tt_crash_add(void (*action)(void *context), void *context)
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
    return tt_fail(TUTTI_ERR_LIMIT, "more than %d results are open at once", MOST_ACTIONS);
}

void tt_crash_remove(void (*action)(void *context), void *context)
{
    for (size_t i = 0; i < MOST_ACTIONS; i++)
        if (atomic_load(&slots[i].state) == 2 && slots[i].action == action && slots[i].context == context) {
            atomic_store(&slots[i].state, 0);
            return;
        }
}

static _Thread_local sigjmp_buf *way_out; /* of the guarded action that this thread is in */

bool tt_crash_guard(void (*action)(void *context), void *context)
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

bool tt_crash_is_guarded(void)
{
    return way_out != NULL;
}

void tt_crash_escape(void)
{
    siglongjmp(*way_out, 1);
}

static atomic_bool alone, lossy;

bool tt_crash_is_last_thread(void)
{
    return alone;
}

void tt_crash_report_loss(void)
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

void tt_crash_run(void)
{
    run_actions();
    tt_tempdir_remove_all(getpid());
}

bool tt_crash_run_for_process(pid_t ended)
{
    alone = true;
    run_actions();
    tt_tempdir_remove_all(ended);
    return !lossy;
}
