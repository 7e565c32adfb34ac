/* SPDX-License-Identifier: MIT */
#include "hla/rti/declarations.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/vector.h"
#include "hla/rti/discovery.h"
#include "hla/rti/mom_objects.h"
#include "hla/rti/ownership.h"
#include "hla/rti/relevance.h"

/* Room for all classes of the model, which may have grown since. */
static enum tt_hla declarations_make_room(struct tt_federate *f)
{
    const struct tt_fom *fom = f->federation->fom;
    if (f->object_classes < fom->objects.class_count) {
        struct tt_class_interest *objects = realloc(f->objects, fom->objects.class_count * sizeof *objects);
        if (!objects)
            return tt_exception_raise_memory();
        memset(objects + f->object_classes, 0, (fom->objects.class_count - f->object_classes) * sizeof *objects);
        f->objects = objects;
        f->object_classes = fom->objects.class_count;
    }
    if (f->interaction_classes < fom->interactions.class_count) {
        size_t more = fom->interactions.class_count - f->interaction_classes;
        unsigned char *flags = realloc(f->interactions, fom->interactions.class_count);
        if (!flags)
            return tt_exception_raise_memory();
        memset(flags + f->interaction_classes, 0, more);
        f->interactions = flags;
        uint32_t *transports = realloc(f->interaction_transports, fom->interactions.class_count * sizeof *transports);
        if (!transports)
            return tt_exception_raise_memory();
        memset(transports + f->interaction_classes, 0, more * sizeof *transports);
        f->interaction_transports = transports;
        f->interaction_classes = fom->interactions.class_count;
    }
    return TUTTI_HLA_OK;
}

static enum tt_hla declarations_find_federate(struct tt_ambassador *ambassador, struct tt_federate **f)
{
    HLA_TRY(tt_federation_of_ambassador(ambassador, f));
    return declarations_make_room(*f);
}

static enum tt_hla check_object_class(const struct tt_federate *f, uint32_t class)
{
    if (tt_fom_class(&f->federation->fom->objects, class))
        return TUTTI_HLA_OK;
    return RAISE(ObjectClassNotDefined, "no object class has the handle %u", class);
}

static enum tt_hla check_interaction_class(const struct tt_federate *f, uint32_t class)
{
    if (tt_fom_class(&f->federation->fom->interactions, class))
        return TUTTI_HLA_OK;
    return RAISE(InteractionClassNotDefined, "no interaction class has the handle %u", class);
}

static enum tt_hla declarations_check_attributes(const struct tt_federate *f, struct tt_class_set set)
{
    HLA_TRY(check_object_class(f, set.class));
    for (size_t i = 0; i < set.count; i++)
        if (!tt_fom_has_member(&f->federation->fom->objects, set.class, set.handles[i]))
            return RAISE(AttributeNotDefined, "%s has no attribute with handle %u",
                         tt_fom_class(&f->federation->fom->objects, set.class)->name, set.handles[i]);
    return TUTTI_HLA_OK;
}

static void set_flags(unsigned char *flags, unsigned set, unsigned clear)
{
    *flags = (unsigned char)((*flags & ~clear) | set);
}

/* Sets and clears flags of attributes; memory is the only thing that can fail. */
static enum tt_hla declarations_change_flags(struct tt_federate *f, struct tt_class_set set, unsigned on, unsigned off)
{
    struct tt_class_interest *interest = &f->objects[set.class - 1];
    if (!tt_vector_reserve(&interest->items, &interest->room, interest->count + set.count, sizeof *interest->items))
        return tt_exception_raise_memory();
    for (size_t i = 0; i < set.count; i++) {
        size_t at = 0;
        while (at < interest->count && interest->items[at].handle != set.handles[i])
            at++;
        if (at == interest->count)
            interest->items[interest->count++] = (struct tt_attribute_interest){.handle = set.handles[i]};
        set_flags(&interest->items[at].flags, on, off);
    }
    return TUTTI_HLA_OK;
}

/* Of all attributes of the class. */
static void clear_class_flags(struct tt_federate *f, uint32_t class, unsigned off)
{
    for (size_t i = 0; i < f->objects[class - 1].count; i++)
        set_flags(&f->objects[class - 1].items[i].flags, 0, off);
}

