/* SPDX-License-Identifier: MIT */
#include "conduct/identity.h"

#include <string.h>
#include <sys/stat.h>
#include <tutti/tutti.h>

#include "base/str.h"
#include "conduct/content.h"
#include "options/parcel.h"

/* ---- what it is: pairs of a name and bytes ---- */

static enum tutti_err put_file(struct tutti_parcel *parcel, const char *name, const char *path)
{
    struct tutti_content content = {0};
    struct stat status;
    bool is_folder = stat(path, &status) == 0 && S_ISDIR(status.st_mode); /* whose name has to do */
    if (!is_folder)
        TRY(tutti_content_of_file(&content, path));
    tutti_parcel_put_text(parcel, name);
    tutti_parcel_put_block(parcel, content.hash, sizeof content.hash);
    return TUTTI_OK;
}

/* Where units run, and what becomes of results, changes none of them. */
static bool matters(const struct tutti_option *option)
{
    bool of_run = option->group == TUTTI_GROUP_MODEL || option->group == TUTTI_GROUP_TIMES ||
                  option->group == TUTTI_GROUP_ACCURACY || option->group == TUTTI_GROUP_COUPLING;
    bool is_file = strcmp(option->name, "input") == 0 ||
                   strcmp(option->name, "initial-state") == 0; /* by their content */
    return of_run && option->travels && !is_file && strcmp(option->name, "realtime") != 0;
}

static enum tutti_err put_all(const struct tutti_job *job, struct tutti_parcel *parcel)
{
    const struct tutti_system *system = job->system;
    const struct tutti_run_options *options = job->asked;
    tutti_parcel_put_text(parcel, "the version of Tutti");
    tutti_parcel_put_block(parcel, tutti_version(), strlen(tutti_version()));
    for (uint32_t i = 0; i < system->file_count; i++)
        TRY(put_file(parcel, system->files[i].name, system->files[i].path));
    for (size_t i = 0; i < options->input_count; i++)
        TRY(put_file(parcel, options->inputs[i], options->inputs[i]));
    if (options->schedule)
        TRY(put_file(parcel, options->schedule, options->schedule));
    for (uint32_t c = 0; c < job->states.count; c++) {
        const struct tutti_initial_state *state = tutti_states_initial(&job->states, c);
        if (state) {
            tutti_parcel_put_text(parcel, state->path);
            tutti_parcel_put_block(parcel, state->bytes, state->size);
        }
    }
    for (const struct tutti_option *option = tutti_options; option->name; option++) {
        if (!matters(option))
            continue;
        struct tutti_parcel value = {0};
        struct tutti_text name = {0};
        tutti_text_printf(&name, "--%s", option->name);
        tutti_option_pack(options, option, &value);
        tutti_parcel_put_text(parcel, name.failed ? option->name : name.text);
        tutti_parcel_put_block(parcel, value.bytes, value.size);
        parcel->failed = parcel->failed || value.failed;
        tutti_parcel_fini(&value);
        tutti_text_fini(&name);
    }
    return parcel->failed ? tutti_fail_memory() : TUTTI_OK;
}

/* ---- is it the same? ---- */

/* Files may be called otherwise; they come in the same order. */
static enum tutti_err compare(struct tutti_unparcel mine, struct tutti_unparcel theirs)
{
    while (mine.at < mine.end && theirs.at < theirs.end && !theirs.bad) {
        size_t size, other_size;
        const char *name = tutti_unparcel_text(&mine);
        (void)tutti_unparcel_text(&theirs);
        const void *value = tutti_unparcel_block(&mine, &size), *other = tutti_unparcel_block(&theirs, &other_size);
        if (!theirs.bad && size == other_size && (size == 0 || memcmp(value, other, size) == 0))
            continue;
        return tutti_fail(
            TUTTI_ERR_ARGUMENT,
            "--resume: %s is not what it was when the checkpoint was taken; go on with the same files and options, "
            "or begin anew without --resume",
            name);
    }
    return mine.at < mine.end || theirs.at < theirs.end
               ? tutti_fail(TUTTI_ERR_ARGUMENT, "--resume: the checkpoint is one of another system")
               : TUTTI_OK;
}

enum tutti_err tutti_identity_settle(struct tutti_job *job, struct tutti_parcel *memory)
{
    TRY(put_all(job, memory));
    job->identity = tutti_parcel_bytes(memory);
    if (!job->resume)
        return TUTTI_OK;
    return compare(tutti_unparcel_begin(job->identity), tutti_unparcel_begin(job->resume->identity));
}
