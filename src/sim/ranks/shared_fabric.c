/* SPDX-License-Identifier: MIT */
/* The area: its layout, joining it; waiting, exchange, reductions and reports.
 *
 * Invariants:
 *  S1  The area has the same address for all ranks (threads, or forks of the process that mapped it): pointers into
 *      it are valid everywhere.
 *  S2  Every word has one writer, except counts of waiting ranks, the count of arrivals, the bell and stop_after.
 *      Words of different writers are on different cache lines.
 *  S3  A rank that changes a word that others may wait for stores it, then checks for waiting ranks; a waiting rank
 *      registers, then checks the word. All four operations are sequentially consistent, so at least one of the two
 *      detects the other.
 *  S4  The conductor follows no pointer that lies in the area, and bounds every number that it reads there: code of
 *      FMUs in a rank's process can write anything to it, and may be confined (base/sandbox/), which the conductor
 *      is not.
 *  S5  A rank that waits for a count accepts only values that its peers can have written; while it naps it checks
 *      the marks. So overwritten memory ends the run instead of blocking it forever. */
#include "sim/ranks/shared_fabric.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/wall_clock.h"

enum {
    LINE = 64,            /* bytes of a cache line */
    RING = 1 << 20,       /* bytes of reports that are not taken yet */
    VECTOR = 1024,        /* doubles that are reduced at once */
    SLOTS = 2,            /* messages of a mailbox; a power of two */
    TEXT_ROOM = 16 << 20, /* bytes of a message with texts */
};

/* One message. It is there once `stamp` is its number, counted from 1. Short ones lie on the line of their stamp. */
struct shared_slot {
    _Alignas(LINE) _Atomic uint32_t stamp;
    size_t size;
    char bytes[];
};

/* Publishes the address of a mailbox. */
struct shared_cell {
    _Atomic uint32_t made, waiting;
    struct shared_mailbox *box;
};

/* Messages of one channel from one rank to another. */
struct shared_mailbox {
    _Alignas(LINE) _Atomic uint32_t taken; /* messages, by the reader */
    _Alignas(LINE) _Atomic uint32_t reader_waiting, writer_waiting;
    struct shared_slot *slots[SLOTS];
    size_t room;             /* bytes of a slot */
    struct shared_cell next; /* of the same two ranks, for a later channel */
};

struct report_ring {
    _Alignas(LINE) _Atomic uint64_t written; /* bytes, by the rank */
    _Alignas(LINE) _Atomic uint64_t taken;   /* bytes, by the conductor */
    _Atomic uint32_t turns;                  /* how often it took some */
    _Alignas(LINE) _Atomic uint32_t waiting;
    _Alignas(LINE) char bytes[RING];
};

struct shared_seat {
    struct tt_heartbeat where;
    _Atomic bool left;
    _Atomic uint64_t mark;                    /* equals the area's mark, unless it was overwritten (S5) */
    _Alignas(LINE) double vectors[2][VECTOR]; /* of this reduction and of the one before */
    struct report_ring ring;
};

/* The head of the area. */
struct shared_head {
    _Alignas(LINE) _Atomic uint64_t stop_after;
    volatile sig_atomic_t interrupt;
    _Atomic uint64_t mark;                   /* as in seats */
    _Alignas(LINE) _Atomic uint32_t arrived; /* at reductions, all ranks together */
    _Atomic uint32_t reductions;             /* that all have arrived at */
    _Alignas(LINE) _Atomic uint32_t reductions_waiting;
    _Alignas(LINE) _Atomic uint32_t bell, dozing;
    _Alignas(LINE) struct tt_command_ring orders;
};

/* Data about the area in private memory (S4). */
struct tt_shared_fabric {
    struct tt_fabric_kind kind;
    int ranks;
    bool crowded;             /* more ranks than cores */
    size_t size;              /* of the area */
    struct shared_head *head; /* where it begins */
    struct shared_seat *seats;
    struct shared_cell *cells; /* by writer, then reader */
    char *rooms;               /* per rank, memory for its mailboxes */
    size_t room;               /* room for this number of bytes */
    uint64_t mark;             /* by chance */
    uint64_t *taken;           /* per rank, of its ring: the conductor does not read its own count there (S4) */
};

