/* SPDX-License-Identifier: MIT */
#include "run/live/live_token.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/text.h"
#include "base/user_folder.h"

/* NULL: there is no place for it. */
static char *live_token_path(const char *address)
{
    char *folder = tt_fs_own_cache();
    struct tt_text path = {0};
    if (folder)
        tt_text_printf(&path, "%s/live-%s", folder, address);
    free(folder);
    if (path.failed)
        tt_text_fini(&path);
    return path.text;
}

/* A file of that name may be left of a run that was killed. */
static bool live_token_write(const char *path, const char *token)
{
    (void)unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
    bool kept = fd >= 0 && tt_fs_write(fd, token, strlen(token), -1) == strlen(token);
    if (fd >= 0)
        close(fd);
    return kept;
}

enum tutti_err tt_live_token_create(const char *address, char token[TUTTI_LIVE_TOKEN], char **path)
{
    unsigned char random[(TUTTI_LIVE_TOKEN - 1) / 2];
    *path = NULL;
    if (strchr(address, '/'))
        return tt_fail(TUTTI_ERR_ARGUMENT, "--live: '%s' is no address", tt_text_excerpt(address).text);
    if (sodium_init() < 0)
        return tt_fail(TUTTI_ERR_IO, "--live: there are no random numbers to be had");
    randombytes_buf(random, sizeof random);
    sodium_bin2hex(token, TUTTI_LIVE_TOKEN, random, sizeof random);
    char *place = live_token_path(address);
    if (place && live_token_write(place, token))
        *path = place;
    else
        free(place);
    return TUTTI_OK;
}

enum tutti_err tt_live_token_read(const char *address, char token[TUTTI_LIVE_TOKEN])
{
    char *path = strchr(address, '/') ? NULL : live_token_path(address);
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    ssize_t size = fd >= 0 ? read(fd, token, TUTTI_LIVE_TOKEN) : -1;
    if (fd >= 0)
        close(fd);
    free(path);
    if (size != TUTTI_LIVE_TOKEN - 1)
        return tt_fail(TUTTI_ERR_IO,
                       "no run of this user on this machine is live at %s; for one of others, or elsewhere, give its "
                       "token as it is shown there (--token)",
                       tt_text_excerpt(address).text);
    token[size] = '\0';
    return TUTTI_OK;
}
