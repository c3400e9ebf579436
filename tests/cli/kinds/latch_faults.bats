#!/usr/bin/env bats
# latch_faults.bats: lost replies never count down twice, and the server goes away. While one waits: waits.bats.

load ../../lib/rlock
load ../../lib/messages
load ../../lib/latch

setup() {
    rlock_setup
    io=$(ms 200)
    proxy_start
}

# --- lost replies ----------------------------------------------------------------------------------------

@test "a request to set it or to count it down is lost, or the reply: done once, told once" {
    local fault before nth words after told
    for fault in lose-reply mute-reply lose-request mute-request; do
        : >proxy.log
        while IFS='|' read -r before nth words after told; do
            redis FLUSHALL
            [[ -z $before ]] || redis SET x "$before"
            listen "$latch_channel"
            # shellcheck disable=SC2086
            proxy "$fault" "$(sha ${words%% *} latch)" "$nth"
            # shellcheck disable=SC2086
            try latch ${words/ / --io-timeout $io -n x }
            assert_equal "$fault, $words: $status $stderr" "$fault, $words: 0 "
            assert_equal "$fault, $words: $(redis GET x) $(heard "$latch_channel")" "$fault, $words: $after $told"
            assert_tombstones_end
            proxy pass
        done <<'END'
|1|set --count 3|3|1
9|1|down |8|
9|2|down -- true|8|
1|1|down ||0
END
        assert_bitten "lost-${fault#*-}" 4
    done
}

# --- the server is away ----------------------------------------------------------------------------------

@test "down -- CMD: the server is away at the count: tried again until --connect-timeout, then 69 or CMD's own status" {
    local expected own options back
    while read -r expected own back options; do
        redis SET x 3
        rm -f ready let-go
        # shellcheck disable=SC2086
        start latch down -n x $options -c "echo >ready; until [ -e let-go ]; do sleep 0.01; done; exit $own"
        wait_until 5 test -s ready
        proxy refuse
        : >let-go
        if [[ $back == back ]]; then
            sleep 0.3 # it is trying
            proxy pass
        fi
        reap "$pid" 6
        assert_equal "$options: $status:$(redis GET x)" "$options: $expected"
        stderr=$(<err)
        [[ $back == back ]] || { assert_message && assert_stderr_has x; }
        proxy pass
    done <<END
69:3 0 away --connect-timeout $io --io-timeout $io
5:3 5 away --always --connect-timeout $io --io-timeout $io
0:2 0 back --connect-timeout $(ms 5000)
END
}
