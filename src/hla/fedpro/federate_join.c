/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/vector.h"
#include "hla/fedpro/credentials.h"
#include "hla/fedpro/federate_client.h"

enum { DELETE_THEN_DIVEST = 4 };

static enum tutti_err federate_read_module(struct tt_payload_memory *memory, const char *path, Fedpro__Module *module)
{
    enum { MOST = 16 << 20 };
    FILE *file = fopen(path, "rbe");
    if (!file)
        return tt_fail(TUTTI_ERR_IO, "%s cannot be opened: %s", path, strerror(errno));
    uint8_t *bytes = NULL;
    size_t room = 0, count = 0, got = 1;
    while (got > 0 && count <= MOST && tt_vector_reserve(&bytes, &room, count + 65536, 1)) {
        got = fread(bytes + count, 1, room - count, file);
        count += got;
    }
    fclose(file);
    fedpro__module__init(module);
    module->form_case = FEDPRO__MODULE__FORM_FILE;
    module->file = tt_payload_memory_allocate(memory, sizeof *module->file);
    uint8_t *kept = tt_payload_memory_allocate(memory, count + 1);
    if (module->file && kept && bytes) {
        memcpy(kept, bytes, count);
        fedpro__module_file__init(module->file);
        module->file->name = tt_payload_make_text(path);
        module->file->content = (ProtobufCBinaryData){count, kept};
    }
    free(bytes);
    return module->file && kept && got == 0 ? TUTTI_OK : tt_fail(TUTTI_ERR_LIMIT, "%s is too large", path);
}

static enum tutti_err read_modules(struct tutti_federate_client *federate, const struct tutti_federate_options *options,
                                   Fedpro__Modules *set)
{
    Fedpro__Module *modules = tt_payload_memory_allocate(&federate->memory, options->module_count * sizeof *modules);
    set->item = tt_payload_memory_allocate(&federate->memory, options->module_count * sizeof(Fedpro__Module *));
    if (!modules || !set->item)
        return tt_fail_memory();
    for (size_t i = 0; i < options->module_count; i++) {
        TRY(federate_read_module(&federate->memory, options->modules[i], &modules[i]));
        set->item[set->n_item++] = &modules[i];
    }
    return TUTTI_OK;
}

/* *there: it is already. */
static enum tutti_err federate_create_federation(struct tutti_federate_client *federate,
                                                 const struct tutti_federate_options *options, Fedpro__Modules *modules,
                                                 bool *there)
{
    Fedpro__CreateSeveral request = FEDPRO__CREATE_SEVERAL__INIT;
    request.federation = tt_payload_make_text(options->federation);
    request.modules = modules;
    request.time = tt_payload_make_text(options->time ? options->time : "HLAfloat64Time");
    enum tutti_err err = tt_federate_call(federate, CREATE, &request.base);
    *there = err == TUTTI_ERR_STATE && strncmp(tutti_err_message(), "FederationExecutionAlreadyExists", 32) == 0;
    return *there ? TUTTI_OK : err;
}

static enum tutti_err federate_connect(struct tutti_federate_client *federate,
                                       const struct tutti_federate_options *options)
{
    Fedpro__Nothing plain = FEDPRO__NOTHING__INIT;
    Fedpro__Credited credited = FEDPRO__CREDITED__INIT;
    Fedpro__Credentials credentials = FEDPRO__CREDENTIALS__INIT;
    ProtobufCMessage *response = NULL;
    if (!options->key)
        return TUTTI_CLIENT_CALL(federate, CONNECT, &plain, connected, &response);
    credentials.type = tt_payload_make_text("HLAplainTextPassword");
    TRY(tt_payload_make_credentials(&federate->memory, options->key, &credentials.data));
    credited.credentials = &credentials;
    return TUTTI_CLIENT_CALL(federate, CONNECT_WITH_CREDENTIALS, &credited, connected, &response);
}

