/* SPDX-License-Identifier: MIT */
#include "apps/study/sweep_journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/text.h"
#include "results/recorder.h"

static const char magic[16] = "tutti sweep 1\n\n";

struct journal_header {
    char magic[sizeof magic];
    uint64_t identity;
};

struct journal_record_head {
    uint64_t size, digest;
};

struct tt_sweep_journal {
    int fd;
    char *path;
    size_t end;                    /* of what is in the file */
    struct tt_byte_writer pending; /* what comes after that */
};

enum {
    LARGEST = 1 << 30,      /* record */
    MOST_PENDING = 1 << 20, /* bytes that wait to be written */
};

static enum tutti_err fail_journal_io(const struct tt_sweep_journal *journal, const char *what)
{
    return tt_fail(TUTTI_ERR_IO, "'%s' cannot be %s: %s", journal->path, what, strerror(errno));
}

static uint64_t sweep_journal_digest(const void *bytes, size_t size)
{
    return tt_recorder_digest(TUTTI_RECORD_DIGEST, bytes, size);
}

/* False: the file is too short or unreadable. */
static bool sweep_journal_read_at(const struct tt_sweep_journal *journal, size_t offset, void *bytes, size_t size)
{
    for (size_t n = 0; n < size;) {
        ssize_t got = pread(journal->fd, (char *)bytes + n, size - n, (off_t)(offset + n));
        if (got == 0 || (got < 0 && errno != EINTR))
            return false;
        n += got > 0 ? (size_t)got : 0;
    }
    return true;
}

/* *whole: it is one. */
static enum tutti_err read_journal_record(const struct tt_sweep_journal *journal, size_t offset,
                                          struct tt_byte_writer *out, bool *whole)
{
    struct journal_record_head front;
    tt_bytes_reset(out);
    *whole = false;
    if (!sweep_journal_read_at(journal, offset, &front, sizeof front) || front.size > LARGEST)
        return TUTTI_OK;
    char *bytes = tt_bytes_extend(out, front.size);
    if (!bytes)
        return tt_fail_memory();
    *whole = sweep_journal_read_at(journal, offset + sizeof front, bytes, front.size) &&
             sweep_journal_digest(bytes, front.size) == front.digest;
    return TUTTI_OK;
}

/* Goes through all records; what is after the last whole one is cut off. */
static enum tutti_err sweep_journal_read_all(struct tt_sweep_journal *journal, void *context,
                                             bool (*found)(void *context, struct tt_bytes record, size_t offset))
{
    struct tt_byte_writer record = {0};
    enum tutti_err err;
    bool whole;
    journal->end = sizeof(struct journal_header);
    while (!(err = read_journal_record(journal, journal->end, &record, &whole)) && whole) {
        if (!found(context, tt_bytes_written(&record), journal->end)) {
            err = tt_fail(TUTTI_ERR_FORMAT, "'%s' is damaged: remove it to begin anew", journal->path);
            break;
        }
        journal->end += sizeof(struct journal_record_head) + record.size;
    }
    tt_bytes_fini(&record);
    if (!err && ftruncate(journal->fd, (off_t)journal->end) != 0)
        err = fail_journal_io(journal, "cut");
    return err;
}

/* Workers of a sweep that was just killed have the file open for a moment longer. */
static bool sweep_journal_lock(int fd)
{
    static const struct timespec nap = {.tv_nsec = 50000000};
    bool taken = false;
    for (int tries = 0; tries < 60 && !(taken = flock(fd, LOCK_EX | LOCK_NB) == 0); tries++)
        nanosleep(&nap, NULL);
    return taken;
}

static enum tutti_err sweep_journal_start(struct tt_sweep_journal *journal, uint64_t identity, void *context,
                                          bool (*found)(void *context, struct tt_bytes record, size_t offset))
{
    struct journal_header header, own = {.identity = identity};
    struct stat status;
    memcpy(own.magic, magic, sizeof magic);
    journal->fd = open(journal->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (journal->fd < 0 || fstat(journal->fd, &status) != 0)
        return fail_journal_io(journal, "opened");
    if (!sweep_journal_lock(journal->fd))
        return tt_fail(TUTTI_ERR_IO, "'%s' is used by another sweep that is running", journal->path);
    if (status.st_size == 0) {
        if (tt_fs_write(journal->fd, &own, sizeof own, 0) != sizeof own)
            return fail_journal_io(journal, "written");
        journal->end = sizeof own;
        return TUTTI_OK;
    }
    if (!sweep_journal_read_at(journal, 0, &header, sizeof header) || memcmp(header.magic, magic, sizeof magic) != 0)
        return tt_fail(TUTTI_ERR_FORMAT, "'%s' is there, and no journal of a sweep; name another table", journal->path);
    if (header.identity != identity)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "'%s' is the journal of another sweep (other files, values, measures or options); remove it "
                       "to begin anew, or name "
                       "another table",
                       journal->path);
    return sweep_journal_read_all(journal, context, found);
}

enum tutti_err tt_sweep_journal_open(struct tt_sweep_journal **out, const char *path, uint64_t identity, void *context,
                                     bool (*found)(void *context, struct tt_bytes record, size_t offset))
{
    struct tt_sweep_journal *journal = calloc(1, sizeof *journal);
    if (!journal)
        return tt_fail_memory();
    journal->fd = -1;
    journal->path = tt_text_copy(path);
    enum tutti_err err = journal->path ? sweep_journal_start(journal, identity, context, found) : tt_fail_memory();
    if (err)
        tt_sweep_journal_close(journal, false);
    else
        *out = journal;
    return err;
}

enum tutti_err tt_sweep_journal_add(struct tt_sweep_journal *journal, struct tt_bytes record, size_t *offset)
{
    const struct journal_record_head front = {record.size, sweep_journal_digest(record.data, record.size)};
    *offset = journal->end + journal->pending.size;
    if (record.size > LARGEST)
        return tt_fail(TUTTI_ERR_LIMIT,
                       "a run has more rows than fit into the journal; record fewer (--record, --output-step)");
    tt_bytes_put_bytes(&journal->pending, &front, sizeof front);
    tt_bytes_put_bytes(&journal->pending, record.data, record.size);
    if (journal->pending.failed)
        return tt_fail_memory();
    return journal->pending.size > MOST_PENDING ? tt_sweep_journal_flush(journal) : TUTTI_OK;
}

enum tutti_err tt_sweep_journal_flush(struct tt_sweep_journal *journal)
{
    size_t size = journal->pending.size;
    if (size == 0)
        return TUTTI_OK;
    if (tt_fs_write(journal->fd, journal->pending.bytes, size, (off_t)journal->end) != size)
        return fail_journal_io(journal, "written");
    journal->end += size;
    tt_bytes_reset(&journal->pending);
    return TUTTI_OK;
}

enum tutti_err tt_sweep_journal_read(struct tt_sweep_journal *journal, size_t offset, struct tt_byte_writer *out)
{
    bool whole;
    TRY(tt_sweep_journal_flush(journal));
    TRY(read_journal_record(journal, offset, out, &whole));
    return whole ? TUTTI_OK : tt_fail(TUTTI_ERR_IO, "'%s' has changed while the sweep went on", journal->path);
}

void tt_sweep_journal_close(struct tt_sweep_journal *journal, bool done)
{
    if (!journal)
        return;
    if (done)
        unlink(journal->path);
    else if (journal->fd >= 0)
        (void)!tt_sweep_journal_flush(journal); /* what is lost is made again */
    if (journal->fd >= 0)
        close(journal->fd);
    tt_bytes_fini(&journal->pending);
    free(journal->path);
    free(journal);
}
