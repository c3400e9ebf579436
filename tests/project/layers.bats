#!/usr/bin/env bats
# layers.bats: which folder may use which, and what the library never does: read from the object files, so that no
# include and no call can slip through.

bats_require_minimum_version 1.5.0
bats_load_library bats-support
bats_load_library bats-assert

setup_file() {
    export SOURCE BUILD LIB_OBJECTS TLS_OBJECTS CMD_OBJECTS MAIN_OBJECT LIBRARY
    SOURCE=${RLOCK_SOURCE_DIR:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
    BUILD=${RLOCK_BUILD_DIR:-$SOURCE/build}
    LIB_OBJECTS=$BUILD/lib/CMakeFiles/rlock_lib_objs.dir
    TLS_OBJECTS=$BUILD/lib/CMakeFiles/rlock_tls.dir
    CMD_OBJECTS=$BUILD/cmd/CMakeFiles/rlock_cmd_objs.dir
    MAIN_OBJECT=$BUILD/cmd/CMakeFiles/rlock_cmd.dir/main.c.o
    LIBRARY=$BUILD/lib/librlock.so
    [[ -e $LIBRARY ]] || { echo "no library at $LIBRARY: build first, or set RLOCK_BUILD_DIR" >&2; return 1; }
    # What objects call, "object function" a line, without what the compiler adds for hardening:
    # __printf_chk is printf, __isoc99_sscanf is sscanf. All at once: nm takes longer to start than to read.
    nm -A --undefined-only --format=posix "$LIB_OBJECTS"/{,*/}*.o "$TLS_OBJECTS"/*/*.o "$CMD_OBJECTS"/{,*/}*.o "$MAIN_OBJECT" |
        sed -nE 's/^([^ ]*): ([^ ]*) .*/\1 \2/; s/ __isoc(99|23)_/ /; s/ __(.*)_chk$/ \1/; p' | sort -u >"$BATS_FILE_TMPDIR/calls"
}

setup() {
    cd "$SOURCE" || return
}

# What these objects call, "object function" a line.
calls_of() { # OBJECT...
    awk -v list="$*" 'BEGIN { n = split(list, object); while (n > 0) want[object[n--]] } $1 in want' "$BATS_FILE_TMPDIR/calls"
}

# refuse_in PATTERN OBJECT...: none of the objects calls a function that matches.
refuse_in() {
    local pattern=$1 object
    shift
    for object; do
        [[ -e $object ]] || fail "no object $object"
    done
    run bash -c 'grep -E " ($0)\$"' "$pattern" < <(calls_of "$@" | sed 's#^.*/##')
    assert_output ""
}

