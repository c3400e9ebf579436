/* fuzz_url.c: a server's URL. */
#include "fuzz.h"

#include "redis/url.h"

/* What is shown leads to the same place, without a password. */
static void look_at_shown(const struct rlock__server *server) {
    struct rlock__server shown;
    struct rlock__error error = {""};
    const bool read = rlock__server_parse(&shown, server->redacted, &error) == RLOCK_OK;
    assert(read && shown.password == NULL);
    assert(shown.topology == server->topology && shown.tls == server->tls);
    assert(shown.host_count == server->host_count && shown.db == server->db);
    for (size_t i = 0; i < shown.host_count; i++)
        assert(strcmp(shown.hosts[i].name, server->hosts[i].name) == 0 &&
               strcmp(shown.hosts[i].port, server->hosts[i].port) == 0);
    rlock__server_free(&shown);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct rlock__server server;
    struct rlock__error error = {""};
    char *url = fuzz_text(data, size);
    if (rlock__server_parse(&server, url, &error) == RLOCK_OK) {
        assert(server.host_count <= RLOCK__HOSTS_MAX);
        assert((server.host_count == 0) == (server.path != NULL));
        look_at_shown(&server);
        rlock__server_free(&server);
    } else {
        assert(error.text[0] != '\0' && strchr(error.text, '\n') == NULL);
    }
    free(url);
    return 0;
}
