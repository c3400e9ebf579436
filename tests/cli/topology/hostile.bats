#!/usr/bin/env bats
# hostile.bats: a server that answers nonsense, too much, or without end: a clear error, a few MiB of
# memory at most, and no longer than the time-outs.

load ../../lib/rlock

# Of which hostile.py itself has 15; a sanitizer takes memory of its own.
MOST_KIB=$((24 * 1024))

# attacked ATTACK [TEXT] -- ARG...: rlock ARG... against such a server, at $url if given; sets status, spent, memory_kib,
# requests and stderr. It must end within 3 s, and with little memory.
attacked() {
    local how=()
    while [[ $1 != -- ]]; do
        how+=("$1")
        shift
    done
    shift
    run --separate-stderr python3 "$TOOLS/hostile.py" "${how[@]}" "$RLOCK" "$@" \
        --connect-timeout "$(ms 300)" --io-timeout "$(ms 300)" -s "${url:-redis://127.0.0.1:{\}}"
    printf '%s: %s\n%s\n' "${how[*]}" "$output" "$stderr"
    assert_success
    # shellcheck disable=SC2034 # for who calls
    read -r status spent memory_kib requests _ <<<"$output"
    ((spent <= 3000 * SLOW)) || fail "took $spent ms: ${how[*]}"
    ((SLOW > 1 || memory_kib <= MOST_KIB)) || fail "took $memory_kib KiB: ${how[*]}"
}

refused() { # ATTACK [TEXT] -- ARG...
    attacked "$@"
    assert_equal "$status: $*" "69: $*"
    assert_message
    assert_file_not_exist ran
}

# aside COMMAND...: in the background, in a directory of its own. all_well: each of them was.
declare -A asides=()
aside() {
    local dir
    dir=$(mktemp -d "$PWD/aside.XXXXXX")
    (cd "$dir" && "$@") >"$dir/said" 2>&1 3>&- &
    asides[$!]=$dir
}

all_well() {
    local pid
    for pid in "${!asides[@]}"; do
        wait "$pid" || fail "$(cat "${asides[$pid]}/said")"
    done
    asides=()
}

refused_saying() { # TEXT ATTACK...
    refused "${@:2}" -- run -n x -c 'touch ran'
    assert_stderr_has "$1"
}

# Which replies are none: unit/redis/test_resp.c. The whole reply has --io-timeout, not each of its bytes.
@test "what announces too much, is no Redis, trickles, or never stops: 69, in time and with little memory" {
    local attack said text url=
    while IFS='|' read -r attack said text; do
        if [[ $attack == endless ]]; then
            all_well # before one that would take the processor from them
            refused_saying "$said" endless "$text"
        else
            aside refused_saying "$said" "$attack" ${text:+"$text"}
        fi
    done <<'END'
raw|larger than any|*536870912\r\n
raw|not speak Redis's protocol|\x00\x00\x00\x00
trickle||*3\r\n:1\r\n:1\r\n+AAAAAAAAAAAAAAAA
mute||
endless||$500000000\r\nAAAAAAAAAAAAAAAA
endless|larger than any|+AAAAAAAAAAAAAAAA
endless||*3\r\n:1\r\n-ERR AAAAAAAAAAAAAAAA
endless||*100000000\r\n:1\r\n:1\r\n:1\r\n:1\r\n
endless||:1\r\n:1\r\n:1\r\n:1\r\n
endless|nested deeper|*2\r\n:1\r\n*2\r\n:1\r\n
END
    url=rediss://127.0.0.1:{}
    refused_saying '' trickle '\x16\x03\x03\x40\x00\x02\x00\x3f\xfc\x03\x03'
    refused_saying '' endless '\x16\x03\x03\x40\x00\x02\x00\x3f\xfc\x03\x03'
    refused_saying '' endless '\x14\x03\x03\x00\x01\x01\x14\x03\x03\x00\x01\x01\x14\x03\x03\x00\x01\x01'
}

@test "a server that turns while the lock is held: 76, in time and with little memory" {
    local text
    for text in '$500000000\r\nAAAAAAAAAAAAAAAA' '*1\r\n*1\r\n*1\r\n*1\r\n'; do
        attacked turns "$text" -- run -n x -l "$(ms 600)" -c 'sleep 30'
        assert_equal "$text: $status" "$text: 76"
    done
}

@test "what nobody asked for is not taken for an answer" {
    # "Held by others", and two grants of a lock.
    local busy='*9\r\n:0\r\n:9\r\n:1\r\n+u:1@h\r\n+h\r\n:1\r\n+u\r\n+c\r\n:0\r\n' grant='*3\r\n:1\r\n:1\r\n:30000\r\n'
    attacked raw "$busy$grant$grant" -- run -n x -w "$(ms 500)" -c 'touch ran'
    ((requests > 1))
    assert_regex "$status" '^(69|75)$'
    assert_file_not_exist ran
}

