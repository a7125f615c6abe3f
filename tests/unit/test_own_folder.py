#!/usr/bin/env python3
"""What scripts remove: folders that they have made, and nothing that was there before."""

import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MARK = ".made-by-libsafecopy"
# In the place of python3: `pip install --target FOLDER` of a wheel that has one header.
PIP = """#!/bin/bash
[ "$3" = install ] || exit 0
while [ "$1" != --target ]; do shift; done
mkdir -p "$2/nvidia/cu13/include"
echo new >"$2/nvidia/cu13/include/cuda_runtime_api.h"
"""


# In the place of packaging/enter, which would run packaging/build: a file, where /dist is.
ENTER = """#!/bin/bash
for word; do case $word in *=/dist) cd "${word%=/dist}";; esac; done
echo built >libsafecopy-1.tar.gz
sha256sum -- * >../work/SHA256SUMS
mv ../work/SHA256SUMS .
"""


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()

    def write(self, name, text="theirs"):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def run_script(self, name, *arguments, status=0, **environment):
        run = subprocess.run([ROOT / name, *arguments], capture_output=True, text=True, check=False,
                             cwd=self.folder, env={**os.environ, **environment})
        self.assertEqual(run.returncode, status, run.stderr)
        return run.stderr

    def files(self, folder=""):
        return {str(path.relative_to(self.folder / folder)): path.read_text()
                for path in (self.folder / folder).rglob("*") if path.is_file()}


class OwnFolder(InFolder):
    def own(self, folder, *new, status=0):
        return self.run_script("scripts/own-folder", self.folder / folder, *new, status=status)

    def test_what_a_script_has_made_is_made_anew(self):
        self.own("deep/made")
        self.write("deep/made/build/a", "ours")
        self.own("deep/made/")
        self.assertEqual(self.files("deep/made"), {MARK: ""})

    def test_another_folder_becomes_it(self):
        self.own("made")
        self.write("made/old")
        self.write("new/file", "new")
        self.own("made", self.folder / "new")
        self.assertEqual(self.files(), {f"made/{MARK}": "", "made/file": "new"})

    def test_an_empty_folder_is_taken(self):
        (self.folder / "made").mkdir()
        self.own("made")
        self.assertEqual(self.files("made"), {MARK: ""})

    def test_what_was_there_stays_and_is_named(self):
        self.write("theirs/file")
        self.write("file")
        (self.folder / "link").symlink_to("theirs")
        self.write("marked/file")
        (self.folder / "marked" / MARK).symlink_to("file")
        before = self.files()
        for name, reason in (("theirs", "was not made by a script"), ("file", "is no folder"),
                             ("link", "is a link"), ("link/", "is a link"),
                             ("marked", "was not made by a script")):
            self.assertIn(f"{name.rstrip('/')} {reason}", self.own(name, status=1))
        self.assertEqual(self.files(), before)
        self.assertTrue((self.folder / "link").is_symlink())

    def test_a_toolkit_of_the_users_is_not_replaced_by_wheels(self):
        self.write("bin/python3", PIP).chmod(0o755)
        self.write("cuda/include/cuda.h")
        path = f"{self.folder}/bin:{os.environ['PATH']}"
        said = self.run_script("scripts/fetch-cuda", "cuda", "a==1", status=1, PATH=path)
        self.assertIn("cuda was not made by a script of libsafecopy, and stays", said)
        self.assertEqual(self.files("cuda"), {"include/cuda.h": "theirs"})
        for _ in range(2):
            self.run_script("scripts/fetch-cuda", "own", "a==1", PATH=path)
            self.assertEqual(self.files("own"), {MARK: "", "include/cuda_runtime_api.h": "new\n"})
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"bin", "cuda", "own"})

    def test_other_scripts_ask_first(self):
        for name in ("cache/focal-gcc-9/file", "root/unpacked/file"):
            self.write(name)
        before = self.files()
        self.run_script("packaging/unpack", "build", "files", "root", status=1)
        self.run_script("packaging/build", status=2)
        self.run_script("scripts/carry-wheel", "../cache", "a==1", status=2)
        self.assertEqual(self.files(), before)


