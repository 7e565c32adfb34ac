/* SPDX-License-Identifier: MIT */
/* Scribble - x' = u - x, which at t = 0.5 overwrites all memory that its process shares with others and may write to,
 * once. Parameters select the written value (`pattern`), its density (`sparse`: one word in 1000), the call (`inside`:
 * when derivatives are computed, otherwise when outputs are), and the continuation (`after`). For tests in a separate
 * namespace (tests/system/scribbled.py). */
#include "kit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { ZEROS, ONES, ALL_BITS, NOISE };
enum { GO_ON, CRASH, EXIT, PAUSE };
enum { PAGE = 4096, MOST_PAGES = 1 << 20 };

struct scribble {
    double x, der_x, u, y;
    int32_t pattern, sparse, inside, after, seed;
};
#define KIT_SELF struct scribble

static const struct kit_var variables[] = {
    KIT_STATE(x, .start = "1", .derivative = "der(x)"),
    KIT_DERIVATIVE(der_x, .name = "der(x)", .depends = "x u"),
    KIT_INPUT(u, .start = "0"),
    KIT_OUTPUT(y, .depends = "x"),
    KIT_PARAMETER(pattern, .start = "-1", .description = "-1: it writes nothing"),
    KIT_PARAMETER(sparse, .start = "0"),
    KIT_PARAMETER(inside, .start = "0"),
    KIT_PARAMETER(after, .start = "0"),
    KIT_PARAMETER(seed, .start = "0"),
};

static uint64_t noise; /* splitmix64 (Steele, Lea, Flood 2014) */

static uint64_t next_noise(void)
{
    uint64_t z = noise += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Ones are words of 32 bits: numbers of processes, flags and counts are. */
static uint32_t word_of(const struct scribble *m)
{
    switch (m->pattern) {
    case ZEROS: return 0;
    case ONES: return 1;
    case ALL_BITS: return UINT32_MAX;
    default: return (uint32_t)next_noise();
    }
}

static void fill_page(const struct scribble *m, volatile uint32_t *words)
{
    for (size_t i = 0; i < PAGE / sizeof *words; i++)
        if (!m->sparse || next_noise() % 1000 == 0)
            words[i] = word_of(m);
}

/* Pages that nothing was ever written to are left out: there are many GB of them, and nothing is read there. */
static void fill(const struct scribble *m, unsigned char *begin, unsigned char *end)
{
    size_t count = (size_t)(end - begin) / PAGE;
    count = count < MOST_PAGES ? count : MOST_PAGES;
    unsigned char *present = malloc(count);
    if (present && mincore(begin, count * PAGE, present) == 0)
        for (size_t i = 0; i < count; i++)
            if (present[i] & 1)
                fill_page(m, (volatile uint32_t *)(void *)(begin + i * PAGE));
    free(present);
}

static void scribble(const struct scribble *m)
{
    enum { MOST = 64 };
    unsigned char *begins[MOST], *ends[MOST];
    size_t count = 0;
    char line[512], mode[8];
    unsigned long begin, end;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && count < MOST && fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx %7s", &begin, &end, mode) == 3 && mode[1] == 'w' && mode[3] == 's') {
            begins[count] = (unsigned char *)begin;
            ends[count++] = (unsigned char *)end;
        }
    if (maps)
        fclose(maps);
    noise = (uint64_t)m->seed;
    for (size_t i = 0; i < count; i++)
        fill(m, begins[i], ends[i]);
}

static void maybe(const struct scribble *m, double t, bool inside)
{
    static bool done;
    if (done || m->pattern < 0 || t < 0.5 || inside != (m->inside != 0))
        return;
    done = true;
    scribble(m);
    switch (m->after) {
    case CRASH: raise(SIGSEGV); break;
    case EXIT: _exit(0);
    case PAUSE: nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL); break;
    default: break;
    }
}

static enum kit_status derivatives(struct kit *kit, void *self, double t)
{
    struct scribble *m = self;
    (void)kit;
    m->der_x = m->u - m->x;
    maybe(m, t, true);
    return KIT_OK;
}

static enum kit_status outputs(struct kit *kit, void *self, double t)
{
    struct scribble *m = self;
    (void)kit;
    m->y = m->x;
    maybe(m, t, false);
    return KIT_OK;
}

const struct kit_model kit_model = {
    .name = "Scribble",
    .description = "Overwrites memory that its process shares with others",
    .size = sizeof(struct scribble),
    KIT_VARIABLES(variables),
    .experiment = {.stop = 1, .step = 0.1},
    .derivatives = derivatives,
    .outputs = outputs,
};
