/* SPDX-License-Identifier: MIT */
/* How the RTI stands, for `tutti rti status`. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "fedpro/call.h"
#include "fedpro/service.h"
#include "rti/time_management.h"

static const char *const pending_names[] = {
    [TUTTI_ADVANCE_NONE] = "",   [TUTTI_ADVANCE_TAR] = "TAR",   [TUTTI_ADVANCE_TARA] = "TARA",
    [TUTTI_ADVANCE_NMR] = "NMR", [TUTTI_ADVANCE_NMRA] = "NMRA",
};

static const struct tutti_fedpro_session *session_of(const struct tutti_fedpro_call *call,
                                                     const struct tutti_federate *federate)
{
    for (const struct tutti_fedpro_client *client = call->service->clients; client; client = client->next)
        if (client->ambassador == federate->ambassador)
            return client->session;
    return NULL;
}

static void tell_time(Fedpro__StatusFederate *told, struct tutti_federate *federate)
{
    enum tutti_time_kind kind = federate->federation->time_kind;
    struct tutti_time_status status;
    tutti_time_status(federate, &status);
    told->time = tutti_time_to_double(kind, federate->time.now);
    told->regulating = federate->time.regulating;
    told->lookahead = federate->time.regulating ? tutti_time_to_double(kind, federate->time.lookahead) : 0;
    told->constrained = federate->time.constrained;
    told->pending = tutti_fedpro_make_text(pending_names[federate->time.pending]);
    told->target = federate->time.pending ? tutti_time_to_double(kind, federate->time.target) : 0;
    told->has_galt = status.has_galt;
    told->galt = status.has_galt ? tutti_time_to_double(kind, status.galt) : 0;
    told->has_lits = status.has_lits;
    told->lits = status.has_lits ? tutti_time_to_double(kind, status.lits) : 0;
    const struct tutti_federate *holder = tutti_federation_member(federate->federation, status.holder);
    told->holder = tutti_fedpro_make_text(holder ? holder->name : "");
}

static Fedpro__StatusFederate *tell_federate(struct tutti_fedpro_call *call, struct tutti_federate *federate)
{
    Fedpro__StatusFederate *told = tutti_fedpro_memory_take(call->memory, sizeof *told);
    const struct tutti_fedpro_session *session = session_of(call, federate);
    if (!told)
        return NULL;
    fedpro__status_federate__init(told);
    told->name = tutti_fedpro_make_text(federate->name);
    told->type = tutti_fedpro_make_text(federate->type);
    told->queued = (uint32_t)federate->tso.count;
    told->unsent = session ? (uint32_t)tutti_fedpro_link_waiting(&session->link) : 0;
    told->connected = session && session->connection;
    tell_time(told, federate);
    return told;
}

static Fedpro__StatusFederation *tell_federation(struct tutti_fedpro_call *call, struct tutti_federation *federation)
{
    size_t count = federation->federates.count;
    struct tutti_text waits = {0};
    Fedpro__StatusFederation *told = tutti_fedpro_memory_take(call->memory, sizeof *told);
    Fedpro__StatusFederate **items = tutti_fedpro_memory_take(call->memory, (count + 1) * sizeof(void *));
    if (!told || !items)
        return NULL;
    fedpro__status_federation__init(told);
    told->name = tutti_fedpro_make_text(federation->name);
    told->time = tutti_fedpro_make_text(tutti_time_kind_name(federation->time_kind));
    told->objects = (uint32_t)federation->objects.count;
    told->federate = items;
    for (size_t i = 0; i < count; i++)
        if ((items[told->n_federate] = tell_federate(call, tutti_federation_at(federation, i))) != NULL)
            told->n_federate++;
    tutti_time_explain(federation, &waits);
    char *kept = tutti_fedpro_memory_take(call->memory, waits.length + 1);
    if (kept && waits.text)
        memcpy(kept, waits.text, waits.length);
    told->waits = tutti_fedpro_make_text(kept);
    tutti_text_fini(&waits);
    return told;
}

enum tutti_hla tutti_fedpro_serve_status(struct tutti_fedpro_call *call, const ProtobufCMessage *request)
{
    (void)request;
    const struct tutti_rti *rti = call->service->rti;
    Fedpro__Status *status = tutti_fedpro_memory_take(call->memory, sizeof *status);
    Fedpro__StatusFederation **items = tutti_fedpro_memory_take(call->memory, (rti->count + 1) * sizeof(void *));
    if (!status || !items)
        return tutti_hla_raise_memory();
    fedpro__status__init(status);
    status->federation = items;
    for (size_t i = 0; i < rti->count; i++)
        if ((items[status->n_federation] = tell_federation(call, rti->federations[i])) != NULL)
            status->n_federation++;
    for (const struct tutti_fedpro_client *client = call->service->clients; client; client = client->next)
        status->sessions++;
    call->response = &status->base;
    return TUTTI_HLA_OK;
}
