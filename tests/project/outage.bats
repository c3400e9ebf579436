#!/usr/bin/env bats
# outage.bats: how long a server may be away. The manual's figures are the program's, README's are the
# manual's. That such a restart is survived, promise/lease tries.

load ../lib/rlock

# LEASE SECONDS of each row of rlock(7).
manual_rows() {
    sed -n '/^\.\\" outage/,/^\.\\" end/s/^\.It \([0-9a-z]*\) Ta \([0-9]*\) s.*/\1 \2/p' "$PROJECT/man/rlock.7"
}

# survived LEASE...: the same, as rlock doctor has it.
survived() {
    local lease
    for lease; do
        echo "lease = $lease" >"$RLOCK_CONFIG"
        rlock doctor | sed -nE "s/^(ok|note) +lease +($lease): holders survive an outage of ([0-9]+) s.*/\2 \3/p"
    done
}

@test "the figures in rlock(7) are the program's" {
    local -a leases
    mapfile -t leases < <(manual_rows | cut -d ' ' -f 1)
    ((${#leases[@]} > 4))
    assert_equal "$(manual_rows)" "$(survived "${leases[@]}")"
}

@test "README and rlock-server(7) say the same of the default lease, and of ten minutes" {
    local default ten
    default=$(manual_rows | sed -n 's/^30s //p')
    ten=$(($(manual_rows | sed -n 's/^10m //p') / 60))
    tr '\n' ' ' <"$PROJECT/README.md" | grep -q "lease of 30 seconds, the server may be away for $default seconds"
    tr '\n' ' ' <"$PROJECT/README.md" | grep -q "\`-l 10m\` for $ten minutes"
    tr '\n' ' ' <"$PROJECT/man/rlock-server.7" | grep -q "survives: $default seconds with the default of 30"
    assert_equal "$ten" 6
    tr '\n' ' ' <"$PROJECT/man/rlock-server.7" | grep -q 'survive an outage of six minutes'
}
