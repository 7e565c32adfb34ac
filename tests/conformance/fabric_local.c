/* SPDX-License-Identifier: MIT */
/* One rank: the test itself. */
#include "test.h"

#include "fabric_ranks.h"

const char *const fabric_name = "local";
const int most_ranks = 1;

void run_ranks(int ranks, void (*body)(struct tt_fabric *fabric), struct reported *reports)
{
    struct tt_fabric *fabric = NULL;
    assert_int_equal(ranks, 1);
    assert_null(reports); /* no conductor hears them */
    assert_ok(tt_fabric_new_local(&fabric));
    body(fabric);
    fabric->kind->close(fabric);
}
