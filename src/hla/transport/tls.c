/* SPDX-License-Identifier: MIT */
#include <arpa/inet.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hla/transport/tls.h"

struct tt_tls {
    SSL_CTX *context;
};

struct tls_transport {
    struct tt_transport base;
    SSL *ssl;
    bool wants_write; /* a read has to write first */
};

/* Returns OpenSSL's oldest error as text, and clears all others. */
static const char *tls_error_text(char buffer[static 200])
{
    unsigned long code = ERR_get_error();
    const char *text = code ? ERR_reason_error_string(code) : NULL;
    snprintf(buffer, 200, "%s", text ? text : "unknown reason");
    ERR_clear_error();
    return buffer;
}

static enum tutti_err tls_fail_file(const char *what, const char *path)
{
    char buffer[200];
    return tt_fail(TUTTI_ERR_ARGUMENT, "%s: %s: %s", path, what, tls_error_text(buffer));
}

/* NULL after a failure. */
static struct tt_tls *tls_new_context(const SSL_METHOD *method)
{
    struct tt_tls *tls = calloc(1, sizeof *tls);
    ERR_clear_error();
    if (tls)
        tls->context = SSL_CTX_new(method);
    if (!tls || !tls->context || SSL_CTX_set_min_proto_version(tls->context, TLS1_2_VERSION) != 1) {
        tt_tls_free(tls);
        (void)tt_fail(TUTTI_ERR_IO, "TLS cannot be used");
        return NULL;
    }
    SSL_CTX_set_mode(tls->context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    return tls;
}

static enum tutti_err load_own_certificate(SSL_CTX *context, const char *certificate, const char *key)
{
    if (SSL_CTX_use_certificate_chain_file(context, certificate) != 1)
        return tls_fail_file("no certificate as PEM", certificate);
    if (SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1)
        return tls_fail_file("no private key as PEM that fits the certificate", key);
    return TUTTI_OK;
}

/* `result` becomes *out, or is freed. */
static enum tutti_err tls_finish_context(struct tt_tls **out, struct tt_tls *result, enum tutti_err err)
{
    if (err)
        tt_tls_free(result);
    else
        *out = result;
    return err;
}

enum tutti_err tt_tls_open_server(struct tt_tls **tls, const char *certificate, const char *key, const char *allow)
{
    struct tt_tls *made = tls_new_context(TLS_server_method());
    if (!made)
        return TUTTI_ERR_IO;
    enum tutti_err err = load_own_certificate(made->context, certificate, key);
    if (!err && allow) {
        if (SSL_CTX_load_verify_file(made->context, allow) != 1)
            err = tls_fail_file("no certificates as PEM", allow);
        X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(made->context), X509_V_FLAG_PARTIAL_CHAIN);
        SSL_CTX_set_verify(made->context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    }
    return tls_finish_context(tls, made, err);
}

enum tutti_err tt_tls_open_client(struct tt_tls **tls, const char *trust, const char *certificate, const char *key)
{
    struct tt_tls *made = tls_new_context(TLS_client_method());
    if (!made)
        return TUTTI_ERR_IO;
    enum tutti_err err = TUTTI_OK;
    if (trust ? SSL_CTX_load_verify_file(made->context, trust) != 1
              : SSL_CTX_set_default_verify_paths(made->context) != 1)
        err = tls_fail_file("no certificates as PEM", trust ? trust : "the system's certificates");
    X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(made->context), X509_V_FLAG_PARTIAL_CHAIN);
    SSL_CTX_set_verify(made->context, SSL_VERIFY_PEER, NULL);
    if (!err && certificate)
        err = load_own_certificate(made->context, certificate, key ? key : certificate);
    return tls_finish_context(tls, made, err);
}

void tt_tls_free(struct tt_tls *tls)
{
    if (tls)
        SSL_CTX_free(tls->context);
    free(tls);
}

/* Converts the result of SSL_read or SSL_write. */
static enum tt_transport_io tls_result(struct tls_transport *tls, int result, size_t *count)
{
    *count = result > 0 ? (size_t)result : 0;
    tls->wants_write = false;
    if (result > 0)
        return TUTTI_FEDPRO_IO_DONE;
    switch (SSL_get_error(tls->ssl, result)) {
    case SSL_ERROR_WANT_WRITE: tls->wants_write = true; return TUTTI_FEDPRO_IO_WAIT;
    case SSL_ERROR_WANT_READ: return TUTTI_FEDPRO_IO_WAIT;
    case SSL_ERROR_ZERO_RETURN: return TUTTI_FEDPRO_IO_ENDED;
    default: {
        char buffer[200];
        if (ERR_peek_error())
            (void)tt_fail(TUTTI_ERR_IO, "TLS: %s", tls_error_text(buffer));
        else
            (void)tt_fail(TUTTI_ERR_IO, "TLS: the connection is cut");
        return TUTTI_FEDPRO_IO_FAILED;
    }
    }
}

static int limit_to_int(size_t size)
{
    return size < 1 << 20 ? (int)size : 1 << 20;
}

static enum tt_transport_io tls_read(struct tt_transport *self, void *bytes, size_t size, size_t *count)
{
    struct tls_transport *tls = (struct tls_transport *)self;
    ERR_clear_error();
    return tls_result(tls, SSL_read(tls->ssl, bytes, limit_to_int(size)), count);
}

static enum tt_transport_io tls_write(struct tt_transport *self, const void *bytes, size_t size, size_t *count)
{
    struct tls_transport *tls = (struct tls_transport *)self;
    ERR_clear_error();
    if (size == 0) { /* what a read had to write */
        int result = SSL_do_handshake(tls->ssl);
        enum tt_transport_io io = tls_result(tls, result, count);
        *count = 0;
        return io == TUTTI_FEDPRO_IO_DONE ? TUTTI_FEDPRO_IO_WAIT : io;
    }
    return tls_result(tls, SSL_write(tls->ssl, bytes, limit_to_int(size)), count);
}

static bool tls_wants_write(struct tt_transport *self)
{
    return ((struct tls_transport *)self)->wants_write;
}

static void tls_free(struct tt_transport *self)
{
    struct tls_transport *tls = (struct tls_transport *)self;
    if (SSL_is_init_finished(tls->ssl))
        SSL_shutdown(tls->ssl);
    ERR_clear_error();
    SSL_free(tls->ssl);
    free(tls);
}

static const struct tt_transport_kind tls_kind = {.name = "tls",
                                                  .read = tls_read,
                                                  .write = tls_write,
                                                  .wants_write = tls_wants_write,
                                                  .free = tls_free};

/* The certificate must be one of this name, or of this address. */
static bool tls_expect_host(SSL *ssl, const char *host)
{
    unsigned char address[sizeof(struct in6_addr)];
    if (inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1)
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1;
    return SSL_set1_host(ssl, host) == 1 && SSL_set_tlsext_host_name(ssl, host) == 1;
}

struct tt_transport *tt_tls_new_transport(struct tt_tls *tls, int socket, const char *host)
{
    struct tls_transport *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->base.kind = &tls_kind;
    made->ssl = SSL_new(tls->context);
    if (!made->ssl || SSL_set_fd(made->ssl, socket) != 1 || (host && !tls_expect_host(made->ssl, host))) {
        SSL_free(made->ssl);
        free(made);
        return NULL;
    }
    if (host)
        SSL_set_connect_state(made->ssl);
    else
        SSL_set_accept_state(made->ssl);
    return &made->base;
}
