/* SPDX-License-Identifier: MIT */
/* Time management. */
#include "fedpro/call.h"
#include "rti/time_management.h"

enum tutti_hla tutti_fedpro_serve_enable_regulation(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    int64_t lookahead = 0;
    HLA_TRY(tutti_fedpro_call_time(call, TAKE(OneHandle, request)->handle, TUTTI_HLA_InvalidLookahead, &lookahead));
    return tutti_rti_enable_time_regulation(call->ambassador, lookahead);
}

enum tutti_hla tutti_fedpro_serve_disable_regulation(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    (void)request;
    return tutti_rti_disable_time_regulation(call->ambassador);
}

enum tutti_hla tutti_fedpro_serve_enable_constrained(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    (void)request;
    return tutti_rti_enable_time_constrained(call->ambassador);
}

enum tutti_hla tutti_fedpro_serve_disable_constrained(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    (void)request;
    return tutti_rti_disable_time_constrained(call->ambassador);
}

static enum tutti_hla advance(struct tutti_fedpro_call *call, const ProtobufCMessage *request, enum tutti_advance how)
{
    int64_t time = 0;
    HLA_TRY(tutti_fedpro_call_time(call, TAKE(OneHandle, request)->handle, TUTTI_HLA_InvalidLogicalTime, &time));
    return tutti_rti_advance(call->ambassador, how, time);
}

enum tutti_hla tutti_fedpro_serve_tar(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    return advance(call, request, TUTTI_ADVANCE_TAR);
}

enum tutti_hla tutti_fedpro_serve_tara(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    return advance(call, request, TUTTI_ADVANCE_TARA);
}

enum tutti_hla tutti_fedpro_serve_nmr(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    return advance(call, request, TUTTI_ADVANCE_NMR);
}

enum tutti_hla tutti_fedpro_serve_nmra(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    return advance(call, request, TUTTI_ADVANCE_NMRA);
}

enum tutti_hla tutti_fedpro_serve_flush_queue(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    int64_t time = 0;
    HLA_TRY(tutti_fedpro_call_time(call, TAKE(OneHandle, request)->handle, TUTTI_HLA_InvalidLogicalTime, &time));
    return tutti_rti_flush_queue_request(call->ambassador, time);
}

enum tutti_hla tutti_fedpro_serve_enable_asynchronous(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    (void)request;
    return tutti_rti_enable_asynchronous_delivery(call->ambassador);
}

enum tutti_hla tutti_fedpro_serve_disable_asynchronous(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    (void)request;
    return tutti_rti_disable_asynchronous_delivery(call->ambassador);
}

enum tutti_hla tutti_fedpro_serve_galt(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    (void)request;
    bool valid = false;
    int64_t time = 0;
    HLA_TRY(tutti_rti_query_galt(call->ambassador, &valid, &time));
    return tutti_fedpro_answer_maybe_time(call, valid, time);
}

enum tutti_hla tutti_fedpro_serve_lits(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    (void)request;
    bool valid = false;
    int64_t time = 0;
    HLA_TRY(tutti_rti_query_lits(call->ambassador, &valid, &time));
    return tutti_fedpro_answer_maybe_time(call, valid, time);
}

enum tutti_hla tutti_fedpro_serve_logical_time(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    (void)request;
    int64_t time = 0;
    HLA_TRY(tutti_rti_query_logical_time(call->ambassador, &time));
    return tutti_fedpro_answer_time(call, time);
}

enum tutti_hla tutti_fedpro_serve_lookahead(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    (void)request;
    int64_t lookahead = 0;
    HLA_TRY(tutti_rti_query_lookahead(call->ambassador, &lookahead));
    return tutti_fedpro_answer_time(call, lookahead);
}

enum tutti_hla tutti_fedpro_serve_modify_lookahead(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    int64_t lookahead = 0;
    HLA_TRY(tutti_fedpro_call_time(call, TAKE(OneHandle, request)->handle, TUTTI_HLA_InvalidLookahead, &lookahead));
    return tutti_rti_modify_lookahead(call->ambassador, lookahead);
}
