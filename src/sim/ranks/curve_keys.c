/* SPDX-License-Identifier: MIT */
#include "sim/ranks/curve_keys.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <zmq.h>

/* ZeroMQ writes keys in Z85: 40 characters and a zero byte. */
enum { Z85_SIZE = 41 };

static enum tutti_err fail_no_curve(void)
{
    return tt_fail(TUTTI_ERR_UNSUPPORTED, "the ZeroMQ library of this machine has no CURVE (%s)",
                   zmq_strerror(zmq_errno()));
}

enum tutti_err tt_curve_auth_make_keys(struct tt_curve_keys *keys)
{
    char public_key[Z85_SIZE], secret_key[Z85_SIZE];
    if (zmq_curve_keypair(public_key, secret_key) != 0)
        return fail_no_curve();
    bool good = zmq_z85_decode(keys->public_key, public_key) && zmq_z85_decode(keys->secret_key, secret_key);
    explicit_bzero(secret_key, sizeof secret_key);
    return good ? TUTTI_OK : fail_no_curve();
}

enum tutti_err tt_curve_auth_derive_keys(struct tt_curve_keys *keys)
{
    char public_key[Z85_SIZE], secret_key[Z85_SIZE];
    bool good = zmq_z85_encode(secret_key, keys->secret_key, sizeof keys->secret_key) &&
                zmq_curve_public(public_key, secret_key) == 0 && zmq_z85_decode(keys->public_key, public_key);
    explicit_bzero(secret_key, sizeof secret_key);
    return good ? TUTTI_OK : fail_no_curve();
}

void tt_curve_auth_wipe_keys(struct tt_curve_keys *keys)
{
    explicit_bzero(keys, sizeof *keys);
}

void tt_curve_auth_format_key(const uint8_t key[TUTTI_KEY_SIZE], char text[TUTTI_KEY_TEXT])
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < TUTTI_KEY_SIZE; i++) {
        text[2 * i] = digits[key[i] >> 4];
        text[2 * i + 1] = digits[key[i] & 15];
    }
    text[TUTTI_KEY_TEXT - 1] = '\0';
}

static int key_hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

enum tutti_err tt_curve_auth_parse_key(const char *text, uint8_t key[TUTTI_KEY_SIZE])
{
    uint8_t bytes[TUTTI_KEY_SIZE];
    bool good = strlen(text) == TUTTI_KEY_TEXT - 1;
    for (int i = 0; good && i < TUTTI_KEY_SIZE; i++) {
        int high = key_hex_digit(text[2 * i]), low = key_hex_digit(text[2 * i + 1]);
        good = high >= 0 && low >= 0;
        bytes[i] = good ? (uint8_t)(16 * high + low) : 0;
    }
    if (good)
        memcpy(key, bytes, sizeof bytes);
    explicit_bzero(bytes, sizeof bytes); /* it may be a secret */
    return good ? TUTTI_OK
                : tt_fail(TUTTI_ERR_FORMAT, "a key is %d hexadecimal digits; this is none", TUTTI_KEY_TEXT - 1);
}

enum tutti_err tt_curve_auth_random_bytes(void *bytes, size_t size)
{
    for (size_t have = 0; have < size;) {
        ssize_t got = getrandom((char *)bytes + have, size - have, 0);
        if (got < 0 && errno != EINTR)
            return tt_fail(TUTTI_ERR_IO, "no random numbers: %s", strerror(errno));
        have += got > 0 ? (size_t)got : 0;
    }
    return TUTTI_OK;
}
