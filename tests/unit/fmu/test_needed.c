/* SPDX-License-Identifier: MIT */
/* Libraries that a library needs, found without loading any: files that hold what the loader reads, and nothing else. */
#include "failing.h"

#include <elf.h>
#include <link.h>
#include <stdlib.h>

#include "fmu/binary/elf.h"
#include "fmu/binary/binary.h"
#include "own_scratch.h"

/* An entry of a library: DT_NEEDED, DT_SONAME, DT_RUNPATH, DT_RPATH, and its text; the last is 0. */
struct entry {
    int64_t tag;
    const char *text;
};

enum { MOST_ENTRIES = 300 };

/* A file with a section of entries and one of their texts. */
static struct image {
    ElfW(Ehdr) header;
    ElfW(Shdr) sections[3];
    ElfW(Dyn) entries[MOST_ENTRIES];
    char texts[8192];
} image;

static void write_library(const char *name, const struct entry *entries)
{
    size_t count = 0, length = 1;
    memset(&image, 0, sizeof image);
    for (; entries[count].text; count++) {
        assert_true(count + 1 < MOST_ENTRIES && length + strlen(entries[count].text) < sizeof image.texts);
        image.entries[count].d_tag = entries[count].tag;
        image.entries[count].d_un.d_val = length;
        copy_text(image.texts + length, sizeof image.texts - length, entries[count].text);
        length += strlen(entries[count].text) + 1;
    }
    image.header.e_shoff = offsetof(struct image, sections);
    image.header.e_shnum = 3;
    image.sections[1] = (ElfW(Shdr)){.sh_type = SHT_DYNAMIC,
                                     .sh_link = 2,
                                     .sh_offset = offsetof(struct image, entries),
                                     .sh_size = sizeof image.entries};
    image.sections[2] =
        (ElfW(Shdr)){.sh_type = SHT_STRTAB, .sh_offset = offsetof(struct image, texts), .sh_size = sizeof image.texts};
    (void)scratch_write(&scratch, name, (const char *)&image, sizeof image);
}

static char visited[8192]; /* names of the files of the scratch folder, in order; of others nothing */

static void visit(void *context, const char *path)
{
    (void)context;
    size_t length = strlen(scratch.path);
    if (strncmp(path, scratch.path, length) == 0)
        snprintf(visited + strlen(visited), sizeof visited - strlen(visited), "%s ", path + length + 1);
}

/* The libraries visited from "fmu.so" on, and the missing one. */
static enum tutti_err look(const char *expected, const char *missing, bool is_nameless)
{
    struct tt_needed_missing found;
    char path[200];
    copy_text(path, sizeof path, scratch_path(&scratch, "fmu.so"));
    visited[0] = '\0';
    TRY(tt_binary_each_needed(path, visit, NULL, &found));
    assert_string_equal(visited, expected);
    assert_string_equal(found.name, missing);
    assert_int_equal(found.is_nameless, is_nameless);
    return TUTTI_OK;
}

static void make_folders(void)
{
    assert_int_equal(mkdir(scratch_path(&scratch, "lib"), 0700), 0);
    assert_int_equal(mkdir(scratch_path(&scratch, "more"), 0700), 0);
}

/* Folders that a library names, for itself and in the right order; each is visited once, also where they need each other. */
static void write_family(void)
{
    static char folders[400], absolute[200];
    copy_text(absolute, sizeof absolute, scratch_path(&scratch, "more/by_path.so"));
    snprintf(folders, sizeof folders, "/nowhere:${ORIGIN}/more:%s/lib/", scratch.path);
    write_library("fmu.so", (const struct entry[]){{DT_SONAME, "fmu.so"},
                                                   {DT_RUNPATH, "$ORIGIN/lib"},
                                                   {DT_RPATH, folders},
                                                   {DT_NEEDED, "one.so"},
                                                   {DT_NEEDED, "two.so"},
                                                   {DT_NEEDED, absolute},
                                                   {DT_NEEDED, "libc.so.6"},
                                                   {DT_NEEDED, "beside.so"},
                                                   {0, NULL}});
    write_library(
        "lib/one.so",
        (const struct entry[]){{DT_SONAME, "other name"}, {DT_NEEDED, "two.so"}, {DT_NEEDED, "one.so"}, {0, NULL}});
    write_library("more/two.so", (const struct entry[]){{DT_NEEDED, "one.so"}, {DT_STRSZ, "no name"}, {0, NULL}});
    write_library("more/by_path.so", (const struct entry[]){{0, NULL}});
    write_library("beside.so", (const struct entry[]){{DT_SONAME, "beside.so"}, {0, NULL}});
}

