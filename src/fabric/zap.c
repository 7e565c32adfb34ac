/* SPDX-License-Identifier: MIT */
#include "fabric/zap.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#include "base/thread.h"
#include "base/vector.h"

enum { WARNINGS = 20, NAME_SIZE = 64, FRAME_SIZE = 256 };

struct allowed {
    uint8_t key[TUTTI_KEY_SIZE];
    char name[NAME_SIZE];
};

struct tutti_zap {
    void *handler, *told, *tell; /* questions; "o"pen and "q"uit, at the thread's end and at ours */
    pthread_t thread;
    pthread_mutex_t mutex; /* allowed, count, room */
    struct allowed *allowed;
    size_t count, room;
    _Atomic unsigned long refused;
    const struct tutti_log *log;
};

/* RFC 27: version, request, domain, address, identity, mechanism, then the credentials: of CURVE, the public key. */
struct question {
    char request[FRAME_SIZE], address[FRAME_SIZE];
    size_t request_size;
    uint8_t key[TUTTI_KEY_SIZE];
    bool is_curve;
};

static struct allowed *find(struct tutti_zap *zap, const uint8_t *key)
{
    for (size_t i = 0; i < zap->count; i++)
        if (memcmp(zap->allowed[i].key, key, TUTTI_KEY_SIZE) == 0)
            return &zap->allowed[i];
    return NULL;
}

/* A part of a question, cut to what has room, with a zero byte after it. Its size; -1: there is none. */
static int hear_part(void *handler, char frame[FRAME_SIZE], bool *more)
{
    zmq_msg_t part;
    int got;
    zmq_msg_init(&part);
    do
        got = zmq_msg_recv(&part, handler, 0);
    while (got < 0 && zmq_errno() == EINTR);
    size_t size = got < 0 ? 0 : zmq_msg_size(&part);
    memcpy(frame, zmq_msg_data(&part), size < FRAME_SIZE ? size : FRAME_SIZE - 1);
    frame[size < FRAME_SIZE ? size : FRAME_SIZE - 1] = '\0';
    *more = zmq_msg_more(&part);
    zmq_msg_close(&part);
    return got;
}

static bool hear(void *handler, struct question *question)
{
    *question = (struct question){0};
    bool mechanism = false, credentials = false, more = true;
    for (int part = 0; more; part++) {
        char frame[FRAME_SIZE];
        int got = hear_part(handler, frame, &more);
        if (got < 0)
            return false;
        size_t size = (size_t)got < sizeof frame ? (size_t)got : sizeof frame - 1;
        if (part == 1) {
            memcpy(question->request, frame, size);
            question->request_size = size;
        } else if (part == 3)
            memcpy(question->address, frame, size + 1);
        else if (part == 5)
            mechanism = strcmp(frame, "CURVE") == 0;
        else if (part == 6 && got == TUTTI_KEY_SIZE) {
            memcpy(question->key, frame, TUTTI_KEY_SIZE);
            credentials = true;
        }
    }
    question->is_curve = mechanism && credentials;
    return true;
}

/* Whatever signals come: one who waits for it would wait for ever. */
static void say(void *socket, const char *text, size_t size, int flags)
{
    while (zmq_send(socket, text, size, flags) < 0 && zmq_errno() == EINTR)
        continue;
}

static void answer(struct tutti_zap *zap, const struct question *question)
{
    char name[NAME_SIZE] = "";
    pthread_mutex_lock(&zap->mutex);
    const struct allowed *allowed = question->is_curve ? find(zap, question->key) : NULL;
    if (allowed)
        memcpy(name, allowed->name, sizeof name);
    pthread_mutex_unlock(&zap->mutex);
    const char *status = allowed ? "200" : "400";
    say(zap->handler, "1.0", 3, ZMQ_SNDMORE);
    say(zap->handler, question->request, question->request_size, ZMQ_SNDMORE);
    say(zap->handler, status, 3, ZMQ_SNDMORE);
    say(zap->handler, "", 0, ZMQ_SNDMORE);
    say(zap->handler, name, strlen(name), ZMQ_SNDMORE);
    say(zap->handler, "", 0, 0);
    if (allowed)
        return;
    unsigned long refused = atomic_fetch_add(&zap->refused, 1);
    char text[TUTTI_KEY_TEXT];
    tutti_key_show(question->key, text);
    if (refused < WARNINGS)
        tutti_log_printf(zap->log, TUTTI_LOG_WARNING, question->address,
                         "was refused: its key %s is not among those allowed", text);
}

static void *serve(void *context)
{
    struct tutti_zap *zap = context;
    bool is_open = false;
    for (;;) {
        zmq_pollitem_t items[] = {{.socket = zap->told, .events = ZMQ_POLLIN},
                                  {.socket = zap->handler, .events = ZMQ_POLLIN}};
        if (zmq_poll(items, is_open ? 2 : 1, -1) < 0 && zmq_errno() != EINTR)
            break;
        char word = 0;
        if (items[0].revents && zmq_recv(zap->told, &word, 1, 0) == 1 && word == 'q')
            break;
        is_open = is_open || word == 'o';
        struct question question;
        if (is_open && items[1].revents && hear(zap->handler, &question))
            answer(zap, &question);
    }
    return NULL;
}

