/* SPDX-License-Identifier: MIT */
/* States of FMI: points of the simulation. A state that is serialised is what a checkpoint holds; the simulation goes there and back. */
#include <stdlib.h>
#include <string.h>

#include "packed/equations.h"
#include "packed/instance.h"
#include "record/recorder.h"

/* What an instance has besides its point. */
struct modes {
    bool in_event_mode;
    bool left_event; /* of its loop */
};

struct state {
    struct tutti_point *point;
    struct modes modes;
};

static struct modes modes_of(const struct tutti_packed *packed)
{
    return (struct modes){.in_event_mode = packed->in_event_mode,
                          .left_event = packed->simulation && packed->simulation->execution.loop.left_event};
}

static void set_modes(struct tutti_packed *packed, struct modes modes)
{
    packed->in_event_mode = modes.in_event_mode;
    packed->simulation->execution.loop.left_event = modes.left_event;
}

enum tutti_err tutti_packed_save(struct tutti_packed *packed, void **out)
{
    struct state *state = *out ? *out : calloc(1, sizeof *state);
    if (!state)
        return tutti_fail_memory();
    enum tutti_err err = tutti_packed_check(packed, TUTTI_PACKED_IN(TUTTI_PACKED_RUNNING), "saving the state");
    if (!err && packed->equations)
        err = tutti_equations_settle(packed);
    if (!err)
        err = tutti_simulation_save(packed->simulation, &state->point);
    state->modes = modes_of(packed);
    if (!err)
        *out = state;
    else if (!*out)
        free(state);
    return err;
}

/* An importer may begin with a state, and not initialise the instance. */
static enum tutti_err be_running(struct tutti_packed *packed)
{
    if (packed->stage == TUTTI_PACKED_MADE)
        TRY(tutti_packed_initialise(packed));
    return packed->stage == TUTTI_PACKED_INITIALISING ? tutti_packed_begin(packed) : TUTTI_OK;
}

enum tutti_err tutti_packed_restore(struct tutti_packed *packed, const void *from)
{
    const struct state *state = from;
    TRY(tutti_packed_check(packed, TUTTI_PACKED_IN(TUTTI_PACKED_RUNNING), "going back to a state"));
    tutti_packed_forget(packed);
    TRY(tutti_simulation_restore(packed->simulation, state->point));
    set_modes(packed, state->modes);
    packed->sets = true; /* what was set there and not taken */
    if (packed->equations)
        tutti_equations_return(packed);
    return TUTTI_OK;
}

void tutti_packed_drop(struct tutti_packed *packed, void *from)
{
    struct state *state = from;
    if (packed->serialised == state)
        packed->serialised = NULL;
    if (packed->simulation && state)
        tutti_point_free(packed->simulation, state->point);
    free(state);
}

/* Back to where the simulation was, whatever happened since. */
static enum tutti_err go_back(struct tutti_packed *packed, void *here, enum tutti_err err)
{
    struct tutti_failure failure;
    tutti_failure_keep(&failure, err);
    enum tutti_err back = tutti_packed_restore(packed, here);
    tutti_packed_drop(packed, here);
    return failure.err ? tutti_failure_return(&failure) : back;
}

/* Which FMU a state belongs to, and the tolerance by which its master may have been chosen. Times may be others: an importer goes on from
 * where another one was. */
static void put_origin(const struct tutti_packed *packed, struct tutti_parcel *bytes)
{
    tutti_parcel_put_text(bytes, packed->table.token);
    tutti_parcel_put_double(bytes, packed->has_tolerance ? packed->tolerance : 0);
    tutti_parcel_put_u8(bytes, packed->exchange);
    tutti_parcel_put_u8(bytes, modes_of(packed).in_event_mode);
    tutti_parcel_put_u8(bytes, modes_of(packed).left_event);
}

