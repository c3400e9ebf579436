#!/usr/bin/env bats
# quorum_down.bats: members that are down, hang, or come late while a lock is taken and given back.

load ../../lib/rlock
load ../../lib/quorum

@test "two are down, two hang, one of three hangs: nobody notices, neither at the start nor at the end" {
    local fault
    for fault in 'crash m1 m4' 'pause m2 m5' three; do
        [[ $fault != three ]] || { quorum m1 m2 m3 && fault='pause m3'; }
        # shellcheck disable=SC2086
        $fault
        took 0 500 rlock run -n x -- true
        assert_equal "$fault: $status: $stderr" "$fault: 0: "
        rm -f history end-a
        holds a write
        took 0 700 rlock write -x -n x -- true
        assert_failure 75
        finish a
        resume m2 m3 m5
        reset "${all[@]}"
        quorum "${all[@]}"
    done
}

@test "what a hanging server was sent leaves nothing there when it wakes: of a hold, a try in vain, an interrupted one" {
    rlock run -n x -- rlock run -n x -- true # the scripts are known everywhere
    pause m2 m5
    rlock run -n x -- true
    rlock write -n y -- true
    foreign_on m1 m3 m4
    try run -x -n x -- true
    assert_failure 75
    act a run
    wait_until 5 listening 1
    signal TERM a
    gone 143 a
    resume m2 m5
    wait_until 3 only_foreign m1 m3 m4
}

@test "three are down: 69, never 75; at once with --no-wait, else after --connect-timeout" {
    crash m1 m2 m3
    refuses 0 2500 69 x "$(server_url m1)" "$(server_url m5)" -- run -x -n x -- touch ran
    on m4 m5 -- HSET x "$foreign_owner" 1
    refuses 0 2500 69 x -- run -x -n x -- touch ran
    refuses 400 3000 69 x -- run -q -w 60s --connect-timeout 400ms -n x -- touch ran
    only_foreign m4 m5
    RLOCK_SERVER=$(urls m3 m4 m2) refuses 0 2500 69 y -- run -x -n y -- touch ran # two of three
}

@test "three hang: 69 in about a second, or --connect-timeout, and nothing is left on the others" {
    pause m1 m2 m3
    refuses 0 3000 69 x -- run -x -n x -- touch ran
    nothing_left
    refuses 300 3000 69 x -- run -q -w 60s --connect-timeout 300ms --io-timeout 300ms -n x -- touch ran
    nothing_left
    resume m1 m2 m3
    wait_until 3 nothing_left
}

@test "three of five go away while it waits: 69 when the wait ends, never 75; one comes back: the wait goes on" {
    local begin
    foreign_on m1 m2 m3 m4 m5
    act a run -w "$(ms 1500)"
    brief b
    act b run
    wait_until 5 listening 2
    crash m3 m4 m5
    gone 69 a
    refute_entered a
    assert_equal "$(wc -l <a.err)" 2 # waiting; and why not
    foreign_gone m1 m2
    restart m4
    begin=$(now_ns)
    gone 0 b
    (($(stamp b enter) - begin < 6000000000 * SLOW))
    nothing_left
}
