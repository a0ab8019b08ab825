# SPDX-License-Identifier: MIT
"""docs_links.py SOURCE - each relative link of the documentation and of the pages beside it leads to a file,
and its anchor to a heading there; each page is in the table of contents of the site (mkdocs.yml), and is
what the site's program can resolve: no link leaves docs/ but to a file of the source."""
import os
import re
import sys
import tempfile
import unicodedata


def text_of(path):
    """The page without code."""
    with open(path, encoding="utf-8") as page:
        text = page.read()
    return re.sub(r"(?ms)^( *)```.*?^\1```$|^( *)~~~.*?^\2~~~$", "", text)


def anchors(path):
    """Of Python-Markdown and of GitHub, which differ in characters between words."""
    found, seen = set(), {}
    for heading in re.findall(r"(?m)^#{1,6} +(.*?) *#*$", text_of(path)):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "")
        ascii_only = unicodedata.normalize("NFKD", plain).encode("ascii", "ignore").decode()
        words = re.sub(r"[^\w\s-]", "", ascii_only).strip().lower()
        slug = re.sub(r"[-\s]+", "-", words)
        found |= {slug if slug not in seen else f"{slug}_{seen[slug]}", words.replace(" ", "-")}
        seen[slug] = seen.get(slug, 0) + 1
    return found | set(re.findall(r'(?:id|name)="([^"]+)"', text_of(path)))


def links(path):
    without_code = re.sub(r"`[^`\n]*`", "", text_of(path))
    inline = re.findall(r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)", without_code)
    return inline + re.findall(r"(?m)^ *\[[^]]+\]: +(\S+)", without_code)


def faults_of(source):
    pages = [os.path.join(source, name) for name in os.listdir(source) if name.endswith(".md")]
    docs = os.path.join(source, "docs")
    for folder, _, names in os.walk(docs):
        pages += [os.path.join(folder, name) for name in names if name.endswith(".md")]
    made = {"fields.html", "swath.html", "relief.html"} # by tools/live-pages.sh
    for page in sorted(pages):
        for link in links(page):
            if re.match(r"[a-z]+:", link) or os.path.basename(link) in made:
                continue
            name, _, anchor = link.partition("#")
            there = os.path.normpath(os.path.join(os.path.dirname(page), name)) if name else page
            if not os.path.exists(there):
                yield f"{page}: no file {link}"
            elif anchor and there.endswith(".md") and anchor not in anchors(there):
                yield f"{page}: no heading for {link}"
    with open(os.path.join(source, "mkdocs.yml"), encoding="utf-8") as text:
        listed = set(re.findall(r"\s(\S+\.md)$", text.read(), re.M))
    there = {os.path.relpath(page, docs) for page in pages if page.startswith(docs + os.sep)}
    yield from (f"mkdocs.yml does not list {name}" for name in sorted(there - listed)
                if not name.startswith(("dev/decisions/", "dev/measurements/")))
    yield from (f"mkdocs.yml lists {name}, which is missing" for name in sorted(listed - there))


def finds_planted_faults():
    """A page with one right link, and three wrong ones."""
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(folder + "/docs")
        with open(folder + "/mkdocs.yml", "w", encoding="utf-8") as text:
            text.write("nav:\n  - a: a.md\n  - b: gone.md\n")
        with open(folder + "/docs/a.md", "w", encoding="utf-8") as text:
            text.write("# A `b`, c\n\n[x](#a-b-c) [x](#a-b) [x](b.md)\n\n```\n[x](in-code.md)\n```\n")
        return len(list(faults_of(folder))) == 3


faults = list(faults_of(sys.argv[1]))
print("\n".join(faults))
if not finds_planted_faults():
    sys.exit("planted faults were not found")
sys.exit(1 if faults else 0)
