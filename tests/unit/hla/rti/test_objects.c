/* SPDX-License-Identifier: MIT */
/* Declarations, objects and interactions: what is published, discovered, updated, sent, requested and deleted. */
#include "rti_helper.h"

#define ATTRIBUTES(...) (uint32_t[]){__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)
#define SET(class, ...) ((struct tt_class_set){class, ATTRIBUTES(__VA_ARGS__)})
#define OF(object, ...) ((struct tt_attribute_set){object, ATTRIBUTES(__VA_ARGS__)})

static struct tt_hla_value value_of(uint32_t handle, const char *text)
{
    return (struct tt_hla_value){handle, TEXT_BYTES(text)};
}

static uint32_t registered(struct tt_ambassador *a, uint32_t class)
{
    uint32_t object;
    assert_done(tt_objects_register(a, class, NULL, &object));
    return object;
}

static void test_names(void **state)
{
    (void)state;
    struct world w = world_of(2, "");
    uint32_t object;
    assert_done(tt_declarations_publish_attributes(w.a[0], SET(CAR, SPEED)));
    assert_raises(tt_objects_reserve_name(w.a[0], "HLAcar"), IllegalName, "HLA");
    assert_raises(tt_objects_reserve_name(w.a[0], ""), IllegalName, "empty");
    assert_done(tt_objects_reserve_name(w.a[0], "red"));
    assert_string_equal(assert_next(w.a[0], ObjectInstanceNameReservationSucceeded)->text, "red");
    assert_done(tt_objects_reserve_name(w.a[1], "red"));
    assert_string_equal(assert_next(w.a[1], ObjectInstanceNameReservationFailed)->text, "red");
    assert_raises(tt_objects_release_name(w.a[1], "red"), ObjectInstanceNameNotReserved, "'red'");
    assert_raises(tt_objects_register(w.a[0], CAR, "blue", &object), ObjectInstanceNameNotReserved, "'blue'");
    assert_done(tt_objects_register(w.a[0], CAR, "red", &object));
    assert_raises(tt_objects_register(w.a[0], CAR, "red", &object), ObjectInstanceNameInUse, "'red'");
    assert_raises(tt_objects_release_name(w.a[0], "red"), ObjectInstanceNameNotReserved, "used");
    /* Several, or none. */
    assert_raises(tt_objects_reserve_names(w.a[1], NULL, 0), NameSetWasEmpty, "no name");
    assert_done(tt_objects_reserve_names(w.a[1], (const char *const[]){"blue", "red"}, 2));
    assert_int_equal(assert_next(w.a[1], MultipleObjectInstanceNameReservationFailed)->name_count, 2);
    assert_done(tt_objects_reserve_names(w.a[1], (const char *const[]){"green", "blue", "green"}, 3));
    assert_string_equal(assert_next(w.a[1], MultipleObjectInstanceNameReservationSucceeded)->names[1], "blue");
    assert_done(tt_objects_release_names(w.a[1], (const char *const[]){"green", "blue"}, 2));
    assert_done(tt_objects_reserve_name(w.a[0], "blue"));
    assert_next(w.a[0], ObjectInstanceNameReservationSucceeded);
    /* A name is free when the object is gone; reserved ones when the federate is. */
    assert_done(tt_objects_delete(w.a[0], object, NO_TIME, NULL));
    assert_done(tt_rti_resign(w.a[0], TUTTI_RESIGN_NO_ACTION));
    assert_done(tt_objects_reserve_names(w.a[1], (const char *const[]){"blue", "red"}, 2));
    assert_next(w.a[1], MultipleObjectInstanceNameReservationSucceeded);
    tt_rti_free(w.rti);
}

static void test_registration(void **state)
{
    (void)state;
    struct world w = world_of(1, "");
    uint32_t object, handle;
    const char *name;
    assert_raises(tt_objects_register(w.a[0], 99, NULL, &object), ObjectClassNotDefined, "99");
    assert_raises(tt_objects_register(w.a[0], CAR, NULL, &object), ObjectClassNotPublished, "Vehicle.Car");
    assert_done(tt_declarations_publish_attributes(w.a[0], SET(CAR, SPEED)));
    assert_done(tt_objects_register(w.a[0], CAR, NULL, &object));
    assert_done(tt_support_get_object_name(w.a[0], object, &name));
    assert_string_equal(name, "HLAobject.1");
    assert_done(tt_support_get_object_handle(w.a[0], "HLAobject.1", &handle));
    assert_int_equal(handle, object);
    assert_raises(tt_support_get_object_handle(w.a[0], "HLAobject.01", &handle), ObjectInstanceNotKnown,
                  "HLAobject.01");
    assert_raises(tt_support_get_object_handle(w.a[0], "x", &handle), ObjectInstanceNotKnown, "'x'");
    w.rti->limits.objects = 1;
    assert_raises(tt_objects_register(w.a[0], CAR, NULL, &object), RTIinternalError, "no more than 1 objects");
    tt_rti_free(w.rti);
}

