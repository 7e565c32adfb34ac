/* SPDX-License-Identifier: MIT */
#ifndef TT_SIM_RANKS_MPI_MPI_FABRIC_H
#define TT_SIM_RANKS_MPI_MPI_FABRIC_H

#include "sim/ranks/mpi/mpi_world.h"

/* A rank's fabric over MPI, shared by its files. */

/* ---- mpi_module.c: messages without a fabric (sim/ranks/mpi_interface.h) ---- */

enum tutti_err tt_mpi_module_post(int rank, const void *bytes, size_t size);
unsigned tt_mpi_module_count_posted(void);
/* Forgets what is on its way. */
enum tutti_err tt_mpi_module_remove_sent(void);
enum tutti_err tt_mpi_module_receive(int *rank, char **bytes, size_t *size);

/* ---- exchange.c ---- */

/* One direction of a link. A message with texts has a fixed part, which starts with the size of the whole; what does not fit
 * into it follows as a second message. */
struct mpi_transfer {
    const struct tt_cargo *cargo;
    int peer;
    char *fixed;
    size_t fixed_size;
    char *whole; /* of messages that are longer than the fixed part; NULL until needed */
    size_t room;
};

/* Messages in one direction only have no answer that would slow the sender down: so the receiver reports its progress. */
struct mpi_credit {
    uint64_t messages; /* of this link so far */
    uint64_t known;    /* sender: messages that the receiver is known to have taken */
};

struct mpi_channel {
    struct mpi_transfer *out, *in;
    int out_count, in_count;
    MPI_Request *sends, *receives, *tails; /* per way out, per way in; second messages of ways out, then of ways in */
    /* Per outgoing link without a return link: the incoming credit; per incoming link without a return link: the
     * outgoing credit. NULL requests: none */
    MPI_Request *credits_in, *credits_out;
    struct mpi_credit *credit_in, *credit_out;
    bool has_texts, has_credits;
    bool local;  /* all that is received is small and comes from this host */
    bool broken; /* an exchange was given up on its way */
};

/* ---- mpi_fabric.c ---- */

/* A stage of a reduction: sends the values to some ranks, and combines those received from others. */
struct mpi_stage {
    int *to, to_count, from_count;
    MPI_Request *sends, *receives;
    double *out, *in; /* one vector; one per rank that sends */
    bool local;
};

/* The steps of a reduction of up to `room` numbers. */
struct mpi_plan {
    struct mpi_stage *stages;
    int stage_count;
    size_t room;
};

enum { TUTTI_MPI_PLANS = 2 };

/* ---- mpi_report.c ---- */

enum { TUTTI_MPI_CHUNK = 64 * 1024, TUTTI_MPI_CHUNKS = 4 };

struct mpi_reports {
    const struct tt_mpi_sink *sink; /* rank 0 */
    /* Rank 0: one request and one buffer per other rank; other ranks: TUTTI_MPI_CHUNKS of both. */
    char *buffers;
    MPI_Request *requests;
    int *finished; /* rank 0 */
    MPI_Status *statuses;
    bool *deaf; /* rank 0: of whom nothing is received, because the sink has no room */
    int deaf_count;
    int current; /* others: the buffer that is being filled */
    size_t filled;
    double since; /* when its first bytes came */
};

/* ---- fabric.c ---- */

/* A stop on its way to all others. */
struct mpi_notice {
    struct mpi_notice *next;
    uint64_t step;
    MPI_Request requests[];
};

struct mpi_fabric {
    struct tt_fabric fabric;
    struct mpi_world *world;
    _Atomic uint64_t stop_after;
    struct tt_heartbeat where;
    uint64_t told; /* the least stop that all ranks were notified of, by any rank */
    uint64_t heard;
    MPI_Request hears; /* stops, into `heard` */
    struct mpi_notice *notices;
    struct mpi_channel **channels;
    uint32_t channel_count;
    struct mpi_plan plans[TUTTI_MPI_PLANS];
    struct mpi_reports reports;
    unsigned calls; /* of exchange and reduce */
};

