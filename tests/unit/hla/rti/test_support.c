/* SPDX-License-Identifier: MIT */
/* Handles to names and back, what is normalized, switches; and every exception of these. */
#include "rti_helper.h"

static void test_handles_and_names(void **state)
{
    (void)state;
    struct world w = world_of(2, "");
    struct tt_ambassador *a = w.a[0];
    uint32_t handle;
    const char *name;
    assert_done(tt_support_get_federate_handle(a, "B", &handle));
    assert_int_equal(handle, 2);
    assert_done(tt_support_get_federate_name(a, 2, &name));
    assert_string_equal(name, "B");
    assert_done(tt_support_get_object_class_handle(a, "Vehicle.Car", &handle));
    assert_int_equal(handle, CAR);
    assert_done(tt_support_get_object_class_name(a, CAR, &name));
    assert_string_equal(name, "HLAobjectRoot.Vehicle.Car");
    assert_done(tt_support_get_attribute_handle(a, CAR, "speed", &handle));
    assert_int_equal(handle, SPEED);
    assert_done(tt_support_get_attribute_name(a, CAR, SPEED, &name));
    assert_string_equal(name, "speed");
    assert_done(tt_support_get_interaction_class_handle(a, "HLAinteractionRoot.Event.Crash", &handle));
    assert_int_equal(handle, CRASH);
    assert_done(tt_support_get_interaction_class_name(a, CRASH, &name));
    assert_string_equal(name, "HLAinteractionRoot.Event.Crash");
    assert_done(tt_support_get_parameter_handle(a, CRASH, "what", &handle));
    assert_int_equal(handle, WHAT);
    assert_done(tt_support_get_parameter_name(a, CRASH, WHERE, &name));
    assert_string_equal(name, "where");
    tt_rti_free(w.rti);
}

static void test_missing(void **state)
{
    (void)state;
    struct world w = world_of(2, "");
    struct tt_ambassador *a = w.a[0];
    uint32_t handle;
    const char *name;
    tt_rti_drop_federate(w.a[1], "it is gone");
    assert_raises(tt_support_get_federate_handle(a, "B", &handle), NameNotFound, "'B'");
    assert_raises(tt_support_get_federate_name(a, 2, &name), FederateHandleNotKnown, "left");
    assert_raises(tt_support_get_federate_name(a, 3, &name), InvalidFederateHandle, "3");
    assert_raises(tt_support_get_object_class_handle(a, "Ship", &handle), NameNotFound, "'Ship'");
    assert_raises(tt_support_get_object_class_name(a, 99, &name), InvalidObjectClassHandle, "99");
    assert_raises(tt_support_get_attribute_handle(a, 99, "speed", &handle), InvalidObjectClassHandle, "99");
    assert_raises(tt_support_get_attribute_handle(a, VEHICLE, "doors", &handle), NameNotFound, "'doors'");
    assert_raises(tt_support_get_attribute_name(a, VEHICLE, 99, &name), InvalidAttributeHandle, "99");
    assert_raises(tt_support_get_attribute_name(a, VEHICLE, DOORS, &name), AttributeNotDefined, "Vehicle");
    assert_raises(tt_support_get_interaction_class_handle(a, "x", &handle), NameNotFound, "'x'");
    assert_raises(tt_support_get_interaction_class_name(a, 99, &name), InvalidInteractionClassHandle, "99");
    assert_raises(tt_support_get_parameter_handle(a, 99, "what", &handle), InvalidInteractionClassHandle, "99");
    assert_raises(tt_support_get_parameter_handle(a, EVENT, "where", &handle), NameNotFound, "'where'");
    assert_raises(tt_support_get_parameter_name(a, EVENT, 99, &name), InvalidParameterHandle, "99");
    assert_raises(tt_support_get_parameter_name(a, EVENT, WHERE, &name), InteractionParameterNotDefined, "Event");
    assert_raises(tt_support_get_known_class(a, 99, &handle), ObjectInstanceNotKnown, "99");
    assert_raises(tt_support_get_object_name(a, 99, &name), ObjectInstanceNotKnown, "99");
    tt_rti_free(w.rti);
}

