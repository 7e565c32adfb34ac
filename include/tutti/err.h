/* SPDX-License-Identifier: MIT */
/* err.h - how Tutti's functions fail.
 *
 * Every function that can fail returns an enum tutti_err; 0 is success. The function that detects a failure writes the
 * message (what, where, what to do) into the calling thread's error record; its callers pass on the code. */
#ifndef TUTTI_ERR_H
#define TUTTI_ERR_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TUTTI_API __attribute__((visibility("default")))
#define TUTTI_CHECKED __attribute__((warn_unused_result))
#define TUTTI_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define TUTTI_API
#define TUTTI_CHECKED
#define TUTTI_PRINTF(f, a)
#endif

/* One list gives the enumeration and tutti_err_name(). */
#define TUTTI_ERRORS(X)                                                                                                \
    X(OK, "ok")                                                                                                        \
    X(MEMORY, "out of memory")                                                                                         \
    X(IO, "input or output failed")                                                                                    \
    X(FORMAT, "malformed file")                                                                                        \
    X(LIMIT, "a safety limit was exceeded")                                                                            \
    X(UNSUPPORTED, "not supported")                                                                                    \
    X(ARGUMENT, "wrong argument or option")                                                                            \
    X(LOAD, "a library cannot be loaded")                                                                              \
    X(FMU, "the FMU reported an error")                                                                                \
    X(FATAL, "the FMU reported a fatal error")                                                                         \
    X(SOLVER, "a solver cannot go on")                                                                                 \
    X(STATE, "a call that is out of order")                                                                            \
    X(INTERRUPTED, "interrupted")                                                                                      \
    X(DISCARD, "the FMU cannot compute this point")                                                                    \
    X(STOPPED, "another rank ended the run")                                                                           \
    X(LOST, "a worker or a node is lost")

enum tutti_err {
#define X(name, text) TUTTI_ERR_##name,
    TUTTI_ERRORS(X)
#undef X
};
#define TUTTI_OK TUTTI_ERR_OK

/* A short name for the kind of error ("malformed file"). Static. */
TUTTI_API const char *tutti_err_name(enum tutti_err err);

/* Returns the message of the last failure on this thread: what, where, what to do. Valid until this thread's next
 * failure; "" if nothing failed yet. */
TUTTI_API const char *tutti_err_message(void);

/* The functions below name the component, variable and time of the last failure on this thread, where these are known.
 * The texts are valid as long as its message. */
/* The component; NULL if the failure does not concern a particular one. */
TUTTI_API const char *tutti_err_unit(void);
/* The variable, by its name in the FMU, or as the program called it if the FMU has no such variable. NULL if the
 * failure does not concern a particular one. */
TUTTI_API const char *tutti_err_variable(void);
/* The simulated time; NaN if the failure has no time or happened before the run. */
TUTTI_API double tutti_err_time(void);

#ifdef __cplusplus
}
#endif
#endif
