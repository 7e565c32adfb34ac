/* SPDX-License-Identifier: MIT */
#include "fmu/process/shared_area.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { ALIGNMENT = 16, BITS = 31 };

static const size_t ROOM = TUTTI_AREA_SIZE - sizeof(struct tt_shared_area);

struct tt_shared_area *tt_shared_area_map(int fd)
{
    void *area = mmap(NULL, TUTTI_AREA_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    return area == MAP_FAILED ? NULL : area;
}

void tt_shared_area_unmap(struct tt_shared_area *area)
{
    if (area)
        munmap(area, TUTTI_AREA_SIZE);
}

/* ---- turns ---- */

/* All processes wait for one word; only the process whose bit is set is woken. */
static uint32_t shared_area_bit_of(uint32_t number)
{
    return number == TUTTI_AREA_RANK ? 1u << BITS : 1u << number % BITS;
}

static void shared_area_wake(struct tt_shared_area *area, uint32_t number)
{
    syscall(SYS_futex, &area->turn, FUTEX_WAKE_BITSET, INT_MAX, NULL, NULL, shared_area_bit_of(number));
}

void tt_shared_area_wake_rank(struct tt_shared_area *area)
{
    shared_area_wake(area, TUTTI_AREA_RANK);
}

void tt_shared_area_pass_turn(struct tt_shared_area *area, uint32_t to)
{
    atomic_store(&area->turn, to);
    shared_area_wake(area, to);
}

bool tt_shared_area_wait(struct tt_shared_area *area, uint32_t self, double seconds)
{
    bool is_limited = isfinite(seconds);
    struct timespec limit = {0}; /* FUTEX_WAIT_BITSET takes the time at which to give up */
    if (is_limited) {
        clock_gettime(CLOCK_MONOTONIC, &limit);
        long nanoseconds = limit.tv_nsec + (long)(fmod(seconds, 1) * 1e9);
        limit.tv_sec += (time_t)seconds + nanoseconds / 1000000000;
        limit.tv_nsec = nanoseconds % 1000000000;
    }
    for (;;) {
        uint32_t turn = atomic_load(&area->turn);
        if (turn == self)
            return true;
        long woken = syscall(SYS_futex, &area->turn, FUTEX_WAIT_BITSET, turn, is_limited ? &limit : NULL, NULL,
                             shared_area_bit_of(self));
        bool over = woken < 0 && errno == ETIMEDOUT;
        if (is_limited && (woken == 0 || over))
            return atomic_load(&area->turn) == self;
    }
}

/* ---- what is put ---- */

static size_t shared_area_align(size_t size)
{
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* The FMU's process can overwrite `top` at any time, so it is read once. */
void *tt_shared_area_put(struct tt_shared_area *area, const void *data, size_t size)
{
    size_t top = *(volatile uint64_t *)&area->top;
    if (top % ALIGNMENT != 0 || top > ROOM - ALIGNMENT || size > ROOM - ALIGNMENT - top)
        return NULL;
    void *place = area->bytes + top;
    if (data && size > 0)
        memcpy(place, data, size);
    area->top = top + shared_area_align(size);
    return place;
}

/* A text is its length, or all ones for NULL, and its bytes with a NUL. */
bool tt_shared_area_put_text(struct tt_shared_area *area, const char *text)
{
    uint64_t length = text ? strlen(text) : UINT64_MAX;
    return tt_shared_area_put(area, &length, sizeof length) && (!text || tt_shared_area_put(area, text, length + 1));
}

static bool shared_area_put_binary(struct tt_shared_area *area, const struct tt_bytes *bytes)
{
    uint64_t size = bytes->size;
    return tt_shared_area_put(area, &size, sizeof size) && tt_shared_area_put(area, bytes->data, bytes->size);
}

bool tt_shared_area_put_values(struct tt_shared_area *area, enum tt_type type, const void *values, size_t count)
{
    bool fits = true;
    if (!tt_type_is_text(type))
        return tt_shared_area_put(area, values, count * tt_type_size(type)) != NULL;
    for (size_t i = 0; i < count && fits; i++)
        fits = type == TUTTI_TYPE_STRING ? tt_shared_area_put_text(area, ((const char *const *)values)[i])
                                         : shared_area_put_binary(area, (const struct tt_bytes *)values + i);
    return fits;
}

/* ---- what is taken ---- */

struct tt_shared_area_cursor tt_shared_area_start_read(struct tt_shared_area *area)
{
    return (struct tt_shared_area_cursor){.area = area, .at = area->frame};
}

void *tt_shared_area_get(struct tt_shared_area_cursor *cursor, size_t size)
{
    size_t top = *(volatile uint64_t *)&cursor->area->top;
    cursor->bad = cursor->bad || top > ROOM || cursor->at > top || size > top - cursor->at;
    if (cursor->bad)
        return NULL;
    void *place = cursor->area->bytes + cursor->at;
    cursor->at += shared_area_align(size);
    return place;
}

const char *tt_shared_area_get_text(struct tt_shared_area_cursor *cursor)
{
    uint64_t length = TUTTI_AREA_TAKE(cursor, uint64_t, UINT64_MAX);
    if (length == UINT64_MAX)
        return NULL;
    char *text = tt_shared_area_get(cursor, length + 1);
    if (text)
        text[length] = '\0';
    return text;
}

void tt_shared_area_get_texts(struct tt_shared_area_cursor *cursor, enum tt_type type, void *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (type == TUTTI_TYPE_STRING) {
            ((const char **)values)[i] = tt_shared_area_get_text(cursor);
        } else {
            size_t size = (size_t)TUTTI_AREA_TAKE(cursor, uint64_t, 0);
            ((struct tt_bytes *)values)[i] = (struct tt_bytes){size, tt_shared_area_get(cursor, size)};
        }
}