static void test_tables(void **state)
{
    (void)state;
    struct world w = world_of(1, "");
    struct tt_ambassador *a = w.a[0];
    uint32_t handle, bound;
    const char *name;
    double rate;
    enum tt_message_order order;
    assert_done(tt_support_get_order(a, "TimeStamp", &order));
    assert_int_equal(order, TUTTI_ORDER_TIMESTAMP);
    assert_raises(tt_support_get_order(a, "Later", &order), InvalidOrderName, "'Later'");
    assert_done(tt_support_get_order_name(a, TUTTI_ORDER_RECEIVE, &name));
    assert_string_equal(name, "Receive");
    assert_raises(tt_support_get_order_name(a, (enum tt_message_order)2, &name), InvalidOrderType, "2");
    assert_done(tt_support_get_transportation_handle(a, "HLAbestEffort", &handle));
    assert_done(tt_support_get_transportation_name(a, handle, &name));
    assert_string_equal(name, "HLAbestEffort");
    assert_raises(tt_support_get_transportation_handle(a, "x", &handle), InvalidTransportationName, "'x'");
    assert_raises(tt_support_get_transportation_name(a, 99, &name), InvalidTransportationTypeHandle, "99");
    assert_done(tt_support_get_update_rate(a, "Slow", &rate));
    assert_same_double(rate, 2.5);
    assert_raises(tt_support_get_update_rate(a, "x", &rate), InvalidUpdateRateDesignator, "'x'");
    assert_done(tt_support_get_dimension_handle(a, "Lane", &handle));
    assert_done(tt_support_get_dimension_name(a, handle, &name));
    assert_string_equal(name, "Lane");
    assert_done(tt_support_get_dimension_upper_bound(a, handle, &bound));
    assert_int_equal(bound, 8);
    assert_raises(tt_support_get_dimension_handle(a, "x", &handle), NameNotFound, "'x'");
    assert_raises(tt_support_get_dimension_name(a, 99, &name), InvalidDimensionHandle, "99");
    assert_raises(tt_support_get_dimension_upper_bound(a, 99, &bound), InvalidDimensionHandle, "99");
    tt_rti_free(w.rti);
}

static void test_normalized(void **state)
{
    (void)state;
    struct world w = world_of(1, "");
    struct tt_ambassador *a = w.a[0];
    uint32_t value, object;
    assert_done(tt_support_normalize_service_group(a, 6, &value));
    assert_raises(tt_support_normalize_service_group(a, 7, &value), InvalidServiceGroup, "7");
    assert_done(tt_support_normalize_federate(a, 1, &value));
    assert_raises(tt_support_normalize_federate(a, 2, &value), InvalidFederateHandle, "2");
    assert_done(tt_support_normalize_object_class(a, CAR, &value));
    assert_raises(tt_support_normalize_object_class(a, 99, &value), InvalidObjectClassHandle, "99");
    assert_done(tt_support_normalize_interaction_class(a, NOTE, &value));
    assert_raises(tt_support_normalize_interaction_class(a, 99, &value), InvalidInteractionClassHandle, "99");
    assert_raises(tt_support_normalize_object(a, 1, &value), InvalidObjectInstanceHandle, "1");
    assert_done(tt_declarations_publish_attributes(a, (struct tt_class_set){CAR, (uint32_t[]){SPEED}, 1}));
    assert_done(tt_objects_register(a, CAR, NULL, &object));
    assert_done(tt_support_normalize_object(a, object, &value));
    assert_int_equal(value, object);
    struct tt_fom_switches *own;
    const struct tt_fom_switches *all;
    assert_done(tt_support_switches(a, &own, &all));
    assert_true(own->object_class_relevance_advisory && all->object_class_relevance_advisory);
    assert_int_equal(own->automatic_resign, TUTTI_RESIGN_CANCEL_DELETE_DIVEST);
    tt_rti_free(w.rti);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_handles_and_names),
        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_normalized),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
