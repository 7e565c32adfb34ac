/* SPDX-License-Identifier: MIT */
#include "hla/rti/support.h"

#include <string.h>

#include "base/text.h"
#include "hla/rti/objects.h"

enum { SERVICE_GROUPS = 7 };

static const char *const orders[] = {[TUTTI_ORDER_RECEIVE] = "Receive", [TUTTI_ORDER_TIMESTAMP] = "TimeStamp"};

static enum tt_hla find_object_model(struct tt_ambassador *ambassador, const struct tt_fom **fom)
{
    struct tt_federate *f;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    *fom = f->federation->fom;
    return TUTTI_HLA_OK;
}

static enum tt_hla support_not_found(const char *what, const char *name)
{
    return RAISE(NameNotFound, "there is no %s '%s'", what, tt_text_excerpt(name).text);
}

enum tt_hla tt_support_get_federate_handle(struct tt_ambassador *ambassador, const char *name, uint32_t *handle)
{
    struct tt_federate *f;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    for (size_t i = 0; i < f->federation->federates.count; i++)
        if (strcmp(tt_federation_at(f->federation, i)->name, name) == 0) {
            *handle = tt_federation_at(f->federation, i)->handle;
            return TUTTI_HLA_OK;
        }
    return support_not_found("federate", name);
}

enum tt_hla tt_support_get_federate_name(struct tt_ambassador *ambassador, uint32_t handle, const char **name)
{
    struct tt_federate *f;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    if (handle == 0 || handle > f->federation->last_federate)
        return RAISE(InvalidFederateHandle, "no federate had the handle %u", handle);
    const struct tt_federate *other = tt_federation_member(f->federation, handle);
    if (!other)
        return RAISE(FederateHandleNotKnown, "the federate with handle %u has left", handle);
    *name = other->name;
    return TUTTI_HLA_OK;
}

enum tt_hla tt_support_get_object_class_handle(struct tt_ambassador *ambassador, const char *name, uint32_t *handle)
{
    const struct tt_fom *fom;
    HLA_TRY(find_object_model(ambassador, &fom));
    *handle = tt_fom_find_class(&fom->objects, name);
    return *handle ? TUTTI_HLA_OK : support_not_found("object class", name);
}

enum tt_hla tt_support_get_interaction_class_handle(struct tt_ambassador *ambassador, const char *name,
                                                    uint32_t *handle)
{
    const struct tt_fom *fom;
    HLA_TRY(find_object_model(ambassador, &fom));
    *handle = tt_fom_find_class(&fom->interactions, name);
    return *handle ? TUTTI_HLA_OK : support_not_found("interaction class", name);
}

static enum tt_hla find_object_class(struct tt_ambassador *ambassador, uint32_t handle, const struct tt_fom **fom)
{
    HLA_TRY(find_object_model(ambassador, fom));
    if (tt_fom_class(&(*fom)->objects, handle))
        return TUTTI_HLA_OK;
    return RAISE(InvalidObjectClassHandle, "no object class has the handle %u", handle);
}

static enum tt_hla find_interaction_class(struct tt_ambassador *ambassador, uint32_t handle, const struct tt_fom **fom)
{
    HLA_TRY(find_object_model(ambassador, fom));
    if (tt_fom_class(&(*fom)->interactions, handle))
        return TUTTI_HLA_OK;
    return RAISE(InvalidInteractionClassHandle, "no interaction class has the handle %u", handle);
}

enum tt_hla tt_support_get_object_class_name(struct tt_ambassador *ambassador, uint32_t handle, const char **name)
{
    const struct tt_fom *fom;
    HLA_TRY(find_object_class(ambassador, handle, &fom));
    *name = tt_fom_class(&fom->objects, handle)->name;
    return TUTTI_HLA_OK;
}

enum tt_hla tt_support_get_interaction_class_name(struct tt_ambassador *ambassador, uint32_t handle, const char **name)
{
    const struct tt_fom *fom;
    HLA_TRY(find_interaction_class(ambassador, handle, &fom));
    *name = tt_fom_class(&fom->interactions, handle)->name;
    return TUTTI_HLA_OK;
}

enum tt_hla tt_support_get_attribute_handle(struct tt_ambassador *ambassador, uint32_t class, const char *name,
                                            uint32_t *handle)
{
    const struct tt_fom *fom;
    HLA_TRY(find_object_class(ambassador, class, &fom));
    *handle = tt_fom_find_member(&fom->objects, class, name);
    return *handle ? TUTTI_HLA_OK : support_not_found("attribute", name);
}

