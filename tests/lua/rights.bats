#!/usr/bin/env bats
# rights.bats: the rights that rlock-server(7) gives for each kind, and the scripts alone: users who
# have no other rights run its scripts, and users who lack one of them (tests/tools/rights.py).

manual=$BATS_TEST_DIRNAME/../../man/rlock-server.7

load ../lib/rlock

# No rlock runs here: there is nothing to check after a test.
setup() { export SCRIPTS PYTHONPYCACHEPREFIX=$BATS_FILE_TMPDIR/python; }
teardown() { :; }

@test "the rules of each kind are enough, and without any command of them somebody is refused, before anything changes" {
    local kind
    for kind in run fair read write sem 'sem --resize' 'latch set' 'latch down' 'latch wait'; do
        run python3 "$TOOLS/rights.py" exact "$manual" "$kind" "$BATS_FILE_TMPDIR/main/sock"
        assert_success || fail "$kind: ${output:0:2000}"
    done
}

@test "the rules for all kinds are those of each" {
    local kind
    for kind in run fair read write sem 'sem --resize' 'latch set' 'latch down' 'latch wait' \
        'status No without NAME' break; do
        python3 "$TOOLS/rights.py" rules "$manual" "$kind"
    done | grep '^+' | sort -u >"$BATS_TEST_TMPDIR/each"
    python3 "$TOOLS/rights.py" rules "$manual" all | grep '^+' | sort | diff - "$BATS_TEST_TMPDIR/each"
}

@test "the rules for those who look name no command that is not in what they look with" {
    local -A sources=([status]="$SCRIPTS/inspect.lua" ['status No without NAME']="$SCRIPTS/inspect.lua
        $BATS_TEST_DIRNAME/../../lib/admin/key.c $BATS_TEST_DIRNAME/../../lib/admin/scan.c")
    local kind files
    for kind in "${!sources[@]}"; do
        read -rd '' -a files <<<"${sources[$kind]}" || true
        {
            printf '%s\n' +eval +evalsha
            grep -ohE "\('[A-Z]+'|\"[A-Z]+\"" "${files[@]}" | tr -d "('\"" | grep -vx COUNT | sed 's/.*/+\L&/'
        } | sort -u >"$BATS_TEST_TMPDIR/used"
        python3 "$TOOLS/rights.py" rules "$manual" "$kind" | grep '^+' | sort |
            comm -23 - "$BATS_TEST_TMPDIR/used" | diff - /dev/null
    done
}
