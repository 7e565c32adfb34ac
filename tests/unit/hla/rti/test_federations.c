/* SPDX-License-Identifier: MIT */
/* Federations and their federates: created, joined, left, lost; points of synchronization; bounds. */
#include "rti_helper.h"

static void test_create_and_destroy(void **state)
{
    (void)state;
    struct tt_rti *rti = tt_rti_new((struct tt_rti_limits){.federations = 2});
    struct tt_ambassador *a = connected(rti);
    struct tt_fom_module *module = read_module(test_fom);
    assert_done(tt_rti_create(a, "one", &module, 1, "", NULL));
    assert_raises(tt_rti_create(a, "one", NULL, 0, "", NULL), FederationExecutionAlreadyExists, "'one'");
    assert_raises(tt_rti_create(a, "two", NULL, 0, "HLAcalendar", NULL), CouldNotCreateLogicalTimeFactory,
                  "HLAfloat64Time");
    assert_done(tt_rti_create(a, "two", NULL, 0, "HLAinteger64Time", NULL));
    assert_raises(tt_rti_create(a, "three", NULL, 0, "", NULL), RTIinternalError, "no more than 2 federations");
    assert_done(tt_rti_list_federations(a));
    const struct tt_callback *c = assert_next(a, ReportFederationExecutions);
    assert_int_equal(c->report_count, 2);
    assert_string_equal(c->reports[0].name, "one");
    assert_string_equal(c->reports[0].type, "HLAfloat64Time");
    assert_string_equal(c->reports[1].name, "two");
    assert_string_equal(c->reports[1].type, "HLAinteger64Time");
    assert_raises(tt_rti_destroy(a, "four"), FederationExecutionDoesNotExist, "'four'");
    assert_done(tt_rti_destroy(a, "one"));
    assert_null(tt_rti_find_federation(rti, "one"));
    assert_non_null(tt_rti_find_federation(rti, "two"));
    /* Modules are taken also where creation fails. */
    module = read_module("<objectModel><objects><objectClass><name>Thing</name></objectClass></objects></objectModel>");
    assert_raises(tt_rti_create(a, "one", &module, 1, "", NULL), InvalidFOM, "HLAobjectRoot");
    module = read_module(test_fom);
    assert_raises(tt_rti_create(a, "two", &module, 1, "", NULL), FederationExecutionAlreadyExists, "'two'");
    assert_done(tt_rti_disconnect(a));
    tt_rti_free(rti);
    tt_rti_free(NULL);
}

static void test_join_and_resign(void **state)
{
    (void)state;
    struct world w = world_of(2, "");
    struct tt_ambassador *c = connected(w.rti);
    uint32_t handle;
    enum tt_logical_time_kind time;
    struct tt_rti_join join = {"fed", "test", "A", NULL, 0};
    assert_raises(tt_rti_join(c, &join, &handle, &time), FederateNameAlreadyInUse, "'A'");
    join.federation = "other";
    assert_raises(tt_rti_join(c, &join, &handle, &time), FederationExecutionDoesNotExist, "'other'");
    assert_raises(tt_rti_join(w.a[0], &join, &handle, &time), FederateAlreadyExecutionMember, "'A'");
    assert_raises(tt_rti_disconnect(w.a[0]), FederateIsExecutionMember, "must resign first");
    assert_raises(tt_rti_destroy(c, "fed"), FederatesCurrentlyJoined, "2 federates");
    assert_raises(tt_rti_resign(c, TUTTI_RESIGN_NO_ACTION), FederateNotExecutionMember, "has not joined");
    assert_raises(tt_rti_resign(w.a[0], (enum tt_resign)9), InvalidResignAction, "9");
    assert_int_equal(join_as(c, NULL), 3);
    assert_done(tt_rti_list_members(c, "fed"));
    const struct tt_callback *report = assert_next(c, ReportFederationExecutionMembers);
    assert_string_equal(report->text, "fed");
    assert_int_equal(report->report_count, 3);
    assert_string_equal(report->reports[0].name, "A");
    assert_string_equal(report->reports[0].type, "test");
    assert_string_equal(report->reports[2].name, "Federate-3");
    assert_done(tt_rti_list_members(c, "other"));
    assert_next(c, ReportFederationExecutionDoesNotExist);
    assert_done(tt_rti_resign(c, TUTTI_RESIGN_NO_ACTION));
    assert_int_equal(join_as(c, "C"), 4); /* handles are not used again */
    tt_rti_free(w.rti);
}

