/* SPDX-License-Identifier: MIT */
#include "rti/support.h"

#include <string.h>

#include "base/str.h"
#include "rti/objects.h"

enum { SERVICE_GROUPS = 7 };

static const char *const orders[] = {[TUTTI_ORDER_RECEIVE] = "Receive", [TUTTI_ORDER_TIMESTAMP] = "TimeStamp"};

static enum tutti_hla model(struct tutti_ambassador *ambassador, const struct tutti_fom **fom)
{
    struct tutti_federate *f;
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    *fom = f->federation->fom;
    return TUTTI_HLA_OK;
}

static enum tutti_hla not_found(const char *what, const char *name)
{
    return RAISE(NameNotFound, "there is no %s '%s'", what, tutti_str_show(name).text);
}

enum tutti_hla tutti_rti_get_federate_handle(struct tutti_ambassador *ambassador, const char *name, uint32_t *handle)
{
    struct tutti_federate *f;
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    for (size_t i = 0; i < f->federation->federates.count; i++)
        if (strcmp(tutti_federation_at(f->federation, i)->name, name) == 0) {
            *handle = tutti_federation_at(f->federation, i)->handle;
            return TUTTI_HLA_OK;
        }
    return not_found("federate", name);
}

enum tutti_hla tutti_rti_get_federate_name(struct tutti_ambassador *ambassador, uint32_t handle, const char **name)
{
    struct tutti_federate *f;
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    if (handle == 0 || handle > f->federation->last_federate)
        return RAISE(InvalidFederateHandle, "no federate had the handle %u", handle);
    const struct tutti_federate *other = tutti_federation_member(f->federation, handle);
    if (!other)
        return RAISE(FederateHandleNotKnown, "the federate with handle %u has left", handle);
    *name = other->name;
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_get_object_class_handle(struct tutti_ambassador *ambassador, const char *name,
                                                 uint32_t *handle)
{
    const struct tutti_fom *fom;
    HLA_TRY(model(ambassador, &fom));
    *handle = tutti_fom_find_class(&fom->objects, name);
    return *handle ? TUTTI_HLA_OK : not_found("object class", name);
}

enum tutti_hla tutti_rti_get_interaction_class_handle(struct tutti_ambassador *ambassador, const char *name,
                                                      uint32_t *handle)
{
    const struct tutti_fom *fom;
    HLA_TRY(model(ambassador, &fom));
    *handle = tutti_fom_find_class(&fom->interactions, name);
    return *handle ? TUTTI_HLA_OK : not_found("interaction class", name);
}

static enum tutti_hla object_class(struct tutti_ambassador *ambassador, uint32_t handle, const struct tutti_fom **fom)
{
    HLA_TRY(model(ambassador, fom));
    if (tutti_fom_class(&(*fom)->objects, handle))
        return TUTTI_HLA_OK;
    return RAISE(InvalidObjectClassHandle, "no object class has the handle %u", handle);
}

static enum tutti_hla interaction_class(struct tutti_ambassador *ambassador, uint32_t handle,
                                        const struct tutti_fom **fom)
{
    HLA_TRY(model(ambassador, fom));
    if (tutti_fom_class(&(*fom)->interactions, handle))
        return TUTTI_HLA_OK;
    return RAISE(InvalidInteractionClassHandle, "no interaction class has the handle %u", handle);
}

enum tutti_hla tutti_rti_get_object_class_name(struct tutti_ambassador *ambassador, uint32_t handle, const char **name)
{
    const struct tutti_fom *fom;
    HLA_TRY(object_class(ambassador, handle, &fom));
    *name = tutti_fom_class(&fom->objects, handle)->name;
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_get_interaction_class_name(struct tutti_ambassador *ambassador, uint32_t handle,
                                                    const char **name)
{
    const struct tutti_fom *fom;
    HLA_TRY(interaction_class(ambassador, handle, &fom));
    *name = tutti_fom_class(&fom->interactions, handle)->name;
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_get_attribute_handle(struct tutti_ambassador *ambassador, uint32_t class, const char *name,
                                              uint32_t *handle)
{
    const struct tutti_fom *fom;
    HLA_TRY(object_class(ambassador, class, &fom));
    *handle = tutti_fom_find_member(&fom->objects, class, name);
    return *handle ? TUTTI_HLA_OK : not_found("attribute", name);
}

enum tutti_hla tutti_rti_get_parameter_handle(struct tutti_ambassador *ambassador, uint32_t class, const char *name,
                                              uint32_t *handle)
{
    const struct tutti_fom *fom;
    HLA_TRY(interaction_class(ambassador, class, &fom));
    *handle = tutti_fom_find_member(&fom->interactions, class, name);
    return *handle ? TUTTI_HLA_OK : not_found("parameter", name);
}

enum tutti_hla tutti_rti_get_attribute_name(struct tutti_ambassador *ambassador, uint32_t class, uint32_t handle,
                                            const char **name)
{
    const struct tutti_fom *fom;
    HLA_TRY(object_class(ambassador, class, &fom));
    if (!tutti_fom_member(&fom->objects, handle))
        return RAISE(InvalidAttributeHandle, "no attribute has the handle %u", handle);
    if (!tutti_fom_has_member(&fom->objects, class, handle))
        return RAISE(AttributeNotDefined, "%s has no attribute with handle %u",
                     tutti_fom_class(&fom->objects, class)->name, handle);
    *name = tutti_fom_member(&fom->objects, handle)->name;
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_get_parameter_name(struct tutti_ambassador *ambassador, uint32_t class, uint32_t handle,
                                            const char **name)
{
    const struct tutti_fom *fom;
    HLA_TRY(interaction_class(ambassador, class, &fom));
    if (!tutti_fom_member(&fom->interactions, handle))
        return RAISE(InvalidParameterHandle, "no parameter has the handle %u", handle);
    if (!tutti_fom_has_member(&fom->interactions, class, handle))
        return RAISE(InteractionParameterNotDefined, "%s has no parameter with handle %u",
                     tutti_fom_class(&fom->interactions, class)->name, handle);
    *name = tutti_fom_member(&fom->interactions, handle)->name;
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_get_known_class(struct tutti_ambassador *ambassador, uint32_t handle, uint32_t *class)
{
    struct tutti_federate *f;
    struct tutti_object *object;
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    HLA_TRY(tutti_federate_object(f, handle, &object));
    *class = tutti_object_known(object, f->handle);
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_get_object_handle(struct tutti_ambassador *ambassador, const char *name, uint32_t *handle)
{
    struct tutti_federate *f;
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    const struct tutti_object *object = tutti_objects_find(f->federation, name);
    if (!object || !tutti_object_known(object, f->handle))
        return RAISE(ObjectInstanceNotKnown, "federate '%s' does not know an object '%s'", f->name,
                     tutti_str_show(name).text);
    *handle = object->handle;
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_get_object_name(struct tutti_ambassador *ambassador, uint32_t handle, const char **name)
{
    struct tutti_federate *f;
    struct tutti_object *object;
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    HLA_TRY(tutti_federate_object(f, handle, &object));
    *name = object->name;
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_get_update_rate(struct tutti_ambassador *ambassador, const char *name, double *rate)
{
    const struct tutti_fom *fom;
    HLA_TRY(model(ambassador, &fom));
    uint32_t handle = tutti_fom_find_entry(&fom->update_rates, name);
    if (!handle)
        return RAISE(InvalidUpdateRateDesignator, "the object model has no update rate '%s'",
                     tutti_str_show(name).text);
    *rate = tutti_fom_entry(&fom->update_rates, handle)->number;
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_get_order(struct tutti_ambassador *ambassador, const char *name, enum tutti_order *order)
{
    const struct tutti_fom *fom;
    HLA_TRY(model(ambassador, &fom));
    for (unsigned i = 0; i < 2; i++)
        if (strcmp(orders[i], name) == 0) {
            *order = (enum tutti_order)i;
            return TUTTI_HLA_OK;
        }
    return RAISE(InvalidOrderName, "an order is Receive or TimeStamp, not '%s'", tutti_str_show(name).text);
}

enum tutti_hla tutti_rti_get_order_name(struct tutti_ambassador *ambassador, enum tutti_order order, const char **name)
{
    const struct tutti_fom *fom;
    HLA_TRY(model(ambassador, &fom));
    if ((unsigned)order > TUTTI_ORDER_TIMESTAMP)
        return RAISE(InvalidOrderType, "%d is no order", (int)order);
    *name = orders[order];
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_get_transportation_handle(struct tutti_ambassador *ambassador, const char *name,
                                                   uint32_t *handle)
{
    const struct tutti_fom *fom;
    HLA_TRY(model(ambassador, &fom));
    *handle = tutti_fom_find_entry(&fom->transportations, name);
    if (*handle)
        return TUTTI_HLA_OK;
    return RAISE(InvalidTransportationName, "the object model has no transportation '%s'", tutti_str_show(name).text);
}

enum tutti_hla tutti_rti_get_transportation_name(struct tutti_ambassador *ambassador, uint32_t handle,
                                                 const char **name)
{
    const struct tutti_fom *fom;
    HLA_TRY(model(ambassador, &fom));
    const struct tutti_fom_entry *entry = tutti_fom_entry(&fom->transportations, handle);
    if (!entry)
        return RAISE(InvalidTransportationTypeHandle, "no transportation has the handle %u", handle);
    *name = entry->name;
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_get_dimension_handle(struct tutti_ambassador *ambassador, const char *name, uint32_t *handle)
{
    const struct tutti_fom *fom;
    HLA_TRY(model(ambassador, &fom));
    *handle = tutti_fom_find_entry(&fom->dimensions, name);
    return *handle ? TUTTI_HLA_OK : not_found("dimension", name);
}

static enum tutti_hla dimension(struct tutti_ambassador *ambassador, uint32_t handle,
                                const struct tutti_fom_entry **entry)
{
    const struct tutti_fom *fom;
    HLA_TRY(model(ambassador, &fom));
    *entry = tutti_fom_entry(&fom->dimensions, handle);
    return *entry ? TUTTI_HLA_OK : RAISE(InvalidDimensionHandle, "no dimension has the handle %u", handle);
}

enum tutti_hla tutti_rti_get_dimension_name(struct tutti_ambassador *ambassador, uint32_t handle, const char **name)
{
    const struct tutti_fom_entry *entry;
    HLA_TRY(dimension(ambassador, handle, &entry));
    *name = entry->name;
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_get_dimension_upper_bound(struct tutti_ambassador *ambassador, uint32_t handle,
                                                   uint32_t *bound)
{
    const struct tutti_fom_entry *entry;
    HLA_TRY(dimension(ambassador, handle, &entry));
    *bound = entry->number >= 0 && entry->number < UINT32_MAX ? (uint32_t)entry->number : UINT32_MAX;
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_normalize_service_group(struct tutti_ambassador *ambassador, unsigned group, uint32_t *value)
{
    const struct tutti_fom *fom;
    HLA_TRY(model(ambassador, &fom));
    if (group >= SERVICE_GROUPS)
        return RAISE(InvalidServiceGroup, "%u is no group of services", group);
    *value = group;
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_normalize_federate(struct tutti_ambassador *ambassador, uint32_t handle, uint32_t *value)
{
    struct tutti_federate *f;
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    if (handle == 0 || handle > f->federation->last_federate)
        return RAISE(InvalidFederateHandle, "no federate had the handle %u", handle);
    *value = handle;
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_normalize_object_class(struct tutti_ambassador *ambassador, uint32_t handle, uint32_t *value)
{
    const struct tutti_fom *fom;
    HLA_TRY(object_class(ambassador, handle, &fom));
    *value = handle;
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_normalize_interaction_class(struct tutti_ambassador *ambassador, uint32_t handle,
                                                     uint32_t *value)
{
    const struct tutti_fom *fom;
    HLA_TRY(interaction_class(ambassador, handle, &fom));
    *value = handle;
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_normalize_object(struct tutti_ambassador *ambassador, uint32_t handle, uint32_t *value)
{
    struct tutti_federate *f;
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    if (!tutti_federation_object(f->federation, handle))
        return RAISE(InvalidObjectInstanceHandle, "no object has the handle %u", handle);
    *value = handle;
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_switches(struct tutti_ambassador *ambassador, struct tutti_fom_switches **own,
                                  const struct tutti_fom_switches **federation)
{
    struct tutti_federate *f;
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    *own = &f->switches;
    *federation = &f->federation->fom->switches;
    return TUTTI_HLA_OK;
}
