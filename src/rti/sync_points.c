/* SPDX-License-Identifier: MIT */
#include "rti/sync_points.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/vector.h"

static struct tutti_sync_point *find(const struct tutti_federation *federation, const char *label)
{
    for (size_t i = 0; i < federation->point_count; i++)
        if (strcmp(federation->points[i].label, label) == 0)
            return &federation->points[i];
    return NULL;
}

static struct tutti_sync_member *member_of(const struct tutti_sync_point *point, uint32_t federate)
{
    for (size_t i = 0; i < point->count; i++)
        if (point->members[i].federate == federate)
            return &point->members[i];
    return NULL;
}

static bool add_member(struct tutti_sync_point *point, uint32_t federate)
{
    if (member_of(point, federate))
        return true;
    if (!tutti_vector_reserve(&point->members, &point->room, point->count + 1, sizeof *point->members))
        return false;
    point->members[point->count++] = (struct tutti_sync_member){.federate = federate};
    return true;
}

static void announce(const struct tutti_sync_point *point, const struct tutti_federate *federate)
{
    struct tutti_callback callback = {
        .kind = TUTTI_CALLBACK_AnnounceSynchronizationPoint, .text = point->label, .tag = point->tag};
    tutti_ambassador_push(federate->ambassador, &callback);
}

static void remove_point(struct tutti_federation *federation, struct tutti_sync_point *point)
{
    size_t at = (size_t)(point - federation->points);
    tutti_sync_point_fini(point);
    federation->point_count--;
    memmove(point, point + 1, (federation->point_count - at) * sizeof *point);
}

/* Tells all if all have arrived; the point is gone then. */
static bool complete(struct tutti_federation *federation, struct tutti_sync_point *point)
{
    struct tutti_handles failed = {0};
    for (size_t i = 0; i < point->count; i++)
        if (point->members[i].state == TUTTI_SYNC_MOVING)
            return false;
    for (size_t i = 0; i < point->count; i++)
        if (point->members[i].state == TUTTI_SYNC_FAILED)
            (void)tutti_handles_add(&failed, point->members[i].federate);
    struct tutti_callback callback = {.kind = TUTTI_CALLBACK_FederationSynchronized,
                                      .text = point->label,
                                      .handles = failed.items,
                                      .handle_count = failed.count};
    for (size_t i = 0; i < point->count; i++)
        tutti_ambassador_push(tutti_federation_member(federation, point->members[i].federate)->ambassador, &callback);
    free(failed.items);
    remove_point(federation, point);
    return true;
}

/* A point with its members, or NULL when memory is out. */
static struct tutti_sync_point *add_point(struct tutti_federation *federation, const char *label,
                                          struct tutti_octets tag, const uint32_t *federates, size_t count)
{
    if (!tutti_vector_reserve(&federation->points, &federation->point_room, federation->point_count + 1,
                              sizeof *federation->points))
        return NULL;
    struct tutti_sync_point *point = &federation->points[federation->point_count];
    void *bytes = malloc(tag.size + 1);
    if (bytes && tag.size)
        memcpy(bytes, tag.data, tag.size);
    *point =
        (struct tutti_sync_point){.label = tutti_str_copy(label), .tag = {bytes, tag.size}, .everyone = count == 0};
    bool ok = point->label && bytes;
    for (size_t i = 0; ok && i < count; i++)
        ok = add_member(point, federates[i]);
    for (size_t i = 0; ok && count == 0 && i < federation->federates.count; i++)
        ok = add_member(point, federation->federates.items[i].handle);
    if (!ok) {
        tutti_sync_point_fini(point);
        return NULL;
    }
    federation->point_count++;
    return point;
}

enum tutti_hla tutti_rti_register_sync_point(struct tutti_ambassador *ambassador, const char *label,
                                             struct tutti_octets tag, const uint32_t *federates, size_t count)
{
    struct tutti_federate *f;
    struct tutti_callback callback = {.kind = TUTTI_CALLBACK_SynchronizationPointRegistrationSucceeded, .text = label};
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    struct tutti_federation *federation = f->federation;
    bool joined = true;
    for (size_t i = 0; i < count; i++) {
        if (federates[i] == 0 || federates[i] > federation->last_federate)
            return RAISE(InvalidFederateHandle, "no federate had the handle %u", federates[i]);
        joined = joined && tutti_federation_member(federation, federates[i]);
    }
    if (find(federation, label) || !joined) {
        callback.kind = TUTTI_CALLBACK_SynchronizationPointRegistrationFailed;
        callback.reason = find(federation, label) ? 0 : 1;
        tutti_ambassador_push(ambassador, &callback);
        return TUTTI_HLA_OK;
    }
    const struct tutti_sync_point *point = add_point(federation, label, tag, federates, count);
    if (!point)
        return tutti_hla_raise_memory();
    tutti_ambassador_push(ambassador, &callback);
    for (size_t i = 0; i < point->count; i++)
        announce(point, tutti_federation_member(federation, point->members[i].federate));
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_sync_point_achieved(struct tutti_ambassador *ambassador, const char *label, bool successfully)
{
    struct tutti_federate *f;
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    struct tutti_sync_point *point = find(f->federation, label);
    struct tutti_sync_member *member = point ? member_of(point, f->handle) : NULL;
    if (!member)
        return RAISE(SynchronizationPointLabelNotAnnounced,
                     "no point of synchronization '%s' was announced to federate '%s'", tutti_str_show(label).text,
                     f->name);
    member->state = successfully ? TUTTI_SYNC_ACHIEVED : TUTTI_SYNC_FAILED;
    (void)complete(f->federation, point);
    return TUTTI_HLA_OK;
}

bool tutti_sync_points_join(struct tutti_federate *federate)
{
    for (size_t i = 0; i < federate->federation->point_count; i++) {
        struct tutti_sync_point *point = &federate->federation->points[i];
        if (!point->everyone)
            continue;
        if (!add_member(point, federate->handle))
            return false;
        announce(point, federate);
    }
    return true;
}

void tutti_sync_points_leave(struct tutti_federate *federate)
{
    struct tutti_federation *federation = federate->federation;
    for (size_t i = 0; i < federation->point_count;) {
        struct tutti_sync_point *point = &federation->points[i];
        struct tutti_sync_member *member = member_of(point, federate->handle);
        if (member)
            *member = point->members[--point->count];
        if (!member || !complete(federation, point))
            i++;
    }
}
