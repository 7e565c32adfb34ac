/* SPDX-License-Identifier: MIT */
#include "conduct/confined.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/module.h"
#include "base/nearest.h"
#include "base/str.h"
#include "fmi/forked/forked.h"
#include "master/choose/asked.h"

enum tutti_err tutti_confined_read(const struct tutti_run_options *options, enum tutti_confine *how)
{
    int place;
    TRY(tutti_option_choose("confine", options->confine, &place));
    *how = (enum tutti_confine)place;
    if (*how == TUTTI_CONFINE_NONE && (options->allow_count > 0 || options->limits) && !options->nodes)
        return tutti_fail(TUTTI_ERR_ARGUMENT,
                          "%s has no effect without --confine; leave it out, or add --confine strict",
                          options->allow_count > 0 ? "--allow" : "--limits");
    return TUTTI_OK;
}

/* ---- [UNIT=]LIST ---- */

/* The list; *length characters of `text` are the pattern of units, 0: all of them are meant. */
static const char *split(const char *text, size_t *length)
{
    size_t n = strcspn(text, "=:,");
    *length = text[n] == '=' ? n : 0;
    return text + (*length > 0 ? *length + 1 : 0);
}

static bool fits(const char *text, size_t length, const char *unit)
{
    return length == 0 || tutti_str_glob_n(text, length, unit);
}

static bool is_on(const struct tutti_job *job, uint32_t component, int rank)
{
    return !job->place || job->place[component] == rank;
}

static enum tutti_err fail_unknown(const struct tutti_system *system, const char *text, size_t length)
{
    char *name = strndup(text, length);
    struct tutti_nearest nearest = {.wanted = name};
    for (uint32_t c = 0; c < system->component_count && name; c++)
        tutti_nearest_offer(&nearest, system->components[c].name);
    enum tutti_err err = tutti_fail(TUTTI_ERR_ARGUMENT, "--allow %s: there is no unit '%s'%s", text, name ? name : "",
                                    tutti_nearest_hint(nearest.best).text);
    free(name);
    return err;
}

/* Warns if a unit gets what another one was given. */
static void note_sharing(const struct tutti_job *job, const char *text, size_t length)
{
    const struct tutti_system *system = job->system;
    for (uint32_t c = 0; c < system->component_count; c++) {
        if (!fits(text, length, system->components[c].name))
            continue;
        for (uint32_t other = 0; other < system->component_count; other++)
            if (is_on(job, other, job->place ? job->place[c] : 0) &&
                !fits(text, length, system->components[other].name)) {
                tutti_log_printf(
                    job->options.log, TUTTI_LOG_WARNING, NULL,
                    "--allow %s: unit '%s' shares a process with '%s', and may do the same; --processes and "
                    "--place keep them apart",
                    text, system->components[other].name, system->components[c].name);
                return;
            }
    }
}

static enum tutti_err check_allow(const struct tutti_job *job, const char *text)
{
    const struct tutti_system *system = job->system;
    size_t length;
    bool found = false;
    (void)split(text, &length);
    for (uint32_t c = 0; c < system->component_count; c++)
        found = found || fits(text, length, system->components[c].name);
    if (!found)
        return fail_unknown(system, text, length);
    if (length > 0)
        note_sharing(job, text, length);
    return TUTTI_OK;
}

/* FMUs that say that they need more than they will get. */
static enum tutti_err note_tools(const struct tutti_job *job)
{
    const struct tutti_system *system = job->system;
    for (uint32_t c = 0; c < system->component_count; c++) {
        const struct tutti_component *component = &system->components[c];
        struct tutti_policy policy;
        unsigned flags = 0;
        for (size_t i = 0; i < TUTTI_INTERFACE_COUNT; i++)
            flags |= component->fmu->desc->interfaces[i].flags;
        enum tutti_err err = tutti_confined_policy(&policy, job, job->place ? job->place[c] : 0);
        if (!err && (flags & TUTTI_NEEDS_TOOL) && !policy.exec)
            tutti_log_printf(
                job->options.log, TUTTI_LOG_WARNING, component->fmu->path,
                "the FMU says that it needs another program (needsExecutionTool), which --confine forbids; "
                "--allow %s=exec,net lets it",
                component->name);
        tutti_policy_fini(&policy);
        TRY(err);
    }
    return TUTTI_OK;
}