static void test_discovery(void **state)
{
    (void)state;
    struct world w = world_of(3, "");
    uint32_t class;
    assert_done(tt_declarations_publish_attributes(w.a[0], SET(CAR, SPEED)));
    assert_done(tt_declarations_subscribe_attributes(w.a[1], SET(VEHICLE, SPEED), true, ""));
    uint32_t car = registered(w.a[0], CAR);
    const struct tt_callback *c = assert_next(w.a[1], DiscoverObjectInstance);
    assert_int_equal(c->object, car);
    assert_int_equal(c->object_class, VEHICLE);
    assert_string_equal(c->text, "HLAobject.1");
    assert_int_equal(c->federate, 1);
    /* Attributes that no federate owns do not count. */
    assert_done(tt_declarations_subscribe_attributes(w.a[2], SET(CAR, DOORS), true, ""));
    assert_quiet(w.a[2]);
    assert_done(tt_declarations_subscribe_attributes(w.a[2], SET(CAR, SPEED), true, ""));
    assert_int_equal(assert_next(w.a[2], DiscoverObjectInstance)->object_class, CAR);
    /* The class that is known stays, until the object is forgotten. */
    assert_done(tt_declarations_subscribe_attributes(w.a[1], SET(CAR, SPEED), true, ""));
    assert_quiet(w.a[1]);
    assert_done(tt_support_get_known_class(w.a[1], car, &class));
    assert_int_equal(class, VEHICLE);
    assert_done(tt_objects_local_delete(w.a[1], car));
    assert_int_equal(assert_next(w.a[1], DiscoverObjectInstance)->object_class, CAR);
    assert_done(tt_declarations_unsubscribe_object_class(w.a[1], CAR));
    assert_done(tt_declarations_unsubscribe_attributes(w.a[1], SET(VEHICLE, SPEED)));
    assert_done(tt_objects_local_delete(w.a[1], car));
    assert_quiet(w.a[1]);
    assert_raises(tt_objects_local_delete(w.a[1], car), ObjectInstanceNotKnown, "'B'");
    assert_raises(tt_objects_local_delete(w.a[0], car), FederateOwnsAttributes, "'A'");
    tt_rti_free(w.rti);
}

static void test_updates(void **state)
{
    (void)state;
    struct world w = world_of(3, "");
    assert_done(tt_declarations_publish_attributes(w.a[0], SET(CAR, SPEED, DOORS)));
    assert_done(tt_declarations_subscribe_attributes(w.a[1], SET(VEHICLE, SPEED, COLOUR), true, ""));
    assert_done(tt_declarations_subscribe_attributes(w.a[2], SET(CAR, DOORS, SPEED), false, ""));
    uint32_t car = registered(w.a[0], CAR);
    drain(w.a[0]);
    drain(w.a[1]);
    drain(w.a[2]);
    struct tt_hla_value values[] = {value_of(SPEED, "30"), value_of(DOORS, "five"), value_of(COLOUR, "red")};
    assert_raises(tt_objects_update(w.a[0], 99, values, 2, NO_TIME, NULL), ObjectInstanceNotKnown, "99");
    assert_raises(tt_objects_update(w.a[0], car, values, 3, NO_TIME, NULL), AttributeNotOwned, "'colour'");
    assert_raises(tt_objects_update(w.a[1], car, &values[1], 1, NO_TIME, NULL), AttributeNotDefined, "");
    assert_raises(tt_objects_update(w.a[2], car, values, 1, NO_TIME, NULL), AttributeNotOwned, "'C'");
    assert_done(tt_objects_update(w.a[0], car, values, 2, (struct tt_message_stamp){NULL, TEXT_BYTES("hi")}, NULL));
    const struct tt_callback *c = assert_next(w.a[1], ReflectAttributeValues);
    assert_int_equal(c->object, car);
    assert_int_equal(c->value_count, 1);
    assert_int_equal(c->values[0].handle, SPEED);
    assert_memory_equal(c->values[0].bytes.data, "30", 2);
    assert_memory_equal(c->tag.data, "hi", 2);
    assert_int_equal(c->federate, 1);
    assert_false(c->timed);
    c = assert_next(w.a[2], ReflectAttributeValues);
    assert_int_equal(c->value_count, 2);
    assert_memory_equal(c->values[1].bytes.data, "five", 4);
    assert_quiet(w.a[1]);
    assert_quiet(w.a[0]);
    /* Nothing of interest: no callback. */
    assert_done(tt_objects_update(w.a[0], car, &values[1], 1, NO_TIME, NULL));
    assert_quiet(w.a[1]);
    tt_rti_free(w.rti);
}

