#!/usr/bin/env bats
# command.bats: what the command can count on: everything is the caller's, signals are passed on, the
# terminal is its own.

load ../../lib/rlock

setup() {
    rlock_setup
    through=("$RLOCK" run -n x --)
}

# same COMMAND...: it prints the same with rlock around it as without, started by what the array caller says.
same() {
    "${caller[@]}" "$@" >plain
    "${caller[@]}" "${through[@]}" "$@" >wrapped
    diff plain wrapped
    [[ -s plain ]]
}

@test "standard streams are the caller's, byte for byte, and rlock reads nothing of them" {
    head -c 200000 /dev/urandom >in
    "${through[@]}" cat <in >out
    cmp in out
    run --separate-stderr "${through[@]}" sh -c 'echo to out; echo to err >&2'
    assert_equal "$output, $stderr" "to out, to err"
    printf 'first\nsecond\n' | { "${through[@]}" sh -c 'read -r line; echo "$line"' >first; cat >rest; }
    assert_equal "$(cat first rest)" $'first\nsecond'
}

@test "open files: the caller's, and no other" {
    exec 7</dev/null
    # shellcheck disable=SC2012
    same sh -c 'ls -l /proc/self/fd | sed "s/.* \([0-9]* ->\)/\1/; s/ -> \/proc.*//; s/:\[[0-9]*\]//"'
    grep -q '^7 -> /dev/null' wrapped
    exec 7<&-
}

# with_closed STREAMS ARG...: rlock without those of its standard streams; its status.
with_closed() {
    local closed=$1
    shift
    bash -c 'for n in $0; do exec {n}>&-; done; exec "$@"' "$closed" "$RLOCK" "$@" >closed.out 2>closed.err || return
}

@test "standard streams that are closed stay closed, and no message goes to the server instead, whatever the command" {
    local closed handle look
    look='for n in 0 1 2; do [ -e /proc/$$/fd/$n ] || closed="$closed $n"; done; echo "$closed" >"$0"'
    handle=$(rlock acquire run -n h -l 60s)
    foreign_hold busy 60000
    for closed in 0 1 2 "0 1" "0 2" "1 2" "0 1 2"; do
        redis CONFIG RESETSTAT >/dev/null
        with_closed "$closed" run -v -n x -- sh -c "$look" seen
        assert_equal "$(cat seen)" " $closed"
        with_closed "$closed" fair -v -n x -l "$(ms 600)" -- sleep "0.$((3 * SLOW))"
        with_closed "$closed" run -v -n busy -w "$(ms 100)" -- true && false
        with_closed "$closed" sem -v --permits 2 -n s -- true
        with_closed "$closed" latch down -v -n none
        with_closed "$closed" check -v "$handle"
        with_closed "$closed" renew -v "$handle" || [[ $closed == *1* ]]
        with_closed "$closed" status -v || [[ $closed == *1* ]]
        with_closed "$closed" break -v --force none || true
        with_closed "$closed" doctor -v || true
        [[ $(redis INFO errorstats) != *errorstat_ERR* ]] || fail "closed $closed: $(redis INFO errorstats)"
    done
    rlock release "$handle"
}

@test "working directory, umask, limits, priority, process group and session, arguments" {
    mkdir dir
    cd dir
    umask 027
    ulimit -Sc 0
    ulimit -Sn 300
    same pwd
    same sh -c umask
    same bash -c 'ulimit -a'
    same nice
    same sh -c 'cut -d " " -f 5,6 /proc/self/stat'
    same printf '<%s>' '' 'two words' $'line\nbreak' '*' --
}

@test "environment: the caller's, and rlock's own beside it" {
    server_start guarded --requirepass sesame
    export MULTI=$'two\nlines' EMPTY='' RLOCK_PASSWORD_FILE=$PWD/secret RLOCK_SERVER
    RLOCK_SERVER=$(server_url guarded)
    echo sesame >secret
    env -0 | sort -z | grep -zv '^_=' >plain
    "${through[@]}" env -0 | sort -z | grep -zv '^_=' >wrapped
    comm -z -13 plain wrapped | tr '\0' '\n' | sed -n 's/^\(RLOCK_[A-Z]*\)=.*/\1/p' | sort >added
    diff added <(printf '%s\n' RLOCK_HOLDS RLOCK_KIND RLOCK_NAME RLOCK_OWNER RLOCK_TOKEN)
    assert_equal "$(comm -z -23 plain wrapped | tr '\0' '\n')" ""
    run grep -z sesame wrapped
    assert_failure 1
}

@test "environment: a variable of ours that the caller has twice is there once" {
    run -0 python3 - "$RLOCK" <<-'END'
	import ctypes, os, sys
	def texts(words):
	    return (ctypes.c_char_p * (len(words) + 1))(*[word.encode() for word in words], None)
	program = sys.argv[1]
	environment = [f"{name}={value}" for name, value in os.environ.items()]
	ctypes.CDLL(None).execve(program.encode(), texts([program, "run", "-n", "x", "--", "env"]),
	                         texts(environment + ["RLOCK_TOKEN=7", "RLOCK_TOKEN=8"]))
	END
    assert_equal "$(grep ^RLOCK_TOKEN= <<<"$output")" RLOCK_TOKEN=1
}

@test "signal mask and dispositions are the caller's" {
    same grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status
    trap '' HUP USR1 PIPE
    same grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status
    trap - HUP USR1 PIPE
    local -a caller=(env --block-signal=USR2 --block-signal=TERM --ignore-signal=CHLD)
    same grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status
}

@test "SIGHUP, SIGINT and SIGQUIT that are ignored, as in the background: heard if sent on purpose; waiting, the end" {
    local signal
    cc -D_GNU_SOURCE -O2 -o hearer "$TOOLS/hearer.c"
    for signal in INT QUIT; do
        foreign_hold y 60000
        env --ignore-signal=INT,QUIT "$RLOCK" run -n y -- touch ran 3>&- 4>&- &
        pid=$!
        wait_until 5 waiters y 1
        kill "-$signal" "$pid"
        reaps "$((128 + $(kill -l "$signal")))" "$pid"
        redis DEL y
        rm -f heard heard.ready heard.end
        env --ignore-signal=HUP,INT,QUIT "$RLOCK" run -n x -- ./hearer heard "$signal" 3>&- 4>&- &
        pid=$!
        wait_until 5 test -s heard.ready
        kill -HUP "$pid" # as nohup(1) has it
        kill "-$signal" "$pid"
        wait_until 5 grep -q "$signal" heard
        : >heard.end
        reaps 6 "$pid"
    done
    assert_file_not_exist ran
}
