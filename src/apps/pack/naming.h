/* SPDX-License-Identifier: MIT */
/* naming.h - are names structured as FMI 2.0.4, 2.2.9, and FMI 3.0.1, 2.4.7.5, have it? */
#ifndef TT_APPS_PACK_NAMING_H
#define TT_APPS_PACK_NAMING_H

#include <stdbool.h>

/* "a.b[1,2].'c d'", "der(a.x)", "der(a.x,2)". */
bool tt_pack_description_is_structured(const char *name);

#endif
