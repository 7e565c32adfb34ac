/* SPDX-License-Identifier: MIT */
/* mom_objects.h - the objects of the management object model, which the RTI itself registers and owns.
 *
 * They are made when a federate first subscribes to HLAmanager or a class below it: before that they are unobservable,
 * and federations that do not use them have no cost. */
#ifndef TT_HLA_RTI_MOM_OBJECTS_H
#define TT_HLA_RTI_MOM_OBJECTS_H

#include "hla/rti/federation.h"

/* A federate subscribes to attributes of this class. */
void tt_mom_register_objects(struct tt_federation *federation, uint32_t class);
/* After a federate has joined; after one has left. */
void tt_mom_add_federate(struct tt_federate *federate);
void tt_mom_remove_federate(struct tt_federation *federation, uint32_t federate);

#endif
