/* SPDX-License-Identifier: MIT */
/* Any text as an expression: taken, and then evaluated in every way, or refused with a place in it. The first byte says whether there are reductions. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/expr/expression.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PLACES = 8 };

static enum tutti_err find(void *context, const char *name, size_t *place)
{
    (void)context;
    *place = strlen(name) % PLACES;
    return *name == '?' ? tt_fail(TUTTI_ERR_ARGUMENT, "not known") : TUTTI_OK;
}

static void evaluate(const struct tt_expression *expression)
{
    double values[TUTTI_EXPRESSION_MAX_TEXT], slopes[TUTTI_EXPRESSION_MAX_TEXT], value, slope;
    for (size_t i = 0; i < TUTTI_EXPRESSION_MAX_TEXT; i++) {
        values[i] = (double)i - 3.5;
        slopes[i] = 1 - (double)i;
    }
    value = tt_expression_value(expression, values);
    double with_slope = tt_expression_slope(expression, values, slopes, &slope), checked;
    if (memcmp(&value, &with_slope, sizeof value) != 0 && !(isnan(value) && isnan(with_slope)))
        abort();
    if (tt_expression_check(expression, values, &checked) == TUTTI_OK && memcmp(&value, &checked, sizeof value) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const reductions[] = {"final", "max", "min", NULL};
    static const struct tt_expression_names names = {.find = find};
    if (size == 0)
        return 0;
    char *text = malloc(size);
    if (!text)
        abort();
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    struct tt_expression *expression = NULL;
    if (tt_expression_new(&expression, text, &names, data[0] % 2 ? reductions : NULL) == TUTTI_OK) {
        evaluate(expression);
        for (size_t i = 0, kind; i < tt_expression_reductions(expression); i++)
            evaluate(tt_expression_reduction(expression, i, &kind));
        tt_expression_free(expression);
    }
    free(text);
    return 0;
}
