/* SPDX-License-Identifier: MIT */
#include "hla/rti/sync_points.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/vector.h"

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

static void remove_sync_point(struct tt_federation *federation, struct tt_sync_point *point)
{
    size_t at = (size_t)(point - federation->points);
    tt_federation_free_sync_point(point);
    federation->point_count--;
    memmove(point, point + 1, (federation->point_count - at) * sizeof *point);
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
    remove_sync_point(federation, point);
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
