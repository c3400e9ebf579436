#!/usr/bin/env bats
# exit_status.bats: each row of the exit table, for every command that can end with it. What rights are needed, 77,
# is in access/.

load ../../lib/rlock
load ../../lib/ports

# Commands for the name x, and what stands for it when they begin; -- where they run a command. Options come behind
# them, and the last one counts.
holding=('run -w 60s --' 'fair -w 60s --' 'read -w 60s --' 'write -w 60s --' 'sem --permits 2 -w 60s --'
    'sem --plain --permits 2 -w 60s --')
counting=('sem --resize 3' 'latch set --count 2' 'latch down' 'latch down --')
all=("${holding[@]}" "${counting[@]}" 'latch wait -w 60s --')

# ends STATUS FORM [OPTION...] [-- COMMAND...]: with a message that names x and without having run a command, if not one
# that is given.
ends() {
    local expected=$1 form=$2 options=() command=(touch ran)
    shift 2
    while (($# > 0)) && [[ $1 != -- ]]; do
        options+=("$1")
        shift
    done
    (($# == 0)) || command=("${@:2}")
    [[ $form == *-- ]] || command=()
    # shellcheck disable=SC2086
    ${bound:-run --separate-stderr rlock} ${form%--} "${options[@]}" -n x ${command[0]+-- "${command[@]}"}
    assert_equal "$form: $status" "$form: $expected"
    assert_message
    assert_file_not_exist ran
}

# --- the command's own -------------------------------------------------------------------------

@test "the command's own status, and 128+N when signal N ended it" {
    local own form
    for own in 0 1 7 64 75 76 125 255 TERM:143 KILL:137 SEGV:139; do
        try run -n x -- sh -c "case $own in *:*) kill -${own%:*} \$\$ ;; *) exit $own ;; esac"
        assert_equal "$status" "${own#*:}"
        assert_equal "$stderr" ""
    done
    assert_no_keys
    for form in "${holding[@]}"; do
        # shellcheck disable=SC2086
        try ${form%--} -n x -- sh -c 'exit 76'
        assert_equal "$form $status $stderr" "$form 76 "
        redis DEL x
    done
    assert_no_keys
}

# --- 64: unit/options has all that can be wrong with a value -----------------------------------------

@test "64: what is missing, or does not exist, with the nearest; a name, and an address, that can't be" {
    assert_usage name -- run -- touch ran
    assert_usage command -- run -n x
    assert_usage command -- run -n x --
    assert_usage rlock --
    assert_usage rnu run -- rnu -n x -- touch ran
    assert_usage latch set -- latch
    assert_usage doen 'latch down' -- latch doen -n x
    assert_usage down -- down -n x
    assert_usage name -- run -n $'a\nb' -- touch ran
    RLOCK_SERVER=nonsense assert_usage RLOCK_SERVER redis:// -- run -n x -- touch ran
}

# --- 65: tools/scripts has all that can stand there ------------------------------------------------

dump() {
    redis DUMP x | base64
}

@test "65: what stands there is no lock of this kind, and stays as it is" {
    local words form before whom said
    while IFS='|' read -r words whom said; do
        redis FLUSHALL
        $words
        before=$(dump; keys_left | sort)
        for form in "${all[@]}"; do
            [[ " $whom " == *" ${form%% *} "* ]] || continue
            ends 65 "$form"
            assert_stderr_has x "$said"
        done
        assert_equal "$(dump; keys_left | sort)" "$before"
    done <<'END'
redis SET x 5|run fair read write|
redis SET x text|run sem latch|which is no lock
redis SADD x 1|run fair read write sem latch|which is no lock
redis HSET x colour red size 7|run fair read write|which is no lock
redis HSET x visits 7|run fair read write sem latch|which is no lock
redis HSET x mode read visits 7|run fair read write|
rlock latch set -n x --count 3|run fair read write|another kind: a latch, 3 to go
END
}

@test "65: somebody holds it as another kind: which, and who" {
    local words shown form before
    while IFS='|' read -r words shown; do
        redis FLUSHALL
        rm -f ready end
        # shellcheck disable=SC2086
        start $words -n x -- sh -c ': >ready; $SECTION --until end'
        wait_until 10 test -e ready
        before=$(dump)
        for form in "${all[@]}"; do
            case "$words/$form" in
                run*/run* | run*/fair* | read*/read* | read*/write* | write*/read* | write*/write* | sem*/sem*) continue ;;
            esac
            ends 65 "$form"
            [[ $words == *--plain* ]] ||
                assert_stderr_has "the name is taken by another kind: $shown, held by $(id -un)@$(uname -n) pid " ', sh -c'
        done
        assert_equal "$(dump)" "$before"
        : >end
        reap "$pid"
        assert_equal "$words $status" "$words 0"
    done <<'END'
run|an exclusive lock (run)
read|a read/write lock (read)
write|a read/write lock (write)
sem --permits 3|a semaphore (sem)
sem --plain --permits 3|
END
}

# --- 69 ----------------------------------------------------------------------------------------

# One that never answers: topology/hostile.bats.
@test "69: nothing listens there: after --connect-timeout and not after --wait, with --no-wait at once" {
    local form bound='took 150 1700 rlock'
    for form in "${all[@]}"; do
        ends 69 "$form" --connect-timeout 200ms -s unix:///nonexistent/sock
        assert_stderr_has unix:///nonexistent/sock x
    done
    bound='took 0 2000 rlock'
    for form in "${holding[@]}"; do
        ends 69 "$form" -x -s unix:///nonexistent/sock
    done
}

# run and its wait: topology/refusals.bats; each kind's scripts: tools/scripts.
@test "69: the server is out of memory, or read-only: why, and nothing is taken or set" {
    local server form
    server_start full --maxmemory 1 --maxmemory-policy noeviction
    server_start replica --replicaof 127.0.0.1 9
    for server in full replica; do
        for form in 'sem --permits 2 -w 300ms --' 'sem --resize 3' 'latch set --count 2'; do
            ends 69 "$form" -s "$(server_url $server)" --connect-timeout 200ms --io-timeout 200ms
            [[ $stderr == *memory* || $stderr == *'read only'* ]] || fail "not why: $stderr"
        done
    done
    assert_equal "$(redis_on full DBSIZE)" 0
}

# --- 71, 126, 127 --------------------------------------------------------------------------------

# made: a semaphore of 2, or a latch of 2, where form is of one.
made() {
    redis FLUSHALL
    case $form in
        *--plain*) rlock sem --plain -n x --permits 2 -- true ;;
        sem*) rlock sem -n x --permits 2 -- true ;;
        'latch down'*) rlock latch set -n x --count 2 ;;
    esac
    before=$(dump)
}

