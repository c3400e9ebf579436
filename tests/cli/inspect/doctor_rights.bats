#!/usr/bin/env bats
# doctor_rights.bats: which rights rlock doctor misses, compared with what rlock-server(7) says of each kind.

load ../../lib/rlock
load ../../lib/rights
load ../../lib/acl
load ../../lib/doctor
load ../../lib/ports

setup() {
    rlock_setup
    well main
}

# only RULE...: who comes over the Unix socket has these.
only() {
    assert_equal "$(redis ACL SETUSER default reset on nopass "$@")" OK
}

declare -gA manual=( # what the lines are about, as rlock-server(7) calls it
    [run]=run [fair]=fair ['read, write']=read [sem]=sem ['sem --resize']='sem --resize'
    ['latch set']='latch set' ['latch down']='latch down' ['latch wait']='latch wait'
    [status]=status ['status, all']='status No without NAME' [break]=break)

missing() { # ABOUT: as the line says
    sed -nE "s/^(finding|note) *rights $1 *missing: (.*); ACL.*/\2/p" <<<"$output" | tr ' ' '\n' | sort
}

@test "of each kind it misses all that the manual names, and nothing else" {
    local about
    # With these alone scripts can ask.
    only '~*' '&*' +eval +evalsha +time +type +hget
    try doctor x
    assert_failure 1
    assert_equal "$(grep -c ' rights ' <<<"$output")" "${#manual[@]}"
    for about in "${!manual[@]}"; do
        assert_equal "$about: $(missing "$about" | grep -v '^&')" \
            "$about: $(rules "${manual[$about]}" | grep '^+' | grep -vxE '\+(eval|evalsha|time|type|hget)' | sort)"
    done
}

@test "the rules of a kind are enough for it, and --kind asks for that one only" {
    local kind kinds
    local -A all=([latch]='latch set,latch down,latch wait' [sem]='sem,sem --resize')
    for kind in run fair read write sem latch; do
        IFS=, read -ra kinds <<<"${all[$kind]-$kind}"
        give main default '' "${kinds[@]}"
        try doctor --kind "$kind" x
        refute_line --regexp '^finding *(rights|lock cycle)'
        assert_line --regexp "^ok *rights .*$kind.*all that it needs"
        assert_equal "$(grep -c rights <<<"$output")" "${#kinds[@]}"
    done
    assert_usage --kind 'run, fair' -- doctor --kind lock
}

@test "for status and break: their rules are enough, and who has them not gets a note" {
    local about
    for about in status 'status, all' break; do
        allow "${manual[$about]}"
        try doctor x
        assert_line --regexp "^ok *rights $about *all that it needs"
        redis ACL SETUSER default resetkeys resetchannels '~rlock_*' '~x*'
        try doctor x
        assert_says note "rights $about" 'missing: .*~redisson_lock_token:\{x\}.* ~\{x\}:timeout'
    done
    assert_says note 'rights break' '&redisson_lock__channel:\{x\}\*.*&redisson_rwlock:\{x\}\*.*&redisson_sc:\{x\}\*;'
}

@test "a channel, a key or names that are not among the patterns" {
    local name text more
    while IFS='|' read -r name more text; do
        allow run
        read -ra more <<<"$more"
        redis ACL SETUSER default "${more[@]}"
        try doctor --kind run "$name"
        assert_says finding 'rights run' "missing: $text"
    done <<'END'
x|resetchannels|.*&redisson_lock__channel:\{x\}\*;
x|resetkeys ~x* ~redisson*|~rlock_info:\{x\} ~rlock_leases:\{x\} 
y||~y ~redisson_lock_token:\{y\} 
END
    assert_says finding 'lock cycle' 'cannot take'
}

@test "the command that gives a right names the user of the address" {
    local port
    port=$(free_ports 1)
    server_start few --port "$port"
    redis_on few ACL SETUSER app on '>secret' '~*' '&*' +@all -pexpire
    RLOCK_PASSWORD=secret run python3 "$TOOLS/terminal.py" -- "$RLOCK" doctor -s "redis://app@127.0.0.1:$port"
    assert_output --partial "ACL SETUSER app +pexpire"
}

@test "no right to run scripts" {
    only '~*' '&*' +@all -@scripting
    assert_findings scripts '[+]eval'
    refute_output --partial 'rights run'
}

@test "a user of certain names: without one of them a line says so, and that is no finding" {
    allow run
    redis ACL SETUSER default resetkeys '~app-*' '~redisson_*:{app-*' '~rlock_*:{app-*' '~{app-*' \
        resetchannels '&*{app-*' +info +config +slowlog +ping
    try doctor
    assert_success
    assert_says unknown rights "this user's rights are limited to certain names; .*rlock doctor app"
    assert_equal "$(grep -c rights <<<"$output")" 1
    refute_output --partial 'lock cycle'
    try doctor --kind run app-x
    refute_line --regexp '^(unknown|finding) *rights'
}
