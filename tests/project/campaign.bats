#!/usr/bin/env bats
# campaign.bats: tests/campaign/run, in small: it plays what it is asked to, and sees what is wrong.

load ../lib/rlock
load ../lib/campaign

@test "a master is replaced by its replica: no two holders" {
    campaign --round 1 --topology sentinel --kind run --seconds 1 --faults failed-over
    assert_success
    assert_output --partial ' 0 anomalies'
}

@test "a round plays the same faults in the same order" {
    local plan='import nemesis; print(*nemesis.plan("1", nemesis.FAULTS, 8, 1.5), sep="\n")' first
    export PYTHONPATH=$TESTS/campaign:$TOOLS PYTHONDONTWRITEBYTECODE=1
    first=$(python3 -c "$plan")
    assert_equal "$(python3 -c "$plan")" "$first"
    assert_not_equal "$(python3 -c "${plan/'"1"'/'"2"'}")" "$first"
}

@test "the judges see a lock client that breaks its promise" {
    campaign --controls no_renewal,left_key
    assert_success
    assert_output --partial '2 of 2 controls caught'
}

@test "a fault that does not exist, or cannot bite, is no test" {
    campaign --faults nonsense
    assert_failure 2
    campaign --round 1 --topology socket --kind run --seconds 1 --faults silent
    assert_failure
}

@test "what fails shrinks to what it takes" {
    PYTHONPATH=$TESTS/campaign:$TOOLS PYTHONDONTWRITEBYTECODE=1 run python3 -c "
import shrink
print(shrink.ddmin([*range(20)], lambda some: {3, 17} <= {*some}), shrink.ddmin([1, 2, 3], lambda some: 2 in some))"
    assert_success
    assert_output '[3, 17] [2]'
}

@test "the mutants are edits of the source as it is" {
    run "$TESTS/campaign/mutants/run" --check
    assert_success
    assert_output --partial mutants
}

@test "the figures of runs add up, as long as the scripts are the same" {
    PYTHONPATH=$TESTS/campaign:$TOOLS PYTHONDONTWRITEBYTECODE=1 run python3 -c "
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

@test "the figures in rlock(7) are those of the report" {
    cp "$PROJECT/man/rlock.7" .
    PYTHONPATH=$TESTS/campaign:$TOOLS PYTHONDONTWRITEBYTECODE=1 python3 -c "
import pathlib, report
report.write_manual(pathlib.Path('$TESTS/campaign/REPORT.md'), pathlib.Path('rlock.7'))"
    run diff "$PROJECT/man/rlock.7" rlock.7
    assert_success
    grep -q '^\.It one, on a socket Ta [0-9]' rlock.7
}
