/* SPDX-License-Identifier: MIT */
/* How the RTI stands, for `tutti rti status`. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "hla/fedpro/service_call.h"
#include "hla/fedpro/fedpro_service.h"
#include "hla/rti/time_management.h"

static const char *const pending_names[] = {
    [TUTTI_ADVANCE_NONE] = "",   [TUTTI_ADVANCE_TAR] = "TAR",   [TUTTI_ADVANCE_TARA] = "TARA",
    [TUTTI_ADVANCE_NMR] = "NMR", [TUTTI_ADVANCE_NMRA] = "NMRA",
};

static const struct tt_fedpro_session *services_find_session(const struct tt_fedpro_call *call,
                                                             const struct tt_federate *federate)
{
    for (const struct tt_fedpro_client *client = call->service->clients; client; client = client->next)
        if (client->ambassador == federate->ambassador)
            return client->session;
    return NULL;
}

static void services_report_time(Fedpro__StatusFederate *told, struct tt_federate *federate)
{
    enum tt_logical_time_kind kind = federate->federation->time_kind;
    struct tt_time_status status;
    tt_time_management_status(federate, &status);
    told->time = tt_logical_time_to_double(kind, federate->time.now);
    told->regulating = federate->time.regulating;
    told->lookahead = federate->time.regulating ? tt_logical_time_to_double(kind, federate->time.lookahead) : 0;
    told->constrained = federate->time.constrained;
    told->pending = tt_payload_make_text(pending_names[federate->time.pending]);
    told->target = federate->time.pending ? tt_logical_time_to_double(kind, federate->time.target) : 0;
    told->has_galt = status.has_galt;
    told->galt = status.has_galt ? tt_logical_time_to_double(kind, status.galt) : 0;
    told->has_lits = status.has_lits;
    told->lits = status.has_lits ? tt_logical_time_to_double(kind, status.lits) : 0;
    const struct tt_federate *holder = tt_federation_member(federate->federation, status.holder);
    told->holder = tt_payload_make_text(holder ? holder->name : "");
}

static Fedpro__StatusFederate *report_federate_status(struct tt_fedpro_call *call, struct tt_federate *federate)
{
    Fedpro__StatusFederate *told = tt_payload_memory_allocate(call->memory, sizeof *told);
    const struct tt_fedpro_session *session = services_find_session(call, federate);
    if (!told)
        return NULL;
    fedpro__status_federate__init(told);
    told->name = tt_payload_make_text(federate->name);
    told->type = tt_payload_make_text(federate->type);
    told->queued = (uint32_t)federate->tso.count;
    told->unsent = session ? (uint32_t)tt_session_link_pending(&session->link) : 0;
    told->connected = session && session->connection;
    services_report_time(told, federate);
    return told;
}

static Fedpro__StatusFederation *report_federation_status(struct tt_fedpro_call *call, struct tt_federation *federation)
{
    size_t count = federation->federates.count;
    struct tt_text waits = {0};
    Fedpro__StatusFederation *told = tt_payload_memory_allocate(call->memory, sizeof *told);
    Fedpro__StatusFederate **items = tt_payload_memory_allocate(call->memory, (count + 1) * sizeof(void *));
    if (!told || !items)
        return NULL;
    fedpro__status_federation__init(told);
    told->name = tt_payload_make_text(federation->name);
    told->time = tt_payload_make_text(tt_logical_time_kind_name(federation->time_kind));
    told->objects = (uint32_t)federation->objects.count;
    told->federate = items;
    for (size_t i = 0; i < count; i++)
        if ((items[told->n_federate] = report_federate_status(call, tt_federation_at(federation, i))) != NULL)
            told->n_federate++;
    tt_time_management_explain(federation, &waits);
    char *kept = tt_payload_memory_allocate(call->memory, waits.length + 1);
    if (kept && waits.text)
        memcpy(kept, waits.text, waits.length);
    told->waits = tt_payload_make_text(kept);
    tt_text_fini(&waits);
    return told;
}

enum tt_hla tt_services_status(struct tt_fedpro_call *call, const ProtobufCMessage *request)
{
    (void)request;
    const struct tt_rti *rti = call->service->rti;
    Fedpro__Status *status = tt_payload_memory_allocate(call->memory, sizeof *status);
    Fedpro__StatusFederation **items = tt_payload_memory_allocate(call->memory, (rti->count + 1) * sizeof(void *));
    if (!status || !items)
        return tt_exception_raise_memory();
    fedpro__status__init(status);
    status->federation = items;
    for (size_t i = 0; i < rti->count; i++)
        if ((items[status->n_federation] = report_federation_status(call, rti->federations[i])) != NULL)
            status->n_federation++;
    for (const struct tt_fedpro_client *client = call->service->clients; client; client = client->next)
        status->sessions++;
    call->response = &status->base;
    return TUTTI_HLA_OK;
}
