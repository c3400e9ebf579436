# rights.bash: what rlock-server(7) says under ACCESS CONTROL, for locks whose names begin with x.
# shellcheck shell=bash

# rules KIND...: a line each; of "cluster://" and so on what is needed in addition.
rules() {
    local kind file
    for kind; do
        file="$BATS_FILE_TMPDIR/rules of ${kind//\//_}"
        [[ -s $file ]] || python3 "$TOOLS/rights.py" rules "$PROJECT/man/rlock-server.7" "$kind" | sed 's/app\*/x*/' >"$file"
        cat "$file"
    done
}

# give SERVER USER WITHOUT KIND...: a user gets the rules of these kinds, one left out ('' for none), and
# has no others. Who is there already has them from now on.
give() {
    local -a some
    mapfile -t some < <(rules "${@:4}" | grep -vxF -e "${3:-none}")
    assert_equal "$(redis_on "$1" ACL SETUSER "$2" reset on "$([[ $2 == default ]] && echo nopass || echo '>secret')" \
        "${some[@]}")" OK
}