static void test_modules_of_those_who_join(void **state)
{
    (void)state;
    struct world w = world_of(1, "");
    struct tt_ambassador *b = connected(w.rti);
    uint32_t handle;
    enum tt_logical_time_kind time;
    static const char more[] =
        "<objectModel><objects><objectClass><name>HLAobjectRoot</name><objectClass><name>Vehicle</name>"
        "<objectClass><name>Bus</name><attribute><name>seats</name></attribute></objectClass></objectClass></"
        "objectClass></objects></objectModel>";
    static const char clash[] =
        "<objectModel><dimensions><dimension><name>Lane</name><upperBound>9</upperBound></dimension>"
        "</dimensions></objectModel>";
    struct tt_fom_module *module = read_module(clash);
    struct tt_rti_join join = {"fed", "test", "B", &module, 1};
    assert_raises(tt_rti_join(b, &join, &handle, &time), InconsistentFOM, "'Lane'");
    module = read_module(more);
    assert_done(tt_rti_join(b, &join, &handle, &time));
    assert_done(tt_support_get_object_class_handle(w.a[0], "Vehicle.Bus", &handle));
    assert_int_equal(handle, CAR + 1);
    assert_done(tt_declarations_publish_attributes(w.a[0], (struct tt_class_set){handle, (uint32_t[]){SPEED}, 1}));
    /* The same module again adds nothing, and is not kept. */
    struct tt_ambassador *c = connected(w.rti);
    module = read_module(more);
    join.name = "C";
    assert_done(tt_rti_join(c, &join, &handle, &time));
    assert_int_equal(tt_rti_find_federation(w.rti, "fed")->module_count, 2);
    /* Nor is another one that says the same. */
    struct tt_ambassador *d = connected(w.rti);
    module = read_module(
        "<objectModel><objects><objectClass><name>HLAobjectRoot</name></objectClass></objects></objectModel>");
    join.name = "D";
    assert_done(tt_rti_join(d, &join, &handle, &time));
    assert_int_equal(tt_rti_find_federation(w.rti, "fed")->module_count, 2);
    tt_rti_free(w.rti);
}

static void publish_cars(struct tt_ambassador *a)
{
    assert_done(tt_declarations_publish_attributes(a, (struct tt_class_set){CAR, (uint32_t[]){SPEED, DOORS}, 2}));
}

static void subscribe_vehicles(struct tt_ambassador *a)
{
    assert_done(tt_declarations_subscribe_attributes(a, (struct tt_class_set){VEHICLE, (uint32_t[]){SPEED, COLOUR}, 2},
                                                     true, ""));
}

static void test_resign_actions(void **state)
{
    (void)state;
    struct world w = world_of(3, "");
    uint32_t car;
    publish_cars(w.a[0]);
    publish_cars(w.a[2]);
    subscribe_vehicles(w.a[1]);
    assert_done(
        tt_declarations_subscribe_attributes(w.a[2], (struct tt_class_set){CAR, (uint32_t[]){SPEED}, 1}, true, ""));
    assert_done(tt_objects_register(w.a[0], CAR, NULL, &car));
    struct tt_attribute_set speed = {car, (uint32_t[]){SPEED}, 1};
    assert_raises(tt_rti_resign(w.a[0], TUTTI_RESIGN_NO_ACTION), FederateOwnsAttributes, "'A'");
    assert_raises(tt_rti_resign(w.a[0], TUTTI_RESIGN_CANCEL), FederateOwnsAttributes, "'A'");
    assert_done(tt_ownership_acquire(w.a[2], speed, NO_TAG));
    assert_raises(tt_rti_resign(w.a[2], TUTTI_RESIGN_DIVEST), OwnershipAcquisitionPending, "'C'");
    drain(w.a[1]);
    drain(w.a[2]);
    /* Its attributes pass to the federate that requested them, the rest stays without an owner. */
    assert_done(tt_rti_resign(w.a[0], TUTTI_RESIGN_DIVEST));
    assert_int_equal(assert_next(w.a[2], AttributeOwnershipAcquisitionNotification)->handles[0], SPEED);
    assert_int_equal(assert_next(w.a[2], RequestAttributeOwnershipAssumption)->handles[0], DOORS);
    assert_quiet(w.a[2]);
    tt_rti_free(w.rti);
}

