#!/usr/bin/env bats
# tarballs.bats: what the target "release" has left in build-release/release/: tests/run release makes it first.

load ../lib/rlock

setup_file() {
    export OUT=$PROJECT/build-release/release
    export VERSION EPOCH
    VERSION=$(sed -n 's/^project(rlock VERSION \([0-9.]*\).*/\1/p' "$PROJECT/CMakeLists.txt")
    EPOCH=$(date --date "$(sed -n 's/^ -- .*@  //p' "$PROJECT/cmake/changelog" | head -n 1)" +%s)
    [[ -e $OUT/SHA256SUMS ]] || { echo "no $OUT: cmake --workflow --preset release" >&2; return 1; }
    cat "$OUT"/*.tar.gz | tar -C "$BATS_FILE_TMPDIR" -xzf - --ignore-zeros
    rlock_setup_file
}

setup() {
    rlock_setup
    native=$(dpkg --print-architecture)
}

name() { # ARCHITECTURE
    echo "rlock-$VERSION-linux-$1"
}

tree() { # ARCHITECTURE: where its tarball is unpacked
    echo "$BATS_FILE_TMPDIR/$(name "$1")"
}

architectures() {
    sed -n 's/^RLOCK_RELEASE:[^=]*=//p' "$PROJECT/build-release/CMakeCache.txt" | tr ';' '\n'
}

# on ARCHITECTURE PROGRAM ARG...: in an emulator, if that is not this machine's.
on() {
    case $1 in
    "$native") "${@:2}" ;;
    arm64) qemu-aarch64 "${@:2}" ;;
    amd64) qemu-x86_64 "${@:2}" ;;
    esac
}

@test "a tarball, and its bill of materials, for each architecture, a Dockerfile, and the checksums of all" {
    local architecture
    cd "$OUT" || return
    run -0 sha256sum --check --strict --quiet SHA256SUMS
    assert_equal "$(sed 's/.* //' SHA256SUMS)" "$(echo Dockerfile; for architecture in $(architectures); do
        printf '%s\n' "$(name "$architecture")."{spdx.json,tar.gz}
    done)"
}

@test "below one directory, files of root's, readable by all, from the time of the version" {
    local architecture
    for architecture in $(architectures); do
        run -0 tar --numeric-owner --full-time -tvzf "$OUT/$(name "$architecture").tar.gz"
        refute_line --regexp '^.(rw|r-).?.?w|^.......w|^[^-]'
        while read -r _ owner _ day time path; do
            assert_equal "$owner $(date --utc --date "$day $time" +%s)" "0/0 $EPOCH"
            [[ $path == "$(name "$architecture")/"* ]] || fail "$path"
        done <<<"$output"
    done
}

@test "unpacked over directories that are there, it leaves these as they are" {
    mkdir -p local/bin
    chmod 2775 local/bin
    chown 0:50 local/bin
    tar -C local --strip-components=1 -xzf "$OUT/$(name "$native").tar.gz"
    assert_equal "$(stat -c '%a %u:%g' local/bin)" '2775 0:50'
    assert_file_executable local/bin/rlock
}

@test "manual, completions, examples, licence and what is linked in lie where --strip-components=1 puts them" {
    local architecture page file
    for architecture in $(architectures); do
        cd "$(tree "$architecture")" || return
        for page in "$PROJECT"/man/*.[157]; do
            assert_file_exists "share/man/man${page##*.}/$(basename "$page")"
        done
        assert_file_not_exist share/man/man3 # there is no library
        for file in bash-completion/completions/rlock zsh/site-functions/_rlock fish/vendor_completions.d/rlock.fish \
            doc/rlock/{examples/systemd/rlock@.service,status.schema.json,html/{index,rlock-run.1}.html}; do
            assert_file_exists "share/$file"
        done
        cmp share/doc/rlock/LICENSE "$PROJECT/LICENSE"
        cmp share/doc/rlock/rlock.spdx.json "$OUT/$(name "$architecture").spdx.json"
        assert_equal "$(find . -path ./share -prune -o -type f -print)" ./bin/rlock
        run -0 nm bin/rlock
        assert_output --partial "no symbols"
    done
}

@test "the bill of materials names the packages of all that is linked in, with their licences" {
    local architecture
    for architecture in $(architectures); do
        run -0 python3 - "$(tree "$architecture")" "$VERSION" <<-'END'
		import hashlib, json, pathlib, sys
		tree = pathlib.Path(sys.argv[1])
		bill = json.load(open(tree / 'share/doc/rlock/rlock.spdx.json'))
		assert bill['spdxVersion'] == 'SPDX-2.3' and bill['SPDXID'] == 'SPDXRef-DOCUMENT'
		by = {package['SPDXID']: package for package in bill['packages']}
		ours, = [r['relatedSpdxElement'] for r in bill['relationships'] if r['relationshipType'] == 'DESCRIBES']
		assert by[ours]['versionInfo'] == sys.argv[2]
		digest = hashlib.sha256((tree / 'bin/rlock').read_bytes()).hexdigest()
		assert by[ours]['checksums'] == [{'algorithm': 'SHA256', 'checksumValue': digest}]
		linked = [by[r['relatedSpdxElement']] for r in bill['relationships'] if r['relationshipType'] == 'STATIC_LINK']
		assert len(linked) == len(by) - 1
		for package in linked:
		    assert (tree / 'share/doc/rlock/licenses' / package['name']).stat().st_size > 500
		    print(package['name'], package['versionInfo'])
		END
        for package in libc6-dev libgcc libhiredis-dev libssl-dev; do
            assert_line --regexp "^$package"
        done
        [[ $architecture == "$native" ]] || continue
        while read -r package version; do
            assert_equal "$package $version" "$package $(dpkg-query -W -f '${Version}' "$package")"
        done <<<"$output"
    done
}

@test "each program is static, of its architecture, and runs a command under a lock" {
    local architecture machine
    declare -A machine=([amd64]='Advanced Micro Devices X86-64' [arm64]=AArch64)
    for architecture in $(architectures); do
        run -0 readelf -hlW "$(tree "$architecture")/bin/rlock"
        assert_output --partial "Machine:                           ${machine[$architecture]}"
        refute_output --partial INTERP
        run -0 on "$architecture" "$(tree "$architecture")/bin/rlock" --version
        assert_line --index 0 --regexp "^rlock $VERSION( |\$)"
        assert_line --index 1 --regexp '^linked in: OpenSSL 3\.[0-9.]+, hiredis [01]\.[0-9.]+, glibc 2\.[0-9]+$'
        run -3 on "$architecture" "$(tree "$architecture")/bin/rlock" run -n x -- sh -c 'exit 3'
    done
}

@test "the same source gives the same bytes, elsewhere and at another time" {
    local commit
    commit=$("$PROJECT/build-release/cmd/rlock" --version | sed -n 's/.*(commit \(.*\))/\1/p') # there is no .git there
    mkdir elsewhere
    tar -C "$PROJECT" --exclude='./build*' --exclude=./.git -cf - . | tar -C elsewhere -xf -
    find elsewhere -exec touch {} +
    cd elsewhere || return
    umask 077
    export TZ=Asia/Tokyo LANG=C.UTF-8
    cmake --preset release -DRLOCK_RELEASE="$native" -DRLOCK_COMMIT="$commit" >/dev/null
    cmake --build --preset release -- --quiet >/dev/null
    run -0 cat build-release/release/SHA256SUMS
    assert_output "$(grep -e Dockerfile -e "-$native\." "$OUT/SHA256SUMS")"
}

# There is no docker here: what it copies into the second stage is copied.
@test "the Dockerfile finds what it copies, and its image runs as nobody" {
    local source to
    run -0 grep -vE '^(#|$|COPY --from=tarball )' "$OUT/Dockerfile"
    assert_output 'FROM scratch AS tarball
ARG TARGETARCH
ADD rlock-*-linux-${TARGETARCH}.tar.gz /
FROM scratch
USER 65534:65534
ENTRYPOINT ["/bin/rlock"]'
    while read -r source to; do
        mkdir -p "image$to"
        [[ $source != */ ]] || source+=.
        # shellcheck disable=SC2086 # patterns
        cp -R "$BATS_FILE_TMPDIR"/${source/-\*/-*-$native} "image$to"
    done < <(sed -n 's/^COPY --from=tarball //p' "$OUT/Dockerfile")
    chmod a+x "$BATS_RUN_TMPDIR" "$BATS_TEST_TMPDIR"
    run -0 chroot --userspec=65534:65534 image /bin/rlock --version
    assert_line --index 0 --regexp "^rlock $VERSION( |\$)"
    assert_file_exists image/share/doc/rlock/licenses/libssl-dev
}