/* Attributes that go in different orders go as different messages. */
static void test_orders_of_one_update(void **state)
{
    (void)state;
    struct world w = world_of(2, "");
    uint64_t retraction;
    int64_t time = at(&w, 2);
    assert_done(tt_declarations_publish_attributes(w.a[0], SET(VEHICLE, SPEED, COLOUR)));
    assert_done(tt_declarations_subscribe_attributes(w.a[1], SET(VEHICLE, SPEED, COLOUR), true, ""));
    assert_done(tt_time_management_enable_regulation(w.a[0], at(&w, 1)));
    assert_done(tt_time_management_enable_constrained(w.a[1]));
    assert_done(tt_time_management_enable_async(w.a[1]));
    uint32_t car = registered(w.a[0], VEHICLE);
    drain(w.a[1]);
    struct tt_hla_value values[] = {value_of(COLOUR, "red"), value_of(SPEED, "30")};
    assert_done(tt_objects_update(w.a[0], car, values, 2, (struct tt_message_stamp){&time, NO_TAG}, &retraction));
    assert_true(retraction > 0);
    const struct tt_callback *c = assert_next(w.a[1], ReflectAttributeValues);
    assert_int_equal(c->values[0].handle, COLOUR);
    assert_true(c->timed);
    assert_int_equal(c->sent, TUTTI_ORDER_RECEIVE);
    assert_int_equal(c->retraction, 0);
    assert_quiet(w.a[1]);
    assert_done(tt_time_management_advance(w.a[0], TUTTI_ADVANCE_TAR, at(&w, 4)));
    assert_done(tt_time_management_advance(w.a[1], TUTTI_ADVANCE_NMR, at(&w, 4)));
    c = assert_next(w.a[1], ReflectAttributeValues);
    assert_int_equal(c->values[0].handle, SPEED);
    assert_int_equal(c->received, TUTTI_ORDER_TIMESTAMP);
    assert_true(c->retraction == retraction);
    assert_granted(&w, 1, 2);
    /* The order of an attribute can be changed, and of those to come. */
    assert_raises(tt_objects_set_attribute_order(w.a[1], OF(car, SPEED), TUTTI_ORDER_RECEIVE), AttributeNotOwned,
                  "'B'");
    assert_raises(tt_objects_set_attribute_order(w.a[0], OF(car, DOORS), TUTTI_ORDER_RECEIVE), AttributeNotDefined, "");
    assert_done(tt_objects_set_attribute_order(w.a[0], OF(car, SPEED), TUTTI_ORDER_RECEIVE));
    time = at(&w, 6);
    assert_done(tt_objects_update(w.a[0], car, &values[1], 1, (struct tt_message_stamp){&time, NO_TAG}, &retraction));
    assert_true(retraction == 0);
    assert_int_equal(assert_next(w.a[1], ReflectAttributeValues)->sent, TUTTI_ORDER_RECEIVE);
    assert_done(tt_declarations_set_default_order(w.a[0], SET(VEHICLE, COLOUR), TUTTI_ORDER_TIMESTAMP));
    uint32_t other = registered(w.a[0], VEHICLE);
    assert_done(tt_objects_update(w.a[0], other, values, 1, (struct tt_message_stamp){&time, NO_TAG}, &retraction));
    assert_true(retraction > 0);
    tt_rti_free(w.rti);
}

static void test_kinds_of_transport(void **state)
{
    (void)state;
    struct world w = world_of(2, "");
    enum { RELIABLE = TUTTI_FOM_RELIABLE, BEST_EFFORT = TUTTI_FOM_BEST_EFFORT };
    assert_done(tt_declarations_publish_attributes(w.a[0], SET(VEHICLE, SPEED, COLOUR)));
    assert_done(tt_declarations_subscribe_attributes(w.a[1], SET(VEHICLE, SPEED, COLOUR), false, ""));
    uint32_t car = registered(w.a[0], VEHICLE);
    drain(w.a[1]);
    assert_raises(tt_objects_set_attribute_transportation(w.a[0], OF(car, SPEED), 9), InvalidTransportationTypeHandle,
                  "9");
    assert_raises(tt_objects_set_attribute_transportation(w.a[1], OF(car, SPEED), BEST_EFFORT), AttributeNotOwned,
                  "'B'");
    assert_raises(tt_objects_set_attribute_transportation(w.a[0], OF(car, DOORS), BEST_EFFORT), AttributeNotDefined,
                  "");
    assert_raises(tt_objects_set_attribute_transportation(w.a[0], OF(99, SPEED), BEST_EFFORT), ObjectInstanceNotKnown,
                  "99");
    assert_done(tt_objects_set_attribute_transportation(w.a[0], OF(car, SPEED), BEST_EFFORT));
    const struct tt_callback *c = assert_next(w.a[0], ConfirmAttributeTransportationTypeChange);
    assert_int_equal(c->handles[0], SPEED);
    assert_int_equal(c->transportation, BEST_EFFORT);
    struct tt_hla_value values[] = {value_of(SPEED, "1"), value_of(COLOUR, "2")};
    assert_done(tt_objects_update(w.a[0], car, values, 2, NO_TIME, NULL)); /* as two messages */
    assert_int_equal(assert_next(w.a[1], ReflectAttributeValues)->transportation, BEST_EFFORT);
    assert_int_equal(assert_next(w.a[1], ReflectAttributeValues)->transportation, RELIABLE);
    assert_done(tt_objects_query_attribute_transportation(w.a[1], car, SPEED));
    assert_int_equal(assert_next(w.a[1], ReportAttributeTransportationType)->transportation, BEST_EFFORT);
    assert_raises(tt_objects_query_attribute_transportation(w.a[1], car, 99), AttributeNotDefined, "99");
    /* Of objects to come. */
    assert_raises(tt_declarations_set_default_transportation(w.a[0], SET(99, SPEED), RELIABLE), ObjectClassNotDefined,
                  "99");
    assert_raises(tt_declarations_set_default_transportation(w.a[0], SET(VEHICLE, SPEED), 9),
                  InvalidTransportationTypeHandle, "9");
    assert_done(tt_declarations_set_default_transportation(w.a[0], SET(VEHICLE, COLOUR), BEST_EFFORT));
    uint32_t other = registered(w.a[0], VEHICLE);
    assert_next(w.a[1], DiscoverObjectInstance);
    assert_done(tt_objects_query_attribute_transportation(w.a[1], other, COLOUR));
    assert_int_equal(assert_next(w.a[1], ReportAttributeTransportationType)->transportation, BEST_EFFORT);
    tt_rti_free(w.rti);
}

