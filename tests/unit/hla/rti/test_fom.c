/* SPDX-License-Identifier: MIT */
/* Object models: classes, handles, modules that are merged, and modules that contradict each other. */
#include <stdlib.h>

#include "hla/fom/fom.h"
#include "hla/fom/fom_module.h"
#include "test.h"

#define V2010 "<objectModel xmlns=\"http://standards.ieee.org/IEEE1516-2010\">\n"
#define V2025 "<objectModel xmlns=\"http://standards.ieee.org/IEEE1516-2025\">\n"
#define OBJECTS(text) "<objects><objectClass><name>HLAobjectRoot</name>\n" text "</objectClass></objects>\n"
#define INTERACTIONS(text)                                                                                             \
    "<interactions><interactionClass><name>HLAinteractionRoot</name>\n" text "</interactionClass></interactions>\n"
#define END "</objectModel>\n"

enum { MOST = 4 };

static unsigned warnings;
static char warned[200];

static void keep(void *context, enum tt_severity severity, const char *file, unsigned line, const char *text)
{
    (void)context, (void)severity, (void)file, (void)line;
    warnings++;
    snprintf(warned, sizeof warned, "%s", text);
}

static enum tt_hla make(struct tt_fom **fom, const char *const *texts)
{
    struct tt_fom_module *modules[MOST];
    size_t count = 0;
    struct tt_findings findings = {.report = keep};
    warnings = 0;
    for (; texts[count]; count++) {
        char name[32];
        snprintf(name, sizeof name, "m%zu.xml", count);
        assert_ok(tt_fom_module_read_bytes(&modules[count], name, texts[count], strlen(texts[count])));
    }
    enum tt_hla exception = tt_fom_merge_modules(fom, modules, count, &findings);
    for (size_t i = 0; i < count; i++)
        tt_fom_module_free(modules[i]);
    return exception;
}

#define MODULES(...) ((const char *const[]){__VA_ARGS__, NULL})

static struct tt_fom *made(const char *const *texts)
{
    struct tt_fom *fom;
    if (make(&fom, texts) != TUTTI_HLA_OK)
        fail_msg("%s", tutti_err_message());
    return fom;
}

static void refused(const char *const *texts, enum tt_hla wanted, const char *words)
{
    struct tt_fom *fom;
    enum tt_hla got = make(&fom, texts);
    assert_null(fom);
    if (got != wanted || !strstr(tutti_err_message(), words))
        fail_msg("%s: \"%s\", expected %s: \"...%s...\"", tt_exception_name(got), tutti_err_message(),
                 tt_exception_name(wanted), words);
}

static void test_standard(void **state)
{
    (void)state;
    struct tt_fom *fom = made((const char *const[]){NULL});
    assert_int_equal(tt_fom_find_class(&fom->objects, "HLAobjectRoot"), TUTTI_FOM_OBJECT_ROOT);
    assert_int_equal(tt_fom_find_class(&fom->interactions, "HLAinteractionRoot"), TUTTI_FOM_INTERACTION_ROOT);
    assert_int_equal(tt_fom_find_member(&fom->objects, TUTTI_FOM_OBJECT_ROOT, "HLAprivilegeToDeleteObject"),
                     TUTTI_FOM_PRIVILEGE_TO_DELETE);
    assert_int_equal(tt_fom_find_entry(&fom->transportations, "HLAreliable"), TUTTI_FOM_RELIABLE);
    assert_int_equal(tt_fom_find_entry(&fom->transportations, "HLAbestEffort"), TUTTI_FOM_BEST_EFFORT);
    assert_true(tt_fom_find_entry(&fom->data_types, "HLAfloat64BE") > 0);
    assert_true(tt_fom_find_entry(&fom->data_types, "HLAunicodeString") > 0);
    assert_int_equal(tt_fom_find_class(&fom->objects, "HLAmanager.HLAfederate"), TUTTI_MOM_FEDERATE);
    assert_int_equal(tt_fom_find_class(&fom->objects, "HLAmanager.HLAfederation"), TUTTI_MOM_FEDERATION);
    assert_int_equal(tt_fom_find_member(&fom->objects, TUTTI_MOM_FEDERATE, "HLAlookahead"),
                     TUTTI_MOM_FEDERATE_HLAlookahead);
    assert_int_equal(tt_fom_find_member(&fom->objects, TUTTI_MOM_FEDERATION, "HLAautoProvide"),
                     TUTTI_MOM_FEDERATION_HLAautoProvide);
    uint32_t lost = tt_fom_find_class(&fom->interactions, "HLAmanager.HLAfederate.HLAreport.HLAreportFederateLost");
    assert_int_equal(lost, TUTTI_MOM_REPORT_FEDERATE_LOST);
    assert_int_equal(tt_fom_find_member(&fom->interactions, lost, "HLAfederate"), TUTTI_MOM_LOST_FEDERATE);
    assert_int_equal(tt_fom_find_member(&fom->interactions, lost, "HLAfaultDescription"), TUTTI_MOM_LOST_FAULT);
    assert_int_equal(warnings, 0);
    tt_fom_free(fom);
    tt_fom_free(NULL);
}

