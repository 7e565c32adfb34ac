/* SPDX-License-Identifier: MIT */
/* counted.h - statistics with distinct values. */
#ifndef TUTTI_TESTS_COUNTED_H
#define TUTTI_TESTS_COUNTED_H

#include <math.h>

#include "sim/stats.h"
#include "test.h"

/* Texts are not its own. */
static inline void count_all(void *stats, const struct tt_stat *table, unsigned long n)
{
    static char texts[100][32];
    for (size_t i = 0; table[i].name; i++, n++) {
        void *value = (char *)stats + table[i].offset;
        switch (table[i].kind) {
        case TUTTI_STATISTIC_NUMBER: *(double *)value = (double)n + 0.25; break;
        case TUTTI_STATISTIC_COUNT: *(unsigned long *)value = n; break;
        case TUTTI_STATISTIC_INTEGER: *(int *)value = (int)n; break;
        case TUTTI_STATISTIC_FLAG: *(bool *)value = true; break;
        case TUTTI_STATISTIC_TEXT:
            snprintf(texts[i], sizeof texts[i], "text %zu", i);
            *(char **)value = texts[i];
            break;
        }
    }
}

static inline struct tt_unit_stats make_unit(unsigned long n)
{
    struct tt_unit_stats unit;
    count_all(&unit, tt_stats_of_unit, n + 1);
    return unit;
}

static inline struct tutti_run_stats make_stats(struct tt_unit_stats *units, size_t count)
{
    struct tutti_run_stats stats = {.units = units, .unit_count = count};
    count_all(&stats, tt_stats_of_run, 100);
    return stats;
}

static inline void assert_same_statistic(const struct tutti_statistic *a, const struct tutti_statistic *b)
{
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->kind, b->kind);
    if (!isnan(a->number) || !isnan(b->number))
        assert_same_double(a->number, b->number);
    assert_int_equal(a->text == NULL, b->text == NULL);
    if (a->text)
        assert_string_equal(a->text, b->text);
}

static inline void assert_same_stats(const struct tutti_run_stats *a, const struct tutti_run_stats *b)
{
    struct tutti_statistic left, right;
    size_t run = 0;
    for (; tutti_stats_get(a, run, &left); run++) {
        assert_true(tutti_stats_get(b, run, &right));
        assert_same_statistic(&left, &right);
    }
    assert_true(run > 30);
    assert_int_equal(a->unit_count, b->unit_count);
    for (size_t u = 0; u < a->unit_count; u++)
        for (size_t i = 0; tutti_stats_get_of_unit(a, u, i, &left); i++) {
            assert_true(tutti_stats_get_of_unit(b, u, i, &right));
            assert_same_statistic(&left, &right);
        }
}

#endif
