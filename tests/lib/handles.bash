# handles.bash: locks that are left held. Needs rlock.bash.
# shellcheck shell=bash

# acquire KIND [ARG...]: of x; sets handle.
acquire() {
    try acquire "$1" -n x "${@:2}"
    assert_success
    handle=$output
    assert_regex "$handle" '^[A-Za-z0-9._-]+$'
}

# How long x is held for, in ms.
ttl() {
    redis PTTL x
}

# The text that is in a handle.
inside() { # HANDLE
    python3 -c 'import base64, sys
print(base64.urlsafe_b64decode(sys.argv[1].split(".")[1] + "===")[:-4].decode())' "$1"
}

# assert_lost WORD... -- ARG...: 76, and why.
assert_lost() {
    ends_saying 76 "not ours any more" "$@"
    assert_equal "$output" ""
}

# The process that keeps x.
keeper_of_x() {
    redis HKEYS x | sed 's/.*:\(.*\)@.*/\1/'
}