struct shared_end {
    struct shared_mailbox *box;
    const struct tt_cargo *cargo;
    uint32_t count; /* messages so far */
    uint32_t taken; /* writer: of these, when it last looked */
    int peer;
};

struct shared_channel {
    struct shared_end *outs, *ins;
    uint32_t out_count, in_count;
};

struct shared_member {
    struct tt_fabric fabric;
    struct tt_shared_fabric *area;
    struct shared_channel *channels;
    uint32_t channel_count;
    struct shared_cell **next_out, **next_in; /* per peer: where the address of its next mailbox is published */
    size_t used;                              /* of its room */
    uint32_t reductions;
    double patience; /* seconds to spin before it parks */
};

/* Wakes all who wait for `word`. */
static void shared_fabric_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* Changes a word that others may wait for (S3). */
static inline void store_and_wake(_Atomic uint32_t *word, uint32_t value, _Atomic uint32_t *waiting)
{
    atomic_store(word, value);
    if (__builtin_expect(atomic_load(waiting) != 0, 0))
        shared_fabric_wake(word);
}

/* How ranks that share memory wait: spin for a short time, as a neighbour on another core is usually about to answer; then
 * park on a futex, so that the rank that is waited for gets the core. Where ranks outnumber cores, spinning only keeps
 * others from running: they yield at once. */

/* Parking and being woken costs some microseconds, more on an idle virtual machine. Spinning for about that long costs at most
 * twice the best choice. Where it is in vain again and again, less of it will do. */
static const double LEAST_PATIENCE = 2e-6, MOST_PATIENCE = 100e-6;
/* A parked rank checks for a stop at this interval (seconds). */
static const double NAP = 50e-3;
enum { SPINS_PER_LOOK = 64, YIELDS = 16 };

static inline void cpu_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Sleeps while *word is `old`, at most so long. */
static void sleep_on(_Atomic uint32_t *word, uint32_t old, double seconds)
{
    struct timespec time = {.tv_sec = (time_t)seconds};
    time.tv_nsec = (long)((seconds - (double)time.tv_sec) * 1e9);
    /* However it ends, the caller looks again. */
    syscall(SYS_futex, word, FUTEX_WAIT, old, &time, NULL, 0);
}

static inline bool shared_fabric_has_changed(_Atomic uint32_t *word, uint32_t old)
{
    return atomic_load_explicit(word, memory_order_acquire) != old;
}

/* *begin becomes the time when it began. */
static bool spin_until_changed(const struct shared_member *self, _Atomic uint32_t *word, uint32_t old, double *begin)
{
    do {
        for (int i = 0; i < SPINS_PER_LOOK; i++) {
            if (shared_fabric_has_changed(word, old))
                return true;
            cpu_pause();
        }
        if (*begin == 0)
            *begin = tt_wall_clock_now();
    } while (tt_wall_clock_now() - *begin < self->patience);
    return false;
}

static bool yield_to_others(_Atomic uint32_t *word, uint32_t old)
{
    for (int i = 0; i < YIELDS; i++) {
        if (shared_fabric_has_changed(word, old))
            return true;
        sched_yield();
    }
    return false;
}

static bool rank_is_stopped(const struct shared_member *self)
{
    return atomic_load(self->fabric.stop_after) <= self->fabric.step;
}

/* Somebody has written to the area what no rank writes: an FMU (S5). Also a stop may have been written so; it is believed. */
static enum tutti_err fail_area_overwritten(const struct shared_member *self)
{
    if (rank_is_stopped(self))
        return tt_fabric_fail_stopped();
    return tt_fail(
        TUTTI_ERR_LOST,
        "memory that the ranks share is damaged, as rank %d sees in step %llu: an FMU has overwritten it; run FMUs in "
        "processes of their own to find out which (--processes, then --rollback fork), and ask its author",
        self->fabric.rank, (unsigned long long)self->fabric.step);
}

