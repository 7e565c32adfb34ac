/* SPDX-License-Identifier: MIT */
#include "fmu/fmi_convert.h"

#include <string.h>

void tt_fmi_convert_path_to_uri(struct tt_text *out, const char *path)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    tt_text_append(out, "file://");
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)path[i];
        /* RFC 3986: unreserved characters and the slash stand for themselves. */
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     strchr("-._~/", c) != NULL;
        if (plain)
            tt_text_append_n(out, &path[i], 1);
        else
            tt_text_printf(out, "%%%02X", c);
    }
}
