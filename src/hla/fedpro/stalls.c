/* SPDX-License-Identifier: MIT */
#include "hla/fedpro/stalls.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "hla/rti/federation.h"
#include "hla/rti/time_management.h"

enum { LINES = 4 }; /* of those that wait; `tutti rti status` tells all */

struct tt_stall_watch {
    const struct tt_federation *federation;
    uint64_t grants; /* that it had when last one was new ... */
    double since;    /* ... or when none waited */
    bool told;
};

void tt_fedpro_service_free_stalls(struct tt_fedpro_stalls *stalls)
{
    free(stalls->items);
}

static struct tt_stall_watch find_stall(const struct tt_fedpro_stalls *stalls, const struct tt_federation *federation,
                                        double now)
{
    for (size_t i = 0; i < stalls->count; i++)
        if (stalls->items[i].federation == federation)
            return stalls->items[i];
    return (struct tt_stall_watch){.federation = federation, .grants = federation->grants, .since = now};
}

/* The first lines of `text`, as one, with how many there are besides. */
static void shorten_explanation(struct tt_text *text)
{
    size_t lines = 0, end = 0;
    for (size_t i = 0; i < text->length; i++) {
        lines += text->text[i] == '\n';
        if (lines <= LINES)
            end = i;
        if (text->text[i] == '\n')
            text->text[i] = ';';
    }
    text->length = end;
    text->text[end] = '\0';
    if (lines > LINES)
        tt_text_printf(text, "; and %zu others ('tutti rti status' tells all)", lines - LINES);
}

static void fedpro_service_check_stall(struct tt_stall_watch *watched, struct tt_federation *federation, double now,
                                       double patience, const struct tutti_log *log)
{
    struct tt_text text = {0};
    if (federation->grants != watched->grants) {
        if (watched->told)
            tt_log(log, TUTTI_LOG_INFO, NULL, "%s: time goes on, after %.0f s", federation->name, now - watched->since);
        *watched = (struct tt_stall_watch){federation, federation->grants, now, false};
    }
    if (watched->told || !(now - watched->since >= patience))
        return;
    tt_time_management_explain(federation, &text);
    if (text.length == 0) {
        watched->since = now;
    } else if (!text.failed) {
        shorten_explanation(&text);
        tt_log(log, TUTTI_LOG_WARNING, NULL, "%s: no time was granted for %.0f s: %s", federation->name,
               now - watched->since, text.text);
        watched->told = true;
    }
    tt_text_fini(&text);
}

void tt_fedpro_service_report_stalls(struct tt_fedpro_stalls *stalls, const struct tt_rti *rti, double now,
                                     double patience, const struct tutti_log *log)
{
    if (patience <= 0)
        return;
    struct tt_stall_watch *items = calloc(rti->count + 1, sizeof *items);
    if (!items)
        return;
    for (size_t i = 0; i < rti->count; i++) {
        items[i] = find_stall(stalls, rti->federations[i], now);
        fedpro_service_check_stall(&items[i], rti->federations[i], now, patience, log);
    }
    free(stalls->items);
    stalls->items = items;
    stalls->count = rti->count;
}
