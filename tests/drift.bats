#!/usr/bin/env bats
# drift.bats: options, help, man pages, completions and exit statuses say the same. What the program
# says of itself (--list-commands, --list-options) is the measure.

load lib/rlock

setup_file() { :; } # needs no server
teardown_file() { :; }

setup() {
    clean_environment
    cd "$BATS_TEST_TMPDIR" || return
    mkdir bin
    ln -s "$RLOCK" bin/rlock
    PATH=$PWD/bin:$PATH
}

teardown() { :; }

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

# options COMMAND: "-n --name NAME" a line, sorted: what there is of the three.
options() {
    # shellcheck disable=SC2086
    "$RLOCK" $1 --list-options | cut -f 1-3 | tr '\t' ' ' | tidy
}

tidy() {
    sed 's/  */ /g; s/^ //; s/ $//' | sort
}

# The same from the items of a man page's list: ".It Fl n , Fl -name Ar NAME". Of a group's page those
# that all of its commands have, and those below ".Ss Options of COMMAND".
manual_options() {
    awk -v own=".Ss Options of rlock $1" '
        /^\.S[hs]/ { listed = /^\.Sh OPTIONS/ || $0 == own || (listed && /^\.Ss/ && !/^\.Ss Options of/) }
        listed && /^\.It Fl/' "$PROJECT/man/rlock-${1%% *}.1" |
        sed 's/^\.It Fl/-/; s/ , Fl / -/; s/^- /-/; s/ Ns Op .*//; s/ Ar / /; s/ Cm / /; s/ | /|/g' | tidy
}

# The same from --help: "  -n, --name NAME     the lock's name".
help_options() {
    # shellcheck disable=SC2086
    "$RLOCK" $1 --help | sed -n 's/^  *\(-.*\)/\1/p' | sed 's/   *.*//; s/\[=.*\]//; s/^\(-.\), /\1 /' | tidy
}

words_of() { # COMMAND: all option words
    # shellcheck disable=SC2086
    "$RLOCK" $1 --list-options | cut -f 1-2 | tr '\t' '\n' | grep .
}

