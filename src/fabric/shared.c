/* SPDX-License-Identifier: MIT */
/* The area: how it is laid out, and who joins it; how ranks wait, exchange, reduce and report.
 *
 * Invariants:
 *  S1  The area has the same address for all ranks (threads, or forks of the process that mapped it): pointers into it are
 *      good everywhere.
 *  S2  Every word has one writer, except counts of those who wait, the count of arrivals, the bell and stop_after. What
 *      different ranks write lies on different cache lines.
 *  S3  A rank that changes a word that others may wait for stores it, then looks whether one waits; one that waits says so,
 *      then looks at the word. All four are sequentially consistent, so one of the two sees the other.
 *  S4  The conductor follows no pointer that lies in the area, and bounds every number that it reads there: code of FMUs in a
 *      rank's process can write anything to it, and may be confined (confine/), which the conductor is not.
 *  S5  A rank that waits for a count accepts the values that its peers can have written, and no others; while it naps it looks whether
 *      the marks are still there. So overwritten memory ends the run, and does not let it wait for ever. */
#include "fabric/shared.h"

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

#include "base/clock.h"

enum {
    LINE = 64,            /* bytes of a cache line */
    RING = 1 << 20,       /* bytes of reports that are not taken yet */
    VECTOR = 1024,        /* doubles that are reduced at once */
    SLOTS = 2,            /* messages of a mailbox; a power of two */
    TEXT_ROOM = 16 << 20, /* bytes of a message with texts */
};

/* One message. It is there once `stamp` is its number, counted from 1. Short ones lie on the line of their stamp. */
struct slot {
    _Alignas(LINE) _Atomic uint32_t stamp;
    size_t size;
    char bytes[];
};

/* Where the address of a mailbox is told. */
struct cell {
    _Atomic uint32_t made, waiting;
    struct mailbox *box;
};

/* Messages of one channel from one rank to another. */
struct mailbox {
    _Alignas(LINE) _Atomic uint32_t taken; /* messages, by the reader */
    _Alignas(LINE) _Atomic uint32_t reader_waiting, writer_waiting;
    struct slot *slots[SLOTS];
    size_t room;      /* bytes of a slot */
    struct cell next; /* of the same two ranks, for a later channel */
};

struct ring {
    _Alignas(LINE) _Atomic uint64_t written; /* bytes, by the rank */
    _Alignas(LINE) _Atomic uint64_t taken;   /* bytes, by the conductor */
    _Atomic uint32_t turns;                  /* how often it took some */
    _Alignas(LINE) _Atomic uint32_t waiting;
    _Alignas(LINE) char bytes[RING];
};

/* What belongs to one rank. */
struct seat {
    struct tutti_heartbeat where;
    _Atomic bool left;
    _Atomic uint64_t mark;                    /* the area's, as long as nobody overwrites it (S5) */
    _Alignas(LINE) double vectors[2][VECTOR]; /* of this reduction and of the one before */
    struct ring ring;
};

/* The head of the area. */
struct head {
    _Alignas(LINE) _Atomic uint64_t stop_after;
    volatile sig_atomic_t interrupt;
    _Atomic uint64_t mark;                   /* as in seats */
    _Alignas(LINE) _Atomic uint32_t arrived; /* at reductions, all ranks together */
    _Atomic uint32_t reductions;             /* that all have arrived at */
    _Alignas(LINE) _Atomic uint32_t reductions_waiting;
    _Alignas(LINE) _Atomic uint32_t bell, dozing;
    _Alignas(LINE) struct tutti_orders orders;
};

/* What is known of the area, in memory that is not shared (S4). */
struct tutti_shared {
    struct tutti_fabric_kind kind;
    int ranks;
    bool crowded;      /* more ranks than cores */
    size_t size;       /* of the area */
    struct head *head; /* where it begins */
    struct seat *seats;
    struct cell *cells; /* by writer, then reader */
    char *rooms;        /* per rank, memory for its mailboxes */
    size_t room;        /* ... so much */
    uint64_t mark;      /* by chance */
    uint64_t *taken;    /* per rank, of its ring: the conductor does not read its own count there (S4) */
};