static const char family[] = "fmu.so lib/one.so more/two.so more/by_path.so beside.so ";

static void test_found(void **state)
{
    (void)state;
    make_folders();
    write_family();
    assert_ok(look(family, "", false));
}

static void test_missing(void **state)
{
    (void)state;
    write_library("fmu.so",
                  (const struct entry[]){
                      {DT_NEEDED, "beside.so"}, {DT_NEEDED, "nowhere.so"}, {DT_NEEDED, "/no/path.so"}, {0, NULL}});
    assert_ok(look("fmu.so ", "beside.so", false)); /* the first of them is reported */
    write_library("beside.so", (const struct entry[]){{DT_SONAME, "another"}, {0, NULL}});
    assert_ok(look("fmu.so beside.so ", "beside.so", true));
    write_library("fmu.so", (const struct entry[]){{DT_NEEDED, "/no/path.so"}, {0, NULL}});
    assert_ok(look("fmu.so ", "/no/path.so", false));
    (void)scratch_write(&scratch, "fmu.so", "", 0);
    assert_ok(look("fmu.so ", "", false));
}

/* More than anyone has: the rest is not looked at. */
static void test_many(void **state)
{
    (void)state;
    static char names[280][16];
    struct entry entries[281] = {{0, NULL}};
    for (int i = 0; i < 280; i++) {
        snprintf(names[i], sizeof names[i], "n%d.so", i);
        entries[i] = (struct entry){DT_NEEDED, names[i]};
    }
    write_library("fmu.so", entries);
    for (int i = 0; i < 280; i++)
        write_library(names[i], (const struct entry[]){{DT_SONAME, names[i]}, {0, NULL}});
    struct tt_needed_missing found;
    char path[200];
    copy_text(path, sizeof path, scratch_path(&scratch, "fmu.so"));
    visited[0] = '\0';
    assert_ok(tt_binary_each_needed(path, visit, NULL, &found));
    assert_string_equal(found.name, "");
    assert_non_null(strstr(visited, " n254.so "));
    assert_null(strstr(visited, " n255.so "));
}

static enum tutti_err look_at_family(void *context)
{
    (void)context;
    return look(family, "", false);
}

static void test_memory(void **state)
{
    (void)state;
    make_folders();
    write_family();
    fail_each_call(FAILING_MEMORY, ENOMEM, look_at_family, NULL);
}

/* ---- files that are not libraries ---- */

static void refuse(size_t at, unsigned char byte, const char *words)
{
    size_t size;
    char path[200];
    char *bytes = slurp_file(TUTTI_FOLDERS "/Dahlquist_fmi2/binaries/linux64/Dahlquist.so", &size);
    bytes[at] = (char)byte;
    copy_text(path, sizeof path, scratch_write(&scratch, "library.so", bytes, size));
    free(bytes);
    assert_fails(tt_elf_check(path, "an.fmu"), TUTTI_ERR_LOAD, words);
}

static void test_check(void **state)
{
    (void)state;
    assert_ok(tt_elf_check(TUTTI_FOLDERS "/Dahlquist_fmi2/binaries/linux64/Dahlquist.so", "an.fmu"));
    refuse(0, 'x', "is no shared library");
    refuse(offsetof(ElfW(Ehdr), e_type), ET_EXEC, "is no shared library");
    refuse(offsetof(ElfW(Ehdr), e_machine), 1, "another kind of machine");
    refuse(EI_CLASS, 7, "another kind of machine");
    refuse(offsetof(ElfW(Ehdr), e_phentsize), 7, "is damaged");
    refuse(offsetof(ElfW(Ehdr), e_phoff) + 7, 0x80, "is damaged"); /* before the file */
    refuse(offsetof(ElfW(Ehdr), e_phoff) + 6, 0x10, "is damaged"); /* after it */
    refuse(sizeof(ElfW(Ehdr)) + offsetof(ElfW(Phdr), p_filesz) + 5, 1, "is cut short");
    refuse(sizeof(ElfW(Ehdr)) + offsetof(ElfW(Phdr), p_offset) + 7, 0xff, "is cut short");
    (void)scratch_write(&scratch, "short.so", "\177ELF", 4);
    assert_fails(tt_elf_check(scratch_path(&scratch, "short.so"), "an.fmu"), TUTTI_ERR_LOAD, "is no shared library");
    assert_fails(tt_elf_check("/nowhere/x.so", "an.fmu"), TUTTI_ERR_LOAD, "cannot be read");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_found, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_missing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_many, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_check, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
