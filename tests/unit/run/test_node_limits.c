/* SPDX-License-Identifier: MIT */
/* What users of a node may have, FMUs that may run, and what processes use. */
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/node/worker_process.h"
#include "run/node/node_policy.h"
#include "scratch.h"
#include "test.h"

static void test_sizes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t size;
    } sizes[] = {{"0", 0},          {"1000", 1000},       {"2K", 2000},
                 {"2.5M", 2500000}, {"10G", 10000000000}, {"1T", 1000000000000}};
    static const char *const wrong[] = {"", "K", "1X", "-1", "1KK", "1e30", "nan"};
    uint64_t size;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        assert_true(tt_node_policy_parse_size(sizes[i].text, &size));
        assert_int_equal(size, sizes[i].size);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(tt_node_policy_parse_size(wrong[i], &size));
}

static void test_quotas(void **state)
{
    (void)state;
    static const char text[] =
        "# who may what\n\n  anna.pub runs=2 memory=1G # a comment\n"
        "0101010101010101010101010101010101010101010101010101010101010101 seconds=1.5\n* ranks=3\n";
    struct tt_node_user users[] = {{.name = "anna.pub"}, {.name = "ben.pub"}, {.name = "carl.pub"}};
    struct tt_quotas quotas;
    struct scratch scratch;
    memset(users[1].key, 1, sizeof users[1].key);
    scratch_init(&scratch);
    scratch_write(&scratch, "quota", text, strlen(text));
    assert_ok(tt_node_policy_read_quotas(&quotas, scratch_path(&scratch, "quota"), users, 3));
    struct tt_quota anna = tt_node_policy_find_quota(&quotas, "anna.pub"),
                    ben = tt_node_policy_find_quota(&quotas, "ben.pub"),
                    carl = tt_node_policy_find_quota(&quotas, "carl.pub");
    assert_int_equal(anna.runs, 2);
    assert_int_equal(anna.memory, 1000000000);
    assert_int_equal(anna.ranks, 0); /* a line of one's own stands for itself */
    assert_true(ben.seconds == 1.5);
    assert_int_equal(ben.ranks, 0);
    assert_int_equal(carl.ranks, 3);
    tt_node_policy_free_quotas(&quotas);
    assert_int_equal(tt_node_policy_find_quota(&quotas, "anna.pub").runs, 0);
    scratch_fini(&scratch);
}

static void test_permitted_travel(void **state)
{
    (void)state;
    static const uint8_t one[TUTTI_CONTENT_SIZE] = {1}, two[TUTTI_CONTENT_SIZE] = {2};
    struct tt_permitted_fmus list = {0}, read;
    struct tt_byte_writer parcel = {0};
    assert_ok(tt_node_policy_permit(&list, one));
    assert_ok(tt_node_policy_permit(&list, two));
    tt_node_policy_pack_permitted(&list, &parcel);
    struct tt_byte_reader in = {.at = parcel.bytes, .end = (const char *)parcel.bytes + parcel.size};
    assert_ok(tt_node_policy_unpack_permitted(&read, &in));
    assert_false(in.bad || read.all);
    assert_int_equal(read.count, 2);
    assert_memory_equal(read.hashes, list.hashes, 2 * sizeof one);
    tt_node_policy_free_permitted(&read);
    tt_node_policy_free_permitted(&list);
    tt_bytes_fini(&parcel);
}

/* A child of a child, with so much memory in use. */
static void test_memory_of_processes(void **state)
{
    (void)state;
    enum { SIZE = 64 << 20 };
    int ready[2], hold[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(hold), 0);
    uint64_t before = tt_worker_process_memory(getpid());
    pid_t child = fork();
    if (child == 0) {
        close(hold[1]); /* the end of the test ends both */
        pid_t grandchild = fork();
        if (grandchild == 0) {
            void *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (memory != MAP_FAILED)
                memset(memory, 1, SIZE);
            (void)!write(ready[1], "", 1);
            (void)!read(hold[0], &byte, 1);
            _exit(0);
        }
        waitpid(grandchild, NULL, 0);
        _exit(0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    uint64_t with = tt_worker_process_memory(getpid()), of_child = tt_worker_process_memory(child);
    close(hold[1]);
    assert_int_equal(waitpid(child, NULL, 0), child);
    close(hold[0]);
    close(ready[0]);
    close(ready[1]);
    assert_true(before > 0);
    assert_true(of_child >= SIZE);
    assert_true(with >= before / 2 + SIZE);
    assert_int_equal(tt_worker_process_memory(child), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_quotas),
        cmocka_unit_test(test_permitted_travel),
        cmocka_unit_test(test_memory_of_processes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
