/* SPDX-License-Identifier: MIT */
#include "apps/web/access.h"

#include <arpa/inet.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "run/net/host_address.h"

/* An address in numbers: no name has led here. */
static bool is_numeric_host(const char *host)
{
    unsigned char bytes[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, host, bytes) == 1 || inet_pton(AF_INET6, host, bytes) == 1;
}

/* The machine's own name, with or without its domain. */
static bool is_own_host_name(const char *host)
{
    char own[256] = "";
    if (gethostname(own, sizeof own - 1) != 0 || !own[0])
        return false;
    size_t length = strcspn(own, ".");
    return strncasecmp(host, own, length) == 0 && (host[length] == '\0' || host[length] == '.');
}

static bool has_standard_port(const struct tt_access *gate, const char *host)
{
    const char *port = strrchr(gate->address, ':');
    bool bare = host[0] == '[' ? host[strlen(host) - 1] == ']' : !strchr(host, ':');
    return bare && port && strcmp(port, gate->encrypted ? ":443" : ":80") == 0;
}

bool tt_access_allows_host(const struct tt_access *gate, const char *host)
{
    struct tt_host_address given, own;
    char text[300];
    if (!host || !*host || strlen(host) > 250)
        return false;
    snprintf(text, sizeof text, "%s%s", host, has_standard_port(gate, host) ? gate->encrypted ? ":443" : ":80" : "");
    if (tt_host_address_read(&given, text, "Host", false) || tt_host_address_read(&own, gate->address, "Host", false) ||
        given.port != own.port)
        return false;
    if (gate->loopback)
        return tt_host_address_is_loopback(&given);
    return is_numeric_host(given.host) || strcasecmp(given.host, gate->host) == 0 || is_own_host_name(given.host);
}

bool tt_access_allows_origin(const struct tt_access *gate, const char *origin, const char *host)
{
    const char *scheme = gate->encrypted ? "https://" : "http://";
    size_t length = strlen(scheme);
    return !origin || (strncmp(origin, scheme, length) == 0 && strcasecmp(origin + length, host) == 0);
}

bool tt_access_allows_token(const struct tt_access *gate, const char *authorization)
{
    static const char BEARER[] = "Bearer ";
    size_t length = strlen(gate->token);
    if (!authorization || strncmp(authorization, BEARER, sizeof BEARER - 1) != 0)
        return false;
    const char *given = authorization + sizeof BEARER - 1;
    return strlen(given) == length && sodium_memcmp(given, gate->token, length) == 0;
}