static void test_transport_of_interactions(void **state)
{
    (void)state;
    struct world w = world_of(2, "");
    assert_raises(tt_declarations_set_interaction_transportation(w.a[0], EVENT, TUTTI_FOM_BEST_EFFORT),
                  InteractionClassNotPublished, "'A'");
    assert_raises(tt_declarations_set_interaction_transportation(w.a[0], 99, TUTTI_FOM_BEST_EFFORT),
                  InteractionClassNotDefined, "99");
    assert_raises(tt_declarations_set_interaction_transportation(w.a[0], EVENT, 9), InvalidTransportationTypeHandle,
                  "9");
    assert_done(tt_declarations_publish_interaction(w.a[0], EVENT));
    assert_done(tt_declarations_subscribe_interaction(w.a[1], EVENT, false));
    assert_done(tt_declarations_set_interaction_transportation(w.a[0], EVENT, TUTTI_FOM_BEST_EFFORT));
    assert_int_equal(assert_next(w.a[0], ConfirmInteractionTransportationTypeChange)->interaction_class, EVENT);
    assert_done(tt_objects_send_interaction(w.a[0], EVENT, NULL, 0, NO_TIME, NULL));
    assert_int_equal(assert_next(w.a[1], ReceiveInteraction)->transportation, TUTTI_FOM_BEST_EFFORT);
    assert_done(tt_declarations_query_interaction_transportation(w.a[1], 1, EVENT));
    const struct tt_callback *c = assert_next(w.a[1], ReportInteractionTransportationType);
    assert_int_equal(c->federate, 1);
    assert_int_equal(c->transportation, TUTTI_FOM_BEST_EFFORT);
    assert_done(tt_declarations_query_interaction_transportation(w.a[1], 2, EVENT));
    assert_int_equal(assert_next(w.a[1], ReportInteractionTransportationType)->transportation, TUTTI_FOM_RELIABLE);
    assert_raises(tt_declarations_query_interaction_transportation(w.a[1], 9, EVENT), RTIinternalError, "9");
    assert_raises(tt_declarations_query_interaction_transportation(w.a[1], 1, 99), InteractionClassNotDefined, "99");
    tt_rti_free(w.rti);
}

static void test_deletion(void **state)
{
    (void)state;
    struct world w = world_of(2, "");
    uint64_t retraction;
    int64_t time = at(&w, 3);
    assert_done(tt_declarations_publish_attributes(w.a[0], SET(CAR, SPEED)));
    assert_done(tt_declarations_subscribe_attributes(w.a[1], SET(CAR, SPEED), true, ""));
    assert_done(tt_time_management_enable_regulation(w.a[0], at(&w, 1)));
    assert_done(tt_time_management_enable_constrained(w.a[1]));
    uint32_t car = registered(w.a[0], CAR);
    drain(w.a[1]);
    assert_raises(tt_objects_delete(w.a[1], car, NO_TIME, NULL), DeletePrivilegeNotHeld, "'B'");
    assert_raises(tt_objects_delete(w.a[1], 99, NO_TIME, NULL), ObjectInstanceNotKnown, "99");
    /* At a time, taken back, and again. */
    struct tt_message_stamp send = {&time, TEXT_BYTES("bye")};
    assert_done(tt_objects_delete(w.a[0], car, send, &retraction));
    assert_raises(tt_objects_delete(w.a[0], car, send, &retraction), ObjectInstanceNotKnown, "'A'");
    assert_done(tt_message_retract(w.a[0], retraction));
    assert_done(tt_objects_delete(w.a[0], car, send, &retraction));
    assert_quiet(w.a[1]);
    assert_done(tt_time_management_advance(w.a[0], TUTTI_ADVANCE_TAR, at(&w, 5)));
    assert_done(tt_time_management_advance(w.a[1], TUTTI_ADVANCE_TAR, at(&w, 5)));
    const struct tt_callback *c = assert_next(w.a[1], RemoveObjectInstance);
    assert_true(c->timed);
    assert_int_equal(c->time, time);
    assert_memory_equal(c->tag.data, "bye", 3);
    assert_granted(&w, 1, 5);
    assert_raises(tt_message_retract(w.a[0], retraction), MessageCanNoLongerBeRetracted, "gone on");
    assert_int_equal(tt_rti_find_federation(w.rti, "fed")->objects.count, 0);
    tt_rti_free(w.rti);
}

