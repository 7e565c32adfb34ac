/* SPDX-License-Identifier: MIT */
/* gnuplot.h - the program that draws. */
#ifndef TUTTI_CLI_GNUPLOT_H
#define TUTTI_CLI_GNUPLOT_H

#include <stdbool.h>
#include <stdio.h>

/* Runs gnuplot, without a shell between, on a script that is read from its beginning; what it draws goes to `picture`. False
 * after a message. */
bool gnuplot_run(FILE *script, FILE *picture);

#endif
