/* SPDX-License-Identifier: MIT */
/* curve_keys.h - pairs of keys for CURVE (Curve25519), by which programs on several machines know each other. */
#ifndef TT_SIM_RANKS_CURVE_KEYS_H
#define TT_SIM_RANKS_CURVE_KEYS_H

#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"

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

/* Bytes that cannot be guessed: identities of runs. */
TUTTI_CHECKED enum tutti_err tt_curve_auth_random_bytes(void *bytes, size_t size);

#endif
