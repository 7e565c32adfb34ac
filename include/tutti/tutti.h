/* SPDX-License-Identifier: MIT */
/* tutti.h - everything of libtutti. */
#ifndef TUTTI_TUTTI_H
#define TUTTI_TUTTI_H

#include <tutti/err.h>
#include <tutti/extra.h>
#include <tutti/federate.h>
#include <tutti/linearize.h>
#include <tutti/log.h>
#include <tutti/options.h>
#include <tutti/pack.h>
#include <tutti/program.h>
#include <tutti/result.h>
#include <tutti/recording.h>
#include <tutti/run.h>
#include <tutti/save.h>
#include <tutti/simulation.h>
#include <tutti/stats.h>
#include <tutti/study.h>
#include <tutti/tell.h>

#endif
