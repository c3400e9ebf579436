/* static.c: what the static program does differently from the dynamic one. */
#include <netdb.h>
#include <nss.h>
#include <stdbool.h>

static bool begun;

/* Host names are looked up in /etc/hosts and by DNS, whatever /etc/nsswitch.conf says: libc has
 * these two built in; any other needs a module of exactly this libc. */
__attribute__((constructor)) static void begin(void) {
    begun = true;
    (void)__nss_configure_lookup("hosts", "files dns");
}

/* libcrypto queries the processor before main(), and again when it is first used. In a virtual
 * machine each CPUID traps to the host, which takes longer than the rest of the start. This skips
 * the first query (ld's --wrap), so programs without TLS make none. */
void __real_OPENSSL_cpuid_setup(void);
void __wrap_OPENSSL_cpuid_setup(void);

void __wrap_OPENSSL_cpuid_setup(void) {
    if (begun)
        __real_OPENSSL_cpuid_setup();
}
