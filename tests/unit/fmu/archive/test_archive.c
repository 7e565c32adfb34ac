/* SPDX-License-Identifier: MIT */
/* Archives, good and hostile. The hostile ones come from tools/make_hostile_archives.py. */
#include "test.h"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "fmu/archive/archive.h"
#include "scratch.h"

static struct scratch scratch; /* hostile/ has the archives; tmp/ is where they are unpacked */

static int set_up(void **state)
{
    (void)state;
    scratch_init(&scratch);
    char command[4500];
    snprintf(command, sizeof command, "python3 '%s/tools/make_hostile_archives.py' '%s'", TUTTI_SOURCE_DIR,
             scratch_path(&scratch, "hostile"));
    if (system(command) != 0)
        fail_msg("cannot run %s", command);
    assert_int_equal(mkdir(scratch_path(&scratch, "tmp"), 0700), 0);
    return setenv("TMPDIR", scratch.joined, 1);
}

static int tear_down(void **state)
{
    (void)state;
    scratch_fini(&scratch);
    return 0;
}

static int count_files(const char *path)
{
    int count = 0;
    DIR *folder = opendir(path);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(folder);
    return count;
}

/* No file is left, neither where it belongs nor beside it. */
static void assert_nothing_left(void)
{
    assert_int_equal(count_files(scratch_path(&scratch, "tmp")), 0);
    assert_int_equal(count_files(scratch.path), 2);
    assert_false(exists("/tmp/evil"));
    assert_false(exists("/evil"));
}

static const char *hostile(const char *name)
{
    char path[100];
    snprintf(path, sizeof path, "hostile/%s", name);
    return scratch_path(&scratch, path);
}

static struct tt_archive *open_good(const char *path)
{
    struct tt_archive *archive = NULL;
    if (tt_archive_open(&archive, path) != TUTTI_OK)
        fail_msg("%s", tutti_err_message());
    return archive;
}

static enum tutti_err read_entry(struct tt_archive *archive, const char *name, char *data, size_t room, size_t *n)
{
    struct tt_byte_source reader;
    enum tutti_err err = tt_archive_open_entry(archive, name, &reader);
    *n = 0;
    for (size_t got = 1; err == TUTTI_OK && got > 0; *n += err == TUTTI_OK ? got : 0) {
        size_t most = room - *n < 777 ? room - *n : 777;
        err = reader.read(reader.context, data + *n, most, &got);
    }
    tt_archive_close_entry(archive);
    return err;
}

