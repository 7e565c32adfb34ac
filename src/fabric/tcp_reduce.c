/* SPDX-License-Identifier: MIT */
/* Reductions: who tells whom, in which order, is laid down once.
 *
 * Ranks of one machine first: along a binomial tree to the lowest of them. These leaders of machines then go through
 * ceil(log2 n) rounds, in round k telling the one 2^k further and hearing the one 2^k before (dissemination; Hensgen, Finkel and
 * Manber 1988, for barriers): for min and max it does no harm that a value may come twice, and no number of machines is special.
 * At last down the trees. Two ranks alone are two leaders: one message each way, at the same time. */
#include <stdlib.h>
#include <string.h>

#include "fabric/tcp_rank.h"

enum deed { TELL, COMBINE, ADOPT };

struct tutti_tcp_turn {
    enum deed deed;
    int rank;
};

/* Ranks of a machine, in rising order, and which of them this one is. */
struct group {
    int *ranks;
    int count, own;
};

static void add(struct tutti_tcp *tcp, enum deed deed, int rank)
{
    tcp->turns[tcp->turn_count++] = (struct tutti_tcp_turn){deed, rank};
}

static bool same_host(const struct tutti_tcp *tcp, int a, int b)
{
    return strcmp(tcp->peers[a].host, tcp->peers[b].host) == 0;
}

/* Its own machine's ranks; and of each machine the first. */
static void find_groups(const struct tutti_tcp *tcp, struct group *home, struct group *leaders)
{
    home->own = leaders->own = -1;
    for (int rank = 0; rank < tcp->fabric.ranks; rank++) {
        bool is_first = true;
        for (int i = 0; i < leaders->count && is_first; i++)
            is_first = !same_host(tcp, leaders->ranks[i], rank);
        if (rank == tcp->fabric.rank)
            home->own = home->count;
        if (same_host(tcp, rank, tcp->fabric.rank))
            home->ranks[home->count++] = rank;
        if (is_first) {
            leaders->own = rank == tcp->fabric.rank ? leaders->count : leaders->own;
            leaders->ranks[leaders->count++] = rank;
        }
    }
}

/* The children of n in a binomial tree of `count` are n + 2^k for all 2^k below its lowest one-bit. */
static void lay_out(struct tutti_tcp *tcp, const struct group *home, const struct group *leaders)
{
    int lowest = home->own == 0 ? home->count : home->own & -home->own;
    for (int k = 1; k < lowest && home->own + k < home->count; k *= 2)
        add(tcp, COMBINE, home->ranks[home->own + k]);
    if (home->own > 0) {
        add(tcp, TELL, home->ranks[home->own - lowest]);
        add(tcp, ADOPT, home->ranks[home->own - lowest]);
    }
    for (int k = 1; leaders->own >= 0 && k < leaders->count; k *= 2) {
        add(tcp, TELL, leaders->ranks[(leaders->own + k) % leaders->count]);
        add(tcp, COMBINE, leaders->ranks[(leaders->own - k + leaders->count) % leaders->count]);
    }
    int top = 1;
    while (top < lowest)
        top *= 2;
    for (int k = top; k >= 1; k /= 2)
        if (k < lowest && home->own + k < home->count)
            add(tcp, TELL, home->ranks[home->own + k]);
}

static enum tutti_err plan(struct tutti_tcp *tcp)
{
    size_t ranks = (size_t)tcp->fabric.ranks;
    struct group home = {.ranks = calloc(ranks, sizeof(int))}, leaders = {.ranks = calloc(ranks, sizeof(int))};
    tcp->turns =
        calloc(4 * 32 + 2, sizeof *tcp->turns); /* each of the four loops has at most 32 rounds, or twice that */
    bool good = home.ranks && leaders.ranks && tcp->turns;
    if (good && ranks == 2) {
        home = (struct group){.ranks = home.ranks, .count = 1};
        leaders = (struct group){.ranks = leaders.ranks, .count = 2, .own = tcp->fabric.rank};
        leaders.ranks[1] = 1;
    } else if (good)
        find_groups(tcp, &home, &leaders);
    if (good)
        lay_out(tcp, &home, &leaders);
    free(home.ranks);
    free(leaders.ranks);
    return good ? TUTTI_OK : tutti_fail_memory();
}

static enum tutti_err connect_all(struct tutti_tcp *tcp)
{
    for (size_t i = 0; i < tcp->turn_count; i++)
        TRY(tutti_tcp_call(tcp, tcp->turns[i].rank));
    for (size_t i = 0; i < tcp->turn_count; i++)
        TRY(tutti_tcp_wait_up(tcp, &tcp->links[tcp->turns[i].rank]));
    return TUTTI_OK;
}

static enum tutti_err tell(struct tutti_tcp *tcp, struct tutti_tcp_link *link, const double *values, size_t size)
{
    zmq_msg_t message;
    if (zmq_msg_init_size(&message, TUTTI_WIRE_HEAD + size) != 0)
        return tutti_fail_memory();
    memcpy((char *)zmq_msg_data(&message) + TUTTI_WIRE_HEAD, values, size);
    return tutti_tcp_send(tcp, link, TUTTI_WIRE_REDUCE, 0, &message);
}

static enum tutti_err hear(struct tutti_tcp *tcp, struct tutti_tcp_link *link, bool adopt,
                           enum tutti_reduction reduction, double *values, size_t count)
{
    zmq_msg_t message;
    TRY(tutti_tcp_take(tcp, link, TUTTI_WIRE_REDUCE, 0, &message));
    bool fits = zmq_msg_size(&message) == TUTTI_WIRE_HEAD + count * sizeof *values;
    const char *theirs = (const char *)zmq_msg_data(&message) + TUTTI_WIRE_HEAD;
    if (fits && adopt)
        memcpy(values, theirs, count * sizeof *values);
    else if (fits)
        for (size_t i = 0; i < count; i++) {
            double value; /* the message need not be aligned */
            memcpy(&value, theirs + i * sizeof value, sizeof value);
            tutti_fabric_combine(reduction, &values[i], &value, 1);
        }
    zmq_msg_close(&message);
    return fits ? TUTTI_OK : tutti_tcp_nonsense(tcp, link);
}

enum tutti_err tutti_tcp_reduce(struct tutti_fabric *fabric, enum tutti_reduction reduction, double *values,
                                size_t count)
{
    struct tutti_tcp *tcp = tutti_tcp_of(fabric);
    if (count == 0 || fabric->ranks == 1)
        return TUTTI_OK;
    if (!tcp->turns) {
        TRY(plan(tcp));
        TRY(connect_all(tcp));
    }
    for (size_t i = 0; i < tcp->turn_count; i++) {
        const struct tutti_tcp_turn *turn = &tcp->turns[i];
        struct tutti_tcp_link *link = &tcp->links[turn->rank];
        if (turn->deed == TELL)
            TRY(tell(tcp, link, values, count * sizeof *values));
        else
            TRY(hear(tcp, link, turn->deed == ADOPT, reduction, values, count));
    }
    return TUTTI_OK;
}
