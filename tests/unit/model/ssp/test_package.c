/* SPDX-License-Identifier: MIT */
/* Packages: archives, folders, bare descriptions, and the references in them. */
#include "test.h"

#include <zip.h>

#include "scratch.h"
#include "model/ssp/package.h"

static struct scratch scratch;

static int set_up(void **state)
{
    (void)state;
    scratch_init(&scratch);
    assert_int_equal(mkdir(scratch_path(&scratch, "tmp"), 0700), 0);
    return setenv("TMPDIR", scratch.joined, 1);
}

static int tear_down(void **state)
{
    (void)state;
    scratch_fini(&scratch);
    return 0;
}

#define SSD(name) "<ssd:SystemStructureDescription xmlns:ssd='x' version='1.0' name='" name "'/>"

struct entry {
    const char *name, *text;
};

static const struct entry car[] = {{"VarB.ssd", SSD("second")},
                                   {"resources/a b.fmu", "x"},
                                   {"SystemStructure.ssd", SSD("car")},
                                   {"VarA.ssd", SSD("first")},
                                   {"resources/deep/inner.ssd", SSD("inner")},
                                   {"broken.ssd", "<"},
                                   {NULL, NULL}};

static void write_archive(const char *name, const struct entry *entries)
{
    zip_t *zip = zip_open(scratch_path(&scratch, name), ZIP_CREATE | ZIP_TRUNCATE, NULL);
    assert_non_null(zip);
    for (; entries->name; entries++) {
        zip_source_t *source = zip_source_buffer(zip, entries->text, strlen(entries->text), 0);
        assert_true(zip_file_add(zip, entries->name, source, ZIP_FL_ENC_UTF_8) >= 0);
    }
    assert_int_equal(zip_close(zip), 0);
}

static void write_text(const char *name, const char *text)
{
    scratch_write(&scratch, name, text, strlen(text));
}

static void make_folder(const char *name)
{
    assert_int_equal(mkdir(scratch_path(&scratch, name), 0700), 0);
}

static void link_to(const char *target, const char *name)
{
    assert_int_equal(symlink(target, scratch_path(&scratch, name)), 0);
}

static struct tt_package *open_package(const char *name, const char *shown)
{
    struct tt_package *package;
    assert_ok(tt_package_open(&package, scratch_path(&scratch, name), shown));
    assert_non_null(package);
    return package;
}

static void refuse_package(const char *name, enum tutti_err err, const char *words)
{
    struct tt_package *package;
    assert_fails(tt_package_open(&package, scratch_path(&scratch, name), "shown"), err, words);
    assert_null(package);
}

/* The variant is found and can be read. */
static void assert_variant(struct tt_package *package, const char *variant, const char *shown)
{
    struct tt_package_place place;
    struct tt_byte_source reader;
    assert_ok(tt_package_find_ssd(package, variant, &place));
    assert_string_equal(place.shown, shown);
    assert_null(place.fragment);
    char buffer[8];
    size_t got = 0;
    assert_int_equal(place.path[0], '/');
    assert_ok(tt_package_open_file(&place, &reader));
    assert_ok(reader.read(reader.context, buffer, 4, &got));
    assert_int_equal(got, 4);
    assert_memory_equal(buffer, "<ssd", 4);
    tt_package_close_file(&reader);
    tt_package_place_fini(&place);
}

static void test_archive(void **state)
{
    (void)state;
    write_archive("car.ssp", car);
    struct tt_package *package = open_package("car.ssp", "car.ssp");
    assert_int_equal(tt_package_variant_count(package), 4);
    static const char *const variants[] = {"SystemStructure.ssd", "VarA.ssd", "VarB.ssd", "broken.ssd"};
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(tt_package_variant(package, i), variants[i]);
    assert_variant(package, NULL, "car.ssp/SystemStructure.ssd");
    assert_variant(package, "VarA.ssd", "car.ssp/VarA.ssd");
    assert_variant(package, "second", "car.ssp/VarB.ssd");
    struct tt_package_place place;
    assert_fails(tt_package_find_ssd(package, "VarC.ssd", &place), TUTTI_ERR_ARGUMENT,
                 "car.ssp: there is no variant \"VarC.ssd\" in it; there is SystemStructure.ssd, VarA.ssd, VarB.ssd");
    assert_null(place.path);
    assert_ok(tt_package_find_ssd(package, NULL, &place));
    assert_true(exists(place.path));
    tt_package_free(package);
    assert_false(exists(place.path));
    tt_package_place_fini(&place);
    tt_package_free(NULL);
}

