/* SPDX-License-Identifier: MIT */
#include "apps/describe/info.h"

#include <string.h>
#include <tutti/tell.h>

#include "model/import/import.h"
#include "apps/describe/describe.h"
#include "unit/unit.h"

/* A table reads best as one. */
/* clang-format off */
const struct tt_info_capability tt_info_capabilities[] = {
    {TUTTI_CAN_VARIABLE_STEP, "variableStep", "steps of any size",
     "steps stay uniform; recorded points and stop must fall on them", 1, 3},
    {TUTTI_CAN_STATE, "state", "state saved and restored", "the FMU cannot go back to an earlier point", 2, 3},
    {TUTTI_CAN_SERIALIZE, "serialize", "state as bytes", NULL, 2, 3},
    {TUTTI_CAN_REJECT_STEPS, "rejectSteps", "steps rejected by the importer", NULL, 1, 1},
    {TUTTI_CAN_DIRECTIONAL, "directionalDerivatives", "directional derivatives", NULL, 2, 3},
    {TUTTI_CAN_INPUT_DERIVATIVES, "inputDerivatives", "inputs that move in a step",
     "inputs are held from one communication point to the next", 1, 2},
    {TUTTI_CAN_INTERMEDIATE, "intermediateUpdate", "inputs that move in a step",
     "inputs are held from one communication point to the next", 3, 3},
    {TUTTI_CAN_EVENT_MODE, "eventMode", "event mode",
     "steps end exactly at jumps of inputs; the FMU deals with events inside its steps", 3, 3},
    {TUTTI_CAN_EARLY_RETURN, "earlyReturn", "early return", NULL, 3, 3},
};
/* clang-format on */
const size_t tt_info_capability_count = sizeof tt_info_capabilities / sizeof *tt_info_capabilities;

const char *tt_info_find_obstacle(const struct tt_fmu *fmu)
{
    if (tt_unit_check_runnable(fmu) == TUTTI_OK)
        return NULL;
    const char *text = tutti_err_message();
    size_t n = strlen(fmu->path);
    return strncmp(text, fmu->path, n) == 0 && strncmp(text + n, ": ", 2) == 0 ? text + n + 2 : text;
}

enum tutti_err tt_info_check_format(const char *file)
{
    return tt_import_is_supported(file)
               ? tt_fail(TUTTI_ERR_ARGUMENT, "info is for FMUs and SSPs; `tutti new OUT.ssp FILE` makes an SSP of a "
                                             "system in another tool's format")
               : TUTTI_OK;
}

bool tt_info_dump(FILE *out, json_t *json, size_t flags)
{
    bool done = json && json_dumpf(json, out, flags | JSON_ENSURE_ASCII) == 0;
    json_decref(json);
    return done;
}

static enum tutti_err write_system_info(FILE *out, const char *file)
{
    struct tt_named_system system;
    enum tutti_err err = tt_info_open_system(&system, file);
    if (!err && !tt_info_write_system(out, &system))
        err = tt_fail_memory();
    tt_info_close_system(&system);
    return err;
}

static enum tutti_err write_fmu_info(FILE *out, const char *file)
{
    struct tt_fmu *fmu;
    TRY(tt_info_check_format(file));
    TRY(tt_fmu_open(&fmu, file, NULL));
    enum tutti_err err = tt_info_write_fmu(out, fmu) ? TUTTI_OK : tt_fail_memory();
    tt_fmu_free(fmu);
    return err;
}

enum tutti_err tutti_tell_info(char **json, const char *file)
{
    struct tt_text_stream told;
    TRY(tt_describe_open_text(&told));
    return tt_describe_close_text(
        &told, tt_info_is_system(file) ? write_system_info(told.out, file) : write_fmu_info(told.out, file), json);
}