/* One that has lost it already discovers it again. */
static void test_deletion_taken_back(void **state)
{
    (void)state;
    struct world w = world_of(3, "");
    uint64_t retraction;
    int64_t time = at(&w, 3);
    assert_done(tt_declarations_publish_attributes(w.a[0], SET(CAR, SPEED)));
    for (int i = 1; i < 3; i++)
        assert_done(tt_declarations_subscribe_attributes(w.a[i], SET(CAR, SPEED), true, ""));
    assert_done(tt_time_management_enable_regulation(w.a[0], at(&w, 1)));
    assert_done(tt_time_management_enable_constrained(w.a[1]));
    uint32_t car = registered(w.a[0], CAR);
    drain(w.a[1]);
    drain(w.a[2]);
    assert_done(tt_objects_delete(w.a[0], car, (struct tt_message_stamp){&time, NO_TAG}, &retraction));
    assert_next(w.a[2], RemoveObjectInstance);
    assert_done(tt_message_retract(w.a[0], retraction));
    assert_true(assert_next(w.a[2], RequestRetraction)->retraction == retraction);
    assert_int_equal(assert_next(w.a[2], DiscoverObjectInstance)->object, car);
    assert_quiet(w.a[1]);
    struct tt_hla_value value = value_of(SPEED, "30");
    assert_done(tt_objects_update(w.a[0], car, &value, 1, NO_TIME, NULL));
    assert_next(w.a[2], ReflectAttributeValues);
    tt_rti_free(w.rti);
}

static void test_requests(void **state)
{
    (void)state;
    struct world w = world_of(2, "");
    assert_done(tt_declarations_publish_attributes(w.a[0], SET(CAR, SPEED, DOORS)));
    assert_done(tt_declarations_subscribe_attributes(w.a[1], SET(CAR, SPEED, DOORS), true, ""));
    uint32_t first = registered(w.a[0], CAR), second = registered(w.a[0], CAR);
    drain(w.a[0]);
    assert_raises(tt_objects_request_update(w.a[1], OF(first, 99), NO_TAG), AttributeNotDefined, "99");
    assert_raises(tt_objects_request_update(w.a[1], OF(99, SPEED), NO_TAG), ObjectInstanceNotKnown, "99");
    assert_done(tt_objects_request_update(w.a[1], OF(first, SPEED, COLOUR), TEXT_BYTES("now")));
    const struct tt_callback *c = assert_next(w.a[0], ProvideAttributeValueUpdate);
    assert_int_equal(c->object, first);
    assert_int_equal(c->handle_count, 1); /* no federate owns the colour */
    assert_int_equal(c->handles[0], SPEED);
    assert_memory_equal(c->tag.data, "now", 3);
    assert_raises(tt_objects_request_class_update(w.a[1], 99, ATTRIBUTES(SPEED), NO_TAG), ObjectClassNotDefined, "99");
    assert_raises(tt_objects_request_class_update(w.a[1], VEHICLE, ATTRIBUTES(DOORS), NO_TAG), AttributeNotDefined,
                  "Vehicle");
    assert_done(tt_objects_request_class_update(w.a[1], VEHICLE, ATTRIBUTES(SPEED), NO_TAG));
    assert_int_equal(assert_next(w.a[0], ProvideAttributeValueUpdate)->object, first);
    assert_int_equal(assert_next(w.a[0], ProvideAttributeValueUpdate)->object, second);
    tt_rti_free(w.rti);
}

static void test_auto_provide(void **state)
{
    (void)state;
    struct world w = world_of(2, "");
    tt_rti_find_federation(w.rti, "fed")->fom->switches.auto_provide = true;
    assert_done(tt_declarations_publish_attributes(w.a[0], SET(CAR, SPEED)));
    uint32_t car = registered(w.a[0], CAR);
    assert_done(tt_declarations_subscribe_attributes(w.a[1], SET(CAR, SPEED), false, ""));
    const struct tt_callback *c = assert_next(w.a[0], ProvideAttributeValueUpdate);
    assert_int_equal(c->object, car);
    assert_int_equal(c->handles[0], SPEED);
    tt_rti_free(w.rti);
}

