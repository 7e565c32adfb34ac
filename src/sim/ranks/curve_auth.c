/* SPDX-License-Identifier: MIT */
#include "sim/ranks/curve_auth.h"

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

struct zap_allowed_key {
    uint8_t key[TUTTI_KEY_SIZE];
    char name[NAME_SIZE];
};

struct tt_zap {
    void *handler, *told, *tell; /* questions; "o"pen and "q"uit, at the thread's end and at ours */
    pthread_t thread;
    pthread_mutex_t mutex; /* allowed, count, room */
    struct zap_allowed_key *allowed;
    size_t count, room;
    _Atomic unsigned long refused;
    const struct tutti_log *log;
};

/* RFC 27: version, request, domain, address, identity, mechanism, then the credentials: of CURVE, the public key. */
struct zap_request {
    char request[FRAME_SIZE], address[FRAME_SIZE];
    size_t request_size;
    uint8_t key[TUTTI_KEY_SIZE];
    bool is_curve;
};

static struct zap_allowed_key *find_allowed_key(struct tt_zap *zap, const uint8_t *key)
{
    for (size_t i = 0; i < zap->count; i++)
        if (memcmp(zap->allowed[i].key, key, TUTTI_KEY_SIZE) == 0)
            return &zap->allowed[i];
    return NULL;
}

/* Receives a part of a request, cut to the available room, and terminates it. Returns its size; -1 if there is none. */
static int receive_request_part(void *handler, char frame[FRAME_SIZE], bool *more)
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

static bool receive_zap_request(void *handler, struct zap_request *question)
{
    *question = (struct zap_request){0};
    bool mechanism = false, credentials = false, more = true;
    for (int part = 0; more; part++) {
        char frame[FRAME_SIZE];
        int got = receive_request_part(handler, frame, &more);
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
static void send_zap_part(void *socket, const char *text, size_t size, int flags)
{
    while (zmq_send(socket, text, size, flags) < 0 && zmq_errno() == EINTR)
        continue;
}

static void answer_zap_request(struct tt_zap *zap, const struct zap_request *question)
{
    char name[NAME_SIZE] = "";
    pthread_mutex_lock(&zap->mutex);
    const struct zap_allowed_key *allowed = question->is_curve ? find_allowed_key(zap, question->key) : NULL;
    if (allowed)
        memcpy(name, allowed->name, sizeof name);
    pthread_mutex_unlock(&zap->mutex);
    const char *status = allowed ? "200" : "400";
    send_zap_part(zap->handler, "1.0", 3, ZMQ_SNDMORE);
    send_zap_part(zap->handler, question->request, question->request_size, ZMQ_SNDMORE);
    send_zap_part(zap->handler, status, 3, ZMQ_SNDMORE);
    send_zap_part(zap->handler, "", 0, ZMQ_SNDMORE);
    send_zap_part(zap->handler, name, strlen(name), ZMQ_SNDMORE);
    send_zap_part(zap->handler, "", 0, 0);
    if (allowed)
        return;
    unsigned long refused = atomic_fetch_add(&zap->refused, 1);
    char text[TUTTI_KEY_TEXT];
    tt_curve_auth_format_key(question->key, text);
    if (refused < WARNINGS)
        tt_log(zap->log, TUTTI_LOG_WARNING, question->address, "was refused: its key %s is not among those allowed",
               text);
}

static void *serve_zap(void *context)
{
    struct tt_zap *zap = context;
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
        struct zap_request question;
        if (is_open && items[1].revents && receive_zap_request(zap->handler, &question))
            answer_zap_request(zap, &question);
    }
    return NULL;
}

static enum tutti_err open_zap_sockets(struct tt_zap *zap, void *context)
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
        return tt_fail(TUTTI_ERR_IO, "ZeroMQ cannot authenticate: %s", zmq_strerror(zmq_errno()));
    return TUTTI_OK;
}

static void release_zap(struct tt_zap *zap)
{
    void *sockets[] = {zap->handler, zap->told, zap->tell};
    for (int i = 0; i < 3; i++)
        if (sockets[i])
            zmq_close(sockets[i]);
    pthread_mutex_destroy(&zap->mutex);
    free(zap->allowed);
    free(zap);
}

enum tutti_err tt_curve_auth_start(struct tt_zap **out, void *context, const struct tutti_log *log)
{
    struct tt_zap *zap = calloc(1, sizeof *zap);
    *out = NULL;
    if (!zap)
        return tt_fail_memory();
    zap->log = log;
    pthread_mutex_init(&zap->mutex, NULL);
    enum tutti_err err = open_zap_sockets(zap, context);
    if (!err) {
        int failed = tt_thread_start(&zap->thread, serve_zap, zap);
        if (failed)
            err = tt_fail(TUTTI_ERR_IO, "a thread cannot be started: %s", strerror(failed));
    }
    if (err) {
        release_zap(zap);
        return err;
    }
    *out = zap;
    return TUTTI_OK;
}

enum tutti_err tt_curve_auth_allow_key(struct tt_zap *zap, const uint8_t key[TUTTI_KEY_SIZE], const char *name)
{
    enum tutti_err err = TUTTI_OK;
    pthread_mutex_lock(&zap->mutex);
    struct zap_allowed_key *allowed = find_allowed_key(zap, key);
    if (!allowed && !tt_vector_reserve(&zap->allowed, &zap->room, zap->count + 1, sizeof *zap->allowed))
        err = tt_fail_memory();
    if (!err) {
        allowed = allowed ? allowed : &zap->allowed[zap->count++];
        memcpy(allowed->key, key, TUTTI_KEY_SIZE);
        snprintf(allowed->name, sizeof allowed->name, "%s", name);
    }
    pthread_mutex_unlock(&zap->mutex);
    return err;
}

