/* SPDX-License-Identifier: MIT */
#include "fmi/location.h"

#include <string.h>

void tutti_location_uri(struct tutti_text *out, const char *path)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    tutti_text_append(out, "file://");
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)path[i];
        /* RFC 3986: unreserved characters and the slash stand for themselves. */
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     strchr("-._~/", c) != NULL;
        if (plain)
            tutti_text_append_n(out, &path[i], 1);
        else
            tutti_text_printf(out, "%%%02X", c);
    }
}