/* An instance that is not initialised yet has the state's tolerance: FMI 3.0 gives it with the initialisation, which a state takes the place of. */
static enum tutti_err take_origin(struct tutti_packed *packed, struct tutti_unparcel *in, struct modes *modes)
{
    const char *token = tutti_unparcel_text(in);
    double tolerance = tutti_unparcel_double(in);
    bool exchange = tutti_unparcel_u8(in) != 0;
    modes->in_event_mode = tutti_unparcel_u8(in) != 0;
    modes->left_event = tutti_unparcel_u8(in) != 0;
    if (in->bad || !token || strcmp(token, packed->table.token) != 0)
        return tutti_fail(TUTTI_ERR_FORMAT, "%s: the state is not one of this FMU", packed->name);
    if (exchange != packed->exchange)
        return tutti_fail(TUTTI_ERR_FORMAT, "%s: the state is one of the FMU's other interface", packed->name);
    if (packed->stage == TUTTI_PACKED_MADE && !packed->has_tolerance && tolerance > 0) {
        packed->has_tolerance = true;
        packed->tolerance = tolerance;
    }
    if (tolerance != (packed->has_tolerance ? packed->tolerance : 0))
        return tutti_fail(TUTTI_ERR_FORMAT, "%s: the state was saved with another tolerance", packed->name);
    return TUTTI_OK;
}

static uint64_t digest(struct tutti_bytes bytes)
{
    return tutti_record_digest(TUTTI_RECORD_DIGEST, bytes.data, bytes.size);
}

/* The digest is at the end; *bytes are what it is of then. */
static enum tutti_err take_digest(const struct tutti_packed *packed, struct tutti_bytes *bytes)
{
    bool is_whole = bytes->size > sizeof(uint64_t);
    if (is_whole) {
        bytes->size -= sizeof(uint64_t);
        struct tutti_unparcel in =
            tutti_unparcel_begin((struct tutti_bytes){sizeof(uint64_t), bytes->data + bytes->size});
        is_whole = tutti_unparcel_u64(&in) == digest(*bytes);
    }
    return is_whole ? TUTTI_OK
                    : tutti_fail(TUTTI_ERR_FORMAT, "%s: the state is damaged, or not one of this FMU", packed->name);
}

static enum tutti_err serialise(struct tutti_packed *packed, const void *state)
{
    void *here = NULL;
    tutti_parcel_fini(&packed->bytes);
    packed->bytes = (struct tutti_parcel){0};
    packed->serialised = NULL;
    TRY(tutti_packed_save(packed, &here));
    enum tutti_err err = tutti_packed_restore(packed, state);
    struct tutti_parcel point = {0};
    if (!err)
        err = tutti_simulation_pack(packed->simulation, &point);
    if (!err) {
        put_origin(packed, &packed->bytes);
        tutti_parcel_put_block(&packed->bytes, point.bytes, point.size);
        tutti_parcel_put_u64(&packed->bytes, digest(tutti_parcel_bytes(&packed->bytes)));
        err = packed->bytes.failed ? tutti_fail_memory() : TUTTI_OK;
    }
    tutti_parcel_fini(&point);
    TRY(go_back(packed, here, err));
    packed->serialised = state;
    return TUTTI_OK;
}

/* The size is asked for before the bytes: they are made once for both. */
enum tutti_err tutti_packed_serialised_size(struct tutti_packed *packed, const void *state, size_t *size)
{
    TRY(serialise(packed, state));
    *size = packed->bytes.size;
    return TUTTI_OK;
}

enum tutti_err tutti_packed_serialise(struct tutti_packed *packed, const void *state, void *bytes, size_t size)
{
    if (packed->serialised != state)
        TRY(serialise(packed, state));
    if (size < packed->bytes.size)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "%s: the state takes %zu bytes, and there is room for %zu", packed->name,
                          packed->bytes.size, size);
    memcpy(bytes, packed->bytes.bytes, packed->bytes.size);
    packed->serialised = NULL; /* another state may have this address later */
    return TUTTI_OK;
}

enum tutti_err tutti_packed_deserialise(struct tutti_packed *packed, struct tutti_bytes bytes, void **state)
{
    void *here = NULL, *there = NULL;
    struct tutti_bytes point = {0};
    struct modes modes;
    TRY(take_digest(packed, &bytes));
    struct tutti_unparcel in = tutti_unparcel_begin(bytes);
    TRY(take_origin(packed, &in, &modes));
    point.data = tutti_unparcel_block(&in, &point.size);
    TRY(be_running(packed));
    TRY(tutti_packed_save(packed, &here));
    enum tutti_err err = tutti_simulation_unpack(packed->simulation, point);
    if (!err && packed->equations)
        tutti_equations_return(packed);
    if (!err) {
        set_modes(packed, modes);
        err = tutti_packed_save(packed, &there);
    }
    TRY(go_back(packed, here, err));
    *state = there;
    return TUTTI_OK;
}
