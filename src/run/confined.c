/* SPDX-License-Identifier: MIT */
#include "run/confined.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/module.h"
#include "base/text.h"
#include "fmu/process/forked.h"
#include "sim/choose.h"

enum tutti_err tt_confined_read(const struct tutti_run_options *options, enum tt_confine *how)
{
    int place;
    TRY(tt_options_choose("confine", options->confine, &place));
    *how = (enum tt_confine)place;
    if (*how == TUTTI_CONFINE_NONE && (options->allow_count > 0 || options->limits) && !options->nodes)
        return tt_fail(TUTTI_ERR_ARGUMENT, "%s has no effect without --confine; leave it out, or add --confine strict",
                       options->allow_count > 0 ? "--allow" : "--limits");
    return TUTTI_OK;
}

/* ---- [UNIT=]LIST ---- */

/* The list; *length characters of `text` are the pattern of units, 0: all of them are meant. */
static const char *confined_split_list(const char *text, size_t *length)
{
    size_t n = strcspn(text, "=:,");
    *length = text[n] == '=' ? n : 0;
    return text + (*length > 0 ? *length + 1 : 0);
}

static bool confined_match(const char *text, size_t length, const char *unit)
{
    return length == 0 || tt_text_glob_n(text, length, unit);
}

static bool confined_is_on_rank(const struct tt_job *job, uint32_t component, int rank)
{
    return !job->place || job->place[component] == rank;
}

static enum tutti_err confined_fail_unknown(const struct tt_system *system, const char *text, size_t length)
{
    char *name = strndup(text, length);
    struct tt_text_nearest nearest = {.wanted = name};
    for (uint32_t c = 0; c < system->component_count && name; c++)
        tt_text_nearest_offer(&nearest, system->components[c].name);
    enum tutti_err err = tt_fail(TUTTI_ERR_ARGUMENT, "--allow %s: there is no unit '%s'%s", text, name ? name : "",
                                 tt_text_suggest(nearest.best).text);
    free(name);
    return err;
}

/* Warns if a unit gets what another one was given. */
static void warn_of_sharing(const struct tt_job *job, const char *text, size_t length)
{
    const struct tt_system *system = job->system;
    for (uint32_t c = 0; c < system->component_count; c++) {
        if (!confined_match(text, length, system->components[c].name))
            continue;
        for (uint32_t other = 0; other < system->component_count; other++)
            if (confined_is_on_rank(job, other, job->place ? job->place[c] : 0) &&
                !confined_match(text, length, system->components[other].name)) {
                tt_log(job->options.log, TUTTI_LOG_WARNING, NULL,
                       "--allow %s: unit '%s' shares a process with '%s', and may do the same; --processes and "
                       "--place keep them apart",
                       text, system->components[other].name, system->components[c].name);
                return;
            }
    }
}

static enum tutti_err check_allow(const struct tt_job *job, const char *text)
{
    const struct tt_system *system = job->system;
    size_t length;
    bool found = false;
    (void)confined_split_list(text, &length);
    for (uint32_t c = 0; c < system->component_count; c++)
        found = found || confined_match(text, length, system->components[c].name);
    if (!found)
        return confined_fail_unknown(system, text, length);
    if (length > 0)
        warn_of_sharing(job, text, length);
    return TUTTI_OK;
}

/* FMUs that say that they need more than they will get. */
static enum tutti_err warn_of_tools(const struct tt_job *job)
{
    const struct tt_system *system = job->system;
    for (uint32_t c = 0; c < system->component_count; c++) {
        const struct tt_component *component = &system->components[c];
        struct tt_policy policy;
        unsigned flags = 0;
        for (size_t i = 0; i < TUTTI_INTERFACE_COUNT; i++)
            flags |= component->fmu->desc->interfaces[i].flags;
        enum tutti_err err = tt_confined_policy(&policy, job, job->place ? job->place[c] : 0);
        if (!err && (flags & TUTTI_NEEDS_TOOL) && !policy.exec)
            tt_log(job->options.log, TUTTI_LOG_WARNING, component->fmu->path,
                   "the FMU says that it needs another program (needsExecutionTool), which --confine forbids; "
                   "--allow %s=exec,net lets it",
                   component->name);
        tt_policy_fini(&policy);
        TRY(err);
    }
    return TUTTI_OK;
}

enum tutti_err tt_confined_check(const struct tt_job *job)
{
    for (size_t i = 0; i < job->options.allow_count; i++)
        TRY(check_allow(job, job->options.allows[i]));
    return warn_of_tools(job);
}