enum { VEHICLE = TUTTI_MOM_FEDERATION + 1 }; /* the first class after those of the standard */

static const char road[] = V2010 OBJECTS(
    "<objectClass><name>Vehicle</name>\n"
    "<attribute><name>speed</name><dataType>HLAfloat64BE</dataType><transportation>HLAbestEffort</transportation>"
    "<order>TimeStamp</order><dimensions><dimension>Lane</dimension></dimensions></attribute>\n"
    "<objectClass><name>Car</name><attribute><name>doors</name><dataType> HLAinteger32BE\n</dataType></attribute>"
    "</objectClass></objectClass>\n")
    INTERACTIONS(
        "<interactionClass><name>Crash</name><transportation>HLAreliable</transportation>"
        "<order>Receive</order><parameter><name>where</name><dataType>Place</dataType></parameter>"
        "</interactionClass>") "<dimensions><dimension><name>Lane</name><upperBound>8</upperBound></dimension></"
                               "dimensions>"
                               "<updateRates><updateRate><name>Slow</name><rate>2.5</rate></updateRate></updateRates>"
                               "<time><timeStamp><dataType>HLAfloat64Time</dataType></timeStamp></time>"
                               "<switches><autoProvide isEnabled=\"true\"/><automaticResignAction "
                               "resignAction=\"NoAction\"/></switches>" END;

static void test_classes(void **state)
{
    (void)state;
    struct tt_fom *fom = made(MODULES(road));
    uint32_t vehicle = tt_fom_find_class(&fom->objects, "Vehicle");
    uint32_t car = tt_fom_find_class(&fom->objects, "HLAobjectRoot.Vehicle.Car");
    assert_int_equal(vehicle, VEHICLE);
    assert_int_equal(car, VEHICLE + 1);
    assert_int_equal(tt_fom_find_class(&fom->objects, "Car"), 0);
    assert_string_equal(tt_fom_class(&fom->objects, car)->name, "HLAobjectRoot.Vehicle.Car");
    uint32_t speed = tt_fom_find_member(&fom->objects, car, "speed");
    const struct tt_fom_member *member = tt_fom_member(&fom->objects, speed);
    assert_int_equal(speed, tt_fom_find_member(&fom->objects, vehicle, "speed"));
    assert_int_equal(member->owner, vehicle);
    assert_int_equal(member->order, TUTTI_ORDER_TIMESTAMP);
    assert_int_equal(member->transportation, TUTTI_FOM_BEST_EFFORT);
    assert_string_equal(member->dimensions, "Lane ");
    uint32_t doors = tt_fom_find_member(&fom->objects, car, "doors");
    assert_string_equal(tt_fom_member(&fom->objects, doors)->data_type, "HLAinteger32BE");
    assert_int_equal(tt_fom_member(&fom->objects, doors)->order, TUTTI_ORDER_RECEIVE);
    assert_int_equal(tt_fom_find_member(&fom->objects, vehicle, "doors"), 0);
    assert_true(tt_fom_has_member(&fom->objects, car, speed));
    assert_false(tt_fom_has_member(&fom->objects, vehicle, doors));
    assert_false(tt_fom_has_member(&fom->objects, 99, doors));
    assert_false(tt_fom_has_member(&fom->objects, car, 99));
    assert_true(tt_fom_is_within(&fom->objects, car, TUTTI_FOM_OBJECT_ROOT));
    assert_false(tt_fom_is_within(&fom->objects, vehicle, car));
    assert_null(tt_fom_class(&fom->objects, 0));
    assert_null(tt_fom_class(&fom->objects, VEHICLE + 2));
    tt_fom_free(fom);
}