@test "messages without end: the wait ends all the same" {
    attacked news -- run -n x -w "$(ms 500)" -c 'touch ran'
    assert_equal "$status" 75
    assert_file_not_exist ran
}

@test "who has logged in is not believed any more than others" {
    local text
    for text in '*536870912\r\n' ''; do
        RLOCK_PASSWORD=sesame refused logged-in "$text" -- run -n x -c 'touch ran'
    done
}

@test "a search that comes back to where it was is given up" {
    refused raw '*2\r\n$1\r\n7\r\n*0\r\n' -- status
    assert_stderr_has 'go round in a circle'
}

# --- the time to a first answer ------------------------------------------------------------------

# late ATTACK URL ARG...: against such a server, with a second to connect and far more for a reply: 69 after the
# second, and half of one and a millisecond for each name for taking back what may have been taken; its own work and
# its turns for it aside. The thread sanitizer waits for a second before a process ends one of whose threads is still
# looking up a name.
late() {
    local busy names
    local -x TSAN_OPTIONS=${TSAN_OPTIONS:+$TSAN_OPTIONS:}atexit_sleep_ms=0
    names=$(printf '%s\n' "$@" | grep -cx -e -n || true)
    run --separate-stderr python3 "$TOOLS/hostile.py" "$1" "$RLOCK" "${@:3}" \
        --connect-timeout "$(ms 1000)" --io-timeout 30s -s "$2"
    echo "$2: $output: $stderr"
    read -r status spent _ _ busy <<<"$output"
    assert_equal "$status" 69
    assert_message
    ((spent >= 990 * SLOW && spent <= 1000 * SLOW + 500 + names + busy)) || fail "took $spent ms (and was busy for $busy)"
    assert_file_not_exist ran
}

@test "69 after --connect-timeout: a server that takes connections and says nothing, or takes none" {
    local url some='redis://127.0.0.1:{} redis://localhost:{} rediss://127.0.0.1:{} sentinel://127.0.0.1:{}/m cluster://127.0.0.1:{}'
    for url in $some redis://:word@127.0.0.1:{}/3 sentinel://127.0.0.1:{},127.0.0.1:{},localhost:{},127.0.0.1:{}/m \
        cluster://127.0.0.1:{},localhost:{}; do
        aside late mute "$url" run -n x -n y -c 'touch ran'
    done
    all_well
    for url in $some; do
        aside late full "$url" run -n x -c 'touch ran'
    done
    all_well
}

@test "69 after --connect-timeout: forty names, by each kind; each command" {
    local names kind url
    read -ra names <<<"$(printf -- '-n name-%d ' {1..40})"
    for url in redis://127.0.0.1:{} cluster://127.0.0.1:{}; do
        for kind in run fair read write; do
            aside late mute "$url" "$kind" "${names[@]}" -c 'touch ran'
        done
        aside late mute "$url" acquire run "${names[@]}"
    done
    all_well
    aside late mute redis://127.0.0.1:{} fair -x -n x -c true
    aside late mute redis://127.0.0.1:{} status
    aside late mute redis://127.0.0.1:{} latch down -n x
    aside late mute redis://127.0.0.1:{} sem -n x --resize 2
    aside late mute cluster://127.0.0.1:{} doctor
    all_well
}

# It is only the first try that can't have it all: the answer may have been lost.
@test "a server that takes most of --connect-timeout is used; --io-timeout is not the time for connecting" {
    proxy_start main
    proxy delay-reply "$(sha acquire)" 1 "$((600 * SLOW))"
    rlock run --connect-timeout "$(ms 1000)" -n x -- true
    proxy delay-reply AUTH 1 "$((600 * SLOW))"
    RLOCK_PASSWORD=sesame rlock run --io-timeout "$(ms 300)" -n x -- true
    assert_equal "$(grep -c '^request .* AUTH' proxy.log)" 1
}

# What only gives back is asked again after half of the time-out.
@test "a reply that never comes: asked again when --io-timeout is over; a release: the command's status by then" {
    rlock run -n x -- true # the server has the token
    proxy_start
    proxy mute-reply "$(sha acquire)" 1
    took 300 2500 rlock run -q -x --io-timeout 600ms -n x -- true
    assert_success
    proxy mute-reply "$(sha release)" 1
    took 300 2500 rlock run -q --io-timeout 600ms -n x -- sh -c 'exit 5'
    assert_failure 5
    assert_bitten lost-reply 2
}

@test "several replies: each has --io-timeout, also when the names are given back" {
    local n
    proxy_start main
    for n in 1 2 3 4; do
        proxy delay-reply "$(sha acquire)" "$n" "$((400 * SLOW))"
        proxy delay-reply "$(sha release)" "$n" "$((400 * SLOW))"
    done
    rlock run --connect-timeout "$(ms 1000)" --io-timeout "$(ms 1500)" -n a -n b -n c -n d -- true
    assert_bitten delayed 8
    assert_equal "$(requests "$(sha acquire)"), $(requests "$(sha release)")" "4, 4"
}