/* What opening and unpacking must give, and words that the message must have. */
static const struct {
    const char *name;
    enum tutti_err open, unpack;
    const char *words;
} cases[] = {
    {"good.fmu", TUTTI_OK, TUTTI_OK, ""},
    {"backslashes.fmu", TUTTI_OK, TUTTI_OK, ""},
    {"dots.fmu", TUTTI_OK, TUTTI_OK, ""},
    {"folder-twice.fmu", TUTTI_OK, TUTTI_OK, ""},
    {"utf8.fmu", TUTTI_OK, TUTTI_OK, ""},
    {"cp437.fmu", TUTTI_OK, TUTTI_OK, ""},
    {"control-cp437.fmu", TUTTI_OK, TUTTI_OK, ""}, /* pictures, in that alphabet */
    {"nul-unicode-path.fmu", TUTTI_OK, TUTTI_OK, ""},
    {"bomb-nested.fmu", TUTTI_OK, TUTTI_OK, ""}, /* an archive in an archive is just a file */
    {"large-description.fmu", TUTTI_OK, TUTTI_OK, ""},
    {"entries-100000.fmu", TUTTI_OK, TUTTI_OK, ""},
    {"traversal.fmu", TUTTI_ERR_FORMAT, TUTTI_OK, "'../evil'"},
    {"traversal-deep.fmu", TUTTI_ERR_FORMAT, TUTTI_OK, "leads out"},
    {"traversal-end.fmu", TUTTI_ERR_FORMAT, TUTTI_OK, "leads out"},
    {"traversal-backslash.fmu", TUTTI_ERR_FORMAT, TUTTI_OK, "leads out"},
    {"absolute.fmu", TUTTI_ERR_FORMAT, TUTTI_OK, "'/tmp/evil'"},
    {"absolute-backslash.fmu", TUTTI_ERR_FORMAT, TUTTI_OK, "root"},
    {"share.fmu", TUTTI_ERR_FORMAT, TUTTI_OK, "root"},
    {"drive.fmu", TUTTI_ERR_FORMAT, TUTTI_OK, "drive"},
    {"drive-relative.fmu", TUTTI_ERR_FORMAT, TUTTI_OK, "drive"},
    {"no-name.fmu", TUTTI_ERR_FORMAT, TUTTI_OK, "no name"},
    {"control.fmu", TUTTI_ERR_FORMAT, TUTTI_OK, "damaged"}, /* libzip finds this one first */
    {"control-c1.fmu", TUTTI_ERR_FORMAT, TUTTI_OK, "control characters"},
    {"delete.fmu", TUTTI_ERR_FORMAT, TUTTI_OK, "control characters"},
    {"newline.fmu", TUTTI_ERR_FORMAT, TUTTI_OK, "'a b' is refused: its name has control characters"},
    {"nul.fmu", TUTTI_ERR_FORMAT, TUTTI_OK, "leads out"},
    {"bad-utf8.fmu", TUTTI_ERR_FORMAT, TUTTI_OK, "damaged"},
    {"symlink.fmu", TUTTI_ERR_FORMAT, TUTTI_OK, "link"},
    {"symlink-then-file.fmu", TUTTI_ERR_FORMAT, TUTTI_OK, "link"},
    {"device.fmu", TUTTI_ERR_FORMAT, TUTTI_OK, "'resources/null' is refused: it is a device"},
    {"pipe.fmu", TUTTI_ERR_FORMAT, TUTTI_OK, "special file"},
    {"duplicate.fmu", TUTTI_ERR_FORMAT, TUTTI_OK, "two entries have the name 'a'"},
    {"duplicate-description.fmu", TUTTI_ERR_FORMAT, TUTTI_OK, "'modelDescription.xml'"},
    {"duplicate-slash.fmu", TUTTI_ERR_FORMAT, TUTTI_OK, "'a/'"},
    {"duplicate-backslash.fmu", TUTTI_ERR_FORMAT, TUTTI_OK, "'a/b'"},
    {"duplicate-dot.fmu", TUTTI_ERR_FORMAT, TUTTI_OK, "'a/b'"},
    {"duplicate-nowhere.fmu", TUTTI_ERR_FORMAT, TUTTI_OK, "'a'"},
    {"file-as-folder.fmu", TUTTI_ERR_FORMAT, TUTTI_OK, "'a' cannot be next to 'a/b'"},
    {"folder-as-file.fmu", TUTTI_ERR_FORMAT, TUTTI_OK, "'a/b' cannot be next to 'a/b/c'"},
    {"too-deep.fmu", TUTTI_ERR_FORMAT, TUTTI_OK, "too deep"},
    {"long-name.fmu", TUTTI_ERR_FORMAT, TUTTI_OK, "too long"},
    {"long-part.fmu", TUTTI_ERR_FORMAT, TUTTI_OK, "too long"},
    {"size-larger.fmu", TUTTI_OK, TUTTI_ERR_FORMAT, "'resources/a' (fewer bytes"},
    {"size-smaller.fmu", TUTTI_OK, TUTTI_ERR_FORMAT, "'resources/a' (more bytes"},
    {"size-smaller-stored.fmu", TUTTI_OK, TUTTI_ERR_FORMAT, "'resources/a' (more bytes"},
    {"size-huge.fmu", TUTTI_ERR_LIMIT, TUTTI_OK, "unpack it yourself"},
    {"packed-huge.fmu", TUTTI_ERR_FORMAT, TUTTI_OK, "larger than the archive"},
    {"encrypted.fmu", TUTTI_ERR_FORMAT, TUTTI_OK, "encrypted"},
    {"bad-crc.fmu", TUTTI_OK, TUTTI_ERR_FORMAT, "'resources/a' (wrong checksum)"},
    {"bad-deflate.fmu", TUTTI_OK, TUTTI_ERR_FORMAT, "cannot be decompressed"},
    {"deflate64.fmu", TUTTI_ERR_FORMAT, TUTTI_OK, "'deflate' and 'store'"},
    {"bzip2.fmu", TUTTI_ERR_FORMAT, TUTTI_OK, "'deflate' and 'store'"},
    {"lzma.fmu", TUTTI_ERR_FORMAT, TUTTI_OK, "'deflate' and 'store'"},
    {"nothing-packed.fmu", TUTTI_OK, TUTTI_ERR_FORMAT, "fewer bytes"},
    {"truncated.fmu", TUTTI_ERR_FORMAT, TUTTI_OK, "cut off"},
    {"truncated-end.fmu", TUTTI_ERR_FORMAT, TUTTI_OK, "cut off"},
    {"cut-front.fmu", TUTTI_ERR_FORMAT, TUTTI_OK, "cut off"},
    {"text.fmu", TUTTI_ERR_FORMAT, TUTTI_OK, "not a ZIP archive"},
    {"empty.fmu", TUTTI_ERR_FORMAT, TUTTI_OK, "the file is empty"},
    {"no-entries.fmu", TUTTI_ERR_FORMAT, TUTTI_OK, "the archive is empty"},
    {"split.fmu", TUTTI_ERR_FORMAT, TUTTI_OK, "split"},
    {"wrong-count.fmu", TUTTI_ERR_FORMAT, TUTTI_OK, "damaged"},
    {"many-tables.fmu", TUTTI_ERR_FORMAT, TUTTI_OK, "damaged"},
    {"bomb.fmu", TUTTI_ERR_LIMIT, TUTTI_OK, "64 MB are packed into 64 kB"},
    {"bomb-overlapping.fmu", TUTTI_ERR_LIMIT, TUTTI_OK, "fill disks"},
    {"bomb-declared.fmu", TUTTI_ERR_LIMIT, TUTTI_OK, "more than is allowed"},
    {"entries-100001.fmu", TUTTI_ERR_LIMIT, TUTTI_OK, "100001 entries"},
    {"many-tables-large.fmu", TUTTI_ERR_LIMIT, TUTTI_OK, "table of contents"},
};
enum { CASES = sizeof cases / sizeof *cases };

