/* SPDX-License-Identifier: MIT */
#include "sim/ranks/team.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

/* Channels of the fabric that the team uses itself; those that its ranks open follow. Reductions of few values, of
 * many; bytes to the other team, bytes from it: team 0 sends by the first of these, team 1 by the second. */
enum team_link_kind { FEW, MANY, DOWN, UP, OWN };

/* Values that are reduced at once. */
static const size_t ROOM[] = {[FEW] = 8, [MANY] = 512};
/* Bytes of a message: fabrics have an upper limit. */
static const size_t PART = (size_t)4 << 20;

/* A part of some bytes, as a channel carries it: plain data, and a Binary. */
struct team_part {
    uint64_t total; /* of all parts */
    struct tt_bytes bytes;
};

struct tt_team {
    struct tt_fabric fabric; /* first */
    struct tt_fabric_kind kind;
    struct tt_fabric *whole;
    int number;
    struct tt_arena arena; /* has channels, which the whole borrows */
    double *values[DOWN];  /* of reductions: per rank ROOM of them */
    struct team_part out, in;
    struct tt_cargo_piece head;
    struct tt_cargo_text out_text, in_text;
    struct tt_byte_writer received;
};

static struct tt_team *team_from_fabric(struct tt_fabric *fabric)
{
    return (struct tt_team *)fabric;
}

static int first_rank_of_team(const struct tt_team *team)
{
    return team->number * team->fabric.ranks;
}

/* ---- channels ---- */

static enum tutti_err open_team_links(struct tt_team *team, struct tt_channel_link *links, uint32_t count)
{
    struct tt_channel *channel = tt_arena_alloc(&team->arena, sizeof *channel);
    if (!channel)
        return tt_fail_memory();
    *channel = (struct tt_channel){.links = links, .link_count = count};
    return team->whole->kind->open(team->whole, channel);
}

static enum tutti_err team_open_channel(struct tt_fabric *fabric, const struct tt_channel *channel)
{
    struct tt_team *team = team_from_fabric(fabric);
    struct tt_channel_link *links = tt_arena_array(&team->arena, (size_t)channel->link_count + 1, sizeof *links);
    if (!links)
        return tt_fail_memory();
    for (uint32_t i = 0; i < channel->link_count; i++) {
        links[i] = channel->links[i];
        links[i].peer += first_rank_of_team(team);
    }
    return open_team_links(team, links, channel->link_count);
}

static enum tutti_err exchange_with_all(struct tt_team *team, uint32_t channel, void *base)
{
    team->whole->step = team->fabric.step;
    return team->whole->kind->exchange(team->whole, channel, base);
}

static enum tutti_err team_exchange(struct tt_fabric *fabric, uint32_t channel, char *base)
{
    fabric->exchanges++;
    return exchange_with_all(team_from_fabric(fabric), OWN + channel, base);
}

/* ---- reductions ---- */

/* Every rank of the team reads what all others have. */
static enum tutti_err open_team_reductions(struct tt_team *team, enum team_link_kind which)
{
    int ranks = team->fabric.ranks;
    size_t size = ROOM[which] * sizeof(double);
    struct tt_channel_link *links = tt_arena_array(&team->arena, (size_t)ranks, sizeof *links);
    struct tt_cargo_piece *pieces = tt_arena_array(&team->arena, (size_t)ranks, sizeof *pieces);
    uint32_t count = 0;
    team->values[which] = tt_arena_array(&team->arena, (size_t)ranks, size);
    if (!links || !pieces || !team->values[which])
        return tt_fail_memory();
    for (int r = 0; r < ranks; r++)
        pieces[r] = (struct tt_cargo_piece){(size_t)r * size, size};
    for (int r = 0; r < ranks; r++)
        if (r != team->fabric.rank)
            links[count++] =
                (struct tt_channel_link){.peer = first_rank_of_team(team) + r,
                                         .out = {.pieces = &pieces[team->fabric.rank], .piece_count = 1, .size = size},
                                         .in = {.pieces = &pieces[r], .piece_count = 1, .size = size}};
    return open_team_links(team, links, count);
}

static enum tutti_err team_reduce(struct tt_fabric *fabric, enum tt_fabric_reduction reduction, double *values,
                                  size_t count)
{
    struct tt_team *team = team_from_fabric(fabric);
    if (fabric->ranks == 1)
        return TUTTI_OK;
    for (size_t part; count > 0; values += part, count -= part) {
        part = count < ROOM[MANY] ? count : ROOM[MANY];
        enum team_link_kind which = part <= ROOM[FEW] ? FEW : MANY;
        double *all = team->values[which];
        memcpy(all + (size_t)fabric->rank * ROOM[which], values, part * sizeof *values);
        TRY(exchange_with_all(team, which, all));
        memcpy(values, all, part * sizeof *values);
        for (int r = 1; r < fabric->ranks; r++)
            tt_fabric_combine(reduction, values, all + (size_t)r * ROOM[which], part);
    }
    return TUTTI_OK;
}

/* ---- between the teams ---- */