static void test_unusual_archives(void **state)
{
    (void)state;
    static const struct entry no_default[] = {{"A.ssd", SSD("same")}, {"B.SSD", SSD("same")}, {NULL, NULL}};
    write_archive("odd.ssp", no_default);
    struct tt_package *package = open_package("odd.ssp", "odd.ssp");
    struct tt_package_place place;
    assert_fails(tt_package_find_ssd(package, NULL, &place), TUTTI_ERR_ARGUMENT,
                 "no SystemStructure.ssd in it; choose one of A.ssd, B.SSD by odd.ssp#NAME");
    assert_fails(tt_package_find_ssd(package, "same", &place), TUTTI_ERR_ARGUMENT,
                 "both A.ssd and B.SSD call themselves \"same\"");
    assert_variant(package, "B.SSD", "odd.ssp/B.SSD");
    tt_package_free(package);

    static const struct entry none[] = {{"readme.txt", "x"}, {"resources/x.ssd", SSD("x")}, {NULL, NULL}};
    write_archive("none.ssp", none);
    refuse_package("none.ssp", TUTTI_ERR_FORMAT,
                   "no SystemStructure.ssd in it, and so not a system; there is readme.txt, resources/x.ssd");
    static const struct entry wrapped[] = {{"car/SystemStructure.ssd", SSD("x")}, {NULL, NULL}};
    write_archive("wrapped.ssp", wrapped);
    refuse_package("wrapped.ssp", TUTTI_ERR_FORMAT, "car/SystemStructure.ssd; pack it again from inside");
    static const struct entry fmu[] = {{"modelDescription.xml", "<x/>"}, {NULL, NULL}};
    write_archive("fmu.ssp", fmu);
    refuse_package("fmu.ssp", TUTTI_ERR_FORMAT, "an FMU: call it .fmu");
    write_text("text.ssp", "hello");
    refuse_package("text.ssp", TUTTI_ERR_FORMAT, "shown: ");
    refuse_package("text.ssp", TUTTI_ERR_FORMAT, "neither an FMU nor an SSP");
    refuse_package("missing.ssp", TUTTI_ERR_IO, "cannot read shown: No such file");
}

static struct tt_package *resolver;
static struct tt_package_place base;

static void assert_resolved(const char *uri, const char *path, const char *shown, const char *fragment)
{
    struct tt_package_place place;
    char wanted[4200];
    assert_ok(tt_package_resolve(resolver, &base, uri, &place));
    const char *folder = strstr(base.path, "/SystemStructure.ssd");
    int n = folder ? (int)(folder - base.path) : 0;
    snprintf(wanted, sizeof wanted, "%.*s%s", path[0] == '/' ? 0 : n + 1, base.path, path);
    assert_string_equal(place.path, wanted);
    assert_string_equal(place.shown, shown);
    if (fragment)
        assert_string_equal(place.fragment, fragment);
    else
        assert_null(place.fragment);
    tt_package_place_fini(&place);
}

static void assert_unresolved(const char *uri, const char *words)
{
    struct tt_package_place place;
    assert_fails(tt_package_resolve(resolver, &base, uri, &place), TUTTI_ERR_ARGUMENT, words);
    assert_null(place.path);
    assert_null(place.shown);
    assert_null(place.fragment);
}

/* References that never resolve to a file. */
static void assert_never_resolved(void)
{
    assert_unresolved("", "is empty");
    assert_unresolved("#", "names nothing");
    assert_unresolved("http://example.org/a.fmu", "is not a file; fetch it");
    assert_unresolved("urn:uuid:1", "is not a file");
    assert_unresolved("mailto:a@b", "is not a file");
    assert_unresolved("C:/a.fmu", "letter of a drive");
    assert_unresolved("resources\\a.fmu", "backslash");
    assert_unresolved("//server/share/a.fmu", "another machine");
    assert_unresolved("file://server/a.fmu", "another machine");
    assert_unresolved("file:a.fmu", "leave out \"file:\"");
    assert_unresolved("a.fmu?x=1", "has a query");
    assert_unresolved("100%.fmu", "write %25");
    assert_unresolved("a%2", "write %25");
    assert_unresolved("a#%zz", "write %25");
    assert_unresolved("a%00.fmu", "%00");
}