/* Returns true if `other` receives attributes that f publishes at the class. */
static bool declarations_is_receiver(const struct tt_federate *other, const struct tt_federate *f, uint32_t class)
{
    const struct tt_fom_tree *tree = &f->federation->fom->objects;
    const struct tt_class_interest *interest = &f->objects[class - 1];
    for (size_t i = 0; i < interest->count; i++) {
        if (!(interest->items[i].flags & TUTTI_PUBLISHED))
            continue;
        for (uint32_t above = class; above; above = tree->classes[above - 1].parent)
            if (tt_federation_interest_flags(other, above, interest->items[i].handle) & TUTTI_ACTIVE)
                return true;
    }
    return false;
}

static bool declarations_is_wanted(const struct tt_federate *f, uint32_t class)
{
    for (size_t i = 0; i < f->federation->federates.count; i++) {
        const struct tt_federate *other = tt_federation_at(f->federation, i);
        if (other != f && declarations_is_receiver(other, f, class))
            return true;
    }
    return false;
}

static void advise_registration(struct tt_federate *f, uint32_t class, bool wanted)
{
    struct tt_class_interest *interest = &f->objects[class - 1];
    if (interest->advised == wanted)
        return;
    interest->advised = wanted;
    struct tt_callback callback = {.kind = wanted ? TUTTI_CALLBACK_StartRegistrationForObjectClass
                                                  : TUTTI_CALLBACK_StopRegistrationForObjectClass,
                                   .object_class = class};
    if (f->switches.object_class_relevance_advisory)
        tt_federation_push_callback(f->ambassador, &callback);
}

/* `subscriber` has changed its subscription of the class. */
static void advise_others(const struct tt_federate *subscriber, uint32_t class, bool more)
{
    const struct tt_federation *federation = subscriber->federation;
    for (size_t i = 0; i < federation->federates.count; i++) {
        struct tt_federate *f = tt_federation_at(federation, i);
        for (uint32_t c = class; f != subscriber && c <= f->object_classes; c++) {
            struct tt_class_interest *interest = &f->objects[c - 1];
            if (!interest->count || interest->advised == more || !tt_fom_is_within(&federation->fom->objects, c, class))
                continue;
            if (more ? declarations_is_receiver(subscriber, f, c) : !declarations_is_wanted(f, c))
                advise_registration(f, c, more);
        }
    }
}

enum tt_hla tt_declarations_publish_attributes(struct tt_ambassador *ambassador, struct tt_class_set set)
{
    struct tt_federate *f;
    HLA_TRY(declarations_find_federate(ambassador, &f));
    HLA_TRY(declarations_check_attributes(f, set));
    HLA_TRY(declarations_change_flags(f, set, TUTTI_PUBLISHED, 0));
    advise_registration(f, set.class, declarations_is_wanted(f, set.class));
    return TUTTI_HLA_OK;
}

/* A federate cannot own attributes that it no longer publishes. `of` NULL: all attributes. */
static enum tt_hla release_attributes(struct tt_federate *f, uint32_t class, const struct tt_handle_set *of)
{
    const struct tt_handle_table *objects = &f->federation->objects;
    for (size_t i = 0; i < objects->count; i++) {
        struct tt_object *object = objects->items[i].item;
        if (tt_federation_known_class(object, f->handle) != class)
            continue;
        for (size_t k = 0; k < object->attribute_count; k++)
            if (tt_federation_has_handle(&object->attributes[k].acquirers, f->handle) &&
                (!of || tt_federation_has_handle(of, object->attributes[k].attribute)))
                return RAISE(OwnershipAcquisitionPending, "federate '%s' waits for attributes of object '%s'", f->name,
                             object->name);
    }
    for (size_t i = 0; i < objects->count; i++) {
        struct tt_object *object = objects->items[i].item;
        if (tt_federation_known_class(object, f->handle) == class)
            tt_ownership_release(f, object, of, (struct tt_octets){0});
    }
    return TUTTI_HLA_OK;
}

enum tt_hla tt_declarations_unpublish_attributes(struct tt_ambassador *ambassador, struct tt_class_set set)
{
    struct tt_federate *f;
    HLA_TRY(declarations_find_federate(ambassador, &f));
    HLA_TRY(declarations_check_attributes(f, set));
    struct tt_handle_set of = {(uint32_t *)set.handles, set.count, 0};
    HLA_TRY(release_attributes(f, set.class, &of));
    HLA_TRY(declarations_change_flags(f, set, 0, TUTTI_PUBLISHED));
    advise_registration(f, set.class, declarations_is_wanted(f, set.class));
    return TUTTI_HLA_OK;
}

