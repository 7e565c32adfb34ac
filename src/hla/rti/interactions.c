/* SPDX-License-Identifier: MIT */
#include "hla/rti/interactions.h"

#include "hla/rti/message_delivery.h"
#include "hla/rti/ownership.h"
#include "hla/rti/time_management.h"

static enum tt_hla objects_check_interaction(const struct tt_federate *f, uint32_t class,
                                             const struct tt_hla_value *values, size_t count)
{
    const struct tt_fom_tree *tree = &f->federation->fom->interactions;
    if (!tt_fom_class(tree, class))
        return RAISE(InteractionClassNotDefined, "no interaction class has the handle %u", class);
    for (size_t i = 0; i < count; i++)
        if (!tt_fom_has_member(tree, class, values[i].handle))
            return RAISE(InteractionParameterNotDefined, "%s has no parameter with handle %u",
                         tt_fom_class(tree, class)->name, values[i].handle);
    return TUTTI_HLA_OK;
}

static enum tt_hla not_published(const struct tt_federate *f, uint32_t class)
{
    return RAISE(InteractionClassNotPublished, "federate '%s' does not publish %s", f->name,
                 tt_fom_class(&f->federation->fom->interactions, class)->name);
}

static struct tt_message *new_interaction_message(struct tt_federate *f, enum tt_message_kind kind, uint32_t class,
                                                  const struct tt_hla_value *values, size_t count,
                                                  struct tt_message_stamp *send)
{
    const struct tt_fom_class *c = tt_fom_class(&f->federation->fom->interactions, class);
    unsigned flags = class <= f->interaction_classes ? f->interactions[class - 1] : 0;
    enum tt_message_order order = c->order;
    if (flags & TUTTI_ORDER_SET)
        order = flags & TUTTI_ORDER_TSO ? TUTTI_ORDER_TIMESTAMP : TUTTI_ORDER_RECEIVE;
    struct tt_message *message = tt_message_create(f, kind, send, values, count, order, 0);
    if (message) {
        message->class = class;
        message->transportation = tt_federation_transportation(f, class);
    }
    return message;
}

static enum tt_hla objects_finish_interaction(struct tt_federate *f, struct tt_message *message, uint64_t *retraction)
{
    uint64_t number = tt_message_finish(f, message);
    if (retraction)
        *retraction = number;
    tt_time_management_grant(f->federation);
    return TUTTI_HLA_OK;
}

enum tt_hla tt_objects_send_interaction(struct tt_ambassador *ambassador, uint32_t class,
                                        const struct tt_hla_value *values, size_t count, struct tt_message_stamp send,
                                        uint64_t *retraction)
{
    struct tt_federate *f;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    HLA_TRY(objects_check_interaction(f, class, values, count));
    if (class > f->interaction_classes || !(f->interactions[class - 1] & TUTTI_PUBLISHED))
        return not_published(f, class);
    HLA_TRY(tt_message_check_stamp(f, &send));
    struct tt_message *message = new_interaction_message(f, TUTTI_MESSAGE_INTERACTION, class, values, count, &send);
    if (!message)
        return tt_exception_raise_memory();
    for (size_t i = 0; i < f->federation->federates.count; i++) {
        struct tt_federate *to = tt_federation_at(f->federation, i);
        if (to != f && tt_federation_received_class(to, class))
            tt_message_deliver(to, message);
    }
    return objects_finish_interaction(f, message, retraction);
}

/* Does the federate hear of interactions of the class to this object, as which it knows `known`? */
static bool objects_receives_directed(const struct tt_federate *to, uint32_t known, uint32_t class,
                                      const struct tt_object *object)
{
    if (tt_federation_directed_class(to, known, class, TUTTI_SUBSCRIBED | TUTTI_UNIVERSAL))
        return true;
    return tt_federation_directed_class(to, known, class, TUTTI_SUBSCRIBED) && tt_ownership_has_any(to, object);
}

enum tt_hla tt_objects_send_directed(struct tt_ambassador *ambassador, uint32_t class, uint32_t handle,
                                     const struct tt_hla_value *values, size_t count, struct tt_message_stamp send,
                                     uint64_t *retraction)
{
    struct tt_federate *f;
    struct tt_object *object;
    HLA_TRY(tt_federation_of_ambassador(ambassador, &f));
    HLA_TRY(objects_check_interaction(f, class, values, count));
    HLA_TRY(tt_federation_find_object(f, handle, &object));
    uint32_t known = tt_federation_known_class(object, f->handle);
    if (tt_federation_directed_class(f, known, class, TUTTI_PUBLISHED) != class)
        return not_published(f, class);
    HLA_TRY(tt_message_check_stamp(f, &send));
    struct tt_message *message = new_interaction_message(f, TUTTI_MESSAGE_DIRECTED, class, values, count, &send);
    if (!message)
        return tt_exception_raise_memory();
    message->object = handle;
    for (size_t i = 0; i < object->known_count; i++) {
        struct tt_federate *to = tt_federation_member(f->federation, object->known[i].federate);
        if (to != f && objects_receives_directed(to, object->known[i].class, class, object))
            tt_message_deliver(to, message);
    }
    return objects_finish_interaction(f, message, retraction);
}
