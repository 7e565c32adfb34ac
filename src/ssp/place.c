/* SPDX-License-Identifier: MIT */
/* Files on the disk as streams. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "ssp/package.h"

struct stream {
    int fd;
    char *shown;
};

void tutti_place_fini(struct tutti_place *place)
{
    free(place->path);
    free(place->shown);
    free(place->fragment);
    *place = (struct tutti_place){0};
}

static enum tutti_err fail_reading(const char *shown, int error)
{
    return tutti_fail(TUTTI_ERR_IO, "cannot read %s: %s", shown, strerror(error));
}

static enum tutti_err read_stream(void *context, void *buffer, size_t size, size_t *got)
{
    const struct stream *stream = context;
    ssize_t n;
    do
        n = read(stream->fd, buffer, size);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return fail_reading(stream->shown, errno);
    *got = (size_t)n;
    return TUTTI_OK;
}

enum tutti_err tutti_place_begin_read(const struct tutti_place *place, struct tutti_reader *reader)
{
    *reader = (struct tutti_reader){0};
    struct stream *stream = malloc(sizeof *stream);
    if (!stream)
        return tutti_fail_memory();
    /* O_NONBLOCK: a named pipe must not hold us up. */
    stream->fd = open(place->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    stream->shown = tutti_str_copy(place->shown);
    *reader = (struct tutti_reader){read_stream, stream};
    struct stat st;
    if (stream->fd < 0 || fstat(stream->fd, &st) != 0)
        return fail_reading(place->shown, errno);
    if (!stream->shown)
        return tutti_fail_memory();
    if (!S_ISREG(st.st_mode))
        return tutti_fail(TUTTI_ERR_IO, "cannot read %s: it is %s, expected a file", place->shown,
                          S_ISDIR(st.st_mode) ? "a folder" : "not a plain file");
    return TUTTI_OK;
}

void tutti_place_end_read(struct tutti_reader *reader)
{
    struct stream *stream = reader->context;
    if (!stream)
        return;
    if (stream->fd >= 0)
        close(stream->fd);
    free(stream->shown);
    free(stream);
    *reader = (struct tutti_reader){0};
}
