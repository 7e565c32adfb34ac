/* SPDX-License-Identifier: MIT */
/* source.h - what options say of a system: its files, connections and values. */
#ifndef TT_SIM_JOB_SOURCE_H
#define TT_SIM_JOB_SOURCE_H

#include "base/options/options.h"
#include "model/system/system.h"

/* Borrowed from the options. */
struct tt_system_source tt_job_system_source(const struct tutti_run_options *options);

#endif
