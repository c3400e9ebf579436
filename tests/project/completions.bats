#!/usr/bin/env bats
# completions.bats: what bash, zsh and fish offer is what the program says of itself, and the names of
# locks that a server has.

load ../lib/rlock
load ../lib/says

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

zsh_shows() { # LINE...: each below "--- LINE"
    timeout $((60 * SLOW)) python3 "$TOOLS/zsh_complete.py" "$PROJECT/completions" "$@"
}

# zsh_has LINE PATTERN: of all that was asked, in the file shown.
zsh_has() {
    awk -v of="--- $1" '/^--- / { here = $0 == of } here' shown | grep -qE -- "$2" || fail "zsh does not show $2 behind '$1'"
}

@test "zsh completes commands, options and their values" {
    local command word help lines=('rlock ')
    while read -r command; do
        lines+=("rlock $command -")
    done < <(working_commands; groups_of_commands)
    for command in $(groups_of_commands); do
        lines+=("rlock $command " "rlock help $command ")
    done
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

# An rlock that knows names of locks, and notes what it was asked.
know_names() {
    rm bin/rlock
    cat >bin/rlock <<-END
	#!/bin/sh
	[ "\$1 \$2" = 'status --list-names' ] || exec "$RLOCK" "\$@"
	shift 2
	echo "\$*" >"$PWD/asked"
	printf '%s\\n' app:deploy app:migrate 'two words' x
	END
    chmod +x bin/rlock
}

@test "bash completes names of locks" {
    know_names
    assert_equal "$(bash_offers rlock run -n '')" $'app:deploy\napp:migrate\ntwo\\ words\nx'
    assert_equal "$(bash_offers rlock run -n tw)" 'two\ words'
    assert_equal "$(cat asked)" ''
    # bash parts words at their colons, and wants what is behind the last one.
    assert_equal "$(bash_offers rlock run -n app : d)" deploy
    assert_equal "$(bash_offers rlock run -n app :)" $'deploy\nmigrate'
    assert_equal "$(bash_offers rlock run -s redis : //h : 1 --tls-ca ca.pem -xn ap)" $'app:deploy\napp:migrate'
    assert_equal "$(cat asked)" '-s redis://h:1 --tls-ca ca.pem'
    assert_equal "$(bash_offers rlock doctor app : m)" migrate
    assert_equal "$(bash_offers rlock doctor -v x)" x
    assert_equal "$(bash_offers rlock latch set --count 2 x)" ''
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

@test "fish completes names of locks" {
    know_names
    assert_equal "$(fish_offers 'rlock run -n a' | cut -f 1)" $'app:deploy\napp:migrate'
    assert_equal "$(fish_offers 'rlock run -s redis://h --name tw' | cut -f 1)" 'two words'
    assert_equal "$(cat asked)" '-s redis://h'
    assert_equal "$(fish_offers 'rlock doctor app:m' | cut -f 1)" app:migrate
    assert_equal "$(fish_offers 'rlock latch set -n x --count 2 x' | cut -f 1)" ''
}

@test "where names of locks cannot be told, completions are silent" {
    printf '#!/bin/sh\n[ "$2" != --list-names ] || { echo "rlock: no server" >&2; exit 69; }\nexec %s "$@"\n' \
        "$RLOCK" >failing
    chmod +x failing
    mv -f failing bin/rlock
    source "$PROJECT/completions/rlock"
    unset -f rlock
    COMP_WORDS=(rlock run -n '')
    COMP_CWORD=3
    run -0 _rlock
    assert_output ''
    run -0 fish_offers 'rlock run -n '
    assert_output ''
    run -0 zsh_shows 'rlock run -n '
    refute_output --partial 'no server'
}
