/* SPDX-License-Identifier: MIT */
/* The cost of a federation over the loopback interface: the round trip of a bare TCP ping-pong of the same bytes is
 * 1.0.
 *
 *     bench_federation FILE
 *
 * Bare: two processes send a call of updateAttributeValues and a reflection of it there and back, over sockets that
 * block. An update takes two messages on its way, too: to the RTI, and from there to the other federate. `called` is
 * one until the RTI has answered, `delivered` until the other federate has it, both by <tutti/federate.h>. All
 * processes share one processor, so that the measurement does not depend on the kernel's placement. Runs alternate, the
 * best of each counts.
 *
 * Then federations of 2, 100 and 1,000 federates that all regulate, are constrained and step by TAR: the processor time
 * that the RTI takes for a grant, which should grow no faster than n log n, and the memory that a federate takes. */
#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <tutti/federate.h>
#include <unistd.h>

#include "base/address.h"
#include "base/wall_clock.h"
#include "hla/transport/transport.h"
#include "hla/fedpro/payload.h"
#include "hla/fedpro/fedpro_server.h"
#include "hla/fedpro/fedpro_service.h"

enum { ROUNDS = 15, TRIPS = 1000, MOST = 1000, CALL_BYTES = 60, BACK_BYTES = 80, LONGEST = 1 << 20 };
#define BOUND 2.5      /* the aim is 2 */
#define LOG_GROWTH 1.5 /* of n log n: the machine has other things to do as well */

static const char fom[] =
    "<objectModel xmlns=\"http://standards.ieee.org/IEEE1516-2010\">"
    "<modelIdentification><name>Bench</name><type>FOM</type><version>1</version></modelIdentification>"
    "<objects><objectClass><name>HLAobjectRoot</name><objectClass><name>Car</name><sharing>PublishSubscribe</sharing>"
    "<attribute><name>v</name><dataType>HLAfloat64BE</dataType><updateType>Periodic</updateType>"
    "<ownership>DivestAcquire</ownership><sharing>PublishSubscribe</sharing><transportation>HLAreliable</"
    "transportation>"
    "<order>Receive</order></attribute></objectClass></objectClass></objects><dataTypes/></objectModel>";

static void die(const char *what)
{
    fprintf(stderr, "bench_federation: %s: %s\n", what, tutti_err_message());
    _exit(1);
}

static void need(enum tutti_err err, const char *what)
{
    if (err)
        die(what);
}

/* ---- the RTI, in a separate process ---- */

struct rti {
    pid_t pid;
    clockid_t clock; /* of its processor time */
    char address[TUTTI_ADDRESS_SIZE];
};

static volatile sig_atomic_t ended;

static void on_signal(int number)
{
    ended = number;
}

static void serve(int told)
{
    struct tt_fedpro_service service;
    struct tt_fedpro_service_options options = {.longest_message = LONGEST};
    struct tt_fedpro_server_options where = {.listen = "127.0.0.1:0", .rules = tt_sessions_default_rules};
    struct tt_fedpro_server *server = NULL;
    signal(SIGTERM, on_signal);
    need(tt_fedpro_service_init(&service, &options), "the RTI");
    struct tt_fedpro_server_handler served = {.handler = tt_fedpro_service_session_handler(&service),
                                              .settle = tt_fedpro_service_send_callbacks,
                                              .tick = tt_fedpro_service_tick};
    need(tt_fedpro_server_open(&server, &where, &served), "the RTI");
    char address[TUTTI_ADDRESS_SIZE] = {0};
    snprintf(address, sizeof address, "%s", tt_fedpro_server_address(server));
    if (write(told, address, sizeof address) != (ssize_t)sizeof address)
        die("a pipe");
    need(tt_fedpro_server_run(server, &ended), "the RTI");
    _exit(0);
}

static struct rti start(void)
{
    struct rti rti = {0};
    int ends[2];
    if (pipe(ends) != 0 || (rti.pid = fork()) < 0)
        die("a process");
    if (rti.pid == 0)
        serve(ends[1]);
    if (read(ends[0], rti.address, sizeof rti.address) != (ssize_t)sizeof rti.address ||
        clock_getcpuclockid(rti.pid, &rti.clock) != 0)
        die("the RTI");
    close(ends[0]);
    close(ends[1]);
    return rti;
}

