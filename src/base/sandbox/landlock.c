/* SPDX-License-Identifier: MIT */
#include "base/sandbox/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Names that the kernel headers of Debian 12 do not have yet. */
enum {
    FS_REFER = 1 << 13,    /* from version 2 on: move and link from one folder to another */
    FS_TRUNCATE = 1 << 14, /* 3 */
    FS_IOCTL_DEV = 1 << 15 /* 5 */
};
enum { NET_BIND_TCP = 1, NET_CONNECT_TCP = 2 };         /* 4 */
enum { SCOPE_ABSTRACT_SOCKETS = 1, SCOPE_SIGNALS = 2 }; /* 6 */

enum {
    READ = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR,
    WRITE = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
            LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SYM |
            LANDLOCK_ACCESS_FS_MAKE_FIFO | FS_REFER | FS_TRUNCATE,
    OF_FILES = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_READ_FILE | FS_TRUNCATE,
    FIRST = (1 << 13) - 1 /* all rights of version 1 */
};

struct ruleset {
    uint64_t files, net, scope;
};

int tt_landlock_version(void)
{
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    return version > 0 ? (int)version : 0;
}

static enum tutti_err landlock_fail(const char *what)
{
    return tt_fail(TUTTI_ERR_IO, "a worker cannot be confined by Landlock: %s: %s", what, strerror(errno));
}

/* A path that is gone by now needs no rule. */
static enum tutti_err landlock_add_path(int ruleset, const struct tt_allowed_path *allowed, uint64_t rights)
{
    struct stat status;
    int fd = open(allowed->path, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return TUTTI_OK;
    rights &= (uint64_t)READ | (allowed->write ? WRITE : 0) | (allowed->run ? LANDLOCK_ACCESS_FS_EXECUTE : 0);
    if (fstat(fd, &status) == 0 && !S_ISDIR(status.st_mode))
        rights &= OF_FILES;
    struct landlock_path_beneath_attr rule = {.allowed_access = rights, .parent_fd = fd};
    enum tutti_err err = syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0
                             ? TUTTI_OK
                             : landlock_fail(allowed->path);
    close(fd);
    return err;
}

enum tutti_err tt_landlock_apply(const struct tt_policy *policy)
{
    int version = tt_landlock_version();
    uint64_t rights = FIRST;
    rights |= version >= 2 ? FS_REFER : 0;
    rights |= version >= 3 ? FS_TRUNCATE : 0;
    rights |= version >= 5 ? FS_IOCTL_DEV : 0;
    struct ruleset handled = {
        .files = rights,
        .net = version >= 4 && !policy->keeps_net && !policy->net ? NET_BIND_TCP | NET_CONNECT_TCP : 0,
        .scope = version >= 6 ? SCOPE_ABSTRACT_SOCKETS | SCOPE_SIGNALS : 0,
    };
    size_t size = version >= 6 ? sizeof handled : version >= 4 ? 2 * sizeof(uint64_t) : sizeof(uint64_t);
    int ruleset = (int)syscall(SYS_landlock_create_ruleset, &handled, size, 0);
    if (ruleset < 0)
        return landlock_fail("create_ruleset");
    enum tutti_err err = TUTTI_OK;
    for (size_t i = 0; i < policy->path_count && !err; i++)
        err = landlock_add_path(ruleset, &policy->paths[i], handled.files);
    if (!err && syscall(SYS_landlock_restrict_self, ruleset, 0) != 0)
        err = landlock_fail("restrict_self");
    close(ruleset);
    return err;
}