static bool area_is_intact(const struct tt_shared_fabric *area)
{
    bool has = atomic_load_explicit(&area->head->mark, memory_order_relaxed) == area->mark;
    for (int r = 0; r < area->ranks && has; r++)
        has = atomic_load_explicit(&area->seats[r].mark, memory_order_relaxed) == area->mark;
    return has;
}

/* Waits while *word is `old`; `waiting` counts waiting ranks. STOPPED if a stop comes first, unless `always`. */
static enum tutti_err shared_fabric_wait_for(struct shared_member *self, _Atomic uint32_t *word, uint32_t old,
                                             _Atomic uint32_t *waiting, bool always)
{
    double begin = 0;
    if (self->area->crowded ? yield_to_others(word, old) : spin_until_changed(self, word, old, &begin))
        return TUTTI_OK;
    enum tutti_err err = TUTTI_OK;
    atomic_fetch_add(waiting, 1);
    for (;;) {
        /* The stop first: what was sent before it is seen then. */
        bool stopped = !always && rank_is_stopped(self);
        if (atomic_load(word) != old)
            break;
        if (stopped) {
            err = tt_fabric_fail_stopped();
            break;
        }
        if (!area_is_intact(self->area)) {
            err = fail_area_overwritten(self);
            break;
        }
        sleep_on(word, old, NAP);
        _Atomic uint64_t *beat = &self->fabric.where->beat;
        atomic_store_explicit(beat, atomic_load_explicit(beat, memory_order_relaxed) + 1, memory_order_relaxed);
    }
    atomic_fetch_sub(waiting, 1);

    /* A short wait that ended in parking should have been spun out; after a long one, spin less. */
    double seconds = tt_wall_clock_now() - begin;
    self->patience = seconds < MOST_PATIENCE ? MOST_PATIENCE : fmax(self->patience / 2, LEAST_PATIENCE);
    return err;
}

/* Reports: a ring of bytes from each rank to the conductor. */

static void notify_conductor(struct tt_shared_fabric *area)
{
    atomic_fetch_add(&area->head->bell, 1);
    if (atomic_load(&area->head->dozing))
        shared_fabric_wake(&area->head->bell);
}

uint32_t tt_shared_fabric_event_count(const struct tt_shared_fabric *area)
{
    return atomic_load(&area->head->bell);
}

void tt_shared_fabric_wait(struct tt_shared_fabric *area, uint32_t seen, double seconds)
{
    atomic_store(&area->head->dozing, 1);
    sleep_on(&area->head->bell, seen, seconds);
    atomic_store(&area->head->dozing, 0);
}

static enum tutti_err shared_fabric_report(struct tt_fabric *fabric, const void *bytes, size_t size)
{
    struct shared_member *self = (struct shared_member *)fabric;
    struct report_ring *ring = &self->area->seats[fabric->rank].ring;
    uint64_t written = atomic_load_explicit(&ring->written, memory_order_relaxed);
    for (const char *at = bytes; size > 0;) {
        uint32_t turns = atomic_load(&ring->turns);
        size_t used = (size_t)(written - atomic_load(&ring->taken));
        if (used > RING)
            return fail_area_overwritten(self);
        size_t part = RING - used < size ? RING - used : size;
        size_t place = (size_t)(written % RING), first = RING - place < part ? RING - place : part;
        memcpy(ring->bytes + place, at, first);
        memcpy(ring->bytes, at + first, part - first);
        written += part, at += part, size -= part;
        atomic_store_explicit(&ring->written, written, memory_order_release);
        /* A missed bell costs the conductor at most the rest of its nap. */
        if (used + part >= RING / 2 && atomic_load_explicit(&self->area->head->dozing, memory_order_relaxed))
            notify_conductor(self->area);
        if (size > 0)
            TRY(shared_fabric_wait_for(self, &ring->turns, turns, &ring->waiting, true));
    }
    return TUTTI_OK;
}

/* Instead of what a rank has reported, if its ring is overwritten: no beginning of a frame. */
static const char NO_REPORT[LINE] = {[0 ... LINE - 1] = '\xff'};