static void test_tables(void **state)
{
    (void)state;
    struct tt_fom *fom = made(MODULES(road));
    uint32_t crash = tt_fom_find_class(&fom->interactions, "Crash");
    assert_int_equal(tt_fom_class(&fom->interactions, crash)->transportation, TUTTI_FOM_RELIABLE);
    assert_int_equal(tt_fom_class(&fom->interactions, crash)->order, TUTTI_ORDER_RECEIVE);
    assert_int_equal(warnings, 1); /* the type of `where` */
    assert_non_null(strstr(warned, "'Place'"));
    assert_same_double(tt_fom_entry(&fom->dimensions, tt_fom_find_entry(&fom->dimensions, "Lane"))->number, 8);
    assert_same_double(tt_fom_entry(&fom->update_rates, tt_fom_find_entry(&fom->update_rates, "Slow"))->number, 2.5);
    assert_null(tt_fom_entry(&fom->update_rates, 2));
    assert_string_equal(fom->time, "HLAfloat64Time");
    assert_true(fom->switches.auto_provide);
    assert_true(fom->switches.non_regulated_grant);
    assert_int_equal(fom->switches.automatic_resign, TUTTI_RESIGN_NO_ACTION);
    tt_fom_free(fom);
}

#define CAR(text)                                                                                                      \
    V2010 OBJECTS("<objectClass><name>Vehicle</name><objectClass><name>Car</name>\n" text                              \
                  "</objectClass></objectClass>") END
#define NEW_CAR(text)                                                                                                  \
    V2025 OBJECTS("<objectClass><name>Vehicle</name><objectClass><name>Car</name>\n" text                              \
                  "</objectClass></objectClass>") END

static void test_merging(void **state)
{
    (void)state;
    struct tt_fom *fom = made(MODULES(
        road,
        V2010 OBJECTS("<objectClass><name>Vehicle</name><objectClass><name>Bus</name></objectClass></objectClass>") END,
        NEW_CAR("<attribute><name>doors</name></attribute><attribute><name>colour</name></attribute>")));
    assert_int_equal(tt_fom_find_class(&fom->objects, "Vehicle.Car"), VEHICLE + 1);
    uint32_t bus = tt_fom_find_class(&fom->objects, "Vehicle.Bus");
    assert_int_equal(bus, VEHICLE + 2);
    assert_true(tt_fom_find_member(&fom->objects, bus, "speed") > 0);
    assert_true(tt_fom_find_member(&fom->objects, VEHICLE + 1, "colour") > 0);
    tt_fom_free(fom);
    /* Extensions of the standard's declarations are permitted, as its own MIM does. */
    fom =
        made(MODULES(V2010 OBJECTS("<objectClass><name>HLAmanager</name><objectClass><name>HLAfederate</name>"
                                   "<attribute><name>HLAfederateHandle</name><dataType>HLAhandle</dataType></attribute>"
                                   "<attribute><name>HLAGALT</name><dataType>HLAlogicalTime</dataType></attribute>"
                                   "</objectClass></objectClass>") END));
    assert_true(tt_fom_find_member(&fom->objects, TUTTI_MOM_FEDERATE, "HLAGALT") > 0);
    tt_fom_free(fom);
    /* The same module twice changes nothing. */
    fom = made(MODULES(road, road));
    assert_int_equal(fom->objects.class_count, VEHICLE + 1);
    assert_int_equal(fom->objects.member_count, TUTTI_MOM_FEDERATION_HLAautoProvide + 2);
    tt_fom_free(fom);
    /* A switch that is set twice, and a class that is named first and declared later. */
    fom = made(MODULES(
        CAR(""), road,
        V2010 "<switches><autoProvide isEnabled=\"false\"/><nonRegulatedGrant isEnabled=\"false\"/></switches>" END));
    assert_true(fom->switches.auto_provide);
    assert_false(fom->switches.non_regulated_grant);
    assert_int_equal(warnings, 2);
    assert_int_equal(tt_fom_find_class(&fom->objects, "Vehicle.Car"), VEHICLE + 1);
    tt_fom_free(fom);
}

