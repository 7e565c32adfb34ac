/* SPDX-License-Identifier: MIT */
/* fault.c - misbehaviour on demand; see fault.h for the language. */
#include "fault.h"

#include <fenv.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum kind {
    WARNING,
    DISCARD,
    ERROR,
    FATAL,
    EARLY,
    CRASH,
    EXIT,
    VANISH,
    HANG,
    FLOOD,
    BADLOG,
    NOTHING,
    NOT_A_NUMBER,
    PRINT,
    THREAD,
    HELPER,
    DAEMON,
    DESCRIPTORS,
    EAT,
    SOCKET,
    WRITE,
    SHARE,
    /* Habits: what real FMUs do all the time. */
    FORGET,
    SOLVE,
    UNTOLD,
    UNREADY,
    HIDE,
    DENY,
    IGNORE,
    STRICT,
    FLUSH,
    ROUND,
    LOCALE,
    SLIP,
    STAY,
    LOSE,
    KEEP,
    LAG,
    RUSH,
    KINDS
};

static const char *const kind_names[KINDS] = {
    [WARNING] = "warning", [DISCARD] = "discard", [ERROR] = "error",      [FATAL] = "fatal",
    [EARLY] = "early",     [CRASH] = "crash",     [HANG] = "hang",        [FLOOD] = "flood",
    [BADLOG] = "badlog",   [NOTHING] = "null",    [NOT_A_NUMBER] = "nan", [PRINT] = "print",
    [FORGET] = "forget",   [SOLVE] = "solve",     [UNTOLD] = "untold",    [UNREADY] = "unready",
    [HIDE] = "hide",       [STRICT] = "strict",   [FLUSH] = "flush",      [LOCALE] = "locale",
    [IGNORE] = "ignore",   [THREAD] = "thread",   [SLIP] = "slip",        [STAY] = "stay",
    [LOSE] = "lose",       [ROUND] = "round",     [DENY] = "deny",        [HELPER] = "helper",
    [DAEMON] = "daemon",   [EXIT] = "exit",       [VANISH] = "vanish",    [DESCRIPTORS] = "descriptors",
    [EAT] = "eat",         [SOCKET] = "socket",   [WRITE] = "write",      [SHARE] = "share",
    [KEEP] = "keep",       [LAG] = "lag",         [RUSH] = "rush",
};

struct fault {
    enum kind kind;
    char calls[64]; /* one, or several with '|' between them */
    double time;    /* -INFINITY: none was given */
    bool onward;    /* from `time` on, not once */
    bool fired;
};

struct faults {
    size_t count;
    struct fault items[16];
};

/* "KIND CALL [TIME[+]] [@INSTANCE]"; false if it is not one. *mine: it is for this instance. */
static bool parse(const char *text, const char *instance, struct fault *fault, bool *mine)
{
    char kind[16], third[64] = "", fourth[64] = "", rest[2];
    *fault = (struct fault){.time = -INFINITY};
    int n = sscanf(text, " %15s %63s %63s %63s %1s", kind, fault->calls, third, fourth, rest);
    const char *target = third[0] == '@' ? third : fourth;
    if (n < 2 || n > 4 || (n == 4 && (third[0] == '@' || fourth[0] != '@')))
        return false;
    *mine = target[0] == '\0' || strcmp(target + 1, instance) == 0;
    if (third[0] && third[0] != '@') {
        size_t length = strlen(third);
        fault->onward = third[length - 1] == '+';
        if (fault->onward)
            third[length - 1] = '\0';
        if (!kit_parse_double(third, &fault->time))
            return false;
    }
    for (int i = 0; i < KINDS; i++)
        if (strcmp(kind, kind_names[i]) == 0) {
            fault->kind = (enum kind)i;
            return true;
        }
    return false;
}

static bool names(const struct fault *fault, const char *call)
{
    size_t length = strlen(call);
    for (const char *p = fault->calls; *p;) {
        size_t size = strcspn(p, "|");
        if (size == length && memcmp(p, call, length) == 0)
            return true;
        p += size + (p[size] == '|' ? 1 : 0);
    }
    return false;
}

/* Whether the fault happens in a call that ends before `to`. */
static bool due(struct fault *fault, double to)
{
    if (fault->time == -INFINITY)
        return true;
    if (fault->onward)
        return to > fault->time;
    if (fault->fired || !(to > fault->time))
        return false;
    fault->fired = true;
    return true;
}

static void flood(struct kit *k)
{
    for (int i = 0; i < 10000 && k->log; i++) {
        char text[64];
        snprintf(text, sizeof text, "message %d of a flood", i);
        k->log(k, KIT_OK, kit_category_names[KIT_LOG_EVENTS], text);
    }
}

