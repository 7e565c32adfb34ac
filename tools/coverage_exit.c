/* SPDX-License-Identifier: MIT */
/* For `./dev coverage`, which links it into every program with --wrap=_exit: processes that end so count, too. */
#include <unistd.h>

void __gcov_dump(void);
void __real__exit(int status) __attribute__((noreturn));
void __wrap__exit(int status) __attribute__((noreturn));

void __wrap__exit(int status)
{
    __gcov_dump();
    __real__exit(status);
}
