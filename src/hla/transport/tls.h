/* SPDX-License-Identifier: MIT */
/* tls.h - connections in TLS 1.2 or later, by OpenSSL. */
#ifndef TT_HLA_TRANSPORT_TLS_H
#define TT_HLA_TRANSPORT_TLS_H

#include "hla/transport/transport.h"

/* Certificates and rules of one side; shared by its connections. */
struct tt_tls;

/* Creates the RTI's side: its certificate (with the chain to its issuer) and key as PEM files. `allow`: a PEM file of
 * certificates; only federates whose certificate is one of these, or issued by one, are accepted; NULL: all. ARGUMENT
 * with the file's name. */
TUTTI_CHECKED enum tutti_err tt_tls_open_server(struct tt_tls **tls, const char *certificate, const char *key,
                                                const char *allow);
/* A federate's: `trust` is a PEM file with the certificate of the RTI or of its issuer; NULL: those that the system trusts. `certificate` and
 * `key` are its own, or NULL. */
TUTTI_CHECKED enum tutti_err tt_tls_open_client(struct tt_tls **tls, const char *trust, const char *certificate,
                                                const char *key);
void tt_tls_free(struct tt_tls *tls);

/* A connection over a socket, which is borrowed; the handshake is part of the first reads and writes. `host` is the name that the RTI's
 * certificate must have, for a federate; NULL for the RTI. NULL when memory is out. */
struct tt_transport *tt_tls_new_transport(struct tt_tls *tls, int socket, const char *host);

#endif
