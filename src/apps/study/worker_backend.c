/* SPDX-License-Identifier: MIT */
#include "apps/study/worker_backend.h"

#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/fs.h"

enum { PIECE = 1 << 16 }; /* bytes that are read at once */

/* In one call, mostly: each wakes the pool. */
bool tt_worker_pool_send_record(int fd, struct tt_bytes record, bool leaves)
{
    struct tt_worker_record_head head = {record.size, leaves};
    struct iovec parts[] = {{&head, sizeof head}, {(void *)record.data, record.size}};
    ssize_t sent = writev(fd, parts, 2);
    size_t left = sent < (ssize_t)sizeof head ? 0 : sizeof head + record.size - (size_t)sent;
    return sent >= (ssize_t)sizeof head && tt_fs_write(fd, record.data + record.size - left, left, -1) == left;
}

void tt_worker_pool_write_record(struct tt_byte_writer *parcel, struct tt_bytes record, bool leaves)
{
    const struct tt_worker_record_head head = {record.size, leaves};
    tt_bytes_put_bytes(parcel, &head, sizeof head);
    tt_bytes_put_bytes(parcel, record.data, record.size);
}

enum tutti_err tt_worker_pool_receive(int fd, struct tt_byte_writer *in, bool *open)
{
    for (;;) {
        char *room = tt_bytes_extend(in, PIECE);
        if (!room)
            return tt_fail_memory();
        ssize_t got = read(fd, room, PIECE);
        in->size -= PIECE - (got > 0 ? (size_t)got : 0);
        *open = got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
        if (got <= 0)
            return TUTTI_OK;
    }
}