enum tt_hla tt_declarations_unpublish_object_class(struct tt_ambassador *ambassador, uint32_t class)
{
    struct tt_federate *f;
    HLA_TRY(declarations_find_federate(ambassador, &f));
    HLA_TRY(check_object_class(f, class));
    HLA_TRY(release_attributes(f, class, NULL));
    clear_class_flags(f, class, TUTTI_PUBLISHED);
    advise_registration(f, class, false);
    return TUTTI_HLA_OK;
}

enum tt_hla tt_declarations_subscribe_attributes(struct tt_ambassador *ambassador, struct tt_class_set set, bool active,
                                                 const char *rate)
{
    struct tt_federate *f;
    HLA_TRY(declarations_find_federate(ambassador, &f));
    HLA_TRY(declarations_check_attributes(f, set));
    if (*rate && !tt_fom_find_entry(&f->federation->fom->update_rates, rate))
        return RAISE(InvalidUpdateRateDesignator, "the object model has no update rate '%s'",
                     tt_text_excerpt(rate).text);
    tt_mom_register_objects(f->federation, set.class);
    HLA_TRY(
        declarations_change_flags(f, set, TUTTI_SUBSCRIBED | (active ? TUTTI_ACTIVE : 0), active ? 0 : TUTTI_ACTIVE));
    advise_others(f, set.class, active);
    tt_discovery_announce_class(f, set.class);
    tt_discovery_advise_class(f->federation, set.class);
    return TUTTI_HLA_OK;
}

enum tt_hla tt_declarations_unsubscribe_attributes(struct tt_ambassador *ambassador, struct tt_class_set set)
{
    struct tt_federate *f;
    HLA_TRY(declarations_find_federate(ambassador, &f));
    HLA_TRY(declarations_check_attributes(f, set));
    HLA_TRY(declarations_change_flags(f, set, 0, TUTTI_SUBSCRIBED | TUTTI_ACTIVE));
    advise_others(f, set.class, false);
    tt_discovery_advise_class(f->federation, set.class);
    return TUTTI_HLA_OK;
}

enum tt_hla tt_declarations_unsubscribe_object_class(struct tt_ambassador *ambassador, uint32_t class)
{
    struct tt_federate *f;
    HLA_TRY(declarations_find_federate(ambassador, &f));
    HLA_TRY(check_object_class(f, class));
    clear_class_flags(f, class, TUTTI_SUBSCRIBED | TUTTI_ACTIVE);
    advise_others(f, class, false);
    tt_discovery_advise_class(f->federation, class);
    return TUTTI_HLA_OK;
}

static bool receives_interaction(const struct tt_federate *other, uint32_t class)
{
    const struct tt_fom_tree *tree = &other->federation->fom->interactions;
    for (; class; class = tree->classes[class - 1].parent)
        if (class <= other->interaction_classes && other->interactions[class - 1] & TUTTI_ACTIVE)
            return true;
    return false;
}

static void advise_interaction(struct tt_federate *f, uint32_t class)
{
    bool wanted = false;
    for (size_t i = 0; i < f->federation->federates.count && !wanted; i++) {
        const struct tt_federate *other = tt_federation_at(f->federation, i);
        wanted = other != f && receives_interaction(other, class);
    }
    wanted = wanted && f->interactions[class - 1] & TUTTI_PUBLISHED;
    if (wanted == !!(f->interactions[class - 1] & TUTTI_ADVISED))
        return;
    set_flags(&f->interactions[class - 1], wanted ? TUTTI_ADVISED : 0, TUTTI_ADVISED);
    struct tt_callback callback = {.kind = wanted ? TUTTI_CALLBACK_TurnInteractionsOn
                                                  : TUTTI_CALLBACK_TurnInteractionsOff,
                                   .interaction_class = class};
    if (f->switches.interaction_relevance_advisory)
        tt_federation_push_callback(f->ambassador, &callback);
}

/* Publishers of the class and of those below it; only those that can change are looked at. */
static void advise_publishers(const struct tt_federate *subscriber, uint32_t class, bool more)
{
    const struct tt_federation *federation = subscriber->federation;
    for (size_t i = 0; i < federation->federates.count; i++) {
        struct tt_federate *f = tt_federation_at(federation, i);
        for (uint32_t c = class; f != subscriber && c <= f->interaction_classes; c++) {
            unsigned flags = f->interactions[c - 1];
            if (flags & TUTTI_PUBLISHED && !(flags & TUTTI_ADVISED) == more &&
                tt_fom_is_within(&federation->fom->interactions, c, class))
                advise_interaction(f, c);
        }
    }
}

