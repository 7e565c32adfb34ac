/* SPDX-License-Identifier: MIT */
#include "conduct/inbox.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"

static const size_t FULL = (size_t)1 << 20;  /* bytes of a rank that are enough for now */
static const size_t MANY = (size_t)64 << 10; /* ... for which the thread is woken; less can wait until it looks */
#define NAP 0.02                             /* seconds */

/* Bytes of one rank: those that came, and those that the conductor is being offered. */
struct box {
    struct tutti_parcel came; /* by the lock */
    bool starved;             /* by the lock: what is here is the beginning of a frame */
    struct tutti_parcel offered;
    size_t taken; /* of `offered` */
    bool closed;  /* nothing of it is wanted any more */
};

struct tutti_inbox {
    pthread_mutex_t lock;
    pthread_cond_t more;
    pthread_t thread;
    struct box *boxes;
    int ranks;
    struct tutti_conductor *conductor;
    _Atomic uint64_t *stop_after;
    bool quits; /* by the lock */
    atomic_bool done;
    enum tutti_err err; /* the thread's, as what follows */
    char *message;
    double last_idle;
};

/* ---- the thread ---- */

static void fail(struct tutti_inbox *inbox, enum tutti_err err)
{
    if (inbox->err == TUTTI_OK) {
        inbox->err = err;
        inbox->message = tutti_str_copy(tutti_err_message());
    }
    tutti_fabric_lower_stop(inbox->stop_after, 0);
}

static void give_up(struct tutti_inbox *inbox, int rank, enum tutti_err err)
{
    inbox->boxes[rank].closed = true;
    tutti_conductor_lose(inbox->conductor, rank, err);
    fail(inbox, err);
}

/* Takes over what came; is there anything to offer? */
static bool collect(struct tutti_inbox *inbox, struct box *box)
{
    pthread_mutex_lock(&inbox->lock);
    if (box->taken == box->offered.size) {
        struct tutti_parcel done = box->offered;
        tutti_parcel_reset(&done);
        box->offered = box->came;
        box->came = done;
        box->taken = 0;
    } else if (box->came.size > 0 && (box->offered.size - box->taken < FULL || box->starved)) {
        /* what is left goes to the front first */
        memmove(box->offered.bytes, box->offered.bytes + box->taken, box->offered.size - box->taken);
        box->offered.size -= box->taken;
        box->taken = 0;
        tutti_parcel_put_bytes(&box->offered, box->came.bytes, box->came.size);
        tutti_parcel_reset(&box->came);
    }
    pthread_mutex_unlock(&inbox->lock);
    return box->offered.size > box->taken;
}

/* Does what is left begin with a frame of which a part is missing? Else it is one that waits for other ranks. */
static bool is_starved(struct tutti_inbox *inbox, int rank)
{
    struct box *box = &inbox->boxes[rank];
    enum tutti_report_kind kind;
    size_t size;
    bool whole = true;
    if (box->taken == box->offered.size)
        return false;
    enum tutti_err err =
        tutti_report_find(box->offered.bytes + box->taken, box->offered.size - box->taken, &kind, &size, &whole);
    if (err)
        give_up(inbox, rank, err);
    return !whole;
}

/* Offers to the conductor what a rank has reported; did it take anything? */
static bool offer(struct tutti_inbox *inbox, int rank)
{
    struct box *box = &inbox->boxes[rank];
    size_t taken = 0;
    if (!collect(inbox, box))
        return false;
    if (box->offered.failed && !box->closed)
        give_up(inbox, rank, tutti_fail_memory());
    if (!box->closed) {
        enum tutti_err err = tutti_conductor_take(inbox->conductor, rank, box->offered.bytes + box->taken,
                                                  box->offered.size - box->taken, &taken);
        box->taken += taken;
        if (err && taken == 0) /* and would fail so for ever */
            give_up(inbox, rank, err);
        else if (err)
            fail(inbox, err);
    }
    bool starved = !box->closed && is_starved(inbox, rank);
    if (box->closed)
        box->taken = box->offered.size;
    pthread_mutex_lock(&inbox->lock);
    box->starved = starved || box->closed;
    pthread_mutex_unlock(&inbox->lock);
    return taken > 0;
}

static void idle(struct tutti_inbox *inbox)
{
    double now = tutti_clock_now();
    if (now - inbox->last_idle < 2 * NAP)
        return;
    inbox->last_idle = now;
    enum tutti_err err = tutti_conductor_idle(inbox->conductor);
    if (err)
        fail(inbox, err);
}

