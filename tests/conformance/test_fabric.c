/* SPDX-License-Identifier: MIT */
/* What fabric.h promises of every kind. fabric_ranks.h says where its ranks come from: one program per kind. */
#include "test.h"

#include <time.h>

#include "base/arena.h"
#include "sim/ranks/fabric.h"
#include "fabric_ranks.h"

enum { MOST = 8, WIDTH = 5 }; /* ranks; doubles that each has */

/* The array has WIDTH doubles per rank. What rank r has at place i before exchange n: */
static double value_of(int r, int i, int n)
{
    return 1000.0 * r + 10.0 * i + n / 1024.0;
}

/* Channels over that array. `reads(r, s)`: does rank r read what rank s has? */
struct net {
    struct tt_cargo_piece pieces[MOST][2];
    struct tt_channel_link links[MOST];
    struct tt_channel channel;
};

static void make_net(struct net *net, const struct tt_fabric *fabric, bool (*reads)(int r, int s, int ranks))
{
    *net = (struct net){.channel.links = net->links};
    for (int r = 0; r < fabric->ranks; r++) {
        /* in two pieces, the second first, as a layout may have it */
        size_t start = (size_t)r * WIDTH * sizeof(double), half = 2 * sizeof(double);
        net->pieces[r][0] = (struct tt_cargo_piece){start + half, WIDTH * sizeof(double) - half};
        net->pieces[r][1] = (struct tt_cargo_piece){start, half};
        bool out = r != fabric->rank && reads(r, fabric->rank, fabric->ranks);
        bool in = r != fabric->rank && reads(fabric->rank, r, fabric->ranks);
        struct tt_channel_link *link = &net->links[net->channel.link_count];
        *link = (struct tt_channel_link){.peer = r};
        if (out)
            link->out = (struct tt_cargo){net->pieces[fabric->rank], 2, NULL, 0, WIDTH * sizeof(double)};
        if (in)
            link->in = (struct tt_cargo){net->pieces[r], 2, NULL, 0, WIDTH * sizeof(double)};
        net->channel.link_count += out || in;
    }
}

static bool all(int r, int s, int ranks)
{
    return r >= 0 && s >= 0 && ranks > 0;
}

static bool neighbours(int r, int s, int ranks)
{
    return (r + 1) % ranks == s || (s + 1) % ranks == r;
}

static bool one_way_ring(int r, int s, int ranks)
{
    return (s + 1) % ranks == r;
}

static bool from_the_first(int r, int s, int ranks)
{
    return all(r, s, ranks) && s == 0;
}

static bool not_the_last(int r, int s, int ranks)
{
    return r != ranks - 1 && s != ranks - 1;
}

static bool nobody(int r, int s, int ranks)
{
    return !all(r, s, ranks);
}

/* One exchange of a net, number n; looks at what came. What no rank sends must stay as it was. */
static void exchange(struct tt_fabric *fabric, uint32_t channel, bool (*reads)(int r, int s, int ranks), double *values,
                     int n)
{
    for (int r = 0; r < fabric->ranks; r++)
        for (int i = 0; i < WIDTH; i++)
            values[r * WIDTH + i] = r == fabric->rank ? value_of(r, i, n) : -1;
    expect(fabric->kind->exchange(fabric, channel, (char *)values) == TUTTI_OK);
    for (int r = 0; r < fabric->ranks; r++)
        for (int i = 0; i < WIDTH; i++) {
            bool known = r == fabric->rank || reads(fabric->rank, r, fabric->ranks);
            expect(values[r * WIDTH + i] == (known ? value_of(r, i, n) : -1));
        }
}

static void pause_for(double seconds)
{
    struct timespec time = {.tv_nsec = (long)(seconds * 1e9)};
    nanosleep(&time, NULL);
}

/* Runs `body` on 1, 2, 3 and most_ranks ranks: alone, a pair, one with a rank between, more than there are cores. */
static void on_some(void (*body)(struct tt_fabric *fabric))
{
    for (int ranks = 1; ranks <= most_ranks; ranks = ranks < 3 || ranks == most_ranks ? ranks + 1 : most_ranks)
        run_ranks(ranks, body, NULL);
}

