"""What scripts/setup asks apt-get for, and what it says before (a copy of it, with a fake apt-get)."""

import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = "bash cat dirname env fmt grep mkdir paste sed".split()
# They write into the file that stdout is, so that it has all in one order.
FAKES = {
    "apt-cache": 'case " $UNKNOWN " in *" $2 "*) exit 100 ;; esac',
    "apt-get": """
        case " $* " in *" --print-uris "*)
            echo "0 upgraded, 7 newly installed, 0 to remove and 3 not upgraded."
            echo "Need to get 1,234 kB/5,678 kB of archives."
            echo "After this operation, 9 MB of additional disk space will be used."
            exit ;;
        esac
        echo "ran apt-get $*" >>"$SAID"
        case " $* " in *" $FAILS "*) exit 100 ;; esac""",
    "dpkg-query": """
        for name; do
            case " $INSTALLED " in *" $name "*) printf ' %s:installed ' "$name" ;; esac
        done
        exit 1""",
    "id": 'echo "$USER_ID"',
    "python3": "exit 1",
    "uname": "echo x86_64",
    "sudo": 'echo "ran sudo" >>"$SAID"; exec "$@"',
}
OF_GATE = ("g++", "check", "python3-pytest", "libgtest-dev")
OF_CI = ("clang", "valgrind", "qemu-user-static", "gcc-aarch64-linux-gnu", "sbcl")


def packages(array):
    """An array of packages in scripts/setup."""
    setup = (ROOT / "scripts" / "setup").read_text(encoding="utf-8")
    return re.search(rf"^{array}=\((.*?)\)", setup, re.S | re.M)[1].split()


