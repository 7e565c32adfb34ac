/* SPDX-License-Identifier: MIT */
/* Time management. */
#include "hla/fedpro/service_call.h"
#include "hla/rti/time_management.h"

enum tt_hla tt_services_enable_regulation(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    int64_t lookahead = 0;
    HLA_TRY(
        tt_fedpro_service_read_time(call, TAKE(OneHandle, request)->handle, TUTTI_HLA_InvalidLookahead, &lookahead));
    return tt_time_management_enable_regulation(call->ambassador, lookahead);
}

enum tt_hla tt_services_disable_regulation(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    (void)request;
    return tt_time_management_disable_regulation(call->ambassador);
}

enum tt_hla tt_services_enable_constrained(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    (void)request;
    return tt_time_management_enable_constrained(call->ambassador);
}

enum tt_hla tt_services_disable_constrained(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    (void)request;
    return tt_time_management_disable_constrained(call->ambassador);
}

static enum tt_hla services_advance(struct tt_fedpro_call *call, const ProtobufCMessage *request,
                                    enum tt_time_advance how)
{
    int64_t time = 0;
    HLA_TRY(tt_fedpro_service_read_time(call, TAKE(OneHandle, request)->handle, TUTTI_HLA_InvalidLogicalTime, &time));
    return tt_time_management_advance(call->ambassador, how, time);
}

enum tt_hla tt_services_tar(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    return services_advance(call, request, TUTTI_ADVANCE_TAR);
}

enum tt_hla tt_services_tara(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    return services_advance(call, request, TUTTI_ADVANCE_TARA);
}

enum tt_hla tt_services_nmr(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    return services_advance(call, request, TUTTI_ADVANCE_NMR);
}

enum tt_hla tt_services_nmra(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    return services_advance(call, request, TUTTI_ADVANCE_NMRA);
}

enum tt_hla tt_services_flush_queue(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    int64_t time = 0;
    HLA_TRY(tt_fedpro_service_read_time(call, TAKE(OneHandle, request)->handle, TUTTI_HLA_InvalidLogicalTime, &time));
    return tt_time_management_flush_queue(call->ambassador, time);
}

enum tt_hla tt_services_enable_asynchronous(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    (void)request;
    return tt_time_management_enable_async(call->ambassador);
}

enum tt_hla tt_services_disable_asynchronous(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    (void)request;
    return tt_time_management_disable_async(call->ambassador);
}

enum tt_hla tt_services_galt(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    (void)request;
    bool valid = false;
    int64_t time = 0;
    HLA_TRY(tt_time_management_query_galt(call->ambassador, &valid, &time));
    return tt_fedpro_service_answer_valid_time(call, valid, time);
}

enum tt_hla tt_services_lits(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    (void)request;
    bool valid = false;
    int64_t time = 0;
    HLA_TRY(tt_time_management_query_lits(call->ambassador, &valid, &time));
    return tt_fedpro_service_answer_valid_time(call, valid, time);
}

enum tt_hla tt_services_logical_time(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    (void)request;
    int64_t time = 0;
    HLA_TRY(tt_time_management_query_logical_time(call->ambassador, &time));
    return tt_fedpro_service_answer_time(call, time);
}

enum tt_hla tt_services_lookahead(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    (void)request;
    int64_t lookahead = 0;
    HLA_TRY(tt_time_management_query_lookahead(call->ambassador, &lookahead));
    return tt_fedpro_service_answer_time(call, lookahead);
}

enum tt_hla tt_services_modify_lookahead(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    int64_t lookahead = 0;
    HLA_TRY(
        tt_fedpro_service_read_time(call, TAKE(OneHandle, request)->handle, TUTTI_HLA_InvalidLookahead, &lookahead));
    return tt_time_management_modify_lookahead(call->ambassador, lookahead);
}
