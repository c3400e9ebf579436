#!/usr/bin/env bats
# crowd.bats: status, break and completion beside much that there is to see: nobody else waits for them.

load ../../lib/rlock

# fill CODE: runs Lua on the server. owner(i), known(i): an owner and what is known of it; ends, now: epoch ms.
fill() {
    redis EVAL "
        local now = redis.call('TIME')[1] * 1000
        local ends, long = string.format('%d', now + 3600000), string.rep('c', 300)
        local function owner(i) return string.format('%08x-2222-4333-8444-555555555555:%d@host', i, i) end
        local function known(i)
            return ('{\"token\":%d,\"host\":\"host\",\"pid\":%d,\"user\":\"u\",\"command\":\"%s\",\"permits\":1,\"since\":%d}')
                :format(i, i, long, now)
        end
        $1" 0 >/dev/null
}

# So many hold x for reading, and as many wait to.
fill_readers() { # NUMBER
    fill "redis.call('HSET', 'x', 'mode', 'read')
        for i = 1, $1 do
            redis.call('HSET', 'x', owner(i), 1)
            redis.call('HSET', 'rlock_info:{x}', owner(i), known(i))
            redis.call('ZADD', 'rlock_leases:{x}', ends, owner(i) .. string.format(' %032x', i))
            redis.call('ZADD', 'rlock_waiters:{x}', now * 1000 + i, owner(100000 + i))
        end"
}

# So many hold 10,000 permits of x each, or as many as that.
fill_permits() { # HOLDERS [PERMITS]
    fill "for h = 1, $1 do
            local id = string.format('%08x%08x%08x%08x', h, h, h, h + 1000000)
            redis.call('HSET', 'rlock_hold:{x}', id, h .. ' ' .. owner(h), owner(h), h .. ' ' .. id .. ' ${2:-10000}')
            redis.call('HSET', 'rlock_info:{x}', owner(h), known(h))
            for i = 1, ${2:-10000} do
                redis.call('ZADD', '{x}:timeout', ends, struct.pack('>I4I4I4I4', h, h, h, i == 1 and h + 1000000 or i))
            end
        end
        redis.call('SET', 'x', 7) redis.call('SET', 'redisson_lock_token:{x}', 100)"
}

# pages: how long each script took, in us, in their order.
pages() {
    redis EVAL "local times = {}
        for _, entry in ipairs(redis.call('SLOWLOG', 'GET', 10000)) do
            if string.lower(entry[4][1]) == 'evalsha' then table.insert(times, 1, entry[3]) end
        end
        return table.concat(times, ' ')" 0
}

