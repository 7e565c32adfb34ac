/* SPDX-License-Identifier: MIT */
#include "rti/rti.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/vector.h"
#include "rti/declarations.h"
#include "rti/delivery.h"
#include "rti/discovery.h"
#include "rti/fom/merge.h"
#include "rti/mom.h"
#include "rti/mom_objects.h"
#include "rti/objects.h"
#include "rti/ownership.h"
#include "rti/sync_points.h"
#include "rti/time_management.h"

struct tutti_rti *tutti_rti_new(struct tutti_rti_limits limits)
{
    struct tutti_rti *rti = calloc(1, sizeof *rti);
    if (rti)
        rti->limits = limits;
    return rti;
}

static void free_ambassador(struct tutti_ambassador *a)
{
    while (a->first) {
        struct tutti_callback *next = a->first->next;
        tutti_callback_free(a->first);
        a->first = next;
    }
    tutti_callback_free(a->taken);
    if (a->next)
        a->next->previous = a->previous;
    if (a->previous)
        a->previous->next = a->next;
    else
        a->rti->ambassadors = a->next;
    free(a);
}

void tutti_rti_free(struct tutti_rti *rti)
{
    if (!rti)
        return;
    while (rti->ambassadors)
        free_ambassador(rti->ambassadors);
    for (size_t i = 0; i < rti->count; i++)
        tutti_federation_free(rti->federations[i]);
    free(rti->federations);
    free(rti);
}

