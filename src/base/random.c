/* SPDX-License-Identifier: MIT */
#include "base/random.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

enum { MOST_BYTES = 32 }; /* of a token */

enum tutti_err tt_random_bytes(void *bytes, size_t size)
{
    for (size_t have = 0; have < size;) {
        ssize_t got = getrandom((char *)bytes + have, size - have, 0);
        if (got < 0 && errno != EINTR)
            return tt_fail(TUTTI_ERR_IO, "cannot create a token: getrandom failed: %s", strerror(errno));
        have += got > 0 ? (size_t)got : 0;
    }
    return TUTTI_OK;
}

enum tutti_err tt_random_token(char *text, size_t size)
{
    unsigned char bytes[MOST_BYTES];
    size_t count = (size - 1) / 2;
    *text = '\0';
    TRY(tt_random_bytes(bytes, count));
    for (size_t i = 0; i < count; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    explicit_bzero(bytes, sizeof bytes);
    return TUTTI_OK;
}
