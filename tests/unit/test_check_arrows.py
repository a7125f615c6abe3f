"""What scripts/check-arrows finds, in a small tree of its own."""

import contextlib
import importlib.machinery
import importlib.util
import io
import pathlib
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent.parent / "scripts" / "check-arrows"


def loaded(root):
    sys.path.insert(0, str(SCRIPT.parent))  # as when it is run
    loader = importlib.machinery.SourceFileLoader("check_arrows", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_arrows", loader))
    loader.exec_module(module)
    module.ROOT = root
    return module


PROMISE = "/* No lock; safe in a signal handler. */\n"


class Tree(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        self.arrows = loaded(self.root)
        self.write("common/poison.h", "#pragma GCC poison malloc\n")
        self.write("interpose/base/low.h", PROMISE + "void sc_low(void);\n")
        self.write("interpose/base/low.c", '#include "interpose/base/low.h"\nvoid sc_low(void) {}\n')

    def write(self, path, text):
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def problems(self):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            status = self.arrows.main()
        self.assertEqual(status, 1 if said.getvalue() else 0)
        return said.getvalue()

    def test_a_tree_in_order(self):
        self.write("interpose/driver/high.c",
                   '#include "interpose/base/low.h"\nvoid high(void) { sc_low(); }\n')
        self.assertEqual(self.problems(), "")

    def test_an_include_against_the_table(self):
        self.write("interpose/driver/high.h", "void sc_high(void);\n")
        self.write("interpose/base/low.c", '#include "interpose/driver/high.h"\n')
        self.assertIn("interpose/base/low.c:1: interpose/base may not include "
                      "interpose/driver/high.h", self.problems())

    def test_a_door(self):
        self.write("interpose/guard/door.h", PROMISE + '#include "interpose/base/low.h"\n'
                   "void sc_guard_one(void);\n")
        self.write("interpose/streams/user.c",
                   '#include "interpose/guard/door.h"\nvoid f(void) { sc_guard_one(); }\n')
        self.assertEqual(self.problems(), "")
        self.write("interpose/guard/own.h", "struct sc_own;\n")
        self.write("interpose/guard/door.h", '#include "interpose/guard/own.h"\n')
        self.assertIn("interpose/guard may not include interpose/guard/own.h", self.problems())

    def test_a_file_in_no_folder(self):
        self.write("interpose/loose.c", "int loose;\n")
        self.assertIn("interpose/loose.c:1: lies in no folder", self.problems())

    def test_a_circle_within_a_folder_may_have_four(self):
        names = "abcd"
        for own, other in zip(names, names[1:] + names[0]):
            self.write(f"interpose/base/{own}.h", f'#include "interpose/base/{other}.h"\n')
        self.assertEqual(self.problems(), "")
        self.write("interpose/base/d.h", '#include "interpose/base/e.h"\n')
        self.write("interpose/base/e.h", '#include "interpose/base/a.h"\n')
        self.assertIn("a circle of 5 modules: base/a, base/b, base/c, base/d, base/e",
                      self.problems())

    def test_a_name_that_comes_by_way_of_another_header(self):
        self.write("interpose/driver/high.h", '#include "interpose/base/low.h"\n')
        self.write("interpose/driver/user.c",
                   '#include "interpose/driver/high.h"\nvoid use(void) { sc_low(); }\n')
        self.assertIn("interpose/driver/user.c:1: names sc_low without including "
                      "interpose/base/low.h", self.problems())

    def test_modules_of_the_same_name(self):
        self.write("track/low.c", "int low;\n")
        self.assertIn("modules of the same name: low in interpose/base, track", self.problems())

    def test_a_function_that_does_not_bear_its_modules_name(self):
        self.write("interpose/guard/high.h", PROMISE + "void sc_high(void);\nint *sc_high_ask(int of);\n"
                                             "typedef void sc_visit(int);\nvoid sc_other(void);\n")
        self.assertEqual(self.problems(), "interpose/guard/high.h:5: sc_other does not begin with "
                                          "sc_high_\n")

    def test_a_member_that_another_module_owns(self):
        text = "int f(struct r *r) { return r->marks.count; }\n"
        self.write("interpose/streams/marks.h", text)
        self.write("interpose/streams/other.c", text + "int marks; /* r->marks */\n")
        self.assertEqual(self.problems(), "interpose/streams/other.c:1: the member marks belongs to "
                                          "interpose/streams/marks\n")

    def test_a_function_may_bear_its_modules_name_in_the_singular(self):
        self.write("track/houses_internal.h", "int sc_house_at(int id);\nint sc_houses_count(void);\n")
        self.write("common/now.h", "int sc_coarse_now_ns(void);\n")
        self.assertEqual(self.problems(), "")

    def test_a_row_of_a_table_is_declared_by_the_header_that_includes_it(self):
        self.write("track/words.def", 'SC_WORD(SC_FIRST, "first")\n')
        self.write("track/words.h", '#include "track/words.def"\n')
        self.write("interpose/base/low.c", "int low(void) { return SC_FIRST; }\n")
        self.assertIn("interpose/base/low.c:1: names SC_FIRST without including track/words.h",
                      self.problems())

    def test_a_header_that_does_not_say_who_may_call(self):
        self.write("interpose/guard/high.h", "void sc_high(void); /* thread-safe */\n")
        self.assertEqual(self.problems(), "interpose/guard/high.h:1: says nothing of locks\n"
                                          "interpose/guard/high.h:1: says nothing of signal handlers\n")
        self.write("interpose/guard/high.h", "struct sc_high;\n")
        self.write("track/high_words.h", "void sc_high_words(void);\n")
        self.assertEqual(self.problems(), "")

    def test_a_table_with_a_circle(self):
        self.arrows.ROOMS = {"base": "driver", "driver": "base"}
        self.assertIn("ROOMS cannot be read from the top", self.problems())

    def test_a_poisoned_call(self):
        self.write("interpose/base/low.c", "void sc_low(void)\n{\n    malloc(1);\n}\n")
        self.assertIn("interpose/base/low.c:3: calls malloc", self.problems())


if __name__ == "__main__":
    unittest.main()
