/* SPDX-License-Identifier: MIT */
/* base/fail.h - the error idiom inside the library.
 *
 * The function that detects a failure calls tt_fail() and returns its result; callers write TRY(f(...)). A caller with
 * more context prepends it by tt_fail_context(). */
#ifndef TT_BASE_FAIL_H
#define TT_BASE_FAIL_H

#include <stdbool.h>
#include <tutti/err.h>

/* Leave the calling function with the error of `expr`, if it has one. */
#define TRY(expr)                                                                                                      \
    do {                                                                                                               \
        enum tutti_err try_err_ = (expr);                                                                              \
        if (__builtin_expect(try_err_ != TUTTI_OK, 0))                                                                 \
            return try_err_;                                                                                           \
    } while (0)

/* Record a failure for this thread; returns `err`. Messages are cut at about 4 kB. */
enum tutti_err tt_fail(enum tutti_err err, const char *format, ...) TUTTI_PRINTF(2, 3);

/* Reports that memory is out. */
enum tutti_err tt_fail_memory(void);

/* Put "format: " in front of this thread's message; returns `err`, and does nothing for TUTTI_OK. */
enum tutti_err tt_fail_context(enum tutti_err err, const char *format, ...) TUTTI_PRINTF(2, 3);

/* The subject of a failure, for programs. Long names are cut; "" and NaN: unknown. */
struct tt_fail_subject {
    char unit[256], variable[512];
    double time;
};
/* Adds to the subject of this thread's failure, after it was recorded; NULL and NaN add nothing, and known parts stay.
 * Returns `err`, and does nothing for TUTTI_OK. */
enum tutti_err tt_fail_about(enum tutti_err err, const char *unit, const char *variable, double time);
/* Returns the subject of this thread's last failure. */
struct tt_fail_subject tt_fail_subject(void);

/* A failure with its message, kept while further calls may fail, such as closing and releasing. */
struct tt_failure {
    enum tutti_err err;
    char message[4200];
    struct tt_fail_subject about;
};
/* This thread's message, as that of `err`. */
void tt_fail_save(struct tt_failure *failure, enum tutti_err err);
/* The message is this thread's again; returns the error. Nothing happens for TUTTI_OK. */
enum tutti_err tt_fail_restore(const struct tt_failure *failure);

/* How many failures this thread has recorded so far. */
unsigned long tt_fail_count(void);
/* After a call of code that is not ours: if it failed and has recorded nothing since tt_fail_count() was `before`, the message
 * of an earlier failure is not its own, and `words` take its place. Returns `err`. */
enum tutti_err tt_fail_without_message(enum tutti_err err, unsigned long before, const char *words);

#endif
