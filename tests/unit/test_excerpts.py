#!/usr/bin/env python3
"""The lines of source that text, HTML and Markdown show, and of which files they are shown at all: a
report names the files, and may be a stranger's, as may what lies at the paths."""

import contextlib
import ctypes
import html
import json
import os
import pathlib
import re
import shutil
import stat
import struct
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = pathlib.Path(os.environ.get("SAFECOPY_OUT", ROOT / "out"))
COMMAND = OUT / "safecopy"
SAMPLE = ROOT / "tests/unit/formats/sample.jsonl"
OWN = "# the user's own\n"
# A token in each line, whichever is asked for.
SECRET = "".join(f"token = {n}0123456789abcdef\n" for n in range(1, 6))
FORMATS = ("text", "html", "markdown")
NOT_SHOWN = "safecopy: some source is not shown: {} {}\n"
OUTSIDE = "lies outside of every --source-root"
NO_SOURCE = "leads to what is no source"
IN_OPEN = 0x20


def named(path, line=3):
    """A report with one hazard, whose event was in this file."""
    lines = [json.loads(text) for text in SAMPLE.read_text(encoding="utf-8").splitlines()[:2]]
    lines[1]["event"]["stack"] = [{"file": str(path), "line": line, "function": "f"}]
    lines[1]["copy"]["stack"] = []
    return "".join(json.dumps(part) + "\n" for part in lines).encode()


@contextlib.contextmanager
def openings(path):
    """A list of one: how often the file was opened meanwhile."""
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    if fd < 0 or libc.inotify_add_watch(fd, os.fsencode(path), IN_OPEN) < 0:
        raise OSError(ctypes.get_errno(), "inotify")
    seen = []
    try:
        yield seen
        with contextlib.suppress(BlockingIOError):
            seen += [struct.unpack_from("iIII", os.read(fd, 4096))]
    finally:
        os.close(fd)


class Excerpts(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name).resolve()
        self.root = self.folder / "checkout"
        self.root.mkdir()
        self.secret = self.write("elsewhere/secret", SECRET)

    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
        return path

    def link(self, name, target):
        path = self.root / name
        path.symlink_to(target)
        return path

    def report(self, path, *flags, line=3, cwd=None, before=(), **environment):
        base = {name: value for name, value in os.environ.items()
                if not name.startswith(("GITHUB_", "XDG_"))}
        self.run = subprocess.run([*before, COMMAND, "report", *flags, "-"], input=named(path, line),
                                  capture_output=True, check=False, cwd=cwd or self.root,
                                  env={**environment, **base, "HOME": "/nonexistent"})
        return self.run.stdout.decode(errors="replace")

    def excerpt(self, path, *flags, **more):
        """(mark, number, line) of each line that the text shows; what is said is kept."""
        text = self.report(path, *flags, **more)
        self.assertEqual(self.run.returncode, 1, self.run.stderr)
        self.said = self.run.stderr.decode()
        return re.findall(r"^ +(>?) +(\d+) \| ?(.*)$", text, re.M)

    def roots(self, *folders):
        return [word for folder in folders for word in ("--source-root", str(folder))]

    def assert_hidden(self, path, why, *flags, leaks="0123456789abcdef", **more):
        """In each format, and one line says why; None: nothing is said."""
        for name in FORMATS:
            with self.subTest(path=path, format=name, flags=flags):
                page = self.report(path, "--format", name, *flags, **more)
                self.assertEqual(self.run.returncode, 1)
                self.assertIn(pathlib.Path(path).name, page)
                self.assertNotIn(leaks, page)
                self.assertEqual(self.run.stderr.decode(),
                                 NOT_SHOWN.format(path, why) if why else "")

    def assert_shown(self, path, *flags, line="token = 30123456789abcdef", **more):
        for name in FORMATS:
            with self.subTest(path=path, format=name, flags=flags):
                self.assertIn(line, html.unescape(self.report(path, "--format", name, *flags, **more)))
                self.assertEqual(self.run.stderr, b"")


class Lines(Excerpts):
    def test_two_before_and_two_behind(self):
        path = self.write("a.py", "".join(f"line {n}\n" for n in range(1, 9)))
        self.assertEqual([n for _, n, _ in self.excerpt(path)], ["1", "2", "3", "4", "5"])
        self.assertEqual([n for mark, n, _ in self.excerpt(path, line=8) if mark], ["8"])
        self.assertEqual(self.excerpt(path, line=1)[0], (">", "1", "line 1"))
        self.assertEqual(self.excerpt(path, line=9), [])

    def test_control_characters_are_shown(self):
        path = self.write("a.py", "\n\n\tx\x1b[2J\u202e\r\n")
        self.assertEqual(self.excerpt(path)[2][2], "    x\\u001b[2J\\u202e")


