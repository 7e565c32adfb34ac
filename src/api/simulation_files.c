/* SPDX-License-Identifier: MIT */
/* Points of a simulation as files: checkpoints (checkpoint/checkpoint.h), as a run writes them. */
#include <stdlib.h>

#include "api/recording.h"
#include "api/simulation.h"
#include "base/fs.h"
#include "checkpoint/writer.h"
#include "conduct/identity.h"
#include "master/pack.h"

struct content {
    struct tutti_packer packer;
    struct tutti_parcel identity, common;
    struct tutti_parcel *units;
    struct tutti_bytes *pieces;
};

static enum tutti_err pack(struct tutti_simulation *simulation, struct content *content)
{
    struct tutti_execution *execution = &simulation->execution;
    uint32_t count = execution->rank.member_count;
    content->units = calloc((size_t)count + 1, sizeof *content->units);
    content->pieces = calloc((size_t)count + 1, sizeof *content->pieces);
    if (!content->units || !content->pieces)
        return tutti_fail_memory();
    TRY(tutti_pack_check(execution));
    TRY(tutti_identity_settle(&simulation->job, &content->identity));
    tutti_pack_begin(execution);
    TRY(tutti_pack_common(execution, &content->common));
    bool failed = content->common.failed;
    for (uint32_t i = 0; i < count; i++) {
        TRY(tutti_pack_unit(&content->packer, execution, i, &content->units[i]));
        content->pieces[i] = tutti_parcel_bytes(&content->units[i]);
        failed = failed || content->units[i].failed;
    }
    return failed ? tutti_fail_memory() : TUTTI_OK;
}

static void compose(const struct tutti_simulation *simulation, struct content *content, struct tutti_parcel *file)
{
    const struct tutti_checkpoint checkpoint = {.t = simulation->execution.rank.t,
                                                .identity = tutti_parcel_bytes(&content->identity),
                                                .common = tutti_parcel_bytes(&content->common),
                                                .units = content->pieces,
                                                .unit_count = simulation->execution.rank.member_count};
    tutti_checkpoint_compose(file, &checkpoint);
}

static void release(struct tutti_simulation *simulation, struct content *content)
{
    tutti_packer_fini(&content->packer, &simulation->execution);
    for (uint32_t i = 0; content->units && i < simulation->execution.rank.member_count; i++)
        tutti_parcel_fini(&content->units[i]);
    free(content->units);
    free(content->pieces);
    tutti_parcel_fini(&content->identity);
    tutti_parcel_fini(&content->common);
    simulation->job.identity = (struct tutti_bytes){0};
}

enum tutti_err tutti_simulation_pack(struct tutti_simulation *simulation, struct tutti_parcel *bytes)
{
    struct content content = {0};
    struct tutti_failure failure;
    tutti_failure_keep(&failure, pack(simulation, &content));
    if (!failure.err)
        compose(simulation, &content, bytes);
    release(simulation, &content);
    if (!failure.err && bytes->failed)
        return tutti_fail_memory();
    return tutti_failure_return(&failure);
}

static enum tutti_err write_file(struct tutti_simulation *simulation, struct tutti_parcel *bytes, const char *path)
{
    TRY(tutti_simulation_pack(simulation, bytes));
    char *absolute = tutti_fs_absolute(path);
    enum tutti_err err = absolute ? tutti_checkpoint_write(absolute, bytes->bytes, bytes->size) : tutti_fail_memory();
    free(absolute);
    return err;
}

enum tutti_err tutti_simulation_save_file(struct tutti_simulation *simulation, const char *path)
{
    struct tutti_parcel bytes = {0};
    TRY(tutti_simulation_check(simulation, TUTTI_STAGE_STARTED, "save_file"));
    enum tutti_err err = write_file(simulation, &bytes, path);
    tutti_parcel_fini(&bytes);
    return err;
}

/* Before anything is touched. */
static enum tutti_err check(struct tutti_simulation *simulation, struct tutti_checkpoint *checkpoint)
{
    struct tutti_parcel identity = {0};
    simulation->job.resume = checkpoint;
    enum tutti_err err = tutti_identity_settle(&simulation->job, &identity);
    simulation->job.resume = NULL;
    simulation->job.identity = (struct tutti_bytes){0};
    tutti_parcel_fini(&identity);
    return err;
}

static enum tutti_err unpack(struct tutti_simulation *simulation, const struct tutti_checkpoint *checkpoint)
{
    enum tutti_err err = tutti_unpack(&simulation->execution, checkpoint);
    if (err)
        simulation->stage = TUTTI_STAGE_FAILED;
    return err;
}

/* The checkpoint goes; the error stays. */
static enum tutti_err conclude(struct tutti_checkpoint *checkpoint, enum tutti_err err)
{
    struct tutti_failure failure;
    tutti_failure_keep(&failure, err);
    tutti_checkpoint_free(checkpoint);
    return tutti_failure_return(&failure);
}

enum tutti_err tutti_simulation_unpack(struct tutti_simulation *simulation, struct tutti_bytes bytes)
{
    struct tutti_checkpoint *checkpoint;
    TRY(tutti_checkpoint_parse(&checkpoint, bytes.data, bytes.size, "the state"));
    return conclude(checkpoint, unpack(simulation, checkpoint));
}

enum tutti_err tutti_simulation_restore_file(struct tutti_simulation *simulation, const char *path)
{
    struct tutti_execution *execution = &simulation->execution;
    struct tutti_checkpoint *checkpoint;
    bool kept;
    TRY(tutti_simulation_check(simulation, TUTTI_STAGE_STARTED, "restore_file"));
    if (execution->observer.sink.output.format || execution->master.log)
        return tutti_fail(TUTTI_ERR_UNSUPPORTED,
                          "tutti_simulation_restore_file: the %s has begun, and would jump; use a watcher",
                          execution->master.log ? "step log" : "result file");
    TRY(tutti_checkpoint_read(&checkpoint, path, &kept));
    enum tutti_err err = check(simulation, checkpoint);
    if (!err)
        err = unpack(simulation, checkpoint);
    struct tutti_recording *recording = tutti_recording_of(&simulation->job.options);
    if (!err && recording)
        tutti_recording_cut_after(recording, execution->rank.t);
    return conclude(checkpoint, err);
}
