/* SPDX-License-Identifier: MIT */
/* scope.h - whose functions the code of an FMU calls.
 *
 * Many FMUs bring libraries that this process has, too (SUNDIALS, LAPACK, expat), in other versions and under the same names. As
 * the loader looks for a name, the libraries of the program come first, and the FMU's code calls functions that do not fit
 * it. With RTLD_DEEPBIND the FMU's own come first. In the other direction nothing is to be done: RTLD_LOCAL hides the names
 * of an FMU from all others. */
#ifndef TT_FMU_BINARY_SCOPE_H
#define TT_FMU_BINARY_SCOPE_H

#include "base/fail.h"
#include "base/text.h"

struct tt_library_scope {
    int mode;       /* for dlopen: RTLD_DEEPBIND, or 0 where that would do harm ... */
    char cause[64]; /* ... because this name stands for something else in the program than in the C and C++ libraries:
                     * "malloc" under a sanitizer, "_ZSt4cout" in a program that has a copy of std::cout; else empty */
};

/* How to load the library at `path`. With RTLD_DEEPBIND, names of the C and C++ libraries reach these, even if the program
 * replaces them for all libraries: an allocation would be freed by another allocator, std::cout would be an object that was
 * never made. So it is left where the library uses such a name, and under sanitizers, which refuse it. */
struct tt_library_scope tt_library_choose_scope(const char *path);

/* Appends the names of functions that the library defines and that the program has, too ("CVode, dgetrf_ and 7 more"):
 * without RTLD_DEEPBIND its calls of them reach the program's. Names of the C and C++ libraries are not among them. */
void tt_library_list_clashes(const char *path, struct tt_text *out);

#endif