static void test_every_archive_has_a_case(void **state)
{
    (void)state;
    assert_int_equal(count_files(scratch_path(&scratch, "hostile")), CASES);
}

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        struct tt_archive *archive = NULL;
        const char *path = hostile(cases[i].name), *folder = NULL;
        enum tutti_err opened = tt_archive_open(&archive, path);
        enum tutti_err unpacked = opened == TUTTI_OK ? tt_archive_unpack(archive, &folder) : TUTTI_OK;
        if (opened != cases[i].open || unpacked != cases[i].unpack)
            fail_msg("%s: opening gives '%s', unpacking '%s': %s", cases[i].name, tutti_err_name(opened),
                     tutti_err_name(unpacked), tutti_err_message());
        if (opened != TUTTI_OK || unpacked != TUTTI_OK) {
            assert_contains(tutti_err_message(), path);
            assert_contains(tutti_err_message(), cases[i].words);
        }
        if (opened == TUTTI_OK && unpacked != TUTTI_OK) { /* a failed attempt leaves nothing, and can be repeated */
            assert_int_equal(count_files(scratch_path(&scratch, "tmp")), 0);
            assert_int_equal(tt_archive_unpack(archive, &folder), unpacked);
        }
        tt_archive_free(archive);
        assert_nothing_left();
    }
}

