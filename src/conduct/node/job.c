/* SPDX-License-Identifier: MIT */
#include "conduct/node/job.h"

#include <string.h>

#include "base/str.h"

enum tutti_err tutti_node_job_pack(const struct tutti_run_options *options, const struct tutti_node_name *names,
                                   uint32_t name_count, const int32_t *place, uint32_t place_count,
                                   struct tutti_parcel *parcel)
{
    TRY(tutti_options_pack(options, parcel));
    tutti_parcel_put_u32(parcel, name_count);
    for (uint32_t i = 0; i < name_count; i++) {
        tutti_parcel_put_text(parcel, names[i].name);
        tutti_parcel_put_u32(parcel, names[i].file);
        tutti_parcel_put_u8(parcel, names[i].system);
    }
    tutti_parcel_put_u32(parcel, place_count);
    for (uint32_t i = 0; i < place_count; i++)
        tutti_parcel_put_u32(parcel, (uint32_t)place[i]);
    return parcel->failed ? tutti_fail_memory() : TUTTI_OK;
}

/* A name, and the file's path. */
static bool unpack_name(struct tutti_file_alias *alias, struct tutti_unparcel *in, const char *folder,
                        struct tutti_arena *arena)
{
    struct tutti_text path = {0};
    const char *name = tutti_unparcel_text(in);
    uint32_t file = tutti_unparcel_u32(in);
    alias->system = tutti_unparcel_u8(in) != 0;
    in->bad = in->bad || !name;
    if (in->bad)
        return true;
    tutti_text_printf(&path, "%s/%u", folder, file);
    alias->name = tutti_arena_text(arena, name, strlen(name));
    alias->path = path.failed ? NULL : tutti_arena_text(arena, path.text, path.length);
    tutti_text_fini(&path);
    return alias->name && alias->path;
}

static bool unpack_names(struct tutti_node_job *job, struct tutti_unparcel *in, const char *folder)
{
    uint32_t count = tutti_unparcel_u32(in);
    in->bad = in->bad || count > (size_t)(in->end - in->at); /* each takes more than a byte */
    if (in->bad)
        return true;
    struct tutti_file_alias *aliases = tutti_arena_array(&job->arena, count, sizeof *aliases);
    bool enough = aliases != NULL;
    for (uint32_t i = 0; enough && i < count && !in->bad; i++)
        enough = unpack_name(&aliases[i], in, folder, &job->arena);
    job->options.aliases = aliases;
    job->options.alias_count = count;
    return enough;
}

static bool unpack_place(struct tutti_node_job *job, struct tutti_unparcel *in, int ranks)
{
    job->place_count = tutti_unparcel_u32(in);
    in->bad = in->bad || job->place_count > (size_t)(in->end - in->at) / sizeof(uint32_t);
    if (in->bad)
        return true;
    job->place = tutti_arena_array(&job->arena, job->place_count, sizeof *job->place);
    for (uint32_t i = 0; job->place && i < job->place_count; i++) {
        job->place[i] = (int32_t)tutti_unparcel_u32(in);
        in->bad = in->bad || job->place[i] < 0 || job->place[i] >= ranks;
    }
    return job->place != NULL;
}

/* What a rank has to say goes to the conductor by its fabric; what is found while files are read, the runner has found. */
static void swallow(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    (void)context, (void)level, (void)origin, (void)text;
}

static void no_progress(void *context, const struct tutti_progress *progress)
{
    (void)context, (void)progress;
}

enum tutti_err tutti_node_job_unpack(struct tutti_node_job *job, const void *bytes, size_t size, const char *folder,
                                     int ranks)
{
    struct tutti_unparcel in = {.at = bytes, .end = (const char *)bytes + size};
    struct tutti_options_extras extras;
    *job = (struct tutti_node_job){0};
    TRY(tutti_options_unpack(&job->options, &extras, &in, &job->arena));
    if (!unpack_names(job, &in, folder) || !unpack_place(job, &in, ranks))
        return tutti_fail_memory();
    if (in.bad || in.at != in.end)
        return tutti_fail(TUTTI_ERR_FORMAT, "the job of the run is damaged");
    if (extras.log_level >= 0) {
        job->log = (struct tutti_log){.level = (enum tutti_log_level)extras.log_level, .write = swallow};
        job->options.log = &job->log;
    }
    tutti_spelling_set_dashes(extras.has_dashes);
    job->options.progress = extras.has_progress ? no_progress : NULL;
    job->options.within = tutti_arena_text(&job->arena, folder, strlen(folder));
    if (!job->options.within)
        return tutti_fail_memory();
    return TUTTI_OK;
}

void tutti_node_job_fini(struct tutti_node_job *job)
{
    tutti_arena_fini(&job->arena);
}
