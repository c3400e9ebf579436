/* doctor_rules.c: the checks of `rlock doctor`, as rows: what each fact means, and what to do. */
#include "report/doctor.h"

#define REFUSED(command)                                                                           \
    .fact = "refused." command, .test = KNOWN, .level = DOCTOR_UNKNOWN,                            \
    .found = "cannot tell: {refused." command "}"
#define NO_ANSWER .test = UNKNOWN, .level = DOCTOR_UNKNOWN, .found = "cannot tell: it does not say"
#define FINDING   .level = DOCTOR_FINDING
#define NOTE      .level = DOCTOR_NOTE
#define OK        .level = DOCTOR_OK
#define SLOTS_DOWN                                                                                 \
    .level = DOCTOR_FINDING, .advice = "see redis-cli --cluster check",                            \
    .found = "the cluster's state is {cluster_state}, {cluster_slots_fail} slots are down"
#define OR_WAIT  "or keep it down for longer than the longest lease before it is started again"
#define NO_CYCLE "cannot take and give back a lock: "

/* clang-format off */
const struct rule doctor_rules[] = {
    {.check = "setting", .judge = doctor_setting},
    {.check = "local", .judge = doctor_local},

    {.check = "version", .fact = "valkey_version", .test = KNOWN, OK,
     .found = "Valkey {valkey_version}"},
    {.check = "version", .fact = "probe.version", .test = BELOW, .limit = 60000, FINDING,
     .found = "Redis {redis_version} is too old",
     .advice = "use 6.0 or newer: rlock takes no lock on this one"},
    {.check = "version", .fact = "probe.version", .test = BELOW, .limit = 60006, FINDING,
     .found = "Redis {redis_version} is too old",
     .advice = "use 6.0.6 or newer: older ones lack LPOS, which waiting for a fair lock needs"},
    {.check = "version", .fact = "probe.version", .test = BELOW, .limit = 70000, NOTE,
     .found = "Redis {redis_version}",
     .advice = "use 7.0 or newer: older ones cannot tell which rights a user has, so a missing "
               "right may show only after a lock was taken; and a cluster has no sharded channels"},
    {.check = "version", .fact = "redis_version", .test = KNOWN, OK,
     .found = "Redis {redis_version}"},
    {.check = "version", REFUSED("INFO")},
    {.check = "version", .fact = "redis_version", NO_ANSWER},

    {.check = "config", .test = IS_LOCAL},
    {.check = "config", .fact = "config_file", .test = IS, .word = "", NOTE,
     .found = "no configuration file: what CONFIG SET sets is lost when the server restarts",
     .advice = "start it with a redis.conf, or with all settings on its command line"},
    {.check = "config", .fact = "config_file", .test = KNOWN, OK, .found = "{config_file}"},

    {.check = "eviction", .fact = "maxmemory_policy", .test = IS, .word = "noeviction", OK,
     .found = "noeviction"},
    {.check = "eviction", .fact = "maxmemory", .test = IS, .word = "0", NOTE,
     .found = "{maxmemory_policy}, but there is no maxmemory",
     .setting = "maxmemory-policy noeviction", .advice = "do it before someone sets a limit"},
    {.check = "eviction", .fact = "maxmemory_policy", .test = KNOWN, FINDING,
     .found = "{maxmemory_policy}: when memory is short, the server throws locks away that are "
              "held",
     .setting = "maxmemory-policy noeviction", .advice = "or give locks a server of their own"},
    {.check = "eviction", REFUSED("INFO")},
    {.check = "eviction", .fact = "maxmemory_policy", NO_ANSWER},

    {.check = "memory", .fact = "probe.memory_percent", .test = ABOVE, .limit = 89, FINDING,
     .found = "{probe.memory_percent}% of maxmemory used: a full server grants no locks",
     .advice = "raise maxmemory, or find out what fills it"},
    {.check = "memory", .fact = "probe.memory_percent", .test = KNOWN, OK,
     .found = "{probe.memory_percent}% of maxmemory used"},

    {.check = "persistence", .fact = "aof_last_write_status", .test = IS, .word = "err", FINDING,
     .when = doctor_has_aof, .found = "the append-only file can't be written: the server grants no locks",
     .advice = "see the server's log: is the disk full?"},
    {.check = "persistence", .test = ALWAYS, .when = doctor_snapshots_fail, FINDING,
     .found = "the last snapshot could not be written: the server grants no locks",
     .advice = "see the server's log: is the disk full, or memory short?"},
    {.check = "persistence", .fact = "config.appendfsync", .test = IS, .word = "no", FINDING,
     .when = doctor_has_aof, .setting = "appendfsync everysec",
     .found = "appendfsync no: a crash of the machine loses the locks of the last half minute"},
    {.check = "persistence", .fact = "config.appendfsync", .test = IS, .word = "everysec", NOTE,
     .when = doctor_may_lose_locks, .setting = "appendfsync always", .advice = OR_WAIT,
     .found = "append-only file, appendfsync everysec: a crash of the machine may lose a second of "
              "locks, and the server may then grant one twice"},
    {.check = "persistence", .fact = "config.appendfsync", .test = KNOWN, OK,
     .when = doctor_has_aof, .found = "append-only file, appendfsync {config.appendfsync}"},
    {.check = "persistence", .fact = "aof_enabled", .test = IS, .word = "1", OK,
     .found = "append-only file"},
    {.check = "persistence", REFUSED("INFO")},
    {.check = "persistence", .fact = "aof_enabled", NO_ANSWER},
    /* INFO does not say whether there are snapshots: `save ""` is none. */
    {.check = "persistence", .fact = "config.save", .test = UNKNOWN, .level = DOCTOR_UNKNOWN,
     .found = "no append-only file; cannot tell whether there are snapshots",
     .setting = "appendonly yes"},
    {.check = "persistence", .fact = "config.save", .test = IS, .word = "", FINDING,
     .found = "no append-only file and no snapshots: all locks and tokens are lost when the server "
              "restarts",
     .setting = "appendonly yes", .advice = OR_WAIT},
    {.check = "persistence", .fact = "config.save", .test = KNOWN, FINDING,
     .found = "snapshots only: the locks since the last one are lost when the server crashes",
     .setting = "appendonly yes", .advice = OR_WAIT},

    {.check = "replicas", REFUSED("INFO")},
    {.check = "replicas", .fact = "role", NO_ANSWER},
    {.check = "replicas", .judge = doctor_replicas},

    {.check = "wait", .fact = "probe.wait_denied", .test = KNOWN, .when = doctor_needs_wait, FINDING,
     .found = "no right to WAIT, which tells what a replica has: no lock can be taken: "
              "{probe.wait_denied}",
     .advice = "ACL SETUSER with +wait"},
    {.check = "wait", .fact = "probe.wait", .test = IS, .word = "no", .when = doctor_goes_without, FINDING,
     .found = "the server has no WAIT, so no replica acknowledges a lock: one that takes over may "
              "not know of it, and grant it again",
     .advice = "connect to the nodes themselves if this is a proxy, or use a server that has it; "
               "with --replicas 0 rlock does not warn each time"},
    {.check = "wait", .fact = "probe.wait", .test = IS, .word = "no", .when = doctor_needs_wait, FINDING,
     .found = "the server has no WAIT, which tells what a replica has: no lock can be taken",
     .advice = "connect to the server itself if this is a proxy, use one that has it, or give "
               "--replicas 0"},

    {.check = "sentinel", .fact = "sentinel.ckquorum", .test = IS_NOT, .word = "OK", FINDING,
     .found = "no failover is possible now: {sentinel.ckquorum}",
     .advice = "start the Sentinels that are missing"},
    {.check = "sentinel", .fact = "sentinel.others", .test = IS_NOT, .word = "OK", FINDING,
     .found = "the Sentinels may not be asked for each other, so one replica that is gone stops all "
              "locks: {sentinel.others}",
     .advice = "give their user +sentinel|sentinels, which rlock-server(7) lists"},
    {.check = "sentinel", .fact = "sentinel.missing", .test = ABOVE, .limit = 0, FINDING,
     .found = "{sentinel.missing} of {sentinel.given} Sentinels do not answer, such as "
              "{sentinel.silent}",
     .advice = "start it, or take it out of the URL"},
    {.check = "sentinel", .fact = "sentinel.known", .test = BELOW, .limit = 3, FINDING,
     .found = "fewer than three Sentinels, {sentinel.known}: when one fails, there is no majority "
              "for a failover",
     .advice = "run three, each on a machine of its own"},
    {.check = "sentinel", .fact = "sentinel.down_after_ms", .test = ABOVE, .limit = 10000, FINDING,
     .found = "down-after-milliseconds is {sentinel.down_after_ms}: a failover takes longer than a "
              "lease of 30s survives, and commands are stopped",
     .advice = "SENTINEL SET NAME down-after-milliseconds 5000, or use longer leases"},
    {.check = "sentinel", .fact = "sentinel.given", .test = BELOW, .limit = 2, NOTE,
     .found = "{sentinel.known} Sentinels, one of them in the URL: when that one is down, rlock "
              "cannot find the master",
     .advice = "name all of them in the URL"},
    {.check = "sentinel", .fact = "sentinel.answered", .test = KNOWN, OK,
     .found = "{sentinel.answered} of {sentinel.given} answer, a failover is possible"},

    {.check = "cluster", REFUSED("CLUSTER INFO")},
    {.check = "cluster", .fact = "probe.slots_missing", .test = ABOVE, .limit = 0, FINDING,
     .found = "{probe.slots_missing} of 16384 slots are served by no node: names in them have no "
              "locks",
     .advice = "assign all: redis-cli --cluster fix"},
    {.check = "cluster", .fact = "cluster_state", .test = IS_NOT, .word = "ok", SLOTS_DOWN},
    {.check = "cluster", .fact = "cluster_slots_fail", .test = ABOVE, .limit = 0, SLOTS_DOWN},
    {.check = "cluster", .fact = "cluster_size", .test = BELOW, .limit = 3, FINDING,
     .found = "fewer than three masters, {cluster_size}: when one fails, there is no majority for "
              "a failover",
     .advice = "use three masters or more"},
    {.check = "cluster", .fact = "cluster_size", .test = KNOWN, OK,
     .found = "{cluster_size} masters, all slots are served"},

    {.check = "clients", .fact = "probe.clients_percent", .test = ABOVE, .limit = 79, FINDING,
     .found = "{connected_clients} of {maxclients}: the server may turn away a holder that has to "
              "reconnect, and the lock is lost",
     .setting = "maxclients 10000",
     .advice = "or find out what keeps so many connections open; a running job has up to 3"},
    {.check = "clients", .fact = "maxclients", .test = BELOW, .limit = 200, FINDING,
     .found = "{connected_clients} of {maxclients}: a running job has up to 3 connections, so few "
              "jobs fill the server, and it may turn away a holder that has to reconnect",
     .setting = "maxclients 10000"},
    {.check = "clients", .fact = "maxclients", .test = KNOWN, OK,
     .found = "{connected_clients} of {maxclients}; a running job has up to 3 connections"},
    {.check = "clients", REFUSED("INFO")},
    {.check = "clients", REFUSED("CONFIG GET")},
    {.check = "clients", .fact = "maxclients", NO_ANSWER},

    {.check = "timeout", REFUSED("CONFIG GET")},
    {.check = "timeout", .judge = doctor_timeout},
    {.check = "lease", .judge = doctor_lease},

    {.check = "slow", .fact = "slowlog.slowest_ms", .test = ABOVE, .limit = 99, FINDING,
     .found = "{slowlog.command} took {slowlog.slowest_ms} ms within the last hour: meanwhile no "
              "lock is taken, renewed or given back",
     .advice = "see SLOWLOG GET, or give locks a server of their own"},
    {.check = "slow", .fact = "slowlog.slowest_ms", .test = KNOWN, OK,
     .found = "no slow command in the last hour"},
    {.check = "slow", REFUSED("SLOWLOG GET")},

    {.check = "tls", .judge = doctor_tls},

    {.check = "auth", .fact = "probe.open", .test = IS, .word = "no", OK,
     .found = "the server asks for a password"},
    {.check = "auth", .fact = "probe.open", .test = KNOWN, .when = doctor_is_exposed, FINDING,
     .found = "a network address without a password: anyone who can connect can take, break and "
              "delete locks",
     .setting = "requirepass PASSWORD",
     .advice = "or give it an ACL user for locks and switch the default user off; see "
               "rlock-server(7), ACCESS CONTROL"},
    {.check = "auth", .fact = "probe.open", .test = KNOWN, OK,
     .found = "no password, but only this machine can connect"},

    {.check = "scripts", .fact = "rights.refused", .test = KNOWN, FINDING,
     .found = "{rights.refused}", .advice = "allow +eval +evalsha +time; see rlock-server(7), ACCESS CONTROL"},
    {.check = "scripts", .fact = "scripts.error", .test = KNOWN, FINDING,
     .found = "{scripts.error}", .advice = "see rlock-server(7), SERVERS"},
    {.check = "scripts", .test = ALWAYS, OK, .found = "they run"},
    {.check = "rights", .judge = doctor_rights_in_short},
    {.check = "rights run", FINDING, .judge = doctor_rights},
    {.check = "rights fair", FINDING, .judge = doctor_rights},
    {.check = "rights read, write", FINDING, .judge = doctor_rights},
    {.check = "rights sem", FINDING, .judge = doctor_rights},
    {.check = "rights sem --resize", FINDING, .judge = doctor_rights},
    {.check = "rights latch set", FINDING, .judge = doctor_rights},
    {.check = "rights latch down", FINDING, .judge = doctor_rights},
    {.check = "rights latch wait", FINDING, .judge = doctor_rights},
    {.check = "rights status", NOTE, .judge = doctor_rights},
    {.check = "rights status, all", NOTE, .judge = doctor_rights},
    {.check = "rights break", NOTE, .judge = doctor_rights},

    {.check = "processes", .judge = doctor_processes},

    {.check = "clock", .fact = "probe.clock_off_ms", .test = ABOVE, .limit = 1000, NOTE,
     .found = "the server's is {probe.clock_off_ms} ms {probe.clock_side} this machine's",
     .advice = "set the clocks by NTP: locks do not depend on them, but the times in messages are "
               "the server's"},
    {.check = "clock", .fact = "probe.clock_off_ms", .test = KNOWN, OK,
     .found = "the server's is {probe.clock_off_ms} ms {probe.clock_side} this machine's"},
    {.check = "clock", REFUSED("TIME")},

    {.check = "round trip", .fact = "probe.rtt_us", .test = ABOVE, .limit = 100000, FINDING,
     .found = "{probe.rtt_us}", .advice = "use a server that is nearer, or leases of a minute or more"},
    {.check = "round trip", .fact = "probe.rtt_us", .test = KNOWN, OK, .found = "{probe.rtt_us}"},

    {.check = "lock cycle", .judge = doctor_limited},
    {.check = "lock cycle", .fact = "probe.cycle_error", .test = KNOWN, FINDING,
     .found = NO_CYCLE "{probe.cycle_error}",
     .advice = "see the findings above, or the server's log"},
    {.check = "lock cycle", .judge = doctor_cycle},
    {.check = "lock cycle", .fact = "probe.cycle_denied", .test = KNOWN, FINDING,
     .found = NO_CYCLE "{probe.cycle_denied}", .advice = "see rlock-server(7), ACCESS CONTROL"},
    {.check = "lock cycle", .fact = "probe.cycle_us", .test = ABOVE, .limit = 500000, FINDING,
     .found = "{probe.cycle_us} to take a lock and to give it back",
     .advice = "see the round trip, the disk (appendfsync) and the replicas"},
    {.check = "lock cycle", .fact = "probe.cycle_us", .test = KNOWN, OK,
     .found = "{probe.cycle_us} to take a lock and to give it back"},
    {.check = NULL},
};
/* clang-format on */