# refuse PATTERN DIRECTORY [EXCEPT...]: the same of all objects there, but those of these names.
refuse() {
    local pattern=$1 directory=$2 object name
    local -a objects=()
    shift 2
    for object in "$directory"/{,*/}*.o; do
        name=$(basename "$object" .c.o)
        [[ " $* " == *" $name "* ]] || objects+=("$object")
    done
    ((${#objects[@]} > 5)) || fail "too few objects in $directory"
    refuse_in "$pattern" "${objects[@]}"
}

# Variables that can be written to: sections of constants that need relocation are none.
variables() { # OBJECT...
    nm -A --defined-only --format=sysv "$@" | awk -F '|' '
        { for (i = 1; i <= NF; i++) gsub(/ /, "", $i) }
        $4 == "OBJECT" && $7 ~ /^(\*COM\*|\.(data|bss|tdata|tbss|sdata|sbss)(\.|$))/ &&
            $7 !~ /^\.data\.rel\.ro/ { sub(/^.*\//, "", $1); sub(/\.c\.o:/, " ", $1); print $1 }' |
        grep -vE ' (\.L|__)' || true
}

# --- folders -----------------------------------------------------------------------------------

# "FOLDER MAY-USE..." a line; "." is the base itself. The table is in lib/README.md.
may_use() { # lib|cmd
    sed -nE "s#^\\| \`$1/?([a-z]*)\` \\|[^|]*\\|([^|]*)\\|\$#\1 \2#p" lib/README.md | sed -E 's/^ /. /; s/[`,]//g'
}

# Every include names its folder.
@test "a folder includes itself, and what its row in lib/README.md names" {
    local base folder row file included rows=0
    for base in lib cmd; do
        while read -r folder row; do
            rows=$((rows + 1))
            for file in "$base/$folder"/*.[ch]; do
                while read -r included; do
                    [[ $included == */* ]] || included=./$included
                    [[ " $folder $row . " == *" ${included%/*} "* ]] || fail "$file includes $included"
                    [[ $included != ./* || $folder == . || $included == ./rlock*.h || $base/$included == lib/./scripts.h ]] ||
                        fail "$file includes $included, of the folder above"
                done < <(sed -n 's/^#include "\(.*\)"$/\1/p' "$file")
            done
        done < <(may_use "$base")
        assert_equal "$(may_use "$base" | sed -E 's/ .*//' | sort | paste -sd ' ')" \
            "$(find "$base" -name '*.[ch]' -printf '%P\n' | sed -E 's#^[^/]*$#.#; s#/.*##' | sort -u | paste -sd ' ')"
    done
    ((rows > 10))
}

# --- the library -------------------------------------------------------------------------------

@test "the library never prints, ends or starts anything, nor touches signals, the environment, files and clocks" {
    local except pattern
    while read -r except pattern; do
        refuse "$pattern" "$LIB_OBJECTS" "$except"
        refuse_in "$pattern" "$TLS_OBJECTS"/tls/{bio,explain,openssl}.c.o
    done <<-'END'
	- (v?[fd]?printf|f?put[cs]|putc(har)?(_unlocked)?|fwrite|writev|perror|psignal|v?(warn|err)x?|v?syslog|stdout|stderr)
	- (_?exit|_Exit|quick_exit|abort|__assert_fail|at(_quick_)?exit|err|kill|raise|wait(pid|id|3|4)?)
	- (v?fork|clone[3]?|daemon|posix_spawnp?|system|popen|f?exec(v|l)[pe]*|execveat)
	- (sig[a-z]+|pthread_(sigmask|kill|sigqueue)|alarm|ualarm|setitimer|timer_create|prctl)
	- ((secure_)?getenv|setenv|putenv|environ|time|gettimeofday|sleep|usleep|nanosleep|clock_nanosleep|rand|random|srand)
	connect f?open(at|64)?
	clock clock_gettime
	END
    # What it writes to is an eventfd, or the pipe of the keeper's reports.
    run bash -c 'grep -nE "(^|[^>])\bwrite\(" lib/{,*/}*.c |
        grep -vE "write\([a-z]+->((stop|lost|done)_fd, &one, sizeof one|report_fds\[1\], &renewal, sizeof renewal)\)"'
    assert_output ""
}

@test "only conn.c and resp.c know hiredis, only the module OpenSSL, and only tls.c where it is" {
    local object
    run bash -c 'grep -rlE "#include <(hiredis|openssl)/" lib cmd | sort'
    assert_output $'lib/redis/conn.c\nlib/redis/resp.c\nlib/tls/explain.c\nlib/tls/openssl.c\nlib/tls/openssl.h'
    refuse '(redis|freeReply|hi_|sds).*' "$LIB_OBJECTS" conn resp
    refuse '(SSL|ERR|X509|BIO|OPENSSL|TLS)_.*' "$LIB_OBJECTS"
    refuse '(redis|freeReply|hi_|sds|(SSL|ERR|X509|BIO|OPENSSL|TLS)_).*' "$CMD_OBJECTS"
    refuse 'dl(open|sym|close)' "$LIB_OBJECTS" tls
    for object in "$LIBRARY" "$BUILD/cmd/rlock"; do
        run readelf -d "$object"
        refute_output --regexp 'NEEDED.*lib(ssl|crypto|rlock-tls)'
    done
    run bash -c 'nm -D --defined-only --format=posix "$1" | grep -v __odr_asan | sed "s/ .*//"' - "$BUILD/lib/librlock-tls.so.0"
    assert_output rlock__tls_module
}

# --- the program -------------------------------------------------------------------------------

@test "the program uses the library's public interface only" {
    local used
    used=$(calls_of "$CMD_OBJECTS"/{,*/}*.o "$MAIN_OBJECT" | sed -n 's/.* \(rlock_\)/\1/p' | sort -u)
    [[ -n $used ]]
    assert_equal "$(comm -23 <(echo "$used") <(sed -n 's/^ *\(rlock_[a-z_]*\);$/\1/p' lib/librlock.map | sort))" ""
}

@test "what starts, watches and ends the command knows no lock" {
    local file
    for file in spawn guardian supervise descendants proc signals witness self; do
        run cc -MM -D_GNU_SOURCE -I lib -I cmd "cmd/process/$file.c"
        assert_success
        refute_output --partial rlock.h
        refuse_in 'rlock_.*' "$CMD_OBJECTS/process/$file.c.o"
    done
}

@test "only out.c prints, and doctor, too, has what others wrote made printable" {
    refuse '(v?d?printf|puts|putchar|perror|psignal|v?(warn|err)x?|v?syslog|stdout|stderr)' \
        "$CMD_OBJECTS" out
    refuse_in '(v?d?printf|puts|putchar|perror|stdout|stderr)' "$MAIN_OBJECT"
    calls_of "$CMD_OBJECTS/report/doctor_output.c.o" | grep -q ' out_make_printable$'
}

@test "state at file scope: messages, the one walk over descendants, where the system put the arguments, the terminal's settings" {
    run variables "$LIB_OBJECTS"/{,*/}*.o "$TLS_OBJECTS"/*/*.o "$CMD_OBJECTS"/{,*/}*.o
    assert_output "out out
stream pending
descendants walk
self arguments
watch terminal"
}

@test "after the fork the guardian asks for no memory" {
    refuse_in '(m|c|re)alloc|strn?dup|v?asprintf|(put|set|unset)env|fopen|opendir|getpw.*|free' "$CMD_OBJECTS"/process/{guardian,supervise,descendants,proc,witness,self}.c.o
}
