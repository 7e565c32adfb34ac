/* SPDX-License-Identifier: MIT */
#include "rti/interactions.h"

#include "rti/delivery.h"
#include "rti/ownership.h"
#include "rti/time_management.h"

static enum tutti_hla check(const struct tutti_federate *f, uint32_t class, const struct tutti_value *values,
                            size_t count)
{
    const struct tutti_fom_tree *tree = &f->federation->fom->interactions;
    if (!tutti_fom_class(tree, class))
        return RAISE(InteractionClassNotDefined, "no interaction class has the handle %u", class);
    for (size_t i = 0; i < count; i++)
        if (!tutti_fom_has_member(tree, class, values[i].handle))
            return RAISE(InteractionParameterNotDefined, "%s has no parameter with handle %u",
                         tutti_fom_class(tree, class)->name, values[i].handle);
    return TUTTI_HLA_OK;
}

static enum tutti_hla not_published(const struct tutti_federate *f, uint32_t class)
{
    return RAISE(InteractionClassNotPublished, "federate '%s' does not publish %s", f->name,
                 tutti_fom_class(&f->federation->fom->interactions, class)->name);
}

static struct tutti_message *new_message(struct tutti_federate *f, enum tutti_message_kind kind, uint32_t class,
                                         const struct tutti_value *values, size_t count, struct tutti_send *send)
{
    const struct tutti_fom_class *c = tutti_fom_class(&f->federation->fom->interactions, class);
    unsigned flags = class <= f->interaction_classes ? f->interactions[class - 1] : 0;
    enum tutti_order order = c->order;
    if (flags & TUTTI_ORDER_SET)
        order = flags & TUTTI_ORDER_TSO ? TUTTI_ORDER_TIMESTAMP : TUTTI_ORDER_RECEIVE;
    struct tutti_message *message = tutti_send_message(f, kind, send, values, count, order, 0);
    if (message) {
        message->class = class;
        message->transportation = tutti_federate_transportation(f, class);
    }
    return message;
}

static enum tutti_hla finish(struct tutti_federate *f, struct tutti_message *message, uint64_t *retraction)
{
    uint64_t number = tutti_send_done(f, message);
    if (retraction)
        *retraction = number;
    tutti_time_settle(f->federation);
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_send_interaction(struct tutti_ambassador *ambassador, uint32_t class,
                                          const struct tutti_value *values, size_t count, struct tutti_send send,
                                          uint64_t *retraction)
{
    struct tutti_federate *f;
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    HLA_TRY(check(f, class, values, count));
    if (class > f->interaction_classes || !(f->interactions[class - 1] & TUTTI_PUBLISHED))
        return not_published(f, class);
    HLA_TRY(tutti_send_check(f, &send));
    struct tutti_message *message = new_message(f, TUTTI_MESSAGE_INTERACTION, class, values, count, &send);
    if (!message)
        return tutti_hla_raise_memory();
    for (size_t i = 0; i < f->federation->federates.count; i++) {
        struct tutti_federate *to = tutti_federation_at(f->federation, i);
        if (to != f && tutti_federate_receives(to, class))
            tutti_deliver(to, message);
    }
    return finish(f, message, retraction);
}

/* Does the federate hear of interactions of the class to this object, as which it knows `known`? */
static bool hears(const struct tutti_federate *to, uint32_t known, uint32_t class, const struct tutti_object *object)
{
    if (tutti_federate_directed(to, known, class, TUTTI_SUBSCRIBED | TUTTI_UNIVERSAL))
        return true;
    return tutti_federate_directed(to, known, class, TUTTI_SUBSCRIBED) && tutti_ownership_has_any(to, object);
}

enum tutti_hla tutti_rti_send_directed(struct tutti_ambassador *ambassador, uint32_t class, uint32_t handle,
                                       const struct tutti_value *values, size_t count, struct tutti_send send,
                                       uint64_t *retraction)
{
    struct tutti_federate *f;
    struct tutti_object *object;
    HLA_TRY(tutti_ambassador_federate(ambassador, &f));
    HLA_TRY(check(f, class, values, count));
    HLA_TRY(tutti_federate_object(f, handle, &object));
    uint32_t known = tutti_object_known(object, f->handle);
    if (tutti_federate_directed(f, known, class, TUTTI_PUBLISHED) != class)
        return not_published(f, class);
    HLA_TRY(tutti_send_check(f, &send));
    struct tutti_message *message = new_message(f, TUTTI_MESSAGE_DIRECTED, class, values, count, &send);
    if (!message)
        return tutti_hla_raise_memory();
    message->object = handle;
    for (size_t i = 0; i < object->known_count; i++) {
        struct tutti_federate *to = tutti_federation_member(f->federation, object->known[i].federate);
        if (to != f && hears(to, object->known[i].class, class, object))
            tutti_deliver(to, message);
    }
    return finish(f, message, retraction);
}