class Files(Excerpts):
    """What is shown without a root."""

    def test_what_is_no_source_is_not_shown(self):
        self.assert_hidden(self.secret, None)
        self.assert_hidden(self.root / "none.py", None)
        self.assert_hidden(self.secret / "none.py", None)
        for name in ("/proc/self/environ", "/proc/self/cmdline", "/dev/stdin", ""):
            self.assert_hidden(name, None, SECRET="token = 30123456789abcdef")

    def test_a_link_is_what_it_leads_to(self):
        link = self.link("link.c", self.secret)
        self.assert_hidden(link, NO_SOURCE)
        self.assert_hidden(self.link("again.c", link), NO_SOURCE)
        self.assert_hidden(self.link("relative.c", "../elsewhere/secret"), NO_SOURCE)
        self.assert_shown(self.link("own.c", self.write("elsewhere/own.c", SECRET)))
        self.assert_shown(self.link("no-suffix", self.folder / "elsewhere/own.c"))
        self.assert_hidden(self.link("dangling.c", "none.c"), None)

    def test_the_kernel_s_files_are_not_shown(self):
        self.assert_hidden(self.link("env.c", "/proc/self/environ"), NO_SOURCE, line=1,
                           SECRET="token = 30123456789abcdef")
        self.link("process.c", "/proc/self")
        self.assert_hidden(self.root / "process.c/environ", None, line=1,
                           SECRET="token = 30123456789abcdef")
        self.assert_hidden(self.link("sys.c", "/sys/kernel/notes"), NO_SOURCE)

    def test_the_kernel_s_files_are_not_shown_under_another_name(self):
        """A name of /proc that ends as a source's is made by a mount alone."""
        path = self.write("checkout/env.c", "")
        before = ("unshare", "--mount", *(() if os.geteuid() == 0 else ("--map-root-user",)), "sh",
                  "-c", f'mount --bind /proc/self/environ {path} && exec "$@"', "sh")
        if subprocess.run([*before, "true"], check=False, capture_output=True).returncode != 0:
            self.skipTest("nothing can be mounted here")
        self.assert_hidden(path, NO_SOURCE, line=1, before=before, SECRET="0123456789abcdef")
        self.assert_hidden(path, NO_SOURCE, *self.roots(self.root), line=1, before=before,
                           SECRET="0123456789abcdef")

    def test_a_file_below_dev_is_not_shown(self):
        if not os.access("/dev/shm", os.W_OK):
            self.skipTest("no /dev/shm here")
        with tempfile.NamedTemporaryFile("w", dir="/dev/shm", suffix=".c") as file:
            file.write(SECRET)
            file.flush()
            self.assert_hidden(file.name, NO_SOURCE)
            self.assert_hidden(file.name, NO_SOURCE, *self.roots("/"))

    def test_a_source_behind_a_link_of_the_kernel_s_is_not_shown(self):
        path = self.write("own.c", SECRET)
        for name in (f"/proc/self/root{path}", f"//proc/self/root{path}", "/proc/self/cwd/own.c",
                     self.link("root.c", f"/proc/self/root{path}")):
            self.assert_hidden(name, NO_SOURCE, cwd=path.parent)
            self.assert_hidden(name, NO_SOURCE, *self.roots("/"), cwd=path.parent)
        self.assert_shown(path)

    def test_a_file_that_has_no_name_is_not_shown(self):
        """An open file of another process: taken away, or never had a name."""
        for name in ("gone.c", "gone.c (deleted)"):
            path = self.write(name, SECRET)
            with open(path, encoding="utf-8") as file:
                path.unlink()
                self.write("gone.c (deleted)", SECRET)
                self.assert_hidden(self.link(f"{name}.c", f"/proc/{os.getpid()}/fd/{file.fileno()}"),
                                   NO_SOURCE)

    def test_what_is_no_file_is_neither_shown_nor_opened(self):
        fifo = self.root / "fifo.c"
        os.mkfifo(fifo)
        with openings(fifo) as seen:
            self.assert_hidden(fifo, "is no regular file")
        self.assertEqual(seen, [])
        (self.root / "folder.c").mkdir()
        self.assert_hidden(self.root / "folder.c", "is no regular file")
        self.assert_hidden(self.link("device.c", "/dev/zero"), "is no regular file")
        self.assert_hidden(self.root / "device.c", "is no regular file", *self.roots("/"))

    def test_a_device_of_the_name_is_not_opened(self):
        device = self.root / "zero.c"
        try:
            os.mknod(device, stat.S_IFCHR | 0o600, os.makedev(1, 5))
        except PermissionError:
            self.skipTest("no device can be made here")
        with openings(device) as seen:
            self.assert_hidden(device, "is no regular file")
        self.assertEqual(seen, [])

    def test_a_large_file_is_not_shown(self):
        self.assert_hidden(self.write("big.py", SECRET * (4 << 20 >> 6)), "is larger than 4 MB")

    def test_a_hard_link_is_the_file(self):
        """Who made it had the right to: this is said in docs/report.md."""
        path = self.root / "hard.c"
        os.link(self.secret, path)
        self.assert_shown(path)
        self.assert_shown(path, *self.roots(self.root))

    @unittest.skipIf(os.geteuid() == 0, "root may read all")
    def test_what_may_not_be_read_is_told(self):
        path = self.write("checkout/a.c", SECRET)
        path.chmod(0)
        self.assert_hidden(path, "cannot be read: Permission denied")

    def test_one_line_is_said_of_many(self):
        report = named(self.link("one.c", self.secret)) + named(self.link("two.c", self.secret))
        run = subprocess.run([COMMAND, "report", "-"], input=report, capture_output=True, check=False,
                             env={"HOME": "/nonexistent"})
        self.assertEqual(run.stderr.decode().count("\n"), 1)
        self.assertIn("one.c leads to", run.stderr.decode())

    def test_what_is_said_cannot_steer_the_terminal(self):
        link = self.link("\x1b[2J\n.c", self.secret)
        self.report(link)
        self.assertEqual(self.run.stderr.decode(), NOT_SHOWN.format(
            self.root / "\\u001b[2J\\u000a.c", NO_SOURCE))

    def test_formats_without_source_ask_for_none(self):
        link = self.link("link.c", self.secret)
        for name in ("json", "sarif", "junit", "perfetto", "github"):
            with self.subTest(name):
                self.assertNotIn("0123456789abcdef", self.report(link, "--format", name))
                self.assertEqual(self.run.stderr, b"")

    def test_the_step_s_summary_is_markdown(self):
        summary = self.folder / "summary.md"
        self.report(self.link("link.c", self.secret), "--format", "github",
                    GITHUB_STEP_SUMMARY=str(summary))
        self.assertIn("link.c", summary.read_text(encoding="utf-8"))
        self.assertNotIn("0123456789abcdef", summary.read_text(encoding="utf-8"))


