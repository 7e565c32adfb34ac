/* SPDX-License-Identifier: MIT */
#include "stats.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "output.h"
#include "apps/describe/json.h"

static json_t *value_json(const struct tutti_statistic *statistic)
{
    switch (statistic->kind) {
    case TUTTI_STATISTIC_NUMBER: return isfinite(statistic->number) ? json_real(statistic->number) : json_null();
    case TUTTI_STATISTIC_COUNT:
    case TUTTI_STATISTIC_INTEGER: return json_integer((json_int_t)statistic->number);
    case TUTTI_STATISTIC_FLAG: return json_boolean(statistic->number != 0);
    case TUTTI_STATISTIC_TEXT: break;
    }
    return statistic->text ? tt_json_text(statistic->text) : json_null();
}

/* "reasons.coupling" is `coupling` in the object `reasons`. */
static void add(json_t *json, const struct tutti_statistic *statistic)
{
    const char *dot = strchr(statistic->name, '.');
    char group[64];
    if (dot) {
        snprintf(group, sizeof group, "%.*s", (int)(dot - statistic->name), statistic->name);
        if (!json_object_get(json, group))
            json_object_set_new(json, group, json_object());
        json = json_object_get(json, group);
    }
    json_object_set_new(json, dot ? dot + 1 : statistic->name, value_json(statistic));
}

static json_t *units_json(const struct tutti_run_stats *stats)
{
    struct tutti_statistic statistic;
    json_t *list = json_array();
    for (size_t u = 0; u < tutti_stats_unit_count(stats); u++) {
        json_t *json = json_object();
        for (size_t i = 0; tutti_stats_get_of_unit(stats, u, i, &statistic); i++)
            add(json, &statistic);
        json_array_append_new(list, json);
    }
    return list;
}

/* Adds the numbers to the account. */
static void add_all(json_t *json, const struct tutti_run_stats *stats)
{
    char order[16];
    struct tutti_statistic statistic;
    for (size_t i = 0; tutti_stats_get(stats, i, &statistic); i++)
        add(json, &statistic);
    snprintf(order, sizeof order, "%g", tutti_stats_number(stats, "extrapolate"));
    json_object_set_new(json, "extrapolate", json_string(order)); /* a word, as the option takes it */
    if (!tutti_stats_text(stats, "estimated_error.variable"))
        json_object_set_new(json, "estimated_error", json_null());
    if (!tutti_stats_text(stats, "drift.constraint"))
        json_object_set_new(json, "drift", json_null());
    json_object_set_new(json, "units", units_json(stats));
}

bool stats_write(json_t *account, const struct tutti_run_stats *stats, const char *path)
{
    if (!account) {
        fputs("tutti: error: --stats: out of memory\n", stderr);
        return false;
    }
    if (stats)
        add_all(account, stats);
    FILE *file = strcmp(path, "-") == 0 ? output_standard() : fopen(path, "we");
    bool done = file && json_dumpf(account, file, JSON_INDENT(2)) == 0 && fputc('\n', file) != EOF;
    if (file && file != output_standard())
        done = fclose(file) == 0 && done;
    if (!done)
        fprintf(stderr, "tutti: error: --stats: '%s' cannot be written: %s\n", path, strerror(errno));
    json_decref(account);
    return done;
}

bool stats_may_replace(const char *path)
{
    struct stat st;
    char first = '{';
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return true;
    FILE *file = fopen(path, "re");
    if (file && fscanf(file, " %c", &first) < 1)
        first = '{';
    if (file)
        fclose(file);
    return first == '{';
}