static void stop(const struct rti *rti)
{
    int status = 0;
    kill(rti->pid, SIGTERM);
    if (waitpid(rti->pid, &status, 0) != rti->pid || status != 0)
        die("the RTI ended badly");
}

static double cpu_of(const struct rti *rti)
{
    struct timespec taken = {0};
    clock_gettime(rti->clock, &taken);
    return (double)taken.tv_sec + 1e-9 * (double)taken.tv_nsec;
}

/* Bytes of memory that are its own. */
static double memory_of(const struct rti *rti)
{
    char path[64], line[200];
    double kilobytes = 0, some = 0;
    snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)rti->pid);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "Private_Dirty: %lf", &some) == 1)
            kilobytes += some;
    if (file)
        fclose(file);
    return 1024 * kilobytes;
}

/* This process, and those that it starts, on one processor. Nothing if that cannot be done. */
static void stay_here(cpu_set_t *before)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    int here = sched_getcpu();
    if (sched_getaffinity(0, sizeof *before, before) != 0 || here < 0)
        die("processors");
    CPU_SET((unsigned)here, &one);
    (void)sched_setaffinity(0, sizeof one, &one);
}

/* ---- bare ---- */

static void move(int socket, uint8_t *bytes, size_t size, bool out)
{
    size_t done = 0;
    while (done < size) {
        ssize_t some = out ? send(socket, bytes + done, size - done, 0) : recv(socket, bytes + done, size - done, 0);
        if (some <= 0)
            die("a socket");
        done += (size_t)some;
    }
}

static int dial(const struct sockaddr *address, socklen_t size)
{
    int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, address, size) != 0)
        die("a socket");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

/* Seconds of a round trip. */
static double bare(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    uint8_t bytes[BACK_BYTES] = {0};
    int one = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, size) != 0 || listen(listener, 1) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &size) != 0)
        die("a socket");
    pid_t other = fork();
    if (other == 0) {
        int fd = dial((struct sockaddr *)&address, size);
        for (int i = 0; i < TRIPS; i++) {
            move(fd, bytes, CALL_BYTES, false);
            move(fd, bytes, BACK_BYTES, true);
        }
        _exit(0);
    }
    int fd = accept(listener, NULL, NULL);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    double begin = tt_wall_clock_now();
    for (int i = 0; i < TRIPS; i++) {
        move(fd, bytes, CALL_BYTES, true);
        move(fd, bytes, BACK_BYTES, false);
    }
    double taken = (tt_wall_clock_now() - begin) / TRIPS;
    waitpid(other, NULL, 0);
    close(fd);
    close(listener);
    return taken;
}

/* ---- two federates, as programs have them ---- */

struct pair {
    struct tutti_federate_client *federate;
    uint32_t object;
};

static struct pair join_pair(const struct rti *rti, const char *path, const char *name)
{
    struct pair pair = {0};
    struct tutti_federate_event event;
    struct tutti_federate_options options = {
        .address = rti->address, .federation = "pair", .name = name, .modules = &path, .module_count = 1};
    need(tutti_federate_join(&pair.federate, &options), "join");
    need(tutti_federate_publish(pair.federate, "Car", "v"), "publish");
    need(tutti_federate_subscribe(pair.federate, "Car", "v"), "subscribe");
    need(tutti_federate_register(pair.federate, "Car", name, &pair.object), "register");
    do
        need(tutti_federate_next(pair.federate, -1, &event), "discover");
    while (event.kind != TUTTI_FEDERATE_DISCOVER);
    need(tutti_federate_synchronize(pair.federate, "both"), "synchronize");
    return pair;
}

static void update(const struct pair *pair)
{
    static const unsigned char bytes[8] = {0};
    struct tutti_federate_value value = {"v", bytes, sizeof bytes};
    need(tutti_federate_update(pair->federate, pair->object, &value, 1, NULL), "update");
}

