#!/usr/bin/env bats
# packages.bats: what is in the Debian packages that cpack makes of this build. That they install, work
# and go away again, tests/packages tries.

load ../lib/rlock
load ../lib/no_server

setup_file() {
    export SOURCE=${RLOCK_SOURCE_DIR:-$PROJECT}
    export BUILD=${RLOCK_BUILD_DIR:-$PROJECT/build}
    ! is_sanitized || skip "not for a build with a sanitizer"
    export DEBS=$BATS_FILE_TMPDIR/debs
    cpack --config "$BUILD/CPackConfig.cmake" -B "$DEBS" >"$BATS_FILE_TMPDIR/log"
    for package in rlock librlock0 librlock-dev; do
        dpkg-deb -x "$DEBS/$package"_*.deb "$DEBS/$package"
    done
}

field() { # PACKAGE NAME
    dpkg-deb -f "$DEBS/$1"_*.deb "$2"
}

@test "three packages, of one version, with which the changelog begins, and for this machine" {
    local package
    run -0 bash -c 'cd "$DEBS" && ls *.deb | cut -d _ -f 1'
    assert_output $'librlock-dev\nlibrlock0\nrlock'
    for package in rlock librlock0 librlock-dev; do
        assert_equal "$(field "$package" Version)" \
            "$(sed -n 's/^project(rlock VERSION \([0-9.]*\).*/\1/p' "$SOURCE/CMakeLists.txt")-1"
        assert_equal "$(field "$package" Architecture)" "$(dpkg --print-architecture)"
    done
    run -0 head -n 1 "$SOURCE/cmake/changelog"
    assert_output --partial "rlock ($(field rlock Version)) "
}

@test "they depend on each other and on what is loaded by name" {
    local version
    version=$(field rlock Version)
    run -0 field rlock Depends
    assert_output --partial "librlock0 (= $version)" # its module for TLS
    assert_output --partial libc6
    run -0 field librlock0 Depends
    assert_output --regexp 'libhiredis[0-9.]+'
    assert_output --partial libssl3
    run -0 field librlock-dev Depends
    assert_output "librlock0 (= $version)"
}

@test "manual and completions are where Debian looks for them, and the library's page and headers are its own package's" {
    local page name component
    for page in "$SOURCE"/man/*.[1-9]; do
        name=${page##*/}
        component=rlock
        [[ $name != *.3 ]] || component=librlock-dev
        zcat "$DEBS/$component/usr/share/man/man${name##*.}/$name.gz" | diff -q - "$page"
    done
    assert_exists "$DEBS/librlock-dev/usr/include/rlock.h"
    for component in rlock librlock0 librlock-dev; do
        assert_exists "$DEBS/$component/usr/share/doc/$component/copyright"
    done
    # Nothing but the completions lies in the shells' directories.
    run -0 bash -c 'cd "$DEBS/rlock/usr/share" && find bash-completion fish zsh -type f'
    assert_output 'bash-completion/completions/rlock
fish/vendor_completions.d/rlock.fish
zsh/vendor-completions/_rlock'
}

@test "each file is in one package, and they have all that is installed" {
    cmake --install "$BUILD" --prefix "$PWD/all" >log
    run -0 bash -c 'cd "$DEBS" && for p in rlock librlock0 librlock-dev; do (cd $p/usr && find . ! -type d); done |
        grep -v -e /copyright -e /changelog.Debian.gz | sed "s/\.gz$//; s/vendor-completions/site-functions/" | sort'
    assert_exists all/share/doc/rlock/LICENSE
    rm all/share/doc/rlock/LICENSE # Debian has it in one place, which copyright names
    assert_output "$(cd all && find . ! -type d | sort)"
}

@test "no address is made up: they name a home page only where one was given, and who answers for them as was said" {
    local package
    for package in rlock librlock0 librlock-dev; do
        assert_equal "$(field "$package" Homepage)" "$(sed -n 's/^RLOCK_HOMEPAGE:[^=]*=//p' "$BUILD/CMakeCache.txt")"
        assert_regex "$(field "$package" Maintainer)" '^[^<>]+ <[^ <>]+@[^ <>]+>$'
        zcat "$DEBS/$package/usr/share/doc/$package/changelog.Debian.gz" | grep -qF " -- $(field "$package" Maintainer)  "
    done
    run grep -nE '@[a-z0-9-]+\.|https?://' "$SOURCE/cmake/packages.cmake" "$SOURCE/cmake/changelog"
    assert_failure 1
}

# A machine that has what builds rlock, and not what packs it.
@test "what is missing for a release or for packages is said when it is configured, and how to install it" {
    run ! configure release -DRLOCK_STATIC=ON -DRLOCK_HTML=ON -DRLOCK_RELEASE='amd64;arm64'
    assert_output --partial 'mandoc (mandoc)'
    assert_output --regexp "(x86_64|aarch64)-linux-gnu-gcc[[:space:]]+\(gcc-"
    refute_output --partial "$(cc -dumpmachine)-gcc"
    assert_output --regexp 'tests/install-packages[[:space:]]+release'
    run ! configure debian -DRLOCK_PACKAGES=ON
    assert_output --partial 'dpkg-shlibdeps (dpkg-dev)'
    assert_output --partial 'file (file)'
    assert_output --regexp 'tests/install-packages[[:space:]]+debian'
}

# configure DIRECTORY OPTION...: as the README does, on a machine without the programs that the tests need.
configure() {
    cmake -S "$SOURCE" -B "$1" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_IGNORE_PATH='/bin;/usr/bin' \
        -DCMAKE_MAKE_PROGRAM="$(command -v ninja)" -DCMAKE_C_COMPILER="$(command -v cc)" \
        -DPKG_CONFIG_EXECUTABLE="$(command -v pkg-config)" "${@:2}"
}

@test "without the tests' tools all but the tests is built, unless they are asked for; elsewhere than on Linux nothing" {
    run -0 configure without
    assert_output --regexp 'tests are left out: missing .*redis-cli \(redis-tools\)'
    refute_output --partial 'CMake Error'
    assert_not_exists without/tests
    run ! configure asked -DRLOCK_TESTS=ON
    assert_output --partial 'redis-cli (redis-tools)'
    run ! configure bsd -DCMAKE_SYSTEM_NAME=FreeBSD
    assert_output --regexp 'for[[:space:]]+Linux[[:space:]]+only'
}

@test "the library tells the loader and those who are linked with it" {
    dpkg-deb -e "$DEBS"/librlock0_*.deb control
    assert_equal "$(cat control/triggers)" 'activate-noawait ldconfig'
    diff control/symbols "$SOURCE/lib/librlock.symbols"
    run -0 cat control/shlibs
    assert_line "librlock 0 librlock0 (>= $(field rlock Version))"
}