static enum tutti_err open_sockets(struct tutti_zap *zap, void *context)
{
    static _Atomic unsigned number;
    char name[64];
    int none = 0;
    snprintf(name, sizeof name, "inproc://tutti.zap.%u", atomic_fetch_add(&number, 1));
    zap->handler = zmq_socket(context, ZMQ_REP);
    zap->told = zmq_socket(context, ZMQ_PAIR);
    zap->tell = zmq_socket(context, ZMQ_PAIR);
    if (!zap->handler || !zap->told || !zap->tell || zmq_setsockopt(zap->handler, ZMQ_LINGER, &none, sizeof none) ||
        zmq_setsockopt(zap->tell, ZMQ_LINGER, &none, sizeof none) || zmq_bind(zap->handler, "inproc://zeromq.zap.01") ||
        zmq_bind(zap->told, name) || zmq_connect(zap->tell, name))
        return tutti_fail(TUTTI_ERR_IO, "ZeroMQ cannot authenticate: %s", zmq_strerror(zmq_errno()));
    return TUTTI_OK;
}

static void release(struct tutti_zap *zap)
{
    void *sockets[] = {zap->handler, zap->told, zap->tell};
    for (int i = 0; i < 3; i++)
        if (sockets[i])
            zmq_close(sockets[i]);
    pthread_mutex_destroy(&zap->mutex);
    free(zap->allowed);
    free(zap);
}

static enum tutti_err start_thread(struct tutti_zap *zap)
{
    int failed = tutti_thread_start(&zap->thread, serve, zap);
    return failed ? tutti_fail(TUTTI_ERR_IO, "a thread cannot be started: %s", strerror(failed)) : TUTTI_OK;
}

enum tutti_err tutti_zap_start(struct tutti_zap **out, void *context, const struct tutti_log *log)
{
    struct tutti_zap *zap = calloc(1, sizeof *zap);
    *out = NULL;
    if (!zap)
        return tutti_fail_memory();
    zap->log = log;
    pthread_mutex_init(&zap->mutex, NULL);
    enum tutti_err err = open_sockets(zap, context);
    if (!err)
        err = start_thread(zap);
    if (err) {
        release(zap);
        return err;
    }
    *out = zap;
    return TUTTI_OK;
}

enum tutti_err tutti_zap_allow(struct tutti_zap *zap, const uint8_t key[TUTTI_KEY_SIZE], const char *name)
{
    enum tutti_err err = TUTTI_OK;
    pthread_mutex_lock(&zap->mutex);
    struct allowed *allowed = find(zap, key);
    if (!allowed && !tutti_vector_reserve(&zap->allowed, &zap->room, zap->count + 1, sizeof *zap->allowed))
        err = tutti_fail_memory();
    if (!err) {
        allowed = allowed ? allowed : &zap->allowed[zap->count++];
        memcpy(allowed->key, key, TUTTI_KEY_SIZE);
        snprintf(allowed->name, sizeof allowed->name, "%s", name);
    }
    pthread_mutex_unlock(&zap->mutex);
    return err;
}

void tutti_zap_forbid(struct tutti_zap *zap, const uint8_t key[TUTTI_KEY_SIZE])
{
    pthread_mutex_lock(&zap->mutex);
    struct allowed *allowed = find(zap, key);
    if (allowed)
        *allowed = zap->allowed[--zap->count];
    pthread_mutex_unlock(&zap->mutex);
}

void tutti_zap_open(struct tutti_zap *zap)
{
    say(zap->tell, "o", 1, 0);
}

unsigned long tutti_zap_refused(const struct tutti_zap *zap)
{
    return atomic_load(&zap->refused);
}

void tutti_zap_stop(struct tutti_zap *zap)
{
    if (!zap)
        return;
    say(zap->tell, "q", 1, 0);
    pthread_join(zap->thread, NULL);
    release(zap);
}

static enum tutti_err cannot_guard(void)
{
    return tutti_fail(TUTTI_ERR_UNSUPPORTED, "ZeroMQ cannot encrypt: %s", zmq_strerror(zmq_errno()));
}

enum tutti_err tutti_zap_guard(void *socket, const struct tutti_keys *own)
{
    int yes = 1;
    if (zmq_setsockopt(socket, ZMQ_CURVE_SERVER, &yes, sizeof yes) ||
        zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, own->secret_key, sizeof own->secret_key) ||
        zmq_setsockopt(socket, ZMQ_ZAP_DOMAIN, "tutti", 5))
        return cannot_guard();
    return TUTTI_OK;
}

enum tutti_err tutti_zap_present(void *socket, const struct tutti_keys *own, const uint8_t server[TUTTI_KEY_SIZE])
{
    if (zmq_setsockopt(socket, ZMQ_CURVE_SERVERKEY, server, TUTTI_KEY_SIZE) ||
        zmq_setsockopt(socket, ZMQ_CURVE_PUBLICKEY, own->public_key, sizeof own->public_key) ||
        zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, own->secret_key, sizeof own->secret_key))
        return cannot_guard();
    return TUTTI_OK;
}
