# latch.bash: the latch x, and who waits for it.
# shellcheck shell=bash

source "$TESTS/lib/actors.bash"

latch_channel='redisson_countdownlatch__channel__{x}'

looked() { # TIMES
    (($(calls evalsha) >= $1))
}

# waits WHO [OPTION...]: it listens, and has looked since. Once past the latch it has a section of no
# length, with WHO in the file history.
waits() {
    local looks
    looks=$(calls evalsha)
    brief "$1"
    act "$1" 'latch wait' -q "${@:2}"
    wait_until 5 looked $((looks + 2))
}

# passes WHO NS [MS]: it ends well, and was past the latch within MS of that instant, and not before.
passes() {
    local after
    gone 0 "$1"
    after=$((($(stamp "$1" enter) - $2) / 1000000))
    ((after >= 0 && after < ${3:-1000} * SLOW)) || fail "$1 entered after $after ms"
}
