/* SPDX-License-Identifier: MIT */
/* States of FMI: points of the simulation. A state that is serialised is what a checkpoint holds; the simulation goes there and back. */
#include <stdlib.h>
#include <string.h>

#include "apps/packed/packed_equations.h"
#include "apps/packed/packed_instance.h"
#include "results/recorder.h"

struct packed_modes {
    bool in_event_mode;
    bool left_event; /* of its loop */
};

struct packed_state {
    struct tutti_point *point;
    struct packed_modes modes;
};

static struct packed_modes get_packed_modes(const struct tt_packed *packed)
{
    return (struct packed_modes){.in_event_mode = packed->in_event_mode,
                                 .left_event = packed->simulation && packed->simulation->execution.loop.left_event};
}

static void set_packed_modes(struct tt_packed *packed, struct packed_modes modes)
{
    packed->in_event_mode = modes.in_event_mode;
    packed->simulation->execution.loop.left_event = modes.left_event;
}

enum tutti_err tt_packed_save(struct tt_packed *packed, void **out)
{
    struct packed_state *state = *out ? *out : calloc(1, sizeof *state);
    if (!state)
        return tt_fail_memory();
    enum tutti_err err = tt_packed_check(packed, TUTTI_PACKED_IN(TUTTI_PACKED_RUNNING), "saving the state");
    if (!err && packed->equations)
        err = tt_packed_equations_move_units(packed);
    if (!err)
        err = tutti_simulation_save(packed->simulation, &state->point);
    state->modes = get_packed_modes(packed);
    if (!err)
        *out = state;
    else if (!*out)
        free(state);
    return err;
}

enum tutti_err tt_packed_restore(struct tt_packed *packed, const void *from)
{
    const struct packed_state *state = from;
    TRY(tt_packed_check(packed, TUTTI_PACKED_IN(TUTTI_PACKED_RUNNING), "going back to a state"));
    tt_packed_invalidate(packed);
    TRY(tutti_simulation_restore(packed->simulation, state->point));
    set_packed_modes(packed, state->modes);
    packed->sets = true; /* what was set there and not taken */
    if (packed->equations)
        tt_packed_equations_adopt_units(packed);
    return TUTTI_OK;
}

void tt_packed_free_state(struct tt_packed *packed, void *from)
{
    struct packed_state *state = from;
    if (packed->serialised == state)
        packed->serialised = NULL;
    if (packed->simulation && state)
        tutti_point_free(packed->simulation, state->point);
    free(state);
}

/* Back to where the simulation was, whatever happened since. */
static enum tutti_err restore_point(struct tt_packed *packed, void *here, enum tutti_err err)
{
    struct tt_failure failure;
    tt_fail_save(&failure, err);
    enum tutti_err back = tt_packed_restore(packed, here);
    tt_packed_free_state(packed, here);
    return failure.err ? tt_fail_restore(&failure) : back;
}

/* Writes the FMU that a state belongs to, and the tolerance, which may have determined the master. Times are omitted:
 * an importer may resume at the state of a different instance. */
static void write_state_origin(const struct tt_packed *packed, struct tt_byte_writer *bytes)
{
    tt_bytes_put_text(bytes, packed->table.token);
    tt_bytes_put_double(bytes, packed->has_tolerance ? packed->tolerance : 0);
    tt_bytes_put_u8(bytes, packed->exchange);
    tt_bytes_put_u8(bytes, get_packed_modes(packed).in_event_mode);
    tt_bytes_put_u8(bytes, get_packed_modes(packed).left_event);
}

/* An instance that is not initialised yet has the state's tolerance: FMI 3.0 gives it with the initialisation, which a state takes the place of. */
static enum tutti_err read_state_origin(struct tt_packed *packed, struct tt_byte_reader *in, struct packed_modes *modes)
{
    const char *token = tt_bytes_get_text(in);
    double tolerance = tt_bytes_get_double(in);
    bool exchange = tt_bytes_get_u8(in) != 0;
    modes->in_event_mode = tt_bytes_get_u8(in) != 0;
    modes->left_event = tt_bytes_get_u8(in) != 0;
    if (in->bad || !token || strcmp(token, packed->table.token) != 0)
        return tt_fail(TUTTI_ERR_FORMAT, "%s: the state is not one of this FMU", packed->name);
    if (exchange != packed->exchange)
        return tt_fail(TUTTI_ERR_FORMAT, "%s: the state is one of the FMU's other interface", packed->name);
    if (packed->stage == TUTTI_PACKED_MADE && !packed->has_tolerance && tolerance > 0) {
        packed->has_tolerance = true;
        packed->tolerance = tolerance;
    }
    if (tolerance != (packed->has_tolerance ? packed->tolerance : 0))
        return tt_fail(TUTTI_ERR_FORMAT, "%s: the state was saved with another tolerance", packed->name);
    return TUTTI_OK;
}

