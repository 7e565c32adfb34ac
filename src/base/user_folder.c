/* SPDX-License-Identifier: MIT */
#include "base/user_folder.h"

#include <pwd.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/text.h"

/* FOLDER/REST; NULL if there is no folder, or it is none to count on. */
static char *fs_join_path(const char *folder, const char *rest)
{
    struct tt_text path = {0};
    if (!folder || folder[0] != '/')
        return NULL;
    tt_text_printf(&path, "%s/%s", folder, rest);
    if (path.failed)
        tt_text_fini(&path);
    return path.text;
}

char *tt_fs_user_cache(void)
{
    char *path = fs_join_path(getenv("XDG_CACHE_HOME"), "tutti");
    return path ? path : fs_join_path(getenv("HOME"), ".cache/tutti");
}

static char *fs_home_cache(void)
{
    struct passwd user, *found = NULL;
    char room[4096]; /* for its texts */
    bool is_known = getpwuid_r(geteuid(), &user, room, sizeof room, &found) == 0 && found;
    return is_known ? fs_join_path(user.pw_dir, ".cache/tutti") : NULL;
}

static bool fs_is_own_folder(const char *folder)
{
    struct stat st;
    return folder && tt_fs_make_folder(folder) && stat(folder, &st) == 0 && st.st_uid == geteuid();
}

char *tt_fs_own_cache(void)
{
    for (int i = 0; i < 3; i++) {
        char *path = i == 0   ? tt_fs_user_cache()
                     : i == 1 ? fs_home_cache()
                              : fs_join_path(getenv("XDG_RUNTIME_DIR"), "tutti");
        if (fs_is_own_folder(path))
            return path;
        free(path);
    }
    return NULL;
}
