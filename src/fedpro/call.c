/* SPDX-License-Identifier: MIT */
#include "fedpro/call.h"

/* ANSWER(call, Form, form): sets the response and is a pointer to it; returns from the calling function when memory is out. */
#define ANSWER(call, Form, form)                                                                                       \
    ({                                                                                                                 \
        Fedpro__##Form *answer_ = tutti_fedpro_memory_take((call)->memory, sizeof *answer_);                           \
        if (!answer_)                                                                                                  \
            return tutti_hla_raise_memory();                                                                           \
        fedpro__##form##__init(answer_);                                                                               \
        (call)->response = &answer_->base;                                                                             \
        answer_;                                                                                                       \
    })

enum tutti_hla tutti_fedpro_answer_handle(struct tutti_fedpro_call *call, uint32_t handle)
{
    ANSWER(call, OneHandle, one_handle)->handle = tutti_fedpro_make_handle(call->memory, handle);
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_fedpro_answer_transportation(struct tutti_fedpro_call *call, uint32_t transportation)
{
    ANSWER(call, OneHandle, one_handle)->handle = tutti_fedpro_make_transportation(call->memory, transportation);
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_fedpro_answer_handles(struct tutti_fedpro_call *call, const uint32_t *handles, size_t count)
{
    ANSWER(call, HandleSet, handle_set)->set = tutti_fedpro_make_handles(call->memory, handles, count);
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_fedpro_answer_text(struct tutti_fedpro_call *call, const char *text)
{
    ANSWER(call, Text, text)->text = tutti_fedpro_make_text(text);
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_fedpro_answer_number(struct tutti_fedpro_call *call, uint32_t number)
{
    ANSWER(call, Number, number)->value = number;
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_fedpro_answer_flag(struct tutti_fedpro_call *call, bool flag)
{
    ANSWER(call, Flag, flag)->value = flag;
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_fedpro_answer_real(struct tutti_fedpro_call *call, double value)
{
    ANSWER(call, Real, real)->value = value;
    return TUTTI_HLA_OK;
}

static Fedpro__Handle *make_time(struct tutti_fedpro_call *call, int64_t time)
{
    return tutti_fedpro_make_time(call->memory, call->ambassador->federate->federation->time_kind, time);
}

enum tutti_hla tutti_fedpro_answer_time(struct tutti_fedpro_call *call, int64_t time)
{
    ANSWER(call, OneHandle, one_handle)->handle = make_time(call, time);
    return TUTTI_HLA_OK;
}

static enum tutti_hla answer_maybe(struct tutti_fedpro_call *call, Fedpro__Handle *handle)
{
    Fedpro__MaybeResult *answer = ANSWER(call, MaybeResult, maybe_result);
    answer->result = tutti_fedpro_memory_take(call->memory, sizeof *answer->result);
    if (!answer->result)
        return tutti_hla_raise_memory();
    fedpro__maybe__init(answer->result);
    answer->result->valid = handle != NULL;
    answer->result->handle = handle;
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_fedpro_answer_maybe_time(struct tutti_fedpro_call *call, bool valid, int64_t time)
{
    return answer_maybe(call, valid ? make_time(call, time) : NULL);
}

enum tutti_hla tutti_fedpro_answer_retraction(struct tutti_fedpro_call *call, uint64_t number)
{
    return answer_maybe(call, number ? tutti_fedpro_make_retraction(call->memory, number) : NULL);
}

enum tutti_hla tutti_fedpro_call_time(const struct tutti_fedpro_call *call, const Fedpro__Handle *encoded,
                                      enum tutti_hla wrong, int64_t *time)
{
    struct tutti_federate *federate = NULL;
    HLA_TRY(tutti_ambassador_federate(call->ambassador, &federate));
    enum tutti_time_kind kind = federate->federation->time_kind;
    size_t size = encoded ? encoded->data.len : 0;
    if (encoded && tutti_time_decode(kind, encoded->data.data, size, time))
        return TUTTI_HLA_OK;
    tutti_hla_say("%zu bytes are no %s: it is a number from 0 on in 8 bytes, big-endian", size,
                  tutti_time_kind_name(kind));
    return wrong;
}
