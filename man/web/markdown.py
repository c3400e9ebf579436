#!/usr/bin/env python3
"""A page of the manual as Markdown that forges render, from mandoc's HTML on standard input.

mandoc's own Markdown sets the text of lists as code, and links to nothing.

usage: markdown.py TITLE
"""
import html.parser
import re
import sys

LITERAL = {"code", "span.Pa"}
MARKS = {"var": "*", "i": "*", "b": "**", "em": "*"}
BLOCKS = {"p", "div", "section", "dt", "dd", "li", "td", "h1", "h2", "pre", "table", "ul", "ol", "dl"}
VOID = {"br", "meta", "link", "hr"}


class Node:
    def __init__(self, tag, attributes):
        self.tag, self.children = tag, []
        self.href = attributes.get("href", "")
        self.words = (attributes.get("class") or "").split()

    def parts(self, *tags):
        return [child for child in self.children if isinstance(child, Node) and child.tag in tags]


class Tree(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open = [Node("root", {})]

    def handle_starttag(self, tag, attrs):
        node = Node(tag, dict(attrs))
        self.open[-1].children.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_startendtag(self, tag, attrs):
        self.open[-1].children.append(Node(tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open[-1].tag == tag, (self.open[-1].tag, tag)
        self.open.pop()

    def handle_data(self, data):
        self.open[-1].children.append(data)


def plain(node):
    return node if isinstance(node, str) else "".join(plain(child) for child in node.children)


def slug(heading):
    """The anchor that forges give a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def code(text):
    fence = "``" if "`" in text else "`"
    pad = " " if text[:1] == "`" or text[-1:] == "`" else ""
    return fence + pad + text.replace("|", "\\|" if code.in_table else "|") + pad + fence


code.in_table = False


def is_literal(node):
    return node.tag in LITERAL or any(f"{node.tag}.{word}" in LITERAL for word in node.words)


def inline(node):
    if isinstance(node, str):
        return re.sub(r"([\\`*_<>\[\]|#~])", r"\\\1", re.sub(r"\s+", " ", node))
    if node.tag == "br":
        return " "
    text = re.sub(r"\s+", " ", plain(node))
    if is_literal(node) and text.strip():
        return code(text.strip())
    inner = "".join(inline(child) for child in node.children)
    if node.tag == "a" and "permalink" not in node.words and node.href:
        page, sign, _ = node.href.partition("#")
        return f"[{inner}]({page + (sign and '#' + slug(text))})"
    if node.tag in MARKS and inner.strip():
        return MARKS[node.tag] + inner.strip() + MARKS[node.tag]
    return inner


def paragraph(nodes):
    return re.sub(r"\s+", " ", "".join(inline(node) for node in nodes)).strip()


def indented(lines, first, rest):
    return [((first if i == 0 else rest) + line).rstrip() for i, line in enumerate(lines)]


def table(node):
    code.in_table = True
    rows = [[paragraph(cell.children) for cell in row.parts("td")] for row in node.parts("tr")]
    code.in_table = False
    titled = all(re.fullmatch(r"\*+[^*]+\*+", cell) for cell in rows[0])
    if not titled:
        rows.insert(0, [""] * len(rows[0]))
    rows.insert(1, ["---"] * len(rows[0]))
    return ["| " + " | ".join(row) + " |" for row in rows]


def items(node):
    """A list: what a term means stands below it, as deep as the item."""
    for number, child in enumerate(node.parts("li", "dt", "dd"), 1):
        mark = f"{number}. " if node.tag == "ol" else "- "
        lines = blocks(child)
        if child.tag == "dd":
            yield ""
            yield from indented(lines, "  ", "  ")
            yield ""
        else:
            yield from indented(lines or [""], mark, " " * len(mark))
            if child.tag == "li" and "Bl-compact" not in node.words:
                yield ""


def block(node):
    if node.tag in ("h1", "h2"):
        return ["#" * (int(node.tag[1]) + 1) + " " + re.sub(r"\s+", " ", plain(node)).strip()]
    if node.tag == "pre":
        return ["```", *plain(node).strip("\n").split("\n"), "```"]
    if node.tag == "table":
        if "Nm" in node.words:  # a line of a synopsis
            return [" ".join(paragraph(cell.children) for row in node.parts("tr") for cell in row.parts("td"))]
        return table(node)
    if node.tag in ("ul", "ol", "dl"):
        return list(items(node))
    return blocks(node)


def blocks(node):
    """The lines of all that is in a node, with an empty line between its parts."""
    lines, text = [], []

    def add(more):
        if more and any(more):
            lines.extend(([""] if lines else []) + more)

    def flush():
        line = paragraph(text)
        text.clear()
        add([line] if line else [])

    for child in node.children:
        if isinstance(child, Node) and child.tag in BLOCKS:
            flush()
            if not {"head", "foot"} & set(child.words):
                add(block(child))
        else:
            text.append(child)
    flush()
    return lines


def main():
    tree = Tree()
    tree.feed(sys.stdin.read())
    (page,) = tree.open
    (html_node,) = page.parts("html")
    (body,) = html_node.parts("body")
    text = "\n".join([f"# {sys.argv[1]}", "", *blocks(body)])
    print(re.sub(r"\n{3,}", "\n\n", text))


main()
