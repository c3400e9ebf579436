#!/usr/bin/env bats
# github_action.bats: the GitHub Action of man/examples holds its lock from its step to the end of the job. The
# runner's part is played here: INPUT_*, STATE_*, and the files that GITHUB_STATE, _ENV and _OUTPUT name.

load ../../lib/rlock

action=$PROJECT/man/examples/github-action

setup() {
    rlock_setup
    command -v node >/dev/null || skip "needs node"
    export INPUT_NAME=deploy INPUT_KIND=fair INPUT_WAIT=30m INPUT_LEASE=1h INPUT_NOTE='' INPUT_SERVER='' INPUT_PASSWORD='' \
        INPUT_PROGRAM=$RLOCK GITHUB_STATE=$PWD/state GITHUB_ENV=$PWD/exported GITHUB_OUTPUT=$PWD/output
    touch state exported output
}

main_step() { # [STATUS]
    run "-${1-0}" --separate-stderr timeout $((60 * SLOW)) node "$action/main.js"
}

# With what the main step left, as the runner passes it on.
post_step() { # [STATUS]
    local line
    while read -r line; do
        export "STATE_${line%%=*}=${line#*=}"
    done <state
    run "-${1-0}" --separate-stderr timeout $((60 * SLOW)) node "$action/post.js"
}

@test "the main step takes the lock, the steps see handle and token, the post step, always run, gives it back" {
    main_step
    local handle
    handle=$(sed -n 's/^RLOCK_HANDLE=//p' exported)
    [[ $handle == rlock1.* ]]
    assert_line --index 0 "::add-mask::$handle"
    assert_equal "${#lines[@]}" 1
    assert_equal "$(cat state)" "handle=$handle"
    assert_equal "$(cat output)" "handle=$handle"$'\n'"token=$(redis GET 'redisson_lock_token:{deploy}')"
    grep -qx "RLOCK_TOKEN=$(redis GET 'redisson_lock_token:{deploy}')" exported
    (($(redis PTTL deploy) > 3500000))
    run -0 "$RLOCK" check "$handle"
    post_step
    assert_output ''
    assert_no_keys
    grep -qx '  post-if: always()' "$action/action.yml"
}

@test "several names, a note, a kind, a server of its own" {
    export INPUT_NAME=$'one\n two \n' INPUT_KIND=write INPUT_NOTE='the release' INPUT_SERVER=$RLOCK_SERVER RLOCK_SERVER=
    main_step
    assert_equal "$(redis HGET one mode) $(redis HGET two mode)" 'write write'
    RLOCK_SERVER=$INPUT_SERVER run -0 "$RLOCK" status --json one
    assert_output --partial 'the release'
    post_step
    assert_no_keys
}

@test "the lock cannot be had: the step fails and says so, and the post step does nothing" {
    hold deploy
    export INPUT_WAIT=100ms
    main_step 75
    assert_line '::error::no lock: rlock exited with status 75'
    [[ $stderr == *'rlock: cannot take deploy: held by'* ]]
    assert_equal "$(cat state exported output)" ''
    post_step
    assert_output ''
    let_go deploy
}

@test "cancelled while it waits: nothing is held, and no place in the queue remains" {
    local signal
    hold deploy
    for signal in INT TERM; do
        env --default-signal=INT,QUIT node "$action/main.js" >cancelled 2>&1 </dev/null 3>&- 4>&- &
        pid=$!
        wait_until 10 grep -q 'waiting' cancelled
        kill -s "$signal" "$pid"
        reap "$pid" 5
        assert_equal "$status" $((128 + $(kill -l "$signal")))
        assert_equal "$(cat state)" ''
        [[ $(redis EXISTS 'redisson_lock_queue:{deploy}') == 0 ]]
    done
    let_go deploy
    reap "$holder"
    assert_no_keys
}

@test "the lock was lost before the job ended: the job fails" {
    main_step
    redis FLUSHALL
    post_step 1
    assert_line --partial '::error::the lock was not held any more'
}

@test "without rlock on the runner, it says so" {
    export INPUT_PROGRAM=$PWD/none
    main_step 127
    assert_line --partial '::error::cannot run rlock'
}

@test "action.yml names each input that is read, and no other, and these files" {
    python3 - "$action" <<-'END'
	import pathlib, re, sys, yaml
	folder = pathlib.Path(sys.argv[1])
	action = yaml.safe_load((folder / "action.yml").read_text(encoding="utf-8"))
	read = {word for file in folder.glob("*.js") for word in re.findall(r"input\('([a-z]*)'\)", file.read_text(encoding="utf-8"))}
	assert read == {*action["inputs"]}, read
	assert action["runs"]["using"] == "node20" and all((folder / action["runs"][when]).is_file() for when in ("main", "post"))
	assert all("description" in item for item in (*action["inputs"].values(), *action["outputs"].values()))
	END
}
