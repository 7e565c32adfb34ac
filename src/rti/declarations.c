/* SPDX-License-Identifier: MIT */
#include "rti/declarations.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/vector.h"
#include "rti/discovery.h"
#include "rti/mom_objects.h"
#include "rti/ownership.h"
#include "rti/relevance.h"

/* Room for all classes of the model, which may have grown since. */
static enum tutti_hla make_room(struct tutti_federate *f)
{
    const struct tutti_fom *fom = f->federation->fom;
    if (f->object_classes < fom->objects.class_count) {
        struct tutti_class_interest *objects = realloc(f->objects, fom->objects.class_count * sizeof *objects);
        if (!objects)
            return tutti_hla_raise_memory();
        memset(objects + f->object_classes, 0, (fom->objects.class_count - f->object_classes) * sizeof *objects);
        f->objects = objects;
        f->object_classes = fom->objects.class_count;
    }
    if (f->interaction_classes < fom->interactions.class_count) {
        size_t more = fom->interactions.class_count - f->interaction_classes;
        unsigned char *flags = realloc(f->interactions, fom->interactions.class_count);
        if (!flags)
            return tutti_hla_raise_memory();
        memset(flags + f->interaction_classes, 0, more);
        f->interactions = flags;
        uint32_t *transports = realloc(f->interaction_transports, fom->interactions.class_count * sizeof *transports);
        if (!transports)
            return tutti_hla_raise_memory();
        memset(transports + f->interaction_classes, 0, more * sizeof *transports);
        f->interaction_transports = transports;
        f->interaction_classes = fom->interactions.class_count;
    }
    return TUTTI_HLA_OK;
}

static enum tutti_hla begin(struct tutti_ambassador *ambassador, struct tutti_federate **f)
{
    HLA_TRY(tutti_ambassador_federate(ambassador, f));
    return make_room(*f);
}

static enum tutti_hla check_object_class(const struct tutti_federate *f, uint32_t class)
{
    if (tutti_fom_class(&f->federation->fom->objects, class))
        return TUTTI_HLA_OK;
    return RAISE(ObjectClassNotDefined, "no object class has the handle %u", class);
}

static enum tutti_hla check_interaction_class(const struct tutti_federate *f, uint32_t class)
{
    if (tutti_fom_class(&f->federation->fom->interactions, class))
        return TUTTI_HLA_OK;
    return RAISE(InteractionClassNotDefined, "no interaction class has the handle %u", class);
}

static enum tutti_hla check_attributes(const struct tutti_federate *f, struct tutti_class_set set)
{
    HLA_TRY(check_object_class(f, set.class));
    for (size_t i = 0; i < set.count; i++)
        if (!tutti_fom_has_member(&f->federation->fom->objects, set.class, set.handles[i]))
            return RAISE(AttributeNotDefined, "%s has no attribute with handle %u",
                         tutti_fom_class(&f->federation->fom->objects, set.class)->name, set.handles[i]);
    return TUTTI_HLA_OK;
}

static void set_flags(unsigned char *flags, unsigned set, unsigned clear)
{
    *flags = (unsigned char)((*flags & ~clear) | set);
}

/* Sets and clears flags of attributes; memory is the only thing that can fail. */
static enum tutti_hla change(struct tutti_federate *f, struct tutti_class_set set, unsigned on, unsigned off)
{
    struct tutti_class_interest *interest = &f->objects[set.class - 1];
    if (!tutti_vector_reserve(&interest->items, &interest->room, interest->count + set.count, sizeof *interest->items))
        return tutti_hla_raise_memory();
    for (size_t i = 0; i < set.count; i++) {
        size_t at = 0;
        while (at < interest->count && interest->items[at].handle != set.handles[i])
            at++;
        if (at == interest->count)
            interest->items[interest->count++] = (struct tutti_interest){.handle = set.handles[i]};
        set_flags(&interest->items[at].flags, on, off);
    }
    return TUTTI_HLA_OK;
}

/* Of all attributes of the class. */
static void clear_all(struct tutti_federate *f, uint32_t class, unsigned off)
{
    for (size_t i = 0; i < f->objects[class - 1].count; i++)
        set_flags(&f->objects[class - 1].items[i].flags, 0, off);
}

/* Advisories for object classes */

