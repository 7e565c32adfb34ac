/* SPDX-License-Identifier: MIT */
/* Files on the disk as streams. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "model/ssp/package.h"

struct package_stream {
    int fd;
    char *shown;
};

void tt_package_place_fini(struct tt_package_place *place)
{
    free(place->path);
    free(place->shown);
    free(place->fragment);
    *place = (struct tt_package_place){0};
}

static enum tutti_err package_fail_reading(const char *shown, int error)
{
    return tt_fail(TUTTI_ERR_IO, "cannot read %s: %s", shown, strerror(error));
}

static enum tutti_err package_read_stream(void *context, void *buffer, size_t size, size_t *got)
{
    const struct package_stream *stream = context;
    ssize_t n;
    do
        n = read(stream->fd, buffer, size);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return package_fail_reading(stream->shown, errno);
    *got = (size_t)n;
    return TUTTI_OK;
}

enum tutti_err tt_package_open_file(const struct tt_package_place *place, struct tt_byte_source *reader)
{
    *reader = (struct tt_byte_source){0};
    struct package_stream *stream = malloc(sizeof *stream);
    if (!stream)
        return tt_fail_memory();
    /* O_NONBLOCK: a named pipe must not hold us up. */
    stream->fd = open(place->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    stream->shown = tt_text_copy(place->shown);
    *reader = (struct tt_byte_source){package_read_stream, stream};
    struct stat st;
    if (stream->fd < 0 || fstat(stream->fd, &st) != 0)
        return package_fail_reading(place->shown, errno);
    if (!stream->shown)
        return tt_fail_memory();
    if (!S_ISREG(st.st_mode))
        return tt_fail(TUTTI_ERR_IO, "cannot read %s: it is %s, expected a file", place->shown,
                       S_ISDIR(st.st_mode) ? "a folder" : "not a plain file");
    return TUTTI_OK;
}

void tt_package_close_file(struct tt_byte_source *reader)
{
    struct package_stream *stream = reader->context;
    if (!stream)
        return;
    if (stream->fd >= 0)
        close(stream->fd);
    free(stream->shown);
    free(stream);
    *reader = (struct tt_byte_source){0};
}
