/* SPDX-License-Identifier: MIT */
#include "fmu/living_instances.h"

#include <stdint.h>

#include "base/child.h"

/* Chains by a hash of the address. Callbacks from threads of FMUs are rare: thousands of instances may make the chains long. */
enum { CHAINS = 1024 };
static struct tt_instance *chains[CHAINS];
/* Held for reading during the callbacks of other threads. */
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

/* The link that points to it, or the one at the end of its chain. */
static struct tt_instance **find_instance_link(const void *address)
{
    enum { SHIFT = 8 }; /* instances are larger, so neighbours in memory get different chains */
    struct tt_instance **link = &chains[((uintptr_t)address >> SHIFT) % CHAINS];
    while (*link && *link != address)
        link = &(*link)->in_chain;
    return link;
}

void tt_fmu_callbacks_register(struct tt_instance *in)
{
    tt_child_hold();
    pthread_rwlock_wrlock(&lock);
    struct tt_instance **link = find_instance_link(in);
    if (!*link) {
        in->in_chain = NULL;
        *link = in;
    }
    pthread_rwlock_unlock(&lock);
    tt_child_release();
}

void tt_fmu_callbacks_unregister(struct tt_instance *in)
{
    tt_child_hold();
    pthread_rwlock_wrlock(&lock);
    struct tt_instance **link = find_instance_link(in);
    if (*link)
        *link = in->in_chain;
    pthread_rwlock_unlock(&lock);
    tt_child_release();
}

struct tt_fmu_callback tt_fmu_callbacks_enter(const void *environment)
{
    struct tt_fmu_callback called = {tt_fmi_call_current_instance(), false};
    if (!environment || environment == called.instance)
        return called;
    tt_child_hold();
    pthread_rwlock_rdlock(&lock);
    struct tt_instance *found = *find_instance_link(environment);
    if (found)
        return (struct tt_fmu_callback){found, true};
    pthread_rwlock_unlock(&lock);
    tt_child_release();
    return called;
}

void tt_fmu_callbacks_leave(struct tt_fmu_callback called)
{
    if (!called.held)
        return;
    pthread_rwlock_unlock(&lock);
    tt_child_release();
}
