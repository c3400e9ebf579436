/* explain.c: why a TLS session failed, in plain words. */
#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>

#include "tls/openssl.h"

/* --- the server's certificate ---------------------------------------------------------------- */

static void add_name(char names[RLOCK__TLS_NAMES_SIZE], const char *name, size_t length) {
    const size_t used = strlen(names);
    if (length > 0 && used + 2 + length < RLOCK__TLS_NAMES_SIZE)
        (void)snprintf(names + used, RLOCK__TLS_NAMES_SIZE - used, "%s%.*s", used > 0 ? ", " : "",
                       (int)length, name);
}

static void add_alternative(char names[RLOCK__TLS_NAMES_SIZE], const GENERAL_NAME *name) {
    int type;
    const ASN1_STRING *value = GENERAL_NAME_get0_value(name, &type);
    if (type == GEN_DNS)
        add_name(names, (const char *)ASN1_STRING_get0_data(value),
                 (size_t)ASN1_STRING_length(value));
    if (type != GEN_IPADD)
        return;
    char text[INET6_ADDRSTRLEN];
    const int family = ASN1_STRING_length(value) == 4 ? AF_INET : AF_INET6;
    if ((ASN1_STRING_length(value) == 4 || ASN1_STRING_length(value) == 16) &&
        inet_ntop(family, ASN1_STRING_get0_data(value), text, sizeof text) != NULL)
        add_name(names, text, strlen(text));
}

/* The names in a certificate: the alternative ones, or the subject's if it has none. */
static void list_names(char names[RLOCK__TLS_NAMES_SIZE], const X509 *certificate) {
    GENERAL_NAMES *all = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    for (int i = 0; i < sk_GENERAL_NAME_num(all); i++)
        add_alternative(names, sk_GENERAL_NAME_value(all, i));
    GENERAL_NAMES_free(all);
    if (*names != '\0')
        return;
    char common[RLOCK__TLS_NAMES_SIZE];
    const int length = X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName,
                                                 common, sizeof common);
    if (length > 0)
        add_name(names, common, strlen(common));
}

int rlock__tls_on_verify(int good, X509_STORE_CTX *store) {
    if (good == 1)
        return good;
    const SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
    struct rlock__tls *session = SSL_get_app_data(ssl);
    const X509 *certificate = X509_STORE_CTX_get_current_cert(store);
    session->verify_error = X509_STORE_CTX_get_error(store);
    session->verify_depth = X509_STORE_CTX_get_error_depth(store);
    session->names[0] = '\0';
    if (certificate != NULL)
        list_names(session->names, certificate);
    return good;
}

static void say_unverified(const struct rlock__tls *session, struct rlock__error *error) {
    const char *which =
        session->verify_depth > 0 ? "an issuer certificate in its chain" : "its certificate";
    switch (session->verify_error) {
    case X509_V_ERR_CERT_HAS_EXPIRED: rlock__error_set(error, "%s has expired", which); break;
    case X509_V_ERR_CERT_NOT_YET_VALID:
        rlock__error_set(error, "%s is not valid yet: is this machine's clock right?", which);
        break;
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
        rlock__error_set(error, "its certificate is for %s, not for %s",
                         *session->names != '\0' ? session->names : "no name", session->name);
        break;
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_CERT_UNTRUSTED:
        if (session->ca != NULL)
            rlock__error_set(error, "its certificate is signed by an authority that is not in %s",
                             session->ca);
        else
            rlock__error_set(error, "its certificate is signed by an authority that is not trusted "
                                    "here: give --tls-ca");
        break;
    default:
        rlock__error_set(error, "%s cannot be verified: %s", which,
                         X509_verify_cert_error_string(session->verify_error));
    }
}

/* --- ours ------------------------------------------------------------------------------------ */

/* True: the alert is about our certificate, or the lack of one. */
static bool is_about_ours(const struct rlock__tls *session, int alert) {
    switch (alert) {
    case SSL_AD_BAD_CERTIFICATE:
    case SSL_AD_UNSUPPORTED_CERTIFICATE:
    case SSL_AD_CERTIFICATE_REVOKED:
    case SSL_AD_CERTIFICATE_EXPIRED:
    case SSL_AD_CERTIFICATE_UNKNOWN:
    case SSL_AD_UNKNOWN_CA:
    case SSL_AD_ACCESS_DENIED:
    case SSL_AD_CERTIFICATE_REQUIRED: return true;
    case SSL_AD_HANDSHAKE_FAILURE: return session->asked && !session->has_cert; /* TLS 1.2 */
    default: return false;
    }
}