static void look_at_kind(struct tt_fabric *fabric)
{
    const struct tt_fabric_kind *kind = fabric->kind;
    expect(strcmp(kind->name, fabric_name) == 0);
    expect(kind->open && kind->exchange && kind->reduce && kind->report && kind->stop && kind->close);
    expect(fabric->exchanges == 0 && fabric->step == 0);
    expect(atomic_load(fabric->stop_after) == UINT64_MAX);
    expect(fabric->where != NULL);
    kind->close(NULL);
}

static void it_has_a_name_and_all_functions(void **state)
{
    (void)state;
    on_some(look_at_kind);
}

static void look_at_rank(struct tt_fabric *fabric)
{
    double present[MOST] = {0};
    expect(fabric->rank >= 0 && fabric->rank < fabric->ranks && fabric->ranks <= MOST);
    present[fabric->rank] = 1;
    expect(fabric->kind->reduce(fabric, TUTTI_REDUCE_MAX, present, MOST) == TUTTI_OK);
    for (int r = 0; r < MOST; r++)
        expect(present[r] == (r < fabric->ranks));
}

static void every_rank_is_there_once(void **state)
{
    (void)state;
    on_some(look_at_rank);
}

/* 2000 exchanges over each of these nets. */
static void exchange_often(struct tt_fabric *fabric, bool (*reads)(int r, int s, int ranks))
{
    struct net net;
    double values[MOST * WIDTH];
    make_net(&net, fabric, reads);
    expect(fabric->kind->open(fabric, &net.channel) == TUTTI_OK);
    for (int n = 0; n < 2000; n++)
        exchange(fabric, 0, reads, values, n);
    expect(fabric->exchanges == 2000);
}

#define NETS(X)                                                                                                        \
    X(all)                                                                                                             \
    X(neighbours)                                                                                                      \
    X(one_way_ring)                                                                                                    \
    X(from_the_first)                                                                                                  \
    X(not_the_last)                                                                                                    \
    X(nobody)

#define X(net)                                                                                                         \
    static void often_##net(struct tt_fabric *fabric)                                                                  \
    {                                                                                                                  \
        exchange_often(fabric, net);                                                                                   \
    }                                                                                                                  \
    static void exchanges_over_##net(void **state)                                                                     \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        on_some(often_##net);                                                                                          \
    }
NETS(X)
#undef X

/* Which channel is used when is the same on all ranks, in no regular order; a reduction now and then. */
static void use_channels(struct tt_fabric *fabric)
{
    static bool (*const reads[])(int, int, int) = {
#define X(net) net,
        NETS(X)
#undef X
    };
    enum { CHANNELS = sizeof reads / sizeof *reads };
    static _Thread_local struct net nets[CHANNELS];
    double values[MOST * WIDTH];
    unsigned random = 12345;
    for (int c = 0; c < CHANNELS; c++) {
        make_net(&nets[c], fabric, reads[c]);
        expect(fabric->kind->open(fabric, &nets[c].channel) == TUTTI_OK);
    }
    for (int n = 0; n < 3000; n++) {
        random = random * 1103515245u + 12345u;
        unsigned c = random >> 16 & 7;
        if (c < CHANNELS)
            exchange(fabric, c, reads[c], values, n);
        else {
            double v = n + fabric->rank;
            expect(fabric->kind->reduce(fabric, TUTTI_REDUCE_MAX, &v, 1) == TUTTI_OK);
            expect(v == n + fabric->ranks - 1);
        }
    }
}

static void channels_do_not_disturb_each_other(void **state)
{
    (void)state;
    on_some(use_channels);
}

/* The first could be far ahead of those who read from it. It is held back, or what it sends is kept: nothing is lost. */
static void lag_behind(struct tt_fabric *fabric)
{
    struct net net;
    double values[MOST * WIDTH];
    make_net(&net, fabric, from_the_first);
    expect(fabric->kind->open(fabric, &net.channel) == TUTTI_OK);
    for (int n = 0; n < 300; n++) {
        if (fabric->rank > 0 && n % 50 == 10)
            pause_for(0.01 * fabric->rank);
        exchange(fabric, 0, from_the_first, values, n);
    }
}

static void who_reads_may_lag_behind(void **state)
{
    (void)state;
    on_some(lag_behind);
}

