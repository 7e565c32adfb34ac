/* SPDX-License-Identifier: MIT */
#include "fmu/binary/platform.h"

#include <stddef.h>

const struct tt_binary_platform *tt_binary_platforms(void)
{
    static const struct tt_binary_platform platforms[] = {
#if defined(__x86_64__)
        {{"x86_64-linux", "linux64"}, NULL, NULL},
        {{"x86-linux", "linux32"}, "tutti_keeper32", "gcc-i686-linux-gnu"},
#elif defined(__aarch64__)
        {{"aarch64-linux", "linux64-arm", "linux64"}, NULL, NULL},
#elif defined(__i386__)
        {{"x86-linux", "linux32"}, NULL, NULL},
#else
#error "add the folder names under binaries/ of this platform"
#endif
        {{NULL}, NULL, NULL},
    };
    return platforms;
}
