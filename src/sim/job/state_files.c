/* SPDX-License-Identifier: MIT */
#include "sim/job/state_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/text.h"

/* ---- "UNIT=FILE" ---- */

static enum tutti_err state_fail_no_unit(const struct tt_system *system, const char *option, const char *text)
{
    const char *equals = strchr(text, '=');
    char *name = equals ? strndup(text, (size_t)(equals - text)) : NULL;
    if (!equals)
        return tt_fail(TUTTI_ERR_ARGUMENT, "%s %s: of a system it takes UNIT=FILE", option, text);
    if (!name)
        return tt_fail_memory();
    struct tt_text_nearest nearest = {.wanted = name};
    for (uint32_t c = 0; c < system->component_count; c++)
        tt_text_nearest_offer(&nearest, system->components[c].name);
    enum tutti_err err = tt_fail(TUTTI_ERR_ARGUMENT, "%s %s: there is no unit '%s'%s%s%s", option, text, name,
                                 nearest.best ? "; did you mean '" : "", nearest.best ? nearest.best : "",
                                 nearest.best ? "'?" : "");
    free(name);
    return err;
}

/* A single FMU needs no name. */
static enum tutti_err state_find_unit(const struct tt_system *system, const char *option, const char *text,
                                      uint32_t *component, const char **path)
{
    *component = TUTTI_NONE;
    for (uint32_t c = 0; c < system->component_count; c++) {
        size_t length = strlen(system->components[c].name);
        if (strncmp(text, system->components[c].name, length) == 0 && text[length] == '=') {
            *component = c;
            *path = text + length + 1;
        }
    }
    if (*component == TUTTI_NONE && system->component_count == 1 && system->single) {
        *component = 0;
        *path = text;
    }
    if (*component == TUTTI_NONE)
        return state_fail_no_unit(system, option, text);
    return **path ? TUTTI_OK : tt_fail(TUTTI_ERR_ARGUMENT, "%s %s: the name of a file is missing", option, text);
}

static enum tutti_err state_fail_twice(const struct tt_system *system, const char *option, uint32_t component)
{
    return tt_fail(TUTTI_ERR_ARGUMENT, "%s is given twice for the unit '%s'", option,
                   system->components[component].name);
}

/* ---- beginning ---- */

static enum tutti_err read_state_file(struct tt_initial_state *state, const char *path, const char *real)
{
    if (!real)
        return tt_model_files_fail_foreign(path);
    state->bytes = (unsigned char *)tt_fs_read_whole(real, &state->size);
    if (!state->bytes && errno == ENOMEM)
        return tt_fail_memory();
    if (!state->bytes)
        return tt_fail(TUTTI_ERR_IO, "--initial-state: cannot read '%s': %s", path,
                       errno == EINVAL ? "it is no regular file" : strerror(errno));
    if (state->size == 0)
        return tt_fail(TUTTI_ERR_FORMAT, "--initial-state: '%s' is empty: it holds no state of an FMU", path);
    state->path = path;
    return TUTTI_OK;
}

static enum tutti_err add_final_state(struct tt_state_files *states, const struct tt_system *system, const char *text)
{
    uint32_t component = 0;
    const char *path = NULL;
    TRY(state_find_unit(system, "--final-state", text, &component, &path));
    if (states->final[component])
        return state_fail_twice(system, "--final-state", component);
    for (uint32_t c = 0; c < states->count; c++)
        if (tt_fs_is_same_file(states->final[c], path))
            return tt_fail(TUTTI_ERR_ARGUMENT, "--final-state %s: the file is that of '%s', too; name another", text,
                           system->components[c].name);
    states->final[component] = tt_fs_absolute(path); /* code of an FMU may change the folder of the process */
    return states->final[component] ? TUTTI_OK
                                    : tt_fail(TUTTI_ERR_IO, "'%s': the folder that this program runs in is gone", path);
}

static enum tutti_err state_files_fill(struct tt_state_files *states, const struct tutti_run_options *options,
                                       struct tt_system *system,
                                       const char *(*where)(const struct tutti_run_options *options, const char *name))
{
    states->initial = calloc(system->component_count, sizeof *states->initial);
    states->final = calloc(system->component_count, sizeof *states->final);
    if (!states->initial || !states->final)
        return tt_fail_memory();
    states->count = system->component_count;
    for (size_t i = 0; i < options->initial_state_count; i++) {
        uint32_t component = 0;
        const char *path = NULL;
        TRY(state_find_unit(system, "--initial-state", options->initial_states[i], &component, &path));
        if (states->initial[component].path)
            return state_fail_twice(system, "--initial-state", component);
        TRY(read_state_file(&states->initial[component], path, where(options, path)));
        system->components[component].has_state = true;
    }
    for (size_t i = 0; i < options->final_state_count; i++)
        TRY(add_final_state(states, system, options->final_states[i]));
    return TUTTI_OK;
}

enum tutti_err tt_state_files_open(struct tt_state_files *states, const struct tutti_run_options *options,
                                   struct tt_system *system,
                                   const char *(*where)(const struct tutti_run_options *options, const char *name))
{
    *states = (struct tt_state_files){0};
    if (options->initial_state_count == 0 && options->final_state_count == 0)
        return TUTTI_OK;
    enum tutti_err err = state_files_fill(states, options, system, where);
    if (err)
        tt_state_files_fini(states);
    return err;
}

void tt_state_files_fini(struct tt_state_files *states)
{
    for (uint32_t c = 0; c < states->count; c++) {
        free(states->initial[c].bytes);
        free(states->final[c]);
    }
    free(states->initial);
    free(states->final);
    *states = (struct tt_state_files){0};
}

/* ---- the end ---- */

static enum tutti_err state_check_path(const char *path)
{
    struct stat status;
    char *folder = strdup(path);
    if (!folder)
        return tt_fail_memory();
    *(strrchr(folder, '/') + 1) = '\0'; /* it is absolute */
    bool fits = stat(path, &status) != 0 || S_ISREG(status.st_mode), writes = access(folder, W_OK | X_OK) == 0;
    free(folder);
    if (fits && writes)
        return TUTTI_OK;
    return tt_fail(TUTTI_ERR_IO, "--final-state: '%s' cannot be written: %s", path,
                   fits ? strerror(errno) : "it is no regular file");
}

enum tutti_err tt_state_files_check_writable(const struct tt_state_files *states)
{
    for (uint32_t c = 0; c < states->count; c++)
        if (states->final[c])
            TRY(state_check_path(states->final[c]));
    return TUTTI_OK;
}

enum tutti_err tt_state_files_write(const struct tt_state_files *states, uint32_t component, const void *bytes,
                                    size_t size)
{
    const char *path = states->final[component];
    return tt_fs_replace_result(path, bytes, size)
               ? TUTTI_OK
               : tt_fail(TUTTI_ERR_IO, "--final-state: '%s' cannot be written: %s", path, strerror(errno));
}
