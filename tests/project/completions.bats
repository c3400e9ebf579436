#!/usr/bin/env bats
# completions.bats: what bash, zsh and fish offer is what the program says of itself, and the names of
# locks that a server has.

load ../lib/rlock
load ../lib/says

# bash_offers LINE: what bash offers behind it, a line each. It parts words at : and =, and wants what is behind the last;
# not at a space behind a backslash.
bash_offers() {
    # shellcheck source=completions/rlock
    source "$PROJECT/completions/rlock"
    unset -f rlock
    compopt() { :; } # which is for where somebody types
    local words=${1//:/ : } within=$'\x1f'
    words=${words//\\ /$within}
    read -ra COMP_WORDS <<<"${words//=/ = }"
    COMP_WORDS=("${COMP_WORDS[@]//$within/\\ }")
    [[ $1 != *' ' ]] || COMP_WORDS+=('')
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _rlock
    printf '%s\n' "${COMPREPLY[@]}"
}

fish_offers() { # LINE
    fish -c "source $PROJECT/completions/rlock.fish; complete -C '$1'" | cut -f 1
}

# offered SHELL,... LINE [WORD...]: these words, and no others.
offered() {
    local shell
    for shell in ${1//,/ }; do
        assert_equal "$shell, $2: $("${shell}_offers" "$2" | sort)" "$shell, $2: $(printf '%s\n' "${@:3}" | sort)"
    done
}

# shellcheck disable=SC2046 # words
@test "bash and fish complete commands, options and their values" {
    local command
    offered bash 'rlock ' $(commands) --help --version
    offered fish 'rlock ' $(commands)
    offered bash,fish 'rlock help ' $(commands)
    while read -r command; do
        offered bash "rlock $command -" $(words_of "$command")
        offered fish "rlock $command --" $(words_of "$command" | grep -e --)
    done < <(working_commands)
    for command in $(groups_of_commands); do
        offered bash "rlock $command " $(commands "$command") --help
        offered fish "rlock $command " $(commands "$command")
        offered bash,fish "rlock help $command " $(commands "$command")
    done
    touch authority.pem
    offered bash,fish 'rlock run --tls-ca auth' authority.pem
    offered bash,fish 'rlock run --on-lost ' stop warn
    offered bash,fish 'rlock run -s redis://h -s u' unix://
    offered bash 'rlock run -s redis://h --server s' sentinel:// sentinels://
    offered bash,fish 'rlock run -s redis://h:6379 -xqn x --kill-a' --kill-after
    offered bash 'rlock run --log=j' json
    offered fish 'rlock run -xqn x --log=j' --log=json
    offered bash 'rlock help run '
    offered bash 'rlock run -n '
    # A name, or the command's own words, may be what a command is called.
    offered fish 'rlock run -n fair --super'
    run fish_offers 'rlock latch wait -n set --count'
    refute_output --regexp '^--count'
}

@test "bash completes the command that is to run" {
    printf '#!/bin/sh\n' >bin/frobnicate
    chmod +x bin/frobnicate
    offered bash 'rlock run -nx frobn' frobnicate
    offered bash 'rlock run -n x --wait 5s -- frobn' frobnicate
    offered bash 'rlock latch down -n x --by 2 frobn' frobnicate
    offered bash 'rlock run -n x -- frobnicate --wai'
}

zsh_shows() { # LINE...: each below "--- LINE"
    local line steps=("keys=stty rows 1000; fpath=($PROJECT/completions \$fpath); autoload -U compinit; compinit -u -D"$'\n'
        "keys=LISTMAX=1000; PS1='ready''> '"$'\n' 'expect=ready> ')
    for line; do # keys are taken in order: ^U and the rest wait until TAB has done its work
        steps+=("keys=print -r -- '--- $line'"$'\n' 'expect=ready> ' "keys=$line"$'\t\x15'"echo en''d"$'\n'
            expect=$'\nend' 'expect=ready> ')
    done
    TERM=dumb python3 "$TOOLS/terminal.py" --timeout $((60 * SLOW)) --columns 150 --leader "${steps[@]}" $'keys=exit\n' -- zsh -f -i
}

# zsh_has LINE PATTERN: of all that was asked, in the file shown.
zsh_has() {
    awk -v of="--- $1" '/^--- / { here = $0 == of } here' shown | grep -qE -- "$2" || fail "zsh does not show $2 behind '$1'"
}

@test "zsh completes commands, options and their values" {
    local command word help
    local lines=('rlock ' 'rlock run --on-lost ' 'rlock run -s redis://h -s ' 'rlock run --tls-ca auth' 'rlock run -xqn x --log=j')
    while read -r command; do
        lines+=("rlock $command -")
    done < <(working_commands; groups_of_commands)
    for command in $(groups_of_commands); do
        lines+=("rlock $command " "rlock help $command ")
    done
    touch authority.pem
    zsh_shows "${lines[@]}" | tr -d '\r' >shown
    for command in $(commands); do
        zsh_has 'rlock ' "^$command +-- "
    done
    while read -r command; do
        for word in $(words_of "$command"); do
            zsh_has "rlock $command -" "(^| )$word .*-- "
        done
    done < <(working_commands)
    for command in $(groups_of_commands); do
        for help in '' 'help '; do
            for word in $(commands "$command"); do
                zsh_has "rlock $help$command " "^$word +-- "
            done
        done
        zsh_has "rlock $command -" '(^| )--help .*-- '
    done
    zsh_has 'rlock run --on-lost ' 'stop +warn'
    zsh_has 'rlock run -s redis://h -s ' 'redis:// +rediss://'
    zsh_has 'rlock run --tls-ca auth' '--tls-ca authority.pem'
    zsh_has 'rlock run -xqn x --log=j' '--log=json'
}

# know_names [NAME...]: an rlock that knows these names of locks, or some, and notes in the file asked what it was asked.
know_names() {
    (($#)) || set -- app:deploy app:migrate 'two words' x
    printf '%s\n' "$@" >names
    rm bin/rlock
    cat >bin/rlock <<-END
	#!/bin/sh
	[ "\$1 \$2" = 'status --list-names' ] || exec "$RLOCK" "\$@"
	shift 2
	echo "\$*" >"$PWD/asked"
	cat "$PWD/names"
	END
    chmod +x bin/rlock
}

@test "bash and fish complete names of locks" {
    local shell
    know_names
    offered bash 'rlock run -n ' app:deploy app:migrate 'two\ words' x
    assert_equal "$(cat asked)" ''
    offered bash 'rlock run -n tw' 'two\ words'
    offered bash 'rlock run -n two\ w' 'two\ words'
    offered bash 'rlock run -n "tw' 'two words'
    offered bash 'rlock run -n app:d' deploy
    offered bash 'rlock run -n app:' deploy migrate
    offered bash 'rlock doctor app:m' migrate
    offered fish 'rlock run --name tw' 'two words'
    offered fish 'rlock doctor app:m' app:migrate
    offered bash,fish 'rlock doctor -v x' x
    offered bash,fish 'rlock latch set -n y --count 2 x'
    for shell in bash fish; do
        offered "$shell" 'rlock run -s redis://h:1 --tls-ca ca.pem -xn ap' app:deploy app:migrate
        assert_equal "$shell: $(cat asked)" "$shell: -s redis://h:1 --tls-ca ca.pem"
        rm asked
    done
}

@test "bash: a name that the shell would run inside quotes is not offered there" {
    know_names 'a$(b)' 'a`b`' 'a"b' "a'b" 'a\b' 'a!b' a-b
    offered bash 'rlock run -n "a' a-b
    offered bash "rlock run -n 'a" a-b
    offered bash 'rlock run -n a' 'a\$\(b\)' 'a\`b\`' 'a\"b' "a\\'b" 'a\\b' 'a\!b' a-b
}

@test "zsh completes names of locks" {
    know_names
    run -0 zsh_shows 'rlock run -n app:'
    assert_line --regexp '^app:deploy +app:migrate'
    run -0 zsh_shows 'rlock run -s redis://h -xn tw'
    assert_output --partial 'two\ words'
    assert_equal "$(cat asked)" '-s redis://h'
    run -0 zsh_shows 'rlock doctor app:m'
    assert_output --partial 'rlock doctor app:migrate'
}

@test "where names of locks cannot be told, completions are silent" {
    rm bin/rlock
    printf '#!/bin/sh\n[ "$2" != --list-names ] || { echo "rlock: no server" >&2; exit 69; }\nexec %s "$@"\n' "$RLOCK" >bin/rlock
    chmod +x bin/rlock
    for shell in bash fish; do
        run -0 "${shell}_offers" 'rlock run -n '
        assert_output ''
    done
    run -0 zsh_shows 'rlock run -n '
    refute_output --partial 'no server'
}
