/* SPDX-License-Identifier: MIT */
#include "hla/rti/rti.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/vector.h"
#include "hla/fom/fom.h"
#include "hla/rti/declarations.h"
#include "hla/rti/discovery.h"
#include "hla/rti/message_delivery.h"
#include "hla/rti/mom.h"
#include "hla/rti/mom_objects.h"
#include "hla/rti/objects.h"
#include "hla/rti/ownership.h"
#include "hla/rti/time_management.h"

struct tt_rti *tt_rti_new(struct tt_rti_limits limits)
{
    struct tt_rti *rti = calloc(1, sizeof *rti);
    if (rti)
        rti->limits = limits;
    return rti;
}

static void free_ambassador(struct tt_ambassador *a)
{
    while (a->first) {
        struct tt_callback *next = a->first->next;
        tt_callback_free(a->first);
        a->first = next;
    }
    tt_callback_free(a->taken);
    if (a->next)
        a->next->previous = a->previous;
    if (a->previous)
        a->previous->next = a->next;
    else
        a->rti->ambassadors = a->next;
    free(a);
}

void tt_rti_free(struct tt_rti *rti)
{
    if (!rti)
        return;
    while (rti->ambassadors)
        free_ambassador(rti->ambassadors);
    for (size_t i = 0; i < rti->count; i++)
        tt_federation_free(rti->federations[i]);
    free(rti->federations);
    free(rti);
}

enum tt_hla tt_rti_connect(struct tt_rti *rti, struct tt_ambassador **ambassador)
{
    struct tt_ambassador *a = *ambassador = calloc(1, sizeof *a);
    if (!a)
        return tt_exception_raise_memory();
    a->rti = rti;
    a->next = rti->ambassadors;
    if (a->next)
        a->next->previous = a;
    rti->ambassadors = a;
    return TUTTI_HLA_OK;
}

enum tt_hla tt_rti_disconnect(struct tt_ambassador *ambassador)
{
    if (ambassador->federate)
        return RAISE(FederateIsExecutionMember, "federate '%s' is a member of federation '%s'; it must resign first",
                     ambassador->federate->name, ambassador->federate->federation->name);
    free_ambassador(ambassador);
    return TUTTI_HLA_OK;
}

const struct tt_callback *tt_rti_next_callback(struct tt_ambassador *a)
{
    tt_callback_free(a->taken);
    a->taken = a->first;
    if (!a->taken)
        return NULL;
    a->first = a->taken->next;
    if (!a->first)
        a->last = NULL;
    a->waiting--;
    tt_federation_discharge_memory(a, a->taken->size);
    return a->taken;
}

size_t tt_rti_pending_callbacks(const struct tt_ambassador *ambassador)
{
    return ambassador->waiting;
}

bool tt_rti_has_overflowed(const struct tt_ambassador *ambassador)
{
    return ambassador->overflowed;
}

struct tt_federation *tt_rti_find_federation(const struct tt_rti *rti, const char *name)
{
    for (size_t i = 0; i < rti->count; i++)
        if (strcmp(rti->federations[i]->name, name) == 0)
            return rti->federations[i];
    return NULL;
}

static void free_modules(struct tt_fom_module **modules, size_t count)
{
    for (size_t i = 0; i < count; i++)
        tt_fom_module_free(modules[i]);
}

/* The federation takes the modules; the array stays the caller's. */
static enum tt_hla add_federation(struct tt_rti *rti, const char *name, struct tt_fom_module **modules, size_t count,
                                  enum tt_logical_time_kind time, struct tt_findings *findings)
{
    struct tt_federation *federation = calloc(1, sizeof *federation);
    if (!federation) {
        free_modules(modules, count);
        return tt_exception_raise_memory();
    }
    federation->rti = rti;
    federation->time_kind = time;
    federation->name = tt_text_copy(name);
    bool ok = tt_vector_reserve(&federation->modules, &federation->module_room, count, sizeof *federation->modules);
    for (size_t i = 0; ok && i < count; i++)
        federation->modules[federation->module_count++] = modules[i];
    if (!ok)
        free_modules(modules, count);
    ok = ok && federation->name &&
         tt_vector_reserve(&rti->federations, &rti->room, rti->count + 1, sizeof *rti->federations);
    enum tt_hla exception = ok ? tt_fom_merge_modules(&federation->fom, federation->modules, count, findings)
                               : tt_exception_raise_memory();
    if (exception) {
        tt_federation_free(federation);
        return exception;
    }
    rti->federations[rti->count++] = federation;
    return TUTTI_HLA_OK;
}