static uint64_t ring_bytes_pending(const struct tt_shared_fabric *area, int rank)
{
    return atomic_load_explicit(&area->seats[rank].ring.written, memory_order_acquire) - area->taken[rank];
}

const char *tt_shared_fabric_peek_reports(struct tt_shared_fabric *area, int rank, size_t *count)
{
    uint64_t used = ring_bytes_pending(area, rank);
    size_t place = (size_t)(area->taken[rank] % RING), behind = RING - place;
    *count = used > RING ? sizeof NO_REPORT : used < behind ? (size_t)used : behind;
    return used > RING ? NO_REPORT : area->seats[rank].ring.bytes + place;
}

void tt_shared_fabric_consume_reports(struct tt_shared_fabric *area, int rank, size_t count)
{
    struct report_ring *ring = &area->seats[rank].ring;
    uint64_t used = ring_bytes_pending(area, rank);
    if (count == 0)
        return;
    area->taken[rank] += used > RING ? used : count;
    atomic_store(&ring->taken, area->taken[rank]);
    store_and_wake(&ring->turns, atomic_load_explicit(&ring->turns, memory_order_relaxed) + 1, &ring->waiting);
}

/* Channels: a mailbox for each pair of ranks and each direction that has something to carry. The writer packs straight into a
 * slot, the reader unpacks straight from it. The writer may be SLOTS messages ahead. */

/* Memory of this rank's room, zeroed, at the start of a line. */
static void *shared_fabric_allocate(struct shared_member *self, size_t size)
{
    struct tt_shared_fabric *area = self->area;
    size_t lines = (size + LINE - 1) & ~(size_t)(LINE - 1);
    if (lines < size || lines > area->room - self->used) {
        (void)tt_fail(TUTTI_ERR_LIMIT,
                      "rank %d has no room for the signals that it sends: %zu of %zu bytes are taken, %zu more are "
                      "needed; use fewer ranks, or place units that exchange Strings or Binaries on one rank "
                      "(--place)",
                      self->fabric.rank, self->used, area->room, size);
        return NULL;
    }
    void *memory = area->rooms + (size_t)self->fabric.rank * area->room + self->used;
    self->used += lines;
    return memory;
}

/* Creates the mailbox of an outgoing link, and publishes its address. */
static enum tutti_err create_mailbox(struct shared_member *self, struct shared_end *end)
{
    const struct tt_cargo *cargo = end->cargo;
    struct shared_mailbox *box = shared_fabric_allocate(self, sizeof *box);
    if (!box)
        return TUTTI_ERR_LIMIT;
    box->room = cargo->text_count ? cargo->size + TEXT_ROOM : cargo->size;
    for (int i = 0; i < SLOTS; i++) {
        box->slots[i] = shared_fabric_allocate(self, sizeof *box->slots[i] + box->room);
        if (!box->slots[i])
            return TUTTI_ERR_LIMIT;
    }
    struct shared_cell *cell = self->next_out[end->peer];
    self->next_out[end->peer] = &box->next;
    end->box = box;
    cell->box = box;
    store_and_wake(&cell->made, 1, &cell->waiting);
    return TUTTI_OK;
}

static enum tutti_err shared_fabric_open_channel(struct tt_fabric *fabric, const struct tt_channel *channel)
{
    struct shared_member *self = (struct shared_member *)fabric;
    struct shared_channel *channels = realloc(self->channels, (self->channel_count + 1) * sizeof *channels);
    if (!channels)
        return tt_fail_memory();
    self->channels = channels;
    struct shared_channel *opened = &channels[self->channel_count++];
    *opened = (struct shared_channel){.outs = calloc(channel->link_count + 1, sizeof *opened->outs),
                                      .ins = calloc(channel->link_count + 1, sizeof *opened->ins)};
    if (!opened->outs || !opened->ins)
        return tt_fail_memory();
    for (uint32_t i = 0; i < channel->link_count; i++) {
        const struct tt_channel_link *link = &channel->links[i];
        if (!tt_fabric_cargo_is_empty(&link->out))
            opened->outs[opened->out_count++] = (struct shared_end){.cargo = &link->out, .peer = link->peer};
        if (!tt_fabric_cargo_is_empty(&link->in))
            opened->ins[opened->in_count++] = (struct shared_end){.cargo = &link->in, .peer = link->peer};
    }
    for (uint32_t i = 0; i < opened->out_count; i++)
        TRY(create_mailbox(self, &opened->outs[i]));
    for (uint32_t i = 0; i < opened->in_count; i++) {
        struct shared_end *end = &opened->ins[i];
        struct shared_cell *cell = self->next_in[end->peer];
        if (!atomic_load(&cell->made)) /* the peer has to make the mailbox first */
            TRY(shared_fabric_wait_for(self, &cell->made, 0, &cell->waiting, false));
        end->box = cell->box;
        self->next_in[end->peer] = &end->box->next;
    }
    return TUTTI_OK;
}

