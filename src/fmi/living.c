/* SPDX-License-Identifier: MIT */
#include "fmi/living.h"

#include <stdint.h>

#include "base/beside.h"

/* Chains by a hash of the address. Callbacks from threads of FMUs are rare: thousands of instances may make the chains long. */
enum { CHAINS = 1024 };
static struct tutti_instance *chains[CHAINS];
/* Held for reading during the callbacks of other threads. */
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

/* The link that points to it, or the one at the end of its chain. */
static struct tutti_instance **find(const void *address)
{
    enum { SHIFT = 8 }; /* instances are larger, so neighbours in memory get different chains */
    struct tutti_instance **link = &chains[((uintptr_t)address >> SHIFT) % CHAINS];
    while (*link && *link != address)
        link = &(*link)->in_chain;
    return link;
}

void tutti_living_add(struct tutti_instance *in)
{
    tutti_beside_hold();
    pthread_rwlock_wrlock(&lock);
    struct tutti_instance **link = find(in);
    if (!*link) {
        in->in_chain = NULL;
        *link = in;
    }
    pthread_rwlock_unlock(&lock);
    tutti_beside_release();
}

void tutti_living_remove(struct tutti_instance *in)
{
    tutti_beside_hold();
    pthread_rwlock_wrlock(&lock);
    struct tutti_instance **link = find(in);
    if (*link)
        *link = in->in_chain;
    pthread_rwlock_unlock(&lock);
    tutti_beside_release();
}

struct tutti_called_back tutti_living_enter(const void *environment)
{
    struct tutti_called_back called = {tutti_instance_current(), false};
    if (!environment || environment == called.instance)
        return called;
    tutti_beside_hold();
    pthread_rwlock_rdlock(&lock);
    struct tutti_instance *found = *find(environment);
    if (found)
        return (struct tutti_called_back){found, true};
    pthread_rwlock_unlock(&lock);
    tutti_beside_release();
    return called;
}

void tutti_living_leave(struct tutti_called_back called)
{
    if (!called.held)
        return;
    pthread_rwlock_unlock(&lock);
    tutti_beside_release();
}
