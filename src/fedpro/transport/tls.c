/* SPDX-License-Identifier: MIT */
#include <arpa/inet.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fedpro/transport/tls.h"

struct tutti_fedpro_tls {
    SSL_CTX *context;
};

struct tls {
    struct tutti_fedpro_transport base;
    SSL *ssl;
    bool wants_write; /* a read has to write first */
};

/* The oldest error of OpenSSL as text; the others are forgotten. */
static const char *reason(char buffer[static 200])
{
    unsigned long code = ERR_get_error();
    const char *text = code ? ERR_reason_error_string(code) : NULL;
    snprintf(buffer, 200, "%s", text ? text : "unknown reason");
    ERR_clear_error();
    return buffer;
}

static enum tutti_err wrong(const char *what, const char *path)
{
    char buffer[200];
    return tutti_fail(TUTTI_ERR_ARGUMENT, "%s: %s: %s", path, what, reason(buffer));
}

/* NULL after a failure. */
static struct tutti_fedpro_tls *begin(const SSL_METHOD *method)
{
    struct tutti_fedpro_tls *tls = calloc(1, sizeof *tls);
    ERR_clear_error();
    if (tls)
        tls->context = SSL_CTX_new(method);
    if (!tls || !tls->context || SSL_CTX_set_min_proto_version(tls->context, TLS1_2_VERSION) != 1) {
        tutti_fedpro_tls_free(tls);
        (void)tutti_fail(TUTTI_ERR_IO, "TLS cannot be used");
        return NULL;
    }
    SSL_CTX_set_mode(tls->context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    return tls;
}

static enum tutti_err use_own(SSL_CTX *context, const char *certificate, const char *key)
{
    if (SSL_CTX_use_certificate_chain_file(context, certificate) != 1)
        return wrong("no certificate as PEM", certificate);
    if (SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1)
        return wrong("no private key as PEM that fits the certificate", key);
    return TUTTI_OK;
}

/* `result` becomes *out, or is freed. */
static enum tutti_err finish(struct tutti_fedpro_tls **out, struct tutti_fedpro_tls *result, enum tutti_err err)
{
    if (err)
        tutti_fedpro_tls_free(result);
    else
        *out = result;
    return err;
}

enum tutti_err tutti_fedpro_tls_server(struct tutti_fedpro_tls **tls, const char *certificate, const char *key,
                                       const char *allow)
{
    struct tutti_fedpro_tls *made = begin(TLS_server_method());
    if (!made)
        return TUTTI_ERR_IO;
    enum tutti_err err = use_own(made->context, certificate, key);
    if (!err && allow) {
        if (SSL_CTX_load_verify_file(made->context, allow) != 1)
            err = wrong("no certificates as PEM", allow);
        X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(made->context), X509_V_FLAG_PARTIAL_CHAIN);
        SSL_CTX_set_verify(made->context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    }
    return finish(tls, made, err);
}

enum tutti_err tutti_fedpro_tls_client(struct tutti_fedpro_tls **tls, const char *trust, const char *certificate,
                                       const char *key)
{
    struct tutti_fedpro_tls *made = begin(TLS_client_method());
    if (!made)
        return TUTTI_ERR_IO;
    enum tutti_err err = TUTTI_OK;
    if (trust ? SSL_CTX_load_verify_file(made->context, trust) != 1
              : SSL_CTX_set_default_verify_paths(made->context) != 1)
        err = wrong("no certificates as PEM", trust ? trust : "the system's certificates");
    X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(made->context), X509_V_FLAG_PARTIAL_CHAIN);
    SSL_CTX_set_verify(made->context, SSL_VERIFY_PEER, NULL);
    if (!err && certificate)
        err = use_own(made->context, certificate, key ? key : certificate);
    return finish(tls, made, err);
}

void tutti_fedpro_tls_free(struct tutti_fedpro_tls *tls)
{
    if (tls)
        SSL_CTX_free(tls->context);
    free(tls);
}

/* What SSL_read or SSL_write returned. */
static enum tutti_fedpro_io outcome(struct tls *tls, int result, size_t *count)
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
            (void)tutti_fail(TUTTI_ERR_IO, "TLS: %s", reason(buffer));
        else
            (void)tutti_fail(TUTTI_ERR_IO, "TLS: the connection is cut");
        return TUTTI_FEDPRO_IO_FAILED;
    }
    }
}

static int most(size_t size)
{
    return size < 1 << 20 ? (int)size : 1 << 20;
}

static enum tutti_fedpro_io tls_read(struct tutti_fedpro_transport *self, void *bytes, size_t size, size_t *count)
{
    struct tls *tls = (struct tls *)self;
    ERR_clear_error();
    return outcome(tls, SSL_read(tls->ssl, bytes, most(size)), count);
}

static enum tutti_fedpro_io tls_write(struct tutti_fedpro_transport *self, const void *bytes, size_t size,
                                      size_t *count)
{
    struct tls *tls = (struct tls *)self;
    ERR_clear_error();
    if (size == 0) { /* what a read had to write */
        int result = SSL_do_handshake(tls->ssl);
        enum tutti_fedpro_io io = outcome(tls, result, count);
        *count = 0;
        return io == TUTTI_FEDPRO_IO_DONE ? TUTTI_FEDPRO_IO_WAIT : io;
    }
    return outcome(tls, SSL_write(tls->ssl, bytes, most(size)), count);
}

static bool tls_wants_write(struct tutti_fedpro_transport *self)
{
    return ((struct tls *)self)->wants_write;
}

static void tls_free(struct tutti_fedpro_transport *self)
{
    struct tls *tls = (struct tls *)self;
    if (SSL_is_init_finished(tls->ssl))
        SSL_shutdown(tls->ssl);
    ERR_clear_error();
    SSL_free(tls->ssl);
    free(tls);
}

static const struct tutti_fedpro_transport_kind tls_kind = {.name = "tls",
                                                            .read = tls_read,
                                                            .write = tls_write,
                                                            .wants_write = tls_wants_write,
                                                            .free = tls_free};

/* The certificate must be one of this name, or of this address. */
static bool expect(SSL *ssl, const char *host)
{
    unsigned char address[sizeof(struct in6_addr)];
    if (inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1)
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1;
    return SSL_set1_host(ssl, host) == 1 && SSL_set_tlsext_host_name(ssl, host) == 1;
}

struct tutti_fedpro_transport *tutti_fedpro_tls_new(struct tutti_fedpro_tls *tls, int socket, const char *host)
{
    struct tls *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->base.kind = &tls_kind;
    made->ssl = SSL_new(tls->context);
    if (!made->ssl || SSL_set_fd(made->ssl, socket) != 1 || (host && !expect(made->ssl, host))) {
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
