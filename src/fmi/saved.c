/* SPDX-License-Identifier: MIT */
/* Saved states of FMUs: got, set, and as bytes. */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "fmi/call.h"
#include "fmi/clocks.h"
#include "fmi/instance.h"

/* ---- FMI 1.0: steps that are rejected ----
 *
 * FMI 1.0 Co-Simulation section 3.2.1 (canRejectSteps) and fmiDoStep (newStep): a step that is not new is the last one once more, with other
 * inputs or another size. So the only point to go back to is where the last step began, and nothing can be read there. */

static enum tutti_err mark(struct tutti_instance *in, struct tutti_saved *saved)
{
    bool between = in->state == TUTTI_STATE_STEP || in->state == TUTTI_STATE_STEP_SET;
    if (!between)
        return tutti_call_forbidden(in, TUTTI_CALL_GET_STATE);
    *saved = (struct tutti_saved){.steps = in->steps, .state = in->state, .time = in->time};
    return TUTTI_OK;
}

static enum tutti_err reject(struct tutti_instance *in, const struct tutti_saved *saved)
{
    if (in->steps > saved->steps + 1 || in->steps < saved->steps)
        return tutti_fail(TUTTI_ERR_UNSUPPORTED,
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

enum tutti_err tutti_instance_save(struct tutti_instance *in, struct tutti_saved *saved)
{
    TRY(tutti_call_need(in, TUTTI_CAN_STATE, "saved states (canGetAndSetFMUstate)"));
    if (in->options.rejects)
        return mark(in, saved);
    CALL(in, TUTTI_CALL_GET_STATE, get_state, in, &saved->handle);
    saved->state = in->state;
    saved->time = in->time;
    return TUTTI_OK;
}

enum tutti_err tutti_instance_restore(struct tutti_instance *in, const struct tutti_saved *saved)
{
    TRY(tutti_call_need(in, TUTTI_CAN_STATE, "saved states (canGetAndSetFMUstate)"));
    if (in->options.rejects)
        return reject(in, saved);
    CALL(in, TUTTI_CALL_SET_STATE, set_state, in, saved->handle);
    in->state = saved->state;
    in->time = saved->time;
    tutti_instance_clocks_rest(in);
    return TUTTI_OK;
}

void tutti_instance_discard_saved(struct tutti_instance *in, struct tutti_saved *saved)
{
    if (saved->handle && tutti_call_may(in, TUTTI_CALL_FREE_STATE)) {
        in->call = TUTTI_CALL_FREE_STATE;
        struct tutti_frame frame = tutti_call_enter(in);
        enum tutti_status status = in->binding->free_state(in, &saved->handle);
        tutti_call_leave(frame);
        if (status == TUTTI_STATUS_FATAL) /* other failures with a state that is not needed are not worth a word */
            tutti_call_bury(in);
    }
    *saved = (struct tutti_saved){0};
}

/* Ahead of the FMU's own bytes. */
struct saved_header {
    int32_t state;
    int16_t fmi, kind;
    double time;
};

/* The FMU's own bytes, with room for `ahead` bytes in front of them. */
static enum tutti_err serialize(struct tutti_instance *in, const struct tutti_saved *saved, size_t ahead,
                                unsigned char **bytes, size_t *size)
{
    *bytes = NULL;
    TRY(tutti_call_need(in, TUTTI_CAN_SERIALIZE, "serialised states (canSerializeFMUstate)"));
    size_t own = 0;
    CALL(in, TUTTI_CALL_SERIALIZE, serialized_size, in, saved->handle, &own);
    unsigned char *all = own < SIZE_MAX / 2 ? malloc(ahead + own + 1) : NULL;
    if (!all)
        return tutti_fail_memory();
    struct tutti_frame frame = tutti_call_enter(in);
    enum tutti_status status = in->binding->serialize(in, saved->handle, all + ahead, own);
    tutti_call_leave(frame);
    enum tutti_err err = tutti_call_conclude(in, TUTTI_CALL_SERIALIZE, status);
    if (err) {
        free(all);
        return err;
    }
    *bytes = all;
    *size = ahead + own;
    return TUTTI_OK;
}

enum tutti_err tutti_instance_serialize(struct tutti_instance *in, const struct tutti_saved *saved,
                                        unsigned char **bytes, size_t *size)
{
    struct saved_header header = {(int32_t)saved->state, (int16_t)in->binding->fmi, (int16_t)in->library->kind,
                                  saved->time};
    TRY(serialize(in, saved, sizeof header, bytes, size));
    memcpy(*bytes, &header, sizeof header);
    return TUTTI_OK;
}

enum tutti_err tutti_instance_deserialize(struct tutti_instance *in, const unsigned char *bytes, size_t size,
                                          struct tutti_saved *saved)
{
    TRY(tutti_call_need(in, TUTTI_CAN_SERIALIZE, "serialised states (canSerializeFMUstate)"));
    struct saved_header header;
    if (size >= sizeof header)
        memcpy(&header, bytes, sizeof header);
    if (size < sizeof header || header.fmi != in->binding->fmi || header.kind != (int16_t)in->library->kind ||
        header.state <= (int32_t)TUTTI_STATE_NONE || header.state >= (int32_t)TUTTI_STATE_ERROR)
        return tutti_fail(TUTTI_ERR_FORMAT, "%s: these bytes are no saved state of an FMI %s FMU for %s",
                          in->options.name, in->binding->version, tutti_interface_name(in->library->kind));
    CALL(in, TUTTI_CALL_DESERIALIZE, deserialize, in, bytes + sizeof header, size - sizeof header, &saved->handle);
    saved->state = (enum tutti_state)header.state;
    saved->time = header.time;
    return TUTTI_OK;
}

enum tutti_err tutti_instance_pack(struct tutti_instance *in, const struct tutti_saved *saved,
                                   struct tutti_parcel *parcel)
{
    unsigned char *bytes;
    size_t size;
    TRY(tutti_instance_serialize(in, saved, &bytes, &size));
    tutti_parcel_put_block(parcel, bytes, size);
    free(bytes);
    return TUTTI_OK;
}

enum tutti_err tutti_instance_unpack(struct tutti_instance *in, struct tutti_unparcel *parcel,
                                     struct tutti_saved *saved)
{
    size_t size;
    const void *bytes = tutti_unparcel_block(parcel, &size);
    return tutti_instance_deserialize(in, bytes, size, saved);
}

/* ---- files that other importers write and read, too: nothing but the FMU's bytes ---- */

enum tutti_err tutti_instance_export(struct tutti_instance *in, unsigned char **bytes, size_t *size)
{
    struct tutti_saved saved = {0};
    struct tutti_failure failure;
    *bytes = NULL;
    TRY(tutti_instance_save(in, &saved));
    tutti_failure_keep(&failure, serialize(in, &saved, 0, bytes, size));
    tutti_instance_discard_saved(in, &saved);
    return tutti_failure_return(&failure);
}

enum tutti_err tutti_instance_adopt(struct tutti_instance *in, const unsigned char *bytes, size_t size)
{
    struct tutti_saved saved = {.state = in->library->kind == TUTTI_ME ? TUTTI_STATE_CONTINUOUS : TUTTI_STATE_STEP,
                                .time = in->setup.start};
    struct tutti_failure failure;
    TRY(tutti_call_need(in, TUTTI_CAN_SERIALIZE, "serialised states (canSerializeFMUstate)"));
    CALL(in, TUTTI_CALL_DESERIALIZE, deserialize, in, bytes, size, &saved.handle);
    tutti_failure_keep(&failure, tutti_instance_restore(in, &saved));
    tutti_instance_discard_saved(in, &saved);
    return tutti_failure_return(&failure);
}
