/* openssl.h: the module's insides: a session, and why it failed. */
#ifndef RLOCK_OPENSSL_H
#define RLOCK_OPENSSL_H

#include <openssl/ssl.h>

#include "tls/tls.h"

enum { RLOCK__TLS_NAMES_SIZE = 160 };

struct rlock__tls {
    SSL_CTX *context;
    SSL *ssl;
    BIO_METHOD *method;
    int fd;
    char *name;       /* that the certificate must have */
    char *ca;         /* the file; NULL: the system's */
    bool has_cert;    /* we have a certificate */
    bool locked;      /* its key has a passphrase */
    bool asked;       /* the server requested it */
    bool heard;       /* the server accepted it: it has sent data */
    bool closed;      /* the server has closed the connection */
    bool broken;      /* nothing more can be sent */
    size_t taken;     /* bytes from the socket, in this call */
    int failure;      /* errno of the socket; 0: none */
    int verify_error; /* X509_V_ERR_... of the server's certificate; X509_V_OK: none */
    int verify_depth; /* 0: the server's own, from 1: its issuers' */
    char names[RLOCK__TLS_NAMES_SIZE]; /* those in the certificate that failed */
};

/* The session's socket, for OpenSSL. The caller's to free, with session->method; NULL: out of
 * memory. */
BIO *rlock__tls_bio(struct rlock__tls *session);

/* Records why OpenSSL refuses a certificate of the server: at the end of the handshake its errors
 * do not say so any more. For SSL_CTX_set_verify(). */
int rlock__tls_on_verify(int good, X509_STORE_CTX *store);

/* What a failed call on the session means, in plain words. RLOCK__IO_DENIED or RLOCK__IO_BROKEN.
 * Uses up the thread's OpenSSL errors. */
enum rlock__io rlock__tls_why(const struct rlock__tls *session, struct rlock__error *error);

/* Why a file can't be used, from the thread's OpenSSL errors: "cannot use WHAT in FILE: reason".
 * Returns RLOCK__IO_DENIED. */
enum rlock__io rlock__tls_why_file(const struct rlock__tls *session, const char *what,
                                   const char *file, struct rlock__error *error);

#endif
