/* SPDX-License-Identifier: MIT */
/* execution.h - a rank with all that carries it from start to stop: its master, its loop, what it records. */
#ifndef TUTTI_MASTER_EXECUTION_H
#define TUTTI_MASTER_EXECUTION_H

#include "master/loop.h"
#include "report/observer.h"

struct tutti_checkpoints;

struct tutti_execution {
    struct tutti_rank rank;
    struct tutti_observer observer;
    struct tutti_master master;
    struct tutti_loop loop;
    struct tutti_checkpoints *checkpoints; /* NULL: none are taken */
};

#endif