static void say_ours(const struct rlock__tls *session, int alert, struct rlock__error *error) {
    if (!session->has_cert)
        rlock__error_set(error,
                         "the server requires a client certificate: give --tls-cert and --tls-key");
    else if (alert == SSL_AD_UNKNOWN_CA)
        rlock__error_set(error,
                         "the server refuses our certificate: it does not trust the authority "
                         "that signed it");
    else if (alert == SSL_AD_CERTIFICATE_EXPIRED)
        rlock__error_set(error, "the server refuses our certificate: it has expired");
    else
        rlock__error_set(error, "the server refuses our certificate: %s",
                         SSL_alert_desc_string_long(alert));
}

/* --- all the rest ---------------------------------------------------------------------------- */

/* The alert that the server sent; 0: none, or close_notify, which has that number and is no
 * failure. */
static int alert_of(unsigned long code) {
    const int reason = ERR_GET_REASON(code);
    return ERR_GET_LIB(code) == ERR_LIB_SSL && reason > SSL_AD_REASON_OFFSET &&
                   reason < SSL_AD_REASON_OFFSET + 256
               ? reason - SSL_AD_REASON_OFFSET
               : 0;
}

/* What the server sent is not TLS. */
static bool is_not_tls(unsigned long code) {
    static const int reasons[] = {SSL_R_WRONG_VERSION_NUMBER,   SSL_R_UNKNOWN_PROTOCOL,
                                  SSL_R_PACKET_LENGTH_TOO_LONG, SSL_R_HTTP_REQUEST,
                                  SSL_R_HTTPS_PROXY_REQUEST,    SSL_R_BAD_RECORD_TYPE};
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        if (ERR_GET_LIB(code) == ERR_LIB_SSL && ERR_GET_REASON(code) == reasons[i])
            return true;
    }
    return false;
}

static bool is_old(unsigned long code) {
    return alert_of(code) == SSL_AD_PROTOCOL_VERSION ||
           (ERR_GET_LIB(code) == ERR_LIB_SSL &&
            (ERR_GET_REASON(code) == SSL_R_UNSUPPORTED_PROTOCOL ||
             ERR_GET_REASON(code) == SSL_R_VERSION_TOO_LOW));
}

static void say_unavailable(const struct rlock__tls *session, unsigned long code,
                            struct rlock__error *error) {
    const bool begun = SSL_is_init_finished(session->ssl);
    const char *reason = ERR_reason_error_string(code);
    if (!begun && is_not_tls(code))
        rlock__error_set(error, "the server does not speak TLS (is it redis://?)");
    else if (!begun && is_old(code))
        rlock__error_set(error, "the server does not support TLS 1.2 or newer");
    else if (!begun && alert_of(code) == SSL_AD_HANDSHAKE_FAILURE)
        rlock__error_set(error, "the server has no TLS version or cipher in common with us");
    else if (alert_of(code) == SSL_AD_UNRECOGNIZED_NAME)
        rlock__error_set(error, "the server does not recognize the name %s", session->name);
    else if (alert_of(code) != 0)
        rlock__error_set(error, "the server aborted TLS: %s",
                         SSL_alert_desc_string_long(alert_of(code)));
    else if (session->failure != 0)
        rlock__error_set(error, "%s", strerror(session->failure));
    else if (session->closed || code == 0)
        rlock__error_set(error, "the server closed the connection%s",
                         begun ? "" : " in the TLS handshake (is it redis://?)");
    else
        rlock__error_set(error, "TLS failed: %s", reason != NULL ? reason : "unknown reason");
}

enum rlock__io rlock__tls_why(const struct rlock__tls *session, struct rlock__error *error) {
    const unsigned long code = ERR_peek_error();
    if (session->verify_error != X509_V_OK) {
        say_unverified(session, error);
        return RLOCK__IO_DENIED;
    }
    const int alert = alert_of(code);
    if (is_about_ours(session, alert)) {
        say_ours(session, alert, error);
        return RLOCK__IO_DENIED;
    }
    say_unavailable(session, code, error);
    return RLOCK__IO_BROKEN;
}

static bool is_mismatch(unsigned long code) {
    return (ERR_GET_LIB(code) == ERR_LIB_X509 &&
            ERR_GET_REASON(code) == X509_R_KEY_VALUES_MISMATCH) ||
           (ERR_GET_LIB(code) == ERR_LIB_SSL && /* the certificate has another type of key */
            ERR_GET_REASON(code) == SSL_R_NO_CERTIFICATE_ASSIGNED);
}

enum rlock__io rlock__tls_why_file(const struct rlock__tls *session, const char *what,
                                   const char *file, struct rlock__error *error) {
    const char *reason =
        session->locked ? "it is protected by a passphrase" : "the file has none in PEM format";
    unsigned long code;
    while ((code = ERR_get_error()) != 0) {
        if (ERR_SYSTEM_ERROR(code))
            reason = strerror(ERR_GET_REASON(code));
        else if (is_mismatch(code))
            reason = "it does not match the certificate";
    }
    rlock__error_set(error, "cannot use %s in %s: %s", what, file, reason);
    return RLOCK__IO_DENIED;
}
