/* openssl.c: a TLS session, by OpenSSL.
 *
 * OpenSSL's default library context is used, so that what the administrator has written into
 * openssl.cnf (a policy, a provider, a security level) applies to rlock as to any program. It is
 * initialised once, as by any other user of OpenSSL in the process; after that nothing is shared:
 * each session has a context of its own, sets nothing global, and leaves the thread's error queue
 * empty, like each of OpenSSL's own calls. */
#include "tls/openssl.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* --- opening --------------------------------------------------------------------------------- */

static bool is_address(const char *name) {
    struct in6_addr address;
    return inet_pton(AF_INET, name, &address) == 1 || inet_pton(AF_INET6, name, &address) == 1;
}

/* As certificates have it: a name without the dot at its end, an address without its zone. */
static char *plain_name(const char *host) {
    size_t length = strlen(host);
    if (strchr(host, ':') != NULL)
        length = strcspn(host, "%");
    else if (length > 1 && host[length - 1] == '.')
        length--;
    return strndup(host, length);
}

/* The server requests a certificate and there is none: the handshake goes on without. */
static int on_asked(SSL *ssl, X509 **cert, EVP_PKEY **key) {
    (void)cert;
    (void)key;
    struct rlock__tls *session = SSL_get_app_data(ssl);
    session->asked = true;
    return 0;
}

/* Otherwise OpenSSL would prompt on the terminal. */
static int no_passphrase(char *to, int size, int writing, void *data) {
    (void)to;
    (void)size;
    (void)writing;
    struct rlock__tls *session = data;
    session->locked = true;
    return -1;
}

static enum rlock__io load_authorities(const struct rlock__tls *session,
                                       const struct rlock__tls_config *config,
                                       struct rlock__error *error) {
    if (config->insecure)
        return RLOCK__IO_DONE;
    if (config->ca == NULL)
        (void)SSL_CTX_set_default_verify_paths(
            session->context); /* if there are none, no certificate is trusted */
    else if (SSL_CTX_load_verify_file(session->context, config->ca) != 1)
        return rlock__tls_why_file(session, "the authorities' certificates", config->ca, error);
    return RLOCK__IO_DONE;
}

