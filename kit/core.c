/* SPDX-License-Identifier: MIT */
/* core.c - life of an instance: storage, start values, messages. */
#define _GNU_SOURCE /* strdup */
#include "core.h"

#include "fault.h"

#include <math.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const kit_category_names[KIT_LOG_CATEGORIES] = {
    [KIT_LOG_EVENTS] = "logEvents",     [KIT_LOG_WARNING] = "logStatusWarning", [KIT_LOG_DISCARD] = "logStatusDiscard",
    [KIT_LOG_ERROR] = "logStatusError", [KIT_LOG_FATAL] = "logStatusFatal",
};

/* Instances that live in this process, for KIT_ONCE_PER_PROCESS. */
static atomic_int alive;

/* ---- messages ---- */

/* '#' names variables in messages, and in FMI 1.0 and 2.0 a message is a printf format: both are written twice. */
static void escape(char *out, const char *text, bool percent)
{
    for (; *text; text++) {
        if (*text == '#' || (percent && *text == '%'))
            *out++ = *text;
        *out++ = *text;
    }
    *out = '\0';
}

enum { MESSAGE_SIZE = 1024 };

static void send(struct kit *k, enum kit_status status, enum kit_category category, const char *text)
{
    /* FMI 1.0 and 2.0 switch debug messages only; the reasons of failures are always logged. FMI 3.0 switches all
     * messages. */
    char escaped[2 * MESSAGE_SIZE];
    bool always = k->version < 3 && status != KIT_OK;
    if (!k->log || (!always && (!k->logging || k->muted & (1u << category))))
        return;
    escape(escaped, text, k->version < 3);
    k->log(k, status, kit_category_names[category], escaped);
}

/* Declares `text` and prints the message of a function with these arguments into it. */
#define FORMAT(text, format)                                                                                           \
    char text[MESSAGE_SIZE];                                                                                           \
    va_list list;                                                                                                      \
    va_start(list, format);                                                                                            \
    vsnprintf(text, sizeof text, format, list);                                                                        \
    va_end(list)

static enum kit_category category_of(enum kit_status status)
{
    switch (status) {
    case KIT_WARNING: return KIT_LOG_WARNING;
    case KIT_DISCARD: return KIT_LOG_DISCARD;
    case KIT_ERROR: return KIT_LOG_ERROR;
    case KIT_FATAL: return KIT_LOG_FATAL;
    default: return KIT_LOG_EVENTS;
    }
}

void kit_log(struct kit *kit, enum kit_status status, const char *format, ...)
{
    FORMAT(text, format);
    send(kit, status, category_of(status), text);
}

void kit_log_as(struct kit *k, enum kit_status status, enum kit_category category, const char *format, ...)
{
    FORMAT(text, format);
    send(k, status, category, text);
}

enum kit_status kit_fail(struct kit *k, enum kit_status status, const char *format, ...)
{
    FORMAT(text, format);
    send(k, status, category_of(status), text);
    if (status == KIT_FATAL)
        k->mode = KIT_IN_FATAL;
    else if (status == KIT_ERROR)
        k->mode = KIT_IN_ERROR;
    return status;
}

bool kit_offers(struct kit *k, enum kit_features feature)
{
    if (k->model->features & feature)
        return true;
    kit_fail(k, KIT_ERROR, "a call that this FMU does not offer");
    return false;
}

enum kit_status kit_refuse(struct kit *k, const char *call)
{
    static const char *const names[] = {
        [KIT_INSTANTIATED] = "instantiated",
        [KIT_CONFIGURATION] = "configuration mode",
        [KIT_INITIALISATION] = "initialization mode",
        [KIT_IN_EVENT] = "event mode",
        [KIT_CONTINUOUS_TIME] = "continuous-time mode",
        [KIT_STEP] = "step mode",
        [KIT_STEP_FAILED] = "step failed",
        [KIT_INTERMEDIATE_UPDATE] = "intermediate update mode",
        [KIT_RECONFIGURATION] = "reconfiguration mode",
        [KIT_CLOCK_ACTIVATION] = "clock activation mode",
        [KIT_CLOCK_UPDATE] = "clock update mode",
        [KIT_TERMINATED] = "terminated",
        [KIT_IN_ERROR] = "error",
        [KIT_IN_FATAL] = "fatal",
    };
    enum kit_status status = k->mode == KIT_IN_FATAL ? KIT_FATAL : KIT_ERROR;
    return kit_fail(k, status, "%s is not allowed in state \"%s\"", call, names[k->mode]);
}