static void test_names(void **state)
{
    (void)state;
    struct tt_archive *archive = open_good(hostile("good.fmu"));
    assert_int_equal(tt_archive_count(archive), 8);
    assert_string_equal(tt_archive_name(archive, 0), "modelDescription.xml");
    assert_string_equal(tt_archive_name(archive, 3), "resources/");
    for (size_t i = 0; i < tt_archive_count(archive); i++)
        assert_true(tt_archive_has(archive, tt_archive_name(archive, i)));
    assert_true(tt_archive_has(archive, "binaries/")); /* has no explicit entry */
    assert_true(tt_archive_has(archive, "binaries/linux64/"));
    static const char *const absent[] = {"",
                                         "/",
                                         "x",
                                         "resources",
                                         "modelDescription.xml/",
                                         "modelDescription",
                                         "binaries",
                                         "binaries/linux6/",
                                         "binaries/linux64/m.so/",
                                         "MODELDESCRIPTION.XML",
                                         "zzz/"};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
        if (tt_archive_has(archive, absent[i]))
            fail_msg("'%s' is not there", absent[i]);
    tt_archive_free(archive);

    archive = open_good(hostile("backslashes.fmu"));
    assert_true(tt_archive_has(archive, "binaries/linux64/m.so"));
    assert_true(tt_archive_has(archive, "resources/"));
    tt_archive_free(archive);
    archive = open_good(hostile("dots.fmu"));
    assert_int_equal(tt_archive_count(archive), 2);
    assert_true(tt_archive_has(archive, "modelDescription.xml"));
    assert_true(tt_archive_has(archive, "resources/a.txt"));
    tt_archive_free(archive);
    archive = open_good(hostile("cp437.fmu"));
    assert_true(tt_archive_has(archive, "resources/Gr\xc3\xb6\xc3\x9f"
                                        "e.txt"));
    tt_archive_free(archive);
    archive = open_good(hostile("entries-100000.fmu"));
    for (size_t i = 0; i < 100000; i += 7)
        assert_true(tt_archive_has(archive, tt_archive_name(archive, i)));
    tt_archive_free(archive);
}

static void test_read(void **state)
{
    (void)state;
    struct tt_archive *archive = open_good(hostile("good.fmu"));
    char data[20000];
    size_t n;
    assert_int_equal(read_entry(archive, "modelDescription.xml", data, sizeof data, &n), TUTTI_OK);
    assert_memory_equal(data, "<?xml version=\"1.0\"?><fmi", 25);
    assert_int_equal(n, 61);
    assert_int_equal(read_entry(archive, "resources/stored.bin", data, sizeof data, &n), TUTTI_OK);
    assert_int_equal(n, 256 * 40);
    for (size_t i = 0; i < n; i++)
        assert_int_equal((unsigned char)data[i], i % 256);
    assert_int_equal(read_entry(archive, "resources/empty.txt", data, sizeof data, &n), TUTTI_OK);
    assert_int_equal(n, 0);
    assert_int_equal(read_entry(archive, "resources/", data, sizeof data, &n), TUTTI_ERR_FORMAT);
    assert_int_equal(read_entry(archive, "no such", data, sizeof data, &n), TUTTI_ERR_FORMAT);
    assert_contains(tutti_err_message(), "'no such'");
    struct tt_byte_source reader; /* an entry that is begun and left goes with the archive */
    assert_int_equal(tt_archive_open_entry(archive, "modelDescription.xml", &reader), TUTTI_OK);
    tt_archive_free(archive);

    archive = open_good(hostile("bad-crc.fmu"));
    assert_int_equal(read_entry(archive, "resources/a", data, sizeof data, &n), TUTTI_ERR_FORMAT);
    assert_int_equal(read_entry(archive, "modelDescription.xml", data, sizeof data, &n), TUTTI_OK);
    tt_archive_free(archive);
    archive = open_good(hostile("size-smaller.fmu"));
    char *much = malloc(1 << 20);
    assert_non_null(much);
    assert_int_equal(read_entry(archive, "resources/a", much, 1 << 20, &n), TUTTI_ERR_FORMAT);
    assert_true(n <= 100); /* and the surplus is not handed out */
    free(much);
    tt_archive_free(archive);
}

