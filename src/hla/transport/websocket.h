/* SPDX-License-Identifier: MIT */
/* websocket.h - connections in a WebSocket (RFC 6455), for browsers and for networks that permit only HTTP. wslay
 * handles frames; the opening request is parsed here. The frames' content is a stream of bytes, as over TCP. */
#ifndef TT_HLA_TRANSPORT_WEBSOCKET_H
#define TT_HLA_TRANSPORT_WEBSOCKET_H

#include "hla/transport/transport.h"

/* Returns true if these first bytes of a connection begin an HTTP request. */
bool tt_websocket_is_request(const void *bytes, size_t size);
/* The RTI's side, over another transport, which is taken, with bytes of it that were read already. NULL when memory is out; `inner` is the
 * caller's then. */
struct tt_transport *tt_websocket_new_transport(struct tt_transport *inner, const void *bytes, size_t size);

#endif
