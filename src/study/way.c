/* SPDX-License-Identifier: MIT */
#include "study/way.h"

#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/fs.h"

enum { PIECE = 1 << 16 }; /* bytes that are read at once */

/* In one call, mostly: each wakes the pool. */
bool tutti_way_send(int fd, struct tutti_bytes record, bool leaves)
{
    struct tutti_way_head head = {record.size, leaves};
    struct iovec parts[] = {{&head, sizeof head}, {(void *)record.data, record.size}};
    ssize_t sent = writev(fd, parts, 2);
    size_t left = sent < (ssize_t)sizeof head ? 0 : sizeof head + record.size - (size_t)sent;
    return sent >= (ssize_t)sizeof head && tutti_fs_write(fd, record.data + record.size - left, left, -1) == left;
}

void tutti_way_put(struct tutti_parcel *parcel, struct tutti_bytes record, bool leaves)
{
    const struct tutti_way_head head = {record.size, leaves};
    tutti_parcel_put_bytes(parcel, &head, sizeof head);
    tutti_parcel_put_bytes(parcel, record.data, record.size);
}

enum tutti_err tutti_way_read(int fd, struct tutti_parcel *in, bool *open)
{
    for (;;) {
        char *room = tutti_parcel_extend(in, PIECE);
        if (!room)
            return tutti_fail_memory();
        ssize_t got = read(fd, room, PIECE);
        in->size -= PIECE - (got > 0 ? (size_t)got : 0);
        *open = got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
        if (got <= 0)
            return TUTTI_OK;
    }
}