enum tt_hla tt_declarations_publish_interaction(struct tt_ambassador *ambassador, uint32_t class)
{
    struct tt_federate *f;
    HLA_TRY(declarations_find_federate(ambassador, &f));
    HLA_TRY(check_interaction_class(f, class));
    f->interactions[class - 1] |= TUTTI_PUBLISHED;
    advise_interaction(f, class);
    return TUTTI_HLA_OK;
}

enum tt_hla tt_declarations_unpublish_interaction(struct tt_ambassador *ambassador, uint32_t class)
{
    struct tt_federate *f;
    HLA_TRY(declarations_find_federate(ambassador, &f));
    HLA_TRY(check_interaction_class(f, class));
    set_flags(&f->interactions[class - 1], 0, TUTTI_PUBLISHED | TUTTI_ADVISED);
    return TUTTI_HLA_OK;
}

enum tt_hla tt_declarations_subscribe_interaction(struct tt_ambassador *ambassador, uint32_t class, bool active)
{
    struct tt_federate *f;
    HLA_TRY(declarations_find_federate(ambassador, &f));
    HLA_TRY(check_interaction_class(f, class));
    set_flags(&f->interactions[class - 1], TUTTI_SUBSCRIBED | (active ? TUTTI_ACTIVE : 0), TUTTI_ACTIVE);
    advise_publishers(f, class, active);
    return TUTTI_HLA_OK;
}

enum tt_hla tt_declarations_unsubscribe_interaction(struct tt_ambassador *ambassador, uint32_t class)
{
    struct tt_federate *f;
    HLA_TRY(declarations_find_federate(ambassador, &f));
    HLA_TRY(check_interaction_class(f, class));
    set_flags(&f->interactions[class - 1], 0, TUTTI_SUBSCRIBED | TUTTI_ACTIVE);
    advise_publishers(f, class, false);
    return TUTTI_HLA_OK;
}

static enum tt_hla change_directed(struct tt_ambassador *ambassador, struct tt_class_set set, unsigned on, unsigned off)
{
    struct tt_federate *f;
    HLA_TRY(declarations_find_federate(ambassador, &f));
    HLA_TRY(check_object_class(f, set.class));
    for (size_t i = 0; i < set.count; i++)
        HLA_TRY(check_interaction_class(f, set.handles[i]));
    if (!tt_vector_reserve(&f->directed, &f->directed_room, f->directed_count + set.count, sizeof *f->directed))
        return tt_exception_raise_memory();
    for (size_t i = 0; i < set.count; i++) {
        size_t at = 0;
        while (at < f->directed_count &&
               (f->directed[at].object_class != set.class || f->directed[at].interaction_class != set.handles[i]))
            at++;
        if (at == f->directed_count)
            f->directed[f->directed_count++] = (struct tt_directed_interest){set.class, set.handles[i], 0};
        set_flags(&f->directed[at].flags, on, off);
    }
    for (size_t i = 0; !set.count && i < f->directed_count; i++)
        if (f->directed[i].object_class == set.class)
            set_flags(&f->directed[i].flags, 0, off);
    return TUTTI_HLA_OK;
}

enum tt_hla tt_declarations_publish_directed(struct tt_ambassador *ambassador, struct tt_class_set set)
{
    return change_directed(ambassador, set, TUTTI_PUBLISHED, 0);
}

enum tt_hla tt_declarations_unpublish_directed(struct tt_ambassador *ambassador, struct tt_class_set set)
{
    return change_directed(ambassador, set, 0, TUTTI_PUBLISHED);
}

enum tt_hla tt_declarations_subscribe_directed(struct tt_ambassador *ambassador, struct tt_class_set set,
                                               bool universally)
{
    return change_directed(ambassador, set, TUTTI_SUBSCRIBED | (universally ? TUTTI_UNIVERSAL : 0), 0);
}

enum tt_hla tt_declarations_unsubscribe_directed(struct tt_ambassador *ambassador, struct tt_class_set set)
{
    return change_directed(ambassador, set, 0, TUTTI_SUBSCRIBED | TUTTI_UNIVERSAL);
}

static unsigned order_flags(enum tt_message_order order)
{
    return TUTTI_ORDER_SET | (order == TUTTI_ORDER_TIMESTAMP ? TUTTI_ORDER_TSO : 0);
}