/* Would `other` hear of attributes that f publishes at the class? */
static bool hears(const struct tutti_federate *other, const struct tutti_federate *f, uint32_t class)
{
    const struct tutti_fom_tree *tree = &f->federation->fom->objects;
    const struct tutti_class_interest *interest = &f->objects[class - 1];
    for (size_t i = 0; i < interest->count; i++) {
        if (!(interest->items[i].flags & TUTTI_PUBLISHED))
            continue;
        for (uint32_t above = class; above; above = tree->classes[above - 1].parent)
            if (tutti_federate_flags(other, above, interest->items[i].handle) & TUTTI_ACTIVE)
                return true;
    }
    return false;
}

static bool is_wanted(const struct tutti_federate *f, uint32_t class)
{
    for (size_t i = 0; i < f->federation->federates.count; i++) {
        const struct tutti_federate *other = tutti_federation_at(f->federation, i);
        if (other != f && hears(other, f, class))
            return true;
    }
    return false;
}

static void advise(struct tutti_federate *f, uint32_t class, bool wanted)
{
    struct tutti_class_interest *interest = &f->objects[class - 1];
    if (interest->advised == wanted)
        return;
    interest->advised = wanted;
    struct tutti_callback callback = {.kind = wanted ? TUTTI_CALLBACK_StartRegistrationForObjectClass
                                                     : TUTTI_CALLBACK_StopRegistrationForObjectClass,
                                      .object_class = class};
    if (f->switches.object_class_relevance_advisory)
        tutti_ambassador_push(f->ambassador, &callback);
}

/* `subscriber` wants more, or less, of the class. */
static void advise_others(const struct tutti_federate *subscriber, uint32_t class, bool more)
{
    const struct tutti_federation *federation = subscriber->federation;
    for (size_t i = 0; i < federation->federates.count; i++) {
        struct tutti_federate *f = tutti_federation_at(federation, i);
        for (uint32_t c = class; f != subscriber && c <= f->object_classes; c++) {
            struct tutti_class_interest *interest = &f->objects[c - 1];
            if (!interest->count || interest->advised == more ||
                !tutti_fom_is_within(&federation->fom->objects, c, class))
                continue;
            if (more ? hears(subscriber, f, c) : !is_wanted(f, c))
                advise(f, c, more);
        }
    }
}

enum tutti_hla tutti_rti_publish_attributes(struct tutti_ambassador *ambassador, struct tutti_class_set set)
{
    struct tutti_federate *f;
    HLA_TRY(begin(ambassador, &f));
    HLA_TRY(check_attributes(f, set));
    HLA_TRY(change(f, set, TUTTI_PUBLISHED, 0));
    advise(f, set.class, is_wanted(f, set.class));
    return TUTTI_HLA_OK;
}

