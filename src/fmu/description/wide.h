/* SPDX-License-Identifier: MIT */
/* wide.h - an integer that holds every Int64 and every UInt64. Not for 32-bit processes (src/keeper/), whose compilers have none. */
#ifndef TT_FMU_DESCRIPTION_WIDE_H
#define TT_FMU_DESCRIPTION_WIDE_H

__extension__ typedef __int128 tt_wide;

#endif
