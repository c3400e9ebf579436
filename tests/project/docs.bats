#!/usr/bin/env bats
# docs.bats: every example of the manual and of README.md is run, and must print what stands there.
#
# Examples are the literal displays of a man page and the fenced blocks of the README. A block whose
# lines begin with "$ " is a session: what follows a command is its output, "..." standing for any
# text, and lines that begin with "> " go on with the command. A comment before a block, "test: WORD",
# says what else it is:
#     hold NAME     somebody else holds NAME meanwhile
#     continue      goes on where the block before it ended
#     file NAME     the content of a script of that name, for the session that follows
#     config        a configuration file
#     program ARG   a C program, which is compiled, and succeeds with these arguments
#     cmake         lines that man/examples/c/CMakeLists.txt has as well
# and of recipes (recipes.bash): crontab, unit NAME, ci [grey], container, ansible, terraform, makefile TARGET, alerts.
# A block that is none of these fails: there is no example that nobody runs.

load ../lib/rlock
load ../lib/recipes

redis_cli=$(command -v redis-cli)
build_dir=${RLOCK_BUILD_DIR:-$PROJECT/build}

teardown() {
    cd "$BATS_TEST_TMPDIR" || return
    stop_local
    rlock_teardown
}

# split DOCUMENT: its blocks become the files 1, 2, ... of the directory blocks: the line it stands
# on, the word of its fence or "literal", the comment before it, and its text.
split() {
    rm -rf blocks
    mkdir blocks
    awk '
        function begin(kind) { out = "blocks/" ++n; print NR > out; print kind > out; print note > out; note = "" }
        out && (/^\.Ed/ || /^```$/) { close(out); out = ""; next }
        out && man {
            gsub(/\\-/, "-"); gsub(/\\\(aq/, "\047"); gsub(/\\\(ga/, "`"); gsub(/\\\(ti/, "~")
            gsub(/\\\(ha/, "^"); gsub(/\\&/, ""); gsub(/\\e/, "\\")
        }
        out { print > out; next }
        /^\.\\" test: / { note = substr($0, 11); next }
        /^<!-- test: .* -->$/ { note = substr($0, 12, length($0) - 15); next }
        /^\.Bd -literal/ { man = 1; begin("literal"); next }
        /^```/ { begin(substr($0, 4)) }
    ' "$1"
    [ -e blocks/1 ]
}

# A directory with the scripts that the examples call, and rlock and redis-cli as an example's reader
# would have them, for the private server. "local:" is one of this test's own.
make_sandbox() {
    local script
    rm -rf sandbox
    mkdir -p sandbox bin
    while read -r script; do
        printf '#!/bin/sh\necho %s\n' "${script#* }" >"sandbox/${script%% *}"
    done <<-END
	deploy.sh deployed
	fetch.sh fetched
	dump.sh a dump
	import.sh imported
	migrate.sh migrated
	report.sh report sent
	scheduler scheduling
	build.sh built
	backup backed up
	END
    for script in ansible-playbook terraform; do
        printf '#!/bin/sh\necho %s "$@"\n' "$script" >"bin/$script"
    done
    printf '#!/bin/sh\nexec %s -s %s "$@"\n' "$redis_cli" "$BATS_FILE_TMPDIR/main/sock" \
        >bin/redis-cli
    cat >bin/rlock <<-END
	#!/bin/bash
	for word; do
	    [[ \$word != local: ]] || word+=$BATS_TEST_TMPDIR/local
	    words+=("\$word")
	done
	[[ \${RLOCK_SERVER-} != local: ]] || export RLOCK_SERVER=local:$BATS_TEST_TMPDIR/local
	exec timeout --foreground -s KILL $((60 * SLOW)) $RLOCK "\${words[@]}"
	END
    chmod +x bin/* sandbox/*
}

# Its commands run in one shell, as at a prompt; what they print goes to ../transcript, what they
# should print to ../expected.
session() {
    local line command='' last=0
    unset -f rlock
    cd sandbox || return
    : >../expected
    exec 5>>../transcript
    step() {
        [[ -n $command ]] || return 0
        (exit "$last")
        eval "$command" </dev/null >&5 2>&1 5>&- 3>&-
        last=$?
    }
    while IFS= read -r line; do
        case $line in
        '$ '*) step; command=${line#'$ '} ;;
        '> '*) command+=$'\n'${line#'> '} ;;
        *) printf '%s\n' "$line" >>../expected ;;
        esac
    done
    step
    wait
}

# matches FILE PATTERNS: line by line, "..." being any text.
matches() {
    local -a lines patterns
    local i
    mapfile -t lines <"$1"
    mapfile -t patterns < <(sed 's/[][*?\\]/\\&/g; s/\.\.\./*/g' "$2")
    ((${#lines[@]} == ${#patterns[@]})) || return 1
    for i in "${!lines[@]}"; do
        # shellcheck disable=SC2053 # a pattern is what it is
        [[ ${lines[i]} == ${patterns[i]} ]] || return 1
    done
}

# What runs an example: recipe_KIND TEXT WHERE [WORD].

recipe_literal() {
    [[ $1 == '$ '* ]] || fail "$2: an example that nobody runs" || return
    : >transcript
    (set +eET; trap - ERR DEBUG; session) <<<"$1"
    sed -i "s|$RLOCK_SERVER, from RLOCK_SERVER\$|redis://redis.example.com:6379, from /etc/rlock.conf:1|" transcript
    matches transcript expected ||
        fail "$2 prints something else (< the text, > rlock):"$'\n'"$(diff expected transcript)"
}

# One that starts itself again under a lock does not believe the variable alone: what outlived its lock has it, too.
recipe_file() {
    local name
    printf '%s\n' "$1" >"sandbox/$3"
    chmod +x "sandbox/$3"
    if name=$(grep -oP '"\$RLOCK_NAME" = \K\w+' <<<"$1"); then
        RLOCK_NAME=$name ran "$2" "./$3"
        assert_equal "$2: $(redis GET "redisson_lock_token:{$name}")" "$2: 1" || return
        redis FLUSHALL >/dev/null
    fi
    : >next-needs-files
}

recipe_config() {
    printf '%s\n' "${1//= \/etc\/rlock\/password/= $PWD/password}" >config # not the machine's
    echo secret >password
    RLOCK_CONFIG=config run rlock run -n x -- true
    assert_success || fail "$2: not a configuration file" || return
}

recipe_program() {
    ! is_sanitized || return 0 # the library wants it in programs
    printf '%s\n' "$1" >program.c
    cc -std=c11 -Wall -Wextra -Wpedantic -Werror -I "$PROJECT/lib" -o program program.c \
        -L "$build_dir/lib" -Wl,-rpath,"$build_dir/lib" -lrlock || fail "$2 does not compile" || return
    # shellcheck disable=SC2086
    run ./program $3
    assert_success || fail "$2" || return
    assert_no_keys
}

recipe_cmake() {
    local line
    while read -r line; do
        grep -qxF "${line/(program /(worker }" "$PROJECT/man/examples/c/CMakeLists.txt" ||
            fail "$2: man/examples/c has no $line" || return
    done <<<"$1"
}

# They build and install: they are what tests/run and quickstart do.
recipe_sh() {
    local word
    while read -r word _; do
        [[ $word == cmake || -x $PROJECT/$word ]] || fail "$2: there is no $word" || return
    done <<<"$1"
}

run_block() { # FILE DOCUMENT
    local line kind note what text where holder=''
    { read -r line; read -r kind; read -r note; text=$(cat); } <"$1"
    where="$2:$line"
    if [[ $note != continue && ! -e next-needs-files ]]; then
        redis FLUSHALL >/dev/null
        make_sandbox
    fi
    rm -f next-needs-files
    kind=${kind/console/literal} what=$note
    case $note in
    '' | continue) what=${kind/ini/config} ;;
    'hold '*) what=$kind; hold "${note#hold }" ;;
    esac
    declare -F "recipe_${what%% *}" >/dev/null || fail "$where: an example that nobody runs" || return
    "recipe_${what%% *}" "$text" "$where" "${what#* }" || return
    if [[ -n $holder ]]; then
        let_go "${note#hold }"
        reap "$holder"
    fi
    [[ -e next-needs-files ]] || stop_local
}

# All that examples have started, wherever they have put it.
stop_local() {
    local file pid
    for file in local/redis.pid sandbox/*/redis.pid; do
        pid=$(cat "$file" 2>/dev/null) || continue
        kill "$pid"
        wait_until 10 ended "$pid"
        rm -rf "$(dirname "$file")"
    done
}

run_document() {
    local i
    split "$PROJECT/$1"
    PATH=$BATS_TEST_TMPDIR/bin:$PATH
    for ((i = 1; ; i++)); do
        [[ -e blocks/$i ]] || break
        run_block "blocks/$i" "$1"
    done
}

@test "README.md, and the examples' guides" {
    run_document README.md
    run_document man/examples/local-locks.md
}

@test "the manual" {
    local page
    for page in "$PROJECT"/man/*.[1-9]; do
        echo "$page"
        run_document "man/${page##*/}"
    done
}

@test "each file that documents name is there, and README leads to the changelog, which begins with this version" {
    local file link
    cd "$PROJECT" || return
    while read -r file; do
        [[ $file == *[A-Z][A-Z]* ]] || compgen -G "$file" >/dev/null || fail "no $file"
    done < <(grep -ohE '\b(cmake|cmd|completions|lib|lua|man|tests)/[A-Za-z0-9_./*-]*[a-z0-9*]' ./*.md {lib,cmake}/README.md | sort -u)
    for link in CHANGELOG.md SECURITY.md man/markdown/rlock.1.md; do
        grep -qF "]($link)" README.md || fail "README.md does not lead to $link"
    done
    grep -q "^## $(sed -n 's/^project(rlock VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)" CHANGELOG.md
}
