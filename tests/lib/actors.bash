# actors.bash: background rlocks of one lock, each known by a name of the test's choice, with a section
# that the file history tells of.
# shellcheck shell=bash

declare -gA pid_of=()

# act WHO KIND [OPTION...]: an rlock KIND of x. Its section notes WHO in history, and lasts until
# `finish WHO`, or is over at once where `brief WHO` was said before. holds WHO...: the same; returns when it is in.
# act_on NAME WHO..., holds_on NAME WHO...: of another name than x.
act() {
    act_on x "$@"
}

holds() {
    holds_on x "$@"
}

act_on() {
    # shellcheck disable=SC2086 # a kind with its words
    log=$2 start $3 -n "$1" "${@:4}" -- "$SECTION" --log history --note "who=$2" --until "end-$2"
    pid_of["$2"]=$pid
}

holds_on() {
    act_on "$@"
    wait_until 10 entered_section "$2"
}

brief() { # WHO...
    local who
    for who in "$@"; do
        : >"end-$who"
    done
}

# finish WHO...: they end well, now or when they have had their turn.
finish() {
    brief "$@"
    gone 0 "$@"
}

# gone STATUS[|STATUS...] WHO...: they end so, by themselves.
gone() {
    local who
    for who in "${@:2}"; do
        reap "${pid_of[$who]}"
        [[ $status =~ ^($1)$ ]] || fail "$who: status $status, not $1: $(cat ./*"$who.err")"
    done
}

signal() { # SIGNAL WHO...
    local who
    for who in "${@:2}"; do
        kill "-$1" "${pid_of[$who]}"
    done
}

entered_section() { # WHO [LOG]
    grep -q " exit=- .* who=$1\$" "${2-history}"
}

refute_entered() { # WHO...
    local who
    for who in "$@"; do
        ! entered_section "$who" || fail "$who is in, or was"
    done
}

kept_out() { # KIND [OPTION...]
    try "$1" -x -n x "${@:2}" -- true
    assert_failure 75
}

# Who entered, in that order.
order() {
    sed -n 's/.* exit=- .* who=//p' history | tr '\n' ' ' | sed 's/ $//'
}

# told WHO owner|token|kind: as its section has it from the environment.
told() {
    sed -n "s/.* $2=\\([^ ]*\\) .* who=$1\$/\\1/p" history | tail -n 1
}

# stamp WHO enter|exit: in ns, as section.c tells it.
stamp() {
    sed -n "s/.*\\b$2=\\([0-9]\\{1,\\}\\) .* who=$1\$/\\1/p" history | tail -n 1
}

# gap WHO OTHER: ms from the one's exit to the other's entry.
gap() {
    echo $((($(stamp "$2" enter) - $(stamp "$1" exit)) / 1000000))
}

assert_gap() { # WHO OTHER MS: no more than that
    (($(gap "$1" "$2") <= $3 * SLOW)) || fail "$2 entered $(gap "$1" "$2") ms after $1's end"
}

# assert_at NS WHO [MS]: WHO entered when a lease ended, at that instant, or so much later, a second.
assert_at() {
    local late=$((($(stamp "$2" enter) - $1) / 1000000))
    ((late >= -2 && late < ${3:-1000} * SLOW)) || fail "$2 entered $late ms after the lease's end"
}
