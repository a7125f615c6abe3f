"""What scripts/check-docs finds, in a small tree of its own, and how it wraps."""

import contextlib
import importlib.machinery
import importlib.util
import io
import pathlib
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent.parent / "scripts" / "check-docs"


def loaded(root):
    loader = importlib.machinery.SourceFileLoader("check_docs", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_docs", loader))
    loader.exec_module(module)
    module.ROOT = root
    return module


class Docs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        self.docs = loaded(self.root)
        self.write("track/low.h", "void sc_low_find(void);\n")
        self.write("share/man/man1/safecopy.1", ".BI \\-\\-report\\-dir \" DIR\"\n.B \\-o\n")
        self.write("docs/options.md", "# Options\n\n### strict\n")
        self.write("docs/other.md", "# Other\n\n## The two ways\n\n## A `b`, and c\n\n## A `b`, and c\n")

    def write(self, path, text):
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def said(self, text):
        self.write("docs/page.md", text)
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            self.docs.sys.argv[1:] = []
            status = self.docs.main()
        self.assertEqual(status, 1 if said.getvalue() else 0)
        return said.getvalue()

    def refused(self, words, *texts):
        for text in texts:
            with self.subTest(text):
                self.assertRegex(self.said("first\n" + text), rf"^docs/page.md:2: {words}")

    def accepted(self, *texts):
        for text in texts:
            with self.subTest(text):
                self.assertEqual(self.said(text), "")

    def test_width(self):
        wide = "word " * 21
        self.refused("has 104 columns", wide.strip())
        self.refused("has 106 columns", "- " + wide.strip())
        self.accepted("| " + wide, "```\n" + wide + "\n```", "- " + 120 * "w", "# " + wide)

    def test_links(self):
        self.refused("links to lost.md", "[a](lost.md)", '<img src="lost.md">')
        self.refused("links to other.md#lost", "[a](other.md#lost)")
        self.refused("links to #lost", "[a](#lost)")
        self.accepted("[a](other.md)", "[a](other.md#the-two-ways)", "[a](other.md#a-b-and-c-1)",
                      "[a](../track/low.h)", "[a](https://b.c/d)", "# Here\n[a](#here)",
                      "```\n[a](lost.md)\n```")

    def test_figures(self):
        self.write("docs/tools.tsv", "tool\tfound\nfirst\t3 of 26\nsecond\t0 of 26\n")
        self.refused("says 4 of 26, which no row of tools.tsv does", "first [4 of 26](tools.tsv)")
        self.refused("says 3 of 26", "second [3 of 26](tools.tsv)")
        self.refused("links to lost.tsv", "first [3 of 26](lost.tsv)")
        self.accepted("first [3 of 26](tools.tsv)", "[the table](tools.tsv)")

    def test_names(self):
        self.refused("names sc_low_lose", "`sc_low_lose` and `sc_low_find`", "sc_low_lose",
                     "`sc_low_lose()`")
        self.assertIn("page.md:3: names sc_low_lose", self.said("first\n```\nsc_low_lose -->\n```"))
        self.refused("names `SC_LOW", "`SC_LOW(a)`")
        self.refused("names `lost.c`", "`lost.c`")
        self.refused("names `track/lost.h`", "`track/lost.h`")
        self.accepted("`sc_low_find`", "`sc_low_find()`", "`sc_low_*`", "`low.h`", "`track/low.h`",
                      "`track/`", "`out/lost.c`", "`track/as_NAME.c`", "```\n`lost.c`\n```")

    def test_flags_and_options(self):
        self.refused("gives safecopy --report-folder", "`safecopy run --report-folder x -- ./app`")
        self.refused("gives safecopy -p", "out/safecopy report -p x")
        self.refused("sets strikt", "`SAFECOPY_OPTIONS=strikt=1`", 'SAFECOPY_OPTIONS="strict=1:strikt=1"')
        self.accepted("`safecopy run --report-dir x -- ./app --any`", "safecopy report -o x y",
                      "`safecopy run -- ./app -p`", "SAFECOPY_OPTIONS=strict=1 ./app",
                      "`safecopy run`, and `--other`")

    def test_folders_of_a_machine(self):
        self.refused("shows a folder", "ran in /root/x", "`/work/x.c:3`", "/home/bob/x")
        self.accepted("/home/me/x", "~/work/x", "the /work folder", "out/root/x")

    def test_wrapping(self):
        item = "  - " + "word " * 30 + "\n    more"
        text = f"# {'head ' * 30}\n\n{item}\n\nshort\nlines\n\n| {'cell ' * 30}|\n"
        wrapped = self.docs.wrapped(text)
        self.assertEqual(wrapped.split(), text.split())
        self.assertEqual(list(self.docs.width_problems(wrapped)), [])
        self.assertIn("\nshort\nlines\n", wrapped)
        self.assertRegex(wrapped, r"\n  - word [^\n]*\n    word [^\n]*more\n")
        self.assertEqual(self.docs.wrapped(wrapped), wrapped)

    def test_no_line_becomes_an_item(self):
        for sign in ("-", "+", "7."):
            wrapped = self.docs.wrapped(f"a {'w' * 97} {sign} more")
            self.assertNotRegex(wrapped, r"(?m)^[-+7]")
            self.assertEqual(wrapped.split(), ["a", "w" * 97, sign, "more"])


if __name__ == "__main__":
    unittest.main()
