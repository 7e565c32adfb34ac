/* SPDX-License-Identifier: MIT */
/* Preempt.c - two partitions in real time: `fast`, of higher priority, is to interrupt `slow`, which waits for that as
 * long as `patience` says, in seconds of the clock: first with the preemption locked, in which none may come, then
 * without. `slow` also checks whether `fast` ever computes at the same time. */
#include <time.h>

#include "kit.h"

struct preempt {
    struct kit_clock fast, slow;
    double patience;
    int32_t fast_count, slow_count, computing; /* `computing`: fast does */
    int32_t in_lock, interrupted, at_once, unlock_twice;
    double u, y;
};
#define KIT_SELF struct preempt

static const struct kit_var variables[] = {
    KIT_INPUT_CLOCK(fast, KIT_INTERVAL_CONSTANT, .period = "1/100", .priority = 1),
    KIT_INPUT_CLOCK(slow, KIT_INTERVAL_CONSTANT, .period = "1/2", .shift = "1/4", .priority = 2),
    KIT_PARAMETER(patience, .start = "0"),
    KIT_PARAMETER(unlock_twice, .start = "0"),
    KIT_INPUT(u, .start = "0", .clocks = "slow"),
    KIT_OUTPUT(y, .clocks = "slow", .depends = "u slow", .description = "u, as slow began with it"),
    KIT_OUTPUT(fast_count, .clocks = "fast", .depends = "fast"),
    KIT_OUTPUT(slow_count, .clocks = "slow", .depends = "slow"),
    KIT_OUTPUT(in_lock, .clocks = "slow", .depends = "slow", .description = "ticks of fast while slow had a lock"),
    KIT_OUTPUT(interrupted, .clocks = "slow", .depends = "slow", .description = "ticks of slow that fast interrupted"),
    KIT_OUTPUT(at_once, .clocks = "slow", .depends = "slow", .description = "times that both computed at once"),
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void wait(double seconds)
{
    for (double end = now() + seconds; now() < end;)
        ;
}

static int32_t look(const int32_t *number)
{
    return __atomic_load_n(number, __ATOMIC_SEQ_CST);
}

static void tick_slow(struct kit *kit, struct preempt *m)
{
    double u = m->u;
    kit_lock_preemption(kit);
    int32_t before = look(&m->fast_count);
    wait(m->patience / 100);
    m->in_lock += look(&m->fast_count) - before;
    kit_unlock_preemption(kit);
    for (double end = now() + m->patience; look(&m->fast_count) == before && now() < end;)
        m->at_once += look(&m->computing);
    m->interrupted += look(&m->fast_count) != before;
    m->slow_count++;
    m->y = u;
    if (m->unlock_twice)
        kit_unlock_preemption(kit);
}

static enum kit_status tick(struct kit *kit, void *self, double t, const struct kit_clock *clock)
{
    struct preempt *m = self;
    (void)t;
    if (clock == &m->slow) {
        tick_slow(kit, m);
        return KIT_OK;
    }
    __atomic_store_n(&m->computing, 1, __ATOMIC_SEQ_CST);
    wait(m->patience / 5000);
    __atomic_store_n(&m->computing, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&m->fast_count, m->fast_count + 1, __ATOMIC_SEQ_CST);
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Preempt",
    .description = "Two partitions, of which one interrupts the other",
    .size = sizeof(struct preempt),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.1},
    .features = KIT_FOR_FREE | KIT_EVENT_MODE | KIT_SCHEDULED | KIT_EARLY_RETURN,
    .tick = tick,
};