# short US COMMAND ARG...: rlock ARG... after that command; no script takes so long, in the quickest of some times: on a
# machine that has much else to do some are held up. Sets output.
short() {
    local slowest
    redis CONFIG SET slowlog-log-slower-than 0 slowlog-max-len 10000 >/dev/null
    rm -f durations
    for _ in {1..5}; do
        eval "$2" >/dev/null
        redis CONFIG RESETSTAT >/dev/null
        redis SLOWLOG RESET >/dev/null
        run timeout $((20 * SLOW)) "$RLOCK" "${@:3}"
        assert_success
        pages >>durations
        slowest=$(awk '{ for (i = 1; i <= NF; i++) if (!(i in least) || $i < least[i]) least[i] = $i }
            END { for (i in least) most = least[i] > most ? least[i] : most; print most + 0 }' durations)
        ((slowest == 0 || slowest >= $1 * ${SLOW:?})) || return 0
    done
    fail "a script took $slowest us: $(<durations)"
}

# shows CODE EXPECTED [NAME]: so prints the code, in python, of what status shows by scripts of less than 2 ms: v, the array,
# and x, its first.
shows() {
    short 2000 : status --json "${@:3}"
    assert_equal "$(python3 -c "import json, sys
v = json.load(sys.stdin)
x = v[0]
$1" <<<"$output")" "$2"
}

@test "20,000 readers, and as many who wait: each is shown once, and no script is long" {
    fill_readers 20000
    shows 'owners = {h["owner"] for h in x["holders"]}
places = [w["position"] for w in x["waiters"]]
print(len(x["holders"]), len(owners), len(places), places == sorted(set(places)), x["kind"], x["holders"][0]["pid"] in range(1, 20001))' \
        '20000 20000 20000 True read True' x
}

# Whatever COUNT says, HSCAN returns a small hash whole.
@test "500 readers or 250 holders of permits in a small hash: each is shown once, and no script is long" {
    redis CONFIG SET hash-max-ziplist-entries 512 hash-max-ziplist-value 128 >/dev/null # or of listpacks
    fill_readers 500
    [[ $(redis OBJECT ENCODING x) == *list || $(redis OBJECT ENCODING x) == *pack ]] || fail 'not small'
    shows 'print(len(x["holders"]), len({h["owner"] for h in x["holders"]}))' '500 500' x
    redis FLUSHALL >/dev/null
    fill_permits 250 1
    [[ $(redis OBJECT ENCODING 'rlock_hold:{x}') == *[tk] ]] || fail 'not small'
    shows 'print(len(x["holders"]), x["permits"]["total"])' '250 257' x
}

@test "20 hold 10,000 permits each; one is Redisson's, and stands nowhere else: all are counted, and no script is long" {
    fill_permits 20
    shows 'print(x["permits"], {h["permits"] for h in x["holders"]}, len(x["holders"]))' \
        "{'total': 200007, 'available': 7} {10000} 20" x
    echo 'io-timeout = 1m' >"$RLOCK_CONFIG" # for a sanitizer, to which 200,000 permits are many
    fill "redis.call('ZADD', '{x}:timeout', ends, string.rep('p', 16))"
    shows 'print(sorted((h["permits"], h["owner"][:3]) for h in x["holders"])[:2])' "[(1, '707'), (10000, '000')]" x
}

fill_holds() {
    fill "redis.call('HSET', 'x', 'mode', 'read')
        for i = 1, 2 do
            redis.call('HSET', 'x', owner(i), 2500)
            for k = 1, 2500 do redis.call('SET', '{x}:' .. owner(i) .. ':rwlock_timeout:' .. k, 1, 'PX', 60000) end
        end
        redis.call('PEXPIRE', 'x', 60000)"
}

fill_foreign_permits() {
    fill "redis.call('SET', 'x', 0)
        for i = 1, 1000 do redis.call('ZADD', '{x}:timeout', ends, string.format('%016d', i)) end"
}

@test "break: readers, holds of a reader's and permits are taken away a few at a time, and all come back" {
    local us crowd left count
    while IFS=, read -r us crowd left; do
        short "$us" "redis FLUSHALL; $crowd" break --force -w 0 x
        assert_output --partial 'broke x'
        count=$(($(redis INFO commandstats | sed -n 's/^cmdstat_[^:]*:calls=\([0-9]*\).*/\1/p' | paste -sd +)))
        ((count <= $(calls evalsha) * 40)) || fail "$crowd: $count commands in $(calls evalsha) scripts"
        assert_equal "$crowd: $(redis GET x) $(redis EXISTS '{x}:timeout' 'rlock_hold:{x}')" "$crowd: $left 0"
    done <<'END'
2000,fill_readers 1000,
16000,fill_holds,
2000,fill_permits 2,20007
2000,fill_foreign_permits,1000
END
}

# far MS: the server answers so much later from here on. patient: options by which it has ten times 50 ms for an answer.
far() {
    proxy_start
    proxy lag "$1"
}
patient() { echo --connect-timeout "$(ms 250)" --io-timeout "$(ms 250)"; }

# asks MOST STATUS COMMAND...: it sends something and waits for answers less often than that, until it ends so.
asks() {
    local times
    : >proxy.log
    run -"$2" --separate-stderr rlock "${@:3}"
    times=$(grep -c '^lagged' proxy.log)
    ((times > 0 && times < $1)) || fail "$times times"
}

@test "status over a slow line: the time-outs are for each page; a server that falls silent is not waited for longer" {
    fill_readers 300
    far 50
    # shellcheck disable=SC2046
    try status --json $(patient) x
    assert_success
    assert_equal "$(grep -o '"ttl_ms"' <<<"$output" | wc -l) $(grep -o '"position"' <<<"$output" | wc -l)" '300 300'
    proxy mute-request "$(sha1sum <"$SCRIPTS/inspect.lua" | cut -d " " -f 1)" 5 1000000
    # shellcheck disable=SC2046
    within $((1500 * SLOW)) try status $(patient) x
    assert_failure 69
}

@test "whether it is held, by a crowd, behind a crowd that waits, is asked in a few round trips" {
    local held
    fill_readers 5000
    far 100
    for held in 75 0; do
        asks 5 "$held" status -q x
        asks $((held == 75 ? 9 : 5)) "$held" wait -w 1s x # it listens, and looks once more
        redis DEL x 'rlock_leases:{x}' >/dev/null
    done
}

@test "break over a slow line: the time-outs are for each answer, and not for all holders" {
    local crowd count
    far 50
    while IFS=, read -r crowd count; do
        redis FLUSHALL >/dev/null
        $crowd
        # shellcheck disable=SC2046
        try break --force -w 0 $(patient) x
        assert_success
        assert_equal "$crowd: $(grep -c '^rlock: broke x: it was held by' <<<"$stderr")" "$crowd: $count"
        assert_equal "$(redis EXISTS x 'rlock_hold:{x}') $(redis GET x)" "$([[ $crowd == *permits* ]] && echo '1 157' || echo '0 ')"
    done <<'END'
fill_readers 300,300
fill_permits 150 1,150
END
}

@test "break: the server falls silent after 200 of 300 readers: those are named, and the status is 69" {
    fill_readers 300
    proxy_start
    proxy mute-request "$(sha break rw)" 201 1000000
    # shellcheck disable=SC2046
    within $((2500 * SLOW)) try break --force -w 0 $(patient) x
    assert_failure 69
    assert_equal "$(redis HLEN x)" 101 # and the mode
    assert_equal "$(grep -c '^rlock: broke x: it was held by' <<<"$stderr")" 200
    assert_stderr_has "cannot break x on $RLOCK_SERVER: no answer in time; whoever is not named may still hold it"
    [[ $stderr != *'waited for it'* ]]
}

fill_long() {
    fill "redis.call('HSET', 'x', owner(1), 1) redis.call('PEXPIRE', 'x', 600000)
        redis.call('HSET', 'rlock_info:{x}', owner(1), (string.gsub(known(1), 'ccc', string.rep('c', 1100000), 1)))
        redis.call('HSET', 'y', owner(2), 1) redis.call('PEXPIRE', 'y', 600000)
        redis.call('HSET', 'rlock_info:{y}', owner(2), (string.gsub(known(2), 'ccc', string.rep('c', 9000), 1)))"
}

@test "a holder whose command is 1 MiB: it is shown, as are the others, and can be broken" {
    fill_long
    shows 'for v in sorted(v, key=lambda v: v["name"]):
    h, = v["holders"]
    print(v["name"], v["state"], h["pid"], h["host"], len(h["command"] or ""))' \
        "x held 1 host 0"$'\n'"y held 2 host 4096"
    short 2000 fill_long break --force -w 0 x
    assert_equal "$(redis EXISTS x)" 0
}

@test "status and wait ask for a hundred names at once, and status for 10,000 locks a hundred times" {
    local names
    fill "for i = 1, 10000 do
            redis.call('HSET', 'lock' .. i, owner(i), 1) redis.call('PEXPIRE', 'lock' .. i, 600000)
        end"
    proxy_start
    proxy lag 1
    mapfile -t names < <(seq -f 'n%g' 100)
    asks 20 0 status --json "${names[@]}"
    asks 20 0 wait "${names[@]}"
    asks 400 0 status --json
    assert_equal "$(grep -o '"name"' <<<"$output" | wc -l)" 10000
    RLOCK_SERVER=$(server_url main) short 2000 : status --json
}

# What a client sends at once the server carries out before it hears anybody else.
@test "of many names with crowds few pages are asked for at once" {
    fill "for n = 1, 20 do
            local name = 'x' .. n
            redis.call('HSET', name, 'mode', 'read')
            for i = 1, 120 do
                redis.call('HSET', name, owner(i), 1)
                redis.call('HSET', 'rlock_info:{' .. name .. '}', owner(i), known(i))
                redis.call('ZADD', 'rlock_leases:{' .. name .. '}', ends, owner(i) .. string.format(' %032x', i))
            end
        end"
    proxy_start
    proxy lag 1
    run -0 rlock status --json
    assert_equal "$(jq 'length as $n | [.[].holders | length] | add / $n' <<<"$output")" 120
    (($(grep -c '^lagged' proxy.log) >= 20)) || fail "$(grep -c '^lagged' proxy.log) pieces"
}
