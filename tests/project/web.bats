#!/usr/bin/env bats
# web.bats: the manual in a browser and on a forge: it is complete, its links lead somewhere, and man/markdown
# is what the pages say.

bats_require_minimum_version 1.5.0
bats_load_library bats-support
bats_load_library bats-assert

PROJECT=$(cd "${BATS_TEST_FILENAME%/*}/../.." && pwd)
web=$PROJECT/man/web

# links DIRECTORY html|md: each link of each page that leads to no page there, or to no place on it. In Markdown a forge
# makes a place of each heading, and what stands in an example is no link.
links() {
    python3 - "$@" <<-'END'
	import pathlib, re, sys
	directory, form = sys.argv[1:]
	pages = {path.name: path.read_text(encoding="utf-8") for path in pathlib.Path(directory).glob(f"*.{form}")}
	def places_of(text):
	    if form == "html":
	        return set(re.findall(r'\bid="([^"]*)"', text))
	    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in re.findall(r"(?m)^#+ (.*)", text)}
	def links_of(text):
	    if form == "html":
	        return re.findall(r'\bhref="([^"]*)"', text)
	    return re.findall(r"\]\(([^)]*)\)", re.sub(r"(?s)```.*?```|`[^`]*`", "", text))
	places = {name: places_of(text) for name, text in pages.items()}
	assert len(pages) > 20
	for name, text in pages.items():
	    for link in links_of(text):
	        page, _, place = link.partition("#")
	        if not link.startswith("https://") and page != "manual.css" and (
	                (page or name) not in pages or place and place not in places[page or name]):
	            print(f"{name}: {link}")
	END
}

@test "HTML: a page for each of the manual, an index of all, and links that lead somewhere" {
    local page name
    "$web/make" html "$BATS_TEST_TMPDIR/html" 0.0.0
    run links "$BATS_TEST_TMPDIR/html" html
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
    run links "$PROJECT/man/markdown" md
    assert_output ''
    run grep -nP '^\t|</?(p|div|dl|dd|dt|table)\b' -r "$PROJECT/man/markdown"
    assert_failure 1
    grep -qx '\$ rlock run -x -n deploy -- ./deploy.sh' "$PROJECT/man/markdown/rlock-run.1.md"
    grep -qx -- '- `-w`, `--wait` \*D\*' "$PROJECT/man/markdown/rlock-run.1.md"
    grep -qF '[rlock-run(1)](rlock-run.1.md)' "$PROJECT/man/markdown/rlock.1.md"
    grep -qxF '| 30s | 14 s (the default) |' "$PROJECT/man/markdown/rlock.7.md"
}
