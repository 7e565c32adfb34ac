/* SPDX-License-Identifier: MIT */
#include "rti_status.h"

#include <jansson.h>
#include <stdio.h>

#include "console.h"
#include "hla/fedpro/fedpro_caller.h"
#include "hla/fedpro/payload.h"
#include "apps/describe/json.h"

enum { CONNECT = 1, CONNECT_WITH_CREDENTIALS = 2, STATUS = 512 };

static enum tutti_err connect_to(struct tt_fedpro_caller *caller, struct tt_payload_memory *memory, const char *key)
{
    Fedpro__Nothing nothing = FEDPRO__NOTHING__INIT;
    Fedpro__Credited credited = FEDPRO__CREDITED__INIT;
    Fedpro__Credentials credentials = FEDPRO__CREDENTIALS__INIT;
    ProtobufCMessage *response = NULL;
    if (!key)
        return tt_fedpro_caller_call(caller, memory, CONNECT, &nothing.base, &fedpro__connected__descriptor, &response);
    credentials.type = tt_payload_make_text("HLAplainTextPassword");
    TRY(tt_payload_make_credentials(memory, key, &credentials.data));
    credited.credentials = &credentials;
    return tt_fedpro_caller_call(caller, memory, CONNECT_WITH_CREDENTIALS, &credited.base,
                                 &fedpro__connected__descriptor, &response);
}

static json_t *federate_json(const Fedpro__StatusFederate *f)
{
    json_t *json = json_object();
    json_object_set_new(json, "name", tt_json_text(f->name));
    json_object_set_new(json, "type", tt_json_text(f->type));
    json_object_set_new(json, "time", json_real(f->time));
    json_object_set_new(json, "regulating", json_boolean(f->regulating));
    json_object_set_new(json, "lookahead", f->regulating ? json_real(f->lookahead) : json_null());
    json_object_set_new(json, "constrained", json_boolean(f->constrained));
    json_object_set_new(json, "pending", f->pending[0] ? json_string(f->pending) : json_null());
    json_object_set_new(json, "target", f->pending[0] ? json_real(f->target) : json_null());
    json_object_set_new(json, "galt", f->has_galt ? json_real(f->galt) : json_null());
    json_object_set_new(json, "lits", f->has_lits ? json_real(f->lits) : json_null());
    json_object_set_new(json, "held_by", f->holder[0] ? tt_json_text(f->holder) : json_null());
    json_object_set_new(json, "queued", json_integer(f->queued));
    json_object_set_new(json, "unsent", json_integer(f->unsent));
    json_object_set_new(json, "connected", json_boolean(f->connected));
    return json;
}

static int print_json(const Fedpro__Status *status)
{
    json_t *json = json_object(), *federations = json_array();
    for (size_t i = 0; i < status->n_federation; i++) {
        const Fedpro__StatusFederation *from = status->federation[i];
        json_t *federation = json_object(), *federates = json_array();
        json_object_set_new(federation, "name", tt_json_text(from->name));
        json_object_set_new(federation, "time", tt_json_text(from->time));
        json_object_set_new(federation, "objects", json_integer(from->objects));
        for (size_t k = 0; k < from->n_federate; k++)
            json_array_append_new(federates, federate_json(from->federate[k]));
        json_object_set_new(federation, "federates", federates);
        json_object_set_new(federation, "waits", tt_json_text(from->waits));
        json_array_append_new(federations, federation);
    }
    json_object_set_new(json, "federations", federations);
    json_object_set_new(json, "sessions", json_integer(status->sessions));
    int failed = json_dumpf(json, stdout, JSON_INDENT(2));
    json_decref(json);
    putchar('\n');
    return failed ? EXIT_FAILED : EXIT_DONE;
}

static void print_federate(const Fedpro__StatusFederate *f)
{
    printf("  %s (%s): at %g", f->name, f->type, f->time);
    if (f->regulating)
        printf(", lookahead %g", f->lookahead);
    if (f->has_galt)
        printf(", GALT %g by %s", f->galt, f->holder[0] ? f->holder : "?");
    if (f->pending[0])
        printf(", waits for %g (%s)", f->target, f->pending);
    if (f->queued)
        printf(", %u messages for later", (unsigned)f->queued);
    if (f->unsent)
        printf(", %u messages on their way", (unsigned)f->unsent);
    puts(f->connected ? "" : ", connection lost");
}

static int print_words(const Fedpro__Status *status)
{
    if (status->n_federation == 0)
        puts("no federation");
    for (size_t i = 0; i < status->n_federation; i++) {
        const Fedpro__StatusFederation *from = status->federation[i];
        printf("%s: %zu federates, %u objects, %s\n", from->name, from->n_federate, (unsigned)from->objects,
               from->time);
        for (size_t k = 0; k < from->n_federate; k++)
            print_federate(from->federate[k]);
        if (from->waits[0])
            printf("%s", from->waits);
    }
    return EXIT_DONE;
}

int rti_status(const struct arguments *arguments, const char *address, const char *key)
{
    struct tt_fedpro_caller *caller = NULL;
    struct tt_tls *tls = NULL;
    struct tt_payload_memory memory;
    Fedpro__Nothing nothing = FEDPRO__NOTHING__INIT;
    ProtobufCMessage *response = NULL;
    const char *trust = arguments_value(arguments, "--tls-cert"), *own = arguments_value(arguments, "--tls-key");
    tt_payload_memory_init(&memory);
    enum tutti_err err = trust || own ? tt_tls_open_client(&tls, trust, own, own) : TUTTI_OK;
    struct tt_fedpro_caller_options options = {.address = address, .tls = tls};
    err = err ? err : tt_fedpro_caller_open(&caller, &options);
    err = err ? err : connect_to(caller, &memory, key);
    err = err ? err
              : tt_fedpro_caller_call(caller, &memory, STATUS, &nothing.base, &fedpro__status__descriptor, &response);
    int exit = EXIT_FAILED;
    if (err)
        console_error(tutti_err_message());
    else if (arguments_value(arguments, "--json"))
        exit = print_json((const Fedpro__Status *)(const void *)response);
    else
        exit = print_words((const Fedpro__Status *)(const void *)response);
    tt_fedpro_caller_free(caller);
    tt_tls_free(tls);
    tt_payload_memory_fini(&memory);
    return exit;
}
