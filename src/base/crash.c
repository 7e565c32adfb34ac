/* SPDX-License-Identifier: MIT */
#include "base/crash.h"

#include <stdatomic.h>
#include <stddef.h>

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

void tutti_crash_run(void)
{
    for (size_t i = 0; i < MOST_ACTIONS; i++) {
        int expected = 2;
        if (atomic_compare_exchange_strong(&slots[i].state, &expected, 1))
            slots[i].action(slots[i].context);
    }
    tutti_tempdir_remove_all();
}