/* Messages as no FMU should send them, past the kit's own care. */
static void bad_log(struct kit *k)
{
    enum { LONG = 1 << 20 };
    if (!k->log)
        return;
    k->log(k, KIT_WARNING, kit_category_names[KIT_LOG_WARNING], NULL);
    k->log(k, KIT_WARNING, NULL, "a message without category");
    k->log(k, KIT_WARNING, kit_category_names[KIT_LOG_WARNING], "broken UTF-8: \xc3\x28 \xff\xfe \xe2\x82");
    k->log(k, KIT_WARNING, kit_category_names[KIT_LOG_WARNING], "bad references #9999# #x# #\r\n\x1b[31m\a");
    char *text = malloc(LONG + 1);
    if (!text)
        return;
    memset(text, 'x', LONG);
    text[LONG] = '\0';
    k->log(k, KIT_WARNING, kit_category_names[KIT_LOG_WARNING], text);
    free(text);
}

/* The effect of loading libraries compiled with -Ofast: numbers below 2.2e-308 become 0, in all code of the thread. */
static void flush_to_zero(void)
{
#ifdef __SSE2__
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
#endif
}

__attribute__((constructor)) static void load(void)
{
    const char *faults = getenv("KIT_FAULT");
    if (faults && strstr(faults, "flush Load"))
        flush_to_zero();
}

static void *sleep_on(void *unused)
{
    for (;;)
        pause();
    return unused;
}

/* 200 MB that are used, and never given back. */
static bool eat(void)
{
    enum { SIZE = 200000000 };
    void *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED)
        memset(memory, 1, SIZE);
    return memory != MAP_FAILED;
}

/* Executes a fault; OK if the call continues. */
static enum kit_status act(struct kit *k, const struct fault *fault, const char *call)
{
    switch (fault->kind) {
    case WARNING: kit_log(k, KIT_WARNING, "fault: %s warns at t = %.17g", call, k->time); return KIT_WARNING;
    case DISCARD: return kit_fail(k, KIT_DISCARD, "fault: %s is discarded at t = %.17g", call, k->time);
    case ERROR: return kit_fail(k, KIT_ERROR, "fault: %s fails at t = %.17g", call, k->time);
    case SLIP: kit_log(k, KIT_ERROR, "fault: %s slips at t = %.17g", call, k->time); return KIT_ERROR;
    case FATAL: return kit_fail(k, KIT_FATAL, "fault: %s fails for good at t = %.17g", call, k->time);
    case CRASH: raise(SIGSEGV); abort();
    case EXIT: exit(0);
    case VANISH: _exit(0);
    case HANG:
        for (;;)
            pause();
    case FLOOD: flood(k); return KIT_OK;
    case BADLOG: bad_log(k); return KIT_OK;
    case FLUSH: flush_to_zero(); return KIT_OK;
    case ROUND: fesetround(FE_UPWARD); return KIT_OK;
    case LOCALE: setlocale(LC_ALL, ""); return KIT_OK;
    case PRINT:
        printf("fault: %s prints at t = %.17g\n", call, k->time);
        fflush(stdout);
        return KIT_OK;
    case THREAD: {
        pthread_t thread;
        return pthread_create(&thread, NULL, sleep_on, NULL) == 0 ? KIT_OK : KIT_ERROR;
    }
    case HELPER: return system("sleep 100000 &") == 0 ? KIT_OK : KIT_ERROR;
    case SOCKET: return socket(AF_UNIX, SOCK_DGRAM, 0) >= 0 ? KIT_OK : KIT_ERROR;
    case WRITE: return tmpfile() ? KIT_OK : KIT_ERROR;
    case SHARE:
        return mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) != MAP_FAILED ? KIT_OK
                                                                                                      : KIT_ERROR;
    case DAEMON: return system("setsid sleep 100000 &") == 0 ? KIT_OK : KIT_ERROR;
    case DESCRIPTORS: return system("ls -l /proc/self/fd >descriptors.txt") == 0 ? KIT_OK : KIT_ERROR;
    case EAT: return eat() ? KIT_OK : KIT_ERROR;
    default: return KIT_OK;
    }
}

/* A fault that is not understood must not look like an FMU without faults. */
static bool read_faults(struct kit *k, struct faults *faults, const char *text)
{
    while (text && *text) {
        char one[256];
        bool mine = false;
        size_t length = strcspn(text, ";");
        snprintf(one, sizeof one, "%.*s", (int)length, text);
        text += length + (text[length] == ';' ? 1 : 0);
        if (one[strspn(one, " ")] == '\0')
            continue;
        if (faults->count == KIT_COUNT(faults->items) || length >= sizeof one ||
            !parse(one, k->name, &faults->items[faults->count], &mine)) {
            k->logging = true;
            kit_log(k, KIT_ERROR, "KIT_FAULT: \"%s\" is no fault, or one too many", one);
            return false;
        }
        faults->count += mine;
    }
    return true;
}