@test "each command has a man page, and rlock(1) and the help name it" {
    local command page
    run -0 "$RLOCK" --help
    local help=$output
    for command in $(commands); do
        grep -q "^\.It Cm $command\>" "$PROJECT/man/rlock.1" || fail "rlock(1) lacks $command"
        [[ $help == *$'\n'"  $command "* ]] || fail "the help lacks $command"
    done
    for command in $(manual_commands); do
        page=$PROJECT/man/rlock-$command.1
        [ -e "$page" ] || fail "no $page"
        grep -q "^\.Xr rlock-$command 1" "$PROJECT/man/rlock.1" || fail "rlock(1) lacks $page"
    done
    for page in "$PROJECT"/man/rlock-*.1; do
        page=${page##*/rlock-}
        commands | grep -qx "${page%.1}" || fail "rlock-$page is no command's"
    done
}

@test "a group's man page and its help name its commands" {
    local group command page
    for group in $(groups_of_commands); do
        page=$PROJECT/man/rlock-$group.1
        run -0 "$RLOCK" help "$group"
        for command in $(commands "$group"); do
            grep -q "^\.Nm rlock $group $command\>" "$page" || fail "$page lacks $group $command"
            assert_line --regexp "^  $command +[A-Z]"
        done
        run grep -c '^\.Ss Options of' "$page"
        assert_output "$(grep -c "^$group " <<<"$(working_commands)")"
    done
}

@test "man pages have the same options as the program" {
    local command
    while read -r command; do
        assert_equal "$command: $(manual_options "$command")" "$command: $(options "$command")"
    done < <(working_commands)
}

@test "--help has the same options as the program" {
    local command
    while read -r command; do
        assert_equal "$command: $(help_options "$command")" "$command: $(options "$command")"
    done < <(working_commands; groups_of_commands)
}

@test "help COMMAND prints what COMMAND --help prints" {
    local command
    while read -r command; do
        # shellcheck disable=SC2086
        assert_equal "$("$RLOCK" help $command)" "$("$RLOCK" $command --help)"
    done < <(commands; working_commands)
}

@test "README and rlock-run(1) have each exit status" {
    local -a statuses
    local status
    mapfile -t statuses < <(sed -n 's/^ *EXIT_[A-Z_]* = \([0-9]*\).*/\1/p' "$PROJECT/cmd/out.h")
    ((${#statuses[@]} > 5)) || fail "where is the enum of exit statuses?"
    for status in "${statuses[@]}"; do
        sed -n '/^\.Sh EXIT STATUS/,/^\.Sh/p' "$PROJECT/man/rlock-run.1" |
            grep -qx "\.It $status" || fail "rlock-run(1) lacks $status"
        grep -q "^|[^|]*\<$status\>" "$PROJECT/README.md" || fail "README.md lacks $status"
    done
}

@test "each page of commands says what the exit status is, and has examples" {
    local page section
    for page in "$PROJECT"/man/*.1; do
        for section in 'EXIT STATUS' EXAMPLES 'SEE ALSO'; do
            grep -qx "\.Sh $section" "$page" || fail "$page lacks $section"
        done
        sed -n '/^\.Sh EXAMPLES/,/^\.Sh SEE/p' "$page" | grep -q '^\.Bd -literal' || fail "$page: no example"
        # The overview leads to it, and it back.
        [[ $page == */rlock.1 ]] || grep -qx '\.Xr rlock 1 ,' "$page" || fail "$page does not lead to rlock(1)"
    done
}

# configurable OPTION: whether it may stand in a file, as the program says.
configurable() {
    echo "$1 =" >file
    export RLOCK_CONFIG=file
    run "$RLOCK" run -n x -- true
    [[ $output == *'has no value'* ]]
}

@test "rlock.conf(5) has each option that can stand in a file, and no other" {
    local command option
    while read -r option; do
        ! configurable "$option" || echo "$option"
    done < <(while read -r command; do words_of "$command"; done < <(working_commands) | sed -n 's/^--//p' | sort -u) >keys
    [ -s keys ]
    assert_equal "$(sed -n 's/^\.It Cm \([^ ]*\) Li = .*/\1/p' "$PROJECT/man/rlock.conf.5" | sort)" "$(cat keys)"
}

# --- the library -------------------------------------------------------------------------------

# The prototypes of a page's synopsis, as lib/librlock.abi has them.
manual_prototypes() {
    sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESC/p' "$PROJECT/man/rlock.3" | awk '
        /^\.Ft / { type = substr($0, 5); if (type !~ /\*$/) type = type " " }
        /^\.Fn / {
            sub(/^\.Fn /, "")
            name = $1
            sub(/^[^ ]* /, "")
            gsub(/" "/, ", ")
            gsub(/"/, "")
            print type name "(" $0 ")"
        }' | sed 's/^bool /_Bool /' | sort
}

@test "rlock(3) declares each function as rlock.h does, and has an entry for each" {
    local function
    run diff <(manual_prototypes) <(grep '^[^ ].*(.*)$' "$PROJECT/lib/librlock.abi" | sort)
    assert_output '' # <: the manual, >: the header
    while read -r function; do
        grep -q "^\.It Fn .*\<$function\>" "$PROJECT/man/rlock.3" || fail "rlock(3) has no entry for $function"
    done < <(sed -n 's/^\.Fn \(rlock_[a-z_]*\) ".*/\1/p' "$PROJECT/man/rlock.3")
}

# written PATTERN: the first group of it, of each line of lib/librlock.abi that matches.
written() {
    sed -n "s/^$1/\1/p" "$PROJECT/lib/librlock.abi" | sort -u
}

@test "rlock(3) names each structure and field, each status and limit" {
    local word page=$PROJECT/man/rlock.3
    while read -r word; do
        grep -q "^\.Vt struct $word\>" "$page" || fail "rlock(3) lacks struct $word"
    done < <(written 'struct \(.*\):.*')
    while read -r word; do
        grep -q "^\..*\<Fa .*\<$word\>" "$page" || fail "rlock(3) lacks the field $word"
    done < <(written '    \(.*\): at.*')
    while read -r word; do
        grep -q "\<Dv .*$word\>" "$page" || fail "rlock(3) lacks $word"
    done < <(written '\(RLOCK_[A-Z_]*\):.*')
}

@test "--version prints the project's version" {
    run -0 "$RLOCK" --version
    assert_output "rlock $(sed -n 's/^project(rlock VERSION \([0-9.]*\).*/\1/p' "$PROJECT/CMakeLists.txt")"
}

# --- completions -------------------------------------------------------------------------------

# bash_offers WORD...: what bash offers for the last word, a line each.
bash_offers() {
    # shellcheck source=completions/rlock
    source "$PROJECT/completions/rlock"
    unset -f rlock
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    _rlock 2>/dev/null
    printf '%s\n' "${COMPREPLY[@]}"
}

@test "bash completes commands, options and their values" {
    local command
    assert_equal "$(bash_offers rlock '' | sort)" "$( (commands; echo --help; echo --version) | sort)"
    assert_equal "$(bash_offers rlock help '' | sort)" "$(commands | sort)"
    while read -r command; do
        # shellcheck disable=SC2086
        assert_equal "$(bash_offers rlock $command - | sort)" "$(words_of "$command" | sort)"
    done < <(working_commands)
    for command in $(groups_of_commands); do
        assert_equal "$(bash_offers rlock "$command" '' | sort)" "$( (commands "$command"; echo --help) | sort)"
        assert_equal "$(bash_offers rlock help "$command" '' | sort)" "$(commands "$command" | sort)"
    done
    assert_equal "$(bash_offers rlock help run '')" ''
    assert_equal "$(bash_offers rlock write --prefer '')" $'readers\nwriters'
    assert_equal "$(bash_offers rlock run --on-lost '')" $'stop\nwarn'
    assert_equal "$(bash_offers rlock run --log = j)" json
    assert_equal "$(bash_offers rlock run -s u)" unix://
    assert_equal "$(bash_offers rlock run -s redis://h --server s)" $'sentinel://\nsentinels://'
    touch authority.pem
    assert_equal "$(bash_offers rlock run --tls-ca auth)" authority.pem
    assert_equal "$(bash_offers rlock run -s redis : //h : 6379 -xqn x --wai)" --wait
    assert_equal "$(bash_offers rlock run -n '')" ''
}

@test "bash completes the command that is to run" {
    printf '#!/bin/sh\n' >bin/frobnicate
    chmod +x bin/frobnicate
    assert_equal "$(bash_offers rlock run -nx frobn)" frobnicate
    assert_equal "$(bash_offers rlock run -n x --wait 5s -- frobn)" frobnicate
    assert_equal "$(bash_offers rlock latch down -n x --by 2 frobn)" frobnicate
    assert_equal "$(bash_offers rlock run -n x -- frobnicate --wai)" ''
}

zsh_shows() { # LINE
    timeout 20 python3 "$TOOLS/zsh_complete.py" "$PROJECT/completions" "$1"
}

@test "zsh completes commands, options and their values" {
    local command word help
    run -0 zsh_shows 'rlock '
    for command in $(commands); do
        assert_line --regexp "^$command +-- "
    done
    while read -r command; do
        run -0 zsh_shows "rlock $command -"
        for word in $(words_of "$command"); do
            assert_line --regexp "(^| )$word .*-- "
        done
    done < <(working_commands)
    for command in $(groups_of_commands); do
        for help in '' 'help '; do
            run -0 zsh_shows "rlock $help$command "
            for word in $(commands "$command"); do
                assert_line --regexp "^$word +-- "
            done
        done
        run -0 zsh_shows "rlock $command -"
        assert_line --regexp '(^| )--help .*-- '
    done
    run -0 zsh_shows 'rlock run --on-lost '
    assert_output --regexp 'stop +warn'
    run -0 zsh_shows 'rlock run -s redis://h -s '
    assert_output --regexp 'redis:// +rediss://'
    touch authority.pem
    run -0 zsh_shows 'rlock run --tls-ca auth'
    assert_output --partial '--tls-ca authority.pem'
    run -0 zsh_shows 'rlock run -xqn x --log=j'
    assert_output --partial --log=json
}

fish_offers() { # LINE: "WORD<TAB>HELP" lines
    fish -c "source $PROJECT/completions/rlock.fish; complete -C '$1'"
}

@test "fish completes commands, options and their values" {
    local command
    assert_equal "$(fish_offers 'rlock ' | cut -f 1)" "$(commands | sort)"
    assert_equal "$(fish_offers 'rlock help ' | cut -f 1)" "$(commands | sort)"
    while read -r command; do
        assert_equal "$(fish_offers "rlock $command --" | cut -f 1 | sort)" \
            "$(words_of "$command" | grep -e -- | sort)"
    done < <(working_commands)
    for command in $(groups_of_commands); do
        assert_equal "$(fish_offers "rlock $command " | cut -f 1)" "$(commands "$command" | sort)"
        assert_equal "$(fish_offers "rlock help $command " | cut -f 1)" "$(commands "$command" | sort)"
    done
    assert_equal "$(fish_offers 'rlock write --prefer ' | cut -f 1)" $'readers\nwriters'
    # A name, or the command's own words, may be what a command is called.
    assert_equal "$(fish_offers 'rlock run -n fair --super')" ''
    run fish_offers 'rlock latch wait -n set --count'
    refute_output --regexp '^--count'
    assert_equal "$(fish_offers 'rlock run --on-lost ' | cut -f 1)" $'stop\nwarn'
    assert_equal "$(fish_offers 'rlock run -s redis://h -s u' | cut -f 1)" unix://
    touch authority.pem
    assert_equal "$(fish_offers 'rlock run --tls-ca auth' | cut -f 1)" authority.pem
    assert_equal "$(fish_offers 'rlock run -xqn x --log=j' | cut -f 1)" --log=json
}
