/* SPDX-License-Identifier: MIT */
#include "run/run_identity.h"

#include <string.h>
#include <sys/stat.h>
#include <tutti/tutti.h>

#include "base/text.h"
#include "run/content.h"
#include "base/options/options.h"

/* ---- what it is: pairs of a name and bytes ---- */

static enum tutti_err write_file_identity(struct tt_byte_writer *parcel, const char *name, const char *path)
{
    struct tt_content content = {0};
    struct stat status;
    bool is_folder = stat(path, &status) == 0 && S_ISDIR(status.st_mode); /* whose name must match */
    if (!is_folder)
        TRY(tt_content_of_file(&content, path));
    tt_bytes_put_text(parcel, name);
    tt_bytes_put_block(parcel, content.hash, sizeof content.hash);
    return TUTTI_OK;
}

/* Where units run, and what becomes of results, changes none of them. */
static bool affects_results(const struct tt_option *option)
{
    bool of_run = option->group == TUTTI_GROUP_MODEL || option->group == TUTTI_GROUP_TIMES ||
                  option->group == TUTTI_GROUP_ACCURACY || option->group == TUTTI_GROUP_COUPLING;
    bool is_file = strcmp(option->name, "input") == 0 ||
                   strcmp(option->name, "initial-state") == 0; /* by their content */
    return of_run && option->travels && !is_file && strcmp(option->name, "realtime") != 0;
}

static enum tutti_err run_identity_write(const struct tt_job *job, struct tt_byte_writer *parcel)
{
    const struct tt_system *system = job->system;
    const struct tutti_run_options *options = job->asked;
    tt_bytes_put_text(parcel, "the version of Tutti");
    tt_bytes_put_block(parcel, tutti_version(), strlen(tutti_version()));
    for (uint32_t i = 0; i < system->file_count; i++)
        TRY(write_file_identity(parcel, system->files[i].name, system->files[i].path));
    for (size_t i = 0; i < options->input_count; i++)
        TRY(write_file_identity(parcel, options->inputs[i], options->inputs[i]));
    if (options->schedule)
        TRY(write_file_identity(parcel, options->schedule, options->schedule));
    for (uint32_t c = 0; c < job->states.count; c++) {
        const struct tt_initial_state *state = tt_state_files_initial(&job->states, c);
        if (state) {
            tt_bytes_put_text(parcel, state->path);
            tt_bytes_put_block(parcel, state->bytes, state->size);
        }
    }
    for (const struct tt_option *option = tt_options; option->name; option++) {
        if (!affects_results(option))
            continue;
        struct tt_byte_writer value = {0};
        struct tt_text name = {0};
        tt_text_printf(&name, "--%s", option->name);
        tt_options_pack_one(options, option, &value);
        tt_bytes_put_text(parcel, name.failed ? option->name : name.text);
        tt_bytes_put_block(parcel, value.bytes, value.size);
        parcel->failed = parcel->failed || value.failed;
        tt_bytes_fini(&value);
        tt_text_fini(&name);
    }
    return parcel->failed ? tt_fail_memory() : TUTTI_OK;
}

/* ---- comparison ---- */

/* Files may be called otherwise; they come in the same order. */
static enum tutti_err run_identity_compare(struct tt_byte_reader mine, struct tt_byte_reader theirs)
{
    while (mine.at < mine.end && theirs.at < theirs.end && !theirs.bad) {
        size_t size, other_size;
        const char *name = tt_bytes_get_text(&mine);
        (void)tt_bytes_get_text(&theirs);
        const void *value = tt_bytes_get_block(&mine, &size), *other = tt_bytes_get_block(&theirs, &other_size);
        if (!theirs.bad && size == other_size && (size == 0 || memcmp(value, other, size) == 0))
            continue;
        return tt_fail(
            TUTTI_ERR_ARGUMENT,
            "--resume: %s is not what it was when the checkpoint was taken; go on with the same files and options, "
            "or begin anew without --resume",
            name);
    }
    return mine.at < mine.end || theirs.at < theirs.end
               ? tt_fail(TUTTI_ERR_ARGUMENT, "--resume: the checkpoint is one of another system")
               : TUTTI_OK;
}

enum tutti_err tt_run_identity_check(struct tt_job *job, struct tt_byte_writer *memory)
{
    TRY(run_identity_write(job, memory));
    job->identity = tt_bytes_written(memory);
    if (!job->resume)
        return TUTTI_OK;
    return run_identity_compare(tt_bytes_get_begin(job->identity), tt_bytes_get_begin(job->resume->identity));
}