bool kit_set_logging(struct kit *k, bool on, size_t count, const char *const categories[])
{
    unsigned changed = count == 0 ? ~0u : 0;
    for (size_t i = 0; i < count; i++) {
        unsigned bit = 0;
        for (unsigned c = 0; c < KIT_LOG_CATEGORIES; c++)
            if (categories && categories[i] && strcmp(categories[i], kit_category_names[c]) == 0)
                bit = 1u << c;
        if (!bit)
            return false;
        changed |= bit;
    }
    if (!k->logging) /* so far none was on */
        k->muted = ~0u;
    k->muted = on ? k->muted & ~changed : k->muted | changed;
    k->logging = k->logging || on;
    return true;
}

/* ---- storage ---- */

static void *field_of(const struct kit *k, const struct kit_var *var)
{
    return (char *)k->self + var->offset;
}

/* Frees the Strings and Binaries among `count` elements. */
static void clear_elements(enum kit_type type, void *data, size_t count)
{
    for (size_t i = 0; data && i < count; i++) {
        if (type == KIT_STRING) {
            free(((char **)data)[i]);
            ((char **)data)[i] = NULL;
        } else if (type == KIT_BINARY) {
            free(((struct kit_binary *)data)[i].data);
            ((struct kit_binary *)data)[i] = (struct kit_binary){0};
        }
    }
}

static void clear_slot(struct kit *k, struct kit_slot *slot)
{
    if (!slot->var)
        return;
    clear_elements(slot->var->type, slot->data, slot->count);
    if (slot->var->dims)
        memset(field_of(k, slot->var), 0, sizeof(void *));
    free(slot->array);
    slot->data = slot->array = NULL;
    slot->count = 0;
}

/* Gives the variable its storage and start value. Structural parameters must have theirs already. */
static bool fill_slot(struct kit *k, struct kit_slot *slot)
{
    void *field = field_of(k, slot->var);
    slot->count = kit_var_count(k->model, slot->var, k->self);
    slot->data = field;
    if (slot->var->dims) {
        slot->array = slot->count < SIZE_MAX ? calloc(slot->count + 1, kit_type_size(slot->var->type)) : NULL;
        slot->data = slot->array;
        memcpy(field, &slot->array, sizeof slot->array);
        if (!slot->array) {
            slot->count = 0;
            return false;
        }
    }
    return kit_var_start(slot->var, slot->data, slot->count);
}

static bool fill_slots(struct kit *k)
{
    for (int pass = 0; pass < 2; pass++) /* structural parameters first: they are extents of others */
        for (size_t i = 1; i <= k->model->variable_count; i++)
            if ((k->slots[i].var->dims != NULL) == (pass == 1) && !fill_slot(k, &k->slots[i]))
                return false;
    return true;
}

/* Returns bits KIT_MODE(...): when the variable may be set (FMI 2.0 and 3.0, tables of the state machines). */
static unsigned settable_modes(const struct kit *k, const struct kit_var *var)
{
    enum kit_variability variability = kit_var_variability(var);
    enum kit_initial initial = kit_var_initial(var);
    bool input = var->causality == KIT_INPUT, me = k->interface == KIT_ME;
    bool tunable = var->causality == KIT_PARAMETER && variability == KIT_TUNABLE && k->version > 1;
    unsigned modes = 0;
    if (variability == KIT_CONSTANT || var->type == KIT_CLOCK)
        return 0;
    if (var->causality == KIT_STRUCTURAL)
        return KIT_MODE(KIT_CONFIGURATION) | (variability == KIT_TUNABLE ? KIT_MODE(KIT_RECONFIGURATION) : 0);
    if (input || initial == KIT_EXACT)
        modes |= KIT_MODE(KIT_INSTANTIATED) | KIT_MODE(KIT_INITIALISATION);
    if (initial == KIT_APPROX)
        modes |= KIT_MODE(KIT_INSTANTIATED);
    if (input || tunable)
        modes |= KIT_MODE(KIT_STEP) | KIT_MODE(KIT_IN_EVENT) | KIT_MODE(KIT_CLOCK_ACTIVATION) |
                 (k->version == 1 ? KIT_MODE(KIT_STEP_FAILED) : 0);
    if (input && variability == KIT_CONTINUOUS)
        modes |= KIT_MODE(KIT_CONTINUOUS_TIME) | KIT_MODE(KIT_INTERMEDIATE_UPDATE);
    if (var->derivative && me && k->version == 3 && !var->reinit)
        modes |= KIT_MODE(KIT_IN_EVENT);
    if (var->derivative && me)
        modes |= KIT_MODE(KIT_CONTINUOUS_TIME);
    return modes;
}

