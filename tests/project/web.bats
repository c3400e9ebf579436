#!/usr/bin/env bats
# web.bats: the manual and the documents in a browser and on a forge: the manual is complete, links lead somewhere, and
# man/markdown is what the pages say.

load ../lib/rlock
load ../lib/no_server

web=$PROJECT/man/web

# links FILE...: each link of these that leads to no file, or to no place in it, or to a page as roff, which a forge does
# not render. In Markdown a forge makes a place of each heading, and what stands in an example is no link.
links() {
    python3 - "$@" <<-'END'
	import pathlib, re, sys
	def links_and_places(path):
	    text = path.read_text(encoding="utf-8")
	    if path.suffix == ".html":
	        return re.findall(r'\bhref="([^"]*)"', text), re.findall(r'\bid="([^"]*)"', text)
	    return (re.findall(r"\]\(([^)]*)\)", re.sub(r"(?s)```.*?```|`[^`]*`", "", text)),
	            [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in re.findall(r"(?m)^#+ (.*)", text)])
	for path in map(pathlib.Path, sys.argv[1:]):
	    for link in links_and_places(path)[0]:
	        page, _, place = link.partition("#")
	        target = path.parent / page if page else path
	        if not link.startswith("https://") and (
	                not target.exists() or re.fullmatch(r"\.[1-9]", target.suffix) or place and place not in links_and_places(target)[1]):
	            print(f"{path}: {link}")
	END
}

@test "HTML: a page for each of the manual, an index of all, and links that lead somewhere" {
    local page name
    "$web/make" html "$BATS_TEST_TMPDIR/html" 0.0.0
    run links "$BATS_TEST_TMPDIR"/html/*.html
    assert_success && refute_output
    for page in "$PROJECT"/man/*.[1-9]; do
        name=${page##*/}
        grep -qF "href=\"$name.html\"" "$BATS_TEST_TMPDIR/html/index.html" || fail "the index lacks $name"
    done
}

@test "man/markdown is what the pages say (man/web/make markdown man/markdown)" {
    "$web/make" markdown "$BATS_TEST_TMPDIR/markdown"
    run diff -r "$PROJECT/man/markdown" "$BATS_TEST_TMPDIR/markdown"
    assert_success
}

@test "Markdown: links lead somewhere" {
    run links "$PROJECT"/man/markdown/*.md "$PROJECT"/{README,CONTRIBUTING,CHANGELOG,SECURITY,{lib,tests,cmake}/README}.md
    assert_success && refute_output
}
