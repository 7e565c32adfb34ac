/* SPDX-License-Identifier: MIT */
/* exit_message.h - messages about a process of an FMU that has ended or cannot continue. All fill `out` and return it. */
#ifndef TT_FMU_PROCESS_EXIT_MESSAGE_H
#define TT_FMU_PROCESS_EXIT_MESSAGE_H

#include <stddef.h>

/* "was ended by signal 11 (Segmentation fault): ask ..." */
const char *tt_exit_message_signal(int number, char *out, size_t size);
/* "ended with status 3: ..." */
const char *tt_exit_message_status(int status, char *out, size_t size);
/* "has overwritten memory ..." */
const char *tt_exit_message_overwritten(char *out, size_t size);

#endif
