/* SPDX-License-Identifier: MIT */
/* Saved states of FMUs: got, set, and as bytes. */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "fmu/fmi_call.h"
#include "fmu/instance_clocks_header.h"
#include "fmu/instance.h"

/* ---- FMI 1.0: steps that are rejected ----
 *
 * FMI 1.0 Co-Simulation section 3.2.1 (canRejectSteps) and fmiDoStep (newStep): a step that is not new is the last one once more, with other
 * inputs or another size. So the only point to go back to is where the last step began, and nothing can be read there. */

static enum tutti_err saved_state_reject(struct tt_instance *in, const struct tt_saved_state *saved)
{
    if (in->steps > saved->steps + 1 || in->steps < saved->steps)
        return tt_fail(TUTTI_ERR_UNSUPPORTED,
                       "%s (%s): the FMU can reject its last step only (canRejectSteps of FMI 1.0), and this method "
                       "goes back to t = %s, %lu steps ago; use --rollback fork",
                       in->options.name, in->library->file, TIME(saved->time), in->steps - saved->steps);
    in->repeats = in->repeats || in->steps == saved->steps + 1;
    in->steps = saved->steps;
    in->state = in->repeats ? TUTTI_STATE_STEP_SET : saved->state;
    in->time = saved->time;
    return TUTTI_OK;
}

/* ---- saved states ---- */

enum tutti_err tt_saved_state_save(struct tt_instance *in, struct tt_saved_state *saved)
{
    TRY(tt_fmi_call_require(in, TUTTI_CAN_STATE, "saved states (canGetAndSetFMUstate)"));
    if (in->options.rejects) {
        if (in->state != TUTTI_STATE_STEP && in->state != TUTTI_STATE_STEP_SET)
            return tt_fmi_call_fail_forbidden(in, TUTTI_CALL_GET_STATE);
        *saved = (struct tt_saved_state){.steps = in->steps, .state = in->state, .time = in->time};
        return TUTTI_OK;
    }
    CALL(in, TUTTI_CALL_GET_STATE, get_state, in, &saved->handle);
    saved->state = in->state;
    saved->time = in->time;
    return TUTTI_OK;
}

enum tutti_err tt_saved_state_restore(struct tt_instance *in, const struct tt_saved_state *saved)
{
    TRY(tt_fmi_call_require(in, TUTTI_CAN_STATE, "saved states (canGetAndSetFMUstate)"));
    if (in->options.rejects)
        return saved_state_reject(in, saved);
    CALL(in, TUTTI_CALL_SET_STATE, set_state, in, saved->handle);
    in->state = saved->state;
    in->time = saved->time;
    if (in->clocks)
        tt_instance_clocks_reset(in);
    return TUTTI_OK;
}

void tt_saved_state_discard(struct tt_instance *in, struct tt_saved_state *saved)
{
    if (saved->handle && tt_fmi_call_may(in, TUTTI_CALL_FREE_STATE)) {
        in->call = TUTTI_CALL_FREE_STATE;
        struct tt_fmi_call_frame frame = tt_fmi_call_enter(in);
        enum tt_fmi_status status = in->binding->free_state(in, &saved->handle);
        tt_fmi_call_leave(frame);
        if (status == TUTTI_STATUS_FATAL) /* other failures with a state that is not needed are not worth a word */
            tt_fmi_call_mark_fatal(in);
    }
    *saved = (struct tt_saved_state){0};
}

/* Ahead of the FMU's own bytes. */
struct saved_header {
    int32_t state;
    int16_t fmi, kind;
    double time;
};

/* The FMU's own bytes, with room for `ahead` bytes in front of them. */
static enum tutti_err saved_state_serialize(struct tt_instance *in, const struct tt_saved_state *saved, size_t ahead,
                                            unsigned char **bytes, size_t *size)
{
    *bytes = NULL;
    TRY(tt_fmi_call_require(in, TUTTI_CAN_SERIALIZE, "serialised states (canSerializeFMUstate)"));
    size_t own = 0;
    CALL(in, TUTTI_CALL_SERIALIZE, serialized_size, in, saved->handle, &own);
    unsigned char *all = own < SIZE_MAX / 2 ? malloc(ahead + own + 1) : NULL;
    if (!all)
        return tt_fail_memory();
    struct tt_fmi_call_frame frame = tt_fmi_call_enter(in);
    enum tt_fmi_status status = in->binding->serialize(in, saved->handle, all + ahead, own);
    tt_fmi_call_leave(frame);
    enum tutti_err err = tt_fmi_call_conclude(in, TUTTI_CALL_SERIALIZE, status);
    if (err) {
        free(all);
        return err;
    }
    *bytes = all;
    *size = ahead + own;
    return TUTTI_OK;
}