/* What it may not publish any more, it cannot own. `of` NULL: all attributes. */
static enum tutti_hla release_attributes(struct tutti_federate *f, uint32_t class, const struct tutti_handles *of)
{
    const struct tutti_handle_table *objects = &f->federation->objects;
    for (size_t i = 0; i < objects->count; i++) {
        struct tutti_object *object = objects->items[i].item;
        if (tutti_object_known(object, f->handle) != class)
            continue;
        for (size_t k = 0; k < object->attribute_count; k++)
            if (tutti_handles_have(&object->attributes[k].acquirers, f->handle) &&
                (!of || tutti_handles_have(of, object->attributes[k].attribute)))
                return RAISE(OwnershipAcquisitionPending, "federate '%s' waits for attributes of object '%s'", f->name,
                             object->name);
    }
    for (size_t i = 0; i < objects->count; i++) {
        struct tutti_object *object = objects->items[i].item;
        if (tutti_object_known(object, f->handle) == class)
            tutti_ownership_take(f, object, of, (struct tutti_octets){0});
    }
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_unpublish_attributes(struct tutti_ambassador *ambassador, struct tutti_class_set set)
{
    struct tutti_federate *f;
    HLA_TRY(begin(ambassador, &f));
    HLA_TRY(check_attributes(f, set));
    struct tutti_handles of = {(uint32_t *)set.handles, set.count, 0};
    HLA_TRY(release_attributes(f, set.class, &of));
    HLA_TRY(change(f, set, 0, TUTTI_PUBLISHED));
    advise(f, set.class, is_wanted(f, set.class));
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_unpublish_object_class(struct tutti_ambassador *ambassador, uint32_t class)
{
    struct tutti_federate *f;
    HLA_TRY(begin(ambassador, &f));
    HLA_TRY(check_object_class(f, class));
    HLA_TRY(release_attributes(f, class, NULL));
    clear_all(f, class, TUTTI_PUBLISHED);
    advise(f, class, false);
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_subscribe_attributes(struct tutti_ambassador *ambassador, struct tutti_class_set set,
                                              bool active, const char *rate)
{
    struct tutti_federate *f;
    HLA_TRY(begin(ambassador, &f));
    HLA_TRY(check_attributes(f, set));
    if (*rate && !tutti_fom_find_entry(&f->federation->fom->update_rates, rate))
        return RAISE(InvalidUpdateRateDesignator, "the object model has no update rate '%s'",
                     tutti_str_show(rate).text);
    tutti_mom_wanted(f->federation, set.class);
    HLA_TRY(change(f, set, TUTTI_SUBSCRIBED | (active ? TUTTI_ACTIVE : 0), active ? 0 : TUTTI_ACTIVE));
    advise_others(f, set.class, active);
    tutti_discovery_for(f, set.class);
    tutti_relevance_within(f->federation, set.class);
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_unsubscribe_attributes(struct tutti_ambassador *ambassador, struct tutti_class_set set)
{
    struct tutti_federate *f;
    HLA_TRY(begin(ambassador, &f));
    HLA_TRY(check_attributes(f, set));
    HLA_TRY(change(f, set, 0, TUTTI_SUBSCRIBED | TUTTI_ACTIVE));
    advise_others(f, set.class, false);
    tutti_relevance_within(f->federation, set.class);
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_unsubscribe_object_class(struct tutti_ambassador *ambassador, uint32_t class)
{
    struct tutti_federate *f;
    HLA_TRY(begin(ambassador, &f));
    HLA_TRY(check_object_class(f, class));
    clear_all(f, class, TUTTI_SUBSCRIBED | TUTTI_ACTIVE);
    advise_others(f, class, false);
    tutti_relevance_within(f->federation, class);
    return TUTTI_HLA_OK;
}

/* Interactions */

static bool hears_interaction(const struct tutti_federate *other, uint32_t class)
{
    const struct tutti_fom_tree *tree = &other->federation->fom->interactions;
    for (; class; class = tree->classes[class - 1].parent)
        if (class <= other->interaction_classes && other->interactions[class - 1] & TUTTI_ACTIVE)
            return true;
    return false;
}

static void advise_interaction(struct tutti_federate *f, uint32_t class)
{
    bool wanted = false;
    for (size_t i = 0; i < f->federation->federates.count && !wanted; i++) {
        const struct tutti_federate *other = tutti_federation_at(f->federation, i);
        wanted = other != f && hears_interaction(other, class);
    }
    wanted = wanted && f->interactions[class - 1] & TUTTI_PUBLISHED;
    if (wanted == !!(f->interactions[class - 1] & TUTTI_ADVISED))
        return;
    set_flags(&f->interactions[class - 1], wanted ? TUTTI_ADVISED : 0, TUTTI_ADVISED);
    struct tutti_callback callback = {.kind = wanted ? TUTTI_CALLBACK_TurnInteractionsOn
                                                     : TUTTI_CALLBACK_TurnInteractionsOff,
                                      .interaction_class = class};
    if (f->switches.interaction_relevance_advisory)
        tutti_ambassador_push(f->ambassador, &callback);
}

/* Publishers of the class and of those below it; only those that can change are looked at. */
static void advise_publishers(const struct tutti_federate *subscriber, uint32_t class, bool more)
{
    const struct tutti_federation *federation = subscriber->federation;
    for (size_t i = 0; i < federation->federates.count; i++) {
        struct tutti_federate *f = tutti_federation_at(federation, i);
        for (uint32_t c = class; f != subscriber && c <= f->interaction_classes; c++) {
            unsigned flags = f->interactions[c - 1];
            if (flags & TUTTI_PUBLISHED && !(flags & TUTTI_ADVISED) == more &&
                tutti_fom_is_within(&federation->fom->interactions, c, class))
                advise_interaction(f, c);
        }
    }
}

enum tutti_hla tutti_rti_publish_interaction(struct tutti_ambassador *ambassador, uint32_t class)
{
    struct tutti_federate *f;
    HLA_TRY(begin(ambassador, &f));
    HLA_TRY(check_interaction_class(f, class));
    f->interactions[class - 1] |= TUTTI_PUBLISHED;
    advise_interaction(f, class);
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_unpublish_interaction(struct tutti_ambassador *ambassador, uint32_t class)
{
    struct tutti_federate *f;
    HLA_TRY(begin(ambassador, &f));
    HLA_TRY(check_interaction_class(f, class));
    set_flags(&f->interactions[class - 1], 0, TUTTI_PUBLISHED | TUTTI_ADVISED);
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_subscribe_interaction(struct tutti_ambassador *ambassador, uint32_t class, bool active)
{
    struct tutti_federate *f;
    HLA_TRY(begin(ambassador, &f));
    HLA_TRY(check_interaction_class(f, class));
    set_flags(&f->interactions[class - 1], TUTTI_SUBSCRIBED | (active ? TUTTI_ACTIVE : 0), TUTTI_ACTIVE);
    advise_publishers(f, class, active);
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_unsubscribe_interaction(struct tutti_ambassador *ambassador, uint32_t class)
{
    struct tutti_federate *f;
    HLA_TRY(begin(ambassador, &f));
    HLA_TRY(check_interaction_class(f, class));
    set_flags(&f->interactions[class - 1], 0, TUTTI_SUBSCRIBED | TUTTI_ACTIVE);
    advise_publishers(f, class, false);
    return TUTTI_HLA_OK;
}

/* Directed interactions */

static enum tutti_hla change_directed(struct tutti_ambassador *ambassador, struct tutti_class_set set, unsigned on,
                                      unsigned off)
{
    struct tutti_federate *f;
    HLA_TRY(begin(ambassador, &f));
    HLA_TRY(check_object_class(f, set.class));
    for (size_t i = 0; i < set.count; i++)
        HLA_TRY(check_interaction_class(f, set.handles[i]));
    if (!tutti_vector_reserve(&f->directed, &f->directed_room, f->directed_count + set.count, sizeof *f->directed))
        return tutti_hla_raise_memory();
    for (size_t i = 0; i < set.count; i++) {
        size_t at = 0;
        while (at < f->directed_count &&
               (f->directed[at].object_class != set.class || f->directed[at].interaction_class != set.handles[i]))
            at++;
        if (at == f->directed_count)
            f->directed[f->directed_count++] = (struct tutti_directed_interest){set.class, set.handles[i], 0};
        set_flags(&f->directed[at].flags, on, off);
    }
    for (size_t i = 0; !set.count && i < f->directed_count; i++)
        if (f->directed[i].object_class == set.class)
            set_flags(&f->directed[i].flags, 0, off);
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_publish_directed(struct tutti_ambassador *ambassador, struct tutti_class_set set)
{
    return change_directed(ambassador, set, TUTTI_PUBLISHED, 0);
}

enum tutti_hla tutti_rti_unpublish_directed(struct tutti_ambassador *ambassador, struct tutti_class_set set)
{
    return change_directed(ambassador, set, 0, TUTTI_PUBLISHED);
}

enum tutti_hla tutti_rti_subscribe_directed(struct tutti_ambassador *ambassador, struct tutti_class_set set,
                                            bool universally)
{
    return change_directed(ambassador, set, TUTTI_SUBSCRIBED | (universally ? TUTTI_UNIVERSAL : 0), 0);
}

enum tutti_hla tutti_rti_unsubscribe_directed(struct tutti_ambassador *ambassador, struct tutti_class_set set)
{
    return change_directed(ambassador, set, 0, TUTTI_SUBSCRIBED | TUTTI_UNIVERSAL);
}

/* Orders */

static unsigned order_flags(enum tutti_order order)
{
    return TUTTI_ORDER_SET | (order == TUTTI_ORDER_TIMESTAMP ? TUTTI_ORDER_TSO : 0);
}

enum tutti_hla tutti_rti_change_default_attribute_order(struct tutti_ambassador *ambassador, struct tutti_class_set set,
                                                        enum tutti_order order)
{
    struct tutti_federate *f;
    HLA_TRY(begin(ambassador, &f));
    HLA_TRY(check_attributes(f, set));
    return change(f, set, order_flags(order), TUTTI_ORDER_TSO);
}

enum tutti_hla tutti_rti_change_interaction_order(struct tutti_ambassador *ambassador, uint32_t class,
                                                  enum tutti_order order)
{
    struct tutti_federate *f;
    HLA_TRY(begin(ambassador, &f));
    HLA_TRY(check_interaction_class(f, class));
    if (!(f->interactions[class - 1] & TUTTI_PUBLISHED))
        return RAISE(InteractionClassNotPublished, "federate '%s' does not publish this interaction class", f->name);
    set_flags(&f->interactions[class - 1], order_flags(order), TUTTI_ORDER_TSO);
    return TUTTI_HLA_OK;
}

/* Kinds of transport */

static enum tutti_hla check_transportation(const struct tutti_federate *f, uint32_t transportation)
{
    if (tutti_fom_entry(&f->federation->fom->transportations, transportation))
        return TUTTI_HLA_OK;
    return RAISE(InvalidTransportationTypeHandle, "no transportation has the handle %u", transportation);
}

enum tutti_hla tutti_rti_change_default_attribute_transportation(struct tutti_ambassador *ambassador,
                                                                 struct tutti_class_set set, uint32_t transportation)
{
    struct tutti_federate *f;
    HLA_TRY(begin(ambassador, &f));
    HLA_TRY(check_transportation(f, transportation));
    HLA_TRY(check_attributes(f, set));
    HLA_TRY(change(f, set, 0, 0));
    struct tutti_class_interest *interest = &f->objects[set.class - 1];
    for (size_t i = 0; i < interest->count; i++)
        for (size_t k = 0; k < set.count; k++)
            if (interest->items[i].handle == set.handles[k])
                interest->items[i].transportation = transportation;
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_change_interaction_transportation(struct tutti_ambassador *ambassador, uint32_t class,
                                                           uint32_t transportation)
{
    struct tutti_federate *f;
    HLA_TRY(begin(ambassador, &f));
    HLA_TRY(check_transportation(f, transportation));
    HLA_TRY(check_interaction_class(f, class));
    if (!(f->interactions[class - 1] & TUTTI_PUBLISHED))
        return RAISE(InteractionClassNotPublished, "federate '%s' does not publish this interaction class", f->name);
    f->interaction_transports[class - 1] = transportation;
    struct tutti_callback callback = {.kind = TUTTI_CALLBACK_ConfirmInteractionTransportationTypeChange,
                                      .interaction_class = class,
                                      .transportation = transportation};
    tutti_ambassador_push(ambassador, &callback);
    return TUTTI_HLA_OK;
}

enum tutti_hla tutti_rti_query_interaction_transportation(struct tutti_ambassador *ambassador, uint32_t federate,
                                                          uint32_t class)
{
    struct tutti_federate *f;
    HLA_TRY(begin(ambassador, &f));
    HLA_TRY(check_interaction_class(f, class));
    const struct tutti_federate *other = tutti_federation_member(f->federation, federate);
    if (!other)
        return RAISE(RTIinternalError, "no joined federate has the handle %u", federate);
    struct tutti_callback callback = {.kind = TUTTI_CALLBACK_ReportInteractionTransportationType,
                                      .federate = federate,
                                      .interaction_class = class,
                                      .transportation = tutti_federate_transportation(other, class)};
    tutti_ambassador_push(ambassador, &callback);
    return TUTTI_HLA_OK;
}

void tutti_declarations_withdraw(struct tutti_federate *f)
{
    for (uint32_t class = 1; class <= f->object_classes; class ++)
        clear_all(f, class, TUTTI_PUBLISHED | TUTTI_SUBSCRIBED | TUTTI_ACTIVE);
    for (uint32_t class = 1; class <= f->interaction_classes; class ++)
        f->interactions[class - 1] = 0;
    advise_others(f, TUTTI_FOM_OBJECT_ROOT, false);
    advise_publishers(f, TUTTI_FOM_INTERACTION_ROOT, false);
    f->directed_count = 0;
}
