/* SPDX-License-Identifier: MIT */
/* message_delivery.h - a message on its way to one federate: kept until its time, held until the federate advances, or
 * delivered at once.
 *
 * Its visible content is decided at delivery: the attributes it subscribes to then, the class it receives the
 * interaction as, whether it still knows the object. */
#ifndef TT_HLA_RTI_MESSAGE_DELIVERY_H
#define TT_HLA_RTI_MESSAGE_DELIVERY_H

#include "hla/rti/federation.h"

/* Shares the message. */
void tt_message_deliver(struct tt_federate *federate, struct tt_message *message);
/* Removes an object without a time: after pending messages about it in this federate's time order, so that earlier
 * messages are not lost; at once if there are none. Shares the message, or a copy of it. */
void tt_message_deliver_removal(struct tt_federate *federate, struct tt_message *message);
/* Delivers messages held for the next advance. */
void tt_message_deliver_held(struct tt_federate *federate);
/* Delivers pending messages in time order, with stamps up to `last`; as messages of this order. */
void tt_message_deliver_until(struct tt_federate *federate, int64_t last, enum tt_message_order received);

/* Makes an object unknown to a federate; frees the object if it is deleted and no federate knows it any longer. */
void tt_message_forget_object(struct tt_federation *federation, struct tt_object *object, uint32_t federate);
/* Ends the object, and its name. */
void tt_message_end_object(struct tt_federation *federation, struct tt_object *object);

#endif
