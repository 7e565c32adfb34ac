/* SPDX-License-Identifier: MIT */
/* federate.h - lets a program join an HLA federation as a separate federate, over the HLA 4 Federate Protocol, with
 * `tutti rti` or a different RTI.
 *
 * The interface is of the pull style: the program makes calls and polls for events; there are no callbacks. Names of
 * classes and attributes are those of the federation's object model. Values are bytes, encoded as the object model's
 * data types require (tutti_federate_put_double for HLAfloat64BE). Times are doubles; in a federation with integer time
 * (HLAinteger64Time) they must be whole numbers. A federate is used by one thread at a time. A broken connection is
 * resumed inside the calls; no message is lost or duplicated.
 *
 * Functions fail with STATE if the RTI raised an HLA exception, whose name begins the message, and with LOST if the RTI
 * is gone. */
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

/* Options of tutti_federate_join. Fields that are NULL or 0 have the default in parentheses. */
struct tutti_federate_options {
    const char *address;    /* address of the RTI, "HOST:PORT" (localhost:15164) */
    const char *federation; /* name of the federation; required */
    const char *name;       /* name of this federate (chosen by the RTI) */
    const char *type;       /* type of this federate ("tutti") */
    /* FOM module files. With modules, the federation is created if it does not exist; otherwise they are added to its
     * model. */
    const char *const *modules;
    size_t module_count;
    /* time representation of a federation that is created: "HLAfloat64Time" (default), "HLAinteger64Time" */
    const char *time;
    const char *key; /* the key that the RTI requires (tutti rti --key) */
    /* connect by TLS; `trust` is a PEM file with the certificate of the RTI or of its issuer (the system's
     * certificates) */
    bool tls;
    /* `certificate` and `private_key` are PEM files of this federate (none) */
    const char *trust, *certificate, *private_key;
    double patience;                        /* seconds during which a lost connection is retried (10) */
    const volatile sig_atomic_t *interrupt; /* once it is not 0, calls that wait fail with INTERRUPTED */
};

/* Connects, creates the federation if necessary, and joins it. *federate belongs to the caller, who releases it by
 * tutti_federate_leave. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_federate_join(struct tutti_federate_client **federate,
                                                           const struct tutti_federate_options *options);
/* Resigns, which deletes the federate's objects, closes the connection and frees the federate, even on failure. The
 * last federate to leave destroys the federation. NULL is allowed. */
TUTTI_API enum tutti_err tutti_federate_leave(struct tutti_federate_client *federate);

/* ---- declarations: `attributes` is a list separated by commas, "z,v" ---- */

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

/* Creates an object of a published class. `name` NULL: the RTI chooses the name. *object is a number that is valid for
 * this federate only. Call tutti_federate_regulate and tutti_federate_constrain first: a peer that waits for the object
 * may advance in time as soon as it exists. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_federate_register(struct tutti_federate_client *federate,
                                                               const char *object_class, const char *name,
                                                               uint32_t *object);
/* Sends new values of an object. `time` is the time stamp; NULL: no time stamp, delivered at once. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_federate_update(struct tutti_federate_client *federate, uint32_t object,
                                                             const struct tutti_federate_value *values, size_t count,
                                                             const double *time);
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_federate_send(struct tutti_federate_client *federate,
                                                           const char *interaction_class,
                                                           const struct tutti_federate_value *values, size_t count,
                                                           const double *time);
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_federate_delete(struct tutti_federate_client *federate, uint32_t object);

/* ---- time ---- */

/* Makes this federate time-regulating: its time-stamped messages are ordered, and it sends none below its time +
 * lookahead. Waits until the RTI has confirmed it. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_federate_regulate(struct tutti_federate_client *federate,
                                                               double lookahead);
/* Makes this federate time-constrained: time-stamped messages arrive in the order of their stamps, and its time
 * advances by grants only. Waits until the RTI has confirmed it. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_federate_constrain(struct tutti_federate_client *federate);

enum tutti_federate_advance {
    TUTTI_FEDERATE_TAR,  /* advance to this time; all messages up to it are delivered, and none with that time follow */
    TUTTI_FEDERATE_TARA, /* advance to this time; further messages with that time may follow */
    TUTTI_FEDERATE_NMR,  /* advance to the next message or to this time, whichever comes first */
    TUTTI_FEDERATE_NMRA,
    TUTTI_FEDERATE_FQR, /* deliver all queued messages now */
};
/* Changes the lookahead of a time-regulating federate; a shorter lookahead takes effect as its time advances. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_federate_look_ahead(struct tutti_federate_client *federate,
                                                                 double lookahead);
/* Requests an advance of time; the grant arrives as an event. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_federate_request(struct tutti_federate_client *federate,
                                                              enum tutti_federate_advance how, double time);
/* Returns the time that was granted last. */
TUTTI_API double tutti_federate_time(const struct tutti_federate_client *federate);
/* Returns true if the federation's times are whole numbers (HLAinteger64Time). */
TUTTI_API bool tutti_federate_counts(const struct tutti_federate_client *federate);

/* Counts the federates that are in the federation now, including this federate. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_federate_members(struct tutti_federate_client *federate, size_t *count);

/* Waits until all federates of the federation have reached this synchronization point, which any of them may have
 * registered. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_federate_synchronize(struct tutti_federate_client *federate,
                                                                  const char *label);

/* Reports that this federate has reached a synchronization point that was announced; does not wait for the federation. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_federate_achieve(struct tutti_federate_client *federate,
                                                              const char *label);

/* ---- events ---- */

enum tutti_federate_event_kind {
    TUTTI_FEDERATE_NOTHING,     /* no event within the timeout */
    TUTTI_FEDERATE_GRANT,       /* time was advanced to `time` */
    TUTTI_FEDERATE_DISCOVER,    /* `object` of `class_name` was discovered; its name is `object_name` */
    TUTTI_FEDERATE_REMOVE,      /* `object` was removed */
    TUTTI_FEDERATE_REFLECT,     /* new `values` of `object` */
    TUTTI_FEDERATE_INTERACTION, /* `values` of an interaction of `class_name` */
    /* values of `object`, which this federate owns, are requested; `values` contain names only */
    TUTTI_FEDERATE_PROVIDE,
    TUTTI_FEDERATE_ANNOUNCE, /* the synchronization point `label` was announced and waits for this federate */
};

/* Valid until the next call for this federate. */
struct tutti_federate_event {
    enum tutti_federate_event_kind kind;
    bool timed; /* `time` is valid */
    double time;
    uint32_t object;
    const char *class_name, *object_name;
    const struct tutti_federate_value *values;
    size_t count;
    const char *label;
};

/* Returns the next event, in the order in which the RTI reports them. Waits at most `timeout` seconds; negative:
 * without limit. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_federate_next(struct tutti_federate_client *federate, double timeout,
                                                           struct tutti_federate_event *event);

/* Encodes a value as HLAfloat64BE. */
TUTTI_API void tutti_federate_put_double(unsigned char bytes[8], double value);
/* Decodes HLAfloat64BE; false if the value does not have 8 bytes. */
TUTTI_API bool tutti_federate_get_double(const struct tutti_federate_value *value, double *number);

#ifdef __cplusplus
}
#endif
#endif
