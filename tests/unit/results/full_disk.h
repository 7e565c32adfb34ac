/* SPDX-License-Identifier: MIT */
/* full_disk.h - a result file that may not grow beyond a limit: by another process, whose limit it is. */
#ifndef TUTTI_TEST_FULL_DISK_H
#define TUTTI_TEST_FULL_DISK_H

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "results/recorder.h"
#include "test.h"

static inline void limit_files(off_t limit)
{
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){(rlim_t)limit, (rlim_t)limit});
}

static inline void assert_child_is_well(pid_t child)
{
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* Rows until one does not fit; x, which is in a column, goes with the time. 0: it failed as it should. */
static inline int fill(const struct tt_record_format *format, const char *path, const struct tt_column *columns,
                       size_t count, double *x)
{
    struct tt_recorder *recorder = NULL;
    if (format->open(&recorder, path, columns, count) != TUTTI_OK)
        return 1;
    enum tutti_err err = TUTTI_OK;
    for (int i = 0; i < 1000000 && err == TUTTI_OK; i++) {
        *x = i * 0.1;
        err = format->row(recorder, i);
    }
    if (err != TUTTI_ERR_IO)
        return 2;
    for (int i = 0; i < 3; i++) { /* and it stays so, with the same words, for every call */
        (void)tt_fail(TUTTI_ERR_STATE, "another failure");
        enum tutti_err again = i == 0   ? format->row(recorder, 1e9)
                               : i == 1 ? format->flush(recorder)
                                        : (format->emergency(recorder), format->close(recorder));
        if (again != TUTTI_ERR_IO || !strstr(tutti_err_message(), path) ||
            !strstr(tutti_err_message(), "rows before are kept") || !strstr(tutti_err_message(), "too large"))
            return 3 + i;
    }
    return 0;
}

static inline void fill_up(const struct tt_record_format *format, const char *path, const struct tt_column *columns,
                           size_t count, double *x, off_t limit)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        limit_files(limit);
        _exit(fill(format, path, columns, count, x));
    }
    assert_child_is_well(child);
}

#endif