enum tutti_err tt_team_synchronize(struct tt_team *team)
{
    double unused = 0;
    team->whole->step = team->fabric.step;
    return team->whole->kind->reduce(team->whole, TUTTI_REDUCE_MAX, &unused, 1);
}

static enum team_link_kind team_sending_channel(const struct tt_team *team)
{
    return team->number == 0 ? DOWN : UP;
}

static enum tutti_err open_team_link(struct tt_team *team, enum team_link_kind which)
{
    bool out = which == team_sending_channel(team);
    struct tt_channel_link *link = tt_arena_alloc(&team->arena, sizeof *link);
    struct tt_cargo_text *text = out ? &team->out_text : &team->in_text;
    *text = (struct tt_cargo_text){.offset = offsetof(struct team_part, bytes),
                                   .type = TUTTI_TYPE_BINARY,
                                   .count = 1,
                                   .owned = out ? NULL : tt_signals_owned_array(&team->arena, 1)};
    if (!link || (!out && !text->owned))
        return tt_fail_memory();
    *link = (struct tt_channel_link){.peer = (1 - team->number) * team->fabric.ranks + team->fabric.rank};
    *(out ? &link->out : &link->in) = (struct tt_cargo){
        .pieces = &team->head, .piece_count = 1, .texts = text, .text_count = 1, .size = team->head.size};
    return open_team_links(team, link, 1);
}

enum tutti_err tt_team_send(struct tt_team *team, struct tt_bytes bytes)
{
    size_t sent = 0;
    do {
        size_t part = bytes.size - sent < PART ? bytes.size - sent : PART;
        team->out = (struct team_part){bytes.size, {part, bytes.data + sent}};
        TRY(exchange_with_all(team, team_sending_channel(team), &team->out));
        sent += part;
    } while (sent < bytes.size);
    return TUTTI_OK;
}

/* A step that no rank reaches, and that is before any stop except UINT64_MAX, which means none. */
static const uint64_t BEYOND_ALL = UINT64_MAX - 1;

enum tutti_err tt_team_receive(struct tt_team *team, bool for_good, struct tt_bytes *bytes)
{
    uint64_t step = team->fabric.step;
    enum tutti_err err;
    tt_bytes_reset(&team->received);
    team->fabric.step = for_good ? BEYOND_ALL : step;
    do {
        err = exchange_with_all(team, team->number == 0 ? UP : DOWN, &team->in);
        if (!err)
            tt_bytes_put_bytes(&team->received, team->in.bytes.data, team->in.bytes.size);
    } while (!err && !team->received.failed && team->received.size < team->in.total && team->in.bytes.size > 0);
    team->fabric.step = step;
    *bytes = tt_bytes_written(&team->received);
    return err ? err : team->received.failed ? tt_fail_memory() : TUTTI_OK;
}

/* ---- reports and closing ---- */

static enum tutti_err team_report(struct tt_fabric *fabric, const void *bytes, size_t size)
{
    struct tt_fabric *whole = team_from_fabric(fabric)->whole;
    whole->step = fabric->step;
    return whole->kind->report(whole, bytes, size);
}

static void team_stop(struct tt_fabric *fabric, uint64_t step)
{
    struct tt_fabric *whole = team_from_fabric(fabric)->whole;
    whole->kind->stop(whole, step);
}

static void team_close(struct tt_fabric *fabric)
{
    (void)fabric;
}

static void team_init(struct tt_team *team, struct tt_fabric *whole)
{
    int ranks = whole->ranks / 2;
    team->whole = whole;
    team->number = whole->rank / ranks;
    team->kind = (struct tt_fabric_kind){.name = whole->kind->name,
                                         .open = team_open_channel,
                                         .exchange = team_exchange,
                                         .reduce = team_reduce,
                                         .report = team_report,
                                         .stop = team_stop,
                                         .close = team_close};
    team->fabric = (struct tt_fabric){.kind = &team->kind,
                                      .rank = whole->rank % ranks,
                                      .ranks = ranks,
                                      .step = whole->step,
                                      .stop_after = whole->stop_after,
                                      .where = whole->where};
    team->head = (struct tt_cargo_piece){offsetof(struct team_part, total), sizeof team->out.total};
}

enum tutti_err tt_team_join(struct tt_team **out, struct tt_fabric *whole)
{
    struct tt_team *team = *out = calloc(1, sizeof *team);
    if (!team)
        return tt_fail_memory();
    team_init(team, whole);
    TRY(open_team_reductions(team, FEW));
    TRY(open_team_reductions(team, MANY));
    TRY(open_team_link(team, DOWN));
    return open_team_link(team, UP);
}

void tt_team_leave(struct tt_team *team)
{
    if (!team)
        return;
    if (team->in_text.owned)
        tt_signals_owned_fini(team->in_text.owned, 1);
    tt_bytes_fini(&team->received);
    tt_arena_fini(&team->arena);
    free(team);
}

struct tt_fabric *tt_team_fabric(struct tt_team *team)
{
    return &team->fabric;
}

int tt_team_number(const struct tt_team *team)
{
    return team->number;
}