static enum tt_hla check_creation(const struct tt_rti *rti, const char *name, const char *time,
                                  enum tt_logical_time_kind *kind)
{
    if (!tt_logical_time_kind_find(time, kind))
        return RAISE(CouldNotCreateLogicalTimeFactory,
                     "'%s' is not known; there are HLAfloat64Time and HLAinteger64Time", tt_text_excerpt(time).text);
    if (tt_rti_find_federation(rti, name))
        return RAISE(FederationExecutionAlreadyExists, "there is a federation '%s' already",
                     tt_text_excerpt(name).text);
    if (rti->limits.federations && rti->count >= rti->limits.federations)
        return RAISE(RTIinternalError, "this RTI takes no more than %zu federations", rti->limits.federations);
    return TUTTI_HLA_OK;
}

enum tt_hla tt_rti_create(struct tt_ambassador *ambassador, const char *name, struct tt_fom_module **modules,
                          size_t count, const char *time, struct tt_findings *findings)
{
    enum tt_logical_time_kind kind;
    enum tt_hla exception = check_creation(ambassador->rti, name, time, &kind);
    if (exception) {
        free_modules(modules, count);
        return exception;
    }
    return add_federation(ambassador->rti, name, modules, count, kind, findings);
}

static enum tt_hla find_federation(const struct tt_rti *rti, const char *name, struct tt_federation **federation)
{
    *federation = tt_rti_find_federation(rti, name);
    if (*federation)
        return TUTTI_HLA_OK;
    return RAISE(FederationExecutionDoesNotExist, "there is no federation '%s'", tt_text_excerpt(name).text);
}

enum tt_hla tt_rti_destroy(struct tt_ambassador *ambassador, const char *name)
{
    struct tt_rti *rti = ambassador->rti;
    struct tt_federation *federation;
    HLA_TRY(find_federation(rti, name, &federation));
    if (federation->federates.count)
        return RAISE(FederatesCurrentlyJoined, "federation '%s' has %zu federates", federation->name,
                     federation->federates.count);
    size_t at = 0;
    while (rti->federations[at] != federation)
        at++;
    rti->count--;
    memmove(&rti->federations[at], &rti->federations[at + 1], (rti->count - at) * sizeof *rti->federations);
    tt_federation_free(federation);
    return TUTTI_HLA_OK;
}

enum tt_hla tt_rti_list_federations(struct tt_ambassador *ambassador)
{
    const struct tt_rti *rti = ambassador->rti;
    struct tt_callback_report *reports = calloc(rti->count + 1, sizeof *reports);
    if (!reports)
        return tt_exception_raise_memory();
    for (size_t i = 0; i < rti->count; i++)
        reports[i] = (struct tt_callback_report){rti->federations[i]->name,
                                                 tt_logical_time_kind_name(rti->federations[i]->time_kind)};
    struct tt_callback callback = {
        .kind = TUTTI_CALLBACK_ReportFederationExecutions, .reports = reports, .report_count = rti->count};
    tt_federation_push_callback(ambassador, &callback);
    free(reports);
    return TUTTI_HLA_OK;
}