static void test_unpack(void **state)
{
    (void)state;
    struct tt_archive *archive = open_good(hostile("good.fmu"));
    const char *folder, *again;
    assert_int_equal(tt_archive_unpack(archive, &folder), TUTTI_OK);
    assert_int_equal(tt_archive_unpack(archive, &again), TUTTI_OK);
    assert_ptr_equal(folder, again);
    assert_int_equal(folder[0], '/');
    assert_int_not_equal(folder[strlen(folder) - 1], '/');
    char path[4200];
    struct stat st;
    snprintf(path, sizeof path, "%s/resources/stored.bin", folder);
    size_t n;
    char *data = slurp_file(path, &n);
    assert_int_equal(n, 256 * 40);
    free(data);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    snprintf(path, sizeof path, "%s/resources/run.sh", folder); /* executable; its set-user-ID bit is gone */
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    snprintf(path, sizeof path, "%s/binaries/linux64/m.so", folder);
    assert_true(exists(path));
    snprintf(path, sizeof path, "%s/sources", folder);
    assert_false(exists(path));
    snprintf(path, sizeof path, "%s/documentation", folder);
    assert_false(exists(path));
    size_t m; /* reading still works */
    char text[100];
    assert_int_equal(read_entry(archive, "sources/m.c", text, sizeof text, &m), TUTTI_OK);
    assert_memory_equal(text, "int x;\n", 7);
    tt_archive_free(archive);
    assert_nothing_left();
}

/* Every prefix of an archive, and every archive with one byte changed, is refused or read, and nothing worse. */
static void test_damage(void **state)
{
    (void)state;
    size_t n;
    char *good = slurp_file(hostile("utf8.fmu"), &n);
    char path[4200];
    copy_text(path, sizeof path, hostile("damaged.fmu"));
    for (size_t i = 0; i < 2 * n; i++) {
        char *copy = malloc(n + 1);
        assert_non_null(copy);
        memcpy(copy, good, n);
        if (i >= n)
            copy[i - n] = (char)(copy[i - n] ^ 0x55);
        scratch_write(&scratch, "hostile/damaged.fmu", copy, i < n ? i : n);
        struct tt_archive *archive = NULL;
        const char *folder;
        if (tt_archive_open(&archive, path) == TUTTI_OK && tt_archive_unpack(archive, &folder) != TUTTI_OK)
            assert_contains(tutti_err_message(), path);
        if (i < n)
            assert_null(archive);
        tt_archive_free(archive);
        free(copy);
    }
    unlink(path);
    free(good);
    assert_nothing_left();
}

static void test_other_files(void **state)
{
    (void)state;
    struct tt_archive *archive = NULL;
    assert_int_equal(tt_archive_open(&archive, "/no/such.fmu"), TUTTI_ERR_IO);
    assert_contains(tutti_err_message(), "/no/such.fmu");
    assert_contains(tutti_err_message(), "No such file");
    assert_int_equal(tt_archive_open(&archive, "/dev/null"), TUTTI_ERR_FORMAT);
    assert_int_equal(mkfifo(hostile("a-pipe"), 0600), 0);
    assert_int_equal(tt_archive_open(&archive, scratch.joined), TUTTI_ERR_FORMAT); /* and does not wait for a writer */
    unlink(scratch.joined);
    assert_null(archive);
}

static void test_archive_changes_while_open(void **state)
{
    (void)state;
    size_t n;
    char *good = slurp_file(hostile("good.fmu"), &n);
    struct tt_archive *archive = open_good(scratch_write(&scratch, "hostile/shrinks.fmu", good, n));
    free(good);
    assert_int_equal(truncate(hostile("shrinks.fmu"), 100), 0);
    const char *folder;
    assert_int_equal(tt_archive_unpack(archive, &folder), TUTTI_ERR_FORMAT);
    assert_contains(tutti_err_message(), "shrinks.fmu");
    tt_archive_free(archive);
    unlink(hostile("shrinks.fmu"));
    assert_nothing_left();
}

/* A limit on file sizes stands in for a full disk: the same path through the code. */
static int unpack_with_limit(void)
{
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){5000, 5000});
    struct tt_archive *archive = NULL;
    const char *folder;
    if (tt_archive_open(&archive, hostile("good.fmu")) != TUTTI_OK)
        return 1;
    if (tt_archive_unpack(archive, &folder) != TUTTI_ERR_IO)
        return 2;
    const char *message = tutti_err_message();
    if (!strstr(message, "TMPDIR") || !strstr(message, "resources/stored.bin") || !strstr(message, "/tmp/tutti-") ||
        !strstr(message, "good.fmu"))
        return 3;
    tt_archive_free(archive);
    return count_files(scratch_path(&scratch, "tmp")) ? 4 : 0;
}