bool kit_fault_new(struct kit *k)
{
    struct faults *faults = calloc(1, sizeof *faults);
    k->faults = faults;
    bool fails = !faults || !read_faults(k, faults, getenv("KIT_FAULT"));
    for (size_t i = 0; faults && i < faults->count; i++) {
        const struct fault *fault = &faults->items[i];
        if (names(fault, "Instantiate"))
            fails = act(k, fault, "Instantiate") > KIT_WARNING || fault->kind == NOTHING || fails;
    }
    return fails;
}

void kit_fault_free(struct kit *k)
{
    free(k->faults);
}

enum kit_status kit_fault_call(struct kit *k, const char *call)
{
    struct faults *faults = k->faults;
    enum kit_status worst = KIT_OK;
    for (size_t i = 0; i < faults->count; i++) {
        struct fault *fault = &faults->items[i];
        if (!names(fault, call) || fault->kind == NOT_A_NUMBER || !due(fault, nextafter(k->time, INFINITY)))
            continue;
        enum kit_status status = act(k, fault, call);
        worst = status > worst ? status : worst;
    }
    return worst;
}

enum kit_status kit_fault_step(struct kit *k, double t, double h, double *limit, enum kit_status *status)
{
    struct faults *faults = k->faults;
    enum kit_status worst = KIT_OK;
    for (size_t i = 0; i < faults->count; i++) {
        struct fault *fault = &faults->items[i];
        if (!names(fault, "DoStep") || !due(fault, t + h))
            continue;
        if (fault->kind == EARLY) {
            *limit = fault->time >= t ? fault->time : t + h / 2;
        } else if (fault->kind == DISCARD) {
            *limit = fault->time >= t ? fault->time : t;
            *status = KIT_DISCARD;
        } else {
            enum kit_status result = act(k, fault, "DoStep");
            worst = result > worst ? result : worst;
        }
    }
    return worst;
}

static bool has(struct kit *k, enum kind kind, const char *call)
{
    struct faults *faults = k->faults;
    for (size_t i = 0; i < faults->count; i++)
        if (faults->items[i].kind == kind && names(&faults->items[i], call) &&
            due(&faults->items[i], nextafter(k->time, INFINITY)))
            return true;
    return false;
}

bool kit_fault_stays(struct kit *k, double end, bool no_set_state_before)
{
    if (no_set_state_before || !has(k, STAY, "DoStep"))
        return false;
    k->time = k->last_time = end;
    k->set_in_step = false;
    return true;
}

enum kit_status kit_fault_set_state(struct kit *k, const char *call, const struct kit_state *state)
{
    if (!has(k, LOSE, call))
        return kit_state_set(k, state, false);
    double *kept = calloc(k->nx + 1, sizeof *kept);
    for (size_t i = 0; kept && i < k->nx; i++)
        kept[i] = *k->x[i];
    enum kit_status status = kept ? kit_state_set(k, state, false) : KIT_ERROR;
    for (size_t i = 0; kept && i < k->nx; i++)
        *k->x[i] = kept[i];
    k->stale |= KIT_STALE_POINT;
    free(kept);
    return status;
}

void kit_fault_values(struct kit *k, const char *call, double values[], size_t count)
{
    struct faults *faults = k->faults;
    for (size_t i = 0; i < faults->count; i++) {
        struct fault *fault = &faults->items[i];
        if (fault->kind == NOT_A_NUMBER && names(fault, call) && due(fault, nextafter(k->time, INFINITY)))
            for (size_t j = 0; j < count; j++)
                values[j] = NAN;
    }
}

bool kit_fault_habit(const struct kit *k, const char *habit, const char *call)
{
    const struct faults *faults = k->faults;
    for (size_t i = 0; i < faults->count; i++)
        if (strcmp(kind_names[faults->items[i].kind], habit) == 0 && names(&faults->items[i], call))
            return true;
    return false;
}

enum kit_status kit_fault_get(struct kit *k, const char *call, const char *variable)
{
    bool hidden = kit_fault_habit(k, "hide", variable);
    if (kit_fault_habit(k, "deny", variable))
        return kit_fail(k, KIT_ERROR, "fault: %s cannot read %s", call, variable);
    bool unready = k->mode == KIT_INSTANTIATED && kit_fault_habit(k, "unready", call);
    if (!hidden && !unready)
        return KIT_OK;
    kit_log(k, KIT_ERROR, "fault: %s cannot read %s%s", call, variable, hidden ? "" : " yet");
    return KIT_ERROR;
}

enum kit_status kit_fault_set(struct kit *k, const char *call, const struct kit_slot *slot)
{
    if (k->mode != KIT_INSTANTIATED || slot->var->causality != KIT_INPUT || !kit_fault_habit(k, "strict", call))
        return KIT_OK;
    return kit_fail(k, KIT_ERROR, "fault: %s takes inputs in the initialisation mode only", call);
}