enum tutti_err tt_confined_policy(struct tt_policy *policy, const struct tt_job *job, int rank)
{
    const struct tutti_run_options *options = &job->options;
    tt_policy_init(policy);
    if (options->limits)
        TRY(tt_policy_read_limits(&policy->limits, options->limits));
    for (size_t i = 0; i < options->allow_count; i++) {
        size_t length;
        const char *list = confined_split_list(options->allows[i], &length);
        bool is_meant = false;
        for (uint32_t c = 0; c < job->system->component_count && !is_meant; c++)
            is_meant = confined_is_on_rank(job, c, rank) &&
                       confined_match(options->allows[i], length, job->system->components[c].name);
        if (is_meant)
            TRY(tt_policy_allow(policy, list));
    }
    return TUTTI_OK;
}

enum tutti_err tt_confined_add_folders(struct tt_policy *policy, const struct tt_job *job, int rank)
{
    for (uint32_t c = 0; c < job->system->component_count; c++) {
        const char *folder;
        if (!confined_is_on_rank(job, c, rank))
            continue;
        TRY(tt_archive_unpack(job->system->components[c].fmu->archive, &folder));
        TRY(tt_policy_add(policy, folder, false, false));
    }
    return TUTTI_OK;
}

/* Filters know the calls of this platform: a process of another kind would be ended at its first one. */
static enum tutti_err check_platforms(const struct tt_job *job)
{
    for (uint32_t c = 0; c < job->system->component_count; c++) {
        const struct tt_component *component = &job->system->components[c];
        const char *keeper = component->fmu ? tt_fmu_fork_server(component->fmu) : NULL;
        if (keeper)
            return tt_fail(TUTTI_ERR_UNSUPPORTED,
                           "%s (%s): the FMU's library is for 32 bits and lives in a process of its own (%s), which "
                           "cannot be confined; --confine none runs it",
                           component->name, component->fmu->path, keeper);
    }
    return TUTTI_OK;
}

enum tutti_err tt_confined_allow_forks(struct tt_policy *policy, const struct tt_job *job)
{
    TRY(check_platforms(job));
    struct tt_arena arena = {0};
    struct tt_traits described;
    struct tt_method expected = {0};
    enum tutti_err err = tt_traits_describe(&described, job, &arena);
    if (!err)
        tt_choose_method(&job->options, &described, &expected);
    tt_arena_fini(&arena);
    TRY(err);
    bool forks = false;
    for (uint32_t c = 0; c < job->system->component_count; c++) {
        const struct tt_component *component = &job->system->components[c];
        const char *word = job->options.rollback; /* unless the component has an annotation */
        for (size_t i = 0; i < component->word_count && !job->asked->rollback; i++)
            if (strcmp(component->words[i].name, "rollback") == 0)
                word = component->words[i].value;
        int place;
        TRY(tt_options_choose("rollback", word, &place));
        forks = forks || place == TUTTI_ROLLBACK_FORK ||
                (place == TUTTI_ROLLBACK_AUTO && (expected.is & TUTTI_METHOD_FORKS));
    }
    char *program = NULL;
    if (!forks)
        return TUTTI_OK;
    if (tt_module_find_program(&program, TUTTI_FORKED_PROGRAM)) /* units that need it say so */
        return TUTTI_OK;
    err = tt_policy_allow_unit_forks(policy, program, TUTTI_FORKED_FILE);
    free(program);
    return err;
}

void tt_confined_log_denial(const struct tutti_log *log, const struct tt_system *system, int rank,
                            const struct tt_denial *denial)
{
    bool known = denial->component < system->component_count;
    const char *unit = known ? system->components[denial->component].name : NULL;
    struct tt_text who = {0}, way = {0};
    if (known)
        tt_text_printf(&who, "unit '%s'", unit);
    else
        tt_text_printf(&who, "an FMU of worker %d", rank);
    if (denial->allow[0])
        tt_text_printf(&way, "; --allow %s%s%s lets it", known && !system->single ? unit : "",
                       known && !system->single ? "=" : "", denial->allow);
    tt_log(log, TUTTI_LOG_WARNING, NULL, "%s tried to %s, which --confine forbids%s", who.text ? who.text : "an FMU",
           denial->what, way.text ? way.text : "");
    tt_text_fini(&who);
    tt_text_fini(&way);
}