static inline enum tutti_err shared_fabric_send_message(struct shared_member *self, struct shared_end *end,
                                                        const char *base)
{
    struct shared_mailbox *box = end->box;
    const struct tt_cargo *cargo = end->cargo;
    struct shared_slot *slot = box->slots[end->count % SLOTS];
    size_t size = cargo->size;
    if (end->count - end->taken == SLOTS) {
        uint32_t full = end->count - SLOTS;
        end->taken = atomic_load_explicit(&box->taken, memory_order_acquire);
        if (end->taken == full) {
            TRY(shared_fabric_wait_for(self, &box->taken, full, &box->writer_waiting, false));
            end->taken = atomic_load_explicit(&box->taken, memory_order_acquire);
        }
        if (end->count - end->taken >= SLOTS)
            return fail_area_overwritten(self);
    }
    if (cargo->text_count) {
        size = tt_fabric_cargo_size(cargo, base);
        if (size > box->room)
            return tt_fail(
                TUTTI_ERR_LIMIT,
                "what rank %d sends to rank %d in one exchange has %zu bytes, more than the %zu that there is "
                "room for; place the units that exchange such Strings or Binaries on one rank (--place)",
                self->fabric.rank, end->peer, size, box->room);
    }
    slot->size = size;
    tt_fabric_cargo_pack(cargo, base, slot->bytes);
    store_and_wake(&slot->stamp, ++end->count, &box->reader_waiting);
    return TUTTI_OK;
}

static inline enum tutti_err shared_fabric_receive_message(struct shared_member *self, struct shared_end *end,
                                                           char *base)
{
    struct shared_mailbox *box = end->box;
    struct shared_slot *slot = box->slots[end->count % SLOTS];
    uint32_t stamp = ++end->count, before = atomic_load_explicit(&slot->stamp, memory_order_acquire);
    if (before == stamp - SLOTS || (before == 0 && stamp <= SLOTS)) { /* the slot's last message, or none yet */
        TRY(shared_fabric_wait_for(self, &slot->stamp, before, &box->reader_waiting, false));
        before = atomic_load_explicit(&slot->stamp, memory_order_acquire);
    }
    if (before != stamp)
        return fail_area_overwritten(self);
    enum tutti_err err = tt_fabric_cargo_unpack(end->cargo, base, slot->bytes, slot->size);
    store_and_wake(&box->taken, stamp, &box->writer_waiting);
    return err;
}

static enum tutti_err shared_fabric_exchange(struct tt_fabric *fabric, uint32_t channel, char *base)
{
    struct shared_member *self = (struct shared_member *)fabric;
    if (fabric->ranks == 1) { /* who is alone need not even open channels */
        fabric->exchanges++;
        return TUTTI_OK;
    }
    struct shared_channel *open = &self->channels[channel];
    for (uint32_t i = 0; i < open->out_count; i++)
        TRY(shared_fabric_send_message(self, &open->outs[i], base));
    for (uint32_t i = 0; i < open->in_count; i++)
        TRY(shared_fabric_receive_message(self, &open->ins[i], base));
    fabric->exchanges++;
    return TUTTI_OK;
}

/* Reductions: every rank writes its vector, then, once all have, combines all of them. The last to arrive notifies the
 * others, so that each parks at most once.
 *
 * Two vectors per rank are enough: a rank that writes its vector for reduction n has seen all arrive at n - 1, so all
 * have finished reading those of n - 2. */

