/* SPDX-License-Identifier: MIT */
/* A program as a federate, over a caller. Handles are bytes that only the RTI understands (other RTIs have handles of other sizes): classes,
 * members and objects are kept by name with their handle, and found again by either. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/federate.h>

#include "base/str.h"
#include "base/vector.h"
#include "fedpro/caller.h"
#include "fedpro/credentials.h"
#include "fedpro/forms.h"

enum { MOST_HANDLE = 64 };

/* Fields of CallRequest and CallbackRequest. */
enum {
    CONNECT = 1,
    CONNECT_WITH_CREDENTIALS = 2,
    CREATE = 9,
    DESTROY = 12,
    LIST_MEMBERS = 14,
    JOIN = 15,
    JOIN_WITH_MODULES = 16,
    JOIN_NAMED = 17,
    JOIN_NAMED_WITH_MODULES = 18,
    RESIGN = 19,
    REGISTER_POINT = 20,
    ACHIEVE_POINT = 22,
    PUBLISH = 35,
    PUBLISH_INTERACTION = 38,
    SUBSCRIBE = 43,
    SUBSCRIBE_INTERACTION = 49,
    RESERVE_NAME = 56,
    REGISTER = 60,
    REGISTER_NAMED = 61,
    UPDATE = 62,
    UPDATE_TIMED = 63,
    SEND = 64,
    SEND_TIMED = 65,
    DELETE = 68,
    ENABLE_REGULATION = 89,
    ENABLE_CONSTRAINED = 91,
    ADVANCE = 93,
    MODIFY_LOOKAHEAD = 103,
    OBJECT_CLASS_HANDLE = 126,
    OBJECT_CLASS_NAME = 127,
    ATTRIBUTE_HANDLE = 131,
    ATTRIBUTE_NAME = 132,
    INTERACTION_CLASS_HANDLE = 135,
    INTERACTION_CLASS_NAME = 136,
    PARAMETER_HANDLE = 137,
    PARAMETER_NAME = 138,

    MEMBERS = 3,
    ANNOUNCE = 8,
    SYNCHRONIZED = 9,
    NAME_RESERVED = 26,
    NAME_NOT_RESERVED = 27,
    DISCOVER = 30,
    REFLECT = 31,
    REFLECT_TIMED = 32,
    RECEIVE = 33,
    RECEIVE_TIMED = 34,
    REMOVE = 37,
    REMOVE_TIMED = 38,
    PROVIDE = 41,
    REGULATION_ENABLED = 58,
    CONSTRAINED_ENABLED = 59,
    FLUSH_GRANT = 60,
    GRANT = 61,
};

enum { DELETE_THEN_DIVEST = 4 };

struct handle {
    uint8_t size, bytes[MOST_HANDLE];
};

struct member {
    char *name;
    struct handle handle;
};

struct class {
    char *name;
    struct handle handle;
    bool interaction;
    struct member *members;
    size_t count, room;
};

struct object {
    char *name;
    struct handle handle;
    size_t class;
    bool gone;
};

/* A callback that came while another was waited for. */
struct later {
    struct later *next;
    uint32_t number;
    size_t size;
    uint8_t *content;
};

struct tutti_federate_client {
    struct tutti_fedpro_caller *caller;
    struct tutti_fedpro_tls *tls;
    struct tutti_fedpro_memory memory; /* of the call or the event */
    char *federation;
    enum tutti_time_kind kind;
    bool joined;
    double now;
    struct class *classes;
    size_t class_count, class_room;
    struct object *objects;
    size_t object_count, object_room;
    struct later *first, *last;
    const volatile sig_atomic_t *interrupt; /* NULL: never */
};

