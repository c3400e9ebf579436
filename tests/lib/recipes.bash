# recipes.bash: runs the recipes of rlock-cookbook(7), as what they are for would: in the directory sandbox,
# with the programs of bin.
#
# recipe_KIND TEXT WHERE [WORD]
# shellcheck shell=bash

# ran WHERE COMMAND...: by bats' run, in the sandbox; it must succeed.
ran() {
    run env -C sandbox "${@:2}"
    assert_success || fail "$1: ${*:2}"
}

# by_cron LINE: the command of a line of a crontab, by sh, with an empty environment but for its path, and what
# /etc/rlock.conf would say. rlock is installed in /usr/local. cron would send a mail of what it prints.
by_cron() {
    local line
    read -r _ _ _ _ _ line <<<"$1"
    run env -C sandbox -i "PATH=${path/\/usr\/local/$PWD}" "RLOCK_SERVER=$RLOCK_SERVER" "TEST_MARK=$TEST_MARK" sh -c "$line"
}

# Free, it runs its job; held by another host, one that does not wait is silent, and all is well; nor does one
# run again that is to run once. If it is held by one that fails, that one runs.
recipe_crontab() {
    local line name path=/usr/bin:/bin
    while read -r line; do
        [[ $line != PATH=* ]] || { path=${line#PATH=}; continue; }
        redis FLUSHALL >/dev/null
        name=$(sed -n 's/.* -n \([^ ]*\) .*/\1/p' <<<"$line")
        [[ ! $line =~ [^\\]% ]] || fail "$2: to cron, % is a newline" || return
        if [[ $line == *--once-* ]]; then
            foreign_hold "$name" 60000
            { wait_until 10 waiters "$name" 1 && foreign_release "$name"; } 3>&- &
        fi
        by_cron "$line"
        assert_success && assert_output 'report sent' || fail "$2: $line" || return
        if [[ $line == *--min-hold* || $line == *--once-* ]]; then
            by_cron "$line"
            assert_success && refute_output || fail "$2, a second time: $line" || return
        fi
        [[ $line == *'run -x'* ]] || continue
        redis FLUSHALL >/dev/null
        foreign_hold "$name" 60000
        by_cron "$line"
        assert_success && refute_output || fail "$2, while it is held: $line" || return
    done <<<"$1"
}

# A unit of systemd: it is accepted, and what it starts runs. A timer's service stands before it.
recipe_unit() {
    local line
    mkdir -p units
    sed "s|=rlock |=$RLOCK |; s|/usr/local/sbin|$PWD/sandbox|" <<<"$1" >"units/$3"
    printf '[Service]\nExecStart=/bin/true\n' >units/right.service
    if systemd-analyze verify --man=no --recursive-errors=no "$PWD/units/right.service" 2>/dev/null; then
        run systemd-analyze verify --man=no --recursive-errors=no "$PWD/units/$3"
        assert_success && refute_output --partial "${3%.*}." || fail "$2: $output" || return
    fi
    if [[ $3 == *.timer ]]; then
        assert_file_exists "units/${3%.timer}.service"
        return
    fi
    line=$(sed -n 's/^ExecStart=//p' "units/$3")
    run sh -c "$line"
    assert_success || fail "$2: $line" || return
}

# The one job of a CI file, as the runner would; "grey": one that does not get the lock does not fail, either.
recipe_ci() {
    printf '%s\n' "$1" >ci.yml
    ran "$2" python3 "$TOOLS/ci_job.py" "$PWD/ci.yml" || return
    assert_line deployed
    assert_no_keys
    [[ $3 == grey ]] || return 0
    foreign_hold deploy 60000
    sed -i 's/-w 30m/-w 0/' ci.yml
    ran "$2, while it is held" python3 "$TOOLS/ci_job.py" "$PWD/ci.yml" || return
    refute_line deployed
    assert_output --regexp '(allowed: |exit status )75'
    printf '#!/bin/sh\nexit 3\n' >sandbox/deploy.sh
    redis FLUSHALL
    run env -C sandbox python3 "$TOOLS/ci_job.py" "$PWD/ci.yml"
    assert_failure 1 || fail "$2, when it fails" || return
}

# The command of a container: an array of texts.
recipe_container() {
    local -a words
    mapfile -t words < <(python3 -c 'import sys, yaml
words = yaml.safe_load(sys.stdin)["command"]
assert all(isinstance(word, str) for word in words), words
print("\n".join(words))' <<<"$1")
    ran "$2" "${words[@]}" || return
    assert_output 'report sent'
}

# The commands of a playbook's tasks, in order, as on one host, judged by failed_when.
recipe_ansible() {
    printf '%s\n' "$1" >playbook.yml
    ran "$2" python3 -c 'import subprocess, sys, types, yaml
for play in yaml.safe_load(open(sys.argv[1])):
    assert set(play) == {"name", "hosts", "tasks"}, play
    for task in play["tasks"]:
        assert set(task) <= {"name", "ansible.builtin.command", "register", "changed_when", "failed_when"}, task
        words = task["ansible.builtin.command"]["argv"]
        assert all(isinstance(word, str) for word in words), f"not text, which argv takes: {words}"
        result = types.SimpleNamespace(rc=subprocess.run(words).returncode)
        failed = eval(task["failed_when"], {task["register"]: result}) if "failed_when" in task else result.rc
        assert not failed, task["name"]' "$PWD/playbook.yml"
}

# Its braces, and what it runs: Debian has no terraform.
recipe_terraform() {
    assert_equal "$(tr -cd '{' <<<"$1" | wc -c)" "$(tr -cd '}' <<<"$1" | wc -c)"
    ran "$2" sh -c "$(sed -n 's/^ *command *= "\(.*\)"$/\1/p' <<<"$1")" || return
    assert_output deployed
}

# make TARGET, twice: the lock was given back. All scripts that are named are run.
recipe_makefile() {
    local script
    printf '%s\n' "$1" >sandbox/Makefile
    echo 'int main(void) { return 0; }' >sandbox/program.c
    ran "$2" make "$3" || return
    ran "$2" make -B -j 4 "$3" || return
    while read -r script; do
        assert_line "$(cd sandbox && "$script")" || fail "$2: $script" || return
    done < <(grep -o '\./[a-z]*\.sh' <<<"$1")
}

# Rules of Prometheus: each figure that they ask for is there.
recipe_alerts() {
    local figure
    printf '%s\n' "$1" >alerts.yml
    run python3 -c 'import re, sys, yaml
(group,) = yaml.safe_load(open(sys.argv[1]))["groups"]
assert group["name"] and group["rules"]
for rule in group["rules"]:
    assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"} and rule["alert"].isalnum(), rule
    print("\n".join(re.findall(r"\brlock_\w+", rule["expr"])))' alerts.yml
    assert_success || fail "$2" || return
    for figure in $output; do
        is_metric "$figure" || fail "$2: no $figure" || return
    done
}

is_metric() { # NAME
    grep -qF -e "metric(\"${1#rlock_}\";" -e "# TYPE $1 " "$PROJECT/man/examples/prometheus.jq"
}
