/* SPDX-License-Identifier: MIT */
/* Watches a federation: prints every value of an attribute with its time, until the object is gone. It holds no other federate up.
 *
 *     federate_watch FEDERATION CLASS ATTRIBUTE [HOST:PORT [TRUST.pem [OWN.pem [KEY]]]]
 *
 * With TRUST.pem, a certificate that the RTI must have or that issued it, the connection is in TLS; OWN.pem has a certificate and its key, where the RTI wants
 * one (-: none); KEY is what the RTI wants to be shown. */
#include <stdio.h>
#include <string.h>
#include <tutti/federate.h>

static enum tutti_err watch(struct tutti_federate_client *federate, const char *class, const char *attribute)
{
    struct tutti_federate_event event = {0};
    enum tutti_err err = tutti_federate_subscribe(federate, class, attribute);
    while (!err && event.kind != TUTTI_FEDERATE_REMOVE) {
        double value = 0;
        err = tutti_federate_next(federate, -1, &event);
        if (!err && event.kind == TUTTI_FEDERATE_DISCOVER)
            printf("%s is there\n", event.object_name);
        if (!err && event.kind == TUTTI_FEDERATE_REFLECT && tutti_federate_get_double(&event.values[0], &value))
            printf("%g %s.%s %g\n", event.time, event.object_name, event.values[0].name, value);
        fflush(stdout);
    }
    return err;
}

int main(int argc, char **argv)
{
    struct tutti_federate_client *federate = NULL;
    if (argc < 4) {
        fputs("usage: federate_watch FEDERATION CLASS ATTRIBUTE [HOST:PORT [TRUST.pem [OWN.pem [KEY]]]]\n", stderr);
        return 2;
    }
    struct tutti_federate_options options = {.address = argc > 4 ? argv[4] : NULL,
                                             .federation = argv[1],
                                             .tls = argc > 5,
                                             .trust = argc > 5 ? argv[5] : NULL,
                                             .key = argc > 7 ? argv[7] : NULL};
    if (argc > 6 && strcmp(argv[6], "-") != 0)
        options.certificate = options.private_key = argv[6];
    enum tutti_err err = tutti_federate_join(&federate, &options);
    err = err ? err : watch(federate, argv[2], argv[3]);
    if (err)
        fprintf(stderr, "watch: %s\n", tutti_err_message());
    return tutti_federate_leave(federate) || err;
}
