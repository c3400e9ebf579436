# kinds.bash: the kinds of lock x, maybe through a proxy that may lose what is said: for tests that go through all of them.
# shellcheck shell=bash

kinds=(run fair read write sem plain)
leased=(run fair read write sem)
declare -gA how=([run]=run [fair]=fair [read]=read [write]=write [sem]='sem --permits 1' [plain]='sem --plain --permits 1')
declare -gA part=([run]=mutex [fair]=mutex [read]=rw [write]=rw [sem]=sem [plain]=plain)
declare -gA rival=([run]=run [fair]=fair [read]=write [write]=read [sem]=sem [plain]='sem --plain')

setup() { # where the file says proxied=yes, the proxy is there
    rlock_setup
    direct=$BATS_FILE_TMPDIR/main/sock
    io=$(ms 300)
    [[ -z ${proxied-} ]] || proxy_start
}

acquire_of() { # KIND
    [[ $1 == run ]] && set -- mutex
    sha acquire "$1"
}

release_of() { # KIND
    sha release "${part[$1]}"
}

# A semaphore's own number stays, and is whole again.
assert_free() { # KIND
    case $1 in
    sem | plain) assert_keys x && assert_equal "$1: $(redis GET x)" "$1: 1" ;;
    *) assert_no_keys ;;
    esac
}

# first_holds KIND: somebody else has x, past any proxy, until let-go; its pid is first. A latch is counted down then.
first_holds() {
    local -A other=([read]=write [write]=read [latch]='latch down')
    local way=${other[$1]-$1}
    rm -f held
    [[ $1 != latch ]] || redis SET x 1 >/dev/null
    # shellcheck disable=SC2086
    log=first start ${how[$way]-$way} -s "unix://$direct" -n x -- \
        sh -c 'echo >held; $SECTION --until let-go'
    first=$pid
    wait_until 10 test -s held
}

waited_for() { # [NAME]
    (($(redis EXISTS "rlock_waiters:{${1-x}}" "redisson_lock_queue:{${1-x}}" "rlock_writers:{${1-x}}") > 0))
}

# --- all at once, each kind under its own name -----------------------------------------------------

declare -gA rlock_of # by LOG

# section_of WAY NAME LOG [OPTION...]: an rlock of NAME, with a section that notes itself in LOG and beats in LOG.beat until the
# file over is there, and ends with 5 then.
section_of() {
    local way=$1 name=$2 history=$3
    shift 3
    # shellcheck disable=SC2086
    log=$history start $way -n "$name" "$@" -- \
        "$SECTION" --log "$history" --beat "$history.beat" --until over --exit 5
    rlock_of["$history"]=$pid
}

# next KIND [OPTION...]: somebody waits for it, whom it excludes, and will note itself in next-KIND.
next() {
    section_of "${rival[$1]}" "$1" "next-$1" -q "${@:2}"
}

# all_hold OPTION...: each of kinds has its lock. Returns when all are in.
all_hold() {
    local kind
    for kind in "${kinds[@]}"; do
        section_of "${how[$kind]}" "$kind" "$kind" "$@"
    done
    for kind in "${kinds[@]}"; do
        wait_until 10 test -s "$kind"
    done
}

# all_end STATUS: each rlock; one whose lock was lost says so in one line, and its section is dead.
all_end() {
    local kind
    [[ $1 != 5 ]] || : >over
    for kind in "${kinds[@]}"; do
        reap "${rlock_of[$kind]}"
        assert_equal "$kind: $status" "$kind: $1"
        [[ $1 == 76 ]] || continue
        stderr=$(grep -v -e '^rlock: cannot renew .*; trying again' -e '^rlock: renewed .* again after' "$kind.err")
        assert_message
        assert_stderr_has "$kind"
    done
}

all_are_told() { # SIGNAL...
    local kind name
    for name; do
        for kind in "${kinds[@]}"; do
            kill "-$name" "${rlock_of[$kind]}"
        done
    done
}

# foreign_all [SERVER]: each is held by a client of Redisson's, and stays so.
foreign_all() {
    redis_on "${1:-main}" >/dev/null <<<"HSET run $foreign_owner 1
HSET fair $foreign_owner 1
HSET read mode write $foreign_owner:write 1
HSET write mode read $foreign_owner 1
SET {write}:$foreign_owner:rwlock_timeout:1 1
SET sem 0
ZADD {sem}:timeout 9999999999999 0123456789abcdef
SET plain 0
SET latch 1"
}

# each_ends STATUS WHO [SECONDS]: the rlock of WHO-KIND, of each kind, so soon.
each_ends() {
    local kind
    for kind in "${kinds[@]}"; do
        reap "${rlock_of[$2-$kind]}" "${3:-30}"
        assert_equal "$2-$kind: $status" "$2-$kind: $1"
    done
}

# Of a semaphore the number stays.
all_are_free() { # [SERVER]
    local left kind
    left=$(redis_on "${1:-main}" --scan | grep -vE "$stays" | sort | paste -sd ' ')
    assert_equal "$left" "$(printf '%s\n' "${kinds[@]}" | grep -E 'sem|plain' | sort | paste -sd ' ')"
    for kind in $left; do
        assert_equal "$kind: $(redis_on "${1:-main}" GET "$kind")" "$kind: ${how[$kind]##* }"
    done
}

fresh() { # nothing is there, and no fault
    redis FLUSHALL >/dev/null
    rm -f let-go over
    proxy pass
    : >proxy.log
}

# all_meet FAULT REQUEST_OF [ARG...]: the request of each kind that the function names, or its reply, or the connection.
all_meet() {
    local kind
    local -A lock=([sem]='+{sem}' [plain]='+{plain}') # which share their scripts
    for kind in "${kinds[@]}"; do
        proxy "$1" "$("$2" "$kind")${lock[$kind]-}" "${@:3}"
    done
}