static unsigned char needs_of(const struct kit_model *model, const struct kit_var *var)
{
    size_t state;
    if (var->clocks || var->type == KIT_CLOCK) /* tick() computes it */
        return KIT_STALE_START;
    if (kit_var_is_derivative(model, var, &state))
        return KIT_STALE_DERIVATIVES;
    if (var->indicator)
        return KIT_STALE_INDICATORS;
    if (var->derivative) /* a state; an initialise() may compute it */
        return KIT_STALE_START;
    if (var->causality == KIT_OUTPUT || var->causality == KIT_LOCAL)
        return KIT_STALE_DERIVATIVES | KIT_STALE_OUTPUTS | KIT_STALE_START;
    return var->causality == KIT_CALCULATED ? KIT_STALE_START : 0;
}

/* The references of the clocks of a variable; NULL: it has none, or memory is out (*out). */
static unsigned *clocks_of(const struct kit_model *model, const struct kit_var *var, bool *out)
{
    const char *rest = var->clocks, *word;
    size_t length, count = 0;
    while (rest && kit_next_word(&rest, &word, &length))
        count++;
    unsigned *clocks = count > 0 ? calloc(count + 1, sizeof *clocks) : NULL;
    *out = *out || (count > 0 && !clocks);
    rest = var->clocks;
    for (size_t i = 0; clocks && kit_next_word(&rest, &word, &length); i++)
        clocks[i] = (unsigned)kit_var_find(model, word, length);
    return clocks;
}

/* False: memory is out. */
static bool describe_slots(struct kit *k)
{
    bool out = false;
    k->slots[0] = (struct kit_slot){.data = &k->time, .count = 1, .type = k->version == 1 ? KIT_ABSENT : KIT_FLOAT64};
    for (size_t i = 1; i <= k->model->variable_count; i++) {
        const struct kit_var *var = &k->model->variables[i - 1];
        enum kit_variability variability = kit_var_variability(var);
        k->slots[i] = (struct kit_slot){
            .var = var,
            .type = kit_var_exists_in(k->model, var, k->version) ? (unsigned char)kit_var_type(var) : KIT_ABSENT,
            .needs = variability == KIT_CONSTANT ? 0 : needs_of(k->model, var),
            .event_on_set = (var->causality == KIT_INPUT && variability == KIT_DISCRETE && !var->clocks) ||
                            (var->causality == KIT_PARAMETER && variability == KIT_TUNABLE),
            .settable = settable_modes(k, var),
            .clocks = clocks_of(k->model, var, &out),
        };
        k->nz += var->indicator;
        k->polynomial_count += var->causality == KIT_INPUT && var->type == KIT_FLOAT64 && !var->dims &&
                               variability == KIT_CONTINUOUS && k->model->features & KIT_INPUT_DERIVATIVES;
    }
    return !out;
}

static double nominal_of(const struct kit_model *model, const struct kit_var *var)
{
    const char *text = var->nominal;
    for (size_t i = 0; !text && var->declared_type && i < model->type_count; i++)
        if (strcmp(model->types[i].name, var->declared_type) == 0)
            text = model->types[i].nominal;
    double value = 1;
    return text && kit_parse_double(text, &value) ? value : 1;
}