static enum tutti_err shared_fabric_barrier_arrive(struct shared_member *self)
{
    struct tt_shared_fabric *area = self->area;
    uint32_t before = self->reductions++, all = self->reductions * (uint32_t)area->ranks;
    uint32_t missing = all - (atomic_fetch_add(&area->head->arrived, 1) + 1);
    if (missing >= (uint32_t)area->ranks)
        return fail_area_overwritten(self);
    if (missing == 0) {
        store_and_wake(&area->head->reductions, self->reductions, &area->head->reductions_waiting);
        return TUTTI_OK;
    }
    if (atomic_load_explicit(&area->head->reductions, memory_order_acquire) == before)
        TRY(shared_fabric_wait_for(self, &area->head->reductions, before, &area->head->reductions_waiting, false));
    bool is_next = atomic_load_explicit(&area->head->reductions, memory_order_acquire) == self->reductions;
    return is_next ? TUTTI_OK : fail_area_overwritten(self);
}

static enum tutti_err shared_fabric_reduce_part(struct shared_member *self, enum tt_fabric_reduction reduction,
                                                double *values, size_t count)
{
    struct tt_shared_fabric *area = self->area;
    unsigned turn = self->reductions % 2;
    memcpy(area->seats[self->fabric.rank].vectors[turn], values, count * sizeof *values);
    TRY(shared_fabric_barrier_arrive(self));
    memcpy(values, area->seats[0].vectors[turn], count * sizeof *values);
    for (int r = 1; r < area->ranks; r++)
        tt_fabric_combine(reduction, values, area->seats[r].vectors[turn], count);
    return TUTTI_OK;
}

static enum tutti_err shared_fabric_reduce(struct tt_fabric *fabric, enum tt_fabric_reduction reduction, double *values,
                                           size_t count)
{
    struct shared_member *self = (struct shared_member *)fabric;
    for (size_t part; count > 0; values += part, count -= part) {
        part = count < VECTOR ? count : VECTOR;
        TRY(shared_fabric_reduce_part(self, reduction, values, part));
    }
    return TUTTI_OK;
}

/* Addresses per rank for its mailboxes; memory is used where something is written. Less will do where a limit on addresses
 * (ulimit -v) does not allow the most. */
static const size_t MOST_ROOM = (size_t)1 << 35, LEAST_ROOM = (size_t)1 << 22;

static size_t round_to_pages(size_t size)
{
    return (size + 4095) & ~(size_t)4095;
}

static void shared_fabric_stop(struct tt_fabric *fabric, uint64_t step)
{
    tt_shared_fabric_stop(((struct shared_member *)fabric)->area, step);
}

static void shared_fabric_release(struct shared_member *self)
{
    for (uint32_t i = 0; i < self->channel_count; i++) {
        free(self->channels[i].outs);
        free(self->channels[i].ins);
    }
    free(self->channels);
    free(self->next_out);
    free(self->next_in);
    free(self);
}

static void shared_fabric_leave(struct tt_fabric *fabric)
{
    if (!fabric)
        return;
    struct tt_shared_fabric *area = ((struct shared_member *)fabric)->area;
    atomic_store(&area->seats[fabric->rank].left, true);
    shared_fabric_release((struct shared_member *)fabric);
    notify_conductor(area);
}