enum tt_hla tt_rti_list_members(struct tt_ambassador *ambassador, const char *name)
{
    const struct tt_federation *federation = tt_rti_find_federation(ambassador->rti, name);
    struct tt_callback callback = {.kind = TUTTI_CALLBACK_ReportFederationExecutionDoesNotExist, .text = name};
    struct tt_callback_report *reports = NULL;
    if (federation) {
        reports = calloc(federation->federates.count + 1, sizeof *reports);
        if (!reports)
            return tt_exception_raise_memory();
        for (size_t i = 0; i < federation->federates.count; i++) {
            const struct tt_federate *f = tt_federation_at(federation, i);
            reports[i] = (struct tt_callback_report){f->name, f->type};
        }
        callback.kind = TUTTI_CALLBACK_ReportFederationExecutionMembers;
        callback.reports = reports;
        callback.report_count = federation->federates.count;
    }
    tt_federation_push_callback(ambassador, &callback);
    free(reports);
    return TUTTI_HLA_OK;
}

static enum tt_hla rti_check_join(const struct tt_ambassador *ambassador, const struct tt_rti_join *join,
                                  struct tt_federation **federation)
{
    size_t limit = ambassador->rti->limits.federates;
    if (ambassador->federate)
        return RAISE(FederateAlreadyExecutionMember, "federate '%s' is a member of federation '%s' already",
                     ambassador->federate->name, ambassador->federate->federation->name);
    HLA_TRY(find_federation(ambassador->rti, join->federation, federation));
    for (size_t i = 0; join->name && i < (*federation)->federates.count; i++)
        if (strcmp(tt_federation_at(*federation, i)->name, join->name) == 0)
            return RAISE(FederateNameAlreadyInUse, "federation '%s' has a federate '%s' already", join->federation,
                         tt_text_excerpt(join->name).text);
    if (limit && (*federation)->federates.count >= limit)
        return RAISE(RTIinternalError, "this RTI takes no more than %zu federates in a federation", limit);
    return TUTTI_HLA_OK;
}

static bool models_have_same_size(const struct tt_fom *a, const struct tt_fom *b)
{
    return a->objects.class_count == b->objects.class_count && a->objects.member_count == b->objects.member_count &&
           a->interactions.class_count == b->interactions.class_count &&
           a->interactions.member_count == b->interactions.member_count && a->data_types.count == b->data_types.count &&
           a->dimensions.count == b->dimensions.count && a->transportations.count == b->transportations.count &&
           a->update_rates.count == b->update_rates.count;
}

/* Drops those that the federation has already; returns how many are left. */
static size_t drop_known_modules(const struct tt_federation *federation, struct tt_fom_module **modules, size_t count)
{
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        while (k < federation->module_count &&
               memcmp(federation->modules[k]->digest, modules[i]->digest, TUTTI_FOM_DIGEST) != 0)
            k++;
        if (k < federation->module_count)
            tt_fom_module_free(modules[i]);
        else
            modules[left++] = modules[i];
    }
    return left;
}

/* Takes the modules. Those that add nothing are dropped, so that a thousand federates may bring the same one; switches stay as they are. */
static enum tt_hla rti_extend_model(struct tt_federation *federation, struct tt_fom_module **modules, size_t count)
{
    struct tt_fom *fom;
    size_t before = federation->module_count;
    count = drop_known_modules(federation, modules, count);
    if (!count)
        return TUTTI_HLA_OK;
    if (!tt_vector_reserve(&federation->modules, &federation->module_room, before + count,
                           sizeof *federation->modules)) {
        free_modules(modules, count);
        return tt_exception_raise_memory();
    }
    for (size_t i = 0; i < count; i++)
        federation->modules[before + i] = modules[i];
    enum tt_hla exception = tt_fom_merge_modules(&fom, federation->modules, before + count, NULL);
    if (exception || models_have_same_size(fom, federation->fom)) {
        free_modules(modules, count);
        tt_fom_free(fom);
        return exception;
    }
    fom->switches = federation->fom->switches;
    tt_fom_free(federation->fom);
    federation->fom = fom;
    federation->module_count += count;
    return TUTTI_HLA_OK;
}

