/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "sim/report/record.h"

struct seen_column {
    const struct tt_column_place *place;
    enum tt_type type;
    size_t column;
};

static int record_compare_numbers(size_t a, size_t b)
{
    return (a > b) - (a < b);
}

/* Aliases stand side by side, the first column first. */
static int record_compare(const void *a, const void *b)
{
    const struct seen_column *x = a, *y = b;
    const size_t keys[][2] = {{x->place->component, y->place->component},
                              {x->place->reference, y->place->reference},
                              {x->place->element, y->place->element},
                              {x->type, y->type}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1])
            return record_compare_numbers(keys[i][0], keys[i][1]);
    return record_compare_numbers(x->column, y->column);
}

static bool are_column_aliases(const struct seen_column *a, const struct seen_column *b)
{
    return a->place->component == b->place->component && a->place->reference == b->place->reference &&
           a->place->element == b->place->element && a->type == b->type && a->place->reference != TUTTI_NONE;
}

enum tutti_err tt_record_find_sources(struct tt_record *observer)
{
    size_t count = observer->column_count;
    struct seen_column *seen = malloc((count + 1) * sizeof *seen);
    if (!seen)
        return tt_fail_memory();
    for (size_t i = 0; i < count; i++)
        seen[i] = (struct seen_column){&observer->places[i], observer->columns[i].type, i};
    qsort(seen, count, sizeof *seen, record_compare);
    for (size_t i = 0; i < count; i++) {
        bool alias = i > 0 && are_column_aliases(&seen[i - 1], &seen[i]);
        observer->columns[seen[i].column].source = alias ? observer->columns[seen[i - 1].column].source
                                                         : seen[i].column;
    }
    free(seen);
    return TUTTI_OK;
}
