/* SPDX-License-Identifier: MIT */
/* Lists of nodes: what is read, what is refused and with which words, and a list without one of its nodes. */
#include "test.h"

#include "run/launch/nodes_list.h"
#include "scratch.h"

#define KEY "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define OTHER_KEY "ff112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static void test_words(void **state)
{
    (void)state;
    struct tt_nodes_list list;
    assert_ok(tt_nodes_list_read(&list, "a:1,b:2 ,A:1, ,[::1]:3"));
    assert_int_equal(list.count, 3);
    assert_int_equal(list.ranks, 4);
    assert_string_equal(list.entries[0].address.host, "a");
    assert_int_equal(list.entries[0].rank_count, 2); /* named twice, in letters of either case */
    assert_int_equal(list.entries[0].ranks[1], 2);
    assert_string_equal(list.entries[2].address.host, "::1");
    assert_int_equal(list.entries[2].ranks[0], 3);
    assert_false(list.entries[0].has_key);
    tt_nodes_list_fini(&list);
}

static void test_files(void **state)
{
    (void)state;
    static const char text[] = "# all of ours\n\n  a:1 " KEY " ranks=3 # fast\r\nb:2\tranks=2\na:1 " KEY "\n\t\nc:3";
    struct scratch scratch;
    struct tt_nodes_list list;
    scratch_init(&scratch);
    assert_ok(tt_nodes_list_read(&list, scratch_write(&scratch, "hosts", text, strlen(text))));
    assert_int_equal(list.count, 3);
    assert_int_equal(list.ranks, 7);
    assert_true(list.entries[0].has_key);
    assert_int_equal(list.entries[0].key[1], 0x11);
    assert_int_equal(list.entries[0].rank_count, 4);
    assert_int_equal(list.entries[0].ranks[3], 5);
    assert_false(list.entries[2].has_key);
    tt_nodes_list_fini(&list);
    scratch_fini(&scratch);
}

static void refuse(const char *text, const char *words)
{
    struct tt_nodes_list list;
    assert_fails(tt_nodes_list_read(&list, text), TUTTI_ERR_ARGUMENT, words);
    tt_nodes_list_fini(&list);
}

static void test_refusals(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {":", "is not HOST:PORT"},
        {"a:", "is not HOST:PORT"},
        {"a:0", "is not HOST:PORT"},
        {"a:65536", "is not HOST:PORT"},
        {"a:-1", "is not HOST:PORT"},
        {"a:1x", "is not HOST:PORT"},
        {":1", "is not HOST:PORT"},
        {"[::1:3", "is not HOST:PORT"},
        {",", "cannot read ,"},
        {"a:1,b", "is not HOST:PORT"},
        {"a:1 ranks=0", "neither a public key"},
        {"a:1 ranks=", "neither a public key"},
        {"a:1 ranks=2x", "neither a public key"},
        {"a:1 ranks=99999999999999999999", "neither a public key"},
        {"a:1 " KEY "0", "neither a public key"},
        {"a:1 " KEY ",a:1 " OTHER_KEY, "has another key in an earlier line"},
        {"/dev/null", "there is no node in '/dev/null'"},
        {"/dev/zero", "too long, or not a text file"},
        {"/nowhere/hosts", "cannot read /nowhere/hosts: No such file"},
        {"/", "cannot read /: Is a directory"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refuse(cases[i][0], cases[i][1]);
}

static void test_too_many(void **state)
{
    (void)state;
    char text[200];
    snprintf(text, sizeof text, "a:1 ranks=%d,b:2", TUTTI_NODE_MOST_RANKS);
    refuse(text, "more than");
    snprintf(text, sizeof text, "a:1 ranks=%d", TUTTI_NODE_MOST_RANKS + 1);
    refuse(text, "neither a public key");
}

/* Messages have the position: file and line. */
static void test_places(void **state)
{
    (void)state;
    static const char text[] = "a:1\n# two\nb:2 nonsense\n";
    struct scratch scratch;
    struct tt_nodes_list list;
    scratch_init(&scratch);
    const char *path = scratch_write(&scratch, "hosts", text, strlen(text));
    assert_fails(tt_nodes_list_read(&list, path), TUTTI_ERR_ARGUMENT, "hosts:3: 'nonsense'");
    tt_nodes_list_fini(&list);
    scratch_fini(&scratch);
}

/* Ranks that are left are numbered without a gap, in their order. */
static void test_drop(void **state)
{
    (void)state;
    struct tt_nodes_list list;
    assert_ok(tt_nodes_list_read(&list, "a:1,b:2,c:3,b:2,a:1"));
    tt_nodes_list_remove(&list, 1);
    assert_int_equal(list.count, 2);
    assert_int_equal(list.ranks, 3);
    assert_string_equal(list.entries[1].address.host, "c");
    assert_int_equal(list.entries[0].ranks[0], 0);
    assert_int_equal(list.entries[1].ranks[0], 1);
    assert_int_equal(list.entries[0].ranks[1], 2);
    tt_nodes_list_remove(&list, 1);
    assert_int_equal(list.entries[0].ranks[1], 1);
    tt_nodes_list_fini(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),    cmocka_unit_test(test_files),  cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_too_many), cmocka_unit_test(test_places), cmocka_unit_test(test_drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
