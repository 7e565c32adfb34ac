/* SPDX-License-Identifier: MIT */
#include "base/child_signals.h"

#include <signal.h>
#include <sys/wait.h>

/* A child that has ended still has its number until it is collected. */
static bool is_child(pid_t pid)
{
    siginfo_t info;
    return pid > 1 && waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0;
}

bool tt_child_kill(pid_t pid, int number)
{
    return is_child(pid) && kill(pid, number) == 0;
}

bool tt_child_kill_group(pid_t pid, int number)
{
    return is_child(pid) && kill(-pid, number) == 0; /* a group has the number of the process that made it */
}
