/* SPDX-License-Identifier: MIT */
/* HDF5 checks sums of most that is in a file, but not of its heap of strings, and up to 1.14 takes what stands there on trust: a
 * broken one ends in a fault or in a loop without end (H5HG_read). So a copy of this process reads the strings first. */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "results/hdf5/hdf5_module_parts.h"

/* How long the copy may compute: a hundred thousand names, of 10 MB, take a fifth of a second. */
static rlim_t trial_seconds(const char *path)
{
    struct stat st = {0};
    stat(path, &st);
    return 1 + (rlim_t)st.st_size / (16 << 20);
}

static _Noreturn void try_in_child(const char *path)
{
    static const int ends[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU, SIGTERM, SIGINT};
    struct tt_hdf5_reader *reader = NULL;
    struct tt_hdf5_content content;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        signal(ends[i], SIG_DFL); /* no handler is to run */
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    rlim_t seconds = trial_seconds(path);
    setrlimit(RLIMIT_CPU, &(struct rlimit){seconds, seconds + 1});
    (void)!tt_hdf5_reader_new(&reader, path, &content); /* a failure is told by who asks for it again */
    for (;;)
        syscall(SYS_exit_group, 0); /* past what a sanitizer looks for at an end: this is not one */
}

enum tutti_err tt_hdf5_reader_try(const char *path)
{
    int status = 0;
    pid_t copy = fork();
    if (copy < 0)
        return tt_hdf5_module_host->fail_memory();
    if (copy == 0)
        try_in_child(path);
    while (waitpid(copy, &status, 0) < 0)
        if (errno != EINTR)
            return TUTTI_OK; /* the program does not let us wait for it */
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return TUTTI_OK;
    return tt_hdf5_module_host->fail(TUTTI_ERR_FORMAT,
                                     "cannot read %s: the file is broken: HDF5 does not find its way through it", path);
}