static void test_references_in_packages(void **state)
{
    (void)state;
    write_archive("car.ssp", car);
    resolver = open_package("car.ssp", "x/car.ssp");
    assert_ok(tt_package_find_ssd(resolver, NULL, &base));
    assert_resolved("resources/a.fmu", "resources/a.fmu", "x/car.ssp/resources/a.fmu", NULL);
    assert_resolved(" resources/a.fmu\n", "resources/a.fmu", "x/car.ssp/resources/a.fmu", NULL);
    assert_resolved("./resources//./a%20b.fmu", "resources/a b.fmu", "x/car.ssp/resources/a b.fmu", NULL);
    assert_resolved("resources%2Fa b%25\xc3\xa4.fmu", "resources/a b%\xc3\xa4.fmu",
                    "x/car.ssp/resources/a b%\xc3\xa4.fmu", NULL);
    assert_resolved("resources/deep/../a.fmu", "resources/a.fmu", "x/car.ssp/resources/a.fmu", NULL);
    assert_resolved("sub.ssp#Var%20B.ssd", "sub.ssp", "x/car.ssp/sub.ssp", "Var B.ssd");
    assert_resolved("sub.ssp#", "sub.ssp", "x/car.ssp/sub.ssp", NULL);
    assert_resolved("./a:b.fmu", "a:b.fmu", "x/car.ssp/a:b.fmu", NULL);
    assert_resolved("#id%20", "SystemStructure.ssd", "x/car.ssp/SystemStructure.ssd", "id ");
    assert_never_resolved();
    assert_unresolved("../a.fmu", "leads out of the package");
    assert_unresolved("resources/../../a.fmu", "leads out");
    assert_unresolved("%2e%2E/a.fmu", "leads out");
    assert_unresolved("..%2F..%2Fetc/passwd", "leads out");
    assert_unresolved("/etc/passwd", "not a path inside of the package");
    assert_unresolved("%2Fetc/passwd", "not a path inside");
    assert_unresolved("file:///etc/passwd", "not a path inside");
    assert_unresolved("resources%5C..%5Ca.fmu", "not a path inside");

    /* From deeper, up is not out. */
    struct tt_package_place top = base;
    assert_ok(tt_package_resolve(resolver, &top, "resources/deep/inner.ssd", &base));
    struct tt_package_place place;
    assert_ok(tt_package_resolve(resolver, &base, "../../VarA.ssd", &place));
    assert_string_equal(place.shown, "x/car.ssp/VarA.ssd");
    tt_package_place_fini(&place);
    assert_ok(tt_package_resolve(resolver, &base, "near.fmu", &place));
    assert_string_equal(place.shown, "x/car.ssp/resources/deep/near.fmu");
    tt_package_place_fini(&place);
    assert_unresolved("../../../a.fmu", "leads out");
    tt_package_place_fini(&base);
    tt_package_place_fini(&top);
    tt_package_free(resolver);
}

static void test_bare(void **state)
{
    (void)state;
    make_folder("bare");
    write_text("bare/SystemStructure.ssd", SSD("alone"));
    write_text("bare/Other.ssd", SSD("other"));
    resolver = open_package("bare/SystemStructure.ssd", "bare/SystemStructure.ssd");
    assert_int_equal(tt_package_variant_count(resolver), 1);
    assert_variant(resolver, NULL, "bare/SystemStructure.ssd");
    assert_variant(resolver, "SystemStructure.ssd", "bare/SystemStructure.ssd");
    assert_variant(resolver, "alone", "bare/SystemStructure.ssd");
    struct tt_package_place place;
    assert_fails(tt_package_find_ssd(resolver, "Other.ssd", &place), TUTTI_ERR_ARGUMENT,
                 "there is SystemStructure.ssd");
    assert_ok(tt_package_find_ssd(resolver, NULL, &base));
    assert_resolved("a%20b.fmu", "a b.fmu", "bare/a b.fmu", NULL);
    assert_resolved("././a.fmu", "a.fmu", "bare/a.fmu", NULL);
    assert_resolved("../up/a.fmu", "../up/a.fmu", "bare/../up/a.fmu", NULL);
    assert_resolved("/opt/a.fmu", "/opt/a.fmu", "/opt/a.fmu", NULL);
    assert_resolved("file:///opt/a%20b.fmu", "/opt/a b.fmu", "/opt/a b.fmu", NULL);
    assert_resolved("file:/opt/a.fmu", "/opt/a.fmu", "/opt/a.fmu", NULL);
    assert_resolved("FILE://localhost/opt/a.ssp#B", "/opt/a.ssp", "/opt/a.ssp", "B");
    assert_resolved("#s", "SystemStructure.ssd", "bare/SystemStructure.ssd", "s");
    assert_never_resolved();
    tt_package_place_fini(&base);
    tt_package_free(resolver);

    /* In the present folder nothing stands before the name. */
    resolver = open_package("bare/Other.ssd", "Other.ssd");
    assert_variant(resolver, NULL, "Other.ssd");
    assert_ok(tt_package_find_ssd(resolver, NULL, &base));
    assert_ok(tt_package_resolve(resolver, &base, "a.fmu", &place));
    assert_string_equal(place.shown, "a.fmu");
    tt_package_place_fini(&place);
    tt_package_place_fini(&base);
    tt_package_free(resolver);
}

