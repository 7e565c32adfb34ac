/* SPDX-License-Identifier: MIT */
#include "hla/fedpro/service_call.h"

/* ANSWER(call, Form, form): sets the response and is a pointer to it; returns from the calling function when memory is out. */
#define ANSWER(call, Form, form)                                                                                       \
    ({                                                                                                                 \
        Fedpro__##Form *answer_ = tt_payload_memory_allocate((call)->memory, sizeof *answer_);                         \
        if (!answer_)                                                                                                  \
            return tt_exception_raise_memory();                                                                        \
        fedpro__##form##__init(answer_);                                                                               \
        (call)->response = &answer_->base;                                                                             \
        answer_;                                                                                                       \
    })

enum tt_hla tt_fedpro_service_answer_handle(struct tt_fedpro_call *call, uint32_t handle)
{
    ANSWER(call, OneHandle, one_handle)->handle = tt_payload_make_handle(call->memory, handle);
    return TUTTI_HLA_OK;
}

enum tt_hla tt_fedpro_service_answer_transportation(struct tt_fedpro_call *call, uint32_t transportation)
{
    ANSWER(call, OneHandle, one_handle)->handle = tt_payload_make_transportation(call->memory, transportation);
    return TUTTI_HLA_OK;
}

enum tt_hla tt_fedpro_service_answer_handles(struct tt_fedpro_call *call, const uint32_t *handles, size_t count)
{
    ANSWER(call, HandleSet, handle_set)->set = tt_payload_make_handles(call->memory, handles, count);
    return TUTTI_HLA_OK;
}

enum tt_hla tt_fedpro_service_answer_text(struct tt_fedpro_call *call, const char *text)
{
    ANSWER(call, Text, text)->text = tt_payload_make_text(text);
    return TUTTI_HLA_OK;
}

enum tt_hla tt_fedpro_service_answer_number(struct tt_fedpro_call *call, uint32_t number)
{
    ANSWER(call, Number, number)->value = number;
    return TUTTI_HLA_OK;
}

enum tt_hla tt_fedpro_service_answer_flag(struct tt_fedpro_call *call, bool flag)
{
    ANSWER(call, Flag, flag)->value = flag;
    return TUTTI_HLA_OK;
}

enum tt_hla tt_fedpro_service_answer_double(struct tt_fedpro_call *call, double value)
{
    ANSWER(call, Real, real)->value = value;
    return TUTTI_HLA_OK;
}

static Fedpro__Handle *fedpro_service_make_time(struct tt_fedpro_call *call, int64_t time)
{
    return tt_payload_make_time(call->memory, call->ambassador->federate->federation->time_kind, time);
}

enum tt_hla tt_fedpro_service_answer_time(struct tt_fedpro_call *call, int64_t time)
{
    ANSWER(call, OneHandle, one_handle)->handle = fedpro_service_make_time(call, time);
    return TUTTI_HLA_OK;
}

static enum tt_hla answer_optional_time(struct tt_fedpro_call *call, Fedpro__Handle *handle)
{
    Fedpro__MaybeResult *answer = ANSWER(call, MaybeResult, maybe_result);
    answer->result = tt_payload_memory_allocate(call->memory, sizeof *answer->result);
    if (!answer->result)
        return tt_exception_raise_memory();
    fedpro__maybe__init(answer->result);
    answer->result->valid = handle != NULL;
    answer->result->handle = handle;
    return TUTTI_HLA_OK;
}

enum tt_hla tt_fedpro_service_answer_valid_time(struct tt_fedpro_call *call, bool valid, int64_t time)
{
    return answer_optional_time(call, valid ? fedpro_service_make_time(call, time) : NULL);
}

enum tt_hla tt_fedpro_service_answer_retraction(struct tt_fedpro_call *call, uint64_t number)
{
    return answer_optional_time(call, number ? tt_payload_make_retraction(call->memory, number) : NULL);
}

enum tt_hla tt_fedpro_service_read_time(const struct tt_fedpro_call *call, const Fedpro__Handle *encoded,
                                        enum tt_hla wrong, int64_t *time)
{
    struct tt_federate *federate = NULL;
    HLA_TRY(tt_federation_of_ambassador(call->ambassador, &federate));
    enum tt_logical_time_kind kind = federate->federation->time_kind;
    size_t size = encoded ? encoded->data.len : 0;
    if (encoded && tt_logical_time_decode(kind, encoded->data.data, size, time))
        return TUTTI_HLA_OK;
    tt_exception_set_message("%zu bytes are no %s: it is a number from 0 on in 8 bytes, big-endian", size,
                             tt_logical_time_kind_name(kind));
    return wrong;
}
