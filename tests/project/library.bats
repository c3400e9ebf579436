#!/usr/bin/env bats
# library.bats: what programs that use librlock count on: the interface that is written down, what is installed, and
# the examples of examples/c, built against that as a stranger builds them.

load ../lib/rlock
load ../lib/races

setup_file() {
    rlock_setup_file
    export SOURCE=${RLOCK_SOURCE_DIR:-$PROJECT}
    export BUILD=${RLOCK_BUILD_DIR:-$PROJECT/build}
    export PREFIX=$BATS_FILE_TMPDIR/prefix
    cmake --install "$BUILD" --prefix "$PREFIX" >"$BATS_FILE_TMPDIR/install.log"
    LIBRARY_DIR=$(dirname "$(find "$PREFIX" -name librlock.so)")
    export LIBRARY_DIR PKG_CONFIG_PATH=$LIBRARY_DIR/pkgconfig
    export EXAMPLES=$PREFIX/share/doc/rlock/examples/c
}

# --- the interface that is written down ----------------------------------------------------------

same() { # FILE COMMAND...
    "${@:2}" >now
    diff -u "$SOURCE/lib/$1" now >difference ||
        fail "lib/$1 is not what was built; if it is meant, run tests/tools/abi (- written down, + built):
$(tail -n +3 difference)"
}

@test "the exported symbols and their versions are those that are written down" {
    same librlock.symbols "$TOOLS/abi" symbols "$LIBRARY_DIR/librlock.so" "$SOURCE/lib/librlock.symbols" 0.0
}

@test "prototypes, sizes, offsets and numbers of the headers are those that are written down" {
    [[ $(getconf LONG_BIT) == 64 ]] || skip "not for 32 bits"
    same librlock.abi "$TOOLS/abi" interface "$PREFIX"/include/rlock*.h
}

@test "what the headers declare is exported, and nothing else" {
    assert_equal "$(sed -n '/^typedef/d; s/^[^:]*\<\(rlock_[a-z_]*\)(.*/\1/p' "$SOURCE/lib/librlock.abi" | sort)" \
        "$(sed -n 's/^ \(rlock_.*\)@.*/\1/p' "$SOURCE/lib/librlock.symbols" | sort)"
}

@test "each symbol came in a version that there has been" {
    local version
    version=$("$PREFIX/bin/rlock" --version | cut -d ' ' -f 2)
    while read -r _ since; do
        printf '%s\n' "$since" "$version" | sort -VC || fail "$since is later than $version"
    done < <(grep '^ ' "$SOURCE/lib/librlock.symbols")
}

# --- what is installed -----------------------------------------------------------------------------

# compile_each ARG...: as C11, C17 and C++17; a program of these arguments, if there is one, succeeds.
compile_each() {
    local compiler
    for compiler in 'cc -std=c11' 'cc -std=c17' 'c++ -std=c++17 -x c++'; do
        # shellcheck disable=SC2086
        $compiler -Wall -Wextra -Wpedantic -Wshadow -Werror -I "$PREFIX/include" "$@" || fail "$compiler $*"
        [[ ! -e made ]] || ./made || fail "$compiler: $*"
    done
}

@test "each header compiles alone" {
    local header
    for header in "$PREFIX"/include/rlock*.h; do
        printf '#include <%s>\nint main(void) { return rlock_version() == NULL; }\n' "${header##*/}" >alone.c
        compile_each -fsyntax-only alone.c
    done
}

# inits: the structures that a program fills in, by their macros: "rlock_wait RLOCK_WAIT_INIT" a line.
inits() {
    sed -n 's/^#define \(RLOCK_[A-Z_]*\)_INIT\>.*/\1/p' "$PREFIX"/include/rlock*.h |
        while read -r name; do echo "${name,,} ${name}_INIT"; done | sort
}

@test "each structure that begins with its size has an _INIT, which sets it, in C and in C++" {
    local name init
    assert_equal "$(inits | sed 's/ .*//')" \
        "$(grep -B 1 '^    size: at 0,' "$SOURCE/lib/librlock.abi" | sed -n 's/^struct \(.*\):.*/\1/p' | sort)"
    {
        printf '#include <%s>\n' "$PREFIX"/include/rlock*.h
        echo 'int main(void) {'
        while read -r name init; do
            echo "{ const struct $name one = $init; if (one.size != sizeof one) return 1; }"
        done < <(inits)
        echo 'return 0; }'
    } >inits.c
    compile_each -o made inits.c
}

@test "installed are the library, never unloaded, by its names, its module, its headers, and nothing of the tests" {
    assert_link_exists "$LIBRARY_DIR/librlock.so"
    assert_link_exists "$LIBRARY_DIR/librlock.so.0"
    run readelf -d "$LIBRARY_DIR/librlock.so"
    assert_output --partial 'soname: [librlock.so.0]'
    assert_output --partial NODELETE # or a name that is still being looked up would outlive it
    # The module is found from where the two are; the loader would look there for libc, too.
    assert_file_exists "$LIBRARY_DIR/librlock-tls.so.0"
    assert_file_not_exist "$LIBRARY_DIR/librlock-tls.so"
    run readelf -d "$LIBRARY_DIR/librlock.so" "$PREFIX/bin/rlock"
    refute_output --regexp 'r(un)?path: '
    # Nothing of the tests or of the static library.
    run find "$PREFIX" -name '*.a'
    assert_output ""
    run bash -c 'cd "$PREFIX/include" && find . -type f | LC_ALL=C sort'
    assert_output "$(cd "$SOURCE/lib" && printf './%s\n' rlock*.h | LC_ALL=C sort)"
}

