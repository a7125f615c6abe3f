"""What scripts/check-door finds, in a small tree of its own."""

import contextlib
import importlib.machinery
import importlib.util
import io
import pathlib
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent.parent / "scripts" / "check-door"
TRACKER = "struct sc_track;\nvoid sc_track_one(struct sc_track *track);\n" \
          "void sc_track_two(struct sc_track *track);\n"


def loaded(root):
    sys.path.insert(0, str(SCRIPT.parent))  # as when it is run
    loader = importlib.machinery.SourceFileLoader("check_door", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_door", loader))
    sys.modules["check_door"] = module  # its dataclass looks there
    loader.exec_module(module)
    module.ROOT = root
    module.TRACKER.functions_max = module.GUARD.functions_max = 1
    module.TRACKER.sources_max = 2
    module.TRACKER.sources["track/track.h"] = 3
    return module


class Tree(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        self.door = loaded(self.root)
        self.write("track/track_order.h", TRACKER)

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
            status = self.door.main()
        self.assertEqual(status, 1 if said.getvalue() else 0)
        return said.getvalue()

    def test_a_tree_in_order(self):
        self.users("track/track_order.h", 2)
        self.write("interpose/calls/user0.c", "void f(void) { sc_track_one(&sc_track); }\n")
        self.assertEqual(self.problems(), "")

    def test_too_many_functions(self):
        self.write("interpose/calls/user.c",
                   "void f(void) { sc_track_one(&sc_track), sc_track_two(&sc_track); }\n")
        self.assertIn("2 functions of the tracker", self.problems())

    def test_what_track_calls_itself(self):
        self.write("track/track.c", "void f(void) { sc_track_one(0), sc_track_two(0); }\n")
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
        self.write("track/points.h", "struct sc_point;\n")
        self.users("track/points.h", 5)
        self.assertEqual(self.problems(), "")

    def test_the_door_itself(self):
        self.write("track/track.h", "struct sc_track;\n")
        self.users("track/track.h", 3)
        self.assertEqual(self.problems(), "")
        self.users("track/track.h", 4)
        self.assertIn("track/track.h: 4 sources include it, and 3 may", self.problems())

    def test_the_guards_door(self):
        self.write("interpose/guard/door.h", "void sc_guard_one(void);\nvoid sc_guard_two(void);\n")
        self.users("interpose/guard/door.h", 5)
        self.write("interpose/reaper/user.c", "void f(void) { sc_guard_one(); }\n")
        self.assertEqual(self.problems(), "")
        self.write("interpose/calls/user.c", "void f(void) { sc_guard_two(); }\n")
        self.assertIn("2 functions of the guard are called from outside, and 1 may be",
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


if __name__ == "__main__":
    unittest.main()