static void await(const struct pair *pair, enum tutti_federate_event_kind kind)
{
    struct tutti_federate_event event;
    do
        need(tutti_federate_next(pair->federate, -1, &event), "next");
    while (event.kind != kind);
}

static void step(const struct pair *pair)
{
    need(tutti_federate_regulate(pair->federate, 1), "regulate");
    need(tutti_federate_constrain(pair->federate), "constrain");
    need(tutti_federate_synchronize(pair->federate, "steps"), "synchronize");
    for (int i = 1; i <= TRIPS; i++) {
        need(tutti_federate_request(pair->federate, TUTTI_FEDERATE_TAR, i), "request");
        await(pair, TUTTI_FEDERATE_GRANT);
    }
}

static void answer(const struct rti *rti, const char *path)
{
    struct pair pair = join_pair(rti, path, "answers");
    for (int i = 0; i < TRIPS; i++) {
        await(&pair, TUTTI_FEDERATE_REFLECT);
        update(&pair);
    }
    for (int i = 0; i < TRIPS; i++)
        await(&pair, TUTTI_FEDERATE_REFLECT);
    step(&pair);
    need(tutti_federate_leave(pair.federate), "leave");
    _exit(0);
}

/* Seconds, at best. */
struct figures {
    double bare, called, delivered, grant;
};

static void better(double *best, double taken)
{
    *best = *best == 0 || taken < *best ? taken : *best;
}

static void measure_pair(const struct rti *rti, const char *path, struct figures *figures)
{
    int status = 0;
    pid_t other = fork();
    if (other == 0)
        answer(rti, path);
    struct pair pair = join_pair(rti, path, "asks");
    double begin = tt_wall_clock_now();
    for (int i = 0; i < TRIPS; i++) {
        update(&pair);
        await(&pair, TUTTI_FEDERATE_REFLECT);
    }
    better(&figures->delivered, (tt_wall_clock_now() - begin) / (2 * TRIPS));
    begin = tt_wall_clock_now();
    for (int i = 0; i < TRIPS; i++)
        update(&pair);
    better(&figures->called, (tt_wall_clock_now() - begin) / TRIPS);
    begin = tt_wall_clock_now();
    step(&pair);
    better(&figures->grant, (tt_wall_clock_now() - begin) / (2 * TRIPS));
    need(tutti_federate_leave(pair.federate), "leave");
    if (waitpid(other, &status, 0) != other || status != 0)
        die("a federate failed");
}

/* ---- many federates, all in this process ---- */

struct federate {
    int socket;
    struct tt_session_link link;
    struct tt_fedpro_intake intake;
    size_t responses, callbacks; /* that came */
};

static struct tt_payload_memory memory;

static void flush(struct federate *federate)
{
    static uint8_t buffer[65536];
    size_t size = 0;
    const uint8_t *bytes = NULL;
    while ((bytes = tt_session_link_output(&federate->link, buffer, sizeof buffer, &size)) != NULL) {
        move(federate->socket, tt_payload_borrow(bytes), size, true);
        tt_session_link_consume(&federate->link, size);
    }
}

/* One message, and the answer to it. */
static void take(struct federate *federate)
{
    static const uint8_t succeeded[] = {1 << 3 | 2, 0};
    struct tt_fedpro_message message;
    bool whole = false;
    for (;;) {
        uint8_t *into = NULL;
        size_t room = 0;
        need(tt_fedpro_message_parse_next(&federate->intake, &message, &whole), "message");
        if (whole)
            break;
        need(tt_fedpro_message_reserve_bytes(&federate->intake, &into, &room), "memory");
        ssize_t some = recv(federate->socket, into, room, 0);
        if (some <= 0)
            die("the RTI is gone");
        tt_fedpro_message_commit_bytes(&federate->intake, (size_t)some);
    }
    if (message.header.type == TUTTI_FEDPRO_NEW_SESSION_STATUS) {
        federate->link.session = message.header.session;
        federate->responses++;
        return;
    }
    (void)tt_session_link_receive(&federate->link, &message.header);
    federate->responses += message.header.type == TUTTI_FEDPRO_CALL_RESPONSE;
    if (message.header.type != TUTTI_FEDPRO_CALLBACK)
        return;
    federate->callbacks++;
    need(tt_session_link_push(&federate->link, TUTTI_FEDPRO_CALLBACK_RESPONSE, &message.header.sequence, succeeded,
                              sizeof succeeded, NULL),
         "memory");
}

