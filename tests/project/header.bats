#!/usr/bin/env bats
# header.bats: what a stranger does with the library: installs it, includes its headers, links.

load ../lib/rlock

setup_file() {
    rlock_setup_file
    SOURCE=${RLOCK_SOURCE_DIR:-$PROJECT}
    BUILD=${RLOCK_BUILD_DIR:-$PROJECT/build}
    export SOURCE BUILD PREFIX=$BATS_FILE_TMPDIR/prefix
    cmake --install "$BUILD" --prefix "$PREFIX" >"$BATS_FILE_TMPDIR/install.log"
    LIBRARY_DIR=$(dirname "$(find "$PREFIX" -name librlock.so)")
    export LIBRARY_DIR PKG_CONFIG_PATH=$LIBRARY_DIR/pkgconfig
}

# A build with a sanitizer makes a library that wants it in its users, too.
plain_build_only() {
    ! grep -q '^RLOCK_SANITIZE:[^=]*=.' "$BUILD/CMakeCache.txt" || skip "not for a build with a sanitizer"
}

strict() { # COMPILER STANDARD LANGUAGE
    local header
    for header in "$PREFIX"/include/rlock*.h; do
        echo "#include <${header##*/}>" >alone.c
        echo 'int main(void) { return rlock_version() == NULL; }' >>alone.c
        "$1" "-std=$2" -x "$3" -Wall -Wextra -Wpedantic -Wshadow -Werror -I "$PREFIX/include" -c -o alone.o alone.c
    done
}

@test "each header compiles alone as C11" {
    strict cc c11 c
}

@test "each header compiles alone as C17" {
    strict cc c17 c
}

@test "each header compiles alone as C++17" {
    strict c++ c++17 c++
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
    for strict in 'cc -std=c11' 'c++ -std=c++17 -x c++'; do
        # shellcheck disable=SC2086
        $strict -Wall -Wextra -Wpedantic -Wshadow -Werror -I "$PREFIX/include" -o inits inits.c
        ./inits
    done
}

@test "installed are the program, the library, its module, its headers and its pkg-config file" {
    assert_file_executable "$PREFIX/bin/rlock"
    assert_file_exists "$PREFIX/include/rlock.h"
    assert_file_exists "$LIBRARY_DIR/pkgconfig/rlock.pc"
    assert_link_exists "$LIBRARY_DIR/librlock.so"
    assert_link_exists "$LIBRARY_DIR/librlock.so.0"
    run readelf -d "$LIBRARY_DIR/librlock.so"
    assert_output --partial 'soname: [librlock.so.0]'
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

@test "the installed program runs" {
    run "$PREFIX/bin/rlock" --version
    assert_success
    assert_output --regexp '^rlock [0-9]+\.[0-9]+\.[0-9]+( \(commit [0-9a-f]+\))?$'
    run "$PREFIX/bin/rlock" run -n x -- echo hello
    assert_success
    assert_output hello
}

# flag LETTER: the directory of pkg-config's -I or -L, however it writes it.
flag() {
    realpath "$(pkg-config --cflags --libs rlock | tr ' ' '\n' | sed -n "s/^-$1//p")"
}

@test "pkg-config finds the library where it was installed" {
    assert_equal "$(flag I)" "$(realpath "$PREFIX/include")"
    assert_equal "$(flag L)" "$(realpath "$LIBRARY_DIR")"
    assert_equal "$(pkg-config --libs-only-l rlock | tr -d ' ')" -lrlock
    assert_equal "$(pkg-config --modversion rlock)" "$("$PREFIX/bin/rlock" --version | cut -d ' ' -f 2)"
}

@test "a program of twenty lines takes a lock and gives it back" {
    plain_build_only
    cat >lock.c <<-'END'
	#include <rlock.h>
	#include <stdio.h>
	int main(int argc, char **argv) {
	    const char *names[] = {argv[argc - 1]};
	    struct rlock_client_options server = RLOCK_CLIENT_OPTIONS_INIT;
	    struct rlock_lock_options options = RLOCK_LOCK_OPTIONS_INIT;
	    struct rlock_wait wait = RLOCK_WAIT_INIT;
	    rlock_client *client = NULL;
	    rlock_lock *lock = NULL;
	    server.servers = (const char *const *)argv + 1;
	    server.server_count = 1;
	    options.names = names;
	    options.name_count = 1;
	    wait.deadline_ms = 0;
	    if (rlock_client_new(&client, &server) != RLOCK_OK || rlock_lock_new(&lock, client, &options) != RLOCK_OK ||
	        rlock_acquire(lock, &wait) != RLOCK_OK)
	        return 1;
	    printf("token %d\n", (int)rlock_hold_at(lock, 0)->token);
	    int status = rlock_release(lock, 0, rlock_now_ms() + 1000) != RLOCK_OK;
	    rlock_lock_free(lock);
	    rlock_client_free(client);
	    return status;
	}
	END
    cc -std=c11 -Wall -Wextra -Wpedantic -Werror -I "$PREFIX/include" -o lock lock.c \
        -L "$LIBRARY_DIR" -Wl,-rpath,"$LIBRARY_DIR" -lrlock
    run ./lock "$RLOCK_SERVER" x
    assert_success
    assert_output "token 1"
    run ./lock "$RLOCK_SERVER" x
    assert_output "token 2"
    assert_no_keys
    # Held by others: it says so, and leaves them their lock.
    hold x
    run ./lock "$RLOCK_SERVER" x
    assert_failure 1
    assert_held x
    let_go x
    reap "$holder"
    assert_equal "$status" 0
}
