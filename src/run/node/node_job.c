/* SPDX-License-Identifier: MIT */
#include "run/node/node_job.h"

#include <string.h>

#include "base/text.h"

enum tutti_err tt_node_protocol_write_job(const struct tutti_run_options *options, const struct tt_node_name *names,
                                          uint32_t name_count, const int32_t *place, uint32_t place_count,
                                          struct tt_byte_writer *parcel)
{
    TRY(tt_options_pack(options, parcel));
    tt_bytes_put_u32(parcel, name_count);
    for (uint32_t i = 0; i < name_count; i++) {
        tt_bytes_put_text(parcel, names[i].name);
        tt_bytes_put_u32(parcel, names[i].file);
        tt_bytes_put_u8(parcel, names[i].system);
    }
    tt_bytes_put_u32(parcel, place_count);
    for (uint32_t i = 0; i < place_count; i++)
        tt_bytes_put_u32(parcel, (uint32_t)place[i]);
    return parcel->failed ? tt_fail_memory() : TUTTI_OK;
}

/* A name, and the file's path. */
static bool unpack_file_name(struct tt_file_alias *alias, struct tt_byte_reader *in, const char *folder,
                             struct tt_arena *arena)
{
    struct tt_text path = {0};
    const char *name = tt_bytes_get_text(in);
    uint32_t file = tt_bytes_get_u32(in);
    alias->system = tt_bytes_get_u8(in) != 0;
    in->bad = in->bad || !name;
    if (in->bad)
        return true;
    tt_text_printf(&path, "%s/%u", folder, file);
    alias->name = tt_arena_copy_text(arena, name, strlen(name));
    alias->path = path.failed ? NULL : tt_arena_copy_text(arena, path.text, path.length);
    tt_text_fini(&path);
    return alias->name && alias->path;
}

static bool unpack_file_names(struct tt_node_job *job, struct tt_byte_reader *in, const char *folder)
{
    uint32_t count = tt_bytes_get_u32(in);
    in->bad = in->bad || count > (size_t)(in->end - in->at); /* each takes more than a byte */
    if (in->bad)
        return true;
    struct tt_file_alias *aliases = tt_arena_array(&job->arena, count, sizeof *aliases);
    bool enough = aliases != NULL;
    for (uint32_t i = 0; enough && i < count && !in->bad; i++)
        enough = unpack_file_name(&aliases[i], in, folder, &job->arena);
    job->options.aliases = aliases;
    job->options.alias_count = count;
    return enough;
}

static bool unpack_placement(struct tt_node_job *job, struct tt_byte_reader *in, int ranks)
{
    job->place_count = tt_bytes_get_u32(in);
    in->bad = in->bad || job->place_count > (size_t)(in->end - in->at) / sizeof(uint32_t);
    if (in->bad)
        return true;
    job->place = tt_arena_array(&job->arena, job->place_count, sizeof *job->place);
    for (uint32_t i = 0; job->place && i < job->place_count; i++) {
        job->place[i] = (int32_t)tt_bytes_get_u32(in);
        in->bad = in->bad || job->place[i] < 0 || job->place[i] >= ranks;
    }
    return job->place != NULL;
}

/* What a rank has to say goes to the conductor by its fabric; what is found while files are read, the runner has found. */
static void discard_rank_log(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    (void)context, (void)level, (void)origin, (void)text;
}

static void no_progress(void *context, const struct tutti_progress *progress)
{
    (void)context, (void)progress;
}

enum tutti_err tt_node_protocol_read_job(struct tt_node_job *job, const void *bytes, size_t size, const char *folder,
                                         int ranks)
{
    struct tt_byte_reader in = {.at = bytes, .end = (const char *)bytes + size};
    struct tt_options_extras extras;
    *job = (struct tt_node_job){0};
    TRY(tt_options_unpack(&job->options, &extras, &in, &job->arena));
    if (!unpack_file_names(job, &in, folder) || !unpack_placement(job, &in, ranks))
        return tt_fail_memory();
    if (in.bad || in.at != in.end)
        return tt_fail(TUTTI_ERR_FORMAT, "the job of the run is damaged");
    if (extras.log_level >= 0) {
        job->log = (struct tutti_log){.level = (enum tutti_log_level)extras.log_level, .write = discard_rank_log};
        job->options.log = &job->log;
    }
    tt_text_set_dashes(extras.has_dashes);
    job->options.progress = extras.has_progress ? no_progress : NULL;
    job->options.within = tt_arena_copy_text(&job->arena, folder, strlen(folder));
    if (!job->options.within)
        return tt_fail_memory();
    return TUTTI_OK;
}

void tt_node_protocol_free_job(struct tt_node_job *job)
{
    tt_arena_fini(&job->arena);
}