static void test_object_advisories(void **state)
{
    (void)state;
    struct world w = world_of(3, "");
    assert_done(tt_declarations_publish_attributes(w.a[0], SET(CAR, SPEED)));
    assert_quiet(w.a[0]);
    assert_done(tt_declarations_subscribe_attributes(w.a[1], SET(VEHICLE, COLOUR), true, "")); /* not published */
    assert_done(tt_declarations_subscribe_attributes(w.a[1], SET(VEHICLE, SPEED), false, "")); /* passive */
    assert_quiet(w.a[0]);
    assert_done(tt_declarations_subscribe_attributes(w.a[1], SET(VEHICLE, SPEED), true, "Slow"));
    assert_int_equal(assert_next(w.a[0], StartRegistrationForObjectClass)->object_class, CAR);
    assert_done(tt_declarations_subscribe_attributes(w.a[2], SET(CAR, SPEED), true, ""));
    assert_quiet(w.a[0]);
    assert_done(tt_declarations_unsubscribe_attributes(w.a[1], SET(VEHICLE, SPEED)));
    assert_quiet(w.a[0]);
    assert_done(tt_rti_resign(w.a[2], TUTTI_RESIGN_NO_ACTION));
    assert_int_equal(assert_next(w.a[0], StopRegistrationForObjectClass)->object_class, CAR);
    /* A later publisher is notified at once; one whose switch is off, never. */
    assert_done(tt_declarations_subscribe_attributes(w.a[0], SET(VEHICLE, SPEED), true, ""));
    assert_quiet(w.a[0]); /* not by the federate's subscription */
    assert_done(tt_declarations_publish_attributes(w.a[1], SET(VEHICLE, SPEED)));
    assert_int_equal(assert_next(w.a[1], StartRegistrationForObjectClass)->object_class, VEHICLE);
    struct tt_fom_switches *own;
    const struct tt_fom_switches *all;
    assert_done(tt_support_switches(w.a[1], &own, &all));
    own->object_class_relevance_advisory = false;
    assert_done(tt_declarations_unsubscribe_object_class(w.a[0], VEHICLE));
    assert_quiet(w.a[1]);
    assert_raises(tt_declarations_subscribe_attributes(w.a[1], SET(VEHICLE, SPEED), true, "Fast"),
                  InvalidUpdateRateDesignator, "'Fast'");
    tt_rti_free(w.rti);
}

static struct tt_fom_switches *switches_of(struct tt_ambassador *a)
{
    struct tt_fom_switches *own;
    const struct tt_fom_switches *all;
    assert_done(tt_support_switches(a, &own, &all));
    return own;
}

static void test_updates_that_are_wanted(void **state)
{
    (void)state;
    struct world w = world_of(3, "");
    for (int i = 0; i < 3; i++) {
        *switches_of(w.a[i]) = (struct tt_fom_switches){.attribute_relevance_advisory = true};
        assert_done(tt_declarations_publish_attributes(w.a[i], SET(CAR, SPEED, DOORS)));
    }
    uint32_t car = registered(w.a[0], CAR);
    assert_quiet(w.a[0]);
    assert_done(tt_declarations_subscribe_attributes(w.a[1], SET(CAR, SPEED), false, ""));
    assert_quiet(w.a[0]); /* passive */
    assert_done(tt_declarations_subscribe_attributes(w.a[1], SET(CAR, SPEED), true, ""));
    const struct tt_callback *c = assert_next(w.a[0], TurnUpdatesOnForObjectInstance);
    assert_int_equal(c->object, car);
    assert_int_equal(c->handle_count, 1);
    assert_int_equal(c->handles[0], SPEED);
    assert_done(tt_declarations_subscribe_attributes(w.a[2], SET(CAR, SPEED, DOORS), true, ""));
    assert_int_equal(assert_next(w.a[0], TurnUpdatesOnForObjectInstance)->handles[0], DOORS);
    /* The next owner is notified, too. */
    drain(w.a[1]);
    assert_done(tt_ownership_acquire(w.a[1], OF(car, SPEED), NO_TAG));
    assert_next(w.a[0], RequestAttributeOwnershipRelease);
    assert_done(tt_ownership_unconditional_divest(w.a[0], OF(car, SPEED), NO_TAG));
    assert_next(w.a[1], AttributeOwnershipAcquisitionNotification);
    assert_int_equal(assert_next(w.a[1], TurnUpdatesOnForObjectInstance)->handles[0], SPEED);
    assert_quiet(w.a[0]);
    assert_done(tt_declarations_unsubscribe_attributes(w.a[2], SET(CAR, DOORS)));
    assert_int_equal(assert_next(w.a[0], TurnUpdatesOffForObjectInstance)->handles[0], DOORS);
    tt_rti_drop_federate(w.a[2], "it is gone");
    assert_int_equal(assert_next(w.a[1], TurnUpdatesOffForObjectInstance)->handles[0], SPEED);
    tt_rti_free(w.rti);
}