class Deliver(InFolder):
    """`make dist` has built into `new`."""

    def setUp(self):
        super().setUp()
        self.build("libsafecopy-2.tar.gz", "libsafecopy-2-py3-none-any.whl")
        (self.folder / "to").mkdir()

    def build(self, *names):
        sums = [f"{hashlib.sha256(b'new').hexdigest()}  {name}\n" for name in names]
        for name in names:
            self.write(f"new/{name}", "new")
        self.write("new/SHA256SUMS", "".join(sums))

    def deliver(self, status=0):
        self.run_script("packaging/deliver", "--can", "to", status=status)
        return self.run_script("packaging/deliver", "new", "to", status=status)

    def test_what_an_earlier_call_has_built_is_replaced(self):
        self.write("to/notes", "mine")
        self.deliver()
        self.assertEqual(self.files("to"), {**self.files("new"), "notes": "mine"})
        for path in (self.folder / "new").iterdir():
            path.unlink()
        self.build("libsafecopy-3.tar.gz")
        self.deliver()
        self.assertEqual(self.files("to"), {**self.files("new"), "notes": "mine"})

    def test_other_files_stay_and_are_named(self):
        digest = hashlib.sha256(b"theirs").hexdigest()
        for name, text in (("SHA256SUMS", f"{digest}  data.tar\n"),
                           ("libsafecopy-2.tar.gz", "theirs")):
            path = self.write(f"to/{name}", text)
            self.write("to/data.tar")
            before = self.files("to")
            self.assertIn(f"to/{name} is not of an earlier make dist", self.deliver(status=2))
            self.assertEqual(self.files("to"), before)
            path.unlink()
        self.deliver()
        changed = self.write("to/libsafecopy-2.tar.gz", "signed")
        self.assertIn("libsafecopy-2.tar.gz is not of an earlier make dist", self.deliver(status=2))
        self.assertEqual(changed.read_text(), "signed")

    def test_make_dist_leaves_what_is_in_its_folder(self):
        tree = self.folder / "tree"
        for name in ("packaging/dist", "packaging/deliver", "scripts/own-folder", "Makefile"):
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tree / name)
        for name, text in (("fetch", "#!/bin/true"), ("unpack", "#!/bin/true"), ("enter", ENTER)):
            self.write(f"tree/packaging/{name}", text).chmod(0o755)
        for name in ("cuda", "hatchling"):
            self.write(f"tree/packaging/{name}.lock")
            self.write(f"tree/out/packaging/{name}/lock")
        self.write("tree/out/packaging/scratch/old")
        self.write("to/notes")
        expected = {"notes": "theirs", "libsafecopy-1.tar.gz": "built\n"}
        for _ in range(2):
            subprocess.run([tree / "packaging" / "dist", self.folder / "to"], check=True,
                           capture_output=True)
            self.assertEqual({**self.files("to"), **expected}, self.files("to"))
        self.assertEqual(len(self.files("to")), 3)
        self.write("mine/file")
        run = subprocess.run([tree / "packaging" / "dist", self.folder / "to", self.folder / "mine"],
                             check=False, capture_output=True, text=True)
        self.assertIn("mine was not made by a script of libsafecopy, and stays", run.stderr)
        self.assertEqual((run.returncode, self.files("mine")), (1, {"file": "theirs"}))

    def test_sums_of_another_folder_remove_nothing_there(self):
        digest = hashlib.sha256(b"theirs").hexdigest()
        self.write("libsafecopy-1.whl")
        self.write("to/SHA256SUMS", f"{digest}  ../libsafecopy-1.whl\n")
        self.deliver(status=2)
        self.write("to/SHA256SUMS", f"{digest}  libsafecopy-/../../libsafecopy-1.whl\n")
        self.deliver()
        self.assertEqual((self.folder / "libsafecopy-1.whl").read_text(), "theirs")


if __name__ == "__main__":
    unittest.main()
