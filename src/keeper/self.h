/* SPDX-License-Identifier: MIT */
/* self.h - what a holder, a process that an FMU lives in, knows of itself. */
#ifndef TUTTI_KEEPER_SELF_H
#define TUTTI_KEEPER_SELF_H

#include <sys/types.h>

#include "fmi/forked/area.h"
#include "fmi/library.h"

struct tutti_instance;

struct tutti_self {
    struct tutti_area *area;
    pid_t keeper;
    uint32_t number;
    struct tutti_library library;    /* as far as the rank has told, with the functions once it is loaded */
    struct tutti_desc desc;          /* of it: no more than loading and calling need */
    struct tutti_instance *instance; /* once it is loaded */
    void *texts;                     /* room for arrays of texts */
    unsigned long points;            /* that it has been, and those before it */
    /* In a call: tells or asks the rank something (`word`, with what was put since `frame`), and makes the calls that it
     * answers with, until it has answered. */
    void (*tell)(struct tutti_self *self, enum tutti_word word, size_t frame);
};

#endif