static void test_deletion_by_resigning(void **state)
{
    (void)state;
    struct world w = world_of(2, "");
    uint32_t car;
    publish_cars(w.a[0]);
    subscribe_vehicles(w.a[1]);
    assert_done(tt_objects_register(w.a[0], CAR, NULL, &car));
    assert_next(w.a[1], DiscoverObjectInstance);
    assert_done(tt_rti_resign(w.a[0], TUTTI_RESIGN_DELETE));
    const struct tt_callback *c = assert_next(w.a[1], RemoveObjectInstance);
    assert_int_equal(c->object, car);
    assert_int_equal(c->federate, 1);
    assert_false(c->timed);
    assert_int_equal(tt_rti_find_federation(w.rti, "fed")->objects.count, 0);
    tt_rti_free(w.rti);
}

static void test_lost_federate(void **state)
{
    (void)state;
    struct world w = world_of(2, "");
    uint32_t car;
    publish_cars(w.a[0]);
    subscribe_vehicles(w.a[1]);
    assert_done(tt_time_management_enable_regulation(w.a[0], at(&w, 1)));
    assert_done(tt_time_management_enable_constrained(w.a[1]));
    assert_done(tt_objects_register(w.a[0], CAR, NULL, &car));
    int64_t time = at(&w, 2);
    struct tt_hla_value value = {SPEED, {"fast", 4}};
    assert_done(tt_objects_update(w.a[0], car, &value, 1, (struct tt_message_stamp){&time, NO_TAG}, NULL));
    drain(w.a[1]);
    assert_done(tt_time_management_advance(w.a[1], TUTTI_ADVANCE_TAR, at(&w, 5)));
    assert_quiet(w.a[1]);
    /* Its messages stay, its objects are deleted, and time advances. */
    tt_rti_drop_federate(w.a[0], "it is gone");
    const struct tt_callback *c = assert_next(w.a[1], ReflectAttributeValues);
    assert_int_equal(c->time, time);
    assert_memory_equal(c->values[0].bytes.data, "fast", 4);
    assert_false(assert_next(w.a[1], RemoveObjectInstance)->timed);
    assert_granted(&w, 1, 5);
    assert_quiet(w.a[1]);
    tt_rti_free(w.rti);
}

/* An object that waits to be removed belongs to no federate that is gone. */
static void test_removal_that_waits(void **state)
{
    (void)state;
    struct world w = world_of(2, "");
    uint32_t car;
    publish_cars(w.a[0]);
    subscribe_vehicles(w.a[1]);
    assert_done(tt_time_management_enable_constrained(w.a[1]));
    assert_done(tt_objects_register(w.a[0], CAR, NULL, &car));
    drain(w.a[1]);
    assert_done(tt_rti_resign(w.a[0], TUTTI_RESIGN_DELETE));
    assert_quiet(w.a[1]); /* held until it advances */
    assert_done(tt_ownership_query(w.a[1], (struct tt_attribute_set){car, (uint32_t[]){SPEED}, 1}));
    assert_next(w.a[1], AttributeIsNotOwned);
    assert_done(tt_time_management_advance(w.a[1], TUTTI_ADVANCE_TAR, at(&w, 1)));
    assert_next(w.a[1], RemoveObjectInstance);
    assert_granted(&w, 1, 1);
    tt_rti_free(w.rti);
}

