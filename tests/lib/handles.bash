# handles.bash: locks that are left held. Needs rlock.bash.
# shellcheck shell=bash

# acquire KIND [ARG...]: of x; sets handle.
acquire() {
    try acquire "$1" -n x "${@:2}"
    assert_success
    handle=$output
    assert_regex "$handle" '^[A-Za-z0-9._-]+$'
}

# assert_lost WORD... -- ARG...: 76, and why.
assert_lost() {
    ends_saying 76 "not ours any more" "$@"
    assert_equal "$output" ""
}