/* `modules` are added to the federation's model; NULL: none. */
static enum tutti_err federate_join_federation(struct tutti_federate_client *federate,
                                               const struct tutti_federate_options *options, Fedpro__Modules *modules)
{
    Fedpro__Join any = FEDPRO__JOIN__INIT;
    Fedpro__JoinNamed named = FEDPRO__JOIN_NAMED__INIT;
    char *type = tt_payload_make_text(options->type ? options->type : "tutti");
    ProtobufCMessage *response = NULL;
    any.type = named.type = type;
    any.federation = named.federation = tt_payload_make_text(options->federation);
    any.modules = named.modules = modules;
    named.name = tt_payload_make_text(options->name);
    if (options->name)
        TRY(TUTTI_CLIENT_CALL(federate, modules ? JOIN_NAMED_WITH_MODULES : JOIN_NAMED, &named, joined, &response));
    else
        TRY(TUTTI_CLIENT_CALL(federate, modules ? JOIN_WITH_MODULES : JOIN, &any, joined, &response));
    const Fedpro__Joined *joined = (const Fedpro__Joined *)(const void *)response;
    if (!joined->result || !tt_logical_time_kind_find(joined->result->name, &federate->kind))
        return tt_fail(TUTTI_ERR_UNSUPPORTED,
                       "the federation's time is %s; HLAfloat64Time and HLAinteger64Time are known",
                       joined->result ? joined->result->name : "not said");
    federate->joined = true;
    return TUTTI_OK;
}

static enum tutti_err federate_enter_federation(struct tutti_federate_client *federate,
                                                const struct tutti_federate_options *options)
{
    const char *address = options->address ? options->address : "localhost";
    struct tt_fedpro_caller_options wishes = {.address = address,
                                              .patience = options->patience > 0 ? options->patience : 10};
    if (options->tls)
        TRY(tt_tls_open_client(&federate->tls, options->trust, options->certificate, options->private_key));
    wishes.tls = federate->tls;
    federate->interrupt = options->interrupt;
    federate->federation = tt_text_copy(options->federation);
    if (!federate->federation)
        return tt_fail_memory();
    TRY(tt_fedpro_caller_open(&federate->caller, &wishes));
    TRY(federate_connect(federate, options));
    Fedpro__Modules modules = FEDPRO__MODULES__INIT;
    bool there = false;
    if (options->module_count > 0) {
        TRY(read_modules(federate, options, &modules));
        TRY(federate_create_federation(federate, options, &modules, &there));
    }
    return federate_join_federation(federate, options, there ? &modules : NULL);
}

static void federate_release(struct tutti_federate_client *federate)
{
    tt_fedpro_caller_free(federate->caller);
    tt_tls_free(federate->tls);
    tt_federate_client_free_names(federate);
    for (struct tt_client_callback *later = federate->first, *next = NULL; later; later = next) {
        next = later->next;
        free(later->content);
        free(later);
    }
    free(federate->federation);
    tt_payload_memory_fini(&federate->memory);
    free(federate);
}

enum tutti_err tutti_federate_join(struct tutti_federate_client **out, const struct tutti_federate_options *options)
{
    *out = NULL;
    if (!options->federation || !options->federation[0])
        return tt_fail(TUTTI_ERR_ARGUMENT, "the name of the federation is missing");
    struct tutti_federate_client *federate = calloc(1, sizeof *federate);
    if (!federate)
        return tt_fail_memory();
    tt_payload_memory_init(&federate->memory);
    enum tutti_err err = federate_enter_federation(federate, options);
    if (err) {
        struct tt_failure failure;
        tt_fail_save(&failure, err);
        federate_release(federate);
        return tt_fail_restore(&failure);
    }
    *out = federate;
    return TUTTI_OK;
}

enum tutti_err tutti_federate_leave(struct tutti_federate_client *federate)
{
    if (!federate)
        return TUTTI_OK;
    Fedpro__Number action = FEDPRO__NUMBER__INIT;
    Fedpro__Text name = FEDPRO__TEXT__INIT;
    struct tt_failure failure;
    tt_payload_memory_reset(&federate->memory);
    action.value = DELETE_THEN_DIVEST;
    name.text = federate->federation;
    enum tutti_err err = tt_federate_call(federate, RESIGN, &action.base);
    tt_fail_save(&failure, err);
    if (!err)
        (void)!tt_federate_call(federate, DESTROY, &name.base); /* fails while others are in it */
    federate_release(federate);
    return tt_fail_restore(&failure);
}
