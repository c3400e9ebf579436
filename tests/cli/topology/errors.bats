#!/usr/bin/env bats
# errors.bats: what servers other than Redis answer, and proxies before them. What will not pass is told in a
# sentence, with the setting that cures it; what rlock does not know is waited for, as all that may pass.

load ../../lib/rlock
load ../../lib/protected

setup() {
    rlock_setup
    proxy_start
}

asked() { # N [MATCH]
    (($(requests "${2:-.}") >= $1))
}

# Some that pass, as servers give them.
passing=(
    'ERR Script killed by user with SCRIPT KILL. script: 1d2ee2d5, on @user_script:1.'
    'ERR Error running script (call to f_1d2ee2d5): @user_script:3: Script killed by user with SCRIPT KILL...'
    'upstream failure'
    'ERR internal error'
    'ERR not enough memory script: 1d2ee2d5, on @user_script:1.'
    'ERR Error running script (call to f_1d2ee2d5): @user_script:3: @user_script: 3: -OOM command not allowed'
)

@test "an error that nobody knows: waited for, and said when the wait ends first" {
    local text before
    for text in "${passing[@]}"; do
        proxy refuse-request evalsha 1 1000 "$text"
        try run -q -w "$(ms 300)" -n x -- touch ran
        assert_equal "$text: $status" "$text: 69"
        assert_message
        assert_file_not_exist ran
        before=$(requests evalsha)
        start run -q -n x -- touch ran
        wait_until 10 asked $((before + 2)) evalsha
        proxy pass
        reap "$pid" 5
        assert_equal "$text: $status: $(cat err)" "$text: 0: "
        rm ran
        assert_no_keys
    done
}

@test "an error that nobody knows while it runs: renewed when it is over" {
    local before
    protected -l "$(ms 2100)"
    before=$(requests "$(sha renew)")
    proxy refuse-request "$(sha renew)" 1 1000 upstream failure
    wait_until 3 asked $((before + 2)) "$(sha renew)"
    proxy pass
    assert_kept 2400
    assert_no_keys
}

# The script may have come as far as to take it.
@test "an error that nobody knows in answer to what was carried out: nothing is left" {
    proxy lose-reply evalsha 1
    proxy refuse-request evalsha 2 1 ERR internal error
    try run -q -x -n x -- touch ran
    proxy pass
    wait_until 3 eval '[[ $(redis EXISTS x) == 0 ]]'
}

@test "a token that has no next one: 69, and no wait for it" {
    local token
    for token in 9223372036854775807 9223372036854775808 none; do
        redis SET 'redisson_lock_token:{x}' "$token"
        took 0 3000 rlock run -q -w 9s -n x -- touch ran
        assert_equal "$token: $status" "$token: 69"
        assert_message
        assert_file_not_exist ran
        assert_equal "$(redis EXISTS x)" 0
    done
}

# Which says nothing of what was done before it was met.
@test "what a script met on its way: what it had taken by then is given back" {
    redis SET 'rlock_waiters:{x}' odd
    try write -q -x -n x -- touch ran
    assert_failure 65
    assert_message
    assert_file_not_exist ran
    assert_equal "$(redis EXISTS x)" 0
}

# answered TEXT WORD...: 69 at once, however long the wait, in a sentence that has the words.
answered() {
    local text=$1
    shift
    proxy pass
    proxy refuse-request eval 1 1000 "$text"
    took 0 3000 rlock run -q -n x -- touch ran
    assert_equal "$text: $status" "$text: 69"
    assert_message
    assert_stderr_has "$RLOCK_SERVER" "$@"
    assert_file_not_exist ran
    [[ $text == *user_script* ]] || refute_regex "$stderr" 'may stay held' # nothing was carried out
}

@test "what will not pass: 69, and what to do" {
    answered "ERR unknown command 'EVALSHA', with args beginning with: 'a'" EVAL scripts
    answered 'ERR unknown command `EVALSHA`, with args beginning with: `a`' EVAL scripts
    answered "ERR command evalsha not support for normal user" EVAL scripts
    answered "ERR bad lua script for redis cluster, all the keys that the script uses should be passed using the KEYS array" \
        script_check_enable
    answered "ERR for redis cluster, eval/evalsha number of keys can't be negative or zero" script_check_enable
    answered 'ERR Error running script (call to 5c4d62f4): @user_script:2: script tried accessing undeclared key, key: k' \
        allow-undeclared-keys
    answered 'ERR Script attempted to access keys that do not hash to the same slot script: 5c4d62f4, on @user_script:2.' \
        declared
    answered "ERR Unknown Redis command called from script script: 5c4d62f4, on @user_script:2." command
    answered "ERR user_script:2: attempt to call global 'unpack' (a nil value) script: 5c4d62f4, on @user_script:2." unpack
}

@test "a server that does not let us in has nothing of ours: no word of what may stay held" {
    local kind
    proxy refuse-request auth 1 1000 "ERR unknown command 'AUTH', with args beginning with: "
    for kind in run read 'sem --permits 1'; do
        # shellcheck disable=SC2086
        RLOCK_PASSWORD=secret try $kind -x -n x -- touch ran
        assert_equal "$kind: $status" "$kind: 69"
        assert_message
        assert_stderr_has AUTH
        refute_regex "$stderr" 'may stay held'
        assert_file_not_exist ran
    done
}

@test "a key of another node: waited for, for a slot may be on its way; and said" {
    proxy refuse-request eval 1 1000 'ERR Script attempted to access a non local key in a cluster node script: 5c4d, on @user_script:2.'
    try run -q -w "$(ms 300)" -n x -- touch ran
    assert_failure 69
    assert_stderr_has declared 'slot'
}

# Redis 6 tells the error of a command that a script has called in another form.
@test "Redis 6: what a script meets means what it means elsewhere" {
    local said='ERR Error running script (call to f_5c4d62f4): @user_script:20:'
    proxy refuse-request eval 1 1000 "$said WRONGTYPE Operation against a key holding the wrong kind of value"
    try run -q -n x -- touch ran
    assert_failure 65
    proxy pass
    proxy refuse-request eval 1 1000 "$said @user_script: 20: The user executing the script can't run this command or subcommand"
    try run -q -n x -- touch ran
    assert_failure 77
    proxy pass
    proxy refuse-request eval 1 1000 "$said @user_script: 20: -READONLY You can't write against a read only replica."
    try run -q -w "$(ms 300)" -n x -- touch ran
    assert_failure 69
    assert_stderr_has "READONLY You can't"
    refute_regex "$stderr" user_script
}