/* A message of many pages, in many pieces. */
static void exchange_much(struct tt_fabric *fabric)
{
    enum { PIECES = 1000, DOUBLES = 150 };
    int n = fabric->ranks, left = (fabric->rank + n - 1) % n, right = (fabric->rank + 1) % n;
    double *values = calloc(PIECES * DOUBLES * 2, sizeof *values);
    struct tt_cargo_piece *pieces = calloc(PIECES * 2, sizeof *pieces), *in = pieces + PIECES;
    expect(values && pieces);
    for (size_t p = 0; p < PIECES; p++) {
        pieces[p] = (struct tt_cargo_piece){2 * p * DOUBLES * sizeof(double), DOUBLES * sizeof(double)};
        in[p] = (struct tt_cargo_piece){(2 * p + 1) * DOUBLES * sizeof(double), DOUBLES * sizeof(double)};
    }
    size_t size = PIECES * DOUBLES * sizeof(double);
    struct tt_cargo to_right = {pieces, PIECES, NULL, 0, size}, from_left = {in, PIECES, NULL, 0, size};
    struct tt_channel_link links[2] = {{.peer = left, .in = from_left}, {.peer = right, .out = to_right}};
    struct tt_channel channel = {links, n == 1 ? 0 : 2};
    if (n == 2) {
        links[0] = (struct tt_channel_link){.peer = 1 - fabric->rank, .out = to_right, .in = from_left};
        channel.link_count = 1;
    } else if (left > right) {
        struct tt_channel_link first = links[1];
        links[1] = links[0];
        links[0] = first;
    }
    expect(fabric->kind->open(fabric, &channel) == TUTTI_OK);
    for (int step = 0; step < 5; step++) {
        for (int p = 0; p < PIECES; p++)
            for (int i = 0; i < DOUBLES; i++)
                values[2 * p * DOUBLES + i] = value_of(fabric->rank, p * DOUBLES + i, step);
        expect(fabric->kind->exchange(fabric, 0, (char *)values) == TUTTI_OK);
        for (int p = 0; p < PIECES && n > 1; p++)
            for (int i = 0; i < DOUBLES; i++)
                expect(values[(2 * p + 1) * DOUBLES + i] == value_of(left, p * DOUBLES + i, step));
    }
    free(values);
    free(pieces);
}

static void messages_may_be_large(void **state)
{
    (void)state;
    on_some(exchange_much);
}

/* Strings and Binaries: each rank has two of each. Lengths of exchange n: none, some, and sometimes much. */
enum { TEXTS = 2 };

struct texts {
    const char *strings[TEXTS];
    struct tt_bytes binaries[TEXTS];
    double number;
};

static size_t length_of(int r, int i, int n)
{
    static const size_t lengths[] = {0, 1, 7, 64, 4095, 1 << 20, 100, 0, 70000, 3};
    return lengths[(r + i + n) % (int)(sizeof lengths / sizeof *lengths)];
}

static char letter_of(int r, int i, int n, size_t at)
{
    return (char)('a' + ((size_t)(r + i + n) + at) % 26);
}

static void fill(struct texts *own, char *buffers[2 * TEXTS], int r, int n)
{
    for (int i = 0; i < TEXTS; i++) {
        size_t length = length_of(r, i, n);
        for (size_t at = 0; at < length; at++)
            buffers[i][at] = letter_of(r, i, n, at);
        buffers[i][length] = '\0';
        own->strings[i] = length == 0 && n % 2 ? NULL : buffers[i]; /* NULL is an empty one, too */
        length = length_of(r, i + TEXTS, n);
        for (size_t at = 0; at < length; at++)
            buffers[TEXTS + i][at] = at % 5 == 3 ? '\0' : letter_of(r, i + TEXTS, n, at);
        own->binaries[i] = (struct tt_bytes){length, length == 0 ? NULL : (const uint8_t *)buffers[TEXTS + i]};
    }
    own->number = n + r;
}

static void look_at_texts(const struct tt_fabric *fabric, const struct texts *texts, int r, int n)
{
    expect(texts->number == n + r);
    for (int i = 0; i < TEXTS; i++) {
        size_t length = length_of(r, i, n);
        expect(texts->strings[i] && strlen(texts->strings[i]) == length);
        for (size_t at = 0; at < length; at++)
            expect(texts->strings[i][at] == letter_of(r, i, n, at));
        length = length_of(r, i + TEXTS, n);
        expect(texts->binaries[i].size == length);
        for (size_t at = 0; at < length; at++)
            expect(texts->binaries[i].data[at] == (at % 5 == 3 ? '\0' : letter_of(r, i + TEXTS, n, at)));
    }
}