/* A mailbox from one of its ends. */
struct end {
    struct mailbox *box;
    const struct tutti_cargo *cargo;
    uint32_t count; /* messages so far */
    uint32_t taken; /* writer: of these, when it last looked */
    int peer;
};

struct channel {
    struct end *outs, *ins;
    uint32_t out_count, in_count;
};

/* A rank's fabric. */
struct member {
    struct tutti_fabric fabric;
    struct tutti_shared *area;
    struct channel *channels;
    uint32_t channel_count;
    struct cell **next_out, **next_in; /* per peer: where its next mailbox is told */
    size_t used;                       /* of its room */
    uint32_t reductions;
    double patience; /* seconds to spin before it parks */
};

/* Wakes all who wait for `word`. */
static void wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* Changes a word that others may wait for (S3). */
static inline void publish(_Atomic uint32_t *word, uint32_t value, _Atomic uint32_t *waiting)
{
    atomic_store(word, value);
    if (__builtin_expect(atomic_load(waiting) != 0, 0))
        wake(word);
}

/* How ranks that share memory wait: spin for a short time, as a neighbour on another core is usually about to answer; then
 * park on a futex, so that the rank that is waited for gets the core. Where ranks outnumber cores, spinning only keeps
 * others from running: they yield at once. */

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

/* Sleeps while *word is `old`, at most so long. */
static void sleep_on(_Atomic uint32_t *word, uint32_t old, double seconds)
{
    struct timespec time = {.tv_sec = (time_t)seconds};
    time.tv_nsec = (long)((seconds - (double)time.tv_sec) * 1e9);
    /* However it ends, the caller looks again. */
    syscall(SYS_futex, word, FUTEX_WAIT, old, &time, NULL, 0);
}

static void beat(struct member *self)
{
    _Atomic uint64_t *count = &self->fabric.where->beat;
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + 1, memory_order_relaxed);
}

static inline bool has_changed(_Atomic uint32_t *word, uint32_t old)
{
    return atomic_load_explicit(word, memory_order_acquire) != old;
}

/* *begin becomes the time when it began. */
static bool spin(const struct member *self, _Atomic uint32_t *word, uint32_t old, double *begin)
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

static bool is_stopped(const struct member *self)
{
    return atomic_load(self->fabric.stop_after) <= self->fabric.step;
}

/* Somebody has written to the area what no rank writes: an FMU (S5). Also a stop may have been written so; it is believed. */
static enum tutti_err fail_overwritten(const struct member *self)
{
    if (is_stopped(self))
        return tutti_fabric_stopped();
    return tutti_fail(
        TUTTI_ERR_LOST,
        "memory that the ranks share is damaged, as rank %d sees in step %llu: an FMU has overwritten it; run FMUs in "
        "processes of their own to find out which (--processes, then --rollback fork), and ask its author",
        self->fabric.rank, (unsigned long long)self->fabric.step);
}

static bool has_marks(const struct tutti_shared *area)
{
    bool has = atomic_load_explicit(&area->head->mark, memory_order_relaxed) == area->mark;
    for (int r = 0; r < area->ranks && has; r++)
        has = atomic_load_explicit(&area->seats[r].mark, memory_order_relaxed) == area->mark;
    return has;
}

/* What it has learnt from a wait of so many seconds that ended in parking. */
static void learn(struct member *self, double seconds)
{
    self->patience = seconds < MOST_PATIENCE ? MOST_PATIENCE : fmax(self->patience / 2, LEAST_PATIENCE);
}

/* Waits while *word is `old`; `waiting` counts those who do. STOPPED if a stop comes first, unless `always`. */
static enum tutti_err wait_for(struct member *self, _Atomic uint32_t *word, uint32_t old, _Atomic uint32_t *waiting,
                               bool always)
{
    double begin = 0;
    if (self->area->crowded ? yield_to_others(word, old) : spin(self, word, old, &begin))
        return TUTTI_OK;
    enum tutti_err err = TUTTI_OK;
    atomic_fetch_add(waiting, 1);
    for (;;) {
        /* The stop first: what was sent before it is seen then. */
        bool stopped = !always && is_stopped(self);
        if (atomic_load(word) != old)
            break;
        if (stopped) {
            err = tutti_fabric_stopped();
            break;
        }
        if (!has_marks(self->area)) {
            err = fail_overwritten(self);
            break;
        }
        sleep_on(word, old, NAP);
        beat(self);
    }
    atomic_fetch_sub(waiting, 1);
    learn(self, tutti_clock_now() - begin);
    return err;
}