enum kit_status kit_bind(struct kit *k)
{
    const struct kit_model *model = k->model;
    k->nx = 0;
    for (size_t i = 1; i <= model->variable_count; i++)
        k->nx += k->slots[i].var->derivative ? k->slots[i].count : 0;
    free(k->work);
    free(k->x);
    k->work = calloc(5 * k->nx + 4 * k->nz + 1, sizeof *k->work);
    k->x = calloc(2 * k->nx + k->nz + 1, sizeof *k->x);
    if (!k->work || !k->x)
        return kit_fail(k, KIT_ERROR, "out of memory for %zu states", k->nx);
    k->dx = k->x + k->nx;
    k->z = k->dx + k->nx;
    k->nominal = k->work;
    k->start = k->nominal + k->nx;
    k->x0 = k->start + k->nx;
    k->k1 = k->x0 + k->nx;
    k->sum = k->k1 + k->nx;
    k->z0 = k->sum + k->nx;
    k->z1 = k->z0 + k->nz;
    k->z2 = k->z1 + k->nz;
    k->z_end = k->z2 + k->nz;
    size_t nx = 0, nz = 0, np = 0;
    for (size_t i = 1; i <= model->variable_count; i++) {
        const struct kit_slot *slot = &k->slots[i];
        double *data = slot->data;
        if (slot->var->derivative) {
            size_t d = kit_var_find(model, slot->var->derivative, strlen(slot->var->derivative));
            for (size_t j = 0; j < slot->count; j++, nx++) {
                k->x[nx] = data + j;
                k->dx[nx] = (double *)k->slots[d].data + j;
                k->nominal[nx] = nominal_of(model, slot->var);
            }
        }
        if (slot->var->indicator)
            k->z[nz++] = data;
        if (np < k->polynomial_count && slot->var->causality == KIT_INPUT && slot->var->type == KIT_FLOAT64 &&
            !slot->var->dims && kit_var_variability(slot->var) == KIT_CONTINUOUS)
            k->polynomials[np++].field = data;
    }
    return KIT_OK;
}

static void start_over(struct kit *k)
{
    k->mode = KIT_INSTANTIATED;
    k->stale = KIT_STALE_START | KIT_STALE_POINT;
    k->time = k->last_time = 0;
    k->last_event = -INFINITY;
    k->next_event = k->stop = INFINITY;
    k->rushed = false;
    k->fixed_step = 0;
    k->input_event = k->set_in_step = k->event_pending = k->update_needed = k->terminated = k->set_up = k->solved =
        false;
    k->polynomials_active = k->get_closed = false;
    kit_state_free(k->previous);
    k->previous = NULL;
    for (size_t i = 0; i < k->polynomial_count; i++)
        k->polynomials[i] = (struct kit_polynomial){0};
}

enum kit_status kit_reset(struct kit *k)
{
    for (size_t i = 1; i <= k->model->variable_count; i++)
        clear_slot(k, &k->slots[i]);
    memset(k->self, 0, k->model->size);
    start_over(k);
    if (!fill_slots(k))
        return kit_fail(k, KIT_ERROR, "out of memory, or a start value that does not fit its type");
    return kit_bind(k);
}

enum kit_status kit_start_again(struct kit *k)
{
    if (!KIT_FAULT_HABIT(k, "keep", "Reset"))
        return kit_reset(k);
    start_over(k);
    return KIT_OK;
}

enum kit_status kit_resize(struct kit *k)
{
    bool moved = false;
    for (size_t i = 1; i <= k->model->variable_count; i++) {
        struct kit_slot *slot = &k->slots[i];
        if (slot->var->dims && kit_var_count(k->model, slot->var, k->self) != slot->count) {
            clear_slot(k, slot);
            if (!fill_slot(k, slot))
                return kit_fail(k, kit_reset(k) == KIT_OK ? KIT_ERROR : KIT_FATAL, "no memory for array %s",
                                kit_var_name(slot->var));
            moved = true;
        }
    }
    k->stale |= KIT_STALE_POINT;
    return moved ? kit_bind(k) : KIT_OK;
}

/* ---- new and free ---- */

static struct kit *refuse_new(struct kit *k, const char *why, const char *what)
{
    k->logging = true; /* a failed instantiation always logs its reason */
    kit_log(k, KIT_ERROR, "cannot instantiate %s: %s%s", k->model->name, why, what ? what : "");
    kit_free(k);
    return NULL;
}

static struct kit *take_resources(struct kit *k, const char *path)
{
    size_t length = path ? strlen(path) : 0;
    if (length == 0)
        return k;
    k->resources = malloc(length + 2);
    if (k->resources)
        snprintf(k->resources, length + 2, "%s%s", path, path[length - 1] == '/' ? "" : "/");
    return k->resources ? k : NULL;
}

