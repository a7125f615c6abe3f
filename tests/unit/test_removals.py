#!/usr/bin/env python3
"""docs/removals.md names each place that removes, renames or overwrites a file, and why what is there
is ours. A place that is not there fails.

    tests/unit/test_removals.py --show      what the table is to name
"""

import ast
import collections
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE, HEADING = "docs/removals.md", "# What is removed, renamed or overwritten\n"
FOLDERS = ("common", "cupti_hooks", "include", "interpose", "ledger", "packaging", "python", "report",
           "scripts", "share", "tests", "track")

# Calls, which are indented, and flags of open(2).
C = re.compile(r"^[ \t].*?\b(unlink|unlinkat|rename|renameat2?|rmdir|truncate|ftruncate|creat|remove|"
               r"mkstemp|mkostemp|mkdtemp|chmod|fchmod|fchmodat|shm_open|shm_unlink|sem_unlink|"
               r"sc_file_remove|sc_file_create|sc_outfile_open|sc_outfile_append)(?=\()|"
               r"\b(SYS_(?:unlink|rename|truncate|ftruncate|rmdir|creat|chmod)\w*)|"
               r"\b(O_CREAT|O_TRUNC)\b|\b(fopen|freopen)\([^;]*,\s*\"[wa]", re.M)
C_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
C_TEXT = re.compile(r'"(?:\\.|[^"\\\n]){3,}"')  # and not the mode of fopen

# A command stands at the beginning, behind what separates commands, or behind a word that takes one.
SHELL = re.compile(r"(?:^|[;&|({`!]|\b(?:do|then|else|exec|in_trial))\s*@?(?:\$\(Q\))?\s*"
                   r"(?:\w+=\S*\s+)*(rm|mv|cp|ln|rmdir|install|tee|touch|dd|truncate|unlink|sed -i)"
                   r"(?=\s)|(-exec rm|-delete)\b|\b(tar) -\w*x")
REDIRECTION = re.compile(r"(?<![\w<>=&$\-%\\\[])[12&]?(>>?)\|?\s*(?=[\"$A-Za-z/{@.])(?!/dev/)")
HEREDOC = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?[^\n]*\n(.*?\n)\s*\1\n", re.S)
SHELL_TOKEN = re.compile(r"""(?P<comment>(?:^|(?<=\s))\#[^\n]*)|\\.|
                         (?P<code>(?:\s-e?c\s|\btrap\s)(?:'[^']*'|"(?:\\.|[^"\\])*"))|
                         (?P<text>'[^']*'|"(?:\\.|[^"\\])*")""", re.X | re.S | re.M)

PYTHON = {"unlink", "rename", "renames", "rmdir", "removedirs", "rmtree", "copy2", "copyfile", "copytree",
          "copyfileobj", "truncate", "ftruncate", "write_text", "write_bytes", "touch", "extractall"}
OF_MODULE = {"remove": "os", "replace": "os", "copy": "shutil", "move": "shutil"}


def groups(pattern, text):
    return [next(filter(None, match.groups())) for match in pattern.finditer(text)]


def in_c(text):
    return groups(C, C_TEXT.sub('""', C_COMMENT.sub(" ", text)))


def bare(match):
    """Without comments and what is in quotes, unless that is a program of the shell's again."""
    if match["code"]:
        return "\n".join(re.split(r"['\"]", match["code"], maxsplit=1))[:-1] + "\n"
    return '"$text"' if match["text"] else "" if match["comment"] is not None else match[0]


def in_shell(text):
    text = SHELL_TOKEN.sub(bare, HEREDOC.sub("\n", text))
    for line in text.splitlines():
        yield from groups(SHELL, line) + groups(REDIRECTION, line)


def in_makefile(text):
    """Recipes, and what is put into them."""
    return in_shell("\n".join(line for line in text.splitlines()
                              if line.startswith("\t") or " = " in line))


def mode_of(call, at):
    given = [word.value for word in call.keywords if word.arg == "mode"] + call.args[at:at + 1]
    return given[0].value if given and isinstance(given[0], ast.Constant) else ""


def in_python(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute) and node.attr in ("O_CREAT", "O_TRUNC"):
            yield node.attr
        if not isinstance(node, ast.Call):
            continue
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        of = getattr(getattr(function, "value", None), "id", "")
        if name in ("open", "fdopen"):
            is_method = isinstance(function, ast.Attribute) and of not in ("os", "io")
            if re.search("[wax+]", str(mode_of(node, 0 if is_method else 1))):
                yield "open"
        elif name in OF_MODULE:
            if of == OF_MODULE[name]:
                yield name
        elif name in PYTHON:
            yield name


