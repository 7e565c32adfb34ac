/* SPDX-License-Identifier: MIT */
/* Who is let in, and what is answered at all. */
#include "test.h"

#include "apps/web/access.h"
#include "apps/web/routes.h"

static const struct tt_access LOCAL = {"secret", "127.0.0.1:8080", "127.0.0.1", true, false};
static const struct tt_access OPEN = {"secret", "0.0.0.0:443", "sim.example.org", false, true};

static void test_hosts(void **state)
{
    static const char *const known[] = {"127.0.0.1:8080", "localhost:8080", "[::1]:8080", "LOCALHOST:8080"};
    static const char *const unknown[] = {"127.0.0.1",
                                          "127.0.0.1:80",
                                          "evil.example:8080",
                                          "127.0.0.1.evil.example:8080",
                                          "[::1",
                                          "",
                                          "10.0.0.1:8080",
                                          "localhost:8080:8080",
                                          "a b:8080",
                                          "127.0.0.1:8080/",
                                          "*:8080",
                                          "localhost:99999999999"};
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_true(tt_access_allows_host(&LOCAL, known[i]));
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        assert_false(tt_access_allows_host(&LOCAL, unknown[i]));
    assert_false(tt_access_allows_host(&LOCAL, NULL));
    assert_true(tt_access_allows_host(&OPEN, "sim.example.org"));
    assert_true(tt_access_allows_host(&OPEN, "sim.example.org:443"));
    assert_true(tt_access_allows_host(&OPEN, "10.0.0.7"));
    assert_true(tt_access_allows_host(&OPEN, "[fe80::1]:443"));
    assert_false(tt_access_allows_host(&OPEN, "evil.example"));
    assert_false(tt_access_allows_host(&OPEN, "sim.example.org:80"));
}

static void test_origins(void **state)
{
    (void)state;
    assert_true(tt_access_allows_origin(&LOCAL, NULL, "127.0.0.1:8080"));
    assert_true(tt_access_allows_origin(&LOCAL, "http://127.0.0.1:8080", "127.0.0.1:8080"));
    assert_false(tt_access_allows_origin(&LOCAL, "https://127.0.0.1:8080", "127.0.0.1:8080"));
    assert_false(tt_access_allows_origin(&LOCAL, "http://localhost:8080", "127.0.0.1:8080"));
    assert_false(tt_access_allows_origin(&LOCAL, "null", "127.0.0.1:8080"));
    assert_false(tt_access_allows_origin(&LOCAL, "", "127.0.0.1:8080"));
    assert_true(tt_access_allows_origin(&OPEN, "https://sim.example.org", "sim.example.org"));
}

static void test_tokens(void **state)
{
    (void)state;
    assert_true(tt_access_allows_token(&LOCAL, "Bearer secret"));
    assert_false(tt_access_allows_token(&LOCAL, NULL));
    assert_false(tt_access_allows_token(&LOCAL, "secret"));
    assert_false(tt_access_allows_token(&LOCAL, "Bearer "));
    assert_false(tt_access_allows_token(&LOCAL, "Bearer secre"));
    assert_false(tt_access_allows_token(&LOCAL, "Bearer secret "));
}

static void test_routes(void **state)
{
    char id[64];
    bool known;
    (void)state;
    assert_non_null(tt_routes_find("GET", "/api/runs/20261117-a1/events", id, &known));
    assert_string_equal(id, "20261117-a1");
    assert_non_null(tt_routes_find("DELETE", "/api/runs/x", id, &known));
    assert_null(tt_routes_find("PUT", "/api/runs/x", id, &known));
    assert_true(known);
    static const char *const none[] = {
        "/api/runs/", "/api/runs/A", "/api/runs/../x", "/api/runs/x/", "/api", "/api/runs/x/y", ""};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        assert_null(tt_routes_find("GET", none[i], id, &known));
        assert_false(known);
    }
    assert_true(tt_routes_find("POST", "/api/runs", id, &known)->writes);
    assert_false(tt_routes_find("POST", "/api/system/look", id, &known)->writes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_hosts), cmocka_unit_test(test_origins),
                                       cmocka_unit_test(test_tokens), cmocka_unit_test(test_routes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
