#!/usr/bin/env bats
# words.bats: what others wrote, wherever it is shown: it is text and nothing more, and no secret.

load ../../lib/rlock

# A stranger's command: a newline, C1 raw and in UTF-8, an override, a line separator, an isolate, a mark
# that is not seen, and no UTF-8.
nasty=$'sleep # \nREADY=1\nMAINPID=1 \x9b31m \xc2\x9b31m \xe2\x80\xaegnp \xe2\x80\xa8 \xe2\x81\xa6 \xef\xbb\xbf \xff \e[2J \xc3\xbc'

# What is left of it, on one line and in one order.
harmless='sleep # ?READY=1?MAINPID=1 ?31m ?31m ?gnp ? ? ? ? ?[2J ü'

# held COMMAND...: an rlock that has x, by what it is told to run; until free.
held() {
    rm -f held
    start run -n x "$@"
    holder=$pid
    wait_until 10 test -e held
}

# As long as it is to hold it; what a test is about comes after that.
waits=': >held; $SECTION --until let-go'

free() {
    : >let-go
    reap "$holder" 5
}

refute_hostile() { # FILE...: not one byte of them would be taken for more than text
    python3 - "$@" <<'PYTHON'
import sys, unicodedata
for file in sys.argv[1:]:
    text = open(file, "rb").read().decode("utf-8", "strict")
    bad = [hex(ord(c)) for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Cs")]
    assert text and not bad, (file, bad)
PYTHON
}

@test "a message, status, break: what is not printable is a question mark; JSON has all, and nothing to obey" {
    held -c "$waits; : $nasty"
    rlock run -w "$(ms 100)" -n x -- true 2>said || true
    grep -F "${harmless%ü}" said
    rlock status x >table
    assert_equal "$(wc -l <table)" 2
    rlock status --json x >json
    python3 -c '
import json
command = json.load(open("json"))[0]["holders"][0]["command"]
for part in ("\nREADY=1\n", "\x9b31m", "\u202egnp", "\u2028", "\u2066", "\ufeff", "\ufffd", "\x1b[2J", "\u00fc"):
    assert part in command, (part, command)'
    rlock run --log json -w "$(ms 100)" -n x -- true 2>log || true
    python3 -c '
import json
texts = [json.loads(line)["message"] for line in open("log")]
assert any("\u202egnp" in text and "\nREADY=1\n" in text for text in texts), texts'
    rlock break --force x >broken 2>&1 || true
    refute_hostile said table json log broken
    free
}

# told_of_x: what the program says of who has it.
told_of_x() {
    rlock status x
    rlock run -v -w "$(ms 100)" -n x -- true 2>&1 || true
    rlock run --log json -x -n x -- true 2>&1 || true
}

# hides TEXT WORD...: of an rlock that holds x and has these words the text is told, and no secret, and none is on the server.
hides() {
    held --log json "${@:2}"
    told_of_x >seen
    grep -F -- "$1" seen
    { redis HVALS 'rlock_info:{x}'; rlock status --json x; cat err; } >>seen
    refute grep -E 'S3|CRET' seen
    free
    rm let-go
}

@test "a password in the command's words, or a note, stays here, also where the text is cut in the middle of it" {
    local long
    long=$(printf 'x%.0s' {1..180})
    hides 'redis://u:***@h:1/0 --server=rediss://us%40er:***@h sentinel://:***@a,b/m redis://u:***@h2' -- sh -c "$waits" \
        RLOCK_SERVER=redis://u:S3CRET@h:1/0 "--server=rediss://us%40er:S3%3aCRET@h" \
        "sentinel://:S3/CR@ET@a,b/m redis://u:S3CRET@h2" https://u:S3CRET@h/x RLOCK_PASSWORD=S3CRET
    hides "$long" -c "$waits; : $long 'redis://u:S3CRETS3CRETS3CRETS3CRETS3CRETS3CRET@h/0'"
    hides ci/5 --note 'see https://user:S3CRET@ci/5 and redis://:S3CRET@h' -c "$waits"
    CI_JOB_URL=https://user:S3CRET@ci/1 hides ci/1 -c "$waits"
    CI_JOB_URL=https://S3CRET@ci/2 hides ci/2 -c "$waits"
}

@test "what a holder did not hide, in its command or its note, is hidden where it is shown" {
    foreign_hold x 60000
    redis HSET 'rlock_info:{x}' "$foreign_owner" \
        '{"host":"h","user":"u","pid":1,"command":"job redis://u:S3CRET@h/0",
        "note":"a\u001b[2Jb\u202ec\nd redis://:S3CRET@h"}' >/dev/null
    told_of_x >seen
    rlock status --json x >seen.json
    refute grep S3CRET seen seen.json
    grep -F 'redis://u:***@h/0' seen
    grep -F 'redis://u:***@h/0' seen.json
    grep -F 'a?[2Jb?c?d' seen
    refute_hostile seen
    redis HSET 'rlock_info:{x}' "$foreign_owner" '{"host":"h","note":{"a":1}}'
    rlock status x
}

@test "a URL in the place of the command is not told with its password" {
    run -127 --separate-stderr rlock run -n x redis://u:S3CRET@h/0 true
    refute_regex "$stderr" S3CRET
    assert_stderr_has 'redis://u:***@h/0'
}