#define CALL(federate, number, request, form, response)                                                                \
    tutti_fedpro_caller_call((federate)->caller, &(federate)->memory, number, &(request)->base,                        \
                             &fedpro__##form##__descriptor, response)

/* A call that is answered by a message without content. */
static enum tutti_err call(struct tutti_federate_client *federate, uint32_t number, const ProtobufCMessage *request)
{
    ProtobufCMessage *response = NULL;
    return tutti_fedpro_caller_call(federate->caller, &federate->memory, number, request, &fedpro__nothing__descriptor,
                                    &response);
}

/* ---- handles and names ---- */

static bool keep_handle(struct handle *handle, const Fedpro__Handle *from)
{
    if (!from || from->data.len > MOST_HANDLE)
        return false;
    handle->size = (uint8_t)from->data.len;
    if (from->data.len > 0)
        memcpy(handle->bytes, from->data.data, from->data.len);
    return true;
}

static bool is_handle(const struct handle *handle, const Fedpro__Handle *other)
{
    return other && other->data.len == handle->size && memcmp(handle->bytes, other->data.data, handle->size) == 0;
}

/* Borrows the handle's bytes. */
static Fedpro__Handle lend(const struct handle *handle)
{
    Fedpro__Handle lent = FEDPRO__HANDLE__INIT;
    lent.data = (ProtobufCBinaryData){handle->size, tutti_fedpro_borrow(handle->bytes)};
    return lent;
}

static enum tutti_err odd(const struct tutti_federate_client *federate, const char *what)
{
    return tutti_fail(TUTTI_ERR_FORMAT, "the RTI at %s sent %s", federate->caller->address.text, what);
}

/* The handle that a call answers. */
static enum tutti_err ask_handle(struct tutti_federate_client *federate, uint32_t number,
                                 const ProtobufCMessage *request, struct handle *handle)
{
    ProtobufCMessage *response = NULL;
    TRY(tutti_fedpro_caller_call(federate->caller, &federate->memory, number, request, &fedpro__one_handle__descriptor,
                                 &response));
    return keep_handle(handle, ((Fedpro__OneHandle *)(void *)response)->handle) ? TUTTI_OK : odd(federate, "no handle");
}

static enum tutti_err ask_name(struct tutti_federate_client *federate, uint32_t number, const ProtobufCMessage *request,
                               const char **name)
{
    ProtobufCMessage *response = NULL;
    TRY(tutti_fedpro_caller_call(federate->caller, &federate->memory, number, request, &fedpro__text__descriptor,
                                 &response));
    *name = ((Fedpro__Text *)(void *)response)->text;
    return TUTTI_OK;
}

static enum tutti_err add_class(struct tutti_federate_client *federate, bool interaction, const char *name,
                                const struct handle *handle, size_t *place)
{
    if (!tutti_vector_reserve(&federate->classes, &federate->class_room, federate->class_count + 1,
                              sizeof(struct class)))
        return tutti_fail_memory();
    struct class *class = &federate->classes[federate->class_count];
    *class = (struct class){.name = tutti_str_copy(name), .handle = *handle, .interaction = interaction};
    if (!class->name)
        return tutti_fail_memory();
    *place = federate->class_count++;
    return TUTTI_OK;
}

static enum tutti_err find_class(struct tutti_federate_client *federate, bool interaction, const char *name,
                                 size_t *place)
{
    for (size_t i = 0; i < federate->class_count; i++)
        if (federate->classes[i].interaction == interaction && strcmp(federate->classes[i].name, name) == 0) {
            *place = i;
            return TUTTI_OK;
        }
    Fedpro__Text request = FEDPRO__TEXT__INIT;
    struct handle handle = {0};
    request.text = tutti_fedpro_make_text(name);
    TRY(ask_handle(federate, interaction ? INTERACTION_CLASS_HANDLE : OBJECT_CLASS_HANDLE, &request.base, &handle));
    return add_class(federate, interaction, name, &handle, place);
}

static enum tutti_err find_class_by_handle(struct tutti_federate_client *federate, bool interaction,
                                           const Fedpro__Handle *wanted, size_t *place)
{
    for (size_t i = 0; i < federate->class_count; i++)
        if (federate->classes[i].interaction == interaction && is_handle(&federate->classes[i].handle, wanted)) {
            *place = i;
            return TUTTI_OK;
        }
    Fedpro__OneHandle request = FEDPRO__ONE_HANDLE__INIT;
    struct handle handle = {0};
    const char *name = NULL;
    if (!keep_handle(&handle, wanted))
        return odd(federate, "no class");
    request.handle = tutti_fedpro_borrow(wanted);
    TRY(ask_name(federate, interaction ? INTERACTION_CLASS_NAME : OBJECT_CLASS_NAME, &request.base, &name));
    return add_class(federate, interaction, name, &handle, place);
}

static enum tutti_err add_member(struct class *class, const char *name, const struct handle *handle, size_t *which)
{
    if (!tutti_vector_reserve(&class->members, &class->room, class->count + 1, sizeof(struct member)))
        return tutti_fail_memory();
    struct member *added = &class->members[class->count];
    *added = (struct member){tutti_str_copy(name), *handle};
    if (!added->name)
        return tutti_fail_memory();
    *which = class->count++;
    return TUTTI_OK;
}

static enum tutti_err find_member(struct tutti_federate_client *federate, size_t place, const char *name, size_t *which)
{
    struct class *class = &federate->classes[place];
    for (size_t i = 0; i < class->count; i++)
        if (strcmp(class->members[i].name, name) == 0) {
            *which = i;
            return TUTTI_OK;
        }
    Fedpro__Named request = FEDPRO__NAMED__INIT;
    Fedpro__Handle lent = lend(&class->handle);
    struct handle handle = {0};
    request.handle = &lent;
    request.name = tutti_fedpro_make_text(name);
    TRY(ask_handle(federate, class->interaction ? PARAMETER_HANDLE : ATTRIBUTE_HANDLE, &request.base, &handle));
    return add_member(class, name, &handle, which);
}

static enum tutti_err find_member_by_handle(struct tutti_federate_client *federate, size_t place,
                                            const Fedpro__Handle *wanted, size_t *which)
{
    struct class *class = &federate->classes[place];
    for (size_t i = 0; i < class->count; i++)
        if (is_handle(&class->members[i].handle, wanted)) {
            *which = i;
            return TUTTI_OK;
        }
    Fedpro__TwoHandles request = FEDPRO__TWO_HANDLES__INIT;
    Fedpro__Handle lent = lend(&class->handle);
    struct handle handle = {0};
    const char *name = NULL;
    if (!keep_handle(&handle, wanted))
        return odd(federate, "no attribute or parameter");
    request.first = &lent;
    request.second = tutti_fedpro_borrow(wanted);
    TRY(ask_name(federate, class->interaction ? PARAMETER_NAME : ATTRIBUTE_NAME, &request.base, &name));
    return add_member(class, name, &handle, which);
}

static enum tutti_err add_object(struct tutti_federate_client *federate, const char *name, const struct handle *handle,
                                 size_t class, uint32_t *object)
{
    if (!tutti_vector_reserve(&federate->objects, &federate->object_room, federate->object_count + 1,
                              sizeof(struct object)))
        return tutti_fail_memory();
    struct object *added = &federate->objects[federate->object_count];
    *added = (struct object){.name = tutti_str_copy(name), .handle = *handle, .class = class};
    if (!added->name)
        return tutti_fail_memory();
    *object = (uint32_t)++federate->object_count;
    return TUTTI_OK;
}

/* NULL: it was never heard of, or is gone. */
static struct object *object_of(struct tutti_federate_client *federate, uint32_t number)
{
    bool there = number >= 1 && number <= federate->object_count && !federate->objects[number - 1].gone;
    return there ? &federate->objects[number - 1] : NULL;
}

static uint32_t find_object(const struct tutti_federate_client *federate, const Fedpro__Handle *wanted)
{
    for (size_t i = federate->object_count; i-- > 0;)
        if (!federate->objects[i].gone && is_handle(&federate->objects[i].handle, wanted))
            return (uint32_t)i + 1;
    return 0;
}

static enum tutti_err unknown_object(uint32_t object)
{
    return tutti_fail(TUTTI_ERR_ARGUMENT, "there is no object %u", (unsigned)object);
}

/* ---- joining and leaving ---- */

static enum tutti_err read_module(struct tutti_fedpro_memory *memory, const char *path, Fedpro__Module *module)
{
    enum { MOST = 16 << 20 };
    FILE *file = fopen(path, "rbe");
    if (!file)
        return tutti_fail(TUTTI_ERR_IO, "%s cannot be opened: %s", path, strerror(errno));
    uint8_t *bytes = NULL;
    size_t room = 0, count = 0, got = 1;
    while (got > 0 && count <= MOST && tutti_vector_reserve(&bytes, &room, count + 65536, 1)) {
        got = fread(bytes + count, 1, room - count, file);
        count += got;
    }
    fclose(file);
    fedpro__module__init(module);
    module->form_case = FEDPRO__MODULE__FORM_FILE;
    module->file = tutti_fedpro_memory_take(memory, sizeof *module->file);
    uint8_t *kept = tutti_fedpro_memory_take(memory, count + 1);
    if (module->file && kept && bytes) {
        memcpy(kept, bytes, count);
        fedpro__module_file__init(module->file);
        module->file->name = tutti_fedpro_make_text(path);
        module->file->content = (ProtobufCBinaryData){count, kept};
    }
    free(bytes);
    return module->file && kept && got == 0 ? TUTTI_OK : tutti_fail(TUTTI_ERR_LIMIT, "%s is too large", path);
}

static enum tutti_err read_modules(struct tutti_federate_client *federate, const struct tutti_federate_options *options,
                                   Fedpro__Modules *set)
{
    Fedpro__Module *modules = tutti_fedpro_memory_take(&federate->memory, options->module_count * sizeof *modules);
    set->item = tutti_fedpro_memory_take(&federate->memory, options->module_count * sizeof(Fedpro__Module *));
    if (!modules || !set->item)
        return tutti_fail_memory();
    for (size_t i = 0; i < options->module_count; i++) {
        TRY(read_module(&federate->memory, options->modules[i], &modules[i]));
        set->item[set->n_item++] = &modules[i];
    }
    return TUTTI_OK;
}

/* *there: it is already. */
static enum tutti_err create(struct tutti_federate_client *federate, const struct tutti_federate_options *options,
                             Fedpro__Modules *modules, bool *there)
{
    Fedpro__CreateSeveral request = FEDPRO__CREATE_SEVERAL__INIT;
    request.federation = tutti_fedpro_make_text(options->federation);
    request.modules = modules;
    request.time = tutti_fedpro_make_text(options->time ? options->time : "HLAfloat64Time");
    enum tutti_err err = call(federate, CREATE, &request.base);
    *there = err == TUTTI_ERR_STATE && strncmp(tutti_err_message(), "FederationExecutionAlreadyExists", 32) == 0;
    return *there ? TUTTI_OK : err;
}

static enum tutti_err connect_to(struct tutti_federate_client *federate, const struct tutti_federate_options *options)
{
    Fedpro__Nothing plain = FEDPRO__NOTHING__INIT;
    Fedpro__Credited credited = FEDPRO__CREDITED__INIT;
    Fedpro__Credentials credentials = FEDPRO__CREDENTIALS__INIT;
    ProtobufCMessage *response = NULL;
    if (!options->key)
        return CALL(federate, CONNECT, &plain, connected, &response);
    credentials.type = tutti_fedpro_make_text("HLAplainTextPassword");
    TRY(tutti_fedpro_credentials_of_key(&federate->memory, options->key, &credentials.data));
    credited.credentials = &credentials;
    return CALL(federate, CONNECT_WITH_CREDENTIALS, &credited, connected, &response);
}

/* `modules` are added to the federation's model; NULL: none. */
static enum tutti_err join(struct tutti_federate_client *federate, const struct tutti_federate_options *options,
                           Fedpro__Modules *modules)
{
    Fedpro__Join any = FEDPRO__JOIN__INIT;
    Fedpro__JoinNamed named = FEDPRO__JOIN_NAMED__INIT;
    char *type = tutti_fedpro_make_text(options->type ? options->type : "tutti");
    ProtobufCMessage *response = NULL;
    any.type = named.type = type;
    any.federation = named.federation = tutti_fedpro_make_text(options->federation);
    any.modules = named.modules = modules;
    named.name = tutti_fedpro_make_text(options->name);
    if (options->name)
        TRY(CALL(federate, modules ? JOIN_NAMED_WITH_MODULES : JOIN_NAMED, &named, joined, &response));
    else
        TRY(CALL(federate, modules ? JOIN_WITH_MODULES : JOIN, &any, joined, &response));
    const Fedpro__Joined *joined = (const Fedpro__Joined *)(const void *)response;
    if (!joined->result || !tutti_time_kind_find(joined->result->name, &federate->kind))
        return tutti_fail(TUTTI_ERR_UNSUPPORTED,
                          "the federation's time is %s; HLAfloat64Time and HLAinteger64Time are known",
                          joined->result ? joined->result->name : "not said");
    federate->joined = true;
    return TUTTI_OK;
}

static enum tutti_err begin(struct tutti_federate_client *federate, const struct tutti_federate_options *options)
{
    const char *address = options->address ? options->address : "localhost";
    struct tutti_fedpro_caller_options wishes = {.address = address,
                                                 .patience = options->patience > 0 ? options->patience : 10};
    if (options->tls)
        TRY(tutti_fedpro_tls_client(&federate->tls, options->trust, options->certificate, options->private_key));
    wishes.tls = federate->tls;
    federate->interrupt = options->interrupt;
    federate->federation = tutti_str_copy(options->federation);
    if (!federate->federation)
        return tutti_fail_memory();
    TRY(tutti_fedpro_caller_open(&federate->caller, &wishes));
    TRY(connect_to(federate, options));
    Fedpro__Modules modules = FEDPRO__MODULES__INIT;
    bool there = false;
    if (options->module_count > 0) {
        TRY(read_modules(federate, options, &modules));
        TRY(create(federate, options, &modules, &there));
    }
    return join(federate, options, there ? &modules : NULL);
}

static void release(struct tutti_federate_client *federate)
{
    tutti_fedpro_caller_free(federate->caller);
    tutti_fedpro_tls_free(federate->tls);
    for (size_t i = 0; i < federate->class_count; i++) {
        for (size_t k = 0; k < federate->classes[i].count; k++)
            free(federate->classes[i].members[k].name);
        free(federate->classes[i].members);
        free(federate->classes[i].name);
    }
    for (size_t i = 0; i < federate->object_count; i++)
        free(federate->objects[i].name);
    for (struct later *later = federate->first, *next = NULL; later; later = next) {
        next = later->next;
        free(later->content);
        free(later);
    }
    free(federate->classes);
    free(federate->objects);
    free(federate->federation);
    tutti_fedpro_memory_fini(&federate->memory);
    free(federate);
}

enum tutti_err tutti_federate_join(struct tutti_federate_client **out, const struct tutti_federate_options *options)
{
    *out = NULL;
    if (!options->federation || !options->federation[0])
        return tutti_fail(TUTTI_ERR_ARGUMENT, "the name of the federation is missing");
    struct tutti_federate_client *federate = calloc(1, sizeof *federate);
    if (!federate)
        return tutti_fail_memory();
    tutti_fedpro_memory_init(&federate->memory);
    enum tutti_err err = begin(federate, options);
    if (err) {
        struct tutti_failure failure;
        tutti_failure_keep(&failure, err);
        release(federate);
        return tutti_failure_return(&failure);
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
    struct tutti_failure failure;
    tutti_fedpro_memory_reset(&federate->memory);
    action.value = DELETE_THEN_DIVEST;
    name.text = federate->federation;
    enum tutti_err err = call(federate, RESIGN, &action.base);
    tutti_failure_keep(&failure, err);
    if (!err)
        (void)call(federate, DESTROY, &name.base); /* fails while others are in it */
    release(federate);
    return tutti_failure_return(&failure);
}

/* ---- declarations ---- */

static enum tutti_err declare(struct tutti_federate_client *federate, uint32_t number, const char *object_class,
                              const char *attributes)
{
    size_t place = 0, most = strlen(attributes) + 1;
    Fedpro__Members request = FEDPRO__MEMBERS__INIT;
    Fedpro__Handles set = FEDPRO__HANDLES__INIT;
    tutti_fedpro_memory_reset(&federate->memory);
    TRY(find_class(federate, false, object_class, &place));
    Fedpro__Handle *handles = tutti_fedpro_memory_take(&federate->memory, most * sizeof *handles);
    char *names = tutti_fedpro_memory_take(&federate->memory, most);
    set.item = tutti_fedpro_memory_take(&federate->memory, most * sizeof(Fedpro__Handle *));
    if (!handles || !names || !set.item)
        return tutti_fail_memory();
    memcpy(names, attributes, most);
    char *rest = NULL;
    for (char *name = strtok_r(names, ", ", &rest); name; name = strtok_r(NULL, ", ", &rest)) {
        size_t which = 0;
        TRY(find_member(federate, place, name, &which));
        const struct member *member = &federate->classes[place].members[which];
        fedpro__handle__init(&handles[set.n_item]);
        handles[set.n_item].data.data = tutti_fedpro_memory_take(&federate->memory, MOST_HANDLE);
        if (!handles[set.n_item].data.data)
            return tutti_fail_memory();
        handles[set.n_item].data.len = member->handle.size;
        memcpy(handles[set.n_item].data.data, member->handle.bytes, member->handle.size);
        set.item[set.n_item] = &handles[set.n_item];
        set.n_item++;
    }
    Fedpro__Handle class = lend(&federate->classes[place].handle);
    request.subject = &class;
    request.members = &set;
    return call(federate, number, &request.base);
}

enum tutti_err tutti_federate_publish(struct tutti_federate_client *federate, const char *object_class,
                                      const char *attributes)
{
    return declare(federate, PUBLISH, object_class, attributes);
}

enum tutti_err tutti_federate_subscribe(struct tutti_federate_client *federate, const char *object_class,
                                        const char *attributes)
{
    return declare(federate, SUBSCRIBE, object_class, attributes);
}

static enum tutti_err declare_interaction(struct tutti_federate_client *federate, uint32_t number, const char *name)
{
    size_t place = 0;
    Fedpro__OneHandle request = FEDPRO__ONE_HANDLE__INIT;
    tutti_fedpro_memory_reset(&federate->memory);
    TRY(find_class(federate, true, name, &place));
    Fedpro__Handle class = lend(&federate->classes[place].handle);
    request.handle = &class;
    return call(federate, number, &request.base);
}

enum tutti_err tutti_federate_publish_interaction(struct tutti_federate_client *federate, const char *interaction_class)
{
    return declare_interaction(federate, PUBLISH_INTERACTION, interaction_class);
}

enum tutti_err tutti_federate_subscribe_interaction(struct tutti_federate_client *federate,
                                                    const char *interaction_class)
{
    return declare_interaction(federate, SUBSCRIBE_INTERACTION, interaction_class);
}

/* ---- callbacks that are waited for inside of calls ---- */

static enum tutti_err keep_for_later(struct tutti_federate_client *federate, uint32_t number, uint8_t *content,
                                     size_t size)
{
    struct later *later = malloc(sizeof *later);
    if (!later) {
        free(content);
        return tutti_fail_memory();
    }
    *later = (struct later){NULL, number, size, content};
    if (federate->last)
        federate->last->next = later;
    else
        federate->first = later;
    federate->last = later;
    return TUTTI_OK;
}

/* Waits for a callback of one of two numbers; others stay for tutti_federate_next. Its message is in the memory. */
static enum tutti_err wait_for(struct tutti_federate_client *federate, uint32_t one, uint32_t other,
                               const ProtobufCMessageDescriptor *form, uint32_t *number, ProtobufCMessage **message)
{
    static const double LOOK = 0.1; /* seconds between two looks at `interrupt` */
    uint8_t *content = NULL;
    size_t size = 0;
    for (;;) {
        TRY(tutti_fedpro_caller_next(federate->caller, federate->interrupt ? LOOK : -1, number, &content, &size));
        if (*number == one || *number == other)
            break;
        if (*number)
            TRY(keep_for_later(federate, *number, content, size));
        if (federate->interrupt && *federate->interrupt)
            return tutti_fail(TUTTI_ERR_INTERRUPTED, "interrupted while it waited for the federation %s",
                              federate->federation);
    }
    *message = protobuf_c_message_unpack(form, &federate->memory.allocator, size, content);
    free(content);
    return *message ? TUTTI_OK : odd(federate, "a callback that is none");
}

/* ---- objects and interactions ---- */

static enum tutti_err reserve(struct tutti_federate_client *federate, const char *name)
{
    Fedpro__Text request = FEDPRO__TEXT__INIT;
    ProtobufCMessage *message = NULL;
    uint32_t number = 0;
    request.text = tutti_fedpro_make_text(name);
    TRY(call(federate, RESERVE_NAME, &request.base));
    TRY(wait_for(federate, NAME_RESERVED, NAME_NOT_RESERVED, &fedpro__text__descriptor, &number, &message));
    if (number == NAME_NOT_RESERVED)
        return tutti_fail(TUTTI_ERR_STATE, "ObjectInstanceNameInUse: another object is called %s", name);
    return TUTTI_OK;
}

enum tutti_err tutti_federate_register(struct tutti_federate_client *federate, const char *object_class,
                                       const char *name, uint32_t *object)
{
    size_t place = 0;
    struct handle handle = {0};
    Fedpro__OneHandle any = FEDPRO__ONE_HANDLE__INIT;
    Fedpro__Named named = FEDPRO__NAMED__INIT;
    tutti_fedpro_memory_reset(&federate->memory);
    TRY(find_class(federate, false, object_class, &place));
    if (name)
        TRY(reserve(federate, name));
    Fedpro__Handle class = lend(&federate->classes[place].handle);
    any.handle = named.handle = &class;
    named.name = tutti_fedpro_make_text(name);
    if (name)
        TRY(ask_handle(federate, REGISTER_NAMED, &named.base, &handle));
    else
        TRY(ask_handle(federate, REGISTER, &any.base, &handle));
    return add_object(federate, name ? name : "", &handle, place, object);
}

static enum tutti_err encode_time(struct tutti_federate_client *federate, double time, Fedpro__Handle **encoded)
{
    int64_t value = 0;
    if (!tutti_time_from_double(federate->kind, time, &value))
        return tutti_fail(TUTTI_ERR_ARGUMENT, "%g is no time or interval of %s", time,
                          tutti_time_kind_name(federate->kind));
    *encoded = tutti_fedpro_make_time(&federate->memory, federate->kind, value);
    return *encoded ? TUTTI_OK : tutti_fail_memory();
}

static enum tutti_err make_values(struct tutti_federate_client *federate, size_t class,
                                  const struct tutti_federate_value *values, size_t count, Fedpro__Values *set)
{
    set->item = tutti_fedpro_memory_take(&federate->memory, (count + 1) * sizeof(Fedpro__Value *));
    for (size_t i = 0; set->item && i < count; i++) {
        size_t which = 0;
        TRY(find_member(federate, class, values[i].name, &which));
        const struct member *member = &federate->classes[class].members[which];
        Fedpro__Value *value = tutti_fedpro_memory_take(&federate->memory, sizeof *value);
        Fedpro__Handle *handle = tutti_fedpro_memory_take(&federate->memory, sizeof *handle + MOST_HANDLE);
        if (!value || !handle)
            return tutti_fail_memory();
        fedpro__value__init(value);
        fedpro__handle__init(handle);
        handle->data = (ProtobufCBinaryData){member->handle.size, (uint8_t *)(handle + 1)};
        memcpy(handle->data.data, member->handle.bytes, member->handle.size);
        value->handle = handle;
        value->value = (ProtobufCBinaryData){values[i].size, tutti_fedpro_borrow(values[i].data)};
        set->item[set->n_item++] = value;
    }
    return set->item ? TUTTI_OK : tutti_fail_memory();
}

/* An update or an interaction. */
static enum tutti_err send_message(struct tutti_federate_client *federate, uint32_t number,
                                   const struct handle *subject, size_t class,
                                   const struct tutti_federate_value *values, size_t count, const double *time)
{
    Fedpro__Sent request = FEDPRO__SENT__INIT;
    Fedpro__Values set = FEDPRO__VALUES__INIT;
    Fedpro__Handle lent = lend(subject);
    ProtobufCMessage *response = NULL;
    TRY(make_values(federate, class, values, count, &set));
    request.subject = &lent;
    request.values = &set;
    if (!time)
        return call(federate, number, &request.base);
    TRY(encode_time(federate, *time, &request.time));
    return CALL(federate, number + 1, &request, maybe_result, &response);
}

enum tutti_err tutti_federate_update(struct tutti_federate_client *federate, uint32_t object,
                                     const struct tutti_federate_value *values, size_t count, const double *time)
{
    const struct object *known = object_of(federate, object);
    if (!known)
        return unknown_object(object);
    struct handle handle = known->handle;
    tutti_fedpro_memory_reset(&federate->memory);
    return send_message(federate, UPDATE, &handle, known->class, values, count, time);
}

enum tutti_err tutti_federate_send(struct tutti_federate_client *federate, const char *interaction_class,
                                   const struct tutti_federate_value *values, size_t count, const double *time)
{
    size_t place = 0;
    tutti_fedpro_memory_reset(&federate->memory);
    TRY(find_class(federate, true, interaction_class, &place));
    struct handle handle = federate->classes[place].handle;
    return send_message(federate, SEND, &handle, place, values, count, time);
}

enum tutti_err tutti_federate_delete(struct tutti_federate_client *federate, uint32_t object)
{
    struct object *known = object_of(federate, object);
    if (!known)
        return unknown_object(object);
    Fedpro__Deleted request = FEDPRO__DELETED__INIT;
    Fedpro__Handle lent = lend(&known->handle);
    tutti_fedpro_memory_reset(&federate->memory);
    request.object = &lent;
    TRY(call(federate, DELETE, &request.base));
    known->gone = true;
    return TUTTI_OK;
}

/* ---- time ---- */

static double read_time(const struct tutti_federate_client *federate, const Fedpro__Handle *encoded)
{
    int64_t time = 0;
    bool good = encoded && tutti_time_decode(federate->kind, encoded->data.data, encoded->data.len, &time);
    return good ? tutti_time_to_double(federate->kind, time) : 0;
}

/* Waits for the callback that follows, which says the time. */
static enum tutti_err enable(struct tutti_federate_client *federate, uint32_t call_number,
                             const ProtobufCMessage *request, uint32_t callback)
{
    ProtobufCMessage *message = NULL;
    uint32_t number = 0;
    TRY(call(federate, call_number, request));
    TRY(wait_for(federate, callback, callback, &fedpro__one_handle__descriptor, &number, &message));
    federate->now = read_time(federate, ((Fedpro__OneHandle *)(void *)message)->handle);
    return TUTTI_OK;
}

enum tutti_err tutti_federate_regulate(struct tutti_federate_client *federate, double lookahead)
{
    Fedpro__OneHandle request = FEDPRO__ONE_HANDLE__INIT;
    tutti_fedpro_memory_reset(&federate->memory);
    TRY(encode_time(federate, lookahead, &request.handle));
    return enable(federate, ENABLE_REGULATION, &request.base, REGULATION_ENABLED);
}

enum tutti_err tutti_federate_constrain(struct tutti_federate_client *federate)
{
    Fedpro__Nothing request = FEDPRO__NOTHING__INIT;
    tutti_fedpro_memory_reset(&federate->memory);
    return enable(federate, ENABLE_CONSTRAINED, &request.base, CONSTRAINED_ENABLED);
}

enum tutti_err tutti_federate_look_ahead(struct tutti_federate_client *federate, double lookahead)
{
    Fedpro__OneHandle request = FEDPRO__ONE_HANDLE__INIT;
    tutti_fedpro_memory_reset(&federate->memory);
    TRY(encode_time(federate, lookahead, &request.handle));
    return call(federate, MODIFY_LOOKAHEAD, &request.base);
}

enum tutti_err tutti_federate_request(struct tutti_federate_client *federate, enum tutti_federate_advance how,
                                      double time)
{
    Fedpro__OneHandle request = FEDPRO__ONE_HANDLE__INIT;
    tutti_fedpro_memory_reset(&federate->memory);
    TRY(encode_time(federate, time, &request.handle));
    return call(federate, ADVANCE + (uint32_t)how, &request.base);
}

double tutti_federate_time(const struct tutti_federate_client *federate)
{
    return federate->now;
}

bool tutti_federate_counts(const struct tutti_federate_client *federate)
{
    return federate->kind == TUTTI_TIME_INTEGER64;
}

enum tutti_err tutti_federate_members(struct tutti_federate_client *federate, size_t *count)
{
    Fedpro__Text request = FEDPRO__TEXT__INIT;
    ProtobufCMessage *message = NULL;
    uint32_t number = 0;
    tutti_fedpro_memory_reset(&federate->memory);
    request.text = tutti_fedpro_make_text(federate->federation);
    TRY(call(federate, LIST_MEMBERS, &request.base));
    TRY(wait_for(federate, MEMBERS, MEMBERS, &fedpro__named_pairs__descriptor, &number, &message));
    const Fedpro__Pairs *report = ((Fedpro__NamedPairs *)(void *)message)->report;
    *count = report ? report->n_item : 0;
    return TUTTI_OK;
}

enum tutti_err tutti_federate_synchronize(struct tutti_federate_client *federate, const char *label)
{
    Fedpro__Point point = FEDPRO__POINT__INIT;
    Fedpro__Achieved achieved = FEDPRO__ACHIEVED__INIT;
    ProtobufCMessage *message = NULL;
    uint32_t number = 0;
    tutti_fedpro_memory_reset(&federate->memory);
    point.label = achieved.label = tutti_fedpro_make_text(label);
    achieved.successfully = true;
    TRY(call(federate, REGISTER_POINT,
             &point.base)); /* whether it is the first to do so, is told by a callback and does not matter */
    TRY(call(federate, ACHIEVE_POINT, &achieved.base));
    do
        TRY(wait_for(federate, SYNCHRONIZED, SYNCHRONIZED, &fedpro__text_set__descriptor, &number, &message));
    while (!message || strcmp(((Fedpro__TextSet *)(void *)message)->text, label) != 0);
    return TUTTI_OK;
}

enum tutti_err tutti_federate_achieve(struct tutti_federate_client *federate, const char *label)
{
    Fedpro__Achieved achieved = FEDPRO__ACHIEVED__INIT;
    char *copy = tutti_str_copy(label); /* it may be an event's */
    if (!copy)
        return tutti_fail_memory();
    tutti_fedpro_memory_reset(&federate->memory);
    achieved.label = copy;
    achieved.successfully = true;
    enum tutti_err err = call(federate, ACHIEVE_POINT, &achieved.base);
    free(copy);
    return err;
}

/* ---- events ---- */

/* UNPACK(federate, Form, form, content, size): the message in the memory, or NULL. */
#define UNPACK(federate, form, content, size) fedpro__##form##__unpack(&(federate)->memory.allocator, size, content)

static enum tutti_err read_values(struct tutti_federate_client *federate, size_t class, const Fedpro__Values *values,
                                  struct tutti_federate_event *event)
{
    size_t count = values ? values->n_item : 0;
    struct tutti_federate_value *items = tutti_fedpro_memory_take(&federate->memory, (count + 1) * sizeof *items);
    if (!items)
        return tutti_fail_memory();
    for (size_t i = 0; i < count; i++) {
        size_t which = 0;
        TRY(find_member_by_handle(federate, class, values->item[i]->handle, &which));
        const struct member *member = &federate->classes[class].members[which];
        items[i] = (struct tutti_federate_value){member->name, values->item[i]->value.data, values->item[i]->value.len};
    }
    event->values = items;
    event->count = count;
    return TUTTI_OK;
}

static void name_object(struct tutti_federate_client *federate, uint32_t number, struct tutti_federate_event *event)
{
    const struct object *object = object_of(federate, number);
    event->object = number;
    event->object_name = object ? object->name : NULL;
    event->class_name = object ? federate->classes[object->class].name : NULL;
}

static enum tutti_err discover(struct tutti_federate_client *federate, const uint8_t *content, size_t size,
                               struct tutti_federate_event *event)
{
    const Fedpro__Discovered *found = UNPACK(federate, discovered, content, size);
    size_t place = 0;
    struct handle handle = {0};
    uint32_t number = 0;
    if (!found || !keep_handle(&handle, found->object))
        return odd(federate, "a discovery without an object");
    TRY(find_class_by_handle(federate, false, found->object_class, &place));
    TRY(add_object(federate, found->name, &handle, place, &number));
    name_object(federate, number, event);
    event->kind = TUTTI_FEDERATE_DISCOVER;
    return TUTTI_OK;
}

/* NULL: it came without a time. */
static void set_time(const struct tutti_federate_client *federate, const Fedpro__Handle *encoded,
                     struct tutti_federate_event *event)
{
    event->timed = encoded != NULL;
    event->time = read_time(federate, encoded);
}

static enum tutti_err reflect(struct tutti_federate_client *federate, const uint8_t *content, size_t size,
                              struct tutti_federate_event *event)
{
    const Fedpro__Received *received = UNPACK(federate, received, content, size);
    uint32_t number = received ? find_object(federate, received->subject) : 0;
    if (number == 0)
        return TUTTI_OK; /* deleted here in the meantime */
    TRY(read_values(federate, federate->objects[number - 1].class, received->values, event));
    name_object(federate, number, event);
    event->kind = TUTTI_FEDERATE_REFLECT;
    set_time(federate, received->time, event);
    return TUTTI_OK;
}

static enum tutti_err receive(struct tutti_federate_client *federate, const uint8_t *content, size_t size,
                              struct tutti_federate_event *event)
{
    const Fedpro__Received *received = UNPACK(federate, received, content, size);
    size_t place = 0;
    if (!received)
        return odd(federate, "an interaction that is none");
    TRY(find_class_by_handle(federate, true, received->subject, &place));
    TRY(read_values(federate, place, received->values, event));
    event->kind = TUTTI_FEDERATE_INTERACTION;
    event->class_name = federate->classes[place].name;
    set_time(federate, received->time, event);
    return TUTTI_OK;
}

static enum tutti_err remove_object(struct tutti_federate_client *federate, const uint8_t *content, size_t size,
                                    struct tutti_federate_event *event)
{
    const Fedpro__Removed *removed = UNPACK(federate, removed, content, size);
    uint32_t number = removed ? find_object(federate, removed->object) : 0;
    if (number == 0)
        return TUTTI_OK;
    name_object(federate, number, event);
    federate->objects[number - 1].gone = true;
    event->kind = TUTTI_FEDERATE_REMOVE;
    set_time(federate, removed->time, event);
    return TUTTI_OK;
}

static enum tutti_err provide(struct tutti_federate_client *federate, const uint8_t *content, size_t size,
                              struct tutti_federate_event *event)
{
    const Fedpro__Members *members = UNPACK(federate, members, content, size);
    uint32_t number = members ? find_object(federate, members->subject) : 0;
    size_t count = members && members->members ? members->members->n_item : 0;
    struct tutti_federate_value *items = tutti_fedpro_memory_take(&federate->memory, (count + 1) * sizeof *items);
    if (number == 0)
        return TUTTI_OK;
    for (size_t i = 0; items && i < count; i++) {
        size_t which = 0, class = federate->objects[number - 1].class;
        TRY(find_member_by_handle(federate, class, members->members->item[i], &which));
        items[i].name = federate->classes[class].members[which].name;
    }
    name_object(federate, number, event);
    event->kind = TUTTI_FEDERATE_PROVIDE;
    event->values = items;
    event->count = items ? count : 0;
    return items ? TUTTI_OK : tutti_fail_memory();
}

static enum tutti_err grant(struct tutti_federate_client *federate, const uint8_t *content, size_t size,
                            struct tutti_federate_event *event)
{
    const Fedpro__OneHandle *granted = UNPACK(federate, one_handle, content, size);
    if (!granted)
        return odd(federate, "a grant without a time");
    event->kind = TUTTI_FEDERATE_GRANT;
    event->timed = true;
    event->time = federate->now = read_time(federate, granted->handle);
    return TUTTI_OK;
}

static enum tutti_err announce(struct tutti_federate_client *federate, const uint8_t *content, size_t size,
                               struct tutti_federate_event *event)
{
    const Fedpro__Point *point = UNPACK(federate, point, content, size);
    if (!point)
        return odd(federate, "a point of synchronization without a label");
    event->kind = TUTTI_FEDERATE_ANNOUNCE;
    event->label = point->label;
    return TUTTI_OK;
}

/* What is of no interest here leaves the event as it is: nothing. */
static enum tutti_err read_event(struct tutti_federate_client *federate, uint32_t number, const uint8_t *content,
                                 size_t size, struct tutti_federate_event *event)
{
    switch (number) {
    case DISCOVER: return discover(federate, content, size, event);
    case REFLECT:
    case REFLECT_TIMED: return reflect(federate, content, size, event);
    case RECEIVE:
    case RECEIVE_TIMED: return receive(federate, content, size, event);
    case REMOVE:
    case REMOVE_TIMED: return remove_object(federate, content, size, event);
    case PROVIDE: return provide(federate, content, size, event);
    case ANNOUNCE: return announce(federate, content, size, event);
    case GRANT:
    case FLUSH_GRANT: return grant(federate, content, size, event);
    default: return TUTTI_OK;
    }
}

/* The oldest callback that was kept, or the next one of the RTI. */
static enum tutti_err next_callback(struct tutti_federate_client *federate, double timeout, uint32_t *number,
                                    uint8_t **content, size_t *size)
{
    struct later *later = federate->first;
    if (!later)
        return tutti_fedpro_caller_next(federate->caller, timeout, number, content, size);
    federate->first = later->next;
    if (!federate->first)
        federate->last = NULL;
    *number = later->number;
    *content = later->content;
    *size = later->size;
    free(later);
    return TUTTI_OK;
}

enum tutti_err tutti_federate_next(struct tutti_federate_client *federate, double timeout,
                                   struct tutti_federate_event *event)
{
    *event = (struct tutti_federate_event){.kind = TUTTI_FEDERATE_NOTHING};
    while (event->kind == TUTTI_FEDERATE_NOTHING) {
        uint32_t number = 0;
        uint8_t *content = NULL;
        size_t size = 0;
        tutti_fedpro_memory_reset(&federate->memory);
        TRY(next_callback(federate, timeout, &number, &content, &size));
        if (number == 0)
            return TUTTI_OK;
        enum tutti_err err = read_event(federate, number, content, size, event);
        free(content);
        TRY(err);
    }
    return TUTTI_OK;
}

void tutti_federate_put_double(unsigned char bytes[8], double value)
{
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    tutti_fedpro_put_u32(bytes, (uint32_t)(bits >> 32));
    tutti_fedpro_put_u32(bytes + 4, (uint32_t)bits);
}

bool tutti_federate_get_double(const struct tutti_federate_value *value, double *number)
{
    const uint8_t *bytes = value->data;
    if (value->size != sizeof *number)
        return false;
    uint64_t bits = (uint64_t)tutti_fedpro_get_u32(bytes) << 32 | tutti_fedpro_get_u32(bytes + 4);
    memcpy(number, &bits, sizeof bits);
    return true;
}