enum tutti_err tt_saved_state_serialize(struct tt_instance *in, const struct tt_saved_state *saved,
                                        unsigned char **bytes, size_t *size)
{
    struct saved_header header = {(int32_t)saved->state, (int16_t)in->binding->fmi, (int16_t)in->library->kind,
                                  saved->time};
    TRY(saved_state_serialize(in, saved, sizeof header, bytes, size));
    memcpy(*bytes, &header, sizeof header);
    return TUTTI_OK;
}

enum tutti_err tt_saved_state_deserialize(struct tt_instance *in, const unsigned char *bytes, size_t size,
                                          struct tt_saved_state *saved)
{
    TRY(tt_fmi_call_require(in, TUTTI_CAN_SERIALIZE, "serialised states (canSerializeFMUstate)"));
    struct saved_header header;
    if (size >= sizeof header)
        memcpy(&header, bytes, sizeof header);
    if (size < sizeof header || header.fmi != in->binding->fmi || header.kind != (int16_t)in->library->kind ||
        header.state <= (int32_t)TUTTI_STATE_NONE || header.state >= (int32_t)TUTTI_STATE_ERROR)
        return tt_fail(TUTTI_ERR_FORMAT, "%s: these bytes are no saved state of an FMI %s FMU for %s", in->options.name,
                       in->binding->version, tt_fmi_state_interface_name(in->library->kind));
    CALL(in, TUTTI_CALL_DESERIALIZE, deserialize, in, bytes + sizeof header, size - sizeof header, &saved->handle);
    saved->state = (enum tt_fmi_state)header.state;
    saved->time = header.time;
    return TUTTI_OK;
}

enum tutti_err tt_saved_state_pack(struct tt_instance *in, const struct tt_saved_state *saved,
                                   struct tt_byte_writer *parcel)
{
    unsigned char *bytes;
    size_t size;
    TRY(tt_saved_state_serialize(in, saved, &bytes, &size));
    tt_bytes_put_block(parcel, bytes, size);
    free(bytes);
    return TUTTI_OK;
}

enum tutti_err tt_saved_state_unpack(struct tt_instance *in, struct tt_byte_reader *parcel,
                                     struct tt_saved_state *saved)
{
    size_t size;
    const void *bytes = tt_bytes_get_block(parcel, &size);
    return tt_saved_state_deserialize(in, bytes, size, saved);
}

/* ---- files that other importers write and read, too: nothing but the FMU's bytes ---- */

enum tutti_err tt_saved_state_export(struct tt_instance *in, unsigned char **bytes, size_t *size)
{
    struct tt_saved_state saved = {0};
    struct tt_failure failure;
    *bytes = NULL;
    TRY(tt_saved_state_save(in, &saved));
    tt_fail_save(&failure, saved_state_serialize(in, &saved, 0, bytes, size));
    tt_saved_state_discard(in, &saved);
    return tt_fail_restore(&failure);
}

enum tutti_err tt_saved_state_import(struct tt_instance *in, const unsigned char *bytes, size_t size)
{
    struct tt_saved_state saved = {.state = in->library->kind == TUTTI_ME ? TUTTI_STATE_CONTINUOUS : TUTTI_STATE_STEP,
                                   .time = in->setup.start};
    struct tt_failure failure;
    TRY(tt_fmi_call_require(in, TUTTI_CAN_SERIALIZE, "serialised states (canSerializeFMUstate)"));
    CALL(in, TUTTI_CALL_DESERIALIZE, deserialize, in, bytes, size, &saved.handle);
    tt_fail_save(&failure, tt_saved_state_restore(in, &saved));
    tt_saved_state_discard(in, &saved);
    return tt_fail_restore(&failure);
}