/* ---- workers that are forked ---- */

enum tutti_err tt_confined_open(struct tt_confined *confined, const struct tt_job *job, int ranks)
{
    TRY(tt_confined_read(&job->options, &confined->how));
    if (confined->how == TUTTI_CONFINE_NONE)
        return TUTTI_OK;
    TRY(tt_sandbox_check(confined->how, job->options.log));
    TRY(tt_confined_check(job));
    confined->ranks = ranks;
    size_t size = (size_t)ranks * sizeof *confined->denials;
    void *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    confined->denials = shared == MAP_FAILED ? NULL : shared;
    confined->told = calloc((size_t)ranks, sizeof *confined->told);
    confined->scratch = calloc((size_t)ranks, sizeof(struct tt_tempdir *));
    if (!confined->denials || !confined->told || !confined->scratch)
        return tt_fail_memory();
    for (int r = 0; r < ranks; r++)
        TRY(tt_tempdir_new(&confined->scratch[r]));
    return TUTTI_OK;
}

void tt_confined_close(struct tt_confined *confined)
{
    for (int r = 0; r < confined->ranks && confined->scratch; r++)
        if (confined->scratch[r])
            tt_tempdir_free(confined->scratch[r]);
    if (confined->denials)
        munmap(confined->denials, (size_t)confined->ranks * sizeof *confined->denials);
    free(confined->told);
    free(confined->scratch);
    *confined = (struct tt_confined){0};
}

/* The worker must not use the conductor's descriptors, except `kept`, nor its terminal input. */
static enum tutti_err close_other_files(int kept)
{
    unsigned first = STDERR_FILENO + 1;
    int none = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (none < 0 || dup2(none, STDIN_FILENO) < 0)
        return tt_fail(TUTTI_ERR_IO, "a worker cannot be confined: /dev/null: %s", strerror(errno));
    if (kept > STDERR_FILENO) {
        if ((unsigned)kept > first)
            (void)close_range(first, (unsigned)kept - 1, 0);
        first = (unsigned)kept + 1;
    }
    (void)close_range(first, ~0U, 0);
    return TUTTI_OK;
}

/* Unmaps memory shared with other processes, except the mapping of `kept`: the denials, and the memory of the program
 * from which the worker was forked, whose readers are not confined. */
static void drop_shared_memory(const void *kept)
{
    char line[512], mode[8];
    uintptr_t begin, end;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && fgets(line, sizeof line, maps)) {
        char *at = line;
        begin = (uintptr_t)strtoull(at, &at, 16);
        end = *at == '-' ? (uintptr_t)strtoull(at + 1, &at, 16) : begin;
        snprintf(mode, sizeof mode, "%.5s", at); /* " rw-s" */
        bool is_kept = (uintptr_t)kept >= begin && (uintptr_t)kept < end;
        if (strcmp(mode, " rw-s") == 0 && !is_kept)
            /* NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel lists mappings as numbers */
            munmap((void *)begin, end - begin);
    }
    if (maps)
        fclose(maps);
}

enum tutti_err tt_confined_enter(const struct tt_confined *confined, const struct tt_job *job, int rank,
                                 const _Atomic uint32_t *component, int kept, struct tt_sandbox *confinement)
{
    *confinement = (struct tt_sandbox){0};
    if (confined->how == TUTTI_CONFINE_NONE)
        return TUTTI_OK;
    struct tt_policy *policy = &confinement->policy;
    TRY(tt_confined_policy(policy, job, rank));
    TRY(tt_confined_add_folders(policy, job, rank));
    TRY(tt_confined_allow_forks(policy, job));
    policy->scratch = tt_tempdir_path(confined->scratch[rank]);
    TRY(tt_policy_add(policy, policy->scratch, true, false));
    TRY(close_other_files(kept));
    TRY(tt_sandbox_restrict_files(confinement, confined->how, &confined->denials[rank], component, false));
    drop_shared_memory((const void *)component);
    return tt_sandbox_restrict_calls(confinement);
}

void tt_confined_log_new_denials(struct tt_confined *confined, const struct tt_job *job, int rank)
{
    struct tt_denial denial;
    if (confined->how == TUTTI_CONFINE_NONE || !confined->told)
        return;
    while (tt_supervisor_read_denial(&confined->denials[rank], confined->told[rank], &denial)) {
        confined->told[rank]++;
        tt_confined_log_denial(job->options.log, job->system, rank, &denial);
    }
}
