#!/usr/bin/env bats
# acl_missing.bats: one of the rights that rlock-server(7) gives is missing, or is taken away: 77 before
# anything is taken, or, for what is optional, the same as ever, only later. That no script leaves
# anything behind is shown for all of them in lua/rights.bats.

load ../../lib/rlock
load ../../lib/actors
load ../../lib/rights
load ../../lib/acl

# each_is_missed KIND COMMAND...: without any one of them somebody is refused: who takes it while it is
# free, or else who comes while it is busy. What is optional is missed by nobody.
each_is_missed() {
    local without expected kind=$1
    shift
    for without; do
        redis FLUSHALL >/dev/null
        [[ $without != eval ]] || redis SCRIPT FLUSH >/dev/null
        allow "$kind" "+$without"
        take "$kind" -x -q -- true
        if ((status == 0)); then
            assert_all_end "$kind without $without"
            occupy "$kind"
            take "$kind" -q -w "$(ms 500)" -- touch ran
        fi
        expected=77
        [[ " publish " != *" $without "* ]] || expected=75
        assert_equal "$kind without $without: $status" "$kind without $without: $expected"
        ((status == 75)) || assert_message
        assert_all_end "$kind without $without"
        assert_file_not_exist ran
    done
}

# What rlock itself sends, and one that a script calls; lua/rights.bats has all of these.
@test "77 without one of its commands" {
    local kind
    for kind in run read sem 'sem --plain'; do
        each_is_missed "$kind" evalsha eval subscribe publish time
    done
}

@test "77: each pattern for keys is needed, and nothing is written without it" {
    local kind without
    for kind in run fair read write sem 'sem --plain' 'latch set'; do
        for without in $(rules "$kind" | grep '^~'); do
            allow "$kind" "$without"
            if [[ $kind == latch* ]]; then
                take "$kind"
            else
                take "$kind" -- touch ran
            fi
            assert_refused "$kind without $without"
            assert_equal "$(keys)" ""
        done
    done
}

@test "77: who may not hear the channel may not wait, and needs it for nothing else" {
    local kind
    for kind in run fair read write sem 'sem --plain' 'latch wait'; do
        redis FLUSHALL >/dev/null
        allow "$kind" "$(rules "$kind" | grep '^&')"
        occupy "$kind"
        # shellcheck disable=SC2086
        took 0 3000 rlock ${how[$kind]} -q -n x -w 20s -- touch ran
        assert_refused "$kind"
        take "$kind" -q -x -- touch ran
        assert_equal "$kind: $status" "$kind: 75"
        redis FLUSHALL >/dev/null
        take "$kind" -x -- true
        assert_equal "$kind: $status" "$kind: 0"
    done
}