class Roots(Excerpts):
    """--source-root says what may be shown."""

    def setUp(self):
        super().setUp()
        self.outside = self.write("elsewhere/outside.c", SECRET)
        self.inside = self.write("checkout/src/inside.c", SECRET)

    def test_below_a_root_alone(self):
        self.assert_shown(self.outside)
        self.assert_hidden(self.outside, OUTSIDE, *self.roots(self.root))
        for root in (self.root, f"{self.root}/", f"{self.root}//src/..", "/", ".", self.root / "src"):
            self.assert_shown(self.inside, *self.roots(root))
        self.assert_hidden(self.inside, OUTSIDE, *self.roots(self.folder / "elsewhere"))
        self.assert_shown(self.inside, *self.roots(self.folder / "elsewhere", self.root))
        self.assert_shown(self.outside, *self.roots(self.folder / "elsewhere", self.root))

    def test_a_name_that_only_begins_like_a_root(self):
        for name in ("checkout2/a.c", "checkout.c", "checkou/a.c"):
            self.assert_hidden(self.write(name, SECRET), OUTSIDE, *self.roots(self.root))

    def test_links_that_lead_out_are_not_followed(self):
        self.assert_hidden(self.link("link.c", self.outside), OUTSIDE, *self.roots(self.root))
        self.link("folder", self.folder / "elsewhere")
        self.assert_hidden(self.root / "folder/outside.c", OUTSIDE, *self.roots(self.root))
        self.link("up", "../elsewhere")
        self.assert_hidden(self.root / "up/outside.c", OUTSIDE, *self.roots(self.root))
        self.assert_hidden(self.root / "../elsewhere/outside.c", OUTSIDE, *self.roots(self.root))
        self.assert_hidden(self.root / "src/../../elsewhere/outside.c", OUTSIDE,
                           *self.roots(self.root))
        self.assert_hidden(self.link("secret.c", self.secret), NO_SOURCE, *self.roots(self.root))

    def test_links_that_stay_inside_are(self):
        self.assert_shown(self.link("stays.c", self.inside), *self.roots(self.root))
        self.link("sources", "src")
        self.assert_shown(self.root / "sources/inside.c", *self.roots(self.root))
        self.assert_shown(self.root / "src/../../checkout/src/inside.c", *self.roots(self.root))

    def test_a_root_may_be_a_link(self):
        link = self.folder / "link"
        link.symlink_to(self.root)
        self.assert_shown(self.inside, *self.roots(link))
        self.assert_shown(link / "src/inside.c", *self.roots(link))
        self.assert_shown(link / "src/inside.c", *self.roots(self.root))
        self.assert_hidden(self.outside, OUTSIDE, *self.roots(link))

    def test_a_relative_name(self):
        """From the working folder as without a root, then from each root."""
        elsewhere = self.folder / "elsewhere"
        self.assert_shown("src/inside.c")
        self.assert_hidden("src/inside.c", None, cwd="/")
        self.assert_shown("src/inside.c", *self.roots(elsewhere, self.root), cwd="/")
        self.assert_shown("inside.c", *self.roots(self.root), cwd=self.root / "src")
        self.assert_hidden("outside.c", OUTSIDE, *self.roots(self.root), cwd=elsewhere)
        self.assert_hidden("../elsewhere/outside.c", OUTSIDE, *self.roots(self.root), cwd="/")
        self.assert_hidden("../elsewhere/secret", None, *self.roots(self.root), cwd="/")
        self.write("elsewhere/src/inside.c", SECRET.replace("token", "other"))
        self.assert_shown("src/inside.c", *self.roots(self.root), cwd=elsewhere)
        self.assert_shown("src/inside.c", *self.roots(elsewhere, self.root), cwd="/", line="other = 3")
        self.assert_shown("src/inside.c", *self.roots(self.root, elsewhere), cwd="/")

    def test_a_changed_path_is_held_to_the_roots_as_well(self):
        there = pathlib.Path("/nowhere")
        change = ("--path-map", f"/nowhere={self.root}")
        self.assertIn("token = 3", self.report(there / "src/inside.c", *change,
                                               *self.roots(self.root)))
        self.report(there / "../elsewhere/outside.c", *change, *self.roots(self.root))
        self.assertNotIn(b"token", self.run.stdout)

    def test_another_file_at_the_same_path_of_another_process(self):
        """It is seen through /proc, and has there the name that it has for that process."""
        hidden = self.root / "src"
        before = ("unshare", "--mount", *(() if os.geteuid() == 0 else ("--map-root-user",)), "sh",
                  "-c", f"mount -t tmpfs none {hidden} && echo '{SECRET}' >{hidden}/inside.c && "
                  "echo ready && read end")
        if not shutil.which("unshare"):
            self.skipTest("no unshare here")
        with subprocess.Popen(before, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL) as process:
            if process.stdout.readline() != b"ready\n":
                self.skipTest("nothing can be mounted here")
            path = f"/proc/{process.pid}/root{self.inside}"
            self.inside.write_text(OWN * 5, encoding="utf-8")
            self.assert_hidden(path, NO_SOURCE)
            self.assert_hidden(path, NO_SOURCE, *self.roots(self.root))
            process.stdin.close()

    def test_what_is_no_root(self):
        for root, words in (("none", "cannot take 'none': No such file"),
                            (self.inside, "Not a directory"), ("", "cannot take '': No such file"),
                            ("/proc/self", "nothing below /proc, /sys and /dev is source"),
                            ("/sys", "nothing below"), ("/dev", "nothing below")):
            with self.subTest(root=root):
                page = self.report(self.inside, *self.roots(root))
                self.assertEqual((self.run.returncode, page), (2, ""))
                self.assertIn(words, self.run.stderr.decode())
                self.assertEqual(self.run.stderr.count(b"\n"), 1)


if __name__ == "__main__":
    unittest.main()
