/* SPDX-License-Identifier: MIT */
#include "user/userdir.h"

#include <pwd.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/str.h"

/* FOLDER/REST; NULL if there is no folder, or it is none to count on. */
static char *join(const char *folder, const char *rest)
{
    struct tutti_text path = {0};
    if (!folder || folder[0] != '/')
        return NULL;
    tutti_text_printf(&path, "%s/%s", folder, rest);
    if (path.failed)
        tutti_text_fini(&path);
    return path.text;
}

char *tutti_userdir_cache(void)
{
    char *path = join(getenv("XDG_CACHE_HOME"), "tutti");
    return path ? path : join(getenv("HOME"), ".cache/tutti");
}

static char *home_cache(void)
{
    struct passwd user, *found = NULL;
    char room[4096]; /* for its texts */
    bool is_known = getpwuid_r(geteuid(), &user, room, sizeof room, &found) == 0 && found;
    return is_known ? join(user.pw_dir, ".cache/tutti") : NULL;
}

static bool is_own(const char *folder)
{
    struct stat st;
    return folder && tutti_fs_make_folder(folder) && stat(folder, &st) == 0 && st.st_uid == geteuid();
}

char *tutti_userdir_own(void)
{
    for (int i = 0; i < 3; i++) {
        char *path = i == 0 ? tutti_userdir_cache() : i == 1 ? home_cache() : join(getenv("XDG_RUNTIME_DIR"), "tutti");
        if (is_own(path))
            return path;
        free(path);
    }
    return NULL;
}