enum tutti_hla tutti_rti_connect(struct tutti_rti *rti, struct tutti_ambassador **ambassador)
{
    struct tutti_ambassador *a = *ambassador = calloc(1, sizeof *a);
    if (!a)
        return tutti_hla_raise_memory();
    a->rti = rti;
    a->next = rti->ambassadors;
    if (a->next)
        a->next->previous = a;
    rti->ambassadors = a;
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_disconnect(struct tutti_ambassador *ambassador)
{
    if (ambassador->federate)
        return RAISE(FederateIsExecutionMember, "federate '%s' is a member of federation '%s'; it must resign first",
                     ambassador->federate->name, ambassador->federate->federation->name);
    free_ambassador(ambassador);
    return TUTTI_HLA_OK;
}

const struct tutti_callback *tutti_rti_next(struct tutti_ambassador *a)
{
    tutti_callback_free(a->taken);
    a->taken = a->first;
    if (!a->taken)
        return NULL;
    a->first = a->taken->next;
    if (!a->first)
        a->last = NULL;
    a->waiting--;
    tutti_ambassador_discharge(a, a->taken->size);
    return a->taken;
}

size_t tutti_rti_waiting(const struct tutti_ambassador *ambassador)
{
    return ambassador->waiting;
}

bool tutti_rti_overflowed(const struct tutti_ambassador *ambassador)
{
    return ambassador->overflowed;
}

/* Federations */

struct tutti_federation *tutti_rti_federation(const struct tutti_rti *rti, const char *name)
{
    for (size_t i = 0; i < rti->count; i++)
        if (strcmp(rti->federations[i]->name, name) == 0)
            return rti->federations[i];
    return NULL;
}

static void free_modules(struct tutti_fom_module **modules, size_t count)
{
    for (size_t i = 0; i < count; i++)
        tutti_fom_module_free(modules[i]);
}

/* The federation takes the modules; the array stays the caller's. */
static enum tutti_hla add_federation(struct tutti_rti *rti, const char *name, struct tutti_fom_module **modules,
                                     size_t count, enum tutti_time_kind time, struct tutti_findings *findings)
{
    struct tutti_federation *federation = calloc(1, sizeof *federation);
    if (!federation) {
        free_modules(modules, count);
        return tutti_hla_raise_memory();
    }
    federation->rti = rti;
    federation->time_kind = time;
    federation->name = tutti_str_copy(name);
    bool ok = tutti_vector_reserve(&federation->modules, &federation->module_room, count, sizeof *federation->modules);
    for (size_t i = 0; ok && i < count; i++)
        federation->modules[federation->module_count++] = modules[i];
    if (!ok)
        free_modules(modules, count);
    ok = ok && federation->name &&
         tutti_vector_reserve(&rti->federations, &rti->room, rti->count + 1, sizeof *rti->federations);
    enum tutti_hla exception = ok ? tutti_fom_make(&federation->fom, federation->modules, count, findings)
                                  : tutti_hla_raise_memory();
    if (exception) {
        tutti_federation_free(federation);
        return exception;
    }
    rti->federations[rti->count++] = federation;
    return TUTTI_HLA_OK;
}

static enum tutti_hla check_creation(const struct tutti_rti *rti, const char *name, const char *time,
                                     enum tutti_time_kind *kind)
{
    if (!tutti_time_kind_find(time, kind))
        return RAISE(CouldNotCreateLogicalTimeFactory,
                     "'%s' is not known; there are HLAfloat64Time and HLAinteger64Time", tutti_str_show(time).text);
    if (tutti_rti_federation(rti, name))
        return RAISE(FederationExecutionAlreadyExists, "there is a federation '%s' already", tutti_str_show(name).text);
    if (rti->limits.federations && rti->count >= rti->limits.federations)
        return RAISE(RTIinternalError, "this RTI takes no more than %zu federations", rti->limits.federations);
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_create(struct tutti_ambassador *ambassador, const char *name,
                                struct tutti_fom_module **modules, size_t count, const char *time,
                                struct tutti_findings *findings)
{
    enum tutti_time_kind kind;
    enum tutti_hla exception = check_creation(ambassador->rti, name, time, &kind);
    if (exception) {
        free_modules(modules, count);
        return exception;
    }
    return add_federation(ambassador->rti, name, modules, count, kind, findings);
}

static enum tutti_hla find_federation(const struct tutti_rti *rti, const char *name,
                                      struct tutti_federation **federation)
{
    *federation = tutti_rti_federation(rti, name);
    if (*federation)
        return TUTTI_HLA_OK;
    return RAISE(FederationExecutionDoesNotExist, "there is no federation '%s'", tutti_str_show(name).text);
}

enum tutti_hla tutti_rti_destroy(struct tutti_ambassador *ambassador, const char *name)
{
    struct tutti_rti *rti = ambassador->rti;
    struct tutti_federation *federation;
    HLA_TRY(find_federation(rti, name, &federation));
    if (federation->federates.count)
        return RAISE(FederatesCurrentlyJoined, "federation '%s' has %zu federates", federation->name,
                     federation->federates.count);
    size_t at = 0;
    while (rti->federations[at] != federation)
        at++;
    rti->count--;
    memmove(&rti->federations[at], &rti->federations[at + 1], (rti->count - at) * sizeof *rti->federations);
    tutti_federation_free(federation);
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_list_federations(struct tutti_ambassador *ambassador)
{
    const struct tutti_rti *rti = ambassador->rti;
    struct tutti_report *reports = calloc(rti->count + 1, sizeof *reports);
    if (!reports)
        return tutti_hla_raise_memory();
    for (size_t i = 0; i < rti->count; i++)
        reports[i] =
            (struct tutti_report){rti->federations[i]->name, tutti_time_kind_name(rti->federations[i]->time_kind)};
    struct tutti_callback callback = {
        .kind = TUTTI_CALLBACK_ReportFederationExecutions, .reports = reports, .report_count = rti->count};
    tutti_ambassador_push(ambassador, &callback);
    free(reports);
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_list_members(struct tutti_ambassador *ambassador, const char *name)
{
    const struct tutti_federation *federation = tutti_rti_federation(ambassador->rti, name);
    struct tutti_callback callback = {.kind = TUTTI_CALLBACK_ReportFederationExecutionDoesNotExist, .text = name};
    struct tutti_report *reports = NULL;
    if (federation) {
        reports = calloc(federation->federates.count + 1, sizeof *reports);
        if (!reports)
            return tutti_hla_raise_memory();
        for (size_t i = 0; i < federation->federates.count; i++) {
            const struct tutti_federate *f = tutti_federation_at(federation, i);
            reports[i] = (struct tutti_report){f->name, f->type};
        }
        callback.kind = TUTTI_CALLBACK_ReportFederationExecutionMembers;
        callback.reports = reports;
        callback.report_count = federation->federates.count;
    }
    tutti_ambassador_push(ambassador, &callback);
    free(reports);
    return TUTTI_HLA_OK;
}

/* Joining */

static enum tutti_hla check_joining(const struct tutti_ambassador *ambassador, const struct tutti_rti_join *join,
                                    struct tutti_federation **federation)
{
    size_t limit = ambassador->rti->limits.federates;
    if (ambassador->federate)
        return RAISE(FederateAlreadyExecutionMember, "federate '%s' is a member of federation '%s' already",
                     ambassador->federate->name, ambassador->federate->federation->name);
    HLA_TRY(find_federation(ambassador->rti, join->federation, federation));
    for (size_t i = 0; join->name && i < (*federation)->federates.count; i++)
        if (strcmp(tutti_federation_at(*federation, i)->name, join->name) == 0)
            return RAISE(FederateNameAlreadyInUse, "federation '%s' has a federate '%s' already", join->federation,
                         tutti_str_show(join->name).text);
    if (limit && (*federation)->federates.count >= limit)
        return RAISE(RTIinternalError, "this RTI takes no more than %zu federates in a federation", limit);
    return TUTTI_HLA_OK;
}

static bool same_size(const struct tutti_fom *a, const struct tutti_fom *b)
{
    return a->objects.class_count == b->objects.class_count && a->objects.member_count == b->objects.member_count &&
           a->interactions.class_count == b->interactions.class_count &&
           a->interactions.member_count == b->interactions.member_count && a->data_types.count == b->data_types.count &&
           a->dimensions.count == b->dimensions.count && a->transportations.count == b->transportations.count &&
           a->update_rates.count == b->update_rates.count;
}

/* Drops those that the federation has already; returns how many are left. */
static size_t drop_known(const struct tutti_federation *federation, struct tutti_fom_module **modules, size_t count)
{
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        while (k < federation->module_count &&
               memcmp(federation->modules[k]->digest, modules[i]->digest, TUTTI_FOM_DIGEST) != 0)
            k++;
        if (k < federation->module_count)
            tutti_fom_module_free(modules[i]);
        else
            modules[left++] = modules[i];
    }
    return left;
}

/* Takes the modules. Those that add nothing are dropped, so that a thousand federates may bring the same one; switches stay as they are. */
static enum tutti_hla extend(struct tutti_federation *federation, struct tutti_fom_module **modules, size_t count)
{
    struct tutti_fom *fom;
    size_t before = federation->module_count;
    count = drop_known(federation, modules, count);
    if (!count)
        return TUTTI_HLA_OK;
    if (!tutti_vector_reserve(&federation->modules, &federation->module_room, before + count,
                              sizeof *federation->modules)) {
        free_modules(modules, count);
        return tutti_hla_raise_memory();
    }
    for (size_t i = 0; i < count; i++)
        federation->modules[before + i] = modules[i];
    enum tutti_hla exception = tutti_fom_make(&fom, federation->modules, before + count, NULL);
    if (exception || same_size(fom, federation->fom)) {
        free_modules(modules, count);
        tutti_fom_free(fom);
        return exception;
    }
    fom->switches = federation->fom->switches;
    tutti_fom_free(federation->fom);
    federation->fom = fom;
    federation->module_count += count;
    return TUTTI_HLA_OK;
}

/* "Federate-3", and not one that is there. */
static char *make_name(const struct tutti_federation *federation, uint32_t handle)
{
    char name[40];
    for (unsigned more = 0;; more++) {
        snprintf(name, sizeof name, more ? "Federate-%u-%u" : "Federate-%u", handle, more);
        size_t i = 0;
        while (i < federation->federates.count && strcmp(tutti_federation_at(federation, i)->name, name) != 0)
            i++;
        if (i == federation->federates.count)
            return tutti_str_copy(name);
    }
}

static struct tutti_federate *new_federate(struct tutti_ambassador *ambassador, struct tutti_federation *federation,
                                           const struct tutti_rti_join *join)
{
    struct tutti_federate *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    f->handle = federation->last_federate + 1;
    f->name = join->name ? tutti_str_copy(join->name) : make_name(federation, f->handle);
    f->type = tutti_str_copy(join->type);
    f->federation = federation;
    f->ambassador = ambassador;
    f->switches = federation->fom->switches;
    if (f->name && f->type && tutti_handle_table_add(&federation->federates, f->handle, f))
        return f;
    tutti_federate_free(f);
    return NULL;
}

enum tutti_hla tutti_rti_join(struct tutti_ambassador *ambassador, const struct tutti_rti_join *join, uint32_t *handle,
                              enum tutti_time_kind *time)
{
    struct tutti_federation *federation;
    enum tutti_hla exception = check_joining(ambassador, join, &federation);
    if (exception) {
        free_modules(join->modules, join->module_count);
        return exception;
    }
    HLA_TRY(extend(federation, join->modules, join->module_count));
    struct tutti_federate *f = new_federate(ambassador, federation, join);
    if (!f)
        return tutti_hla_raise_memory();
    *handle = federation->last_federate = f->handle;
    *time = federation->time_kind;
    ambassador->federate = f;
    if (!tutti_sync_points_join(f))
        ambassador->overflowed = true;
    tutti_mom_joined(f);
    return TUTTI_HLA_OK;
}

/* Leaving */

static bool deletes(enum tutti_resign action)
{
    return action == TUTTI_RESIGN_DELETE || action == TUTTI_RESIGN_DELETE_THEN_DIVEST ||
           action == TUTTI_RESIGN_CANCEL_DELETE_DIVEST;
}

static bool divests(enum tutti_resign action)
{
    return action == TUTTI_RESIGN_DIVEST || action == TUTTI_RESIGN_DELETE_THEN_DIVEST ||
           action == TUTTI_RESIGN_CANCEL_DELETE_DIVEST;
}

/* Would it own attributes after its objects are deleted, if they are? */
static bool keeps_attributes(const struct tutti_federate *f, bool delete)
{
    for (size_t i = 0; i < f->federation->objects.count; i++) {
        const struct tutti_object *object = f->federation->objects.items[i].item;
        const struct tutti_object_attribute *privilege = tutti_object_attribute(object, TUTTI_FOM_PRIVILEGE_TO_DELETE);
        bool goes = object->deleter || (delete &&privilege->owner == f->handle);
        if (!goes && tutti_ownership_has_any(f, object))
            return true;
    }
    return false;
}

/* Nothing of the federation knows it any more. Messages that it sent stay on their way. */
static void leave(struct tutti_federate *f, bool delete)
{
    struct tutti_federation *federation = f->federation;
    struct tutti_ambassador *ambassador = f->ambassador;
    tutti_ownership_cancel(f);
    tutti_objects_leave(f, delete);
    tutti_declarations_withdraw(f);
    tutti_sync_points_leave(f);
    for (size_t i = 0; i < f->tso.count; i++)
        tutti_ambassador_discharge(ambassador, f->tso.items[i]->size);
    for (size_t i = 0; i < f->held_count; i++)
        tutti_ambassador_discharge(ambassador, f->held[i]->size);
    tutti_handle_table_remove(&federation->federates, f->handle);
    uint32_t handle = f->handle;
    tutti_federate_free(f);
    ambassador->federate = NULL;
    tutti_mom_left(federation, handle);
    federation->unsettled = true;
    tutti_time_settle(federation);
}

enum tutti_hla tutti_rti_resign(struct tutti_ambassador *ambassador, enum tutti_resign action)
{
    struct tutti_federate *f;
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    if ((unsigned)action >= TUTTI_RESIGNS)
        return RAISE(InvalidResignAction, "%d is no resign action", (int)action);
    bool cancels = action == TUTTI_RESIGN_CANCEL || action == TUTTI_RESIGN_CANCEL_DELETE_DIVEST;
    if (!cancels && tutti_ownership_waits(f, NULL))
        return RAISE(OwnershipAcquisitionPending, "federate '%s' waits for attributes", f->name);
    if (!divests(action) && keeps_attributes(f, deletes(action)))
        return RAISE(FederateOwnsAttributes, "federate '%s' owns attributes of objects", f->name);
    leave(f, deletes(action));
    return TUTTI_HLA_OK;
}

void tutti_rti_lose(struct tutti_ambassador *ambassador, const char *why)
{
    struct tutti_federate *f = ambassador->federate;
    if (f) {
        tutti_mom_report_lost(f, why);
        leave(f, deletes(f->switches.automatic_resign));
    }
    free_ambassador(ambassador);
}