static void test_clashes(void **state)
{
    (void)state;
    refused(MODULES(road, CAR("<attribute><name>doors</name><dataType>HLAfloat64BE</dataType></attribute>")),
            TUTTI_HLA_InconsistentFOM, "m1.xml:4: attribute 'doors' is not the same as in m0.xml:5");
    refused(MODULES(road, CAR("<attribute><name>doors</name><order>TimeStamp</order></attribute>")),
            TUTTI_HLA_InconsistentFOM, "doors");
    refused(MODULES(road, CAR("<attribute><name>colour</name></attribute>")), TUTTI_HLA_InconsistentFOM,
            "cannot add to a class");
    refused(MODULES(road, CAR("<attribute><name>speed</name></attribute>")), TUTTI_HLA_InvalidFOM, "a class above it");
    refused(MODULES(road, V2010 INTERACTIONS(
                              "<interactionClass><name>Crash</name><order>TimeStamp</order></interactionClass>") END),
            TUTTI_HLA_InconsistentFOM, "interactionClass 'HLAinteractionRoot.Crash'");
    refused(MODULES(road, V2010
                    "<dimensions><dimension><name>Lane</name><upperBound>9</upperBound></dimension></dimensions>" END),
            TUTTI_HLA_InconsistentFOM, "dimension 'Lane'");
    refused(MODULES(V2010 "<dataTypes><basicDataRepresentations><basicData><name>HLAfloat64BE</name><size>32</size>"
                          "<endian>Big</endian></basicData></basicDataRepresentations></dataTypes>" END),
            TUTTI_HLA_InconsistentFOM, "HLAstandardMIM:");
    refused(
        MODULES(
            V2010
            "<dataTypes><simpleDataTypes><simpleData><name>Length</name><representation>HLAfloat64BE</representation>"
            "<units>m</units></simpleData></simpleDataTypes></dataTypes>" END,
            V2010
            "<dataTypes><simpleDataTypes><simpleData><name>Length</name><representation>HLAfloat64BE</representation>"
            "<units>ft</units></simpleData></simpleDataTypes></dataTypes>" END),
        TUTTI_HLA_InconsistentFOM, "'Length'");
}

static void test_remarks_do_not_count(void **state)
{
    (void)state;
    struct tt_fom *fom =
        made(MODULES(V2010 "<dataTypes><basicDataRepresentations><basicData><name>HLAfloat64BE</name><size>64</size>"
                           "<interpretation>A number</interpretation><endian>Big</endian><encoding>IEEE 754</encoding>"
                           "<semantics>no more</semantics></basicData></basicDataRepresentations></dataTypes>" END));
    assert_int_equal(warnings, 0);
    tt_fom_free(fom);
}

#define ENUMERATION(v, representation, enumerators)                                                                    \
    v "<dataTypes><enumeratedDataTypes><enumeratedData><name>Kind</name><representation>" representation               \
      "</representation>" enumerators "</enumeratedData></enumeratedDataTypes></dataTypes>" END
#define ENUMERATOR(name, value) "<enumerator><name>" name "</name><value>" value "</value></enumerator>"

static void test_enumerations_grow(void **state)
{
    (void)state;
    static const char one[] = ENUMERATION(V2025, "HLAoctet", ENUMERATOR("a", "1") ENUMERATOR("b", "2"));
    struct tt_fom *fom =
        made(MODULES(one, ENUMERATION(V2025, "HLAoctet", ENUMERATOR("b", "2") ENUMERATOR("c", "3")), one));
    const struct tt_fom_entry *entry = tt_fom_entry(&fom->data_types, tt_fom_find_entry(&fom->data_types, "Kind"));
    assert_non_null(
        strstr(entry->columns, "enumerator{name{a}value{1}}enumerator{name{b}value{2}}enumerator{name{c}value{3}}"));
    tt_fom_free(fom);
    refused(MODULES(one, ENUMERATION(V2025, "HLAoctet", ENUMERATOR("b", "3"))), TUTTI_HLA_InconsistentFOM, "'Kind'");
#define VARIANT(enumerator, type)                                                                                      \
    V2025 "<dataTypes><variantRecordDataTypes><variantRecordData><name>V</name><discriminant>d</discriminant>"         \
          "<alternative><enumerator>" enumerator "</enumerator><name>n</name><dataType>" type                          \
          "</dataType></alternative></variantRecordData></variantRecordDataTypes></dataTypes>" END
    fom = made(MODULES(VARIANT("a", "HLAbyte"), VARIANT("b", "HLAbyte")));
    tt_fom_free(fom);
    refused(MODULES(VARIANT("a", "HLAbyte"), VARIANT("a", "HLAoctet")), TUTTI_HLA_InconsistentFOM, "'V'");
    refused(MODULES(one, ENUMERATION(V2025, "HLAinteger32BE", ENUMERATOR("b", "2"))), TUTTI_HLA_InconsistentFOM,
            "'Kind'");
    refused(MODULES(one, ENUMERATION(V2010, "HLAoctet", ENUMERATOR("c", "3"))), TUTTI_HLA_InconsistentFOM, "'Kind'");
}

