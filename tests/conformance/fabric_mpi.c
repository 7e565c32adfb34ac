/* SPDX-License-Identifier: MIT */
/* Ranks started by mpiexec: this program, which acts as a rank before its main function. */
#include "test.h"

#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "run/launch/launch_mpi.h"
#include "sim/ranks/mpi_interface.h"
#include "fabric_ranks.h"

const char *const fabric_name = "mpi";
const int most_ranks = 5;

/* The body is said by its distance from this function: both are in the same program, wherever it is loaded. */
static const char BODY[] = "TUTTI_TEST_BODY", FOLDER[] = "TUTTI_TEST_FOLDER";

/* ---- a rank ---- */

struct listener {
    FILE *files[64];
    int ranks, asked[64];
};

static void give_up(const char *what)
{
    fprintf(stderr, "fabric_mpi.c: %s: %s\n", what, tutti_err_message());
    _Exit(1);
}

/* Slowly: there is not always room. */
static bool has_room(void *context, int rank)
{
    struct listener *listener = context;
    return ++listener->asked[rank] % 3 == 0;
}

static enum tutti_err take(void *context, int rank, const char *bytes, size_t size)
{
    struct listener *listener = context;
    if (listener->files[rank] && fwrite(bytes, 1, size, listener->files[rank]) != size)
        give_up("a report cannot be written");
    return TUTTI_OK;
}

/* The last byte of every rank is an end mark that the test adds. */
static const char END_MARK[] = "end of reports";

static bool all_have_ended(void *context)
{
    struct listener *listener = context;
    for (int r = 0; r < listener->ranks; r++) {
        char end[sizeof END_MARK] = "";
        FILE *file = listener->files[r];
        fflush(file);
        if (fseek(file, -(long)sizeof END_MARK, SEEK_END) != 0 || fread(end, 1, sizeof end, file) != sizeof end ||
            memcmp(end, END_MARK, sizeof end) != 0) {
            fseek(file, 0, SEEK_END);
            return false;
        }
    }
    return true;
}

static void open_files(struct listener *listener, const struct tt_mpi_world *world, const char *folder)
{
    listener->ranks = world->ranks;
    for (int r = 0; r < world->ranks; r++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%d", folder, r);
        if (!(listener->files[r] = fopen(path, "w+b")))
            give_up(path);
    }
}

static void be_rank(intptr_t distance, const char *folder)
{
    void (*body)(struct tt_fabric * fabric);
    struct tt_mpi_world world;
    struct listener listener = {0};
    const struct tt_mpi_sink sink = {&listener, has_room, take};
    struct tt_fabric *fabric = NULL;
    body = (void (*)(struct tt_fabric *))((intptr_t)run_ranks + distance); /* NOLINT(performance-no-int-to-ptr) */
    if (tt_launch_mpi_start(&world, TUTTI_MODULE))
        give_up("MPI does not start");
    if (world.rank == 0)
        open_files(&listener, &world, folder);
    if (world.module->open(&fabric, &sink))
        give_up("no fabric");
    body(fabric);
    if (fabric->kind->report(fabric, END_MARK, sizeof END_MARK) ||
        world.module->settle(fabric, all_have_ended, &listener))
        give_up("it does not end");
    fabric->kind->close(fabric);
    for (int r = 0; r < listener.ranks; r++)
        fclose(listener.files[r]);
    world.module->finish();
}

__attribute__((constructor)) static void be_rank_if_told(void)
{
    const char *distance = getenv(BODY), *folder = getenv(FOLDER);
    if (!distance || !folder)
        return;
    be_rank((intptr_t)strtoll(distance, NULL, 10), folder);
    fflush(NULL);
    _Exit(0);
}

/* ---- the test ---- */

static void read_report(const char *folder, int rank, struct reported *report)
{
    char path[4096];
    struct stat status;
    snprintf(path, sizeof path, "%s/%d", folder, rank);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &status), 0);
    assert_true((size_t)status.st_size >= sizeof END_MARK);
    report->size = (size_t)status.st_size - sizeof END_MARK;
    report->bytes = malloc(report->size + 1);
    assert_non_null(report->bytes);
    assert_int_equal(fread(report->bytes, 1, report->size, file), report->size);
    fclose(file);
}

static void remove_folder(const char *folder, int ranks)
{
    char path[4096];
    for (int r = 0; r < ranks; r++) {
        snprintf(path, sizeof path, "%s/%d", folder, r);
        unlink(path);
    }
    rmdir(folder);
}

void run_ranks(int ranks, void (*body)(struct tt_fabric *fabric), struct reported *reports)
{
    char folder[] = "/tmp/test-tutti.XXXXXX", count[16], distance[32], self[4096] = "";
    assert_non_null(mkdtemp(folder));
    assert_true(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    snprintf(count, sizeof count, "%d", ranks);
    snprintf(distance, sizeof distance, "%lld", (long long)((intptr_t)body - (intptr_t)run_ranks));
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        setenv(BODY, distance, 1);
        setenv(FOLDER, folder, 1);
        execlp("mpiexec.mpich", "mpiexec.mpich", "-n", count, self, (char *)NULL);
        perror("mpiexec.mpich");
        _exit(127);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    for (int r = 0; reports && r < ranks; r++)
        read_report(folder, r, &reports[r]);
    remove_folder(folder, ranks);
}