static enum rlock__io load_certificate(struct rlock__tls *session,
                                       const struct rlock__tls_config *config,
                                       struct rlock__error *error) {
    if (config->cert == NULL && config->key == NULL)
        return RLOCK__IO_DONE;
    if (config->cert == NULL || config->key == NULL) {
        rlock__error_set(error,
                         "a certificate needs its key, and a key its certificate: give both");
        return RLOCK__IO_DENIED;
    }
    session->has_cert = true;
    if (SSL_CTX_use_certificate_chain_file(session->context, config->cert) != 1)
        return rlock__tls_why_file(session, "the certificate", config->cert, error);
    if (SSL_CTX_use_PrivateKey_file(session->context, config->key, SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_check_private_key(session->context) != 1)
        return rlock__tls_why_file(session, "the key", config->key, error);
    return RLOCK__IO_DONE;
}

static bool make_context(struct rlock__tls *session, const struct rlock__tls_config *config) {
    SSL_CTX *context = session->context = SSL_CTX_new(TLS_client_method());
    if (context == NULL || SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1)
        return false;
    /* No session is ever resumed: a connection lives as long as rlock does. */
    (void)SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET);
    (void)SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    (void)SSL_CTX_set_mode(context,
                           SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_verify(context, config->insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER,
                       config->insecure ? NULL : rlock__tls_on_verify);
    SSL_CTX_set_client_cert_cb(context, on_asked);
    SSL_CTX_set_default_passwd_cb(context, no_passphrase);
    SSL_CTX_set_default_passwd_cb_userdata(context, session);
    return true;
}

/* Sets the name to ask for (SNI), and the one that the certificate must have. An address is never
 * asked for (RFC 6066, section 3). */
static bool set_name(const struct rlock__tls *session) {
    X509_VERIFY_PARAM *param = SSL_get0_param(session->ssl);
    if (is_address(session->name))
        return X509_VERIFY_PARAM_set1_ip_asc(param, session->name) == 1;
    SSL_set_hostflags(session->ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return SSL_set1_host(session->ssl, session->name) == 1 &&
           SSL_set_tlsext_host_name(session->ssl, session->name) == 1;
}

static bool make_session(struct rlock__tls *session) {
    session->ssl = SSL_new(session->context);
    BIO *bio = session->ssl != NULL ? rlock__tls_bio(session) : NULL;
    if (bio == NULL)
        return false;
    SSL_set_bio(session->ssl, bio, bio);
    SSL_set_connect_state(session->ssl);
    return SSL_set_app_data(session->ssl, session) == 1 && set_name(session);
}

static void session_close(struct rlock__tls *session) {
    if (session->ssl != NULL && SSL_is_init_finished(session->ssl) && !session->broken)
        (void)SSL_shutdown(session->ssl);
    SSL_free(session->ssl);
    SSL_CTX_free(session->context);
    BIO_meth_free(session->method);
    free(session->name);
    free(session->ca);
    free(session);
    ERR_clear_error();
}

static enum rlock__io session_open(struct rlock__tls **out, int fd,
                                   const struct rlock__tls_config *config, const char *host,
                                   struct rlock__error *error) {
    struct rlock__tls *session = calloc(1, sizeof *session);
    enum rlock__io io = RLOCK__IO_SYSTEM;
    ERR_clear_error();
    rlock__error_set(error, "no TLS: out of memory");
    if (session == NULL)
        return io;
    session->fd = fd;
    session->name = plain_name(config->name != NULL ? config->name : host);
    if (session->name == NULL ||
        (config->ca != NULL && (session->ca = strdup(config->ca)) == NULL) ||
        !make_context(session, config))
        goto out;
    io = load_authorities(session, config, error);
    if (io == RLOCK__IO_DONE)
        io = load_certificate(session, config, error);
    if (io == RLOCK__IO_DONE && !make_session(session)) {
        rlock__error_set(error, "no TLS: OpenSSL cannot create a session for '%s'", session->name);
        io = RLOCK__IO_SYSTEM;
    }
out:
    if (io != RLOCK__IO_DONE)
        session_close(session);
    else
        *out = session;
    ERR_clear_error();
    return io;
}

/* --- bytes ----------------------------------------------------------------------------------- */

/* The result for a call that did not succeed. */
static enum rlock__io judge(struct rlock__tls *session, int result, short *events,
                            struct rlock__error *error) {
    enum rlock__io io = RLOCK__IO_WAIT;
    switch (SSL_get_error(session->ssl, result)) {
    case SSL_ERROR_WANT_READ: *events = POLLIN; break;
    case SSL_ERROR_WANT_WRITE: *events = POLLOUT; break;
    default: session->broken = true; io = rlock__tls_why(session, error);
    }
    ERR_clear_error();
    return io;
}

static enum rlock__io session_handshake(struct rlock__tls *session, short *events,
                                        struct rlock__error *error) {
    session->taken = 0;
    ERR_clear_error();
    const int result = SSL_do_handshake(session->ssl);
    return result == 1 ? RLOCK__IO_DONE : judge(session, result, events, error);
}

static enum rlock__io session_read(struct rlock__tls *session, char *to, size_t size, size_t *n,
                                   short *events, struct rlock__error *error) {
    session->taken = 0;
    ERR_clear_error();
    const int result = SSL_read_ex(session->ssl, to, size, n);
    if (result != 1)
        return judge(session, result, events, error);
    session->heard = true;
    return RLOCK__IO_DONE;
}

/* A server that refuses our certificate sends an alert and closes, with TLS 1.3 after the
 * handshake: our next write fails then, but the alert can still be read. */
static enum rlock__io hear_why(struct rlock__tls *session, struct rlock__error *error) {
    char byte;
    size_t n;
    short events;
    struct rlock__error said;
    if (session->heard || session_read(session, &byte, 1, &n, &events, &said) != RLOCK__IO_DENIED)
        return RLOCK__IO_BROKEN;
    *error = said;
    return RLOCK__IO_DENIED;
}

static enum rlock__io session_write(struct rlock__tls *session, const char *from, size_t size,
                                    size_t *n, short *events, struct rlock__error *error) {
    session->taken = 0;
    ERR_clear_error();
    const int result = SSL_write_ex(session->ssl, from, size, n);
    if (result == 1)
        return RLOCK__IO_DONE;
    const enum rlock__io io = judge(session, result, events, error);
    return io == RLOCK__IO_BROKEN ? hear_why(session, error) : io;
}

const struct rlock__tls_module rlock__tls_module = {
    .version = RLOCK_VERSION,
    .open = session_open,
    .handshake = session_handshake,
    .read = session_read,
    .write = session_write,
    .close = session_close,
};
