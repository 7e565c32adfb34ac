/* SPDX-License-Identifier: MIT */
/* standard.h - what every object model begins with, as a module of its own.
 *
 * Of the standard's MIM: the roots, the two kinds of transport, the basic data types and those made of them that FOMs name. The classes
 * of the management object model (HLAmanager and below) are not in it: they are not served. */
#ifndef TUTTI_RTI_FOM_STANDARD_H
#define TUTTI_RTI_FOM_STANDARD_H

extern const char tutti_fom_standard[];

#endif