static void test_sync_points(void **state)
{
    (void)state;
    struct world w = world_of(3, "");
    assert_done(tt_rti_register_sync_point(w.a[0], "start", TEXT_BYTES("tag"), NULL, 0));
    assert_string_equal(assert_next(w.a[0], SynchronizationPointRegistrationSucceeded)->text, "start");
    for (int i = 0; i < 3; i++) {
        const struct tt_callback *c = assert_next(w.a[i], AnnounceSynchronizationPoint);
        assert_string_equal(c->text, "start");
        assert_memory_equal(c->tag.data, "tag", 3);
    }
    assert_done(tt_rti_register_sync_point(w.a[1], "start", NO_TAG, NULL, 0));
    assert_int_equal(assert_next(w.a[1], SynchronizationPointRegistrationFailed)->reason, 0);
    assert_raises(tt_rti_achieve_sync_point(w.a[0], "end", true), SynchronizationPointLabelNotAnnounced, "'end'");
    assert_done(tt_rti_achieve_sync_point(w.a[0], "start", true));
    assert_done(tt_rti_achieve_sync_point(w.a[1], "start", false));
    /* One that joins must arrive, too; one that leaves need not. */
    w.a[3] = connected(w.rti);
    join_as(w.a[3], "D");
    assert_next(w.a[3], AnnounceSynchronizationPoint);
    assert_done(tt_rti_resign(w.a[2], TUTTI_RESIGN_NO_ACTION));
    assert_quiet(w.a[0]);
    assert_done(tt_rti_achieve_sync_point(w.a[3], "start", true));
    for (int i = 0; i < 4; i += i ? 2 : 1) { /* A, B, D */
        const struct tt_callback *c = assert_next(w.a[i], FederationSynchronized);
        assert_int_equal(c->handle_count, 1);
        assert_int_equal(c->handles[0], 2);
    }
    assert_raises(tt_rti_achieve_sync_point(w.a[0], "start", true), SynchronizationPointLabelNotAnnounced, "'start'");
    tt_rti_free(w.rti);
}

static void test_sync_points_of_some(void **state)
{
    (void)state;
    struct world w = world_of(3, "");
    assert_raises(tt_rti_register_sync_point(w.a[0], "x", NO_TAG, (uint32_t[]){1, 9}, 2), InvalidFederateHandle, "9");
    assert_done(tt_rti_register_sync_point(w.a[0], "x", NO_TAG, (uint32_t[]){2, 3}, 2));
    assert_next(w.a[0], SynchronizationPointRegistrationSucceeded);
    assert_quiet(w.a[0]);
    assert_next(w.a[1], AnnounceSynchronizationPoint);
    assert_raises(tt_rti_achieve_sync_point(w.a[0], "x", true), SynchronizationPointLabelNotAnnounced, "'A'");
    assert_done(tt_rti_achieve_sync_point(w.a[1], "x", true));
    tt_rti_drop_federate(w.a[2], "it is gone");
    assert_next(w.a[1], FederationSynchronized);
    assert_done(tt_rti_register_sync_point(w.a[0], "y", NO_TAG, (uint32_t[]){2, 3}, 2));
    assert_int_equal(assert_next(w.a[0], SynchronizationPointRegistrationFailed)->reason, 1);
    tt_rti_free(w.rti);
}

static void test_slow_federate(void **state)
{
    (void)state;
    struct world w = world_of(2, "");
    w.rti->limits.callbacks = 10;
    assert_done(tt_declarations_publish_interaction(w.a[0], NOTE));
    assert_done(tt_declarations_subscribe_interaction(w.a[1], NOTE, false));
    for (int i = 0; i < 10; i++)
        assert_done(tt_objects_send_interaction(w.a[0], NOTE, NULL, 0, NO_TIME, NULL));
    assert_false(tt_rti_has_overflowed(w.a[1]));
    assert_done(tt_objects_send_interaction(w.a[0], NOTE, NULL, 0, NO_TIME, NULL));
    assert_true(tt_rti_has_overflowed(w.a[1]));
    assert_int_equal(tt_rti_pending_callbacks(w.a[1]), 10);
    assert_done(tt_objects_send_interaction(w.a[0], NOTE, NULL, 0, NO_TIME, NULL));
    assert_int_equal(tt_rti_pending_callbacks(w.a[1]), 10);
    tt_rti_drop_federate(w.a[1], "it is gone");
    assert_int_equal(tt_rti_find_federation(w.rti, "fed")->federates.count, 1);
    tt_rti_free(w.rti);
}

