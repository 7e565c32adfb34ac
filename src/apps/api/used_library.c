/* SPDX-License-Identifier: MIT */
/* Apart from version.c, which packed systems (src/packed) contain: each would bring ZeroMQ and the ten libraries that it needs. */
#include <expat.h>
#include <stdio.h>
#include <tutti/run.h>
#include <zip.h>
#include <zmq.h>

#include "solve/solver.h"

bool tutti_used_library_get(size_t number, struct tutti_used_library *out)
{
    static const char *const names[] = {"sundials", "zeromq", "libzip", "expat"};
    enum { COUNT = sizeof names / sizeof *names };
    if (number >= COUNT)
        return false;
    int major, minor, patch;
    zmq_version(&major, &minor, &patch);
    *out = (struct tutti_used_library){.name = names[number]};
    switch (number) {
    case 0: tt_sundials_version(out->version, sizeof out->version); break;
    case 1: snprintf(out->version, sizeof out->version, "%d.%d.%d", major, minor, patch); break;
    case 2: snprintf(out->version, sizeof out->version, "%s", zip_libzip_version()); break;
    default: {
        XML_Expat_Version expat = XML_ExpatVersionInfo();
        snprintf(out->version, sizeof out->version, "%d.%d.%d", expat.major, expat.minor, expat.micro);
    }
    }
    return true;
}
