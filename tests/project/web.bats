#!/usr/bin/env bats
# web.bats: the manual in a browser and on a forge: it is complete, its links lead somewhere, and man/markdown
# is what the pages say.

bats_require_minimum_version 1.5.0
bats_load_library bats-support
bats_load_library bats-assert

PROJECT=$(cd "${BATS_TEST_FILENAME%/*}/../.." && pwd)
web=$PROJECT/man/web

# links DIRECTORY: each link of each page that leads to no page there, or to no place on it.
links() {
    python3 - "$1" <<-'END'
	import pathlib, re, sys
	pages = {path.name: path.read_text(encoding="utf-8") for path in pathlib.Path(sys.argv[1]).glob("*.html")}
	places = {name: set(re.findall(r'\bid="([^"]*)"', text)) for name, text in pages.items()}
	assert len(pages) > 20
	for name, text in pages.items():
	    for link in re.findall(r'\bhref="([^"]*)"', text):
	        page, _, place = link.partition("#")
	        if not link.startswith("https://") and page != "manual.css" and (
	                (page or name) not in pages or place and place not in places[page or name]):
	            print(f"{name}: {link}")
	END
}

# The same in Markdown, where a forge makes a place of each heading.
markdown_links() {
    python3 - "$1" <<-'END'
	import pathlib, re, sys
	pages = {path.name: path.read_text(encoding="utf-8") for path in pathlib.Path(sys.argv[1]).glob("*.md")}
	def slug(heading):
	    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
	places = {name: {slug(heading) for heading in re.findall(r"(?m)^#+ (.*)", text)} for name, text in pages.items()}
	assert len(pages) > 20
	for name, text in pages.items():
	    for link in re.findall(r"\]\(([^)]*)\)", re.sub(r"(?s)```.*?```|`[^`]*`", "", text)):
	        page, _, place = link.partition("#")
	        if not link.startswith("https://") and (
	                (page or name) not in pages or place and place not in places[page or name]):
	            print(f"{name}: {link}")
	END
}

@test "HTML: a page for each of the manual, an index of all, and links that lead somewhere" {
    local page name
    "$web/make" html "$BATS_TEST_TMPDIR/html" 0.0.0
    run links "$BATS_TEST_TMPDIR/html"
    assert_output ''
    for page in "$PROJECT"/man/*.[1-9]; do
        name=${page##*/}
        grep -qF "href=\"$name.html\"" "$BATS_TEST_TMPDIR/html/index.html" || fail "the index lacks $name"
        grep -q 'name="viewport"' "$BATS_TEST_TMPDIR/html/$name.html"
        grep -q 'href="manual.css"' "$BATS_TEST_TMPDIR/html/$name.html"
    done
    grep -q 'prefers-color-scheme: dark' "$BATS_TEST_TMPDIR/html/manual.css"
}

@test "man/markdown is what the pages say (man/web/make markdown man/markdown)" {
    "$web/make" markdown "$BATS_TEST_TMPDIR/markdown"
    run diff -r "$PROJECT/man/markdown" "$BATS_TEST_TMPDIR/markdown"
    assert_success
}

@test "Markdown: links lead somewhere, text is text and examples are examples" {
    run markdown_links "$PROJECT/man/markdown"
    assert_output ''
    run grep -nP '^\t|</?(p|div|dl|dd|dt|table)\b' -r "$PROJECT/man/markdown"
    assert_failure 1
    grep -qx '\$ rlock run -x -n deploy -- ./deploy.sh' "$PROJECT/man/markdown/rlock-run.1.md"
    grep -qx -- '- `-w`, `--wait` \*D\*' "$PROJECT/man/markdown/rlock-run.1.md"
    grep -qF '[rlock-run(1)](rlock-run.1.md)' "$PROJECT/man/markdown/rlock.1.md"
    grep -qxF '| 30s | 14 s (the default) |' "$PROJECT/man/markdown/rlock.7.md"
}

@test "the target html makes it, and it is installed" {
    local own=$BATS_TEST_TMPDIR/build # what others install meanwhile has no pages that are half made
    cmake -S "$PROJECT" -B "$own" >/dev/null
    cmake --build "$own" --target html >/dev/null
    cmake -D CMAKE_INSTALL_PREFIX="$BATS_TEST_TMPDIR/prefix" -P "$own/man/cmake_install.cmake" >/dev/null
    [ -s "$BATS_TEST_TMPDIR/prefix/share/doc/rlock/html/index.html" ]
    [ -s "$BATS_TEST_TMPDIR/prefix/share/doc/rlock/html/rlock-run.1.html" ]
}

@test "README leads to pages that a forge renders" {
    run grep -n '](man/[a-z.-]*\.[1-9])' "$PROJECT/README.md" "$PROJECT/CONTRIBUTING.md"
    assert_failure 1
    grep -q '](man/markdown/rlock.1.md)' "$PROJECT/README.md"
    local link
    while read -r link; do # a place on a page is a heading in lower case, with dashes
        sed -n 's/^#* //p' "$PROJECT/${link%#*}" | tr 'A-Z ' 'a-z-' | grep -qx "${link#*#}" || fail "README: no $link"
    done < <(grep -ohE '\]\(man/markdown/[^)]*#[^)]*\)' "$PROJECT"/{README,SECURITY}.md | tr -d '])(')
}
