/* SPDX-License-Identifier: MIT */
#include "fabric/team.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

/* Channels of the whole that are the team's own; those that its ranks open follow. Reductions of few values, of many; bytes to the
 * other team, bytes from it: team 0 sends by the first of these, team 1 by the second. */
enum own { FEW, MANY, DOWN, UP, OWN };

/* Values that are reduced at once. */
static const size_t ROOM[] = {[FEW] = 8, [MANY] = 512};
/* Bytes of a message: fabrics have an upper limit. */
static const size_t PART = (size_t)4 << 20;

/* A part of some bytes, as a channel carries it: plain data, and a Binary. */
struct part {
    uint64_t total; /* of all parts */
    struct tutti_bytes bytes;
};

struct tutti_team {
    struct tutti_fabric fabric; /* first */
    struct tutti_fabric_kind kind;
    struct tutti_fabric *whole;
    int number;
    struct tutti_arena arena; /* has channels, which the whole borrows */
    double *values[DOWN];     /* of reductions: per rank ROOM of them */
    struct part out, in;
    struct tutti_piece head;
    struct tutti_text_piece out_text, in_text;
    struct tutti_parcel received;
};

static struct tutti_team *team_of(struct tutti_fabric *fabric)
{
    return (struct tutti_team *)fabric;
}

static int first_rank(const struct tutti_team *team)
{
    return team->number * team->fabric.ranks;
}

/* ---- channels ---- */

static enum tutti_err open_links(struct tutti_team *team, struct tutti_link *links, uint32_t count)
{
    struct tutti_channel *channel = tutti_arena_alloc(&team->arena, sizeof *channel);
    if (!channel)
        return tutti_fail_memory();
    *channel = (struct tutti_channel){.links = links, .link_count = count};
    return team->whole->kind->open(team->whole, channel);
}

static enum tutti_err open_channel(struct tutti_fabric *fabric, const struct tutti_channel *channel)
{
    struct tutti_team *team = team_of(fabric);
    struct tutti_link *links = tutti_arena_array(&team->arena, (size_t)channel->link_count + 1, sizeof *links);
    if (!links)
        return tutti_fail_memory();
    for (uint32_t i = 0; i < channel->link_count; i++) {
        links[i] = channel->links[i];
        links[i].peer += first_rank(team);
    }
    return open_links(team, links, channel->link_count);
}

static enum tutti_err exchange_whole(struct tutti_team *team, uint32_t channel, void *base)
{
    team->whole->step = team->fabric.step;
    return team->whole->kind->exchange(team->whole, channel, base);
}

static enum tutti_err exchange(struct tutti_fabric *fabric, uint32_t channel, char *base)
{
    fabric->exchanges++;
    return exchange_whole(team_of(fabric), OWN + channel, base);
}

/* ---- reductions ---- */

/* Every rank of the team reads what all others have. */
static enum tutti_err open_reductions(struct tutti_team *team, enum own which)
{
    int ranks = team->fabric.ranks;
    size_t size = ROOM[which] * sizeof(double);
    struct tutti_link *links = tutti_arena_array(&team->arena, (size_t)ranks, sizeof *links);
    struct tutti_piece *pieces = tutti_arena_array(&team->arena, (size_t)ranks, sizeof *pieces);
    uint32_t count = 0;
    team->values[which] = tutti_arena_array(&team->arena, (size_t)ranks, size);
    if (!links || !pieces || !team->values[which])
        return tutti_fail_memory();
    for (int r = 0; r < ranks; r++)
        pieces[r] = (struct tutti_piece){(size_t)r * size, size};
    for (int r = 0; r < ranks; r++)
        if (r != team->fabric.rank)
            links[count++] =
                (struct tutti_link){.peer = first_rank(team) + r,
                                    .out = {.pieces = &pieces[team->fabric.rank], .piece_count = 1, .size = size},
                                    .in = {.pieces = &pieces[r], .piece_count = 1, .size = size}};
    return open_links(team, links, count);
}

static enum tutti_err reduce_part(struct tutti_team *team, enum tutti_reduction reduction, double *values, size_t count)
{
    enum own which = count <= ROOM[FEW] ? FEW : MANY;
    double *all = team->values[which];
    memcpy(all + (size_t)team->fabric.rank * ROOM[which], values, count * sizeof *values);
    TRY(exchange_whole(team, which, all));
    memcpy(values, all, count * sizeof *values);
    for (int r = 1; r < team->fabric.ranks; r++)
        tutti_fabric_combine(reduction, values, all + (size_t)r * ROOM[which], count);
    return TUTTI_OK;
}

static enum tutti_err reduce(struct tutti_fabric *fabric, enum tutti_reduction reduction, double *values, size_t count)
{
    if (fabric->ranks == 1)
        return TUTTI_OK;
    for (size_t part; count > 0; values += part, count -= part) {
        part = count < ROOM[MANY] ? count : ROOM[MANY];
        TRY(reduce_part(team_of(fabric), reduction, values, part));
    }
    return TUTTI_OK;
}

/* ---- between the teams ---- */

