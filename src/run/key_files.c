/* SPDX-License-Identifier: MIT */
#include "run/key_files.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/text.h"

/* A file that must not be there yet. */
static enum tutti_err write_key(const char *path, const uint8_t key[TUTTI_KEY_SIZE], mode_t mode)
{
    char line[TUTTI_KEY_TEXT + 1];
    tt_curve_auth_format_key(key, line);
    line[TUTTI_KEY_TEXT - 1] = '\n';
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd < 0 && errno == EEXIST)
        return tt_fail(TUTTI_ERR_IO, "%s is there already, and a key that is overwritten is lost; name another file",
                       path);
    bool written = fd >= 0 && tt_fs_write(fd, line, TUTTI_KEY_TEXT, -1) == TUTTI_KEY_TEXT && fsync(fd) == 0;
    enum tutti_err err = written ? TUTTI_OK : tt_fail(TUTTI_ERR_IO, "%s cannot be written: %s", path, strerror(errno));
    sodium_memzero(line, sizeof line);
    if (fd >= 0)
        close(fd);
    if (!written && fd >= 0)
        (void)unlink(path); /* half a key is none */
    return err;
}

enum tutti_err tt_key_files_create(const char *path, struct tt_curve_keys *keys)
{
    struct tt_text public_path = {0};
    tt_text_printf(&public_path, "%s.pub", path);
    enum tutti_err err = public_path.failed ? tt_fail_memory() : tt_curve_auth_make_keys(keys);
    if (!err && access(public_path.text, F_OK) == 0)
        err = tt_fail(TUTTI_ERR_IO, "%s is there already; name another file", public_path.text);
    if (!err)
        err = write_key(path, keys->secret_key, S_IRUSR | S_IWUSR);
    if (!err) {
        err = write_key(public_path.text, keys->public_key, S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH);
        if (err)
            (void)unlink(path); /* it is not in use yet */
    }
    tt_text_fini(&public_path);
    return err;
}

/* The first word of the file, which is to be the only one. */
static enum tutti_err key_files_read_key(const char *path, bool secret, uint8_t key[TUTTI_KEY_SIZE])
{
    char text[256] = "";
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd < 0 || fstat(fd, &st) != 0 ? -1 : read(fd, text, sizeof text - 1);
    int error = errno;
    if (fd >= 0)
        close(fd);
    if (n < 0)
        return tt_fail(TUTTI_ERR_IO, "cannot read the key %s: %s", path, strerror(error));
    enum tutti_err err = TUTTI_OK;
    if (secret && (st.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        err = tt_fail(TUTTI_ERR_ARGUMENT, "others may read the secret key %s; make it yours alone (chmod 600 %s)", path,
                      path);
    while (n > 0 && strchr(" \t\r\n", text[n - 1]))
        text[--n] = '\0';
    if (!err && tt_curve_auth_parse_key(text, key))
        err = tt_fail(TUTTI_ERR_FORMAT,
                      "%s: not a key (one line of 64 hexadecimal digits, as `tutti node --keygen` "
                      "writes it)",
                      path);
    sodium_memzero(text, sizeof text);
    return err;
}

enum tutti_err tt_key_files_read(const char *path, struct tt_curve_keys *keys)
{
    TRY(key_files_read_key(path, true, keys->secret_key));
    return tt_curve_auth_derive_keys(keys);
}

enum tutti_err tt_key_files_read_public(const char *path, uint8_t key[TUTTI_KEY_SIZE])
{
    return key_files_read_key(path, false, key);
}

/* ---- the user's own, on this machine ---- */

/* Makes the file unless it is there; it is never half a file. */
static enum tutti_err create_local_keys(const char *path)
{
    struct tt_curve_keys keys;
    struct tt_text fresh = {0};
    tt_text_printf(&fresh, "%s.%ld", path, (long)getpid());
    enum tutti_err err = fresh.failed ? tt_fail_memory() : tt_curve_auth_make_keys(&keys);
    if (!err) {
        (void)unlink(fresh.text); /* of a process that was killed */
        err = write_key(fresh.text, keys.secret_key, S_IRUSR | S_IWUSR);
    }
    if (!err && link(fresh.text, path) != 0 && errno != EEXIST) /* another process may be making it, too */
        err = tt_fail(TUTTI_ERR_IO, "%s cannot be made: %s", path, strerror(errno));
    if (!fresh.failed)
        (void)unlink(fresh.text);
    tt_curve_auth_wipe_keys(&keys);
    tt_text_fini(&fresh);
    return err;
}

static enum tutti_err read_local_keys(const char *path, struct tt_curve_keys *keys)
{
    struct stat st;
    if (lstat(path, &st) != 0 && errno == ENOENT)
        TRY(create_local_keys(path));
    if (lstat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid())
        return tt_fail(TUTTI_ERR_IO, "%s is not a file of this user; remove it, and it is made anew", path);
    return tt_key_files_read(path, keys);
}

enum tutti_err tt_key_files_local(struct tt_curve_keys *keys)
{
    char *folder = tt_fs_own_cache();
    struct tt_text path = {0};
    tt_text_printf(&path, "%s/local.key", folder ? folder : "");
    enum tutti_err err;
    if (folder)
        err = path.failed ? tt_fail_memory() : read_local_keys(path.text, keys);
    else
        err = tt_fail(TUTTI_ERR_IO,
                      "there is no place for the key by which this user's nodes and runs know each other: no "
                      "home folder, no XDG_RUNTIME_DIR; or make keys (`tutti node --keygen FILE`)");
    free(folder);
    tt_text_fini(&path);
    return err;
}