static void exchange_texts(struct tt_fabric *fabric)
{
    struct tt_arena arena = {0};
    struct texts texts[MOST] = {0};
    struct tt_cargo_piece numbers[MOST];
    struct tt_cargo_text pieces[MOST][2];
    struct tt_channel_link links[MOST];
    struct tt_channel channel = {.links = links};
    char *buffers[2 * TEXTS];
    for (int i = 0; i < 2 * TEXTS; i++)
        expect((buffers[i] = malloc((1 << 20) + 1)) != NULL);
    for (int r = 0; r < fabric->ranks; r++) {
        size_t at = (size_t)r * sizeof *texts;
        numbers[r] = (struct tt_cargo_piece){at + offsetof(struct texts, number), sizeof(double)};
        pieces[r][0] = (struct tt_cargo_text){at + offsetof(struct texts, strings), TUTTI_TYPE_STRING, TEXTS,
                                              tt_signals_owned_array(&arena, TEXTS)};
        pieces[r][1] = (struct tt_cargo_text){at + offsetof(struct texts, binaries), TUTTI_TYPE_BINARY, TEXTS,
                                              tt_signals_owned_array(&arena, TEXTS)};
    }
    for (int r = 0; r < fabric->ranks; r++)
        if (r != fabric->rank)
            links[channel.link_count++] =
                (struct tt_channel_link){.peer = r,
                                         .out = {&numbers[fabric->rank], 1, pieces[fabric->rank], 2, sizeof(double)},
                                         .in = {&numbers[r], 1, pieces[r], 2, sizeof(double)}};
    expect(fabric->kind->open(fabric, &channel) == TUTTI_OK);
    for (int n = 0; n < 20; n++) {
        fill(&texts[fabric->rank], buffers, fabric->rank, n);
        expect(fabric->kind->exchange(fabric, 0, (char *)texts) == TUTTI_OK);
        for (int i = 0; i < 2 * TEXTS; i++)
            memset(buffers[i], '!', 1 << 20); /* what was sent is the receiver's copy */
        for (int r = 0; r < fabric->ranks; r++)
            if (r != fabric->rank)
                look_at_texts(fabric, &texts[r], r, n);
    }
    for (int r = 0; r < fabric->ranks; r++)
        for (int i = 0; i < 2; i++)
            tt_signals_owned_fini(pieces[r][i].owned, TEXTS);
    for (int i = 0; i < 2 * TEXTS; i++)
        free(buffers[i]);
    tt_arena_fini(&arena);
}

static void texts_arrive_whatever_their_length(void **state)
{
    (void)state;
    run_ranks(1, exchange_texts, NULL);
    for (int ranks = 2; ranks <= most_ranks && ranks <= 3; ranks++)
        run_ranks(ranks, exchange_texts, NULL);
}

/* Vectors around the sizes at which kinds may cut them; rank (i + n) % ranks has the least, the one before it the greatest. */
static void reduce_vectors(struct tt_fabric *fabric)
{
    static const size_t lengths[] = {0, 1, 2, 1023, 1024, 1025, 5000};
    double *values = malloc(5000 * sizeof *values);
    expect(values);
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
        for (int n = 0; n < 20; n++) {
            enum tt_fabric_reduction reduction = n % 2 ? TUTTI_REDUCE_MIN : TUTTI_REDUCE_MAX;
            for (size_t i = 0; i < lengths[l]; i++)
                values[i] = (double)(((int)i + n + fabric->rank) % fabric->ranks) * 0.1 - (double)i;
            expect(fabric->kind->reduce(fabric, reduction, values, lengths[l]) == TUTTI_OK);
            for (size_t i = 0; i < lengths[l]; i++)
                expect(values[i] == (n % 2 ? 0 : (double)(fabric->ranks - 1) * 0.1) - (double)i);
        }
    expect(fabric->exchanges == 0);
    free(values);
}

static void reductions_are_of_all_ranks(void **state)
{
    (void)state;
    on_some(reduce_vectors);
}

static bool same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

