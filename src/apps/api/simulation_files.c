/* SPDX-License-Identifier: MIT */
/* Points of a simulation as files: checkpoints (sim/checkpoint/checkpoint.h), as a run writes them. */
#include <stdlib.h>

#include "apps/api/recording.h"
#include "apps/api/simulation.h"
#include "base/fs.h"
#include "sim/checkpoint/checkpoint_writer.h"
#include "run/run_identity.h"
#include "sim/checkpoint/packed_state.h"

struct checkpoint_content {
    struct tt_state_packer packer;
    struct tt_byte_writer identity, common;
    struct tt_byte_writer *units;
    struct tt_bytes *pieces;
};

static enum tutti_err simulation_files_pack(struct tutti_simulation *simulation, struct checkpoint_content *content)
{
    struct tt_execution *execution = &simulation->execution;
    uint32_t count = execution->rank.member_count;
    content->units = calloc((size_t)count + 1, sizeof *content->units);
    content->pieces = calloc((size_t)count + 1, sizeof *content->pieces);
    if (!content->units || !content->pieces)
        return tt_fail_memory();
    TRY(tt_packed_state_check_units(execution));
    TRY(tt_run_identity_check(&simulation->job, &content->identity));
    tt_packed_state_flush_counts(execution);
    TRY(tt_packed_state_pack_common(execution, &content->common));
    bool failed = content->common.failed;
    for (uint32_t i = 0; i < count; i++) {
        TRY(tt_packed_state_pack_unit(&content->packer, execution, i, &content->units[i]));
        content->pieces[i] = tt_bytes_written(&content->units[i]);
        failed = failed || content->units[i].failed;
    }
    return failed ? tt_fail_memory() : TUTTI_OK;
}

static void compose_checkpoint(const struct tutti_simulation *simulation, struct checkpoint_content *content,
                               struct tt_byte_writer *file)
{
    const struct tt_checkpoint checkpoint = {.t = simulation->execution.rank.t,
                                             .identity = tt_bytes_written(&content->identity),
                                             .common = tt_bytes_written(&content->common),
                                             .units = content->pieces,
                                             .unit_count = simulation->execution.rank.member_count};
    tt_checkpoint_encode_and_hash(file, &checkpoint);
}

static void simulation_files_release(struct tutti_simulation *simulation, struct checkpoint_content *content)
{
    tt_packed_state_fini_packer(&content->packer, &simulation->execution);
    for (uint32_t i = 0; content->units && i < simulation->execution.rank.member_count; i++)
        tt_bytes_fini(&content->units[i]);
    free(content->units);
    free(content->pieces);
    tt_bytes_fini(&content->identity);
    tt_bytes_fini(&content->common);
    simulation->job.identity = (struct tt_bytes){0};
}

enum tutti_err tt_simulation_pack(struct tutti_simulation *simulation, struct tt_byte_writer *bytes)
{
    struct checkpoint_content content = {0};
    struct tt_failure failure;
    tt_fail_save(&failure, simulation_files_pack(simulation, &content));
    if (!failure.err)
        compose_checkpoint(simulation, &content, bytes);
    simulation_files_release(simulation, &content);
    if (!failure.err && bytes->failed)
        return tt_fail_memory();
    return tt_fail_restore(&failure);
}

static enum tutti_err write_point_file(struct tutti_simulation *simulation, struct tt_byte_writer *bytes,
                                       const char *path)
{
    TRY(tt_simulation_pack(simulation, bytes));
    char *absolute = tt_fs_absolute(path);
    enum tutti_err err = absolute ? tt_checkpoint_write(absolute, bytes->bytes, bytes->size) : tt_fail_memory();
    free(absolute);
    return err;
}

enum tutti_err tutti_simulation_save_file(struct tutti_simulation *simulation, const char *path)
{
    struct tt_byte_writer bytes = {0};
    TRY(tt_simulation_check(simulation, TUTTI_STAGE_STARTED, "save_file"));
    enum tutti_err err = write_point_file(simulation, &bytes, path);
    tt_bytes_fini(&bytes);
    return err;
}

/* Before anything is touched. */
static enum tutti_err simulation_files_check(struct tutti_simulation *simulation, struct tt_checkpoint *checkpoint)
{
    struct tt_byte_writer identity = {0};
    simulation->job.resume = checkpoint;
    enum tutti_err err = tt_run_identity_check(&simulation->job, &identity);
    simulation->job.resume = NULL;
    simulation->job.identity = (struct tt_bytes){0};
    tt_bytes_fini(&identity);
    return err;
}

static enum tutti_err simulation_files_unpack(struct tutti_simulation *simulation,
                                              const struct tt_checkpoint *checkpoint)
{
    enum tutti_err err = tt_packed_state_unpack(&simulation->execution, checkpoint);
    if (err)
        simulation->stage = TUTTI_STAGE_FAILED;
    return err;
}

/* The checkpoint goes; the error stays. */
static enum tutti_err simulation_files_close_checkpoint(struct tt_checkpoint *checkpoint, enum tutti_err err)
{
    struct tt_failure failure;
    tt_fail_save(&failure, err);
    tt_checkpoint_free(checkpoint);
    return tt_fail_restore(&failure);
}

enum tutti_err tt_simulation_unpack(struct tutti_simulation *simulation, struct tt_bytes bytes)
{
    struct tt_checkpoint *checkpoint;
    TRY(tt_checkpoint_parse(&checkpoint, bytes.data, bytes.size, "the state"));
    return simulation_files_close_checkpoint(checkpoint, simulation_files_unpack(simulation, checkpoint));
}

enum tutti_err tutti_simulation_restore_file(struct tutti_simulation *simulation, const char *path)
{
    struct tt_execution *execution = &simulation->execution;
    struct tt_checkpoint *checkpoint;
    bool kept;
    TRY(tt_simulation_check(simulation, TUTTI_STAGE_STARTED, "restore_file"));
    if (execution->observer.sink.output.format || execution->master.log)
        return tt_fail(TUTTI_ERR_UNSUPPORTED,
                       "tutti_simulation_restore_file: the %s has begun, and would jump; use a watcher",
                       execution->master.log ? "step log" : "result file");
    TRY(tt_checkpoint_read(&checkpoint, path, &kept));
    enum tutti_err err = simulation_files_check(simulation, checkpoint);
    if (!err)
        err = simulation_files_unpack(simulation, checkpoint);
    struct tutti_recording *recording = tt_recording_find(&simulation->job.options);
    if (!err && recording)
        tt_recording_cut_after(recording, execution->rank.t);
    return simulation_files_close_checkpoint(checkpoint, err);
}