class Setup(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.tree = pathlib.Path(temporary.name)
        for folder in ("scripts", "bin", "cuda/include"):
            (self.tree / folder).mkdir(parents=True)
        (self.tree / "cuda" / "include" / "cuda.h").touch()
        shutil.copy(ROOT / "scripts" / "setup", self.tree / "scripts")
        for tool in TOOLS:
            (self.tree / "bin" / tool).symlink_to(shutil.which(tool))
        for name, does in FAKES.items():
            path = self.tree / "bin" / name
            path.write_text(f"#!{shutil.which('bash')}\n{does}\n")
            path.chmod(0o755)

    def set_up(self, goal, user_id=0, **environment):
        """(exit status, what is said, with what was run between)."""
        path = self.tree / "said"
        with open(path, "a", encoding="utf-8") as said:
            run = subprocess.run(
                [self.tree / "bin" / "bash", self.tree / "scripts" / "setup", goal], check=False,
                env={"PATH": str(self.tree / "bin"), "CUDA_HOME": str(self.tree / "cuda"),
                     "SAID": str(path), "USER_ID": str(user_id), "UNKNOWN": "", "FAILS": "nothing",
                     "INSTALLED": "", **environment}, stdout=said, stderr=said)
        words = path.read_text(encoding="utf-8")
        path.unlink()
        return run.returncode, words

    def installed(self, goal, **environment):
        """The packages of the one call that installs."""
        status, said = self.set_up(goal, **environment)
        self.assertEqual(status, 0, said)
        line, = re.findall(r"^ran apt-get .* --no-install-recommends (.*)$", said, re.M)
        self.assertTrue((self.tree / "out" / f"setup-{goal}.mk").exists())
        return line.split()

    def test_a_demo_has_what_is_built_and_no_more(self):
        asked = self.installed("demo")
        self.assertEqual(asked, packages("for_demo"))
        self.assertLessEqual(len(asked), 13)
        for name in OF_GATE + OF_CI:
            self.assertNotIn(name, asked)

    def test_the_tests_have_all_that_a_demo_has_and_the_rest(self):
        asked = self.installed("check")
        self.assertLess(set(packages("for_demo") + packages("for_check")), set(asked))
        self.assertLess(set(OF_GATE), set(asked))
        for name in OF_CI:
            self.assertNotIn(name, asked)

    def test_what_ci_adds_comes_with_check_ci_and_large_languages_with_check_all(self):
        gate, ci, more = (set(self.installed(goal)) for goal in ("check", "check-ci", "check-all"))
        self.assertLess(gate, ci)
        self.assertLess(ci, more)
        self.assertLess(set(OF_CI), ci)
        self.assertLess({"golang-go", "rustc", "chromium"}, more - ci)

    def test_what_and_how_much_is_said_before_it_is_done(self):
        present = " ".join(set(packages("for_demo")) - {"gcc", "libdw-dev"})
        for user_id, sudo, ran in ((0, "", ""), (1000, " with sudo", "ran sudo\n")):
            status, said = self.set_up("demo", user_id, INSTALLED=present)
            self.assertEqual(status, 0, said)
            update, install = (f"{ran}ran apt-get -q -y -o Dpkg::Use-Pty=0 {words}\n" for words in
                               ("update", "install --no-install-recommends gcc libdw-dev"))
            self.assertEqual(said, (
                f"setup: make demo needs packages that are not here; apt-get installs{sudo}:\n"
                "    gcc libdw-dev\n"
                f"{update}"
                "setup: with what these need, 7 packages, 1,234 kB/5,678 kB to fetch, 9 MB on disk\n"
                f"{install}"))

    def test_one_package_is_one(self):
        path = self.tree / "bin" / "apt-get"
        path.write_text(path.read_text().replace(" 7 newly", " 1 newly"))
        self.assertIn("\nsetup: with what these need, 1 package, 1,234 kB", self.set_up("demo")[1])

    def test_nothing_is_said_or_done_where_all_is_there(self):
        self.assertEqual(self.set_up("demo", INSTALLED=" ".join(packages("for_demo"))), (0, ""))
        self.assertTrue((self.tree / "out" / "setup-demo.mk").exists())

    def test_who_may_not_install_is_told_what_root_has_to(self):
        (self.tree / "bin" / "sudo").unlink()
        for goal, needed in (("demo", packages("for_demo")),
                             ("check", packages("for_demo") + packages("for_check"))):
            self.assertEqual(self.set_up(goal, 1000, INSTALLED="gcc"), (
                1, "setup: neither root nor sudo; as root: apt-get install --no-install-recommends "
                f"{' '.join(name for name in needed if name != 'gcc')}\n"))
            self.assertFalse((self.tree / "out" / f"setup-{goal}.mk").exists())

    def test_what_only_single_checks_want_is_done_without(self):
        (self.tree / "bin" / "sudo").unlink()
        there = " ".join(packages("for_demo") + packages("for_check"))
        status, said = self.set_up("check", 1000, INSTALLED=there)
        self.assertEqual(status, 0)
        self.assertRegex(said, r"\Asetup: going on without clang-format-14 .*\n\Z")

    def test_what_a_release_lacks_is_said_and_left_out(self):
        self.assertNotIn("clang-format-14", self.installed("check", UNKNOWN="clang-format-14"))
        self.assertIn("setup: this release has no clang-format-14; going on without\n",
                      self.set_up("check", UNKNOWN="clang-format-14")[1])

    def test_another_distribution_is_told_what_is_missing(self):
        (self.tree / "bin" / "dpkg-query").unlink()
        for goal, lacks, needed in (("demo", "gcc", packages("for_demo")),
                                    ("check", "gcc g++ pkg-config",
                                     packages("for_demo") + packages("for_check"))):
            status, said = self.set_up(goal)
            self.assertEqual(status, 1)
            self.assertIn(f"setup: not Debian or Ubuntu; install by hand: {lacks} jansson.h ", said)
            self.assertIn(f" (Debian's names: {' '.join(needed)})\n", said)

    def test_it_stops_where_apt_get_fails(self):
        for step in ("update", "install"):
            status, said = self.set_up("demo", FAILS=step)
            self.assertEqual(status, 1)
            self.assertIn(f"setup: apt-get {step} failed; install: make gcc ", said)
            self.assertFalse((self.tree / "out" / "setup-demo.mk").exists())


if __name__ == "__main__":
    unittest.main()