# --- programs that use it --------------------------------------------------------------------------

# A build with a sanitizer makes a library that wants it in its users, too.
plain_build_only() {
    ! is_sanitized || skip "not for a build with a sanitizer"
}

# The examples in the directory $1 do what they say.
assert_examples_work() {
    run -0 "$1/worker" x "$RLOCK_SERVER"
    assert_output 'token 1'
    run -0 "$1/guard" x "$RLOCK_SERVER"
    assert_output 'token 2'
    assert_no_keys
    run --separate-stderr "$1/worker" x redis://nowhere.invalid
    assert_failure 1
    assert_stderr_has 'worker: cannot take x: ' nowhere.invalid
    hold x
    run --separate-stderr "$1/worker" x "$RLOCK_SERVER"
    assert_failure 75
    assert_stderr_has "worker: x is held by "
    assert_held x
    let_go x
    reap "$holder"
}

@test "find_package(rlock) finds the library, and the examples work" {
    plain_build_only
    cmake -S "$EXAMPLES" -B built -G Ninja -DCMAKE_PREFIX_PATH="$PREFIX" \
        -DCMAKE_C_FLAGS='-Wall -Wextra -Werror' -DCMAKE_CXX_FLAGS='-Wall -Wextra -Werror' >log
    cmake --build built >>log || fail "$(cat log)"
    assert_examples_work built
}

@test "find_package(rlock) refuses a version that it is not" {
    local wanted
    cat >CMakeLists.txt <<-'END'
	cmake_minimum_required(VERSION 3.25)
	project(wants LANGUAGES NONE)
	find_package(rlock ${WANTED} REQUIRED)
	END
    for wanted in 0.0 0.2 1.0; do
        run cmake -S . -B wants -DWANTED="$wanted" -DCMAKE_PREFIX_PATH="$PREFIX"
        assert_failure
        assert_output --partial 'rlock-config.cmake, version: 0.1.0'
    done
}

@test "pkg-config finds the library by its version, and the examples work" {
    plain_build_only
    assert_equal "$(pkg-config --modversion rlock)" "$("$PREFIX/bin/rlock" --version | cut -d ' ' -f 2)"
    cp -r "$EXAMPLES" sources
    make -C sources LDFLAGS="-Wl,-rpath,$LIBRARY_DIR" \
        CFLAGS='-std=c17 -Wall -Wextra -Wpedantic -Werror' CXXFLAGS='-std=c++17 -Wall -Wextra -Wpedantic -Werror'
    assert_examples_work sources
}

@test "keepers and a client's other locks share nothing unguarded" {
    assert_no_races "$RLOCK_SERVER" main
}

@test "a client is used while keepers renew its locks, in threads that have room beside much thread-local data" {
    local kib
    plain_build_only
    for kib in 64 256 "$(ulimit -H -s)"; do
        run -0 timeout $((30 * SLOW)) bash -c 'ulimit -s "$1" && exec "${@:2}"' - "$kib" "$BUILD/tests/keepers" "$RLOCK_SERVER"
        assert_output ''
        assert_no_keys
        run -1 bash -c 'ulimit -s "$1" && exec "${@:2}"' - "$kib" "$BUILD/tests/keepers" redis://nowhere.invalid
        assert_output --partial 'take it: no server could be reached'
    done
}

# worker_holds LEASE GRACE: the example has x, for longer than its lease, and does not wait for an answer at its end.
worker_holds() {
    cp -r "$EXAMPLES" sources
    sed "s/lease_ms = 30000/lease_ms = $1/; s/grace_ms = 5000/grace_ms = $2/; s/step <= 10;/step <= 1000;/
        s/rlock_release(lock, 0, rlock_now_ms() + 2000)/rlock_release(lock, 0, rlock_now_ms())/" -i sources/worker.c
    make -C sources LDFLAGS="-Wl,-rpath,$LIBRARY_DIR" worker
    sources/worker x "$RLOCK_SERVER" >out 2>err 3>&- &
    pid=$!
    wait_until 10 assert_held x
}

@test "a lock that cannot be renewed counts as lost a keeper's grace before its lease ends" {
    local left lease=$((3000 * SLOW)) grace=$((1500 * SLOW))
    plain_build_only
    proxy_start
    worker_holds "$lease" "$grace"
    proxy hang
    reap "$pid"
    left=$(redis PTTL x)
    assert_equal "$status" 76
    ((left <= grace + lease / 50 && left > grace / 2)) || fail "lost $left ms before the lease's end, not $grace"
}
