/* SPDX-License-Identifier: MIT */
/* Which federate may update an attribute: given up, asked for, offered, and with which exceptions. */
#include "rti_helper.h"

#define OF(object, ...)                                                                                                \
    ((struct tt_attribute_set){object, (uint32_t[]){__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)})

/* A has a car with speed and doors; B and C know it, and publish the same. */
static struct world cars(uint32_t *car)
{
    struct world w = world_of(3, "");
    struct tt_class_set set = {CAR, (uint32_t[]){SPEED, DOORS}, 2};
    for (int i = 0; i < 3; i++)
        assert_done(tt_declarations_publish_attributes(w.a[i], set));
    for (int i = 1; i < 3; i++)
        assert_done(tt_declarations_subscribe_attributes(w.a[i], set, true, ""));
    assert_done(tt_objects_register(w.a[0], CAR, NULL, car));
    for (int i = 0; i < 3; i++)
        drain(w.a[i]);
    return w;
}

static bool owns(struct tt_ambassador *a, uint32_t object, uint32_t attribute)
{
    bool owned;
    assert_done(tt_ownership_is_owned(a, object, attribute, &owned));
    return owned;
}

static void test_registrant_owns(void **state)
{
    (void)state;
    uint32_t car;
    struct world w = cars(&car);
    assert_true(owns(w.a[0], car, SPEED));
    assert_true(owns(w.a[0], car, TUTTI_FOM_PRIVILEGE_TO_DELETE));
    assert_false(owns(w.a[0], car, COLOUR));
    assert_false(owns(w.a[1], car, SPEED));
    assert_done(tt_ownership_query(w.a[1], OF(car, SPEED, COLOUR, DOORS)));
    const struct tt_callback *c = assert_next(w.a[1], InformAttributeOwnership);
    assert_int_equal(c->federate, 1);
    assert_int_equal(c->handle_count, 2);
    assert_int_equal(c->handles[1], DOORS);
    c = assert_next(w.a[1], AttributeIsNotOwned);
    assert_int_equal(c->handle_count, 1);
    assert_int_equal(c->handles[0], COLOUR);
    bool owned;
    assert_raises(tt_ownership_query(w.a[1], OF(99, SPEED)), ObjectInstanceNotKnown, "99");
    assert_raises(tt_ownership_query(w.a[1], OF(car, 99)), AttributeNotDefined, "99");
    assert_raises(tt_ownership_is_owned(w.a[1], car, 99, &owned), AttributeNotDefined, "99");
    tt_rti_free(w.rti);
}

static void test_unconditional_divestiture(void **state)
{
    (void)state;
    uint32_t car;
    struct world w = cars(&car);
    assert_raises(tt_ownership_unconditional_divest(w.a[1], OF(car, SPEED), NO_TAG), AttributeNotOwned, "'speed'");
    assert_done(tt_ownership_unconditional_divest(w.a[0], OF(car, SPEED, SPEED), TEXT_BYTES("mine no more")));
    for (int i = 1; i < 3; i++) {
        const struct tt_callback *c = assert_next(w.a[i], RequestAttributeOwnershipAssumption);
        assert_int_equal(c->handle_count, 1);
        assert_int_equal(c->handles[0], SPEED);
        assert_memory_equal(c->tag.data, "mine", 4);
    }
    assert_quiet(w.a[0]);
    struct tt_hla_value value = {SPEED, {"1", 1}};
    assert_raises(tt_objects_update(w.a[0], car, &value, 1, NO_TIME, NULL), AttributeNotOwned, "'speed'");
    assert_done(tt_ownership_acquire_if_available(w.a[2], OF(car, SPEED, DOORS), NO_TAG));
    assert_int_equal(assert_next(w.a[2], AttributeOwnershipAcquisitionNotification)->handles[0], SPEED);
    assert_int_equal(assert_next(w.a[2], AttributeOwnershipUnavailable)->handles[0], DOORS);
    assert_done(tt_objects_update(w.a[2], car, &value, 1, NO_TIME, NULL));
    assert_int_equal(assert_next(w.a[1], ReflectAttributeValues)->federate, 3);
    assert_raises(tt_ownership_acquire_if_available(w.a[2], OF(car, SPEED), NO_TAG), FederateOwnsAttributes, "'C'");
    tt_rti_free(w.rti);
}