/* "Federate-3", and not one that is there. */
static char *make_federate_name(const struct tt_federation *federation, uint32_t handle)
{
    char name[40];
    for (unsigned more = 0;; more++) {
        snprintf(name, sizeof name, more ? "Federate-%u-%u" : "Federate-%u", handle, more);
        size_t i = 0;
        while (i < federation->federates.count && strcmp(tt_federation_at(federation, i)->name, name) != 0)
            i++;
        if (i == federation->federates.count)
            return tt_text_copy(name);
    }
}

static struct tt_federate *new_federate(struct tt_ambassador *ambassador, struct tt_federation *federation,
                                        const struct tt_rti_join *join)
{
    struct tt_federate *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    f->handle = federation->last_federate + 1;
    f->name = join->name ? tt_text_copy(join->name) : make_federate_name(federation, f->handle);
    f->type = tt_text_copy(join->type);
    f->federation = federation;
    f->ambassador = ambassador;
    f->switches = federation->fom->switches;
    if (f->name && f->type && tt_federation_table_add(&federation->federates, f->handle, f))
        return f;
    tt_federation_free_federate(f);
    return NULL;
}

enum tt_hla tt_rti_join(struct tt_ambassador *ambassador, const struct tt_rti_join *join, uint32_t *handle,
                        enum tt_logical_time_kind *time)
{
    struct tt_federation *federation;
    enum tt_hla exception = rti_check_join(ambassador, join, &federation);
    if (exception) {
        free_modules(join->modules, join->module_count);
        return exception;
    }
    HLA_TRY(rti_extend_model(federation, join->modules, join->module_count));
    struct tt_federate *f = new_federate(ambassador, federation, join);
    if (!f)
        return tt_exception_raise_memory();
    *handle = federation->last_federate = f->handle;
    *time = federation->time_kind;
    ambassador->federate = f;
    if (!tt_rti_announce_sync_points(f))
        ambassador->overflowed = true;
    tt_mom_add_federate(f);
    return TUTTI_HLA_OK;
}

static bool resign_deletes(enum tt_resign action)
{
    return action == TUTTI_RESIGN_DELETE || action == TUTTI_RESIGN_DELETE_THEN_DIVEST ||
           action == TUTTI_RESIGN_CANCEL_DELETE_DIVEST;
}

/* Returns true if it would own attributes after its objects were deleted. */
static bool keeps_attributes(const struct tt_federate *f, bool delete)
{
    for (size_t i = 0; i < f->federation->objects.count; i++) {
        const struct tt_object *object = f->federation->objects.items[i].item;
        const struct tt_object_attribute *privilege =
            tt_federation_find_attribute(object, TUTTI_FOM_PRIVILEGE_TO_DELETE);
        bool goes = object->deleter || (delete &&privilege->owner == f->handle);
        if (!goes && tt_ownership_has_any(f, object))
            return true;
    }
    return false;
}

/* Removes all references to the federate. Its sent messages stay on their way. */
static void rti_remove_federate(struct tt_federate *f, bool delete)
{
    struct tt_federation *federation = f->federation;
    struct tt_ambassador *ambassador = f->ambassador;
    tt_ownership_cancel_all(f);
    tt_objects_remove_federate(f, delete);
    tt_declarations_withdraw(f);
    tt_rti_leave_sync_points(f);
    for (size_t i = 0; i < f->tso.count; i++)
        tt_federation_discharge_memory(ambassador, f->tso.items[i]->size);
    for (size_t i = 0; i < f->held_count; i++)
        tt_federation_discharge_memory(ambassador, f->held[i]->size);
    tt_federation_table_remove(&federation->federates, f->handle);
    uint32_t handle = f->handle;
    tt_federation_free_federate(f);
    ambassador->federate = NULL;
    tt_mom_remove_federate(federation, handle);
    federation->unsettled = true;
    tt_time_management_grant(federation);
}

