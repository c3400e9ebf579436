# says.bash: what the program says of itself (--list-commands, --list-options), for tests that hold it
# against something. They need no server.
# shellcheck shell=bash

source "$TESTS/lib/no_server.bash"

setup() {
    clean_environment
    cd "$BATS_TEST_TMPDIR" || return
    mkdir bin
    ln -s "$RLOCK" bin/rlock
    PATH=$PWD/bin:$PATH
}

# commands [GROUP]: those of rlock itself, or of a group. Here and below a command is all the words that
# it is called by, "latch set".
commands() {
    "$RLOCK" "$@" --list-commands 2>/dev/null | cut -f 1
}

# The commands that have a man page of their own.
manual_commands() {
    commands | grep -vx help
}

groups_of_commands() {
    local command
    for command in $(manual_commands); do
        [[ -z $(commands "$command") ]] || echo "$command"
    done
}

# The commands that do something: a line each, those of a group instead of the group.
working_commands() {
    local command word
    for command in $(manual_commands); do
        [[ -n $(commands "$command") ]] || echo "$command"
        for word in $(commands "$command"); do
            echo "$command $word"
        done
    done
}

words_of() { # COMMAND: all option words
    # shellcheck disable=SC2086
    "$RLOCK" $1 --list-options | cut -f 1-2 | tr '\t' '\n' | grep .
}
