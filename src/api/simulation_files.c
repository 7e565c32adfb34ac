/* SPDX-License-Identifier: MIT */
/* Points of a simulation as files: checkpoints (checkpoint/checkpoint.h), as a run writes them. */
#include <stdlib.h>

#include "api/simulation.h"
#include "base/fs.h"
#include "checkpoint/writer.h"
#include "conduct/identity.h"
#include "master/pack.h"

struct content {
    struct tutti_packer packer;
    struct tutti_parcel identity, common, file;
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

static enum tutti_err write_file(const struct tutti_simulation *simulation, struct content *content, const char *path)
{
    const struct tutti_checkpoint checkpoint = {.t = simulation->execution.rank.t,
                                                .identity = tutti_parcel_bytes(&content->identity),
                                                .common = tutti_parcel_bytes(&content->common),
                                                .units = content->pieces,
                                                .unit_count = simulation->execution.rank.member_count};
    tutti_checkpoint_compose(&content->file, &checkpoint);
    char *absolute = tutti_fs_absolute(path);
    enum tutti_err err = content->file.failed || !absolute
                             ? tutti_fail_memory()
                             : tutti_checkpoint_write(absolute, content->file.bytes, content->file.size);
    free(absolute);
    return err;
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
    tutti_parcel_fini(&content->file);
    simulation->job.identity = (struct tutti_bytes){0};
}

enum tutti_err tutti_simulation_save_file(struct tutti_simulation *simulation, const char *path)
{
    struct content content = {0};
    struct tutti_failure failure;
    TRY(tutti_simulation_check(simulation, TUTTI_STAGE_STARTED, "save_file"));
    enum tutti_err err = pack(simulation, &content);
    tutti_failure_keep(&failure, err ? err : write_file(simulation, &content, path));
    release(simulation, &content);
    return tutti_failure_return(&failure);
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

enum tutti_err tutti_simulation_restore_file(struct tutti_simulation *simulation, const char *path)
{
    struct tutti_execution *execution = &simulation->execution;
    struct tutti_checkpoint *checkpoint;
    struct tutti_failure failure;
    bool kept;
    TRY(tutti_simulation_check(simulation, TUTTI_STAGE_STARTED, "restore_file"));
    if (execution->observer.sink.output.format || execution->master.log)
        return tutti_fail(TUTTI_ERR_UNSUPPORTED,
                          "tutti_simulation_restore_file: the %s has begun, and would jump; use a watcher",
                          execution->master.log ? "step log" : "result file");
    TRY(tutti_checkpoint_read(&checkpoint, path, &kept));
    tutti_failure_keep(&failure, check(simulation, checkpoint));
    if (!failure.err) {
        tutti_failure_keep(&failure, tutti_unpack(execution, checkpoint));
        if (failure.err)
            simulation->stage = TUTTI_STAGE_FAILED;
    }
    tutti_checkpoint_free(checkpoint);
    return tutti_failure_return(&failure);
}