static void test_acquisition(void **state)
{
    (void)state;
    uint32_t car, given[2];
    size_t count;
    struct world w = cars(&car);
    assert_raises(tt_ownership_cancel_acquisition(w.a[1], OF(car, SPEED)), AttributeAcquisitionWasNotRequested, "'B'");
    assert_raises(tt_ownership_cancel_acquisition(w.a[0], OF(car, SPEED)), AttributeAlreadyOwned, "'A'");
    assert_done(tt_ownership_acquire(w.a[1], OF(car, SPEED, DOORS), TEXT_BYTES("please")));
    const struct tt_callback *c = assert_next(w.a[0], RequestAttributeOwnershipRelease);
    assert_int_equal(c->handle_count, 2);
    assert_memory_equal(c->tag.data, "please", 6);
    assert_raises(tt_ownership_acquire_if_available(w.a[1], OF(car, SPEED), NO_TAG), AttributeAlreadyBeingAcquired,
                  "'B'");
    assert_raises(tt_objects_local_delete(w.a[1], car), OwnershipAcquisitionPending, "'B'");
    assert_raises(tt_declarations_unpublish_object_class(w.a[1], CAR), OwnershipAcquisitionPending, "'B'");
    assert_done(tt_ownership_release_denied(w.a[0], OF(car, DOORS)));
    assert_done(tt_ownership_cancel_acquisition(w.a[1], OF(car, DOORS)));
    assert_int_equal(assert_next(w.a[1], ConfirmAttributeOwnershipAcquisitionCancellation)->handles[0], DOORS);
    assert_done(tt_ownership_divest_if_wanted(w.a[0], OF(car, SPEED, DOORS), NO_TAG, given, &count));
    assert_int_equal(count, 1);
    assert_int_equal(given[0], SPEED);
    assert_int_equal(assert_next(w.a[1], AttributeOwnershipAcquisitionNotification)->handles[0], SPEED);
    assert_true(owns(w.a[1], car, SPEED));
    assert_true(owns(w.a[0], car, DOORS));
    /* Of two that wait, the first one has it. */
    assert_done(tt_ownership_acquire(w.a[2], OF(car, SPEED), NO_TAG));
    assert_done(tt_ownership_acquire(w.a[0], OF(car, SPEED), NO_TAG));
    assert_done(tt_ownership_unconditional_divest(w.a[1], OF(car, SPEED), NO_TAG));
    assert_true(owns(w.a[2], car, SPEED));
    assert_done(tt_rti_resign(w.a[2], TUTTI_RESIGN_CANCEL_DELETE_DIVEST));
    assert_true(owns(w.a[0], car, SPEED));
    tt_rti_free(w.rti);
}

static void test_negotiated_divestiture(void **state)
{
    (void)state;
    uint32_t car;
    struct world w = cars(&car);
    assert_raises(tt_ownership_confirm_divestiture(w.a[0], OF(car, SPEED), NO_TAG), AttributeDivestitureWasNotRequested,
                  "'speed'");
    assert_raises(tt_ownership_cancel_negotiated_divest(w.a[0], OF(car, SPEED)), AttributeDivestitureWasNotRequested,
                  "'speed'");
    assert_raises(tt_ownership_negotiated_divest(w.a[1], OF(car, SPEED), NO_TAG), AttributeNotOwned, "'B'");
    assert_done(tt_ownership_negotiated_divest(w.a[0], OF(car, SPEED, DOORS), NO_TAG));
    assert_int_equal(assert_next(w.a[1], RequestAttributeOwnershipAssumption)->handle_count, 2);
    assert_true(owns(w.a[0], car, SPEED));
    assert_raises(tt_ownership_negotiated_divest(w.a[0], OF(car, SPEED), NO_TAG), AttributeAlreadyBeingDivested,
                  "'speed'");
    assert_raises(tt_ownership_confirm_divestiture(w.a[0], OF(car, SPEED), NO_TAG), NoAcquisitionPending, "'speed'");
    assert_done(tt_ownership_acquire(w.a[1], OF(car, SPEED), NO_TAG));
    assert_int_equal(assert_next(w.a[0], RequestDivestitureConfirmation)->handles[0], SPEED);
    assert_done(tt_ownership_cancel_negotiated_divest(w.a[0], OF(car, DOORS)));
    assert_done(tt_ownership_confirm_divestiture(w.a[0], OF(car, SPEED), TEXT_BYTES("yours")));
    assert_memory_equal(assert_next(w.a[1], AttributeOwnershipAcquisitionNotification)->tag.data, "yours", 5);
    assert_false(owns(w.a[0], car, SPEED));
    /* One that is wanted already is confirmed at once. */
    assert_done(tt_ownership_acquire(w.a[2], OF(car, DOORS), NO_TAG));
    drain(w.a[0]);
    assert_done(tt_ownership_negotiated_divest(w.a[0], OF(car, DOORS), NO_TAG));
    assert_next(w.a[0], RequestDivestitureConfirmation);
    tt_rti_free(w.rti);
}

static void test_what_may_be_acquired(void **state)
{
    (void)state;
    uint32_t car;
    struct world w = cars(&car);
    assert_done(tt_declarations_unpublish_attributes(w.a[1], (struct tt_class_set){CAR, (uint32_t[]){DOORS}, 1}));
    assert_raises(tt_ownership_acquire(w.a[1], OF(car, DOORS), NO_TAG), AttributeNotPublished, "'doors'");
    assert_done(tt_declarations_unpublish_object_class(w.a[1], CAR));
    assert_raises(tt_ownership_acquire(w.a[1], OF(car, SPEED), NO_TAG), ObjectClassNotPublished, "'B'");
    assert_raises(tt_ownership_acquire(w.a[0], OF(car, SPEED), NO_TAG), FederateOwnsAttributes, "'A'");
    /* Attributes that are no longer published are no longer owned. */
    assert_done(tt_declarations_unpublish_attributes(w.a[0], (struct tt_class_set){CAR, (uint32_t[]){SPEED}, 1}));
    assert_false(owns(w.a[0], car, SPEED));
    assert_true(owns(w.a[0], car, DOORS));
    assert_int_equal(assert_next(w.a[2], RequestAttributeOwnershipAssumption)->handles[0], SPEED);
    assert_done(tt_ownership_acquire(w.a[2], OF(car, SPEED), NO_TAG));
    assert_next(w.a[2], AttributeOwnershipAcquisitionNotification);
    tt_rti_free(w.rti);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_registrant_owns),      cmocka_unit_test(test_unconditional_divestiture),
        cmocka_unit_test(test_acquisition),          cmocka_unit_test(test_negotiated_divestiture),
        cmocka_unit_test(test_what_may_be_acquired),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
