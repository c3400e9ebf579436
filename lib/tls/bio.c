/* bio.c: the socket, as OpenSSL reads and writes it.
 *
 * OpenSSL's own BIO for sockets does not set MSG_NOSIGNAL: a peer that has closed would raise
 * SIGPIPE in the host program. */
#include <errno.h>
#include <sys/socket.h>

#include "tls/openssl.h"

/* From the socket in one call: a record has 16 KiB, a handshake with a long chain of certificates
 * less than this. */
enum { TAKEN_MOST = 256 * 1024 };

static long control(BIO *bio, int command, long number, void *pointer) {
    (void)bio;
    (void)number;
    (void)pointer;
    return command == BIO_CTRL_FLUSH; /* all is with the kernel at once; nothing else is of use */
}

/* What a system call gave. False: nothing yet, or never, and then the session knows why. */
static int take_result(BIO *bio, ssize_t n, size_t *done) {
    struct rlock__tls *session = BIO_get_data(bio);
    const bool again = n < 0 && (errno == EAGAIN || errno == EINTR);
    if (n < 0 && !again)
        session->failure = errno;
    *done = n > 0 ? (size_t)n : 0;
    return again ? -1 : n > 0;
}

static int socket_write(BIO *bio, const char *from, size_t size, size_t *n) {
    const struct rlock__tls *session = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    const int result = take_result(bio, send(session->fd, from, size, MSG_NOSIGNAL), n);
    if (result < 0)
        BIO_set_retry_write(bio);
    return result > 0;
}

static int socket_read(BIO *bio, char *to, size_t size, size_t *n) {
    struct rlock__tls *session = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    *n = 0;
    /* OpenSSL goes on for as long as there are records without data: tickets, a handshake that has
     * no end. It is told that there are no more for now, so that the clock is looked at. */
    if (session->taken >= TAKEN_MOST) {
        BIO_set_retry_read(bio);
        return 0;
    }
    const ssize_t got = recv(session->fd, to, size, 0);
    session->taken += got > 0 ? (size_t)got : 0;
    session->closed = session->closed || got == 0;
    const int result = take_result(bio, got, n);
    if (result < 0)
        BIO_set_retry_read(bio);
    return result > 0;
}

BIO *rlock__tls_bio(struct rlock__tls *session) {
    session->method = BIO_meth_new(BIO_TYPE_NONE, "rlock");
    if (session->method == NULL || BIO_meth_set_ctrl(session->method, control) != 1 ||
        BIO_meth_set_write_ex(session->method, socket_write) != 1 ||
        BIO_meth_set_read_ex(session->method, socket_read) != 1)
        return NULL;
    BIO *bio = BIO_new(session->method);
    if (bio != NULL)
        BIO_set_data(bio, session);
    return bio;
}