enum tt_hla tt_rti_resign(struct tt_ambassador *ambassador, enum tt_resign action)
{
    struct tt_federate *f;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    if ((unsigned)action >= TUTTI_RESIGNS)
        return RAISE(InvalidResignAction, "%d is no resign action", (int)action);
    bool cancels = action == TUTTI_RESIGN_CANCEL || action == TUTTI_RESIGN_CANCEL_DELETE_DIVEST;
    if (!cancels && tt_ownership_is_pending(f, NULL))
        return RAISE(OwnershipAcquisitionPending, "federate '%s' waits for attributes", f->name);
    bool divests = action == TUTTI_RESIGN_DIVEST || action == TUTTI_RESIGN_DELETE_THEN_DIVEST ||
                   action == TUTTI_RESIGN_CANCEL_DELETE_DIVEST;
    if (!divests && keeps_attributes(f, resign_deletes(action)))
        return RAISE(FederateOwnsAttributes, "federate '%s' owns attributes of objects", f->name);
    rti_remove_federate(f, resign_deletes(action));
    return TUTTI_HLA_OK;
}

void tt_rti_drop_federate(struct tt_ambassador *ambassador, const char *why)
{
    struct tt_federate *f = ambassador->federate;
    if (f) {
        tt_mom_report_lost(f, why);
        rti_remove_federate(f, resign_deletes(f->switches.automatic_resign));
    }
    free_ambassador(ambassador);
}

static struct tt_sync_point *rti_find_sync_point(const struct tt_federation *federation, const char *label)
{
    for (size_t i = 0; i < federation->point_count; i++)
        if (strcmp(federation->points[i].label, label) == 0)
            return &federation->points[i];
    return NULL;
}

static struct tt_sync_member *rti_sync_member(const struct tt_sync_point *point, uint32_t federate)
{
    for (size_t i = 0; i < point->count; i++)
        if (point->members[i].federate == federate)
            return &point->members[i];
    return NULL;
}

static bool rti_add_sync_member(struct tt_sync_point *point, uint32_t federate)
{
    if (rti_sync_member(point, federate))
        return true;
    if (!tt_vector_reserve(&point->members, &point->room, point->count + 1, sizeof *point->members))
        return false;
    point->members[point->count++] = (struct tt_sync_member){.federate = federate};
    return true;
}

static void rti_announce_sync_point(const struct tt_sync_point *point, const struct tt_federate *federate)
{
    struct tt_callback callback = {
        .kind = TUTTI_CALLBACK_AnnounceSynchronizationPoint, .text = point->label, .tag = point->tag};
    tt_federation_push_callback(federate->ambassador, &callback);
}

/* Tells all if all have arrived; the point is gone then. */
static bool rti_complete_sync_point(struct tt_federation *federation, struct tt_sync_point *point)
{
    struct tt_handle_set failed = {0};
    for (size_t i = 0; i < point->count; i++)
        if (point->members[i].state == TUTTI_SYNC_MOVING)
            return false;
    for (size_t i = 0; i < point->count; i++)
        if (point->members[i].state == TUTTI_SYNC_FAILED)
            (void)tt_federation_add_handle(&failed, point->members[i].federate);
    struct tt_callback callback = {.kind = TUTTI_CALLBACK_FederationSynchronized,
                                   .text = point->label,
                                   .handles = failed.items,
                                   .handle_count = failed.count};
    for (size_t i = 0; i < point->count; i++)
        tt_federation_push_callback(tt_federation_member(federation, point->members[i].federate)->ambassador,
                                    &callback);
    free(failed.items);

    size_t at = (size_t)(point - federation->points);
    tt_federation_free_sync_point(point);
    federation->point_count--;
    memmove(point, point + 1, (federation->point_count - at) * sizeof *point);
    return true;
}

