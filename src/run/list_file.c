/* SPDX-License-Identifier: MIT */
#include "run/list_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

enum tutti_err tt_list_file_parse_line(const struct tt_list_file *lines, char *line, const char *place)
{
    line[strcspn(line, "#\r\n")] = '\0';
    line += strspn(line, " \t");
    size_t length = strlen(line);
    while (length > 0 && strchr(" \t", line[length - 1]))
        line[--length] = '\0';
    return length > 0 ? lines->take(lines->context, line, place) : TUTTI_OK;
}

enum tutti_err tt_list_file_read(const struct tt_list_file *lines, const char *path)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return tt_fail(TUTTI_ERR_ARGUMENT, "%s: cannot read %s: %s", lines->option, path, strerror(errno));
    enum { LONGEST = 4096, MOST_LINES = 65536 }; /* limits for devices without end */
    char line[LONGEST];
    enum tutti_err err = TUTTI_OK;
    for (unsigned number = 1; !err && fgets(line, sizeof line, file); number++) {
        struct tt_text place = {0};
        tt_text_printf(&place, "%s:%u", path, number);
        bool whole = strchr(line, '\n') || feof(file);
        err = place.failed                    ? tt_fail_memory()
              : whole && number <= MOST_LINES ? tt_list_file_parse_line(lines, line, place.text)
                                              : tt_fail(TUTTI_ERR_ARGUMENT, "%s: %s: too long, or not a text file: %s",
                                                        lines->option, place.text, lines->form);
        tt_text_fini(&place);
    }
    if (!err && ferror(file))
        err = tt_fail(TUTTI_ERR_ARGUMENT, "%s: cannot read %s: %s", lines->option, path, strerror(errno));
    fclose(file);
    return err;
}