enum tutti_err tt_shared_fabric_new(struct tt_shared_fabric **out, int ranks, const char *name)
{
    size_t count = (size_t)ranks, head = round_to_pages(sizeof(struct shared_head));
    size_t seats = round_to_pages(count * sizeof(struct shared_seat));
    size_t cells = round_to_pages(count * count * sizeof(struct shared_cell));
    size_t room = MOST_ROOM;
    char *base = MAP_FAILED;
    struct tt_shared_fabric *area = calloc(1, sizeof *area);
    uint64_t *taken = calloc(count, sizeof *taken);
    *out = NULL;
    if (!area || !taken) {
        free(area);
        free(taken);
        return tt_fail_memory();
    }
    for (; base == MAP_FAILED && room >= LEAST_ROOM; room /= 4)
        base = mmap(NULL, head + seats + cells + count * room, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) {
        free(area);
        free(taken);
        return tt_fail(TUTTI_ERR_MEMORY, "no memory that %d ranks could share: %s; use fewer ranks", ranks,
                       strerror(errno));
    }
    room *= 4;
    cpu_set_t cores;
    bool crowded = sched_getaffinity(0, sizeof cores, &cores) == 0 && ranks > CPU_COUNT(&cores);
    *area = (struct tt_shared_fabric){
        .kind = {.name = name,
                 .open = shared_fabric_open_channel,
                 .exchange = shared_fabric_exchange,
                 .reduce = shared_fabric_reduce,
                 .report = shared_fabric_report,
                 .stop = shared_fabric_stop,
                 .close = shared_fabric_leave},
        .ranks = ranks,
        .crowded = crowded,
        .size = head + seats + cells + count * room,
        .head = (struct shared_head *)(void *)base,
        .seats = (struct shared_seat *)(void *)(base + head),
        .cells = (struct shared_cell *)(void *)(base + head + seats),
        .rooms = base + head + seats + cells,
        .room = room,
        .taken = taken,
    };
    if (getrandom(&area->mark, sizeof area->mark, GRND_NONBLOCK) < 0)
        area->mark = UINT64_C(0x9e3779b97f4a7c15); /* any number that is hardly written by mistake */
    atomic_store(&area->head->stop_after, UINT64_MAX);
    atomic_store(&area->head->mark, area->mark);
    for (int r = 0; r < ranks; r++) {
        atomic_store(&area->seats[r].where.component, UINT32_MAX);
        atomic_store(&area->seats[r].mark, area->mark);
    }
    /* A core file of a crash has no use for it; where the system does not know this advice, it is larger. */
    (void)madvise(base, area->size, MADV_DONTDUMP);
    *out = area;
    return TUTTI_OK;
}

void tt_shared_fabric_free(struct tt_shared_fabric *area)
{
    if (!area)
        return;
    munmap(area->head, area->size);
    free(area->taken);
    free(area);
}

enum tutti_err tt_shared_fabric_join(struct tt_shared_fabric *area, int rank, struct tt_fabric **out)
{
    size_t ranks = (size_t)area->ranks;
    struct shared_member *self = calloc(1, sizeof *self);
    *out = NULL;
    if (!self)
        return tt_fail_memory();
    self->next_out = calloc(ranks, sizeof *self->next_out);
    self->next_in = calloc(ranks, sizeof *self->next_in);
    if (!self->next_out || !self->next_in) {
        shared_fabric_release(self);
        return tt_fail_memory();
    }
    for (size_t peer = 0; peer < ranks; peer++) {
        self->next_out[peer] = &area->cells[(size_t)rank * ranks + peer];
        self->next_in[peer] = &area->cells[peer * ranks + (size_t)rank];
    }
    self->area = area;
    self->fabric = (struct tt_fabric){.kind = &area->kind,
                                      .rank = rank,
                                      .ranks = area->ranks,
                                      .stop_after = &area->head->stop_after,
                                      .where = &area->seats[rank].where};
    *out = &self->fabric;
    return TUTTI_OK;
}

const struct tt_heartbeat *tt_shared_fabric_heartbeat(const struct tt_shared_fabric *area, int rank)
{
    return &area->seats[rank].where;
}

bool tt_shared_fabric_has_left(const struct tt_shared_fabric *area, int rank)
{
    return atomic_load(&area->seats[rank].left);
}

void tt_shared_fabric_stop(struct tt_shared_fabric *area, uint64_t step)
{
    tt_fabric_lower_stop(&area->head->stop_after, step);
    notify_conductor(area);
}

volatile sig_atomic_t *tt_shared_fabric_interrupt_flag(struct tt_shared_fabric *area)
{
    return &area->head->interrupt;
}

struct tt_command_ring *tt_shared_fabric_commands(struct tt_shared_fabric *area)
{
    return &area->head->orders;
}
