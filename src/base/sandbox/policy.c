/* SPDX-License-Identifier: MIT */
#include "base/sandbox/policy.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/number.h"
#include "base/text.h"
#include "base/vector.h"

static const uint64_t MOST_FILE = 1000000000, MOST_SCRATCH = 4000000000, MOST_PROCESSES = 256;

void tt_policy_init(struct tt_policy *policy)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    *policy = (struct tt_policy){.limits = {.memory = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0,
                                            .file = MOST_FILE,
                                            .scratch = MOST_SCRATCH,
                                            .processes = MOST_PROCESSES}};
}

void tt_policy_fini(struct tt_policy *policy)
{
    free(policy->paths);
    tt_arena_fini(&policy->arena);
    *policy = (struct tt_policy){0};
}

/* ---- paths ---- */

static enum tutti_err add_resolved(struct tt_policy *policy, const char *path, bool write, bool run)
{
    if (!tt_vector_reserve(&policy->paths, &policy->path_room, policy->path_count + 1, sizeof *policy->paths))
        return tt_fail_memory();
    char *copy = tt_arena_copy_text(&policy->arena, path, strlen(path));
    if (!copy)
        return tt_fail_memory();
    policy->paths[policy->path_count++] = (struct tt_allowed_path){.path = copy, .write = write, .run = run};
    return TUTTI_OK;
}

enum tutti_err tt_policy_add(struct tt_policy *policy, const char *path, bool write, bool run)
{
    char resolved[PATH_MAX];
    return realpath(path, resolved) ? add_resolved(policy, resolved, write, run) : TUTTI_OK;
}

/* Folders that the person has named for libraries. */
static enum tutti_err policy_add_libraries(struct tt_policy *policy)
{
    const char *list = secure_getenv("LD_LIBRARY_PATH");
    for (const char *word = list ? list : ""; *word; word += strspn(word, ":;")) {
        char folder[PATH_MAX];
        size_t length = strcspn(word, ":;");
        if (length > 0 && length < sizeof folder) {
            memcpy(folder, word, length);
            folder[length] = '\0';
            TRY(tt_policy_add(policy, folder, false, false));
        }
        word += length;
    }
    return TUTTI_OK;
}

enum tutti_err tt_policy_add_system(struct tt_policy *policy)
{
    /* None of these holds secrets of a user. */
    static const char *const usual[] = {
        "/lib",
        "/lib32",
        "/lib64",
        "/libx32",
        "/usr/lib",
        "/usr/lib32",
        "/usr/lib64",
        "/usr/libx32",
        "/usr/local/lib",
        "/usr/local/lib64",
        "/usr/share/zoneinfo",
        "/usr/share/locale",
        "/usr/share/i18n",
        "/etc/ld.so.cache",
        "/etc/localtime",
        "/etc/timezone",
        "/proc/cpuinfo",
        "/proc/meminfo",
        "/proc/stat",
        "/proc/self",
        "/proc/sys/vm/overcommit_memory",
        "/sys/devices/system",
        "/dev/urandom",
        "/dev/random",
    };
    static const char *const written[] = {"/dev/null", "/dev/zero", "/dev/full"};
    static const char *const networks[] = {
        "/etc/hosts",     "/etc/resolv.conf", "/etc/nsswitch.conf",
        "/etc/host.conf", "/etc/gai.conf",    "/etc/services",
        "/etc/protocols", "/etc/ssl/certs",   "/usr/share/ca-certificates",
    };
    static const char *const programs[] = {"/usr", "/bin", "/sbin", "/lib", "/lib64"};
    enum tutti_err err = policy_add_libraries(policy);
    for (size_t i = 0; i < sizeof usual / sizeof *usual && !err; i++)
        err = tt_policy_add(policy, usual[i], false, false);
    for (size_t i = 0; i < sizeof written / sizeof *written && !err; i++)
        err = tt_policy_add(policy, written[i], true, false);
    for (size_t i = 0; (policy->net || policy->keeps_net) && i < sizeof networks / sizeof *networks && !err; i++)
        err = tt_policy_add(policy, networks[i], false, false);
    for (size_t i = 0; policy->exec && i < sizeof programs / sizeof *programs && !err; i++)
        err = tt_policy_add(policy, programs[i], false, true);
    return err;
}

enum tutti_err tt_policy_allow_unit_forks(struct tt_policy *policy, const char *program, uint64_t size)
{
    Dl_info loader = {0}; /* a program of shared libraries needs it: it is run with every one */
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel passes the address as a number */
    const void *base = (const void *)getauxval(AT_BASE);
    if (dladdr(base, &loader) && loader.dli_fname)
        TRY(tt_policy_add(policy, loader.dli_fname, false, true));
    policy->fork = policy->own_forks = true;
    if (policy->limits.file > 0 && policy->limits.file < size)
        policy->limits.file = size;
    TRY(tt_policy_add(policy, "/proc", false,
                      false)); /* processes inspect their own entries, whose IDs are not yet known */
    return tt_policy_add(policy, program, false, true);
}

static bool is_below(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    if (strcmp(folder, "/") == 0)
        return true;
    return strncmp(path, folder, length) == 0 && (path[length] == '\0' || path[length] == '/');
}

bool tt_policy_allows(const struct tt_policy *policy, const char *path, bool write)
{
    for (size_t i = 0; i < policy->path_count; i++)
        if ((!write || policy->paths[i].write) && is_below(path, policy->paths[i].path))
            return true;
    return false;
}