enum tutti_err tutti_confined_check(const struct tutti_job *job)
{
    for (size_t i = 0; i < job->options.allow_count; i++)
        TRY(check_allow(job, job->options.allows[i]));
    return note_tools(job);
}

enum tutti_err tutti_confined_policy(struct tutti_policy *policy, const struct tutti_job *job, int rank)
{
    const struct tutti_run_options *options = &job->options;
    tutti_policy_init(policy);
    if (options->limits)
        TRY(tutti_limits_read(&policy->limits, options->limits));
    for (size_t i = 0; i < options->allow_count; i++) {
        size_t length;
        const char *list = split(options->allows[i], &length);
        bool is_meant = false;
        for (uint32_t c = 0; c < job->system->component_count && !is_meant; c++)
            is_meant = is_on(job, c, rank) && fits(options->allows[i], length, job->system->components[c].name);
        if (is_meant)
            TRY(tutti_policy_allow(policy, list));
    }
    return TUTTI_OK;
}

enum tutti_err tutti_confined_add_folders(struct tutti_policy *policy, const struct tutti_job *job, int rank)
{
    for (uint32_t c = 0; c < job->system->component_count; c++) {
        const char *folder;
        if (!is_on(job, c, rank))
            continue;
        TRY(tutti_archive_folder(job->system->components[c].fmu->archive, &folder));
        TRY(tutti_policy_add(policy, folder, false, false));
    }
    return TUTTI_OK;
}

/* How a unit is to be taken back: by its own annotation, or as all are. */
static enum tutti_err read_rollback(const struct tutti_job *job, const struct tutti_component *component, int *place)
{
    const char *word = job->options.rollback;
    for (size_t i = 0; i < component->word_count && !job->asked->rollback; i++)
        if (strcmp(component->words[i].name, "rollback") == 0)
            word = component->words[i].value;
    return tutti_option_choose("rollback", word, place);
}

/* Filters know the calls of this platform: a process of another kind would be ended at its first one. */
static enum tutti_err refuse_other_platforms(const struct tutti_job *job)
{
    for (uint32_t c = 0; c < job->system->component_count; c++) {
        const struct tutti_component *component = &job->system->components[c];
        const char *keeper = component->fmu ? tutti_fmu_keeper(component->fmu) : NULL;
        if (keeper)
            return tutti_fail(TUTTI_ERR_UNSUPPORTED,
                              "%s (%s): the FMU's library is for 32 bits and lives in a process of its own (%s), which "
                              "cannot be confined; --confine none runs it",
                              component->name, component->fmu->path, keeper);
    }
    return TUTTI_OK;
}

enum tutti_err tutti_confined_let_units_fork(struct tutti_policy *policy, const struct tutti_job *job)
{
    TRY(refuse_other_platforms(job));
    bool forks = false, goes_back = tutti_master_asks_to_go_back(job);
    for (uint32_t c = 0; c < job->system->component_count; c++) {
        int place;
        TRY(read_rollback(job, &job->system->components[c], &place));
        forks = forks || place == TUTTI_ROLLBACK_FORK || (place == TUTTI_ROLLBACK_AUTO && goes_back);
    }
    char *program = NULL;
    if (!forks)
        return TUTTI_OK;
    if (tutti_module_find_program(&program, TUTTI_FORKED_PROGRAM)) /* units that need it say so */
        return TUTTI_OK;
    enum tutti_err err = tutti_policy_let_units_fork(policy, program, TUTTI_FORKED_FILE);
    free(program);
    return err;
}

void tutti_confined_tell(const struct tutti_log *log, const struct tutti_system *system, int rank,
                         const struct tutti_denial *denial)
{
    bool known = denial->component < system->component_count;
    const char *unit = known ? system->components[denial->component].name : NULL;
    struct tutti_text who = {0}, way = {0};
    if (known)
        tutti_text_printf(&who, "unit '%s'", unit);
    else
        tutti_text_printf(&who, "an FMU of worker %d", rank);
    if (denial->allow[0])
        tutti_text_printf(&way, "; --allow %s%s%s lets it", known && !system->single ? unit : "",
                          known && !system->single ? "=" : "", denial->allow);
    tutti_log_printf(log, TUTTI_LOG_WARNING, NULL, "%s tried to %s, which --confine forbids%s",
                     who.text ? who.text : "an FMU", denial->what, way.text ? way.text : "");
    tutti_text_fini(&who);
    tutti_text_fini(&way);
}