enum tt_hla tt_support_get_parameter_handle(struct tt_ambassador *ambassador, uint32_t class, const char *name,
                                            uint32_t *handle)
{
    const struct tt_fom *fom;
    HLA_TRY(find_interaction_class(ambassador, class, &fom));
    *handle = tt_fom_find_member(&fom->interactions, class, name);
    return *handle ? TUTTI_HLA_OK : support_not_found("parameter", name);
}

enum tt_hla tt_support_get_attribute_name(struct tt_ambassador *ambassador, uint32_t class, uint32_t handle,
                                          const char **name)
{
    const struct tt_fom *fom;
    HLA_TRY(find_object_class(ambassador, class, &fom));
    if (!tt_fom_member(&fom->objects, handle))
        return RAISE(InvalidAttributeHandle, "no attribute has the handle %u", handle);
    if (!tt_fom_has_member(&fom->objects, class, handle))
        return RAISE(AttributeNotDefined, "%s has no attribute with handle %u",
                     tt_fom_class(&fom->objects, class)->name, handle);
    *name = tt_fom_member(&fom->objects, handle)->name;
    return TUTTI_HLA_OK;
}

enum tt_hla tt_support_get_parameter_name(struct tt_ambassador *ambassador, uint32_t class, uint32_t handle,
                                          const char **name)
{
    const struct tt_fom *fom;
    HLA_TRY(find_interaction_class(ambassador, class, &fom));
    if (!tt_fom_member(&fom->interactions, handle))
        return RAISE(InvalidParameterHandle, "no parameter has the handle %u", handle);
    if (!tt_fom_has_member(&fom->interactions, class, handle))
        return RAISE(InteractionParameterNotDefined, "%s has no parameter with handle %u",
                     tt_fom_class(&fom->interactions, class)->name, handle);
    *name = tt_fom_member(&fom->interactions, handle)->name;
    return TUTTI_HLA_OK;
}

enum tt_hla tt_support_get_known_class(struct tt_ambassador *ambassador, uint32_t handle, uint32_t *class)
{
    struct tt_federate *f;
    struct tt_object *object;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    HLA_TRY(tt_federation_find_object(f, handle, &object));
    *class = tt_federation_known_class(object, f->handle);
    return TUTTI_HLA_OK;
}

enum tt_hla tt_support_get_object_handle(struct tt_ambassador *ambassador, const char *name, uint32_t *handle)
{
    struct tt_federate *f;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    const struct tt_object *object = tt_objects_find(f->federation, name);
    if (!object || !tt_federation_known_class(object, f->handle))
        return RAISE(ObjectInstanceNotKnown, "federate '%s' does not know an object '%s'", f->name,
                     tt_text_excerpt(name).text);
    *handle = object->handle;
    return TUTTI_HLA_OK;
}

enum tt_hla tt_support_get_object_name(struct tt_ambassador *ambassador, uint32_t handle, const char **name)
{
    struct tt_federate *f;
    struct tt_object *object;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    HLA_TRY(tt_federation_find_object(f, handle, &object));
    *name = object->name;
    return TUTTI_HLA_OK;
}

enum tt_hla tt_support_get_update_rate(struct tt_ambassador *ambassador, const char *name, double *rate)
{
    const struct tt_fom *fom;
    HLA_TRY(find_object_model(ambassador, &fom));
    uint32_t handle = tt_fom_find_entry(&fom->update_rates, name);
    if (!handle)
        return RAISE(InvalidUpdateRateDesignator, "the object model has no update rate '%s'",
                     tt_text_excerpt(name).text);
    *rate = tt_fom_entry(&fom->update_rates, handle)->number;
    return TUTTI_HLA_OK;
}

enum tt_hla tt_support_get_order(struct tt_ambassador *ambassador, const char *name, enum tt_message_order *order)
{
    const struct tt_fom *fom;
    HLA_TRY(find_object_model(ambassador, &fom));
    for (unsigned i = 0; i < 2; i++)
        if (strcmp(orders[i], name) == 0) {
            *order = (enum tt_message_order)i;
            return TUTTI_HLA_OK;
        }
    return RAISE(InvalidOrderName, "an order is Receive or TimeStamp, not '%s'", tt_text_excerpt(name).text);
}

enum tt_hla tt_support_get_order_name(struct tt_ambassador *ambassador, enum tt_message_order order, const char **name)
{
    const struct tt_fom *fom;
    HLA_TRY(find_object_model(ambassador, &fom));
    if ((unsigned)order > TUTTI_ORDER_TIMESTAMP)
        return RAISE(InvalidOrderType, "%d is no order", (int)order);
    *name = orders[order];
    return TUTTI_HLA_OK;
}

