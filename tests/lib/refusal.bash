# refusal.bash: rlock says no, and says it in time.
# shellcheck shell=bash

# refuses FROM TO STATUS WORD... -- ARG...: rlock ends after FROM to TO ms (see took) with that status and one line that
# has each WORD, and runs nothing.
refuses() {
    local from=$1 to=$2 expected=$3 words=()
    shift 3
    while [[ $1 != -- ]]; do
        words+=("$1")
        shift
    done
    shift
    took "$from" "$to" rlock "$@"
    assert_equal "$status: $*" "$expected: $*"
    assert_message
    assert_stderr_has "${words[@]}"
    assert_file_not_exist ran
}
