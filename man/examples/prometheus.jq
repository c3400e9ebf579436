# prometheus.jq: the locks of `rlock status --json` as metrics in Prometheus's text format.
#
# usage: rlock status --json >locks; jq -r --argjson status $? -f prometheus.jq locks

def escaped: split("\\") | join("\\\\") | split("\"") | join("\\\"") | split("\n") | join("\\n");
def series: to_entries | map("\(.key)=\"\(.value // "" | escaped)\"") | join(",");

# One sample for each {value, LABEL...} that f makes of a lock; none for a value of null.
def metric($name; $help; f):
    [.[] | {name} + (f | select(.value != null))] | select(length > 0)
    | "# HELP rlock_\($name) \($help)", "# TYPE rlock_\($name) gauge",
      (.[] | "rlock_\($name){\(del(.value) | series)} \(.value)");

def seconds: if . == null then null else sub("\\.[0-9]+Z$"; "Z") | fromdateiso8601 end;
def first_since: map(.since | select(. != null)) | min | seconds;

"# HELP rlock_up Whether the servers answered (1) or not (0).", "# TYPE rlock_up gauge",
"rlock_up \(if $status == 0 then 1 else 0 end)",
metric("held"; "Whether the lock is held (1) or free (0)."; {value: (if .state == "held" then 1 else 0 end)}),
metric("held_since_timestamp_seconds"; "When the first of its holders took it, since 1970.";
    {value: (.holders | first_since)}),
metric("held_by"; "How many hold it there.";
    .holders | group_by([.host, .user])[] | {value: length, host: .[0].host, user: .[0].user}),
metric("waiting"; "How many wait for it."; {value: (.waiters | length)}),
metric("waiting_since_timestamp_seconds"; "When the first of its waiters came, since 1970.";
    {value: (.waiters | first_since)}),
metric("permits"; "How many permits there are in all."; {value: .permits.total}),
metric("permits_available"; "How many permits are available."; {value: .permits.available}),
metric("latch_remaining"; "How many count-downs are left."; {value: .count}),
metric("last_success_timestamp_seconds"; "When the last run with --once-per that succeeded ended, since 1970.";
    {value: (.last_run.succeeded | seconds)}),
metric("last_run_duration_seconds"; "How long the last run with --once-per took.";
    .last_run | select(. != null) | {value: (.took_ms / 1000)}),
metric("last_run_exit_status"; "The exit status of that run."; {value: .last_run.exit_status}),
metric("skips_in_a_row"; "How often in a row it was not acquired, by --max-skips."; {value: .skips}),
metric("token"; "The last fencing token that was given out."; {value: .token})
