/* SPDX-License-Identifier: MIT */
/* Ownership management. */
#include "fedpro/call.h"
#include "rti/ownership.h"

static struct tutti_attribute_set set_of(struct tutti_fedpro_call *call, const Fedpro__Members *members)
{
    struct tutti_attribute_set set = {.object = tutti_fedpro_read_handle(members->subject)};
    set.attributes = tutti_fedpro_read_handles(call->memory, members->members, &set.count);
    return set;
}

/* Services that take attributes of an object, and a tag or none. */
#define SERVE(name, ...)                                                                                               \
    enum tutti_hla tutti_fedpro_serve_##name(struct tutti_fedpro_call *call, const ProtobufCMessage *request)          \
    {                                                                                                                  \
        const Fedpro__Members *members = TAKE(Members, request);                                                       \
        return __VA_ARGS__;                                                                                            \
    }
#define SET set_of(call, members)
#define TAG tutti_fedpro_read_bytes(members->extra)

SERVE(divest, tutti_rti_unconditional_divest(call->ambassador, SET, TAG))
SERVE(negotiate, tutti_rti_negotiated_divest(call->ambassador, SET, TAG))
SERVE(confirm_divestiture, tutti_rti_confirm_divestiture(call->ambassador, SET, TAG))
SERVE(acquire, tutti_rti_acquire(call->ambassador, SET, TAG))
SERVE(acquire_if_available, tutti_rti_acquire_if_available(call->ambassador, SET, TAG))
SERVE(release_denied, tutti_rti_release_denied(call->ambassador, SET))
SERVE(cancel_negotiated, tutti_rti_cancel_negotiated_divest(call->ambassador, SET))
SERVE(cancel_acquisition, tutti_rti_cancel_acquisition(call->ambassador, SET))
SERVE(query_ownership, tutti_rti_query_ownership(call->ambassador, SET))

enum tutti_hla tutti_fedpro_serve_divest_if_wanted(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    const Fedpro__Members *members = TAKE(Members, request);
    struct tutti_attribute_set set = SET;
    size_t count = 0;
    uint32_t *divested = tutti_fedpro_memory_take(call->memory, (set.count + 1) * sizeof *divested);
    if (!divested)
        return tutti_hla_raise_memory();
    HLA_TRY(tutti_rti_divest_if_wanted(call->ambassador, set, TAG, divested, &count));
    return tutti_fedpro_answer_handles(call, divested, count);
}

enum tutti_hla tutti_fedpro_serve_is_owned(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    const Fedpro__TwoHandles *two = TAKE(TwoHandles, request);
    bool owned = false;
    HLA_TRY(tutti_rti_is_owned(call->ambassador, tutti_fedpro_read_handle(two->first),
                               tutti_fedpro_read_handle(two->second), &owned));
    return tutti_fedpro_answer_flag(call, owned);
}