static uint64_t compute_state_digest(struct tt_bytes bytes)
{
    return tt_recorder_digest(TUTTI_RECORD_DIGEST, bytes.data, bytes.size);
}

/* The digest is at the end; *bytes are what it is of then. */
static enum tutti_err check_state_digest(const struct tt_packed *packed, struct tt_bytes *bytes)
{
    bool is_whole = bytes->size > sizeof(uint64_t);
    if (is_whole) {
        bytes->size -= sizeof(uint64_t);
        struct tt_byte_reader in = tt_bytes_get_begin((struct tt_bytes){sizeof(uint64_t), bytes->data + bytes->size});
        is_whole = tt_bytes_get_u64(&in) == compute_state_digest(*bytes);
    }
    return is_whole ? TUTTI_OK
                    : tt_fail(TUTTI_ERR_FORMAT, "%s: the state is damaged, or not one of this FMU", packed->name);
}

static enum tutti_err serialise_packed_state(struct tt_packed *packed, const void *state)
{
    void *here = NULL;
    tt_bytes_fini(&packed->bytes);
    packed->bytes = (struct tt_byte_writer){0};
    packed->serialised = NULL;
    TRY(tt_packed_save(packed, &here));
    enum tutti_err err = tt_packed_restore(packed, state);
    struct tt_byte_writer point = {0};
    if (!err)
        err = tt_simulation_pack(packed->simulation, &point);
    if (!err) {
        write_state_origin(packed, &packed->bytes);
        tt_bytes_put_block(&packed->bytes, point.bytes, point.size);
        tt_bytes_put_u64(&packed->bytes, compute_state_digest(tt_bytes_written(&packed->bytes)));
        err = packed->bytes.failed ? tt_fail_memory() : TUTTI_OK;
    }
    tt_bytes_fini(&point);
    TRY(restore_point(packed, here, err));
    packed->serialised = state;
    return TUTTI_OK;
}

/* The size is asked for before the bytes: they are made once for both. */
enum tutti_err tt_packed_serialised_size(struct tt_packed *packed, const void *state, size_t *size)
{
    TRY(serialise_packed_state(packed, state));
    *size = packed->bytes.size;
    return TUTTI_OK;
}

enum tutti_err tt_packed_serialise(struct tt_packed *packed, const void *state, void *bytes, size_t size)
{
    if (packed->serialised != state)
        TRY(serialise_packed_state(packed, state));
    if (size < packed->bytes.size)
        return tt_fail(TUTTI_ERR_ARGUMENT, "%s: the state takes %zu bytes, and there is room for %zu", packed->name,
                       packed->bytes.size, size);
    memcpy(bytes, packed->bytes.bytes, packed->bytes.size);
    packed->serialised = NULL; /* another state may have this address later */
    return TUTTI_OK;
}

enum tutti_err tt_packed_deserialise(struct tt_packed *packed, struct tt_bytes bytes, void **state)
{
    void *here = NULL, *there = NULL;
    struct tt_bytes point = {0};
    struct packed_modes modes;
    TRY(check_state_digest(packed, &bytes));
    struct tt_byte_reader in = tt_bytes_get_begin(bytes);
    TRY(read_state_origin(packed, &in, &modes));
    point.data = tt_bytes_get_block(&in, &point.size);

    /* An importer may begin with a state, and not initialise the instance. */
    if (packed->stage == TUTTI_PACKED_MADE)
        TRY(tt_packed_initialise(packed));
    if (packed->stage == TUTTI_PACKED_INITIALISING)
        TRY(tt_packed_start(packed));

    TRY(tt_packed_save(packed, &here));
    enum tutti_err err = tt_simulation_unpack(packed->simulation, point);
    if (!err && packed->equations)
        tt_packed_equations_adopt_units(packed);
    if (!err) {
        set_packed_modes(packed, modes);
        err = tt_packed_save(packed, &there);
    }
    TRY(restore_point(packed, here, err));
    *state = there;
    return TUTTI_OK;
}