/* Reports: a ring of bytes from each rank to the conductor. */

static void ring_bell(struct tutti_shared *area)
{
    atomic_fetch_add(&area->head->bell, 1);
    if (atomic_load(&area->head->dozing))
        wake(&area->head->bell);
}

uint32_t tutti_shared_bell(const struct tutti_shared *area)
{
    return atomic_load(&area->head->bell);
}

void tutti_shared_wait(struct tutti_shared *area, uint32_t seen, double seconds)
{
    atomic_store(&area->head->dozing, 1);
    sleep_on(&area->head->bell, seen, seconds);
    atomic_store(&area->head->dozing, 0);
}

static void put(struct ring *ring, uint64_t at, const char *bytes, size_t count)
{
    size_t place = (size_t)(at % RING), first = RING - place < count ? RING - place : count;
    memcpy(ring->bytes + place, bytes, first);
    memcpy(ring->bytes, bytes + first, count - first);
}

static enum tutti_err report(struct tutti_fabric *fabric, const void *bytes, size_t size)
{
    struct member *self = (struct member *)fabric;
    struct ring *ring = &self->area->seats[fabric->rank].ring;
    uint64_t written = atomic_load_explicit(&ring->written, memory_order_relaxed);
    for (const char *at = bytes; size > 0;) {
        uint32_t turns = atomic_load(&ring->turns);
        size_t used = (size_t)(written - atomic_load(&ring->taken));
        if (used > RING)
            return fail_overwritten(self);
        size_t part = RING - used < size ? RING - used : size;
        put(ring, written, at, part);
        written += part, at += part, size -= part;
        atomic_store_explicit(&ring->written, written, memory_order_release);
        /* A bell that is not heard costs the conductor no more than the rest of its nap. */
        if (used + part >= RING / 2 && atomic_load_explicit(&self->area->head->dozing, memory_order_relaxed))
            ring_bell(self->area);
        if (size > 0)
            TRY(wait_for(self, &ring->turns, turns, &ring->waiting, true));
    }
    return TUTTI_OK;
}

/* Instead of what a rank has reported, if its ring is overwritten: no beginning of a frame. */
static const char NO_REPORT[LINE] = {[0 ... LINE - 1] = '\xff'};

static uint64_t bytes_in(const struct tutti_shared *area, int rank)
{
    return atomic_load_explicit(&area->seats[rank].ring.written, memory_order_acquire) - area->taken[rank];
}

const char *tutti_shared_reports(struct tutti_shared *area, int rank, size_t *count)
{
    uint64_t used = bytes_in(area, rank);
    size_t place = (size_t)(area->taken[rank] % RING), behind = RING - place;
    *count = used > RING ? sizeof NO_REPORT : used < behind ? (size_t)used : behind;
    return used > RING ? NO_REPORT : area->seats[rank].ring.bytes + place;
}

void tutti_shared_consume(struct tutti_shared *area, int rank, size_t count)
{
    struct ring *ring = &area->seats[rank].ring;
    uint64_t used = bytes_in(area, rank);
    if (count == 0)
        return;
    area->taken[rank] += used > RING ? used : count;
    atomic_store(&ring->taken, area->taken[rank]);
    publish(&ring->turns, atomic_load_explicit(&ring->turns, memory_order_relaxed) + 1, &ring->waiting);
}

/* Channels: a mailbox for each pair of ranks and each direction that has something to carry. The writer packs straight into a
 * slot, the reader unpacks straight from it. The writer may be SLOTS messages ahead. */

