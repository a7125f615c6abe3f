"""What scripts/check-limits finds, in a small tree of its own and in this one."""

import contextlib
import importlib.machinery
import importlib.util
import io
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

SCRIPT = pathlib.Path(__file__).resolve().parent.parent.parent / "scripts" / "check-limits"
TRACKER = "struct sc_track;\nvoid sc_track_one(struct sc_track *track);\n" \
          "void sc_track_two(struct sc_track *track);\n"


NOTHING = """# none of these
at most 100 lines of code in the process
at most 2 lines of code of the ledger of memory
at most 0 structs with a shape or a direction
at most 0 circles of folders
at most 0 circles of modules
at most 0 modules of a circle
at most 0 peeks into sc_track
at most 100 functions of track/ that others call
at most 1 functions of the tracker that others call
at most 1 functions of the guard that others call
at least 0 assertions

at most 0 sources that reach past the guard's door
at most 2 sources that include a header of track/
at most 2 sources that include a header of common/
any number of sources that include common/points.h
at most 3 sources that include track/track.h
"""


def loaded(root):
    sys.path.insert(0, str(SCRIPT.parent))  # as when it is run
    loader = importlib.machinery.SourceFileLoader("check_limits", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_limits", loader))
    loader.exec_module(module)
    module.ROOT = root
    return module


class Tree(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        self.check = loaded(self.root)
        self.write("scripts/limits", NOTHING)
        self.write("track/track_order.h", TRACKER)
        self.write("track/track.c", '#include "common/points.h"\n#include "track/track.h"\n')
        self.write("track/track.h", "struct sc_track;\n")
        self.write("common/points.h", "struct sc_point;\n")

    def write(self, path, text):
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def users(self, header, count):
        for number in range(count):
            self.write(f"interpose/calls/user{number}.c", f'#include "{header}"\n')

    def problems(self):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            status = self.check.main()
        self.assertEqual(status, 1 if said.getvalue() else 0)
        return said.getvalue()

    def test_a_tree_in_order(self):
        self.users("track/track_order.h", 2)
        self.write("interpose/calls/user0.c", "void f(void) { sc_track_one(&sc_track); }\n")
        self.assertEqual(self.problems(), "")

    def test_the_ledger_of_memory(self):
        """In four folders, of which two have other things as well."""
        lines = "/* no code */\nint line;\n"
        for other in "ledger/limit_events.h", "interpose/ledger/managed.c", "report/place.c":
            self.write(other, lines)
        for own in "ledger/ledger.c", "interpose/calls/memory.h":
            self.write(own, lines)
        self.assertEqual(self.problems(), "")
        for own in "report/memory_part.c", "interpose/entry/never_freed.c":
            self.write(own, lines)
            self.assertIn("lines of code of the ledger of memory, and 2 may be", self.problems())

    def test_too_many_functions(self):
        self.write("interpose/calls/user.c",
                   "void f(void) { sc_track_one(&sc_track), sc_track_two(&sc_track); }\n")
        self.assertIn("2 functions of the tracker", self.problems())

    def test_what_track_calls_itself(self):
        self.write("track/order.c", "void f(void) { sc_track_one(0), sc_track_two(0); }\n")
        self.assertEqual(self.problems(), "")

    def test_a_peek(self):
        self.write("interpose/calls/user.c", "int f(void) { return sc_track.order.spare; }\n")
        self.assertIn("1 peeks into sc_track", self.problems())

    def test_a_header_of_too_many(self):
        self.users("track/track_order.h", 3)
        self.assertIn("track/track_order.h: 3 sources include it, and 2 may", self.problems())

    def test_an_include_through_others(self):
        self.write("interpose/streams/marks.h", '#include "track/track_order.h"\n')
        self.users("interpose/streams/marks.h", 3)
        self.assertIn("track/track_order.h: 3 sources", self.problems())

    def test_words_that_all_speak(self):
        self.users("common/points.h", 5)
        self.assertEqual(self.problems(), "")

    def test_words_without_a_limit_of_their_own(self):
        self.write("common/kinds.h", "enum sc_kind { SC_KIND };\n")
        self.users("common/kinds.h", 3)
        self.assertIn("common/kinds.h: 3 sources include it, and 2 may", self.problems())

    def test_a_header_with_a_limit_of_its_own(self):
        self.users("track/track.h", 2)
        self.assertEqual(self.problems(), "")
        self.users("track/track.h", 3)
        self.assertIn("track/track.h: 4 sources include it, and 3 may", self.problems())

    def test_the_guards_door(self):
        self.write("interpose/guard/door.h", "void sc_guard_one(void);\nvoid sc_guard_two(void);\n")
        self.users("interpose/guard/door.h", 5)
        self.write("interpose/reaper/user.c", "void f(void) { sc_guard_one(); }\n")
        self.assertEqual(self.problems(), "")
        self.write("interpose/calls/user.c", "void f(void) { sc_guard_two(); }\n")
        self.assertIn("2 functions of the guard that others call, and 1 may be",
                      self.problems())

    def test_past_the_guards_door(self):
        for header in ("guard/protect.h", "signals/sharing.h", "system_calls/look.h"):
            self.write(f"interpose/{header}", "struct sc_page;\n")
            self.users(f"interpose/{header}", 1)
            self.assertIn(f"interpose/{header}: 1 sources include it, and 0 may", self.problems())

    def test_past_the_guards_door_through_others(self):
        self.write("interpose/guard/protect.h", "struct sc_page;\n")
        self.write("interpose/guard/door.h", '#include "interpose/guard/protect.h"\n')
        self.users("interpose/guard/door.h", 1)
        self.assertIn("interpose/guard/protect.h: 1 sources", self.problems())

    def test_the_guards_own(self):
        self.write("interpose/guard/protect.h", "void sc_protect_one(void);\nvoid sc_protect_two(void);\n")
        self.write("interpose/system_calls/own.c", '#include "interpose/guard/protect.h"\n'
                   "void f(void) { sc_protect_one(), sc_protect_two(); }\n")
        self.assertEqual(self.problems(), "")

    def test_a_limit_of_nothing_and_a_figure_without_a_limit(self):
        self.write("scripts/limits", NOTHING.replace("at most 0 peeks into sc_track\n",
                                                     "at most 1 sources that include track/gone.h\n"))
        said = self.problems()
        self.assertIn("scripts/limits has no limit of peeks into sc_track", said)
        self.assertIn("scripts/limits: nothing is counted as sources that include track/gone.h", said)

    def test_what_to_do_is_said(self):
        self.write("interpose/calls/user.c", "struct spread {\n    struct sc_shape shape;\n};\n")
        said = self.problems()
        self.assertIn("1 structs with a shape or a direction, and 0 may be: struct sc_op_info", said)
        self.assertIn("CONTRIBUTING.md", said)


class Here(unittest.TestCase):
    """The limits of this tree."""

    def test_each_can_be_passed(self):
        check = loaded(SCRIPT.parent.parent)
        texts, limits = check.sources(), check.limits()
        counted = check.figures.counted(texts)
        includes = list(check.includes(texts))
        number = {**counted, **{own: count for _, own, _, count in includes},
                  **{of: max(count for general, own, _, count in includes
                             if general == of and own not in limits)
                     for of in (check.TRACK, check.COMMON)}}
        with (mock.patch.object(check.figures, "counted", lambda _: counted),
              mock.patch.object(check, "includes", lambda _: includes)):
            self.assertEqual(list(check.problems(texts, limits)), [])
            for name, limit in limits.items():
                if limit and name != check.GUARD:
                    with self.subTest(name):
                        passed = {**limits, name: (limit[0], number[name] + limit[0])}
                        self.assertNotEqual(list(check.problems(texts, passed)), [])


if __name__ == "__main__":
    unittest.main()