/* A NaN of any rank wins; infinities are numbers; equal values stay to the bit. */
static void reduce_odd_values(struct tt_fabric *fabric)
{
    for (int odd = 0; odd < fabric->ranks; odd++) {
        bool me = odd == fabric->rank;
        double least[] = {me ? NAN : 1, me ? INFINITY : 1, me ? -INFINITY : 1, -0.0, 0.0, me ? 5e-324 : 1e300};
        double most[sizeof least / sizeof *least];
        memcpy(most, least, sizeof most);
        expect(fabric->kind->reduce(fabric, TUTTI_REDUCE_MIN, least, 6) == TUTTI_OK);
        expect(fabric->kind->reduce(fabric, TUTTI_REDUCE_MAX, most, 6) == TUTTI_OK);
        bool alone = fabric->ranks == 1;
        const double min[] = {NAN, alone ? INFINITY : 1, -INFINITY, -0.0, 0.0, 5e-324};
        const double max[] = {NAN, INFINITY, alone ? -INFINITY : 1, -0.0, 0.0, alone ? 5e-324 : 1e300};
        for (int i = 0; i < 6; i++) {
            expect(same(least[i], min[i]));
            expect(same(most[i], max[i]));
        }
    }
}

static void odd_values_are_reduced_as_well(void **state)
{
    (void)state;
    on_some(reduce_odd_values);
}

/* Zeros of both signs, on different ranks: whatever comes out is the same on all, and of the same sign however the ranks are
 * numbered. */
static void reduce_zeros(struct tt_fabric *fabric)
{
    for (int odd = 0; odd < fabric->ranks; odd++) {
        double least = odd == fabric->rank ? -0.0 : 0.0, most = odd == fabric->rank ? 0.0 : -0.0;
        expect(fabric->kind->reduce(fabric, TUTTI_REDUCE_MIN, &least, 1) == TUTTI_OK);
        expect(fabric->kind->reduce(fabric, TUTTI_REDUCE_MAX, &most, 1) == TUTTI_OK);
        expect(same(least, -0.0));
        expect(same(most, 0.0));
    }
}

static void the_lesser_zero_is_the_negative_one(void **state)
{
    (void)state;
    on_some(reduce_zeros);
}

/* The last rank does not take part; all others wait for it, until it stops them. */
static void wait_in_exchange(struct tt_fabric *fabric)
{
    struct net net;
    double values[MOST * WIDTH];
    make_net(&net, fabric, all);
    expect(fabric->kind->open(fabric, &net.channel) == TUTTI_OK);
    exchange(fabric, 0, all, values, 0);
    wait_for_other_team();
    if (fabric->rank == fabric->ranks - 1) {
        pause_for(0.05);
        fabric->kind->stop(fabric, 0);
        expect(tt_fabric_is_stopped(fabric));
        return;
    }
    expect(fabric->kind->exchange(fabric, 0, (char *)values) == TUTTI_ERR_STOPPED);
    expect(tt_fabric_is_stopped(fabric));
}

static void wait_in_reduction(struct tt_fabric *fabric)
{
    double value = 0;
    if (fabric->rank == fabric->ranks - 1) {
        pause_for(0.05);
        fabric->kind->stop(fabric, 0);
        return;
    }
    expect(fabric->kind->reduce(fabric, TUTTI_REDUCE_MIN, &value, 1) == TUTTI_ERR_STOPPED);
}

static void who_waits_stops_waiting(void **state)
{
    (void)state;
    on_some(wait_in_exchange);
    on_some(wait_in_reduction);
}

/* A stop after step 3 does not affect ranks that have not made three; then they return. */
static void stop_later(struct tt_fabric *fabric)
{
    struct net net;
    double values[MOST * WIDTH];
    make_net(&net, fabric, all);
    expect(fabric->kind->open(fabric, &net.channel) == TUTTI_OK);
    if (fabric->rank == 0) {
        fabric->kind->stop(fabric, 7);
        fabric->kind->stop(fabric, 3);
        fabric->kind->stop(fabric, 5); /* the least counts */
        expect(atomic_load(fabric->stop_after) == 3);
    }
    while (fabric->step < 3) {
        exchange(fabric, 0, all, values, (int)fabric->step);
        fabric->step++;
    }
    if (fabric->rank == 0)
        return; /* a rank that continues would wait forever */
    enum tutti_err err = fabric->kind->exchange(fabric, 0, (char *)values);
    expect(err == TUTTI_ERR_STOPPED && tt_fabric_is_stopped(fabric));
}