/* Modules of others rely on dimensions of further ones, and add to the roots. */
static void test_what_is_odd(void **state)
{
    (void)state;
    struct tt_fom *fom = made(MODULES(V2010 OBJECTS(
        "<attribute><name>id</name><dimensions><dimension>Fifth</dimension></dimensions></attribute>") END));
    assert_int_equal(warnings, 1);
    assert_non_null(strstr(warned, "'Fifth'"));
    assert_int_equal(tt_fom_find_member(&fom->objects, TUTTI_FOM_OBJECT_ROOT, "id"),
                     TUTTI_MOM_FEDERATION_HLAautoProvide + 1);
    tt_fom_free(fom);
}

static void test_invalid(void **state)
{
    (void)state;
    refused(MODULES(CAR("<attribute><name>a</name><order>Never</order></attribute>")), TUTTI_HLA_InvalidFOM,
            "m0.xml:4: ");
    refused(MODULES(CAR("<attribute><name>a</name><transportation>Horse</transportation></attribute>")),
            TUTTI_HLA_InvalidFOM, "'Horse'");
    refused(MODULES(CAR("<attribute><name>a.b</name></attribute>")), TUTTI_HLA_InvalidFOM, "dot");
    refused(MODULES(CAR("<attribute/>")), TUTTI_HLA_InvalidFOM, "no <name>");
    refused(MODULES(V2010 "<objects><objectClass><name>Root</name></objectClass></objects>" END), TUTTI_HLA_InvalidFOM,
            "HLAobjectRoot");
    refused(MODULES(V2010 "<switches><autoProvide isEnabled=\"maybe\"/></switches>" END), TUTTI_HLA_InvalidFOM,
            "'maybe'");
    refused(MODULES(V2010 "<switches><automaticResignAction resignAction=\"Sleep\"/></switches>" END),
            TUTTI_HLA_InvalidFOM, "'Sleep'");
}

static void test_names_have_a_bound(void **state)
{
    (void)state;
    struct tt_text text = {0};
    tt_text_append(&text, V2010 "<objects><objectClass><name>HLAobjectRoot</name>");
    for (int i = 0; i < 60; i++)
        tt_text_printf(&text, "<objectClass><name>%0100d</name>", i);
    for (int i = 0; i < 60; i++)
        tt_text_append(&text, "</objectClass>");
    tt_text_append(&text, "</objectClass></objects>" END);
    refused(MODULES(text.text), TUTTI_HLA_InvalidFOM, "longer than");
    tt_text_fini(&text);
    text = (struct tt_text){0};
    tt_text_append(&text, V2010 "<objects><objectClass><name>HLAobjectRoot</name>");
    for (int i = 0; i < 20001; i++)
        tt_text_printf(&text, "<attribute><name>a%d</name></attribute>", i);
    tt_text_append(&text, "</objectClass></objects>" END);
    refused(MODULES(text.text), TUTTI_HLA_InvalidFOM, "more than 20000");
    tt_text_fini(&text);
}

static void test_modules_of_others(void **state)
{
    (void)state;
    struct tt_fom_module *module;
    assert_fails(tt_fom_module_read_bytes(&module, "a.xml", "<a/>", 4), TUTTI_ERR_FORMAT, "a.xml:1: <a> found");
    assert_null(module);
    static const char old[] = "<objectModel xmlns=\"http://www.sisostds.org/schemas/IEEE1516-2000\"/>";
    assert_fails(tt_fom_module_read_bytes(&module, "a.xml", old, strlen(old)), TUTTI_ERR_FORMAT, "is not known");
    assert_fails(tt_fom_module_read_bytes(&module, "a.xml", "", 0), TUTTI_ERR_FORMAT, "no element");
    tt_fom_module_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_standard),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_merging),
        cmocka_unit_test(test_clashes),
        cmocka_unit_test(test_remarks_do_not_count),
        cmocka_unit_test(test_enumerations_grow),
        cmocka_unit_test(test_what_is_odd),
        cmocka_unit_test(test_invalid),
        cmocka_unit_test(test_names_have_a_bound),
        cmocka_unit_test(test_modules_of_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
