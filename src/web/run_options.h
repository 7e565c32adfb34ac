/* SPDX-License-Identifier: MIT */
/* run_options.h - the options of a run that the page may set. */
#ifndef TUTTI_WEB_RUN_OPTIONS_H
#define TUTTI_WEB_RUN_OPTIONS_H

#include "options/options.h"

bool tt_command_offers_option(const struct tt_option *option);

#endif
