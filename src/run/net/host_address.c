/* SPDX-License-Identifier: MIT */
#include "run/net/host_address.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

enum tutti_err tt_host_address_read(struct tt_host_address *out, const char *text, const char *option, bool any)
{
    const char *colon = strrchr(text, ':'), *begin = text, *end = colon;
    if (colon && text[0] == '[' && colon > text + 1 && colon[-1] == ']') {
        begin = text + 1;
        end = colon - 1;
    }
    size_t length = colon ? (size_t)(end - begin) : 0, digits = colon ? strspn(colon + 1, "0123456789") : 0;
    bool bracketed = begin != text;
    long port = 0;
    for (size_t i = 0; i < digits && port <= 65535; i++)
        port = 10 * port + (colon[1 + i] - '0');
    if (length == 0 || length >= sizeof out->host || digits == 0 || colon[1 + digits] || port > 65535 ||
        (port == 0 && !any) || strcspn(begin, "/ \t*[]") < length || (!bracketed && memchr(begin, ':', length)))
        return tt_fail(TUTTI_ERR_ARGUMENT, "%s: '%s' is not HOST:PORT (or [IPv6]:PORT), for instance 10.0.0.2:7000",
                       option, tt_text_excerpt(text).text);
    snprintf(out->host, sizeof out->host, "%.*s", (int)length, begin);
    out->port = (int)port;
    return TUTTI_OK;
}

bool tt_host_address_is_loopback(const struct tt_host_address *address)
{
    const char *host = address->host;
    bool numeric = strspn(host, "0123456789.") == strlen(host);
    return strcasecmp(host, "localhost") == 0 || strcmp(host, "::1") == 0 || (numeric && strncmp(host, "127.", 4) == 0);
}

void tt_host_address_endpoint(const struct tt_host_address *address, char *out, size_t size)
{
    bool colons = strchr(address->host, ':') != NULL;
    snprintf(out, size, "tcp://%s%s%s:%d", colons ? "[" : "", address->host, colons ? "]" : "", address->port);
}
