#!/usr/bin/env bats
# examples.bats: what man/examples has for servers, machines and dashboards is accepted by what it is for, and
# says what the manual says; and so is what documents say of how long a server may be away (that such a restart is
# survived, promise/lease tries).

load ../lib/rlock
load ../lib/ports
load ../lib/doctor
load ../lib/recipes

examples=$PROJECT/man/examples

# The example's server, but for where it listens and keeps its files; in port.
example_server() {
    local place=$BATS_TEST_TMPDIR/server
    mkdir -p "$place"
    port=$(free_ports 1)
    cp "$examples/server/users.acl" "$place"
    sed "s|/etc/redis/|$place/|; s|^port .*|port $port|; s|^bind .*|bind 127.0.0.1|; s|^dir .*|dir $place|
        s|^pidfile .*|pidfile $place/pid|; s|^logfile .*|logfile $place/log|" "$examples/server/redis.conf" >"$place/redis.conf"
    redis-server "$place/redis.conf" </dev/null >/dev/null 2>&1 3>&- 4>&- &
    server=$!
    helper_pids+=("$server")
    wait_until 10 grep -q 'Ready to accept' "$place/log"
}

as() { # USER
    export RLOCK_SERVER=redis://$1@127.0.0.1:$port RLOCK_PASSWORD
    RLOCK_PASSWORD=$(sed -n "s/^user $1 .* >\([^ ]*\) .*/\1/p" "$examples/server/users.acl")
}

@test "redis.conf: a server that doctor has nothing to find fault with, by the rights in users.acl" {
    example_server
    as doctor
    assert_healthy
    assert_says ok persistence 'appendfsync always'
    assert_says ok eviction noeviction
    assert_says ok config redis.conf
    assert_says ok rights 'all that'
    as rlock
    assert_healthy
    assert_says ok rights 'all that'
    as app
    assert_healthy app
    assert_says ok rights 'all that'
    try run -n other -- true
    assert_failure 77
    RLOCK_SERVER=redis://127.0.0.1:$port RLOCK_PASSWORD='' try run -n app -- true
    assert_failure 77
    kill "$server"
    reap "$server"
}

@test "users.acl: app's rights are those of rlock-server(7), and the others have these commands, too" {
    local user
    assert_equal "$(sed -n 's/^user app reset on >[^ ]* //p' "$examples/server/users.acl")" \
        "$(python3 "$TOOLS/rights.py" rules "$PROJECT/man/rlock-server.7" all | paste -sd ' ')"
    for user in rlock doctor; do
        sed -n "s/^user $user reset on >[^ ]* ~\* &\* //p" "$examples/server/users.acl"
    done >others
    assert_equal "$(sed 's/ +info .*//' others | uniq)" \
        "$(python3 "$TOOLS/rights.py" rules "$PROJECT/man/rlock-server.7" all | grep '^+' | paste -sd ' ')"
}

# As it stands, and with each line that is off turned on, alone; nobody listens on port 1.
@test "rlock.conf: each line is right, and the defaults are the program's" {
    local line key host
    RLOCK_CONFIG=$examples/rlock.conf try run -n x -- true
    assert_success
    grep '^#[a-z-]* = ' "$examples/rlock.conf" >off
    while read -r line; do
        key=${line%% =*}
        sed 's|^#||; s| = /.*| = /dev/null|' <<<"$line" >one.conf
        for host in 1 2 3; do sed -i "s|[a-z0-9]*\.example[.a-z]*|127.0.0.$host:1|" one.conf; done
        case $line in
        '#tls'* | '#password'*) ;;
        *.example*) (unset RLOCK_SERVER && RLOCK_CONFIG=one.conf ends_saying 69 127.0.0.1:1 -- run -x -n x -- true) ;;
        *) RLOCK_CONFIG=one.conf try run -n x -- true && assert_success || fail "$line" ;;
        esac
        grep -q "^\.It Cm ${key#?} Li = " "$PROJECT/man/rlock.conf.5" || fail "rlock.conf(5) lacks $key"
    done <off
    for line in 'lease = 30s' 'kill-after = 5s' 'wait = forever' 'connect-timeout = 5s' 'io-timeout = 5s' \
        'conflict-exit-code = 75' 'log = text' 'timeout = 0'; do
        grep -qx "#$line" off || fail "rlock.conf lacks $line"
        sed -n "/^\.It Cm ${line%% =*} Li = /,/^\.It/p" "$PROJECT/man/rlock.conf.5" | tail -n +2 |
            grep -qw -- "${line##* }" || fail "rlock.conf(5): the default is not $line"
    done
}

@test "grafana-dashboard.json: panels of Grafana's form, of metrics that prometheus.jq makes" {
    run python3 - "$examples/grafana-dashboard.json" <<-'END'
	import json, re, sys
	dashboard = json.load(open(sys.argv[1], encoding="utf-8"))
	assert dashboard["title"] and dashboard["schemaVersion"] >= 36 and "id" not in dashboard
	variables = {variable["name"] for variable in dashboard["templating"]["list"]}
	asked = [variable["query"]["query"] for variable in dashboard["templating"]["list"] if variable["type"] == "query"]
	for panel in dashboard["panels"]:
	    assert panel["type"] in {"stat", "table", "bargauge", "timeseries"} and panel["title"] and panel["description"], panel
	    assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}, panel
	    asked += [target["expr"] for target in panel["targets"]]
	for expression in asked:
	    assert set(re.findall(r"\$(\w+)", expression)) <= variables, expression
	    for opening, closing in ("()", "{}", "[]"):
	        assert expression.count(opening) == expression.count(closing), expression
	    print("\n".join(re.findall(r"\brlock_\w+", expression)))
	END
    assert_success
    ((${#lines[@]} > 10))
    for metric in "${lines[@]}"; do
        is_metric "$metric" || fail "no metric $metric"
    done
}

# --- how long a server may be away -----------------------------------------------------------------

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
