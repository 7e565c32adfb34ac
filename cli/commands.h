/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_CLI_COMMANDS_H
#define TUTTI_CLI_COMMANDS_H

#include "options.h"

int command_analyze(const struct arguments *arguments);
int command_check(const struct arguments *arguments);
int command_compare(const struct arguments *arguments);
int command_compile(const struct arguments *arguments);
int command_completion(const struct arguments *arguments);
int command_graph(const struct arguments *arguments);
int command_help(const struct arguments *arguments);
int command_info(const struct arguments *arguments);
int command_linearize(const struct arguments *arguments);
int command_new(const struct arguments *arguments);
int command_pack(const struct arguments *arguments);
int command_wrap(const struct arguments *arguments);
int command_node(const struct arguments *arguments);
int command_plot(const struct arguments *arguments);
int command_rti(const struct arguments *arguments);
int command_estimate(const struct arguments *arguments);
int command_sweep(const struct arguments *arguments);
int command_run(const struct arguments *arguments);
int command_watch(const struct arguments *arguments);
int command_web(const struct arguments *arguments);

#endif
