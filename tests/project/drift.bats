#!/usr/bin/env bats
# drift.bats: options, help, man pages, the library and exit statuses say the same. What the program says of
# itself (--list-commands, --list-options) is the measure. Of completions, completions.bats.
# shellcheck disable=SC2086 # a command is one word or two

load ../lib/rlock
load ../lib/says

# options COMMAND: "-n --name NAME" a line, sorted: what there is of the three.
options() {
    "$RLOCK" $1 --list-options | grep -e -- | cut -f 1-3 | tr '\t' ' ' | tidy
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
    "$RLOCK" $1 --help | sed -n 's/^  *\(-.*\)/\1/p' | sed 's/   *.*//; s/\[=.*\]//; s/^\(-.\), /\1 /' | tidy
}

@test "each command has a man page, and rlock(1) or its group's page, and the help, name it; each page is a command's" {
    local group command page
    for group in '' $(groups_of_commands); do
        page=$PROJECT/man/rlock${group:+-$group}.1
        run -0 "$RLOCK" help $group
        for command in $(commands $group); do
            grep -qE "^\.(It Cm|Nm rlock $group) $command\>" "$page" || fail "$page lacks $command"
            assert_line --regexp "^  $command +[A-Z]"
        done
        [[ -n $group ]] || continue
        run grep -c '^\.Ss Options of' "$page"
        assert_output "$(grep -c "^$group " <<<"$(working_commands)")"
    done
    assert_equal "$(cd "$PROJECT/man" && printf '%s\n' rlock-*.1 | sort)" "$(manual_commands | sed 's/.*/rlock-&.1/' | sort)"
}

@test "man pages and --help have the same options as the program" {
    local command
    while read -r command; do
        assert_equal "$command: $(manual_options "$command")" "$command: $(options "$command")"
    done < <(working_commands)
    while read -r command; do
        assert_equal "$command: $(help_options "$command")" "$command: $(options "$command")"
        assert_equal "$("$RLOCK" help $command)" "$("$RLOCK" $command --help)"
        assert_equal "$("$RLOCK" help $command)" "$("$RLOCK" $command -h)"
    done < <(working_commands; groups_of_commands)
}