enum tutti_err tutti_team_meet(struct tutti_team *team)
{
    double unused = 0;
    team->whole->step = team->fabric.step;
    return team->whole->kind->reduce(team->whole, TUTTI_REDUCE_MAX, &unused, 1);
}

static enum own sending(const struct tutti_team *team)
{
    return team->number == 0 ? DOWN : UP;
}

static enum own receiving(const struct tutti_team *team)
{
    return team->number == 0 ? UP : DOWN;
}

static enum tutti_err open_link(struct tutti_team *team, enum own which)
{
    bool out = which == sending(team);
    struct tutti_link *link = tutti_arena_alloc(&team->arena, sizeof *link);
    struct tutti_text_piece *text = out ? &team->out_text : &team->in_text;
    *text = (struct tutti_text_piece){.offset = offsetof(struct part, bytes),
                                      .type = TUTTI_TYPE_BINARY,
                                      .count = 1,
                                      .owned = out ? NULL : tutti_owned_array(&team->arena, 1)};
    if (!link || (!out && !text->owned))
        return tutti_fail_memory();
    *link = (struct tutti_link){.peer = (1 - team->number) * team->fabric.ranks + team->fabric.rank};
    *(out ? &link->out : &link->in) = (struct tutti_cargo){
        .pieces = &team->head, .piece_count = 1, .texts = text, .text_count = 1, .size = team->head.size};
    return open_links(team, link, 1);
}

enum tutti_err tutti_team_send(struct tutti_team *team, struct tutti_bytes bytes)
{
    size_t sent = 0;
    do {
        size_t part = bytes.size - sent < PART ? bytes.size - sent : PART;
        team->out = (struct part){bytes.size, {part, bytes.data + sent}};
        TRY(exchange_whole(team, sending(team), &team->out));
        sent += part;
    } while (sent < bytes.size);
    return TUTTI_OK;
}

/* A step that no rank comes to, and that is before no stop but the one that there is none of. */
static const uint64_t BEYOND_ALL = UINT64_MAX - 1;

enum tutti_err tutti_team_receive(struct tutti_team *team, bool for_good, struct tutti_bytes *bytes)
{
    uint64_t step = team->fabric.step;
    enum tutti_err err;
    tutti_parcel_reset(&team->received);
    team->fabric.step = for_good ? BEYOND_ALL : step;
    do {
        err = exchange_whole(team, receiving(team), &team->in);
        if (!err)
            tutti_parcel_put_bytes(&team->received, team->in.bytes.data, team->in.bytes.size);
    } while (!err && !team->received.failed && team->received.size < team->in.total && team->in.bytes.size > 0);
    team->fabric.step = step;
    *bytes = tutti_parcel_bytes(&team->received);
    return err ? err : team->received.failed ? tutti_fail_memory() : TUTTI_OK;
}

/* ---- the rest ---- */

static enum tutti_err report(struct tutti_fabric *fabric, const void *bytes, size_t size)
{
    struct tutti_fabric *whole = team_of(fabric)->whole;
    whole->step = fabric->step;
    return whole->kind->report(whole, bytes, size);
}

static void stop(struct tutti_fabric *fabric, uint64_t step)
{
    struct tutti_fabric *whole = team_of(fabric)->whole;
    whole->kind->stop(whole, step);
}

static void close_nothing(struct tutti_fabric *fabric)
{
    (void)fabric;
}

static void init(struct tutti_team *team, struct tutti_fabric *whole)
{
    int ranks = whole->ranks / 2;
    team->whole = whole;
    team->number = whole->rank / ranks;
    team->kind = (struct tutti_fabric_kind){.name = whole->kind->name,
                                            .open = open_channel,
                                            .exchange = exchange,
                                            .reduce = reduce,
                                            .report = report,
                                            .stop = stop,
                                            .close = close_nothing};
    team->fabric = (struct tutti_fabric){.kind = &team->kind,
                                         .rank = whole->rank % ranks,
                                         .ranks = ranks,
                                         .step = whole->step,
                                         .stop_after = whole->stop_after,
                                         .where = whole->where};
    team->head = (struct tutti_piece){offsetof(struct part, total), sizeof team->out.total};
}

enum tutti_err tutti_team_join(struct tutti_team **out, struct tutti_fabric *whole)
{
    struct tutti_team *team = *out = calloc(1, sizeof *team);
    if (!team)
        return tutti_fail_memory();
    init(team, whole);
    TRY(open_reductions(team, FEW));
    TRY(open_reductions(team, MANY));
    TRY(open_link(team, DOWN));
    return open_link(team, UP);
}

void tutti_team_leave(struct tutti_team *team)
{
    if (!team)
        return;
    if (team->in_text.owned)
        tutti_owned_fini(team->in_text.owned, 1);
    tutti_parcel_fini(&team->received);
    tutti_arena_fini(&team->arena);
    free(team);
}

struct tutti_fabric *tutti_team_fabric(struct tutti_team *team)
{
    return &team->fabric;
}

int tutti_team_number(const struct tutti_team *team)
{
    return team->number;
}
