/* SPDX-License-Identifier: MIT */
/* channels.h - which signals go from rank to rank, and when. */
#ifndef TUTTI_MASTER_CHANNELS_H
#define TUTTI_MASTER_CHANNELS_H

#include "fabric/fabric.h"
#include "master/wires.h"

struct run;

/* In the order in which they are opened; waves follow. */
enum tutti_channel_number { TUTTI_CHANNEL_START, TUTTI_CHANNEL_RUN, TUTTI_CHANNEL_RATES, TUTTI_CHANNEL_WAVES };

struct tutti_channels {
    struct tutti_channel *channels; /* as opened; NULL: there is one rank */
    uint32_t count;
    uint32_t *of_wave; /* per wave: its channel; TUTTI_NONE: nothing of it crosses ranks */
    bool texts;        /* Strings or Binaries go from one rank to another, whichever these are */
    char *rates;       /* room for derivatives, laid out as the signals are */
};

/* While start values are computed: everything that anybody reads. */
TUTTI_CHECKED enum tutti_err tutti_channels_open_start(struct run *run);
/* From then on: what is read in a run; with `all`, every real by every rank, for solvers that run on each. `waves`: also the
 * signals of each wave of run->master.sequence by themselves. */
TUTTI_CHECKED enum tutti_err tutti_channels_open(struct run *run, bool all, bool waves);

/* Collective: signals to the ranks that read them, and theirs to this one. */
TUTTI_CHECKED enum tutti_err tutti_channels_exchange(struct run *run);
TUTTI_CHECKED enum tutti_err tutti_channels_exchange_start(struct run *run);
/* Those of the units of a wave. */
TUTTI_CHECKED enum tutti_err tutti_channels_exchange_wave(struct run *run, uint32_t wave);
/* A value per real (wires.reals), from the rank whose it is to those that read the signal. */
TUTTI_CHECKED enum tutti_err tutti_channels_exchange_rates(struct run *run, double *values);

#endif
