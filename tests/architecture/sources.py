"""Reading the tree: which files there are, and their code without comments and strings."""

import pathlib
import re

SUFFIXES = {".h", ".cc"}
SKIPPED_FOLDERS = {"build", "node_modules", ".git", ".hodei"}

_TOKEN = re.compile(
    r"""R"(?P<delimiter>[^()\s\\]{0,16})\((?P<raw>.*?)\)(?P=delimiter)"   # raw string
      | "(?:\\.|[^"\\\n])*"                                             # string
      | '(?:\\.|[^'\\\n])+'                                             # character
      | //[^\n]*
      | /\*.*?\*/""",
    re.S | re.X,
)


def files(root):
    """Every C++ file of the tree, as (path, path relative to the root with forward slashes), sorted."""
    root = pathlib.Path(root)
    found = []
    for top in ("src", "tests", "bench"):
        for path in (root / top).rglob("*"):
            if path.suffix in SUFFIXES and not SKIPPED_FOLDERS & set(path.relative_to(root).parts):
                found.append((path, path.relative_to(root).as_posix()))
    return sorted(found, key=lambda pair: pair[1])


def without_comments(text):
    """The text with comments and the insides of strings blanked out; lines keep their numbers."""

    def blank(match):
        token = match.group(0)
        if token[0] in "\"'" or token.startswith("R"):
            return '""' + "\n" * token.count("\n")
        return "\n" * token.count("\n")

    # Digit separators (1'000) look like the start of a character.
    text = re.sub(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])", "", text)
    return _TOKEN.sub(blank, text)


def is_test(relative):
    name = relative.rsplit("/", 1)[-1]
    return name.endswith(("_test.cc", "_fixture.h", "_harness.h", "_suite.h", "_suite.cc")) or name.startswith(("test_", "fake_"))