/* Until the thread is woken, or for a nap. Is it to go on? */
static bool nap(struct tutti_inbox *inbox)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)(NAP * 1e9);
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&inbox->lock);
    if (!inbox->quits)
        pthread_cond_timedwait(&inbox->more, &inbox->lock, &until);
    bool goes_on = !inbox->quits;
    pthread_mutex_unlock(&inbox->lock);
    return goes_on;
}

static void *work(void *context)
{
    struct tutti_inbox *inbox = context;
    for (bool goes_on = true; goes_on;) {
        bool moved = false;
        for (int r = 0; r < inbox->ranks; r++)
            moved |= offer(inbox, r);
        idle(inbox);
        if (tutti_conductor_is_done(inbox->conductor))
            atomic_store(&inbox->done, true);
        if (!moved)
            goes_on = nap(inbox);
    }
    return NULL;
}

/* ---- the rank ---- */

static void release(struct tutti_inbox *inbox)
{
    for (int r = 0; inbox->boxes && r < inbox->ranks; r++) {
        tutti_parcel_fini(&inbox->boxes[r].came);
        tutti_parcel_fini(&inbox->boxes[r].offered);
    }
    pthread_cond_destroy(&inbox->more);
    pthread_mutex_destroy(&inbox->lock);
    free(inbox->boxes);
    free(inbox->message);
    free(inbox);
}

/* Signals for the process are the rank's. */
static int start_thread(struct tutti_inbox *inbox)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&inbox->thread, NULL, work, inbox);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

enum tutti_err tutti_inbox_new(struct tutti_inbox **out, struct tutti_conductor *conductor, int ranks,
                               _Atomic uint64_t *stop_after)
{
    struct tutti_inbox *inbox = calloc(1, sizeof *inbox);
    pthread_condattr_t attributes;
    *out = NULL;
    if (!inbox)
        return tutti_fail_memory();
    inbox->boxes = calloc((size_t)ranks, sizeof *inbox->boxes);
    inbox->ranks = ranks;
    inbox->conductor = conductor;
    inbox->stop_after = stop_after;
    pthread_mutex_init(&inbox->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&inbox->more, &attributes);
    pthread_condattr_destroy(&attributes);
    int failed = inbox->boxes ? start_thread(inbox) : 0;
    if (!inbox->boxes || failed) {
        enum tutti_err err = inbox->boxes ? tutti_fail(TUTTI_ERR_LIMIT, "cannot start a thread: %s", strerror(failed))
                                          : tutti_fail_memory();
        release(inbox);
        return err;
    }
    *out = inbox;
    return TUTTI_OK;
}

bool tutti_inbox_has_room(struct tutti_inbox *inbox, int rank)
{
    pthread_mutex_lock(&inbox->lock);
    bool room = inbox->boxes[rank].came.size < FULL || inbox->boxes[rank].starved;
    pthread_mutex_unlock(&inbox->lock);
    return room;
}

enum tutti_err tutti_inbox_put(struct tutti_inbox *inbox, int rank, const char *bytes, size_t size)
{
    struct box *box = &inbox->boxes[rank];
    uint64_t kind = 0;
    memcpy(&kind, bytes, size < sizeof kind ? size : sizeof kind);
    pthread_mutex_lock(&inbox->lock);
    tutti_parcel_put_bytes(&box->came, bytes, size);
    bool failed = box->came.failed, enough = box->came.size >= MANY || kind == TUTTI_REPORT_END;
    pthread_mutex_unlock(&inbox->lock);
    if (enough)
        pthread_cond_signal(&inbox->more);
    return failed ? tutti_fail_memory() : TUTTI_OK;
}

bool tutti_inbox_is_done(const struct tutti_inbox *inbox)
{
    return atomic_load(&inbox->done);
}

enum tutti_err tutti_inbox_free(struct tutti_inbox *inbox)
{
    pthread_mutex_lock(&inbox->lock);
    inbox->quits = true;
    pthread_mutex_unlock(&inbox->lock);
    pthread_cond_signal(&inbox->more);
    pthread_join(inbox->thread, NULL);
    enum tutti_err err = inbox->err;
    if (err)
        err = tutti_fail(err, "%s", inbox->message ? inbox->message : tutti_err_name(err));
    release(inbox);
    return err;
}
