/* SPDX-License-Identifier: MIT */
/* run_options.h - the options of a run that the page may set. */
#ifndef TT_APPS_WEB_COMMAND_OPTIONS_H
#define TT_APPS_WEB_COMMAND_OPTIONS_H

#include "base/options/options.h"

bool tt_command_offers_option(const struct tt_option *option);

#endif