enum tt_hla tt_support_get_transportation_handle(struct tt_ambassador *ambassador, const char *name, uint32_t *handle)
{
    const struct tt_fom *fom;
    HLA_TRY(find_object_model(ambassador, &fom));
    *handle = tt_fom_find_entry(&fom->transportations, name);
    if (*handle)
        return TUTTI_HLA_OK;
    return RAISE(InvalidTransportationName, "the object model has no transportation '%s'", tt_text_excerpt(name).text);
}

enum tt_hla tt_support_get_transportation_name(struct tt_ambassador *ambassador, uint32_t handle, const char **name)
{
    const struct tt_fom *fom;
    HLA_TRY(find_object_model(ambassador, &fom));
    const struct tt_fom_entry *entry = tt_fom_entry(&fom->transportations, handle);
    if (!entry)
        return RAISE(InvalidTransportationTypeHandle, "no transportation has the handle %u", handle);
    *name = entry->name;
    return TUTTI_HLA_OK;
}

enum tt_hla tt_support_get_dimension_handle(struct tt_ambassador *ambassador, const char *name, uint32_t *handle)
{
    const struct tt_fom *fom;
    HLA_TRY(find_object_model(ambassador, &fom));
    *handle = tt_fom_find_entry(&fom->dimensions, name);
    return *handle ? TUTTI_HLA_OK : support_not_found("dimension", name);
}

static enum tt_hla support_find_dimension(struct tt_ambassador *ambassador, uint32_t handle,
                                          const struct tt_fom_entry **entry)
{
    const struct tt_fom *fom;
    HLA_TRY(find_object_model(ambassador, &fom));
    *entry = tt_fom_entry(&fom->dimensions, handle);
    return *entry ? TUTTI_HLA_OK : RAISE(InvalidDimensionHandle, "no dimension has the handle %u", handle);
}

enum tt_hla tt_support_get_dimension_name(struct tt_ambassador *ambassador, uint32_t handle, const char **name)
{
    const struct tt_fom_entry *entry;
    HLA_TRY(support_find_dimension(ambassador, handle, &entry));
    *name = entry->name;
    return TUTTI_HLA_OK;
}

enum tt_hla tt_support_get_dimension_upper_bound(struct tt_ambassador *ambassador, uint32_t handle, uint32_t *bound)
{
    const struct tt_fom_entry *entry;
    HLA_TRY(support_find_dimension(ambassador, handle, &entry));
    *bound = entry->number >= 0 && entry->number < UINT32_MAX ? (uint32_t)entry->number : UINT32_MAX;
    return TUTTI_HLA_OK;
}

enum tt_hla tt_support_normalize_service_group(struct tt_ambassador *ambassador, unsigned group, uint32_t *value)
{
    const struct tt_fom *fom;
    HLA_TRY(find_object_model(ambassador, &fom));
    if (group >= SERVICE_GROUPS)
        return RAISE(InvalidServiceGroup, "%u is no group of services", group);
    *value = group;
    return TUTTI_HLA_OK;
}

enum tt_hla tt_support_normalize_federate(struct tt_ambassador *ambassador, uint32_t handle, uint32_t *value)
{
    struct tt_federate *f;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    if (handle == 0 || handle > f->federation->last_federate)
        return RAISE(InvalidFederateHandle, "no federate had the handle %u", handle);
    *value = handle;
    return TUTTI_HLA_OK;
}

enum tt_hla tt_support_normalize_object_class(struct tt_ambassador *ambassador, uint32_t handle, uint32_t *value)
{
    const struct tt_fom *fom;
    HLA_TRY(find_object_class(ambassador, handle, &fom));
    *value = handle;
    return TUTTI_HLA_OK;
}

enum tt_hla tt_support_normalize_interaction_class(struct tt_ambassador *ambassador, uint32_t handle, uint32_t *value)
{
    const struct tt_fom *fom;
    HLA_TRY(find_interaction_class(ambassador, handle, &fom));
    *value = handle;
    return TUTTI_HLA_OK;
}

enum tt_hla tt_support_normalize_object(struct tt_ambassador *ambassador, uint32_t handle, uint32_t *value)
{
    struct tt_federate *f;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    if (!tt_federation_object(f->federation, handle))
        return RAISE(InvalidObjectInstanceHandle, "no object has the handle %u", handle);
    *value = handle;
    return TUTTI_HLA_OK;
}

enum tt_hla tt_support_switches(struct tt_ambassador *ambassador, struct tt_fom_switches **own,
                                const struct tt_fom_switches **federation)
{
    struct tt_federate *f;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    *own = &f->switches;
    *federation = &f->federation->fom->switches;
    return TUTTI_HLA_OK;
}