static void test_folder(void **state)
{
    (void)state;
    make_folder("folder");
    make_folder("folder/resources");
    write_text("folder/resources/a.fmu", "x");
    refuse_package("folder", TUTTI_ERR_FORMAT,
                   "no SystemStructure.ssd in the folder, and so not a system; there is resources");
    write_text("folder/SystemStructure.ssd", SSD("f"));
    write_text("secret", "x");
    link_to("../../secret", "folder/resources/out.fmu");
    link_to("a.fmu", "folder/resources/in.fmu");
    link_to("../../..", "folder/resources/up");
    link_to("nowhere", "folder/resources/dangling.fmu");
    link_to("../bare/Other.ssd", "folder/Linked.ssd");
    resolver = open_package("folder", "folder/");
    assert_variant(resolver, NULL, "folder/SystemStructure.ssd");
    assert_ok(tt_package_find_ssd(resolver, NULL, &base));
    assert_resolved("resources/a.fmu", "resources/a.fmu", "folder/resources/a.fmu", NULL);
    assert_resolved("resources/in.fmu", "resources/in.fmu", "folder/resources/in.fmu", NULL);
    assert_resolved("resources/dangling.fmu", "resources/dangling.fmu", "folder/resources/dangling.fmu", NULL);
    assert_unresolved("resources/out.fmu", "folder/resources/out.fmu is a link that leads out of the package");
    assert_unresolved("resources/up/etc", "leads out");
    assert_unresolved("../secret", "leads out");
    struct tt_package_place place;
    assert_fails(tt_package_find_ssd(resolver, "Linked.ssd", &place), TUTTI_ERR_ARGUMENT, "leads out");
    assert_null(place.path);
    tt_package_place_fini(&base);
    tt_package_free(resolver);
}

/* Some of many files are named. */
static void test_many_variants(void **state)
{
    (void)state;
    struct tt_package_place place = {0};
    char name[40];
    make_folder("many");
    for (int i = 0; i < 12; i++) {
        snprintf(name, sizeof name, "many/V%02d.ssd", i);
        write_text(name, i == 11 ? "no document" : SSD("v"));
    }
    struct tt_package *package = open_package("many", "many");
    assert_int_equal(tt_package_variant_count(package), 12);
    static const char some[] = "V00.ssd, V01.ssd, V02.ssd, V03.ssd, V04.ssd, V05.ssd, V06.ssd, V07.ssd, ...";
    assert_fails(tt_package_find_ssd(package, "none", &place), TUTTI_ERR_ARGUMENT, some);
    assert_fails(tt_package_find_ssd(package, NULL, &place), TUTTI_ERR_ARGUMENT, some);
    assert_fails(tt_package_find_ssd(package, "v", &place), TUTTI_ERR_ARGUMENT, "both V00.ssd and V01.ssd");
    tt_package_free(package);
}

static void test_is(void **state)
{
    (void)state;
    make_folder("empty");
    make_folder("dir.ssp");
    assert_true(tt_package_is_system("nowhere.ssp"));
    assert_true(tt_package_is_system("nowhere.SSD"));
    assert_false(tt_package_is_system("nowhere.fmu"));
    assert_false(tt_package_is_system("ssp"));
    assert_true(tt_package_is_system(scratch_path(&scratch, "folder")));
    assert_false(tt_package_is_system(scratch_path(&scratch, "empty")));
    assert_false(tt_package_is_system(scratch_path(&scratch, "dir.ssp")));
}

static void test_places(void **state)
{
    (void)state;
    struct tt_byte_source reader;
    struct tt_package_place place = {.shown = "shown.ssv", .path = (char[]){"/nowhere/at/all"}};
    assert_fails(tt_package_open_file(&place, &reader), TUTTI_ERR_IO, "cannot read shown.ssv: No such file");
    tt_package_close_file(&reader);
    tt_package_close_file(&reader); /* twice does no harm */
    place.path = scratch.path;
    assert_fails(tt_package_open_file(&place, &reader), TUTTI_ERR_IO, "it is a folder");
    tt_package_close_file(&reader);
    char pipe[4200];
    copy_text(pipe, sizeof pipe, scratch_path(&scratch, "pipe"));
    assert_int_equal(mkfifo(pipe, 0600), 0);
    place.path = pipe;
    assert_fails(tt_package_open_file(&place, &reader), TUTTI_ERR_IO, "not a plain file");
    tt_package_close_file(&reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_archive),
        cmocka_unit_test(test_unusual_archives),
        cmocka_unit_test(test_references_in_packages),
        cmocka_unit_test(test_bare),
        cmocka_unit_test(test_folder),
        cmocka_unit_test(test_many_variants),
        cmocka_unit_test(test_is),
        cmocka_unit_test(test_places),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
