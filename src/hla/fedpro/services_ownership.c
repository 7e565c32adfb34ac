/* SPDX-License-Identifier: MIT */
/* Ownership management. */
#include "hla/fedpro/service_call.h"
#include "hla/rti/ownership.h"

static struct tt_attribute_set services_attribute_set(struct tt_fedpro_call *call, const Fedpro__Members *members)
{
    struct tt_attribute_set set = {.object = tt_payload_read_handle(members->subject)};
    set.attributes = tt_payload_read_handles(call->memory, members->members, &set.count);
    return set;
}

/* Services that take attributes of an object, and a tag or none. */
#define SERVE(name, ...)                                                                                               \
    enum tt_hla tt_services_##name(struct tt_fedpro_call *call, const ProtobufCMessage *request)                       \
    {                                                                                                                  \
        const Fedpro__Members *members = TAKE(Members, request);                                                       \
        return __VA_ARGS__;                                                                                            \
    }
#define SET services_attribute_set(call, members)
#define TAG tt_payload_read_bytes(members->extra)

SERVE(divest, tt_ownership_unconditional_divest(call->ambassador, SET, TAG))
SERVE(negotiate, tt_ownership_negotiated_divest(call->ambassador, SET, TAG))
SERVE(confirm_divestiture, tt_ownership_confirm_divestiture(call->ambassador, SET, TAG))
SERVE(acquire, tt_ownership_acquire(call->ambassador, SET, TAG))
SERVE(acquire_if_available, tt_ownership_acquire_if_available(call->ambassador, SET, TAG))
SERVE(release_denied, tt_ownership_release_denied(call->ambassador, SET))
SERVE(cancel_negotiated, tt_ownership_cancel_negotiated_divest(call->ambassador, SET))
SERVE(cancel_acquisition, tt_ownership_cancel_acquisition(call->ambassador, SET))
SERVE(query_ownership, tt_ownership_query(call->ambassador, SET))

enum tt_hla tt_services_divest_if_wanted(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    const Fedpro__Members *members = TAKE(Members, request);
    struct tt_attribute_set set = SET;
    size_t count = 0;
    uint32_t *divested = tt_payload_memory_allocate(call->memory, (set.count + 1) * sizeof *divested);
    if (!divested)
        return tt_exception_raise_memory();
    HLA_TRY(tt_ownership_divest_if_wanted(call->ambassador, set, TAG, divested, &count));
    return tt_fedpro_service_answer_handles(call, divested, count);
}

enum tt_hla tt_services_is_owned(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    const Fedpro__TwoHandles *two = TAKE(TwoHandles, request);
    bool owned = false;
    HLA_TRY(tt_ownership_is_owned(call->ambassador, tt_payload_read_handle(two->first),
                                  tt_payload_read_handle(two->second), &owned));
    return tt_fedpro_service_answer_flag(call, owned);
}