static void push(struct federate *federate, uint32_t number, const ProtobufCMessage *request)
{
    size_t size = 0;
    tt_payload_memory_reset(&memory);
    const uint8_t *bytes = tt_payload_close_envelope(&memory, number, request, &size);
    need(tt_session_link_push(&federate->link, TUTTI_FEDPRO_CALL, NULL, bytes, size, NULL), "memory");
    flush(federate);
}

static void call(struct federate *federate, uint32_t number, const ProtobufCMessage *request)
{
    size_t before = federate->responses;
    push(federate, number, request);
    while (federate->responses == before)
        take(federate);
}

static void open_federate(struct federate *federate, const struct rti *rti)
{
    static const uint8_t version[4] = {0, 0, 0, TUTTI_FEDPRO_VERSION};
    struct tt_address written;
    struct tt_socket_address address;
    need(tt_address_read(&written, rti->address, &(struct tt_address_rule){.option = "the RTI"}), "address");
    need(tt_address_look_up(&address, &written, TUTTI_ERR_LOST), "address");
    *federate =
        (struct federate){.socket = dial((struct sockaddr *)&address.storage, address.size), .intake.limit = LONGEST};
    tt_session_link_init(&federate->link, 0, 0, &tt_session_link_default_limits);
    need(tt_session_link_push(&federate->link, TUTTI_FEDPRO_NEW_SESSION, NULL, version, sizeof version, NULL),
         "memory");
    flush(federate);
    while (federate->responses == 0)
        take(federate);
}

static void close_federate(struct federate *federate)
{
    Fedpro__Number action = FEDPRO__NUMBER__INIT;
    action.value = 4; /* delete, then divest */
    call(federate, 19, &action.base);
    need(tt_session_link_push(&federate->link, TUTTI_FEDPRO_TERMINATE, NULL, NULL, 0, NULL), "memory");
    flush(federate);
    close(federate->socket);
    tt_fedpro_message_free_intake(&federate->intake);
    tt_session_link_fini(&federate->link);
}

static void create(struct federate *federate, const char *name)
{
    Fedpro__CreateOne request = FEDPRO__CREATE_ONE__INIT;
    Fedpro__Module module = FEDPRO__MODULE__INIT;
    Fedpro__ModuleFile file = FEDPRO__MODULE_FILE__INIT;
    file.name = tt_payload_make_text("bench.xml");
    file.content = (ProtobufCBinaryData){sizeof fom - 1, tt_payload_borrow(fom)};
    module.form_case = FEDPRO__MODULE__FORM_FILE;
    module.file = &file;
    request.federation = tt_payload_make_text(name);
    request.module = &module;
    call(federate, 6, &request.base);
}

static void join(struct federate *federate, const char *name)
{
    Fedpro__Join request = FEDPRO__JOIN__INIT;
    request.type = tt_payload_make_text("bench");
    request.federation = tt_payload_make_text(name);
    call(federate, 15, &request.base);
}

static void send_time(struct federate *federate, uint32_t number, double value)
{
    Fedpro__OneHandle request = FEDPRO__ONE_HANDLE__INIT;
    Fedpro__Handle time = FEDPRO__HANDLE__INIT;
    unsigned char bytes[8];
    tutti_federate_put_double(bytes, value);
    time.data = (ProtobufCBinaryData){sizeof bytes, bytes};
    request.handle = &time;
    push(federate, number, &request.base);
}

static void await_callback(struct federate *federate, size_t count)
{
    while (federate->callbacks < count)
        take(federate);
}

/* The cost of a federation of `count` federates for the RTI. */
struct cost {
    double join, grant, per_second, bytes;
};