bool tt_policy_allows_run(const struct tt_policy *policy, const char *path)
{
    for (size_t i = 0; i < policy->path_count; i++)
        if (policy->paths[i].run && is_below(path, policy->paths[i].path))
            return true;
    return false;
}

/* ---- --allow ---- */

static enum tutti_err allow_path(struct tt_policy *policy, const char *path, size_t length, bool write)
{
    char text[PATH_MAX], resolved[PATH_MAX];
    snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text ? length : sizeof text - 1), path);
    errno = length == 0 ? ENOENT : ENAMETOOLONG;
    if (length == 0 || length >= sizeof text || !realpath(text, resolved))
        return tt_fail(TUTTI_ERR_ARGUMENT, "--allow: there is no '%s' to %s: %s", tt_text_excerpt(text).text,
                       write ? "write" : "read", strerror(errno));
    return add_resolved(policy, resolved, write, false);
}

static enum tutti_err policy_allow_word(struct tt_policy *policy, const char *word, size_t length)
{
    if (length == 3 && strncmp(word, "net", 3) == 0)
        policy->net = true;
    else if (length == 4 && strncmp(word, "fork", 4) == 0)
        policy->fork = true;
    else if (length == 4 && strncmp(word, "exec", 4) == 0)
        policy->fork = policy->exec = true;
    else if (length >= 5 && strncmp(word, "read:", 5) == 0)
        return allow_path(policy, word + 5, length - 5, false);
    else if (length >= 6 && strncmp(word, "write:", 6) == 0)
        return allow_path(policy, word + 6, length - 6, true);
    else
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "--allow: '%.*s' is nothing that can be allowed; there are net, fork, exec, read:PATH and "
                       "write:PATH",
                       (int)(length < 100 ? length : 100), word);
    return TUTTI_OK;
}

enum tutti_err tt_policy_allow(struct tt_policy *policy, const char *list)
{
    for (const char *word = list;; word++) {
        size_t length = strcspn(word, ",");
        TRY(policy_allow_word(policy, word, length));
        word += length;
        if (!*word)
            return TUTTI_OK;
    }
}

static enum tutti_err policy_fail_outside(const char *what, const char *path)
{
    return tt_fail(TUTTI_ERR_UNSUPPORTED,
                   "the node does not permit what --allow asks for: %s%s; its owner may (tutti node --permit)", what,
                   path);
}

enum tutti_err tt_policy_check_within(const struct tt_policy *asked, const struct tt_policy *mine)
{
    if (asked->net && !mine->net)
        return policy_fail_outside("net", "");
    if (asked->exec && !mine->exec)
        return policy_fail_outside("exec", "");
    if (asked->fork && !mine->fork)
        return policy_fail_outside("fork", "");
    for (size_t i = 0; i < asked->path_count; i++)
        if (!tt_policy_allows(mine, asked->paths[i].path, asked->paths[i].write))
            return policy_fail_outside(asked->paths[i].write ? "write:" : "read:", asked->paths[i].path);
    return TUTTI_OK;
}

/* ---- --limits ---- */

/* "4G", "2.5M", "3600", "none". */
static bool read_amount(const char *text, size_t length, uint64_t *amount)
{
    static const char units[] = "KMGT";
    double value, factor = 1;
    const char *unit = length > 1 ? strchr(units, text[length - 1]) : NULL;
    if (length == 4 && strncmp(text, "none", 4) == 0) {
        *amount = 0;
        return true;
    }
    for (const char *u = units; unit && u <= unit; u++)
        factor *= 1000;
    if (!tt_number_read_double(text, length - (unit != NULL), &value) || !(value * factor >= 1) ||
        !(value * factor < 1e18))
        return false;
    *amount = (uint64_t)(value * factor);
    return true;
}

static enum tutti_err read_limit(struct tt_limits *limits, const char *word, size_t length)
{
    struct {
        const char *name;
        uint64_t *amount;
    } known[] = {{"memory=", &limits->memory},
                 {"cpu=", &limits->cpu},
                 {"file=", &limits->file},
                 {"scratch=", &limits->scratch},
                 {"processes=", &limits->processes}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t n = strlen(known[i].name);
        if (length > n && strncmp(word, known[i].name, n) == 0 && read_amount(word + n, length - n, known[i].amount))
            return TUTTI_OK;
    }
    return tt_fail(TUTTI_ERR_ARGUMENT,
                   "--limits: '%.*s' is no limit; write memory=4G, cpu=3600, file=1G, scratch=4G or processes=64, with "
                   "commas between, 'none' for no limit",
                   (int)(length < 100 ? length : 100), word);
}

enum tutti_err tt_policy_read_limits(struct tt_limits *limits, const char *list)
{
    for (const char *word = list;; word++) {
        size_t length = strcspn(word, ",");
        TRY(read_limit(limits, word, length));
        word += length;
        if (!*word)
            return TUTTI_OK;
    }
}

static void policy_lower_limit(uint64_t *limit, uint64_t other)
{
    if (other > 0 && (*limit == 0 || other < *limit))
        *limit = other;
}

void tt_policy_lower_limits(struct tt_limits *limits, const struct tt_limits *other)
{
    policy_lower_limit(&limits->memory, other->memory);
    policy_lower_limit(&limits->cpu, other->cpu);
    policy_lower_limit(&limits->file, other->file);
    policy_lower_limit(&limits->scratch, other->scratch);
    policy_lower_limit(&limits->processes, other->processes);
}