/* Tags in world.control, and in world.data: a number per plan, then three per channel. */
enum { TUTTI_MPI_TAG_STOP = 1, TUTTI_MPI_TAG_REPORT, TUTTI_MPI_TAG_POST };
enum { TUTTI_MPI_PLAN_TAGS = 64, TUTTI_MPI_TAG_FIRST_CHANNEL = TUTTI_MPI_PLANS * TUTTI_MPI_PLAN_TAGS };

/* Tests and waits until all requests are complete; STOPPED if waiting has become pointless. `local`: they are completed
 * by a rank of this host, which rings. */
TUTTI_CHECKED enum tutti_err tt_mpi_fabric_wait(struct mpi_fabric *self, int count, MPI_Request *requests, bool local);
/* Does periodic work: stops of other ranks, reports. */
TUTTI_CHECKED enum tutti_err tt_mpi_fabric_poll(struct mpi_fabric *self);
/* To be called at every exchange and reduction: looks around now and then, also where no rank ever waits. */
static inline enum tutti_err tt_mpi_fabric_check_stop(struct mpi_fabric *self)
{
    return __builtin_expect(self->calls++ % 32 == 31, 0) ? tt_mpi_fabric_poll(self) : TUTTI_OK;
}

TUTTI_CHECKED enum tutti_err tt_mpi_exchange_open_channel(struct tt_fabric *fabric, const struct tt_channel *channel);
TUTTI_CHECKED enum tutti_err tt_mpi_exchange_run(struct tt_fabric *fabric, uint32_t channel, char *base);
/* Waits until all that was sent is on its way. */
TUTTI_CHECKED enum tutti_err tt_mpi_exchange_finish_channel(struct mpi_fabric *self, struct mpi_channel *channel);
void tt_mpi_exchange_free_channel(struct mpi_channel *channel);

TUTTI_CHECKED enum tutti_err tt_mpi_fabric_init_plan(struct mpi_plan *plan, const struct mpi_world *world, size_t room,
                                                     int tag);
void tt_mpi_fabric_fini_plan(struct mpi_plan *plan);
TUTTI_CHECKED enum tutti_err tt_mpi_fabric_reduce(struct tt_fabric *fabric, enum tt_fabric_reduction reduction,
                                                  double *values, size_t count);

TUTTI_CHECKED enum tutti_err tt_mpi_report_init(struct mpi_fabric *self, const struct tt_mpi_sink *sink);
void tt_mpi_report_fini(struct mpi_fabric *self);
TUTTI_CHECKED enum tutti_err tt_mpi_report_write(struct tt_fabric *fabric, const void *bytes, size_t size);
/* Rank 0: receives available reports. Other ranks: sends data that has waited long enough. */
TUTTI_CHECKED enum tutti_err tt_mpi_report_progress(struct mpi_fabric *self);
/* Other ranks: sends the available bytes at once. */
TUTTI_CHECKED enum tutti_err tt_mpi_report_flush(struct mpi_fabric *self);
/* Other ranks: sends the rest, and waits until it is transferred. */
TUTTI_CHECKED enum tutti_err tt_mpi_report_drain(struct mpi_fabric *self);

TUTTI_CHECKED enum tutti_err tt_mpi_fabric_new(struct tt_fabric **out, struct mpi_world *world,
                                               const struct tt_mpi_sink *sink);
TUTTI_CHECKED enum tutti_err tt_mpi_fabric_drain(struct tt_fabric *fabric, bool (*is_done)(void *context),
                                                 void *context);

void tt_mpi_fabric_flush_on_crash(struct tt_fabric *fabric, double seconds);

/* For all files: gives a persistent receive up, or a send that may never be taken; false: MPI may still read its buffer. */
bool tt_mpi_fabric_cancel(MPI_Request *request, bool is_receive);

#endif
