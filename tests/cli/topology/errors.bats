#!/usr/bin/env bats
# errors.bats: what servers other than Redis answer, and proxies before them. What will not pass is told in a
# sentence, with the setting that cures it; what rlock does not know is waited for, as all that may pass.

load ../../lib/rlock

setup() {
    rlock_setup
    proxy_start
}

@test "an error that nobody knows: waited for, and said when the wait ends first" {
    local before
    proxy refuse-request evalsha 1 1000 upstream failure
    ends_saying 69 'upstream failure' -- run -q -w "$(ms 300)" -n x -- touch ran
    before=$(requests evalsha)
    start run -q -n x -- true
    wait_until 10 eval '(($(requests evalsha) >= before + 2))'
    proxy pass
    reap "$pid" 5
    assert_equal "$status: $(cat err)" "0: "
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
        refuses 0 3000 69 x -- run -q -w 9s -n x -- touch ran
        assert_equal "$(redis EXISTS x)" 0
    done
}

# Which says nothing of what was done before it was met.
@test "what a script met on its way: what it had taken by then is given back" {
    redis SET 'rlock_waiters:{x}' odd
    ends_saying 65 x -- write -q -x -n x -- touch ran
    assert_equal "$(redis EXISTS x)" 0
}

# Which texts these are: unit/redis/test_reply_error.c.
@test "what will not pass: 69 at once, however long the wait, and what to do" {
    local word text
    while IFS='|' read -r word text; do
        proxy pass
        proxy refuse-request eval 1 1000 "$text"
        refuses 0 3000 69 "$RLOCK_SERVER" "$word" -- run -q -n x -- touch ran
        [[ $text == *user_script* ]] || refute_regex "$stderr" 'may stay held' # nothing was carried out
    done <<'END'
sentinel[s]://|ERR unknown command 'EVALSHA', with args beginning with: 'a'
scripts|ERR command evalsha not support for normal user
script_check_enable|ERR bad lua script for redis cluster, all the keys that the script uses should be passed using the KEYS array
script_check_enable|ERR for redis cluster, eval/evalsha number of keys can't be negative or zero
allow-undeclared-keys|ERR Error running script (call to 5c4d62f4): @user_script:2: script tried accessing undeclared key, key: k
declared|ERR Script attempted to access keys that do not hash to the same slot script: 5c4d62f4, on @user_script:2.
renamed or disabled|ERR Unknown Redis command called from script script: 5c4d62f4, on @user_script:2.
unpack|ERR user_script:2: attempt to call global 'unpack' (a nil value) script: 5c4d62f4, on @user_script:2.
END
}