@test "71: no process can be made; nothing is held or counted" {
    command -v strace >/dev/null || skip "needs strace"
    local form before bound='run --separate-stderr strace -qq -o /dev/null -e inject=fork,vfork,clone,clone3:error=EAGAIN rlock'
    export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
    for form in "${holding[@]}" 'latch down --'; do
        made
        ends 71 "$form"
        assert_equal "$stderr" 'rlock: cannot start touch: Resource temporarily unavailable'
        assert_equal "$(dump)" "$before"
    done
}

@test "126, 127: the command can't be executed, or was not found; nothing is held or counted" {
    local form before
    echo 'not a program' >plain
    chmod 644 plain
    for form in "${holding[@]}" 'latch down --' 'latch wait -q --'; do
        made
        ends 126 "$form" -- ./plain
        assert_equal "$stderr" "rlock: cannot run ./plain: permission denied: it is not executable"
        bound="run -127 --separate-stderr rlock" ends 127 "$form" -- no-such-command
        assert_equal "$stderr" "rlock: cannot run no-such-command: command not found"
        assert_equal "$(dump)" "$before"
    done
}

@test "126, 127: why it can't be, and how it was meant" {
    local expected command shown why
    mkdir directory bin
    echo 'not a program' >plain
    chmod 644 plain
    printf '#!./plain\n' >script
    printf '#! /no/such/python3 -u\n' | tee bin/tool >python
    printf '#!/bin/sh\r\n' >dos
    chmod 755 script bin/tool python dos
    PATH=$PWD/bin:$PATH
    while IFS='|' read -r expected command why; do
        shown=${command:-"''"}
        run "-$expected" --separate-stderr rlock run -n x -- "$command"
        assert_equal "$stderr" "rlock: cannot run $shown: $why"
        assert_no_keys
    done <<'END'
126|./directory|it is a directory
126|./script|permission denied for its interpreter ./plain
127|./absent|no such file
127||command not found
127|sleep 1|command not found: give it as separate words, or with -c
127|/bin/sleep 1|command not found: give it as separate words, or with -c
127|tool|its interpreter /no/such/python3 was not found
127|./python|its interpreter /no/such/python3 was not found
END
    run -127 --separate-stderr rlock run -n x -- ./dos
    assert_stderr_has ./dos 'carriage return'
}

# --- the others --------------------------------------------------------------------------------

@test "77: wrong password, no password" {
    server_start guarded --requirepass right
    RLOCK_SERVER=$(server_url guarded)
    RLOCK_PASSWORD=wrong ends 77 'run --'
    refute_regex "$stderr" wrong
    ends 77 'run --'
    assert_stderr_has password
    RLOCK_PASSWORD=right rlock run -n x -- touch ran
    assert_file_exist ran
}

@test "69: a server without AUTH, which repeats the password: it is not told" {
    local args port
    port=$(free_ports 1)
    server_start no-auth --rename-command AUTH '' --port "$port"
    for args in 'run -n x -c true' status doctor; do
        # shellcheck disable=SC2086
        RLOCK_PASSWORD=sesame ends_saying 69 "unknown command 'AUTH'" -- $args -s "$(server_url no-auth)"
        refute_regex "$output$stderr" sesame
        # shellcheck disable=SC2086
        ends_saying 69 "unknown command 'AUTH'" -- $args -s "redis://alice:sesame@127.0.0.1:$port"
        refute_regex "$output$stderr" sesame
    done
}

@test "128+N: interrupted before the latch was looked at: CMD never ran, nothing is counted" {
    proxy_start
    redis SET x 2
    proxy mute-request evalsha 1 1000
    start latch down -n x -- touch ran
    wait_until 5 assert_bitten lost-request
    kill -TERM "$pid"
    reaps 143 "$pid" 2
    assert_file_not_exist ran
    assert_equal "$(redis GET x)" 2
}
