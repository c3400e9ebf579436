#!/usr/bin/env bats
# campaign.bats: tests/campaign/run: what it makes of what its judges say. That they see what is wrong, and the mutants,
# tests/run campaign and lint try.

load ../lib/rlock
load ../lib/campaign

export PYTHONPATH=$TESTS/campaign:$TOOLS PYTHONDONTWRITEBYTECODE=1

@test "a round plays the same faults in the same order" {
    local plan='import nemesis; print(*nemesis.plan("1", nemesis.FAULTS, 8, 1.5), sep="\n")' first
    first=$(python3 -c "$plan")
    assert_equal "$(python3 -c "$plan")" "$first"
    assert_not_equal "$(python3 -c "${plan/'"1"'/'"2"'}")" "$first"
}

# campaign_of LINE...: a round of another rlock, a script of these lines, which ends as rlock.
campaign_of() {
    printf '%s\n' '#!/bin/sh' "$@" "exec $(printf %q "$RLOCK") \"\$@\"" >rlock
    chmod +x rlock
    RLOCK=$PWD/rlock campaign --round 1 --topology socket --kind run --seconds 1 --faults none
}

@test "what a busy machine may explain is looked at again, alone, twice at most; a broken promise is not" {
    campaign_of "mkdir '$PWD/once' 2>/dev/null && exit 69"
    assert_success
    assert_output --partial ' 1 anomalies'
    assert_line 'seen once, and not again alone: statuses 1'
    campaign_of 'case $* in *" -w "*) exit 69; esac'
    assert_failure 1
    assert_equal "$(grep -c '^again, alone: ' <<<"$output")" 2
    refute_output --partial 'seen once'
    refute_output --partial 'broken promise'
    campaign_of 'while [ "$1" != -- ]; do shift; done; shift; RLOCK_TOKEN=1 RLOCK_OWNER=o exec "$@"'
    assert_failure 1
    assert_output --partial 'broken promise: seen by '
    refute_output --partial 'again, alone'
}

@test "a fault that does not exist, or cannot bite, is no test" {
    campaign --faults nonsense
    assert_failure 2
    campaign --round 1 --topology socket --kind run --seconds 1 --faults silent
    assert_failure
}

@test "the figures of runs add up, as long as the scripts are the same" {
    run python3 -c "
import pathlib, report
report.FIGURES = pathlib.Path('figures.json')
for seed in '1', '2':
    total = report.Total(seed, 'rlock')
    total.rows['tcp', 'run'].update(rounds=1, sections=20)
    total.statuses[75] += 3
    if known := report.earlier():
        total.add_earlier(known)
    total.keep()
print(total.seeds, dict(total.rows['tcp', 'run']), dict(total.statuses))
report.scripts = lambda: 'others'
report.earlier()"
    assert_failure
    assert_line "['1', '2'] {'rounds': 2, 'sections': 40} {75: 6}"
    assert_line --regexp '^ValueError: the scripts have changed'
}

@test "the figures in rlock(7), in README and in the report are those that were kept" {
    cp "$PROJECT/man/rlock.7" "$PROJECT/README.md" .
    python3 -c "
import json, pathlib, report
total = report.Total('', '')
total.add_earlier(json.loads(report.FIGURES.read_text()))
report.write_elsewhere(total.rows, *map(pathlib.Path, ('rlock.7', 'README.md')))
print(*total.table(), sep='\n')" >table
    assert_equal "$(sed -n '/^| topology/,/^| all/p;/^Of/p' "$TESTS/campaign/REPORT.md")" "$(grep . table)"
    diff "$PROJECT/man/rlock.7" rlock.7
    diff "$PROJECT/README.md" README.md
    grep -q ' [0-9]*,000 commands that ran under locks' README.md
    grep -q '^\.It one, on a socket Ta [0-9]' rlock.7
}
