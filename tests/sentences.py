#!/usr/bin/env python3
"""Finds sentences that are too long to be read at one go: tests/sentences.py [FILE…]

Reads the first comment of every .c and .h file, and every page of docs/ and README.md, or the files named. Tables and code of a page are left
out. A sentence ends with a full stop, a question mark, a colon or a semicolon before a space, with its paragraph, or with its item of a list.
Prints `not ok FILE: how many words, and the sentence's beginning` for each, and `ok FOLDER` for each folder without one.
"""
import pathlib
import re
import sys

MOST_WORDS = 35
CODE = ("dsl", "runtime", "memmgr", "partition", "profiles", "compiler", "examples", "tests")


def head_of(text):
    """The first comment of a C file, without its stars."""
    comment = re.match(r"\s*/\*(.*?)\*/", text, re.S)
    return re.sub(r"\n \*", "\n", comment[1]) if comment else ""


def prose_of(text):
    """A page without its code and tables; headings are paragraphs of their own."""
    text = re.sub(r"```.*?```", "\n\n", text, flags=re.S)
    lines = [line for line in text.split("\n") if not line.lstrip().startswith("|") and not line.startswith("    ")]
    return "\n".join(f"\n{line}\n" if line.startswith("#") else line for line in lines)


def sentences(text):
    for sentence in re.split(r"(?<=[.!?:;])\s+|\n\s*\n|\n\s*(?:[-*]|\d+\.)\s", text):
        yield len(re.findall(r"[A-Za-z0-9_/().-]+", sentence)), " ".join(sentence.split())


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    files = [pathlib.Path(name).resolve() for name in sys.argv[1:]]
    if not files:
        files = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
        files += [f for top in CODE for f in sorted((root / top).rglob("*.[ch]"))]
    wrong = {str(f.relative_to(root).parts[0]) if f.is_relative_to(root) else str(f): 0 for f in files}
    for file in files:
        text = file.read_text(errors="replace")
        text = prose_of(text) if file.suffix == ".md" else head_of(text)
        name = str(file.relative_to(root) if file.is_relative_to(root) else file)
        for n, sentence in sentences(text):
            if n > MOST_WORDS:
                wrong[name.split("/")[0] if file.is_relative_to(root) else name] += 1
                print(f"not ok {name}: {n} words: {sentence[:100]}")
    for folder, count in wrong.items():
        if not count:
            print(f"ok {folder}")
    return 1 if any(wrong.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
