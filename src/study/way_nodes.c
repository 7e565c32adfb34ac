/* SPDX-License-Identifier: MIT */
/* Workers on nodes (`tutti node`). Each is the only rank of a run of its own there (study/guest.h): files, keys, confinement and limits are those of any run, and
 * one that has come to its end is replaced by another run. The list says how many a node has. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "conduct/launch/launcher.h"
#include "conduct/launch/nodes_list.h"
#include "fabric/report.h"
#include "report/rank_reporter.h"
#include "study/way.h"

static const struct tutti_launcher *const launcher = &tutti_launcher_nodes;

struct slot {
    char *node;                       /* as --nodes has it, alone */
    void *crew;                       /* the launcher's; NULL: none is started */
    struct tutti_run_options options; /* of the run there */
    struct tutti_job job;
    int32_t *place;
    bool was_here; /* at some time */
    bool is_gone;  /* its worker has ended, or is lost */
    char *how;     /* its process has ended, with these words; NULL: not */
    size_t last_run;
};

struct team {
    const struct tutti_run_options *options;
    struct slot *slots;
    unsigned count;
};

/* ---- all of them ---- */

static char *show_node(const struct tutti_nodes_entry *entry)
{
    struct tutti_text text = {0};
    char key[TUTTI_KEY_TEXT], endpoint[TUTTI_ADDRESS_SIZE];
    tutti_address_endpoint(&entry->address, endpoint, sizeof endpoint);
    tutti_key_show(entry->key, key);
    tutti_text_printf(&text, "%s%s%s", endpoint + strlen("tcp://"), entry->has_key ? " " : "",
                      entry->has_key ? key : "");
    if (!text.failed)
        return text.text;
    tutti_text_fini(&text);
    return NULL;
}

static enum tutti_err make_slots(struct team *team, const struct tutti_nodes_list *list, unsigned most)
{
    team->slots = calloc((size_t)list->ranks, sizeof *team->slots);
    if (!team->slots)
        return tutti_fail_memory();
    for (size_t i = 0; i < list->count; i++)
        for (int r = 0; r < list->entries[i].rank_count; r++) {
            struct slot *slot = &team->slots[list->entries[i].ranks[r]];
            slot->node = show_node(&list->entries[i]);
            if (!slot->node)
                return tutti_fail_memory();
            team->count++;
        }
    while (team->count > most)
        free(team->slots[--team->count].node);
    return TUTTI_OK;
}

static enum tutti_err open_team(void *self, struct tutti_work *work, void *context, unsigned *workers)
{
    struct team *team = self;
    struct tutti_nodes_list list = {0};
    (void)work;
    team->options = context; /* each worker asks its node for what that offers */
    enum tutti_err err = tutti_nodes_list_read(&list, team->options->nodes);
    if (!err)
        err = make_slots(team, &list, *workers);
    tutti_nodes_list_fini(&list);
    *workers = team->count;
    return err;
}

static void close_team(void *self)
{
    struct team *team = self;
    for (unsigned w = 0; team->slots && w < team->count; w++)
        free(team->slots[w].node);
    free(team->slots);
}

/* ---- one ---- */

/* Its run, from the connection until the node has everything. */
static enum tutti_err begin(struct slot *slot)
{
    const struct tutti_run_options *prepared;
    int ranks;
    TRY(launcher->prepare(slot->crew, &slot->options, &prepared));
    TRY(tutti_fail_context(tutti_job_load(&slot->job, prepared, NULL), "the node at %.*s",
                           (int)strcspn(slot->node, " "), slot->node));
    slot->place = calloc(slot->job.system->component_count, sizeof *slot->place);
    if (!slot->place)
        return tutti_fail_memory();
    slot->job.place = slot->place;
    TRY(launcher->place(slot->crew, &slot->job, slot->place, &ranks));
    TRY(launcher->open(slot->crew, &slot->job, ranks));
    return launcher->start(slot->crew, 0);
}

static void close_slot(struct slot *slot)
{
    slot->job.place = NULL;
    tutti_job_close(&slot->job);
    launcher->close(slot->crew);
    free(slot->crew);
    free(slot->place);
    free(slot->how);
    slot->crew = NULL;
    slot->place = NULL;
    slot->how = NULL;
    slot->is_gone = false;
    slot->job = (struct tutti_job){0};
}

static enum tutti_err start(void *self, unsigned worker)
{
    const struct team *team = self;
    struct slot *slot = &team->slots[worker];
    struct tutti_failure failure;
    slot->options = *team->options;
    slot->options.nodes = slot->node;
    slot->options.progress = NULL;
    slot->options.output = NULL;
    slot->options.spares_nodes = slot->was_here; /* it is not waited for as long */
    slot->crew = calloc(1, launcher->size);
    tutti_failure_keep(&failure, slot->crew ? begin(slot) : tutti_fail_memory());
    if (failure.err && slot->crew)
        close_slot(slot);
    else
        slot->was_here = true;
    return tutti_failure_return(&failure);
}

