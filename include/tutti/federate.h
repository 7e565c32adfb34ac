/* SPDX-License-Identifier: MIT */
/* federate.h - a program joins a federation of HLA, as a federate of its own: over the HLA 4 Federate Protocol, with `tutti rti` or another RTI.
 *
 * The pull style: the program calls, and asks for the next event when it wants one; nothing is called back. Names of classes and attributes are
 * those of the federation's object model; values are bytes, as the object model's data types encode them (tutti_federate_put_double for
 * HLAfloat64BE). Times are doubles, also where the federation counts in integers (HLAinteger64Time), which must be whole then. A federate is
 * used by one thread at a time. A connection that is cut is resumed inside the calls; nothing is lost, and nothing comes twice.
 *
 * Functions fail with STATE where the RTI raised an exception of HLA, whose name the message begins with; with LOST where the RTI is gone. */
#ifndef TUTTI_FEDERATE_H
#define TUTTI_FEDERATE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tutti/err.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tutti_federate_client;

/* What is not said is NULL or 0. */
struct tutti_federate_options {
    const char *address;    /* of the RTI, "HOST:PORT" (localhost:15164) */
    const char *federation; /* needed */
    const char *name;       /* of this federate (made by the RTI) */
    const char *type;       /* of this federate ("tutti") */
    const char *const *
        modules; /* files: FOM modules. With these, the federation is created if it is not there, else they are added to its model */
    size_t module_count;
    const char *time; /* of a federation that is created: "HLAfloat64Time" (that), "HLAinteger64Time" */
    const char *key;  /* what the RTI wants to be shown (tutti rti --key) */
    bool
        tls; /* the connection is in TLS; `trust` is a PEM file with the RTI's certificate or its issuer's (the system's) */
    const char *trust, *certificate, *private_key; /* the last two: the federate's own, PEM files (none) */
    double patience;                               /* seconds for which a lost connection is tried again (10) */
    const volatile sig_atomic_t *interrupt; /* once it is not 0, calls that wait for others fail with INTERRUPTED */
};

/* Connects, creates the federation if need be, and joins. `*federate` is the caller's, until it leaves. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_federate_join(struct tutti_federate_client **federate,
                                                           const struct tutti_federate_options *options);
/* Resigns: its objects are deleted. Ends the connection and frees the federate, also if it fails. The federation is destroyed with its last
 * federate. NULL is fine. */
TUTTI_API enum tutti_err tutti_federate_leave(struct tutti_federate_client *federate);

/* ---- what it sends and receives: `attributes` is a list with commas, "z,v" ---- */

TUTTI_API TUTTI_CHECKED enum tutti_err tutti_federate_publish(struct tutti_federate_client *federate,
                                                              const char *object_class, const char *attributes);
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_federate_subscribe(struct tutti_federate_client *federate,
                                                                const char *object_class, const char *attributes);
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_federate_publish_interaction(struct tutti_federate_client *federate,
                                                                          const char *interaction_class);
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_federate_subscribe_interaction(struct tutti_federate_client *federate,
                                                                            const char *interaction_class);

/* The value of an attribute or a parameter. */
struct tutti_federate_value {
    const char *name;
    const void *data;
    size_t size;
};

/* A new object of a class that it publishes. `name` NULL: one is made. *object is a number of this federate's own. Regulate and constrain
 * first: a peer that waits for the object may go on in time as soon as it is there. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_federate_register(struct tutti_federate_client *federate,
                                                               const char *object_class, const char *name,
                                                               uint32_t *object);
/* `time`: the stamp; NULL: without, at once. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_federate_update(struct tutti_federate_client *federate, uint32_t object,
                                                             const struct tutti_federate_value *values, size_t count,
                                                             const double *time);
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_federate_send(struct tutti_federate_client *federate,
                                                           const char *interaction_class,
                                                           const struct tutti_federate_value *values, size_t count,
                                                           const double *time);
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_federate_delete(struct tutti_federate_client *federate, uint32_t object);

/* ---- time ---- */

/* What it sends with a stamp is ordered; it promises to send nothing below its time + lookahead. Waits until that holds. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_federate_regulate(struct tutti_federate_client *federate,
                                                               double lookahead);
/* What has a stamp comes in the order of stamps, and time goes on by grants only. Waits until that holds. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_federate_constrain(struct tutti_federate_client *federate);

enum tutti_federate_advance {
    TUTTI_FEDERATE_TAR,  /* to this time: all messages up to it, and none of that time comes later */
    TUTTI_FEDERATE_TARA, /* the same; messages of that time may still come */
    TUTTI_FEDERATE_NMR,  /* to the next message, or to this time */
    TUTTI_FEDERATE_NMRA,
    TUTTI_FEDERATE_FQR, /* all messages that wait, now */
};
/* Another lookahead, of a federate that regulates; a shorter one takes effect as its time goes on. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_federate_look_ahead(struct tutti_federate_client *federate,
                                                                 double lookahead);
/* Asks to go on; the grant comes as an event. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_federate_request(struct tutti_federate_client *federate,
                                                              enum tutti_federate_advance how, double time);
/* The time that was granted last. */
TUTTI_API double tutti_federate_time(const struct tutti_federate_client *federate);
/* Are the federation's times whole numbers (HLAinteger64Time)? */
TUTTI_API bool tutti_federate_counts(const struct tutti_federate_client *federate);

/* So many federates are in the federation now, this one included. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_federate_members(struct tutti_federate_client *federate, size_t *count);

/* Waits until all federates of the federation have come to this point of synchronization, which any of them may have registered. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_federate_synchronize(struct tutti_federate_client *federate,
                                                                  const char *label);

/* Has come to a point of synchronization that was announced, and does not wait for the others. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_federate_achieve(struct tutti_federate_client *federate,
                                                              const char *label);

/* ---- events ---- */

enum tutti_federate_event_kind {
    TUTTI_FEDERATE_NOTHING,     /* nothing came in time */
    TUTTI_FEDERATE_GRANT,       /* `time` is granted */
    TUTTI_FEDERATE_DISCOVER,    /* `object` of `class_name` is there, called `object_name` */
    TUTTI_FEDERATE_REMOVE,      /* `object` is gone */
    TUTTI_FEDERATE_REFLECT,     /* `values` of `object` */
    TUTTI_FEDERATE_INTERACTION, /* `values` of an interaction of `class_name` */
    TUTTI_FEDERATE_PROVIDE,     /* others want values of its `object`; `values` have names only */
    TUTTI_FEDERATE_ANNOUNCE,    /* the point of synchronization `label` is there, and waits for this federate, too */
};

/* Lives until the next call for this federate. */
struct tutti_federate_event {
    enum tutti_federate_event_kind kind;
    bool timed; /* `time` counts */
    double time;
    uint32_t object;
    const char *class_name, *object_name;
    const struct tutti_federate_value *values;
    size_t count;
    const char *label;
};

/* The next event, in the order in which the RTI tells; waits for at most so many seconds (negative: without end). */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_federate_next(struct tutti_federate_client *federate, double timeout,
                                                           struct tutti_federate_event *event);

/* HLAfloat64BE. */
TUTTI_API void tutti_federate_put_double(unsigned char bytes[8], double value);
/* False: it is not 8 bytes. */
TUTTI_API bool tutti_federate_get_double(const struct tutti_federate_value *value, double *number);

#ifdef __cplusplus
}
#endif
#endif