/* What waits for its time counts, and what is taken or dropped counts no more. */
static void test_bounds_of_queues(void **state)
{
    (void)state;
    struct world w = world_of(2, "");
    w.rti->limits.bytes = 100000;
    assert_done(tt_declarations_publish_interaction(w.a[0], EVENT));
    assert_done(tt_declarations_subscribe_interaction(w.a[1], EVENT, false));
    assert_done(tt_time_management_enable_regulation(w.a[0], at(&w, 1)));
    assert_done(tt_time_management_enable_constrained(w.a[1]));
    drain(w.a[1]);
    static char bytes[20000];
    struct tt_hla_value value = {WHAT, {bytes, sizeof bytes}};
    uint64_t retraction;
    int64_t time = at(&w, 3);
    struct tt_message_stamp send = {&time, NO_TAG};
    for (int i = 0; i < 50; i++) {
        assert_done(tt_objects_send_interaction(w.a[0], EVENT, &value, 1, send, &retraction));
        assert_done(tt_message_retract(w.a[0], retraction));
    }
    assert_false(tt_rti_has_overflowed(w.a[1]));
    assert_int_equal(w.a[1]->count, 0);
    assert_int_equal(w.a[1]->bytes, 0);
    for (int i = 0; i < 4; i++)
        assert_done(tt_objects_send_interaction(w.a[0], EVENT, &value, 1, send, NULL));
    assert_false(tt_rti_has_overflowed(w.a[1]));
    assert_done(tt_objects_send_interaction(w.a[0], EVENT, &value, 1, send, NULL));
    assert_true(tt_rti_has_overflowed(w.a[1]));
    assert_done(tt_rti_resign(w.a[1], TUTTI_RESIGN_NO_ACTION));
    assert_int_equal(w.a[1]->count, 0);
    tt_rti_free(w.rti);
}

