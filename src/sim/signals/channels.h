/* SPDX-License-Identifier: MIT */
/* channels.h - which signals go from rank to rank, and when. */
#ifndef TT_SIM_SIGNALS_CHANNELS_H
#define TT_SIM_SIGNALS_CHANNELS_H

#include "sim/ranks/fabric.h"
#include "model/plan/step_order.h"
#include "sim/signals/wires.h"

/* In the order in which they are opened; waves follow. */
enum tt_channel_number { TUTTI_CHANNEL_START, TUTTI_CHANNEL_RUN, TUTTI_CHANNEL_RATES, TUTTI_CHANNEL_WAVES };

struct tt_channels {
    const struct tt_wires *wires; /* the signals; these four are borrowed */
    struct tt_fabric *fabric;
    const int32_t *place; /* per component: its rank; NULL: a single rank */
    struct tt_arena *arena;
    struct tt_channel *channels; /* as opened; NULL: a single rank */
    uint32_t count;
    uint32_t *of_wave; /* per wave: its channel; TUTTI_NONE: nothing of it crosses ranks */
    bool texts;        /* some rank sends Strings or Binaries to another */
    char *rates;       /* room for derivatives, laid out as the signals are */
};

/* Opens the channels for computing start values: all signals with readers. Their number and positions are set. */
TUTTI_CHECKED enum tutti_err tt_channels_open_start(struct tt_channels *channels);
/* Opens the channels for the run: signals with readers; with `all`, every real for every rank, for solvers that run on
 * each. `sequence` (NULL: none): also the signals of each of its waves separately. */
TUTTI_CHECKED enum tutti_err tt_channels_open(struct tt_channels *channels, bool all,
                                              const struct tt_step_sequence *sequence);

/* Collective: sends signals to the ranks that read them, and receives theirs. */
TUTTI_CHECKED enum tutti_err tt_channels_exchange(struct tt_channels *channels);
/* As above for a second array with the layout of the signals, without Strings and Binaries. */
TUTTI_CHECKED enum tutti_err tt_channels_exchange_at(struct tt_channels *channels, char *base);
TUTTI_CHECKED enum tutti_err tt_channels_exchange_start(struct tt_channels *channels);
/* Those of the units of a wave. */
TUTTI_CHECKED enum tutti_err tt_channels_exchange_wave(struct tt_channels *channels, uint32_t wave);
/* Exchanges a value per real (wires.reals), from its rank to those that read the signal. */
TUTTI_CHECKED enum tutti_err tt_channels_exchange_rates(struct tt_channels *channels, double *values);

#endif
