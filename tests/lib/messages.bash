# messages.bash: what listen (server.bash) has heard.
# shellcheck shell=bash

# heard CHANNEL: the messages on it so far, a line each. To be asked once for each listen.
heard() {
    redis PUBLISH "$1" end-of-messages >/dev/null
    wait_until 5 grep -q '^end-of-messages$' messages
    grep -A 2 '^message$' messages | sed -n '3~3p' | grep -v '^end-of-messages$'
}