/* A point with its members, or NULL when memory is out. */
static struct tt_sync_point *add_sync_point(struct tt_federation *federation, const char *label, struct tt_octets tag,
                                            const uint32_t *federates, size_t count)
{
    if (!tt_vector_reserve(&federation->points, &federation->point_room, federation->point_count + 1,
                           sizeof *federation->points))
        return NULL;
    struct tt_sync_point *point = &federation->points[federation->point_count];
    void *bytes = malloc(tag.size + 1);
    if (bytes && tag.size)
        memcpy(bytes, tag.data, tag.size);
    *point = (struct tt_sync_point){.label = tt_text_copy(label), .tag = {bytes, tag.size}, .everyone = count == 0};
    bool ok = point->label && bytes;
    for (size_t i = 0; ok && i < count; i++)
        ok = rti_add_sync_member(point, federates[i]);
    for (size_t i = 0; ok && count == 0 && i < federation->federates.count; i++)
        ok = rti_add_sync_member(point, federation->federates.items[i].handle);
    if (!ok) {
        tt_federation_free_sync_point(point);
        return NULL;
    }
    federation->point_count++;
    return point;
}

enum tt_hla tt_rti_register_sync_point(struct tt_ambassador *ambassador, const char *label, struct tt_octets tag,
                                       const uint32_t *federates, size_t count)
{
    struct tt_federate *f;
    struct tt_callback callback = {.kind = TUTTI_CALLBACK_SynchronizationPointRegistrationSucceeded, .text = label};
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    struct tt_federation *federation = f->federation;
    bool joined = true;
    for (size_t i = 0; i < count; i++) {
        if (federates[i] == 0 || federates[i] > federation->last_federate)
            return RAISE(InvalidFederateHandle, "no federate had the handle %u", federates[i]);
        joined = joined && tt_federation_member(federation, federates[i]);
    }
    if (rti_find_sync_point(federation, label) || !joined) {
        callback.kind = TUTTI_CALLBACK_SynchronizationPointRegistrationFailed;
        callback.reason = rti_find_sync_point(federation, label) ? 0 : 1;
        tt_federation_push_callback(ambassador, &callback);
        return TUTTI_HLA_OK;
    }
    const struct tt_sync_point *point = add_sync_point(federation, label, tag, federates, count);
    if (!point)
        return tt_exception_raise_memory();
    tt_federation_push_callback(ambassador, &callback);
    for (size_t i = 0; i < point->count; i++)
        rti_announce_sync_point(point, tt_federation_member(federation, point->members[i].federate));
    return TUTTI_HLA_OK;
}

enum tt_hla tt_rti_achieve_sync_point(struct tt_ambassador *ambassador, const char *label, bool successfully)
{
    struct tt_federate *f;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    struct tt_sync_point *point = rti_find_sync_point(f->federation, label);
    struct tt_sync_member *member = point ? rti_sync_member(point, f->handle) : NULL;
    if (!member)
        return RAISE(SynchronizationPointLabelNotAnnounced,
                     "no point of synchronization '%s' was announced to federate '%s'", tt_text_excerpt(label).text,
                     f->name);
    member->state = successfully ? TUTTI_SYNC_ACHIEVED : TUTTI_SYNC_FAILED;
    (void)rti_complete_sync_point(f->federation, point);
    return TUTTI_HLA_OK;
}

bool tt_rti_announce_sync_points(struct tt_federate *federate)
{
    for (size_t i = 0; i < federate->federation->point_count; i++) {
        struct tt_sync_point *point = &federate->federation->points[i];
        if (!point->everyone)
            continue;
        if (!rti_add_sync_member(point, federate->handle))
            return false;
        rti_announce_sync_point(point, federate);
    }
    return true;
}

void tt_rti_leave_sync_points(struct tt_federate *federate)
{
    struct tt_federation *federation = federate->federation;
    for (size_t i = 0; i < federation->point_count;) {
        struct tt_sync_point *point = &federation->points[i];
        struct tt_sync_member *member = rti_sync_member(point, federate->handle);
        if (member)
            *member = point->members[--point->count];
        if (!member || !rti_complete_sync_point(federation, point))
            i++;
    }
}