/* None before its worker is ready. */
static size_t tell(void *self, unsigned worker, const size_t *runs, size_t count)
{
    const struct team *team = self;
    size_t told = 0;
    while (told < count &&
           launcher->order(team->slots[worker].crew,
                           &(struct tutti_run_order){.kind = TUTTI_ORDER_MAKE, .value = (double)runs[told]}))
        told++;
    return told;
}

static enum tutti_err fail_report(const struct slot *slot)
{
    return tutti_fail(TUTTI_ERR_FORMAT, "the node at %.*s sent what is no report of a sweep",
                      (int)strcspn(slot->node, " "), slot->node);
}

static void take_log(const struct team *team, struct tutti_unparcel *in)
{
    unsigned level = tutti_unparcel_u8(in) & ~(unsigned)TUTTI_REPORT_INSISTS;
    const char *origin = tutti_unparcel_text(in), *text = tutti_unparcel_text(in);
    char *copy = !in->bad && text ? tutti_str_copy(text) : NULL;
    in->bad = !copy || level > TUTTI_LOG_DEBUG;
    if (!in->bad) {
        tutti_str_make_printable(copy);
        tutti_log_printf(team->options->log, (enum tutti_log_level)level, origin, "%s", copy);
    }
    free(copy);
}

static enum tutti_err take_frame(const struct team *team, const struct slot *slot, enum tutti_report_kind kind,
                                 struct tutti_unparcel in, struct tutti_parcel *records)
{
    if (kind == TUTTI_REPORT_MADE) {
        struct tutti_bytes record;
        bool leaves = tutti_unparcel_u8(&in) != 0;
        record.data = tutti_unparcel_block(&in, &record.size);
        if (!in.bad)
            tutti_way_put(records, record, leaves);
    } else if (kind == TUTTI_REPORT_LOG) {
        take_log(team, &in);
    } else if (kind == TUTTI_REPORT_END) {
        uint32_t err = tutti_unparcel_u32(&in);
        const char *message = tutti_unparcel_text(&in);
        if (!in.bad && err != TUTTI_OK && err <= TUTTI_ERR_LOST)
            return tutti_fail((enum tutti_err)err, "%.*s: %s", (int)strcspn(slot->node, " "), slot->node,
                              message ? tutti_str_show(message).text : "");
    } else {
        return fail_report(slot);
    }
    return in.bad ? fail_report(slot) : TUTTI_OK;
}

/* All frames that are whole. */
static enum tutti_err take_reports(const struct team *team, struct slot *slot, struct tutti_parcel *records)
{
    for (;;) {
        enum tutti_report_kind kind;
        size_t count, size;
        bool whole = false;
        const char *bytes = launcher->reports(slot->crew, 0, &count);
        if (count < TUTTI_REPORT_HEADER)
            return TUTTI_OK;
        TRY(tutti_report_find(bytes, count, &kind, &size, &whole));
        if (!whole)
            return TUTTI_OK;
        const char *parcel = bytes + TUTTI_REPORT_HEADER;
        TRY(take_frame(team, slot, kind, (struct tutti_unparcel){.at = parcel, .end = parcel + size}, records));
        launcher->consume(slot->crew, 0, TUTTI_REPORT_HEADER + size);
    }
}

static enum tutti_err hear(void *self, unsigned worker, struct tutti_parcel *in, bool *open)
{
    const struct team *team = self;
    struct slot *slot = &team->slots[worker];
    struct tutti_rank_status status = {0};
    struct tutti_failure failure;
    TRY(launcher->poll(slot->crew, 0));
    launcher->look(slot->crew, 0, &status);
    tutti_failure_keep(&failure, status.err); /* which reports come before */
    TRY(take_reports(team, slot, in));
    *open = status.state == TUTTI_RANK_RUNS || (status.state == TUTTI_RANK_LOST && !status.is_dry);
    slot->is_gone = !*open;
    if (*open || status.state == TUTTI_RANK_LEFT)
        return TUTTI_OK;
    slot->how = status.how && status.step > 0 ? tutti_str_copy(status.how) : NULL;
    slot->last_run = status.step - 1;
    return slot->how ? TUTTI_OK : tutti_failure_return(&failure);
}

static void end(void *self, unsigned worker, bool by_force, struct tutti_way_ending *ending)
{
    const struct team *team = self;
    struct slot *slot = &team->slots[worker];
    if (by_force)
        launcher->stop(slot->crew, 0);
    else if (!slot->is_gone)
        (void)launcher->order(slot->crew, &(struct tutti_run_order){.kind = TUTTI_ORDER_STOP});
    launcher->finish(slot->crew, by_force);
    snprintf(ending->how, sizeof ending->how, "%s", slot->how ? slot->how : "");
    ending->run = slot->last_run;
    close_slot(slot);
}

/* ZeroMQ's own are not to be waited for by poll(). */
static int file(const void *self, unsigned worker)
{
    (void)self, (void)worker;
    return -1;
}

const struct tutti_way tutti_way_nodes = {.name = "nodes",
                                          .size = sizeof(struct team),
                                          .does_without = true,
                                          .open = open_team,
                                          .close = close_team,
                                          .start = start,
                                          .tell = tell,
                                          .hear = hear,
                                          .end = end,
                                          .file = file};