static void a_stop_waits_for_its_step(void **state)
{
    (void)state;
    on_some(stop_later);
}

/* Rank 0 sends, then stops all; what it sent is there and is taken, however late. */
static void send_then_stop(struct tt_fabric *fabric)
{
    struct net net;
    double values[MOST * WIDTH];
    make_net(&net, fabric, from_the_first);
    expect(fabric->kind->open(fabric, &net.channel) == TUTTI_OK);
    if (fabric->rank > 0) {
        wait_for_other_team();
        pause_for(0.1);
        exchange(fabric, 0, from_the_first, values, 4);
        expect(fabric->kind->exchange(fabric, 0, (char *)values) == TUTTI_ERR_STOPPED);
        return;
    }
    exchange(fabric, 0, from_the_first, values, 4);
    wait_for_other_team();
    fabric->kind->stop(fabric, 0);
}

static void what_was_sent_before_a_stop_is_taken(void **state)
{
    (void)state;
    on_some(send_then_stop);
}

/* Some megabytes in pieces of many sizes, one of them larger than any buffer should be; between exchanges. */
enum { REPORTS = 3000, LARGEST = 3 << 20 };

static size_t report_size(int n)
{
    return n == 1000 ? LARGEST : (size_t)(n * 7919 % 2003);
}

static void report_much(struct tt_fabric *fabric)
{
    char *bytes = malloc(LARGEST);
    size_t written = 0;
    expect(bytes);
    for (int n = 0; n < REPORTS; n++) {
        size_t size = report_size(n);
        for (size_t i = 0; i < size; i++, written++)
            bytes[i] = (char)(written % 251 + (size_t)fabric->rank);
        expect(fabric->kind->report(fabric, bytes, size) == TUTTI_OK);
    }
    free(bytes);
}

static void check_reports(const struct reported *reports, int ranks)
{
    size_t expected = 0;
    for (int n = 0; n < REPORTS; n++)
        expected += report_size(n);
    for (int r = 0; r < ranks; r++) {
        assert_int_equal(reports[r].size, expected);
        for (size_t i = 0; i < expected; i++)
            if (reports[r].bytes[i] != (char)(i % 251 + (size_t)r))
                fail_msg("byte %zu of rank %d is wrong", i, r);
        free(reports[r].bytes);
    }
}

static void reports_come_whole_and_in_order(void **state)
{
    (void)state;
    if (most_ranks == 1) {
        run_ranks(1, report_much, NULL);
        return;
    }
    for (int ranks = 1; ranks <= most_ranks; ranks *= 2) {
        struct reported reports[MOST] = {{0}};
        run_ranks(ranks, report_much, reports);
        check_reports(reports, ranks);
    }
}

/* Reports after a stop are not lost. */
static void stop_then_report(struct tt_fabric *fabric)
{
    fabric->kind->stop(fabric, 0);
    report_much(fabric);
}

static void reports_come_after_a_stop_as_well(void **state)
{
    (void)state;
    if (most_ranks == 1)
        return;
    struct reported reports[MOST] = {{0}};
    run_ranks(2, stop_then_report, reports);
    check_reports(reports, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_has_a_name_and_all_functions),
        cmocka_unit_test(every_rank_is_there_once),
#define X(net) cmocka_unit_test(exchanges_over_##net),
        NETS(X)
#undef X
            cmocka_unit_test(channels_do_not_disturb_each_other),
        cmocka_unit_test(who_reads_may_lag_behind),
        cmocka_unit_test(messages_may_be_large),
        cmocka_unit_test(texts_arrive_whatever_their_length),
        cmocka_unit_test(reductions_are_of_all_ranks),
        cmocka_unit_test(odd_values_are_reduced_as_well),
        cmocka_unit_test(the_lesser_zero_is_the_negative_one),
        cmocka_unit_test(who_waits_stops_waiting),
        cmocka_unit_test(a_stop_waits_for_its_step),
        cmocka_unit_test(what_was_sent_before_a_stop_is_taken),
        cmocka_unit_test(reports_come_whole_and_in_order),
        cmocka_unit_test(reports_come_after_a_stop_as_well),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
