/* SPDX-License-Identifier: MIT */
#include "service.h"

#include <sys/resource.h>
#include <unistd.h>

volatile sig_atomic_t service_ended_by;

static void on_signal(int number)
{
    if (service_ended_by)
        _exit(128 + number);
    service_ended_by = number;
}

void service_heed_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
}

void service_raise_limit_of_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}
