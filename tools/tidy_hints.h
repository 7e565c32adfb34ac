/* SPDX-License-Identifier: MIT */
/* What clang's analyser cannot see because it reads one file at a time: a function that fails never returns "ok". Without
 * this it follows every path on which tt_fail() "succeeds" and reports the null pointers there. tools/tidy.py includes
 * this file before each source of the library and the command; the code itself is not changed. */
#ifndef TUTTI_TOOLS_TIDY_HINTS_H
#define TUTTI_TOOLS_TIDY_HINTS_H

#include "base/fail.h"

#define tt_fail(err, ...) ((void)tt_fail(err, __VA_ARGS__), (err))
#define tt_fail_memory() ((void)tt_fail_memory(), TUTTI_ERR_MEMORY)
#define tt_fail_context(err, ...)                                                                                      \
    __extension__({                                                                                                    \
        enum tutti_err hint_err_ = (err);                                                                              \
        (void)tt_fail_context(hint_err_, __VA_ARGS__);                                                                 \
        hint_err_;                                                                                                     \
    })
#define tt_fail_about(err, ...)                                                                                        \
    __extension__({                                                                                                    \
        enum tutti_err about_err_ = (err);                                                                             \
        (void)tt_fail_about(about_err_, __VA_ARGS__);                                                                  \
        about_err_;                                                                                                    \
    })

#endif