enum tt_hla tt_declarations_set_default_order(struct tt_ambassador *ambassador, struct tt_class_set set,
                                              enum tt_message_order order)
{
    struct tt_federate *f;
    HLA_TRY(declarations_find_federate(ambassador, &f));
    HLA_TRY(declarations_check_attributes(f, set));
    return declarations_change_flags(f, set, order_flags(order), TUTTI_ORDER_TSO);
}

enum tt_hla tt_declarations_set_interaction_order(struct tt_ambassador *ambassador, uint32_t class,
                                                  enum tt_message_order order)
{
    struct tt_federate *f;
    HLA_TRY(declarations_find_federate(ambassador, &f));
    HLA_TRY(check_interaction_class(f, class));
    if (!(f->interactions[class - 1] & TUTTI_PUBLISHED))
        return RAISE(InteractionClassNotPublished, "federate '%s' does not publish this interaction class", f->name);
    set_flags(&f->interactions[class - 1], order_flags(order), TUTTI_ORDER_TSO);
    return TUTTI_HLA_OK;
}

static enum tt_hla check_transportation(const struct tt_federate *f, uint32_t transportation)
{
    if (tt_fom_entry(&f->federation->fom->transportations, transportation))
        return TUTTI_HLA_OK;
    return RAISE(InvalidTransportationTypeHandle, "no transportation has the handle %u", transportation);
}

enum tt_hla tt_declarations_set_default_transportation(struct tt_ambassador *ambassador, struct tt_class_set set,
                                                       uint32_t transportation)
{
    struct tt_federate *f;
    HLA_TRY(declarations_find_federate(ambassador, &f));
    HLA_TRY(check_transportation(f, transportation));
    HLA_TRY(declarations_check_attributes(f, set));
    HLA_TRY(declarations_change_flags(f, set, 0, 0));
    struct tt_class_interest *interest = &f->objects[set.class - 1];
    for (size_t i = 0; i < interest->count; i++)
        for (size_t k = 0; k < set.count; k++)
            if (interest->items[i].handle == set.handles[k])
                interest->items[i].transportation = transportation;
    return TUTTI_HLA_OK;
}

enum tt_hla tt_declarations_set_interaction_transportation(struct tt_ambassador *ambassador, uint32_t class,
                                                           uint32_t transportation)
{
    struct tt_federate *f;
    HLA_TRY(declarations_find_federate(ambassador, &f));
    HLA_TRY(check_transportation(f, transportation));
    HLA_TRY(check_interaction_class(f, class));
    if (!(f->interactions[class - 1] & TUTTI_PUBLISHED))
        return RAISE(InteractionClassNotPublished, "federate '%s' does not publish this interaction class", f->name);
    f->interaction_transports[class - 1] = transportation;
    struct tt_callback callback = {.kind = TUTTI_CALLBACK_ConfirmInteractionTransportationTypeChange,
                                   .interaction_class = class,
                                   .transportation = transportation};
    tt_federation_push_callback(ambassador, &callback);
    return TUTTI_HLA_OK;
}

enum tt_hla tt_declarations_query_interaction_transportation(struct tt_ambassador *ambassador, uint32_t federate,
                                                             uint32_t class)
{
    struct tt_federate *f;
    HLA_TRY(declarations_find_federate(ambassador, &f));
    HLA_TRY(check_interaction_class(f, class));
    const struct tt_federate *other = tt_federation_member(f->federation, federate);
    if (!other)
        return RAISE(RTIinternalError, "no joined federate has the handle %u", federate);
    struct tt_callback callback = {.kind = TUTTI_CALLBACK_ReportInteractionTransportationType,
                                   .federate = federate,
                                   .interaction_class = class,
                                   .transportation = tt_federation_transportation(other, class)};
    tt_federation_push_callback(ambassador, &callback);
    return TUTTI_HLA_OK;
}

void tt_declarations_withdraw(struct tt_federate *f)
{
    for (uint32_t class = 1; class <= f->object_classes; class ++)
        clear_class_flags(f, class, TUTTI_PUBLISHED | TUTTI_SUBSCRIBED | TUTTI_ACTIVE);
    for (uint32_t class = 1; class <= f->interaction_classes; class ++)
        f->interactions[class - 1] = 0;
    advise_others(f, TUTTI_FOM_OBJECT_ROOT, false);
    advise_publishers(f, TUTTI_FOM_INTERACTION_ROOT, false);
    f->directed_count = 0;
}
