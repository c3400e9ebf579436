# mixed.bash: see mixed.py.
#
# environment: RLOCK_TEST_SEED   what a failed test printed: the same load and faults again
# shellcheck shell=bash

some=$((60 / SLOW)) # sections that a slow machine, too, will do
mixed_on=main       # the server that is looked at

# What stands there when somebody has not ended.
show_state() {
    redis_on "$mixed_on" TIME | tr '\n' ' '
    redis_on "$mixed_on" GET x
    redis_on "$mixed_on" HGETALL x
    redis_on "$mixed_on" ZRANGE '{x}:timeout' 0 -1 WITHSCORES
    redis_on "$mixed_on" LRANGE 'redisson_lock_queue:{x}' 0 -1
    redis_on "$mixed_on" ZRANGE 'redisson_lock_timeout:{x}' 0 -1 WITHSCORES
}

# mixed KIND [OPTION...]: a dead service's locks are free after two seconds. A late answer would leave Redisson
# with a hold too many (mutex.bats): on a busy machine it has time.
mixed() {
    local seed=${RLOCK_TEST_SEED:-$RANDOM}
    echo "seed $seed"
    python3 "$TESTS/interop/mixed.py" "$@" --rlock "$RLOCK" --section "$SECTION" --seed "$seed" \
        --socket "$BATS_FILE_TMPDIR/$mixed_on/sock" --seconds 4 --lease $((1000 * SLOW)) \
        --settle $((15000 * SLOW)) --java "$(java_command "watchdog=$((2000 * SLOW))" timeout=30000)" ||
        { show_state; tail -n 40 rlock.err | cut -c 1-150; return 1; }
    wait_until 8 none_marked "TEST_MARK=$TEST_MARK"
}

judge() { # OPTION OF check_history.py...
    check_history --beat-dir beats --min-sections "$some" "$@"
    for world in '' :; do
        echo "sections of ${world:-rlock}: $(grep -c "exit=- owner=[^@ ]*${world:-@}" history)"
    done
}