@test "README and rlock-run(1) have each exit status" {
    local -a statuses
    local status
    mapfile -t statuses < <(sed -n 's/^ *EXIT_[A-Z_]* = \([0-9]*\).*/\1/p' "$PROJECT/cmd/output/out.h")
    ((${#statuses[@]} > 5)) || fail "where is the enum of exit statuses?"
    for status in "${statuses[@]}"; do
        sed -n '/^\.Sh EXIT STATUS/,/^\.Sh/p' "$PROJECT/man/rlock-run.1" |
            grep -qx "\.It $status" || fail "rlock-run(1) lacks $status"
        grep -q "^|[^|]*\<$status\>" "$PROJECT/README.md" || fail "README.md lacks $status"
    done
}

@test "rlock(1) leads to each page, and is led to; each of commands says what the exit status is, and has examples" {
    local page name
    for page in "$PROJECT"/man/*.[1-9]; do
        name=${page##*/}
        [[ $name == rlock.1 ]] || grep -q "^\.Xr ${name%.*} ${name##*.}" "$PROJECT/man/rlock.1" || fail "rlock(1) lacks $name"
        [[ $name == *.1 ]] || continue
        grep -qx "\.Sh EXIT STATUS" "$page" || fail "$page: no exit status"
        sed -n '/^\.Sh EXAMPLES/,/^\.Sh SEE/p' "$page" | grep -q '^\.Bd -literal' || fail "$page: no example"
        [[ $name == rlock.1 ]] || grep -qx '\.Xr rlock 1 ,' "$page" || fail "$page does not lead to rlock(1)"
    done
}

# configurable OPTION: whether it may stand in a file, as the program says.
configurable() {
    echo "$1 =" >file
    export RLOCK_CONFIG=file
    run "$RLOCK" run -n x -- true
    [[ $output == *'has no value'* ]]
}

@test "rlock.conf(5), and it alone, has each option that can stand in a file, and no other" {
    local command option
    while read -r option; do
        ! configurable "$option" || echo "$option"
    done < <(while read -r command; do words_of "$command"; done < <(working_commands) | sed -n 's/^--//p' | sort -u) >keys
    [ -s keys ]
    assert_equal "$(sed -n 's/^\.It Cm \([^ ]*\) Li = .*/\1/p' "$PROJECT/man/rlock.conf.5" | sort)" "$(cat keys)"
    run -1 grep -nE 'cannot be set in a config|^All options but' "$PROJECT"/man/rlock-*.1
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
    run diff <(manual_prototypes) <(grep '^[^ ].*(.*)$' "$PROJECT/lib/librlock.abi" | grep -v '^typedef ' | sort)
    assert_output '' # <: the manual, >: the header
    while read -r function; do
        grep -q "^\.It Fn .*\<$function\>" "$PROJECT/man/rlock.3" || fail "rlock(3) has no entry for $function"
    done < <(sed -n 's/^\.Fn \(rlock_[a-z_]*\) ".*/\1/p' "$PROJECT/man/rlock.3")
}

# written PATTERN: the first group of it, of each line of lib/librlock.abi that matches.
written() {
    sed -n "s/^$1/\1/p" "$PROJECT/lib/librlock.abi" | sort -u
}

@test "rlock(3) names each structure, field and _INIT, each status and limit" {
    local word page=$PROJECT/man/rlock.3
    while read -r word; do
        grep -q "^\.Vt struct $word\>" "$page" || fail "rlock(3) lacks struct $word"
    done < <(written 'struct \(.*\):.*')
    while read -r word; do
        grep -q "^\..*\<Fa .*\<$word\>" "$page" || fail "rlock(3) lacks the field $word"
    done < <(written '    \(.*\): at.*')
    while read -r word; do
        grep -q "\<Dv .*$word\>" "$page" || fail "rlock(3) lacks $word"
    done < <(written '\(RLOCK_[A-Z_]*\):.*'; sed -n 's/^#define \(RLOCK_[A-Z_]*_INIT\)\>.*/\1/p' "$PROJECT"/lib/rlock*.h)
}

@test "--version prints the project's version, and the commit where git knows it" {
    local version
    version=$(sed -n 's/^project(rlock VERSION \([0-9.]*\).*/\1/p' "$PROJECT/CMakeLists.txt")
    run -0 "$RLOCK" --version
    assert_output --regexp "^rlock ${version//./\\.}( \(commit [0-9a-f]{10,}\+?\))?\$"
    cmake -DSOURCE=/ -DHEADER="$PWD/version.h" -DCOMMIT=0123abc -DLINKED_IN='OpenSSL 3.0.1' -P "$PROJECT/cmd/version.cmake"
    printf '#include <stdio.h>\n#include "version.h"\nint main(void) { printf("%%s|%%s", RLOCK_COMMIT, RLOCK_LINKED_IN); }\n' >say.c
    cc -o say say.c
    run -0 ./say
    assert_output --regexp '^ \(commit 0123abc\)\|linked in: OpenSSL 3\.0\.1, glibc 2\.[0-9]+$'
}

@test "what words of other programs lead to is there" {
    local known ours
    known=$(while read -r command; do
        "$RLOCK" $command --list-options | cut -f 2
        echo "rlock $command"
    done < <(working_commands))
    while read -r ours; do
        case $ours in
        'rlock --version') ;;
        'rlock '*' --'*) grep -qxFe "${ours##* }" <<<"$known" && grep -qxF "${ours% --*}" <<<"$known" || fail "$ours" ;;
        rlock*) grep -qxF "$ours" <<<"$known" || fail "$ours" ;;
        *) grep -qxFe "--$ours" <<<"$known" || fail "$ours" ;;
        esac
    done < <(sed -n 's/.*\.ours = "\([^"]*\)".*/\1/p' "$PROJECT/cmd/options/explain.c" | sort -u)
}
