/* SPDX-License-Identifier: MIT */
/* How ranks that share memory wait: spin for a short time, as a neighbour on another core is usually about to answer; then
 * park on a futex, so that whoever is waited for gets the core. Where ranks outnumber cores, spinning only keeps others from
 * running: they yield at once. */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "fabric/shared_parts.h"

/* Parking and being woken costs some microseconds, more on an idle virtual machine. Spinning for about that long costs at most
 * twice the best choice. Where it is in vain again and again, less of it will do. */
static const double LEAST_PATIENCE = 2e-6, MOST_PATIENCE = 100e-6;
/* A rank that parks looks up so often: is there a stop? */
static const double NAP = 50e-3;
enum { SPINS_PER_LOOK = 64, YIELDS = 16 };

static inline void relax_cpu(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

void tutti_shared_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void tutti_shared_sleep(_Atomic uint32_t *word, uint32_t old, double seconds)
{
    struct timespec time = {.tv_sec = (time_t)seconds};
    time.tv_nsec = (long)((seconds - (double)time.tv_sec) * 1e9);
    /* However it ends, the caller looks again. */
    syscall(SYS_futex, word, FUTEX_WAIT, old, &time, NULL, 0);
}

static void beat(struct shared_rank *self)
{
    _Atomic uint64_t *count = &self->fabric.where->beat;
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + 1, memory_order_relaxed);
}

static inline bool has_changed(_Atomic uint32_t *word, uint32_t old)
{
    return atomic_load_explicit(word, memory_order_acquire) != old;
}

/* *begin becomes the time when it began. */
static bool spin(const struct shared_rank *self, _Atomic uint32_t *word, uint32_t old, double *begin)
{
    do {
        for (int i = 0; i < SPINS_PER_LOOK; i++) {
            if (has_changed(word, old))
                return true;
            relax_cpu();
        }
        if (*begin == 0)
            *begin = tutti_clock_now();
    } while (tutti_clock_now() - *begin < self->patience);
    return false;
}

static bool yield_to_others(_Atomic uint32_t *word, uint32_t old)
{
    for (int i = 0; i < YIELDS; i++) {
        if (has_changed(word, old))
            return true;
        sched_yield();
    }
    return false;
}

/* What it has learnt from a wait of so many seconds that ended in parking. */
static void learn(struct shared_rank *self, double seconds)
{
    self->patience = seconds < MOST_PATIENCE ? MOST_PATIENCE : fmax(self->patience / 2, LEAST_PATIENCE);
}

enum tutti_err tutti_shared_wait(struct shared_rank *self, _Atomic uint32_t *word, uint32_t old,
                                 _Atomic uint32_t *waiting, bool always)
{
    double begin = 0;
    if (self->area->crowded ? yield_to_others(word, old) : spin(self, word, old, &begin))
        return TUTTI_OK;
    enum tutti_err err = TUTTI_OK;
    atomic_fetch_add(waiting, 1);
    for (;;) {
        /* The stop first: what was sent before it is seen then. */
        bool stopped = !always && atomic_load(self->fabric.stop_after) <= self->fabric.step;
        if (atomic_load(word) != old)
            break;
        if (stopped) {
            err = tutti_fabric_stopped();
            break;
        }
        tutti_shared_sleep(word, old, NAP);
        beat(self);
    }
    atomic_fetch_sub(waiting, 1);
    learn(self, tutti_clock_now() - begin);
    return err;
}
