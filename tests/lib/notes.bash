# notes.bash: what was run and what was not, for the last line of tests/run.
#
# Stages and suites write it to the file RLOCK_TEST_NOTES, a line each: KIND, WHAT, WHICH, WHY, with tabs between.
#
#   ran      has passed: a test, WHICH, of the file WHAT; or what has no tests: WHICH is empty
#   left     was left out
#   excused  was left out, and that is no failure
#   second   failed beside others, and had a second look, alone
#   failed   failed for good, WHY
# shellcheck shell=bash

note() { # KIND WHAT WHICH WHY
    printf '%s\t%s\t%s\t%s\n' "$@" >>"${RLOCK_TEST_NOTES:-/dev/null}"
}

# note_failed WHY WHAT...
note_failed() {
    local what
    for what in "${@:2}"; do
        note failed "$what" '' "$1"
    done
}

# left_out WHAT WHY [SWITCH]: loudly. The status is 1, but 0 where the environment variable SWITCH is 1: it was wanted.
left_out() {
    local kind=left switch=${3:-none}
    [[ ${!switch-} != 1 ]] || kind=excused
    {
        printf '\n******** NOT RUN: %s: %s\n' "$1" "$2"
        [[ $kind == excused || $switch == none ]] || printf '******** %s=1 goes without it.\n' "$switch"
    } >&2
    note "$kind" "$1" '' "$2"
    [[ $kind == excused ]]
}

# note_suite LOG: what bats has said in the log of a suite.
note_suite() {
    local log
    log=$(awk '
        /^[0-9]+\/[0-9]+ Testing: / { file = $3 }
        !/^(not )?ok [0-9]+ / { next }
        { name = $0; sub(/^(not )?ok [0-9]+ /, "", name); why = "" }
        match(name, / # skip/) { why = substr(name, RSTART + 8); name = substr(name, 1, RSTART - 1)
            printf "left\t%s\t%s\t%s\n", file, name, why == "" ? "no reason given" : why; next }
        /^ok / { printf "ran\t%s\t%s\t\n", file, name }' "$1")
    [[ -z $log ]] || printf '%s\n' "$log" >>"${RLOCK_TEST_NOTES:-/dev/null}"
}

# tell_notes: what was left out, and why, and what had a second look. The last line is all of it in short, empty where
# there is nothing to tell. The status is 1 if something was left out without an excuse: what ran in another
# stage was not left out, and the reasons "not for ..." are excuses; so is a right that is missing where RLOCK_NO_RIGHTS=1.
tell_notes() {
    sort -u "$RLOCK_TEST_NOTES" | awk -F '\t' -v no_rights="${RLOCK_NO_RIGHTS-}" '
        function add(list, why, what) {
            if (!((list, why) in count)) order[list, ++kinds[list]] = why
            count[list, why]++
            if (!((list, why, what) in seen)) names[list, why] = names[list, why] " " what
            seen[list, why, what] = 1
        }
        function tell(list, title,   i, why, short) {
            if (!kinds[list]) return
            printf "%s\n", title
            for (i = 1; i <= kinds[list]; i++) {
                why = order[list, i]
                printf "%5d  %s:%s\n", count[list, why], why, names[list, why]
                short = short (i > 1 ? ", " : "") count[list, why] " " why
            }
            summary = summary "; " title ": " short
        }
        $1 == "ran" { ran[$2, $3] = 1 }
        $1 == "failed" { add("failed", $4, $2) }
        $1 == "left" || $1 == "excused" || $1 == "second" { lines[++n] = $0 }
        END {
            for (i = 1; i <= n; i++) {
                split(lines[i], part, "\t")
                rights = part[4] ~ /^needs (root|the right)/
                if (part[1] == "second") add("second", "failed beside others", part[2])
                else if ((part[2], part[3]) in ran) continue
                else if (part[1] == "excused" || part[4] ~ /^not for/ || (rights && no_rights == 1))
                    add("excused", part[4], part[2])
                else { add("left", part[4], part[2]); missing_rights = missing_rights || rights }
            }
            tell("failed", "FAILED")
            tell("left", "NOT RUN")
            if (missing_rights) print "       RLOCK_NO_RIGHTS=1 goes without what the rights here do not allow."
            tell("excused", "NOT RUN, and no failure")
            tell("second", "second looks")
            print summary
            exit kinds["left"] > 0
        }'
}
