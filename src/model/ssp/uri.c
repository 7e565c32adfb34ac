/* SPDX-License-Identifier: MIT */
#include "model/ssp/uri.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

static bool uri_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Returns the length of the scheme before the colon (RFC 3986, 3.1); 0 without a scheme. */
static size_t scheme_length(const char *text)
{
    if (!uri_is_letter(*text))
        return 0;
    size_t n = 1;
    while (uri_is_letter(text[n]) || (text[n] >= '0' && text[n] <= '9') || (text[n] && strchr("+-.", text[n])))
        n++;
    return text[n] == ':' ? n : 0;
}

static int uri_hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static enum tutti_err fail_uri(const char *text, const char *reason)
{
    return tt_fail(TUTTI_ERR_ARGUMENT, "the source \"%s\" %s", tt_text_excerpt(text).text, reason);
}

/* Decodes n bytes. A byte that needs no encoding here (a space, a letter of another script) is taken as it is. */
static enum tutti_err uri_decode(const char *whole, const char *text, size_t n, char **out)
{
    char *to = *out = malloc(n + 1);
    if (!to)
        return tt_fail_memory();
    for (const char *end = text + n; text < end; text++) {
        if (*text != '%') {
            *to++ = *text;
            continue;
        }
        int high = end - text > 2 ? uri_hex_digit(text[1]) : -1, low = high < 0 ? -1 : uri_hex_digit(text[2]);
        if (low < 0)
            return fail_uri(whole, "has a % without two hexadecimal digits; write %25 for the character itself");
        if (high == 0 && low == 0)
            return fail_uri(whole, "has a %00, which no file name has; remove it");
        *to++ = (char)(high << 4 | low);
        text += 2;
    }
    *to = '\0';
    return TUTTI_OK;
}

/* Skips the part between "file:" and the path: nothing, "//" or "//localhost". */
static enum tutti_err skip_host(const char *whole, const char **text)
{
    if (strncmp(*text, "//", 2) == 0) {
        *text += 2;
        if (strncasecmp(*text, "localhost/", 10) == 0)
            *text += 9;
        if (**text != '/')
            return fail_uri(whole, "names another machine; copy the file here and give a relative path");
    }
    if (**text != '/')
        return fail_uri(whole, "is no absolute path; leave out \"file:\" for a relative one");
    return TUTTI_OK;
}

/* Takes a text without white space around it. */
static enum tutti_err uri_read_trimmed(struct tt_uri *uri, const char *text)
{
    const char *path = text;
    size_t scheme = scheme_length(text);
    if (!*text)
        return fail_uri(text, "is empty; name a file, or leave the attribute out");
    if (strchr(text, '\\'))
        return fail_uri(text, "has a backslash; write / between folders");
    if (scheme == 1)
        return fail_uri(text, "begins with the letter of a drive; give a path relative to the document");
    if (scheme == 4 && strncasecmp(text, "file", 4) == 0) {
        path += 5;
        TRY(skip_host(text, &path));
    } else if (scheme > 0) {
        return fail_uri(text, "is not a file; fetch it, put it beside the document, and give its relative path");
    } else if (strncmp(text, "//", 2) == 0) {
        return fail_uri(text, "names another machine; give a path relative to the document");
    }
    size_t length = strcspn(path, "#?");
    const char *fragment = strchr(path, '#');
    if (path[length] == '?')
        return fail_uri(text, "has a query; write %3F if the ? belongs to the file's name");
    if (length == 0 && !(fragment && fragment[1]))
        return fail_uri(text, "names nothing; name a file, or an id after the #");
    TRY(uri_decode(text, path, length, &uri->path));
    return fragment && fragment[1] ? uri_decode(text, fragment + 1, strlen(fragment + 1), &uri->fragment) : TUTTI_OK;
}

enum tutti_err tt_uri_read(struct tt_uri *uri, const char *text)
{
    static const char white[] = " \t\r\n"; /* xs:anyURI may have it at both ends */
    *uri = (struct tt_uri){0};
    text += strspn(text, white);
    size_t length = strlen(text);
    while (length > 0 && strchr(white, text[length - 1]))
        length--;
    char *trimmed = strndup(text, length);
    if (!trimmed)
        return tt_fail_memory();
    enum tutti_err err = uri_read_trimmed(uri, trimmed);
    free(trimmed);
    if (err != TUTTI_OK)
        tt_uri_fini(uri);
    return err;
}

void tt_uri_fini(struct tt_uri *uri)
{
    free(uri->path);
    free(uri->fragment);
    *uri = (struct tt_uri){0};
}

/* Puts the parts of `path` after what is there. */
static bool uri_append_parts(char *joined, size_t *length, const char *path, size_t size)
{
    for (const char *part = path, *end = path + size; part < end;) {
        const char *slash = memchr(part, '/', (size_t)(end - part));
        size_t n = (size_t)((slash ? slash : end) - part);
        if (n == 2 && part[0] == '.' && part[1] == '.') {
            if (*length == 0)
                return false;
            while (*length > 0 && joined[*length - 1] != '/')
                --*length;
            *length -= *length > 0; /* the slash */
        } else if (n > 0 && !(n == 1 && part[0] == '.')) {
            if (*length > 0)
                joined[(*length)++] = '/';
            memcpy(joined + *length, part, n);
            *length += n;
        }
        part += n + (slash != NULL);
    }
    return true;
}

enum tutti_err tt_uri_join(const char *base, const char *path, char **out)
{
    const char *slash = strrchr(base, '/');
    size_t folder = slash ? (size_t)(slash - base) : 0, length = 0;
    *out = malloc(folder + strlen(path) + 2);
    if (!*out)
        return tt_fail_memory();
    if (!uri_append_parts(*out, &length, base, folder) || !uri_append_parts(*out, &length, path, strlen(path))) {
        free(*out);
        *out = NULL;
        return fail_uri(path, "leads out of the package; put the file into it");
    }
    (*out)[length] = '\0';
    return TUTTI_OK;
}

/* RFC 3986, 2.3 and 3.3. A colon in the first part would make a scheme of what stands before it, so it is encoded. */
void tt_uri_write(struct tt_text *out, const char *path)
{
    for (; *path; path++) {
        unsigned char c = (unsigned char)*path;
        if (uri_is_letter(*path) || (c >= '0' && c <= '9') || strchr("-._~/!$&'()*+,;=@", c))
            tt_text_append_n(out, path, 1);
        else
            tt_text_printf(out, "%%%02X", c);
    }
}
