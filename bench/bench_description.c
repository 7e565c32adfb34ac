/* SPDX-License-Identifier: MIT */
/* bench_description - what reading a model description costs beside what cannot be avoided.
 *
 *     bench_description LARGE.fmu
 *     bench_description --bare LARGE.fmu      (a) alone, once: for measuring whole processes
 *
 * CPU time of (a) inflating modelDescription.xml and passing it through expat with empty handlers, and (b) reading it
 * with tt_description_read from the same archive; both alternate, the best of five counts. Exits with 1 if the ratio is over
 * 2.5 or the peak memory over 150 MB. */
#include <expat.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <zip.h>

#include "fmu/description/description.h"

enum { ROUNDS = 5, BUFFER = 64 * 1024 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static _Noreturn void die(const char *what, const char *why)
{
    fprintf(stderr, "bench_description: %s: %s\n", what, why);
    exit(1);
}

static zip_file_t *open_entry(zip_t *archive)
{
    zip_file_t *entry = zip_fopen(archive, "modelDescription.xml", 0);
    if (!entry)
        die("modelDescription.xml", zip_strerror(archive));
    return entry;
}

static void XMLCALL ignore_start(void *user, const XML_Char *name, const XML_Char **attributes)
{
    (void)user, (void)name, (void)attributes;
}

static void XMLCALL ignore_end(void *user, const XML_Char *name)
{
    (void)user, (void)name;
}

static double time_expat(zip_t *archive)
{
    double begin = now();
    zip_file_t *entry = open_entry(archive);
    XML_Parser parser = XML_ParserCreate(NULL);
    if (!parser)
        die("expat", "out of memory");
    XML_SetElementHandler(parser, ignore_start, ignore_end);
    for (zip_int64_t got = 1; got > 0;) {
        void *buffer = XML_GetBuffer(parser, BUFFER);
        if (!buffer)
            die("expat", "out of memory");
        got = zip_fread(entry, buffer, BUFFER);
        if (got < 0 || XML_ParseBuffer(parser, (int)got, got == 0) != XML_STATUS_OK)
            die("modelDescription.xml", "cannot be read");
    }
    XML_ParserFree(parser);
    zip_fclose(entry);
    return now() - begin;
}

static enum tutti_err read_entry(void *context, void *buffer, size_t size, size_t *got)
{
    zip_int64_t n = zip_fread(context, buffer, size);
    *got = n > 0 ? (size_t)n : 0;
    return n < 0 ? tt_fail(TUTTI_ERR_IO, "the entry cannot be read") : TUTTI_OK;
}

static double time_tutti(zip_t *archive, uint32_t *variables)
{
    double begin = now();
    zip_file_t *entry = open_entry(archive);
    struct tt_byte_source reader = {read_entry, entry};
    struct tt_findings findings = {0};
    struct tt_description *desc;
    if (tt_description_read(&desc, "modelDescription.xml", &reader, &findings) != TUTTI_OK)
        die("tt_description_read", tutti_err_message());
    *variables = desc->var_count;
    tt_description_free(desc);
    zip_fclose(entry);
    return now() - begin;
}

int main(int argc, char **argv)
{
    bool bare = argc == 3 && strcmp(argv[1], "--bare") == 0;
    if (argc != 2 && !bare) {
        fprintf(stderr, "usage: bench_description [--bare] FILE.fmu\n");
        return 2;
    }
    int code;
    zip_t *archive = zip_open(argv[argc - 1], ZIP_RDONLY, &code);
    if (!archive)
        die(argv[argc - 1], "not an archive that libzip can open");
    if (bare) {
        time_expat(archive);
        zip_discard(archive);
        return 0;
    }
    double expat = 1e9, tutti = 1e9;
    uint32_t variables = 0;
    for (int i = 0; i < ROUNDS; i++) {
        double t = time_expat(archive);
        expat = t < expat ? t : expat;
        t = time_tutti(archive, &variables);
        tutti = t < tutti ? t : tutti;
    }
    zip_discard(archive);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double peak = (double)usage.ru_maxrss / 1024, ratio = tutti / expat;
    printf("description %u variables, reading alone     bare %7.1f ms        tutti %7.1f ms        ratio %5.2f   "
           "(at most 2.5)   peak %.1f MB (at most 150)\n",
           variables, 1e3 * expat, 1e3 * tutti, ratio, peak);
    return ratio <= 2.5 && peak <= 150 ? 0 : 1;
}