static struct cost measure_many(size_t count, int steps)
{
    struct rti started = start();
    const struct rti *rti = &started;
    static struct federate federates[MOST];
    Fedpro__Nothing nothing = FEDPRO__NOTHING__INIT;
    struct cost cost = {0};
    char name[32];
    snprintf(name, sizeof name, "%zu", count);
    double bytes = memory_of(rti), cpu = cpu_of(rti);
    for (size_t i = 0; i < count; i++) {
        open_federate(&federates[i], rti);
        call(&federates[i], 1, &nothing.base);
        if (i == 0)
            create(&federates[i], name);
        join(&federates[i], name);
    }
    cost.join = (cpu_of(rti) - cpu) / (double)count;
    for (size_t i = 0; i < count; i++) {
        send_time(&federates[i], 89, 1);
        await_callback(&federates[i], 1);
        push(&federates[i], 91, &nothing.base);
        await_callback(&federates[i], 2);
    }
    cpu = cpu_of(rti);
    double begin = tt_wall_clock_now();
    for (int step = 1; step <= steps; step++) {
        for (size_t i = 0; i < count; i++)
            send_time(&federates[i], 93, step);
        for (size_t i = 0; i < count; i++)
            await_callback(&federates[i], 2 + (size_t)step);
    }
    cost.grant = (cpu_of(rti) - cpu) / ((double)count * steps);
    cost.per_second = (double)count * steps / (tt_wall_clock_now() - begin);
    cost.bytes = (memory_of(rti) - bytes) / (double)count;
    for (size_t i = 0; i < count; i++)
        close_federate(&federates[i]);
    stop(rti);
    return cost;
}

static bool bench_pair(const char *path)
{
    cpu_set_t before;
    stay_here(&before);
    struct rti rti = start();
    struct figures figures = {0};
    FILE *file = fopen(path, "we");
    if (!file || fputs(fom, file) < 0 || fclose(file) != 0)
        die("a file");
    for (int round = 0; round < ROUNDS; round++) {
        better(&figures.bare, bare());
        measure_pair(&rti, path, &figures);
    }
    stop(&rti);
    (void)sched_setaffinity(0, sizeof before, &before);
    double called = figures.called / figures.bare, delivered = figures.delivered / figures.bare;
    printf("federation  an update, called                  bare %7.1f us        tutti %7.1f us        ratio %5.2f   "
           "(at most %.1f)   %.0f a second\n",
           1e6 * figures.bare, 1e6 * figures.called, called, BOUND, 1 / figures.called);
    printf("federation  an update, delivered               bare %7.1f us        tutti %7.1f us        ratio %5.2f   "
           "(at most %.1f)\n",
           1e6 * figures.bare, 1e6 * figures.delivered, delivered, BOUND);
    printf("federation  2 programs that step by TAR                               tutti %7.1f us a grant   %.0f a "
           "second\n",
           1e6 * figures.grant, 1 / figures.grant);
    return called <= BOUND && delivered <= BOUND;
}

static bool bench_many(void)
{
    static const size_t counts[] = {2, 100, MOST};
    static const int steps[] = {2000, 100, 20};
    struct cost before = {0};
    bool good = true;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct cost cost = measure_many(counts[i], steps[i]);
        printf(
            "federation  %4zu federates   RTI: %6.1f us a grant, %6.1f us a join, %6.1f kB a federate   %.0f grants a "
            "second",
            counts[i], 1e6 * cost.grant, 1e6 * cost.join, cost.bytes / 1024, cost.per_second);
        if (i > 1) {
            double n = (double)counts[i], m = (double)counts[i - 1];
            double growth = cost.grant / before.grant, most = LOG_GROWTH * n * log(n) / (m * log(m));
            printf("   grows by %.1f (at most %.1f)", growth, most);
            good &= growth <= most;
        }
        printf("\n");
        before = cost;
    }
    return good;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: bench_federation FILE\n");
        return 2;
    }
    struct rlimit files = {0};
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    tt_payload_memory_init(&memory);
    bool good = bench_pair(argv[1]);
    good &= bench_many();
    tt_payload_memory_fini(&memory);
    return good ? 0 : 1;
}