/* Memory of this rank's room, zeroed, at the start of a line. */
static void *allocate(struct member *self, size_t size)
{
    struct tutti_shared *area = self->area;
    size_t lines = (size + LINE - 1) & ~(size_t)(LINE - 1);
    if (lines < size || lines > area->room - self->used) {
        (void)tutti_fail(TUTTI_ERR_LIMIT,
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

/* Makes the mailbox of an outgoing link, and tells the peer where it is. */
static enum tutti_err make_mailbox(struct member *self, struct end *end)
{
    const struct tutti_cargo *cargo = end->cargo;
    struct mailbox *box = allocate(self, sizeof *box);
    if (!box)
        return TUTTI_ERR_LIMIT;
    box->room = cargo->text_count ? cargo->size + TEXT_ROOM : cargo->size;
    for (int i = 0; i < SLOTS; i++) {
        box->slots[i] = allocate(self, sizeof *box->slots[i] + box->room);
        if (!box->slots[i])
            return TUTTI_ERR_LIMIT;
    }
    struct cell *cell = self->next_out[end->peer];
    self->next_out[end->peer] = &box->next;
    end->box = box;
    cell->box = box;
    publish(&cell->made, 1, &cell->waiting);
    return TUTTI_OK;
}

/* Waits until the peer has made the mailbox of an incoming link. */
static enum tutti_err find_mailbox(struct member *self, struct end *end)
{
    struct cell *cell = self->next_in[end->peer];
    if (!atomic_load(&cell->made))
        TRY(wait_for(self, &cell->made, 0, &cell->waiting, false));
    end->box = cell->box;
    self->next_in[end->peer] = &end->box->next;
    return TUTTI_OK;
}

static enum tutti_err open_channel(struct tutti_fabric *fabric, const struct tutti_channel *channel)
{
    struct member *self = (struct member *)fabric;
    struct channel *channels = realloc(self->channels, (self->channel_count + 1) * sizeof *channels);
    if (!channels)
        return tutti_fail_memory();
    self->channels = channels;
    struct channel *opened = &channels[self->channel_count++];
    *opened = (struct channel){.outs = calloc(channel->link_count + 1, sizeof *opened->outs),
                               .ins = calloc(channel->link_count + 1, sizeof *opened->ins)};
    if (!opened->outs || !opened->ins)
        return tutti_fail_memory();
    for (uint32_t i = 0; i < channel->link_count; i++) {
        const struct tutti_link *link = &channel->links[i];
        if (!tutti_cargo_is_empty(&link->out))
            opened->outs[opened->out_count++] = (struct end){.cargo = &link->out, .peer = link->peer};
        if (!tutti_cargo_is_empty(&link->in))
            opened->ins[opened->in_count++] = (struct end){.cargo = &link->in, .peer = link->peer};
    }
    for (uint32_t i = 0; i < opened->out_count; i++)
        TRY(make_mailbox(self, &opened->outs[i]));
    for (uint32_t i = 0; i < opened->in_count; i++)
        TRY(find_mailbox(self, &opened->ins[i]));
    return TUTTI_OK;
}

static enum tutti_err is_too_large(const struct member *self, const struct end *end, size_t size)
{
    return tutti_fail(
        TUTTI_ERR_LIMIT,
        "what rank %d sends to rank %d in one exchange has %zu bytes, more than the %zu that there is room "
        "for; place the units that exchange such Strings or Binaries on one rank (--place)",
        self->fabric.rank, end->peer, size, end->box->room);
}

static inline enum tutti_err send(struct member *self, struct end *end, const char *base)
{
    struct mailbox *box = end->box;
    const struct tutti_cargo *cargo = end->cargo;
    struct slot *slot = box->slots[end->count % SLOTS];
    size_t size = cargo->size;
    if (end->count - end->taken == SLOTS) {
        uint32_t full = end->count - SLOTS;
        end->taken = atomic_load_explicit(&box->taken, memory_order_acquire);
        if (end->taken == full) {
            TRY(wait_for(self, &box->taken, full, &box->writer_waiting, false));
            end->taken = atomic_load_explicit(&box->taken, memory_order_acquire);
        }
        if (end->count - end->taken >= SLOTS)
            return fail_overwritten(self);
    }
    if (cargo->text_count) {
        size = tutti_cargo_size(cargo, base);
        if (size > box->room)
            return is_too_large(self, end, size);
    }
    slot->size = size;
    tutti_cargo_pack(cargo, base, slot->bytes);
    publish(&slot->stamp, ++end->count, &box->reader_waiting);
    return TUTTI_OK;
}

static inline enum tutti_err receive(struct member *self, struct end *end, char *base)
{
    struct mailbox *box = end->box;
    struct slot *slot = box->slots[end->count % SLOTS];
    uint32_t stamp = ++end->count, before = atomic_load_explicit(&slot->stamp, memory_order_acquire);
    if (before == stamp - SLOTS || (before == 0 && stamp <= SLOTS)) { /* the slot's last message, or none yet */
        TRY(wait_for(self, &slot->stamp, before, &box->reader_waiting, false));
        before = atomic_load_explicit(&slot->stamp, memory_order_acquire);
    }
    if (before != stamp)
        return fail_overwritten(self);
    enum tutti_err err = tutti_cargo_unpack(end->cargo, base, slot->bytes, slot->size);
    publish(&box->taken, stamp, &box->writer_waiting);
    return err;
}

static enum tutti_err exchange(struct tutti_fabric *fabric, uint32_t channel, char *base)
{
    struct member *self = (struct member *)fabric;
    if (fabric->ranks == 1) { /* who is alone need not even open channels */
        fabric->exchanges++;
        return TUTTI_OK;
    }
    struct channel *open = &self->channels[channel];
    for (uint32_t i = 0; i < open->out_count; i++)
        TRY(send(self, &open->outs[i], base));
    for (uint32_t i = 0; i < open->in_count; i++)
        TRY(receive(self, &open->ins[i], base));
    fabric->exchanges++;
    return TUTTI_OK;
}

/* Reductions: every rank writes its vector, then, once all have, combines all of them. The last to arrive tells the others, so
 * that each parks at most once, however many there are.
 *
 * Two vectors per rank are enough: who writes its vector for reduction n has seen all arrive at n - 1, so all have finished
 * reading those of n - 2. */

static enum tutti_err arrive(struct member *self)
{
    struct tutti_shared *area = self->area;
    uint32_t before = self->reductions++, all = self->reductions * (uint32_t)area->ranks;
    uint32_t missing = all - (atomic_fetch_add(&area->head->arrived, 1) + 1);
    if (missing >= (uint32_t)area->ranks)
        return fail_overwritten(self);
    if (missing == 0) {
        publish(&area->head->reductions, self->reductions, &area->head->reductions_waiting);
        return TUTTI_OK;
    }
    if (atomic_load_explicit(&area->head->reductions, memory_order_acquire) == before)
        TRY(wait_for(self, &area->head->reductions, before, &area->head->reductions_waiting, false));
    bool is_next = atomic_load_explicit(&area->head->reductions, memory_order_acquire) == self->reductions;
    return is_next ? TUTTI_OK : fail_overwritten(self);
}

static enum tutti_err reduce_part(struct member *self, enum tutti_reduction reduction, double *values, size_t count)
{
    struct tutti_shared *area = self->area;
    unsigned turn = self->reductions % 2;
    memcpy(area->seats[self->fabric.rank].vectors[turn], values, count * sizeof *values);
    TRY(arrive(self));
    memcpy(values, area->seats[0].vectors[turn], count * sizeof *values);
    for (int r = 1; r < area->ranks; r++)
        tutti_fabric_combine(reduction, values, area->seats[r].vectors[turn], count);
    return TUTTI_OK;
}

static enum tutti_err reduce(struct tutti_fabric *fabric, enum tutti_reduction reduction, double *values, size_t count)
{
    struct member *self = (struct member *)fabric;
    for (size_t part; count > 0; values += part, count -= part) {
        part = count < VECTOR ? count : VECTOR;
        TRY(reduce_part(self, reduction, values, part));
    }
    return TUTTI_OK;
}

/* Addresses per rank for its mailboxes; memory is used where something is written. Less will do where a limit on addresses
 * (ulimit -v) does not allow the most. */
static const size_t MOST_ROOM = (size_t)1 << 35, LEAST_ROOM = (size_t)1 << 22;

static size_t whole_pages(size_t size)
{
    return (size + 4095) & ~(size_t)4095;
}

static void stop(struct tutti_fabric *fabric, uint64_t step)
{
    tutti_shared_stop(((struct member *)fabric)->area, step);
}

static void release(struct member *self)
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

static void leave(struct tutti_fabric *fabric)
{
    if (!fabric)
        return;
    struct tutti_shared *area = ((struct member *)fabric)->area;
    atomic_store(&area->seats[fabric->rank].left, true);
    release((struct member *)fabric);
    ring_bell(area);
}

static bool outnumber_cores(int ranks)
{
    cpu_set_t cores;
    return sched_getaffinity(0, sizeof cores, &cores) == 0 && ranks > CPU_COUNT(&cores);
}

enum tutti_err tutti_shared_new(struct tutti_shared **out, int ranks, const char *name)
{
    size_t count = (size_t)ranks, head = whole_pages(sizeof(struct head));
    size_t seats = whole_pages(count * sizeof(struct seat));
    size_t cells = whole_pages(count * count * sizeof(struct cell));
    size_t room = MOST_ROOM;
    char *base = MAP_FAILED;
    struct tutti_shared *area = calloc(1, sizeof *area);
    uint64_t *taken = calloc(count, sizeof *taken);
    *out = NULL;
    if (!area || !taken) {
        free(area);
        free(taken);
        return tutti_fail_memory();
    }
    for (; base == MAP_FAILED && room >= LEAST_ROOM; room /= 4)
        base = mmap(NULL, head + seats + cells + count * room, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) {
        free(area);
        free(taken);
        return tutti_fail(TUTTI_ERR_MEMORY, "no memory that %d ranks could share: %s; use fewer ranks", ranks,
                          strerror(errno));
    }
    room *= 4;
    *area = (struct tutti_shared){
        .kind = {.name = name,
                 .open = open_channel,
                 .exchange = exchange,
                 .reduce = reduce,
                 .report = report,
                 .stop = stop,
                 .close = leave},
        .ranks = ranks,
        .crowded = outnumber_cores(ranks),
        .size = head + seats + cells + count * room,
        .head = (struct head *)(void *)base,
        .seats = (struct seat *)(void *)(base + head),
        .cells = (struct cell *)(void *)(base + head + seats),
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

void tutti_shared_free(struct tutti_shared *area)
{
    if (!area)
        return;
    munmap(area->head, area->size);
    free(area->taken);
    free(area);
}

enum tutti_err tutti_shared_join(struct tutti_shared *area, int rank, struct tutti_fabric **out)
{
    size_t ranks = (size_t)area->ranks;
    struct member *self = calloc(1, sizeof *self);
    *out = NULL;
    if (!self)
        return tutti_fail_memory();
    self->next_out = calloc(ranks, sizeof *self->next_out);
    self->next_in = calloc(ranks, sizeof *self->next_in);
    if (!self->next_out || !self->next_in) {
        release(self);
        return tutti_fail_memory();
    }
    for (size_t peer = 0; peer < ranks; peer++) {
        self->next_out[peer] = &area->cells[(size_t)rank * ranks + peer];
        self->next_in[peer] = &area->cells[peer * ranks + (size_t)rank];
    }
    self->area = area;
    self->fabric = (struct tutti_fabric){.kind = &area->kind,
                                         .rank = rank,
                                         .ranks = area->ranks,
                                         .stop_after = &area->head->stop_after,
                                         .where = &area->seats[rank].where};
    *out = &self->fabric;
    return TUTTI_OK;
}

const struct tutti_heartbeat *tutti_shared_heartbeat(const struct tutti_shared *area, int rank)
{
    return &area->seats[rank].where;
}

bool tutti_shared_has_left(const struct tutti_shared *area, int rank)
{
    return atomic_load(&area->seats[rank].left);
}

void tutti_shared_stop(struct tutti_shared *area, uint64_t step)
{
    tutti_fabric_lower_stop(&area->head->stop_after, step);
    ring_bell(area);
}

volatile sig_atomic_t *tutti_shared_interrupt(struct tutti_shared *area)
{
    return &area->head->interrupt;
}

struct tutti_orders *tutti_shared_orders(struct tutti_shared *area)
{
    return &area->head->orders;
}