static void test_scope(void **state)
{
    (void)state;
    struct world w = world_of(2, "");
    *switches_of(w.a[1]) = (struct tt_fom_switches){.attribute_scope_advisory = true};
    assert_done(tt_declarations_publish_attributes(w.a[0], SET(CAR, SPEED, DOORS)));
    assert_done(tt_declarations_subscribe_attributes(w.a[1], SET(CAR, SPEED, COLOUR), true, ""));
    uint32_t car = registered(w.a[0], CAR);
    assert_next(w.a[1], DiscoverObjectInstance);
    const struct tt_callback *c = assert_next(w.a[1], AttributesInScope);
    assert_int_equal(c->handle_count, 1); /* no federate owns the colour */
    assert_int_equal(c->handles[0], SPEED);
    assert_done(tt_ownership_unconditional_divest(w.a[0], OF(car, SPEED), NO_TAG));
    assert_int_equal(assert_next(w.a[1], AttributesOutOfScope)->handles[0], SPEED);
    assert_done(tt_declarations_subscribe_attributes(w.a[1], SET(CAR, DOORS), true, ""));
    assert_int_equal(assert_next(w.a[1], AttributesInScope)->handles[0], DOORS);
    assert_done(tt_declarations_unsubscribe_object_class(w.a[1], CAR));
    assert_int_equal(assert_next(w.a[1], AttributesOutOfScope)->handles[0], DOORS);
    assert_quiet(w.a[1]);
    tt_rti_free(w.rti);
}

static void test_declaration_exceptions(void **state)
{
    (void)state;
    struct world w = world_of(1, "");
    struct tt_ambassador *a = w.a[0];
    assert_raises(tt_declarations_publish_attributes(a, SET(99, SPEED)), ObjectClassNotDefined, "99");
    assert_raises(tt_declarations_publish_attributes(a, SET(VEHICLE, DOORS)), AttributeNotDefined, "Vehicle");
    assert_raises(tt_declarations_unpublish_attributes(a, SET(VEHICLE, DOORS)), AttributeNotDefined, "Vehicle");
    assert_raises(tt_declarations_unpublish_object_class(a, 0), ObjectClassNotDefined, "0");
    assert_raises(tt_declarations_subscribe_attributes(a, SET(99, SPEED), true, ""), ObjectClassNotDefined, "99");
    assert_raises(tt_declarations_subscribe_attributes(a, SET(VEHICLE, 0), true, ""), AttributeNotDefined, "Vehicle");
    assert_raises(tt_declarations_unsubscribe_attributes(a, SET(VEHICLE, DOORS)), AttributeNotDefined, "Vehicle");
    assert_raises(tt_declarations_unsubscribe_object_class(a, 99), ObjectClassNotDefined, "99");
    assert_raises(tt_declarations_publish_interaction(a, 99), InteractionClassNotDefined, "99");
    assert_raises(tt_declarations_unpublish_interaction(a, 99), InteractionClassNotDefined, "99");
    assert_raises(tt_declarations_subscribe_interaction(a, 99, true), InteractionClassNotDefined, "99");
    assert_raises(tt_declarations_unsubscribe_interaction(a, 99), InteractionClassNotDefined, "99");
    assert_raises(tt_declarations_publish_directed(a, SET(99, EVENT)), ObjectClassNotDefined, "99");
    assert_raises(tt_declarations_subscribe_directed(a, SET(CAR, 99), false), InteractionClassNotDefined, "99");
    assert_raises(tt_declarations_set_interaction_order(a, 99, TUTTI_ORDER_RECEIVE), InteractionClassNotDefined, "99");
    assert_raises(tt_declarations_set_interaction_order(a, EVENT, TUTTI_ORDER_RECEIVE), InteractionClassNotPublished,
                  "'A'");
    tt_rti_free(w.rti);
}