static void test_full_disk(void **state)
{
    (void)state;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(unpack_with_limit());
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_folder(void **state)
{
    (void)state;
    assert_int_equal(mkdir(hostile("folder"), 0700), 0);
    assert_int_equal(mkdir(hostile("folder/resources"), 0700), 0);
    assert_int_equal(mkdir(hostile("folder/resources/empty"), 0700), 0);
    scratch_write(&scratch, "hostile/folder/modelDescription.xml", "<x/>", 4);
    scratch_write(&scratch, "hostile/folder/resources/a", "abc", 3);
    assert_int_equal(symlink("a", hostile("folder/resources/b")), 0);          /* to a file: listed */
    assert_int_equal(symlink("..", hostile("folder/resources/loop")), 0);      /* back up: not followed */
    assert_int_equal(symlink("nowhere", hostile("folder/resources/gone")), 0); /* dangling: not listed */
    assert_int_equal(symlink("resources/empty", hostile("folder/linked")), 0);
    assert_int_equal(mkfifo(hostile("folder/resources/pipe"), 0600), 0);
    struct tt_archive *archive = open_good(hostile("folder"));
    static const char *const names[] = {"linked/",     "modelDescription.xml", "resources/",
                                        "resources/a", "resources/b",          "resources/empty/"};
    assert_int_equal(tt_archive_count(archive), 6);
    for (size_t i = 0; i < 6; i++)
        assert_string_equal(tt_archive_name(archive, i), names[i]);
    assert_true(tt_archive_has(archive, "resources/"));
    assert_false(tt_archive_has(archive, "resources/pipe"));
    char data[10];
    size_t n;
    assert_int_equal(read_entry(archive, "resources/b", data, sizeof data, &n), TUTTI_OK);
    assert_int_equal(n, 3);
    assert_int_equal(read_entry(archive, "resources/gone", data, sizeof data, &n), TUTTI_ERR_FORMAT);
    assert_int_equal(read_entry(archive, "../good.fmu", data, sizeof data, &n), TUTTI_ERR_FORMAT);
    const char *folder;
    assert_int_equal(tt_archive_unpack(archive, &folder), TUTTI_OK);
    char *real = realpath(hostile("folder"), NULL);
    assert_string_equal(folder, real);
    free(real);
    tt_archive_free(archive);
    assert_true(exists(hostile("folder/resources/a"))); /* a folder is never removed */
    archive = open_good(hostile("folder/"));            /* nor does a slash at its end matter */
    assert_int_equal(tt_archive_unpack(archive, &folder), TUTTI_OK);
    assert_int_not_equal(folder[strlen(folder) - 1], '/');
    tt_archive_free(archive);
    assert_int_equal(tt_fs_remove_tree(hostile("folder")), 0);
}

static void test_empty_folder(void **state)
{
    (void)state;
    assert_int_equal(mkdir(hostile("folder"), 0700), 0);
    struct tt_archive *archive = open_good(hostile("folder"));
    assert_int_equal(tt_archive_count(archive), 0);
    assert_false(tt_archive_has(archive, "a"));
    assert_false(tt_archive_has(archive, "a/"));
    tt_archive_free(archive);
    rmdir(hostile("folder"));
}

static void test_deep_folder(void **state)
{
    (void)state;
    assert_int_equal(mkdir(hostile("folder"), 0700), 0);
    char path[4200];
    copy_text(path, sizeof path, hostile("folder"));
    for (int i = 0; i < 100; i++) {
        memcpy(path + strlen(path), "/d", 3);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    struct tt_archive *archive = NULL;
    assert_int_equal(tt_archive_open(&archive, hostile("folder")), TUTTI_ERR_LIMIT);
    assert_contains(tutti_err_message(), "too deep");
    assert_int_equal(tt_fs_remove_tree(hostile("folder")), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_archive_has_a_case),
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_unpack),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_other_files),
        cmocka_unit_test(test_archive_changes_while_open),
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_folder),
        cmocka_unit_test(test_empty_folder),
        cmocka_unit_test(test_deep_folder),
    };
    return cmocka_run_group_tests_name("archive/archive", tests, set_up, tear_down);
}