def places_in(path):
    """The words of a file that are to stand in the table, each with how often it is there."""
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.name == "Makefile" or path.suffix == ".mk":
        found = in_makefile(text)
    elif path.suffix in (".c", ".h"):
        found = in_c(text)
    elif path.suffix == ".py" or text.startswith("#!/usr/bin/env python3"):
        found = in_python(text)
    elif text.startswith("#!/bin/bash") or path.parts[-3:-1] == ("share", "bash-completion"):
        found = in_shell(text)
    elif path.relative_to(ROOT).parts[0] == "share" and path.suffix not in (".1", ".supp"):
        found = in_shell(text)
    else:
        found = ()
    return collections.Counter(found)


def is_looked_at(path):
    """Tests in C, and those of the suite unit, write into folders of their own."""
    parts = path.relative_to(ROOT).parts
    return path.is_file() and "__pycache__" not in parts and not (
        parts[0] == "tests" and (parts[1] == "unit" or path.suffix != ".py"))


def places():
    found = {"Makefile": places_in(ROOT / "Makefile")}
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if is_looked_at(path):
                found[path.relative_to(ROOT).as_posix()] = places_in(path)
    return {name: words for name, words in found.items() if words}


def table():
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    section = text.partition(HEADING)[2].partition("\n## ")[0]
    for line in section.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
        if len(cells) == 3 and cells[0].startswith("`"):
            words = collections.Counter({word: int(count or 1) for word, count in
                                         re.findall(r"`([^`]+)`(?: (\d+))?", cells[1])})
            yield cells[0].strip("`"), words, cells[2]


def as_cell(words):
    return ", ".join(f"`{word}`{f' {count}' if count > 1 else ''}"
                     for word, count in sorted(words.items()))


SAMPLES = (
    (in_c, "    unlink(path);\n    x = open(path, O_RDWR | O_CREAT);\n    RAW(SYS_renameat2, a);\n"
           "    f = fopen(path, \"we\");\n", ["unlink", "O_CREAT", "SYS_renameat2", "fopen"]),
    (in_c, "/* unlink(x) */\n    say(\"unlink(x)\");\n    fopen(path, \"rbe\");\n"
           "int rename(a);\n    drop_unlink(x);\n", []),
    (in_shell, "rm -rf a && mv b c; cat <a >b\nfind . -delete # rm x\n"
               "sh -c 'rm a; echo >b'\nx=$(cp a b)\n", ["rm", "mv", ">", "-delete", "rm", ">", "cp"]),
    (in_shell, "echo 'rm x > y' \"rm y\" 2>/dev/null >&2\n# rm x\n[ a -> b ]\ncat <<END\nrm x\nEND\n",
     []),
    (in_python, "os.unlink(a)\nopen(a, 'w')\nopen(a, mode='ab')\np.open('x')\nshutil.rmtree(a)\n"
                "os.open(a, os.O_TRUNC)\nos.replace(a, b)\n",
     ["unlink", "open", "open", "open", "rmtree", "O_TRUNC", "replace"]),
    (in_python, "open(a)\nopen(a, 'rb')\nlines.remove(a)\ntext.replace(a, b)\nx = {}.copy()\n", []),
)


class Removals(unittest.TestCase):
    def test_the_table_names_each_place(self):
        named = {name: words for name, words, _ in table()}
        there = places()
        self.assertGreater(len(there), 20)
        for name in sorted({*named, *there}):
            with self.subTest(name):
                self.assertEqual(
                    as_cell(named.get(name, {})), as_cell(there.get(name, {})),
                    f"{PAGE} and {name} differ: name the place there, with the reason why it hits "
                    "nothing that is not ours")

    def test_each_row_has_a_reason(self):
        for name, _, reason in table():
            self.assertGreater(len(reason), 5, name)

    def test_units_write_into_folders_of_their_own(self):
        for path in sorted((ROOT / "tests" / "unit").glob("*.py")):
            if path != pathlib.Path(__file__).resolve() and places_in(path):
                self.assertRegex(path.read_text(encoding="utf-8"), "tempfile|pytest_session|safecopy_runs",
                             path.name)

    def test_what_is_found(self):
        for find, text, words in SAMPLES:
            self.assertEqual(sorted(find(text)), sorted(words), text)


if __name__ == "__main__":
    if sys.argv[1:] == ["--show"]:
        for file, found in places().items():
            print(f"| `{file}` | {as_cell(found)} |")
    else:
        unittest.main()
