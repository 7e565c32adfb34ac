/* SPDX-License-Identifier: MIT */
/* curve_auth.h - access control: a thread that answers ZeroMQ's authentication requests (RFC 27, ZAP) for every CURVE
 * connection to a socket of a context. Keys that are not in its list are rejected before any byte of a message passes.
 *
 * There is one per context. It must exist as long as sockets are bound in the context: ZeroMQ admits all peers if there
 * is no answer. The order is: tt_curve_auth_start, tt_curve_auth_guard_socket, zmq_bind; at the end zmq_close,
 * tt_curve_auth_stop, zmq_ctx_term. */
#ifndef TT_SIM_RANKS_CURVE_AUTH_H
#define TT_SIM_RANKS_CURVE_AUTH_H

#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "base/log.h"

/* Pairs of keys for CURVE (Curve25519), by which programs on several machines authenticate each other. */

enum { TUTTI_KEY_SIZE = 32, TUTTI_KEY_TEXT = 2 * TUTTI_KEY_SIZE + 1 };

struct tt_curve_keys {
    uint8_t public_key[TUTTI_KEY_SIZE], secret_key[TUTTI_KEY_SIZE];
};

/* A fresh pair. UNSUPPORTED if this machine's ZeroMQ was built without CURVE. */
TUTTI_CHECKED enum tutti_err tt_curve_auth_make_keys(struct tt_curve_keys *keys);
/* The public key that belongs to keys->secret_key. */
TUTTI_CHECKED enum tutti_err tt_curve_auth_derive_keys(struct tt_curve_keys *keys);
/* Overwrites the secret. */
void tt_curve_auth_wipe_keys(struct tt_curve_keys *keys);

/* As 64 hexadecimal digits, small letters. */
void tt_curve_auth_format_key(const uint8_t key[TUTTI_KEY_SIZE], char text[TUTTI_KEY_TEXT]);
/* And back; exactly 64 digits, large letters will do. FORMAT otherwise; the message does not repeat the text. */
TUTTI_CHECKED enum tutti_err tt_curve_auth_parse_key(const char *text, uint8_t key[TUTTI_KEY_SIZE]);

struct tt_zap;

/* Starts the thread for `context` (of zmq_ctx_new), before anything is bound in it. Until tt_curve_auth_start_answering
 * is called it answers no peer: earlier ones wait. `log` (borrowed, may be NULL) gets a limited number of warnings
 * about rejected keys, whose origin is the peer's address. */
TUTTI_CHECKED enum tutti_err tt_curve_auth_start(struct tt_zap **out, void *context, const struct tutti_log *log);
/* Lets a key in; `name` (cut at 63 bytes) becomes the user id of its messages: zmq_msg_gets(message, "User-Id"). At any time. */
TUTTI_CHECKED enum tutti_err tt_curve_auth_allow_key(struct tt_zap *zap, const uint8_t key[TUTTI_KEY_SIZE],
                                                     const char *name);
/* Takes it back: connections that stand are not cut. */
void tt_curve_auth_forbid_key(struct tt_zap *zap, const uint8_t key[TUTTI_KEY_SIZE]);
/* From now on questions are answered. By the thread that started it. */
void tt_curve_auth_start_answering(struct tt_zap *zap);
/* How many were refused so far. */
unsigned long tt_curve_auth_count_refused(const struct tt_zap *zap);
/* Ends the thread; before zmq_ctx_term. NULL is fine. */
void tt_curve_auth_stop(struct tt_zap *zap);

/* Makes `socket` a CURVE server with these keys, whose connections this context's thread checks; before binding it. */
TUTTI_CHECKED enum tutti_err tt_curve_auth_guard_socket(void *socket, const struct tt_curve_keys *own);
/* Makes the next zmq_connect of `socket` one to the CURVE server with this public key. */
TUTTI_CHECKED enum tutti_err tt_curve_auth_identify_socket(void *socket, const struct tt_curve_keys *own,
                                                           const uint8_t server[TUTTI_KEY_SIZE]);

#endif
