"""What scripts/check-dialect finds, line by line."""

import importlib.machinery
import importlib.util
import pathlib
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent.parent / "scripts" / "check-dialect"


def loaded():
    loader = importlib.machinery.SourceFileLoader("check_dialect", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_dialect", loader))
    loader.exec_module(module)
    return module


class Dialect(unittest.TestCase):
    def problems(self, text):
        with tempfile.NamedTemporaryFile("w", suffix=".c") as file:
            file.write(text)
            file.flush()
            return loaded().problems(pathlib.Path(file.name))

    def refused(self, words, *lines):
        for line in lines:
            with self.subTest(line):
                self.assertRegex(str(self.problems("/* first */\n" + line)), rf"^\[\(2, .*{words}")

    def accepted(self, *lines):
        for line in lines:
            with self.subTest(line):
                self.assertEqual(self.problems(line), [])

    def test_sizeof(self):
        self.refused("sizeof", "a = sizeof(b);", "a = sizeof(*b);", "a = sizeof(b->c) - 1;",
                     "a = sizeof(b) / sizeof b[0];", "#define A(c) (sizeof(b) * sizeof(c))")
        self.accepted("a = sizeof b;", "a = sizeof *b;", "a = sizeof(struct b *);",
                      "a = sizeof(uint64_t);", "typedef ElfW(Shdr) head;\na = sizeof(head);", "a = sizeof(CUmemLocation);", "/* sizeof(b) */",
                      "a = sizeof(((struct b *)0)->c);", 'a = "sizeof(b)";',
                      "#define A(b, c) \\\n    (sizeof(c) / sizeof((c)[0]))")

    def test_null_in_a_condition(self):
        self.refused("NULL", "if (p != NULL)", "while (a && f(b) == NULL)", "if ((p != NULL) && b)",
                     "for (; p != NULL; p = p->next)", "a = p != NULL ? b : c;",
                     "if ((a = f()) && g(b) != NULL)", "if (a ||\tp->next == NULL)")
        self.accepted("return p != NULL;", "bool a = strchr(b, 'c') != NULL;", "f(p != NULL, b);",
                      "while ((p = f(q)) != NULL)", "for (; (p = f()) != NULL;)",
                      "if (likely(p != NULL))", "if ((p != NULL) != wanted)",
                      "a = likely(p != NULL) ? p : b;", "if (p) /* != NULL */")

    def test_braces(self):
        self.refused("braces", "if (a) {\n    b();\n}\n", "while (a(b)) {\n    b++;\n}\n")
        self.refused("braces", "    for (;;) {\n        b(\"}\");\n    }\n")
        self.accepted("if (a)\n    b();\n", "if (a) {\n    b();\n    c();\n}\n",
                      "if (a) {\n    b(c,\n      d);\n}\n", "if (a) {\n    b();\n} else {\n    c();\n}\n",
                      "if (a) {\n    if (b) {\n        c();\n        d();\n    }\n}\n")

    def test_builtins(self):
        self.refused("__atomic_load_n", "a = __atomic_load_n(&b, __ATOMIC_ACQUIRE);")
        self.refused("__sync_synchronize", "__sync_synchronize();")
        self.accepted("/* The word is not _Atomic. */\na = __atomic_load_n(&b, __ATOMIC_ACQUIRE);",
                      "a = atomic_load_explicit(&b, memory_order_acquire);")


if __name__ == "__main__":
    unittest.main()
