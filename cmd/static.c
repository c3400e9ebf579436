/* static.c: what the static program does otherwise than one that the loader puts together. */
#include <netdb.h>
#include <nss.h>
#include <stdbool.h>

static bool begun;

/* Names of hosts are looked up in /etc/hosts and by DNS, whatever /etc/nsswitch.conf says: libc has
 * these two in itself, and would need a file that fits this very libc for any other. */
__attribute__((constructor)) static void begin(void) {
    begun = true;
    (void)__nss_configure_lookup("hosts", "files dns");
}

/* What libcrypto asks the processor before main(), and again when it is first used. In a virtual
 * machine each question goes to the host, which takes longer than all else that is done by then. So
 * who does not use TLS asks nothing (ld's --wrap). */
void __real_OPENSSL_cpuid_setup(void);
void __wrap_OPENSSL_cpuid_setup(void);

void __wrap_OPENSSL_cpuid_setup(void) {
    if (begun)
        __real_OPENSSL_cpuid_setup();
}