/* ---- workers that are forked ---- */

enum tutti_err tutti_confined_open(struct tutti_confined *confined, const struct tutti_job *job, int ranks)
{
    TRY(tutti_confined_read(&job->options, &confined->how));
    if (confined->how == TUTTI_CONFINE_NONE)
        return TUTTI_OK;
    TRY(tutti_confine_check(confined->how, job->options.log));
    TRY(tutti_confined_check(job));
    confined->ranks = ranks;
    size_t size = (size_t)ranks * sizeof *confined->denials;
    void *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    confined->denials = shared == MAP_FAILED ? NULL : shared;
    confined->told = calloc((size_t)ranks, sizeof *confined->told);
    confined->scratch = calloc((size_t)ranks, sizeof(struct tutti_tempdir *));
    if (!confined->denials || !confined->told || !confined->scratch)
        return tutti_fail_memory();
    for (int r = 0; r < ranks; r++)
        TRY(tutti_tempdir_new(&confined->scratch[r]));
    return TUTTI_OK;
}

void tutti_confined_close(struct tutti_confined *confined)
{
    for (int r = 0; r < confined->ranks && confined->scratch; r++)
        if (confined->scratch[r])
            tutti_tempdir_free(confined->scratch[r]);
    if (confined->denials)
        munmap(confined->denials, (size_t)confined->ranks * sizeof *confined->denials);
    free(confined->told);
    free(confined->scratch);
    *confined = (struct tutti_confined){0};
}

/* What the conductor has open, but for `kept`, is none of the worker's business, nor is what people type. */
static enum tutti_err close_others(int kept)
{
    unsigned first = STDERR_FILENO + 1;
    int none = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (none < 0 || dup2(none, STDIN_FILENO) < 0)
        return tutti_fail(TUTTI_ERR_IO, "a worker cannot be confined: /dev/null: %s", strerror(errno));
    if (kept > STDERR_FILENO) {
        if ((unsigned)kept > first)
            (void)close_range(first, (unsigned)kept - 1, 0);
        first = (unsigned)kept + 1;
    }
    (void)close_range(first, ~0U, 0);
    return TUTTI_OK;
}

/* Memory that the worker shares with others, but for the mapping that `kept` lies in: the denials, and what the program has that the
 * worker was forked from. Whoever reads there is not confined. */
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
            munmap((void *)begin, end - begin); /* NOLINT(performance-no-int-to-ptr): that is how it is told */
    }
    if (maps)
        fclose(maps);
}

enum tutti_err tutti_confined_enter(const struct tutti_confined *confined, const struct tutti_job *job, int rank,
                                    const _Atomic uint32_t *component, int kept, struct tutti_confinement *confinement)
{
    *confinement = (struct tutti_confinement){0};
    if (confined->how == TUTTI_CONFINE_NONE)
        return TUTTI_OK;
    struct tutti_policy *policy = &confinement->policy;
    TRY(tutti_confined_policy(policy, job, rank));
    TRY(tutti_confined_add_folders(policy, job, rank));
    TRY(tutti_confined_let_units_fork(policy, job));
    policy->scratch = tutti_tempdir_path(confined->scratch[rank]);
    TRY(tutti_policy_add(policy, policy->scratch, true, false));
    TRY(close_others(kept));
    TRY(tutti_confine_files(confinement, confined->how, &confined->denials[rank], component, false));
    drop_shared_memory((const void *)component);
    return tutti_confine_calls(confinement);
}

void tutti_confined_listen(struct tutti_confined *confined, const struct tutti_job *job, int rank)
{
    struct tutti_denial denial;
    if (confined->how == TUTTI_CONFINE_NONE || !confined->told)
        return;
    while (tutti_denials_take(&confined->denials[rank], confined->told[rank], &denial)) {
        confined->told[rank]++;
        tutti_confined_tell(job->options.log, job->system, rank, &denial);
    }
}