struct kit *kit_new(const struct kit_request *request)
{
    const struct kit_model *model = kit_model_of(request->guid);
    struct kit *k = model ? calloc(1, sizeof *k) : NULL;
    if (!k)
        return NULL;
    k->model = model;
    k->version = request->version;
    k->interface = request->interface;
    k->log = request->log;
    k->logger = request->logger;
    k->environment = request->environment;
    k->logging = request->logging;
    bool second = atomic_fetch_add(&alive, 1) > 0;
    kit_guid(model, request->version, k->guid);
    k->name = strdup(request->name ? request->name : "");
    k->self = calloc(1, model->size + 1);
    k->slots = calloc(model->variable_count + 1, sizeof *k->slots);
    if (!k->name || !k->self || !k->slots || !take_resources(k, request->resources))
        return refuse_new(k, "out of memory", NULL);
    if (request->name == NULL || *request->name == '\0')
        return refuse_new(k, "the instance name is empty", NULL);
    if (!request->guid || strcmp(request->guid, k->guid) != 0)
        return refuse_new(k, "wrong GUID or instantiation token ", request->guid);
    if (second && model->features & KIT_ONCE_PER_PROCESS)
        return refuse_new(k, "only one instance per process is possible", NULL);
    if (request->interface == KIT_ME && model->advance)
        return refuse_new(k, "there is no Model Exchange", NULL);
    if (request->interface != KIT_SE && model->features & KIT_ONLY_SCHEDULED)
        return refuse_new(k, "there is Scheduled Execution only", NULL);
    bool described = describe_slots(k);
    k->polynomials = calloc(k->polynomial_count + 1, sizeof *k->polynomials);
    if (!described || !k->polynomials || kit_reset(k) != KIT_OK)
        return refuse_new(k, "out of memory, or a start value that does not fit its type", NULL);
    if (KIT_FAULT_NEW(k))
        return refuse_new(k, "a fault was asked for", NULL);
    return k;
}

void kit_free(struct kit *k)
{
    if (!k)
        return;
    for (size_t i = 1; k->slots && i <= k->model->variable_count; i++) {
        clear_slot(k, &k->slots[i]);
        free(k->slots[i].clocks);
    }
    KIT_FAULT_FREE(k);
    kit_state_free(k->undo);
    kit_state_free(k->previous);
    free(k->polynomials);
    free(k->work);
    free(k->x);
    free(k->slots);
    free(k->self);
    free(k->resources);
    free(k->path);
    free(k->name);
    free(k);
    atomic_fetch_sub(&alive, 1);
}

/* ---- what a model may ask for ---- */

const char *kit_resource(struct kit *kit, const char *file)
{
    if (!kit->resources)
        return NULL;
    size_t size = strlen(kit->resources) + strlen(file) + 1;
    char *path = realloc(kit->path, size);
    if (!path)
        return NULL;
    kit->path = path;
    snprintf(path, size, "%s%s", kit->resources, file);
    return path;
}

enum kit_status kit_set_string(struct kit *kit, char **field, const char *text)
{
    char *copy = strdup(text ? text : "");
    if (!copy)
        return kit_fail(kit, KIT_ERROR, "out of memory");
    free(*field);
    *field = copy;
    return KIT_OK;
}

enum kit_status kit_set_binary(struct kit *kit, struct kit_binary *field, const void *data, size_t size)
{
    unsigned char *copy = malloc(size + 1);
    if (!copy)
        return kit_fail(kit, KIT_ERROR, "out of memory");
    if (size > 0)
        memcpy(copy, data, size);
    free(field->data);
    field->data = copy;
    field->size = size;
    return KIT_OK;
}

char *kit_path_of_uri(const char *uri)
{
    if (strncmp(uri, "file:", 5) != 0)
        return NULL;
    const char *p = uri + 5;
    if (strncmp(p, "//", 2) == 0) { /* an authority: empty or a host */
        p = strchr(p + 2, '/');
        if (!p)
            return NULL;
    }
    char *path = malloc(strlen(p) + 1);
    char *out = path;
    for (; path && *p; p++) {
        unsigned byte;
        if (*p == '%' && sscanf(p + 1, "%2x", &byte) == 1 && p[1] && p[2]) {
            *out++ = (char)byte;
            p += 2;
        } else {
            *out++ = *p;
        }
    }
    if (path)
        *out = '\0';
    return path;
}
