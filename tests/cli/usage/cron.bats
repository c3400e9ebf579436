#!/usr/bin/env bats
# cron.bats: README's crontab, played by the cron daemons of two hosts: namespaces with a name, processes, an
# /etc and a /usr/local of their own. rlock is in /usr/local/bin, where cron does not look by itself.

load ../../lib/rlock

setup_file() {
    rlock_setup_file
    ((EUID != 0)) || cmake --install "${RLOCK_BUILD_DIR:-$PROJECT/build}" --prefix "$BATS_FILE_TMPDIR/prefix" >"$BATS_FILE_TMPDIR/install.log"
}

setup() {
    rlock_setup
    ((EUID == 0)) || skip "needs root"
    unshare --mount --uts --pid --fork true || skip "needs the right to make namespaces"
    [[ -x /usr/sbin/cron ]] || skip "no cron: install the package cron"
    crons=()
    sed -n '/^```crontab$/,/^```$/{/^```/!p}' "$PROJECT/README.md" >table
}

# With it all processes of the host end.
teardown() {
    local pid
    tail web-*/mail 2>/dev/null || true
    for pid in "${crons[@]}"; do
        kill -KILL "$pid"
        wait "$pid" 2>/dev/null || true
    done
    rlock_teardown
}

# job COMMANDS: the job of all hosts, which waits for the file go. The first run anywhere does COMMANDS then.
job() {
    cat >report.sh <<-END
	#!/bin/sh
	cd ..
	uname -n >>began
	until [ -e go ]; do sleep 0.02; done
	! mkdir first 2>/dev/null || { $1; }
	uname -n >>well
	END
    chmod +x report.sh
}

# host NAME: boots one with cron, whose root is at home in the directory NAME, and has the crontab. What
# cron sends by mail is added to the file mail there.
host() {
    mkdir -p "$1"/{etc,sbin,spool}
    cp report.sh "$1"
    cp -a /etc/{group,ld.so.cache,nsswitch.conf,pam.d,security,shadow} "$1/etc"
    sed "s|^\(root:.*\):[^:]*:[^:]*$|\1:$PWD/$1:/bin/sh|" /etc/passwd >"$1/etc/passwd"
    echo "server = $RLOCK_SERVER" >"$1/etc/rlock.conf"
    cp /usr/sbin/cron "$1/sbin"
    printf '#!/bin/sh\ncat >>"%s"\n' "$PWD/$1/mail" >"$1/sbin/sendmail"
    chmod +x "$1/sbin/sendmail"
    install -m 600 table "$1/spool/root"
    # shellcheck disable=SC2016 # for the shell there
    unshare --mount --uts --pid --fork --kill-child --mount-proc sh -ec '
        echo "$1" >/proc/sys/kernel/hostname
        mount -t tmpfs run /run
        mount --bind "$2" /usr/local
        mount --bind "$1/spool" /var/spool/cron/crontabs
        mount --bind "$1/etc" /etc
        mount --bind "$1/sbin" /usr/sbin
        exec /usr/sbin/cron -f' sh "$1" "$BATS_FILE_TMPDIR/prefix" 3>&- 4>&- &
    crons+=($!)
}

is_idle() { # PID OF HOST'S unshare
    [[ -z $(children "$(children "$1")") ]]
}

# night: both hosts have the crontab, and start their job at once, which @reboot means. Sets winner and other.
night() {
    grep -qF '0 3 * * *' table
    sed -i 's|0 3 \* \* \*|@reboot|' table
    host web-01
    host web-02
    wait_until 20 test -s began
    winner=$(head -n 1 began)
    [[ $winner == web-01 ]] && other=web-02 || other=web-01
    wait_until 20 eval 'waiters report 1 || test -s well'
    : >go
    wait_until 20 is_idle "${crons[0]}"
    wait_until 20 is_idle "${crons[1]}"
}

@test "one host runs the job; the other waits for it and leaves, and there is no mail" {
    job true
    night
    assert_equal "$(cat began)" "$winner"
    assert_equal "$(cat well)" "$winner"
    assert_file_not_exist "$winner/mail"
    assert_file_not_exist "$other/mail"
}

@test "the host that came first fails: its mail says why, and the other one runs the job" {
    job 'echo the disk is full >&2; exit 1'
    night
    assert_equal "$(cat began)" "$winner"$'\n'"$other"
    assert_equal "$(cat well)" "$other"
    assert_equal "$(sed '1,/^$/d' "$winner/mail")" 'the disk is full'
    assert_file_not_exist "$other/mail"
}
