/* SPDX-License-Identifier: MIT */
/* child.h - runs a function in a child process. Code of an FMU may crash, hang or print there without effect on the parent process. */
#ifndef TT_BASE_CHILD_H
#define TT_BASE_CHILD_H

#include <stdbool.h>
#include <stddef.h>

/* work(context, fd) runs in a child, a copy of this process without its other threads, and writes its answer to `fd`. What was written until it has
 * ended, after so many seconds by force, is *answer, which is the caller's to free. False: there is no answer. A confined process has no
 * children. */
bool tt_child_run(void (*work)(void *context, int fd), void *context, unsigned seconds, void **answer, size_t *size);

/* Around each use of a lock of this process that code in the child may take, too: between these two, no child is made, in which the lock would stay
 * locked. They nest. */
void tt_child_hold(void);
void tt_child_release(void);

#endif
