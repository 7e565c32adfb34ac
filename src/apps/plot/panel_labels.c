/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <string.h>

#include "base/text.h"
#include "apps/plot/panel_groups.h"

enum { LONGEST_LIST = 30 }; /* bytes of the names of all curves above a panel, which are in its legend, too */

/* How many bytes all names have in common at their beginning, up to a dot and with it. */
static size_t common_prefix_length(const struct tt_plot *plot, const size_t *members, size_t count)
{
    const char *first = plot->traces[members[0]].name;
    size_t common = strlen(first);
    for (size_t i = 1; i < count; i++) {
        const char *name = plot->traces[members[i]].name;
        size_t same = 0;
        while (same < common && name[same] == first[same])
            same++;
        common = same;
    }
    while (common > 0 && first[common - 1] != '.')
        common--;
    return common;
}

/* The same at their end: the last part, if all have the same, and the dot before it. */
static size_t common_suffix_length(const struct tt_plot *plot, const size_t *members, size_t count)
{
    const char *end = strrchr(plot->traces[members[0]].name, '.');
    for (size_t i = 1; end && i < count; i++) {
        const char *other = strrchr(plot->traces[members[i]].name, '.');
        if (!other || strcmp(other, end) != 0)
            end = NULL;
    }
    return end ? strlen(end) : 0;
}

/* Something is to be left of every name between what all have in common. */
static void shorten_common_parts(const struct tt_plot *plot, const size_t *members, size_t count, size_t *beginning,
                                 size_t *end)
{
    size_t shortest = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(plot->traces[members[i]].name);
        shortest = length < shortest ? length : shortest;
    }
    if (*beginning + *end >= shortest)
        *end = 0;
    if (*beginning >= shortest)
        *beginning = 0;
}

static bool panel_labels_same_unit(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* "a, b, c" if that is short. */
static const char *join_labels(struct tt_plot *plot, const char *const *labels, size_t count)
{
    struct tt_text text = {0};
    for (size_t i = 0; i < count && text.length <= LONGEST_LIST; i++)
        tt_text_printf(&text, "%s%s", i ? ", " : "", labels[i]);
    const char *copy =
        text.length <= LONGEST_LIST && !text.failed ? tt_arena_copy_text(&plot->arena, text.text, text.length) : NULL;
    tt_text_fini(&text);
    return copy;
}

enum tutti_err tt_plot_panels_find_labels(struct tt_plot *plot, struct tt_plot_labels *words, const size_t *members,
                                          size_t count)
{
    const char **labels = tt_arena_array(&plot->arena, count + 1, sizeof *labels);
    *words = (struct tt_plot_labels){.labels = labels};
    if (!labels)
        return tt_fail_memory();
    if (count == 1) {
        words->name = labels[0] = plot->traces[members[0]].name;
        words->unit = plot->traces[members[0]].unit;
        return TUTTI_OK;
    }
    words->legend = true;
    size_t beginning = common_prefix_length(plot, members, count), end = common_suffix_length(plot, members, count);
    shorten_common_parts(plot, members, count, &beginning, &end);
    bool one_unit = true;
    for (size_t i = 1; i < count; i++)
        one_unit = one_unit && panel_labels_same_unit(plot->traces[members[i]].unit, plot->traces[members[0]].unit);
    for (size_t i = 0; i < count; i++) {
        const struct tt_plot_trace *trace = &plot->traces[members[i]];
        struct tt_text text = {0};
        tt_text_append_n(&text, trace->name + beginning, strlen(trace->name) - beginning - end);
        if (!one_unit && trace->unit)
            tt_text_printf(&text, " in %s", trace->unit);
        labels[i] = text.failed ? NULL : tt_arena_copy_text(&plot->arena, text.text, text.length);
        tt_text_fini(&text);
        if (!labels[i])
            return tt_fail_memory();
    }
    const char *first = plot->traces[members[0]].name;
    words->unit = one_unit ? plot->traces[members[0]].unit : NULL;
    if (end > 0)
        words->name = strrchr(first, '.') + 1;
    else if (beginning > 0)
        words->name = tt_arena_copy_text(&plot->arena, first, beginning - 1);
    else
        words->name = one_unit ? join_labels(plot, labels, count) : NULL;
    return TUTTI_OK;
}