static void test_not_joined(void **state)
{
    (void)state;
    struct tt_rti *rti = tt_rti_new((struct tt_rti_limits){0});
    struct tt_ambassador *a = connected(rti);
    struct tt_class_set set = {0};
    struct tt_attribute_set of = {0};
    uint32_t handle;
    bool flag;
    int64_t time;
    size_t count;
    const char *name;
#define NOT_JOINED(call) assert_raises(call, FederateNotExecutionMember, "has not joined")
    NOT_JOINED(tt_rti_register_sync_point(a, "x", NO_TAG, NULL, 0));
    NOT_JOINED(tt_rti_achieve_sync_point(a, "x", true));
    NOT_JOINED(tt_declarations_publish_attributes(a, set));
    NOT_JOINED(tt_declarations_unpublish_attributes(a, set));
    NOT_JOINED(tt_declarations_unpublish_object_class(a, 1));
    NOT_JOINED(tt_declarations_subscribe_attributes(a, set, true, ""));
    NOT_JOINED(tt_declarations_unsubscribe_attributes(a, set));
    NOT_JOINED(tt_declarations_unsubscribe_object_class(a, 1));
    NOT_JOINED(tt_declarations_publish_interaction(a, 1));
    NOT_JOINED(tt_declarations_unpublish_interaction(a, 1));
    NOT_JOINED(tt_declarations_subscribe_interaction(a, 1, true));
    NOT_JOINED(tt_declarations_unsubscribe_interaction(a, 1));
    NOT_JOINED(tt_declarations_publish_directed(a, set));
    NOT_JOINED(tt_declarations_unpublish_directed(a, set));
    NOT_JOINED(tt_declarations_subscribe_directed(a, set, true));
    NOT_JOINED(tt_declarations_unsubscribe_directed(a, set));
    NOT_JOINED(tt_declarations_set_default_order(a, set, TUTTI_ORDER_RECEIVE));
    NOT_JOINED(tt_declarations_set_interaction_order(a, 1, TUTTI_ORDER_RECEIVE));
    NOT_JOINED(tt_objects_reserve_name(a, "x"));
    NOT_JOINED(tt_objects_release_name(a, "x"));
    NOT_JOINED(tt_objects_reserve_names(a, NULL, 0));
    NOT_JOINED(tt_objects_register(a, 1, NULL, &handle));
    NOT_JOINED(tt_objects_update(a, 1, NULL, 0, NO_TIME, NULL));
    NOT_JOINED(tt_objects_delete(a, 1, NO_TIME, NULL));
    NOT_JOINED(tt_objects_local_delete(a, 1));
    NOT_JOINED(tt_objects_request_update(a, of, NO_TAG));
    NOT_JOINED(tt_objects_request_class_update(a, 1, NULL, 0, NO_TAG));
    NOT_JOINED(tt_objects_set_attribute_order(a, of, TUTTI_ORDER_RECEIVE));
    NOT_JOINED(tt_objects_send_interaction(a, 1, NULL, 0, NO_TIME, NULL));
    NOT_JOINED(tt_objects_send_directed(a, 1, 1, NULL, 0, NO_TIME, NULL));
    NOT_JOINED(tt_message_retract(a, 1));
    NOT_JOINED(tt_ownership_unconditional_divest(a, of, NO_TAG));
    NOT_JOINED(tt_ownership_negotiated_divest(a, of, NO_TAG));
    NOT_JOINED(tt_ownership_cancel_negotiated_divest(a, of));
    NOT_JOINED(tt_ownership_confirm_divestiture(a, of, NO_TAG));
    NOT_JOINED(tt_ownership_acquire(a, of, NO_TAG));
    NOT_JOINED(tt_ownership_acquire_if_available(a, of, NO_TAG));
    NOT_JOINED(tt_ownership_cancel_acquisition(a, of));
    NOT_JOINED(tt_ownership_release_denied(a, of));
    NOT_JOINED(tt_ownership_divest_if_wanted(a, of, NO_TAG, &handle, &count));
    NOT_JOINED(tt_ownership_query(a, of));
    NOT_JOINED(tt_ownership_is_owned(a, 1, 1, &flag));
    NOT_JOINED(tt_time_management_enable_regulation(a, 0));
    NOT_JOINED(tt_time_management_disable_regulation(a));
    NOT_JOINED(tt_time_management_enable_constrained(a));
    NOT_JOINED(tt_time_management_disable_constrained(a));
    NOT_JOINED(tt_time_management_advance(a, TUTTI_ADVANCE_TAR, 0));
    NOT_JOINED(tt_time_management_flush_queue(a, 0));
    NOT_JOINED(tt_time_management_enable_async(a));
    NOT_JOINED(tt_time_management_disable_async(a));
    NOT_JOINED(tt_time_management_query_galt(a, &flag, &time));
    NOT_JOINED(tt_time_management_query_lits(a, &flag, &time));
    NOT_JOINED(tt_time_management_query_logical_time(a, &time));
    NOT_JOINED(tt_time_management_query_lookahead(a, &time));
    NOT_JOINED(tt_time_management_modify_lookahead(a, 0));
    NOT_JOINED(tt_support_get_federate_handle(a, "A", &handle));
    NOT_JOINED(tt_support_get_object_class_name(a, 1, &name));
    NOT_JOINED(tt_support_get_interaction_class_name(a, 1, &name));
    tt_rti_free(rti);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_create_and_destroy),        cmocka_unit_test(test_join_and_resign),
        cmocka_unit_test(test_modules_of_those_who_join), cmocka_unit_test(test_resign_actions),
        cmocka_unit_test(test_deletion_by_resigning),     cmocka_unit_test(test_lost_federate),
        cmocka_unit_test(test_removal_that_waits),        cmocka_unit_test(test_sync_points),
        cmocka_unit_test(test_sync_points_of_some),       cmocka_unit_test(test_slow_federate),
        cmocka_unit_test(test_bounds_of_queues),          cmocka_unit_test(test_not_joined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
