/* SPDX-License-Identifier: MIT */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void output_complain(const char *path, int number)
{
    fprintf(stderr, "tutti: error: '%s' cannot be written: %s\n", path,
            number ? strerror(number) : "the disk may be full");
}

bool output_can_be_written(const char *path)
{
    bool there = access(path, F_OK) == 0;
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) {
        output_complain(path, errno);
        return false;
    }
    close(fd);
    if (!there)
        remove(path);
    return true;
}