void tt_curve_auth_forbid_key(struct tt_zap *zap, const uint8_t key[TUTTI_KEY_SIZE])
{
    pthread_mutex_lock(&zap->mutex);
    struct zap_allowed_key *allowed = find_allowed_key(zap, key);
    if (allowed)
        *allowed = zap->allowed[--zap->count];
    pthread_mutex_unlock(&zap->mutex);
}

void tt_curve_auth_start_answering(struct tt_zap *zap)
{
    send_zap_part(zap->tell, "o", 1, 0);
}

unsigned long tt_curve_auth_count_refused(const struct tt_zap *zap)
{
    return atomic_load(&zap->refused);
}

void tt_curve_auth_stop(struct tt_zap *zap)
{
    if (!zap)
        return;
    send_zap_part(zap->tell, "q", 1, 0);
    pthread_join(zap->thread, NULL);
    release_zap(zap);
}

static enum tutti_err fail_guard(void)
{
    return tt_fail(TUTTI_ERR_UNSUPPORTED, "ZeroMQ cannot encrypt: %s", zmq_strerror(zmq_errno()));
}

enum tutti_err tt_curve_auth_guard_socket(void *socket, const struct tt_curve_keys *own)
{
    int yes = 1;
    if (zmq_setsockopt(socket, ZMQ_CURVE_SERVER, &yes, sizeof yes) ||
        zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, own->secret_key, sizeof own->secret_key) ||
        zmq_setsockopt(socket, ZMQ_ZAP_DOMAIN, "tutti", 5))
        return fail_guard();
    return TUTTI_OK;
}

enum tutti_err tt_curve_auth_identify_socket(void *socket, const struct tt_curve_keys *own,
                                             const uint8_t server[TUTTI_KEY_SIZE])
{
    if (zmq_setsockopt(socket, ZMQ_CURVE_SERVERKEY, server, TUTTI_KEY_SIZE) ||
        zmq_setsockopt(socket, ZMQ_CURVE_PUBLICKEY, own->public_key, sizeof own->public_key) ||
        zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, own->secret_key, sizeof own->secret_key))
        return fail_guard();
    return TUTTI_OK;
}

/* ZeroMQ writes keys in Z85: 40 characters and a zero byte. */
enum { Z85_SIZE = 41 };

static enum tutti_err fail_no_curve(void)
{
    return tt_fail(TUTTI_ERR_UNSUPPORTED, "the ZeroMQ library of this machine has no CURVE (%s)",
                   zmq_strerror(zmq_errno()));
}

enum tutti_err tt_curve_auth_make_keys(struct tt_curve_keys *keys)
{
    char public_key[Z85_SIZE], secret_key[Z85_SIZE];
    if (zmq_curve_keypair(public_key, secret_key) != 0)
        return fail_no_curve();
    bool good = zmq_z85_decode(keys->public_key, public_key) && zmq_z85_decode(keys->secret_key, secret_key);
    explicit_bzero(secret_key, sizeof secret_key);
    return good ? TUTTI_OK : fail_no_curve();
}

enum tutti_err tt_curve_auth_derive_keys(struct tt_curve_keys *keys)
{
    char public_key[Z85_SIZE], secret_key[Z85_SIZE];
    bool good = zmq_z85_encode(secret_key, keys->secret_key, sizeof keys->secret_key) &&
                zmq_curve_public(public_key, secret_key) == 0 && zmq_z85_decode(keys->public_key, public_key);
    explicit_bzero(secret_key, sizeof secret_key);
    return good ? TUTTI_OK : fail_no_curve();
}

void tt_curve_auth_wipe_keys(struct tt_curve_keys *keys)
{
    explicit_bzero(keys, sizeof *keys);
}

void tt_curve_auth_format_key(const uint8_t key[TUTTI_KEY_SIZE], char text[TUTTI_KEY_TEXT])
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < TUTTI_KEY_SIZE; i++) {
        text[2 * i] = digits[key[i] >> 4];
        text[2 * i + 1] = digits[key[i] & 15];
    }
    text[TUTTI_KEY_TEXT - 1] = '\0';
}

static int key_hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

enum tutti_err tt_curve_auth_parse_key(const char *text, uint8_t key[TUTTI_KEY_SIZE])
{
    uint8_t bytes[TUTTI_KEY_SIZE];
    bool good = strlen(text) == TUTTI_KEY_TEXT - 1;
    for (int i = 0; good && i < TUTTI_KEY_SIZE; i++) {
        int high = key_hex_digit(text[2 * i]), low = key_hex_digit(text[2 * i + 1]);
        good = high >= 0 && low >= 0;
        bytes[i] = good ? (uint8_t)(16 * high + low) : 0;
    }
    if (good)
        memcpy(key, bytes, sizeof bytes);
    explicit_bzero(bytes, sizeof bytes); /* it may be a secret */
    return good ? TUTTI_OK
                : tt_fail(TUTTI_ERR_FORMAT, "a key is %d hexadecimal digits; this is none", TUTTI_KEY_TEXT - 1);
}