static void test_interactions(void **state)
{
    (void)state;
    struct world w = world_of(3, "");
    struct tt_hla_value values[] = {value_of(WHAT, "bang"), value_of(WHERE, "here")};
    assert_raises(tt_objects_send_interaction(w.a[0], 99, NULL, 0, NO_TIME, NULL), InteractionClassNotDefined, "99");
    assert_raises(tt_objects_send_interaction(w.a[0], EVENT, values, 2, NO_TIME, NULL), InteractionParameterNotDefined,
                  "Event");
    assert_raises(tt_objects_send_interaction(w.a[0], CRASH, values, 2, NO_TIME, NULL), InteractionClassNotPublished,
                  "Crash");
    assert_done(tt_declarations_publish_interaction(w.a[0], CRASH));
    assert_done(tt_declarations_subscribe_interaction(w.a[1], EVENT, true));
    assert_int_equal(assert_next(w.a[0], TurnInteractionsOn)->interaction_class, CRASH);
    assert_done(tt_declarations_subscribe_interaction(w.a[2], CRASH, true));
    assert_done(
        tt_objects_send_interaction(w.a[0], CRASH, values, 2, (struct tt_message_stamp){NULL, TEXT_BYTES("t")}, NULL));
    const struct tt_callback *c = assert_next(w.a[1], ReceiveInteraction);
    assert_int_equal(c->interaction_class, EVENT);
    assert_int_equal(c->value_count, 1); /* the class above has no more */
    assert_memory_equal(c->values[0].bytes.data, "bang", 4);
    c = assert_next(w.a[2], ReceiveInteraction);
    assert_int_equal(c->interaction_class, CRASH);
    assert_int_equal(c->value_count, 2);
    assert_int_equal(c->federate, 1);
    assert_memory_equal(c->tag.data, "t", 1);
    assert_quiet(w.a[0]);
    assert_done(tt_declarations_unsubscribe_interaction(w.a[1], EVENT));
    assert_quiet(w.a[0]);
    assert_done(tt_declarations_unsubscribe_interaction(w.a[2], CRASH));
    assert_int_equal(assert_next(w.a[0], TurnInteractionsOff)->interaction_class, CRASH);
    assert_done(tt_objects_send_interaction(w.a[0], CRASH, values, 2, NO_TIME, NULL));
    assert_quiet(w.a[1]);
    assert_done(tt_declarations_unpublish_interaction(w.a[0], CRASH));
    assert_raises(tt_objects_send_interaction(w.a[0], CRASH, values, 2, NO_TIME, NULL), InteractionClassNotPublished,
                  "Crash");
    tt_rti_free(w.rti);
}

static void test_directed_interactions(void **state)
{
    (void)state;
    struct world w = world_of(4, "");
    assert_done(tt_declarations_publish_attributes(w.a[0], SET(CAR, SPEED)));
    for (int i = 1; i < 4; i++)
        assert_done(tt_declarations_subscribe_attributes(w.a[i], SET(CAR, SPEED), false, ""));
    uint32_t car = registered(w.a[0], CAR);
    for (int i = 0; i < 4; i++)
        drain(w.a[i]);
    struct tt_hla_value value = value_of(WHAT, "stop");
    assert_raises(tt_objects_send_directed(w.a[1], EVENT, car, &value, 1, NO_TIME, NULL), InteractionClassNotPublished,
                  "Event");
    assert_done(tt_declarations_publish_directed(w.a[1], SET(VEHICLE, EVENT)));
    assert_raises(tt_objects_send_directed(w.a[1], EVENT, 99, &value, 1, NO_TIME, NULL), ObjectInstanceNotKnown, "99");
    assert_raises(tt_objects_send_directed(w.a[1], CRASH, car, &value, 1, NO_TIME, NULL), InteractionClassNotPublished,
                  "Crash");
    assert_done(tt_declarations_subscribe_directed(w.a[0], SET(CAR, EVENT), false)); /* its owner */
    assert_done(tt_declarations_subscribe_directed(w.a[2], SET(CAR, EVENT), false)); /* owns nothing of it */
    assert_done(tt_declarations_subscribe_directed(w.a[3], SET(VEHICLE, EVENT), true));
    assert_done(tt_objects_send_directed(w.a[1], EVENT, car, &value, 1, NO_TIME, NULL));
    const struct tt_callback *c = assert_next(w.a[0], ReceiveDirectedInteraction);
    assert_int_equal(c->object, car);
    assert_int_equal(c->interaction_class, EVENT);
    assert_memory_equal(c->values[0].bytes.data, "stop", 4);
    assert_quiet(w.a[2]);
    assert_next(w.a[3], ReceiveDirectedInteraction);
    assert_done(tt_declarations_unsubscribe_directed(w.a[3], (struct tt_class_set){.class = VEHICLE}));
    assert_done(tt_declarations_unsubscribe_directed(w.a[0], SET(CAR, EVENT)));
    assert_done(tt_objects_send_directed(w.a[1], EVENT, car, &value, 1, NO_TIME, NULL));
    assert_quiet(w.a[0]);
    assert_quiet(w.a[3]);
    assert_done(tt_declarations_unpublish_directed(w.a[1], (struct tt_class_set){.class = VEHICLE}));
    assert_raises(tt_objects_send_directed(w.a[1], EVENT, car, &value, 1, NO_TIME, NULL), InteractionClassNotPublished,
                  "Event");
    tt_rti_free(w.rti);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_registration),
        cmocka_unit_test(test_discovery),
        cmocka_unit_test(test_updates),
        cmocka_unit_test(test_orders_of_one_update),
        cmocka_unit_test(test_kinds_of_transport),
        cmocka_unit_test(test_transport_of_interactions),
        cmocka_unit_test(test_deletion),
        cmocka_unit_test(test_deletion_taken_back),
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_auto_provide),
        cmocka_unit_test(test_object_advisories),
        cmocka_unit_test(test_updates_that_are_wanted),
        cmocka_unit_test(test_scope),
        cmocka_unit_test(test_declaration_exceptions),
        cmocka_unit_test(test_interactions),
        cmocka_unit_test(test_directed_interactions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
