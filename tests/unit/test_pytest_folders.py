#!/usr/bin/env python3
"""The folders of the pytest plugin's reports: what a session removes there, what it leaves alone,
and what it reads."""

import fcntl
import io
import json
import os
import shutil
import socket
import sys
import tempfile
import unittest

import pytest_session
from pytest_session import HAS_XDIST, RIGHT, ROOT, WRONG

sys.path.insert(0, str(ROOT / "python"))
from libsafecopy import _reports  # pylint: disable=wrong-import-position

OTHER_VALUES = (None, 7, "x", True, [], [7], {}, {"x": 7})


def started():
    """When this process began (report/path.c)."""
    with open("/proc/self/stat", encoding="ascii") as stat:
        return int(stat.read().rpartition(")")[2].split()[19])


def changes(value):
    """The value with one part of it left out or of another kind, each part in turn."""
    yield from OTHER_VALUES
    if not isinstance(value, (dict, list)):
        return
    for key, part in list(value.items() if isinstance(value, dict) else enumerate(value)):
        for other in changes(part):
            yield {**value, key: other} if isinstance(value, dict) else [
                *value[:key], other, *value[key + 1:]]
        if isinstance(value, dict):
            yield {name: one for name, one in value.items() if name != key}


class Folders(pytest_session.Session):
    def keep(self, *arguments, tests=RIGHT, **more):
        """A session whose reports go into `reports`."""
        return self.run_pytest(tests, "--safecopy-reports=reports", *arguments, **more)

    def reports(self, process="main"):
        return sorted((self.folder / "reports" / process).glob("*.jsonl*"))

    old = None  # the reports of a session that has ended

    def old_report(self):
        """One of them, and its bytes."""
        if not Folders.old:
            self.assertEqual(self.keep(), 0, self.said)
            Folders.old = tempfile.TemporaryDirectory()
            shutil.move(self.folder / "reports", Folders.old.name)
        shutil.copytree(f"{Folders.old.name}/reports", self.folder / "reports", dirs_exist_ok=True)
        [report] = self.reports()
        return report, report.read_bytes()

    @classmethod
    def tearDownClass(cls):
        if cls.old:
            cls.old.cleanup()

    def expect_left(self, path, reason):
        self.assertIn(f"left alone: {path} {reason}\n", self.said)

    def expect_kept(self, path, reason, content):
        """The next session leaves the file alone, and has a folder beside it."""
        before = path.stat()
        self.assertEqual(self.keep(), 0, self.said)
        after = path.stat()
        self.assertEqual((before.st_ino, before.st_mtime_ns), (after.st_ino, after.st_mtime_ns))
        self.assertEqual(path.read_bytes(), content)
        self.expect_left(path, reason)
        self.assertEqual(len(self.reports("main.1")), 1, self.said)

    def test_reports_of_earlier_sessions_go_and_no_others(self):
        first, _ = self.old_report()
        for _ in range(2):
            self.assertEqual(self.keep(), 0, self.said)
            [second] = self.reports()
            self.assertNotEqual(first, second)
            self.assertNotIn("left alone", self.said)
            first = second
        self.assertEqual(self.run_pytest(RIGHT, "--safecopy-reports=a:b"), 4, self.said)
        self.assertEqual(self.run_pytest(RIGHT, f"--safecopy-reports={__file__}/a"), 4, self.said)
        self.assertIn("reports cannot be kept: [Errno", self.said)

    def test_a_data_set_beside_the_tests_stays(self):
        content = b'{"text": "a data set"}\n'
        paths = [self.folder / name for name in ("data/train.jsonl", "main/train.jsonl",
                                                 "data/train.jsonl.gz")]
        for path in paths:
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
        self.assertEqual(self.run_pytest(RIGHT, "--safecopy-reports=."), 0, self.said)
        for path in paths:
            self.assertEqual(path.read_bytes(), content)
            self.expect_left(path, "is in a folder without the plugin's mark")
        self.expect_left(self.folder / "main", "has no mark of the plugin's")
        self.assertEqual(len(list(self.folder.glob("main.1/*.jsonl"))), 1)

    def test_reports_that_were_put_elsewhere_stay(self):
        report, content = self.old_report()
        kept = self.folder / "reports" / "kept" / report.name
        kept.parent.mkdir()
        kept.write_bytes(content)
        self.assertEqual(self.keep(), 0, self.said)
        self.assertEqual(kept.read_bytes(), content)
        self.assertFalse(report.exists())

    def test_links_to_folders_are_not_followed(self):
        report, content = self.old_report()
        away = self.folder / "away"
        report.parent.rename(away)
        for name in ("main", "gw0"):
            (self.folder / "reports" / name).symlink_to(away)
        self.assertEqual(self.keep(), 0, self.said)
        self.assertEqual((away / report.name).read_bytes(), content)
        self.assertEqual(len(list(away.glob("*.jsonl"))), 1)
        self.expect_left(self.folder / "reports" / "main", "is a link")
        self.assertEqual(len(self.reports("main.1")), 1)

    def test_the_folder_that_the_user_names_may_be_a_link(self):
        self.old_report()
        (self.folder / "link").symlink_to("reports")
        self.assertEqual(self.run_pytest(RIGHT, "--safecopy-reports=link"), 0, self.said)
        self.assertEqual(len(self.reports()), 1)

    def test_a_link_to_a_file_stays(self):
        report, content = self.old_report()
        away = report.rename(self.folder / report.name)
        report.symlink_to(away)
        self.expect_kept(report, "is a link", content)

    def test_a_fifo_stays_and_is_not_waited_for(self):
        report, _ = self.old_report()
        report.unlink()
        os.mkfifo(report)
        self.assertEqual(self.keep(), 0, self.said)
        self.assertTrue(report.is_fifo())
        self.expect_left(report, "is no file")

    def test_a_data_set_with_the_name_of_a_report_stays(self):
        report, _ = self.old_report()
        contents = (b'{"text": "a data set"}\n', b"", b'{"type": "run"}\n', b"\0" * 100,
                    b'{"type": "run", "schema": 1, "pid": "a"}\n', b"[" * 100000,
                    b'{"type": "run", "schema": 1, "x": "' + b"x" * (2 << 20) + b'"}\n')
        for number, content in enumerate(contents[1:]):
            report.with_name(f"a.{number}.jsonl").write_bytes(content)
        report.write_bytes(contents[0])
        self.assertEqual(self.keep(), 0, self.said)
        self.assertEqual({path.read_bytes() for path in report.parent.glob("*.jsonl")},
                         set(contents))
        self.expect_left(report.with_name("a.0.jsonl"), "is no report")
        self.assertEqual((self.said.count("is no report"), len(self.reports("main.1"))), (5, 1))

    def test_a_report_under_a_name_of_the_users_stays(self):
        report, content = self.old_report()
        kept = report.rename(report.with_name("kept.jsonl"))
        self.expect_kept(kept, "has another name than the library gave it", content)

    def test_a_report_with_another_name_stays(self):
        report, content = self.old_report()
        os.link(report, self.folder / "other")
        self.expect_kept(report, "has another name as well", content)

    def test_a_report_with_notes_of_the_users_stays(self):
        for notes in (b"a note\n", b"a note", b'{"type":"note"}\n', b'{"note":1}\n', b"\n"):
            with self.subTest(notes):
                report, content = self.old_report()
                report.write_bytes(content + notes)
                self.expect_kept(report, "has lines that the library did not write",
                                 content + notes)
                shutil.rmtree(self.folder / "reports")

    def test_the_report_of_a_killed_process_goes(self):
        report, content = self.old_report()
        report.write_bytes(content[:-40])
        self.assertEqual(self.keep(), 0, self.said)
        self.assertFalse(report.exists())

    def test_the_report_of_a_living_process_stays(self):
        report, content = self.old_report()
        run = json.loads(content.splitlines()[0])
        run.update(pid=os.getpid(), started=started(), host=socket.gethostname())
        kept = report.with_name(f"python3.{os.getpid()}.jsonl")
        content = json.dumps(run).encode() + b"\n"
        kept.write_bytes(content)
        self.expect_kept(kept, "is the report of a process that still runs", content)
        self.assertFalse(report.exists())
        run["started"] += 1
        kept.write_text(json.dumps(run) + "\n")
        self.assertEqual(self.keep(), 0, self.said)
        self.assertFalse(kept.exists())

    def test_a_report_that_its_process_has_open_stays(self):
        """In another container no number and no host's name tells of the process."""
        report, content = self.old_report()
        with open(report, "rb") as locked:
            fcntl.flock(locked, fcntl.LOCK_EX)
            self.expect_kept(report, "is the report of a process that still runs", content)
        self.assertEqual(self.keep(), 0, self.said)
        self.assertFalse(report.exists())

    @unittest.skipUnless(os.geteuid() == 0, "takes root")
    def test_the_report_of_another_user_stays(self):
        report, content = self.old_report()
        os.chown(report, 65534, 65534)
        self.expect_kept(report, "is another user's", content)

    def test_a_session_that_still_runs_keeps_its_reports(self):
        """Also those of its processes that have ended."""
        report, content = self.old_report()
        with open(report.parent / ".safecopy-reports", "rb") as mark:
            fcntl.flock(mark, fcntl.LOCK_EX)
            self.assertEqual(self.keep(), 0, self.said)
        self.assertEqual(report.read_bytes(), content)
        self.expect_left(report.parent, "is of a session that still runs")
        self.assertEqual(len(self.reports("main.1")), 1)
        self.assertEqual(self.keep(), 0, self.said)
        self.assertEqual((len(self.reports()), self.reports("main.1")), (1, []))

    def test_a_folder_with_a_mark_of_somebody_elses_stays(self):
        report, content = self.old_report()
        mark = report.parent / ".safecopy-reports"
        mark.write_text("mine\n")
        self.assertEqual(self.keep(), 0, self.said)
        self.assertEqual(report.read_bytes(), content)
        self.expect_left(report.parent, "has a mark that the plugin did not write")

    @unittest.skipUnless(HAS_XDIST, "no xdist here")
    def test_reports_of_earlier_workers_go(self):
        tests = "import cuda\n" + "".join(f"def test_{i}():\n    cuda.right()\n" for i in range(4))
        self.assertEqual(self.keep("-n2", tests=tests), 0, self.said)
        [first], [second] = self.reports("gw0"), self.reports("gw1")
        stays = first.with_name("train.jsonl")
        stays.write_text("data\n")
        self.assertEqual(self.keep("-n1"), 0, self.said)
        self.assertEqual((self.reports("gw0"), len(self.reports("gw0.1"))), ([stays], 1))
        self.assertEqual(self.reports("gw1"), [])
        self.expect_left(stays, "is no report")
        self.assertFalse(second.exists())

    @unittest.skipUnless(HAS_XDIST, "no xdist here")
    def test_workers_leave_nothing(self):
        self.assertEqual(self.run_pytest(RIGHT, "-n1"), 0, self.said)
        self.assertEqual(list(self.folder.glob("safecopy-*")), [], self.said)

    def test_what_stays_is_not_read_as_of_this_session(self):
        """Neither its hazards nor that a process used CUDA."""
        self.assertEqual(self.keep(tests=WRONG), 1, self.said)
        [report] = self.reports()
        report.rename(report.with_name("kept.jsonl"))
        self.assertEqual(self.keep(tests="def test_nothing():\n    pass\n"), 0, self.said)
        self.assertIn("no process used CUDA", self.said)
        self.assertNotIn("SC105", self.said)

    def test_much_in_the_way_is_named_in_some_lines(self):
        (self.folder / "data").mkdir()
        for number in range(30):
            (self.folder / "data" / f"{number}.jsonl").touch()
        self.assertEqual(self.run_pytest(RIGHT, "--safecopy-reports=."), 0, self.said)
        self.assertEqual(self.said.count("left alone: "), 6)
        self.assertIn("left alone: 25 more\n", self.said)

    def test_what_a_test_puts_into_the_temporary_folder_stays(self):
        tests = ("import cuda, libsafecopy, os, pathlib\ndef test_right():\n    cuda.right()\n"
                 "    folder = pathlib.Path(libsafecopy.report_path()).parent\n"
                 "    (folder / 'mine.txt').write_text('mine')\n"
                 "    (folder.parent / 'mine').write_text('mine')\n")
        self.assertEqual(self.run_pytest(tests), 0, self.said)
        [folder] = self.folder.glob("safecopy-*")
        self.assertEqual({path.read_text() for path in folder.rglob("mine*")}, {"mine"})
        self.assertEqual(len(list(folder.rglob("mine*"))), 2)
        self.assertEqual(list(folder.rglob("*[0-9].jsonl")), [])
        self.expect_left(folder / "main" / "mine.txt", "is no report")

    def test_a_temporary_folder_that_leads_elsewhere_is_not_emptied(self):
        _, content = self.old_report()
        away = self.folder / "away"
        shutil.copytree(self.folder / "reports", away)
        for change in ("folder.rename(base / f'moved{n}'); folder.symlink_to(base / 'away')",
                       "(folder / 'main').rename(base / f'moved{n}'); "
                       "(folder / 'main').symlink_to(base / 'away' / 'main')"):
            tests = ("import os, pathlib\ndef test_nothing():\n"
                     f"    base, n = pathlib.Path({str(self.folder)!r}), os.getpid()\n"
                     f"    [folder] = base.glob('safecopy-*')\n    {change}\n")
            self.assertEqual(self.run_pytest(tests), 1, self.said)
            self.assertRegex(self.said, "unknown: .*/main cannot be looked into: ")
            [report] = away.glob("main/*.jsonl")
            self.assertEqual(report.read_bytes(), content)
            [folder] = self.folder.glob("safecopy-*")
            folder.rename(self.folder / f"done{os.path.islink(folder)}")

    def test_what_is_in_the_folder_neither_blocks_nor_raises(self):
        """What is no report, and lines that the library has not written."""
        report, content = self.old_report()
        (self.folder / "run.txt").write_bytes(content.splitlines()[0])
        tests = ("import os, pathlib\nimport cuda, libsafecopy\ndef test_right():\n"
                 "    cuda.right()\n"
                 "    folder = pathlib.Path(libsafecopy.report_path()).parent\n"
                 "    os.mkfifo(folder / 'fifo.jsonl')\n"
                 "    (folder / 'link.jsonl').symlink_to('/dev/zero')\n"
                 "    (folder / 'folder.jsonl').mkdir()\n"
                 "    (folder / 'data.jsonl').write_text('{\"type\": \"hazard\"}\\n' * 9)\n"
                 "    (folder / 'long.jsonl').write_bytes(b'x' * (3 << 20))\n"
                 "    run = pathlib.Path('run.txt').read_text() + '\\n'\n"
                 "    bad = ['{\"type\":\"hazard\"}', '[]', '7', '[' * 99999, '{', '\\0',\n"
                 "           '{\"type\":\"hazard\",\"label\":[]}', '\"' + 'y' * (3 << 20) + '\"']\n"
                 "    (folder / 'bad.jsonl').write_text(run + '\\n'.join(bad) + '\\n')\n")
        self.assertEqual(self.run_pytest(tests), 1, self.said)
        for name, reason in (("fifo", "cannot be read: is no regular file"),
                             ("link", "cannot be read: is no regular file"),
                             ("folder", "cannot be read: is no regular file"),
                             ("data", "cannot be read: it is not a report"),
                             ("long", "cannot be read: it is not a report"),
                             ("bad", "has 8 lines that cannot be read: line 2: ")):
            self.assertRegex(self.said, rf"\nunknown: /.*/main/{name}\.jsonl {reason}")

    def test_no_line_of_a_report_raises(self):
        """Each value in it becomes each other kind of value."""
        self.assertEqual(self.keep(tests=WRONG), 1, self.said)
        [path] = self.reports()
        run, hazard = [line for line in map(json.loads, path.read_text().splitlines())
                       if line["type"] in ("run", "hazard")][:2]
        run["modules"] = run["modules"][:1]
        for side in (hazard["copy"], hazard["event"]):
            python = [frame for frame in side["stack"] if "file" in frame]
            side["stack"] = side["stack"][:1] + python[:1]
        count = 0
        for line in (run, hazard):
            for changed in changes(line):
                lines = [changed, hazard] if line is run else [run, changed]
                told = list(_reports.Report().new_hazards(io.BytesIO(
                    "".join(json.dumps(line) + "\n" for line in lines).encode())))
                self.assertTrue(all(isinstance(one.text("a.py::b"), str) for one in told))
                count += 1
        self.assertGreater(count, 200)


if __name__ == "__main__":
    unittest.main()
