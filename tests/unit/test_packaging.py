"""The parts of `make dist` that need no build of it: the floor of symbols, the lock, the tarball's own
Makefile."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"
sys.path.insert(0, str(PACKAGING))

from locked import Lock  # noqa: E402

# Of a C library that never was, so that the version may be any.
CALLS = 'void own(void);\nvoid other_function(void);\nvoid own(void) { other_function(); }\n'


def run(*words, status=0, **more):
    ran = subprocess.run(words, capture_output=True, text=True, **more)
    assert ran.returncode == status, (words, ran)
    return ran


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path


class Floor(InFolder):
    """Libraries that need a function of a version."""

    def needing(self, version, library="libc.so.6"):
        stub = self.folder / library
        run("cc", "-shared", "-nostdlib", "-xc", self.write("stub.c", "void other_function(void) {}"), "-o",
            stub, f"-Wl,-soname,{library}",
            f"-Wl,--version-script={self.write('map', version + ' { other_function; };')}")
        user = self.folder / "user.so"
        run("cc", "-shared", "-fPIC", "-nostdlib", "-xc", self.write("user.c", CALLS), "-xnone", stub, "-o",
            user)
        return user

    def floor(self, *words, status):
        return run(PACKAGING / "symbol-floor", *words, status=status)

    def test_what_is_old_enough_passes_and_its_version_is_printed(self):
        for version in ("GLIBC_2.2.5", "GLIBC_2.9", "GLIBC_2.28"):
            said = self.floor(self.needing(version), status=0).stdout
            self.assertIn(f"glibc {version[6:]} (other_function)", said)

    def test_what_is_newer_is_named(self):
        for version in ("GLIBC_2.28.1", "GLIBC_2.30", "GLIBC_3.0"):
            said = self.floor(self.needing(version), status=1).stderr
            self.assertIn(f"other_function of glibc {version[6:]}", said)

    def test_the_limit_may_be_another(self):
        self.floor("--limit", "2.31", self.needing("GLIBC_2.30"), status=0)
        self.floor("--limit", "2.17", self.needing("GLIBC_2.28"), status=1)

    def test_versions_that_are_no_glibcs_are_named(self):
        for version in ("GLIBC_PRIVATE", "GLIBC_ABI_DT_RELR", "GCC_3.0"):
            said = self.floor(self.needing(version), status=1).stderr
            self.assertIn(f"other_function@{version}", said)

    def test_a_library_that_a_system_may_lack_is_named(self):
        said = self.floor(self.needing("GLIBC_2.2.5", "libforeign.so.1"), status=1).stderr
        self.assertIn("needs libforeign.so.1", said)

    def test_each_of_several_files_counts(self):
        new = self.needing("GLIBC_2.30").rename(self.folder / "new.so")
        self.floor(new, self.needing("GLIBC_2.2.5"), status=1)

    def test_what_is_no_program_is_an_error(self):
        self.assertIn("text", self.floor(self.write("text", "no ELF"), status=1).stderr)


class Locked(unittest.TestCase):
    def test_every_file_has_a_hash_and_a_size(self):
        rows = Lock().files()
        self.assertGreater(len(rows), 100)
        for row in rows:
            self.assertRegex(row.digest, r"^[0-9a-f]{64}$")
            self.assertGreater(row.size, 0)
            self.assertRegex(row.path, r"^debian/pool/[^/]+/.*/[^/]+$")

    def test_both_machines_have_what_is_linked(self):
        for package in ("libc6", "libc6-dev", "libdw-dev", "libelf-dev", "libjansson-dev",
                        "libiberty-dev", "zlib1g-dev", "libbz2-dev", "liblzma-dev"):
            found = {row.arch: row.version for row in Lock().sections["build"]
                     if row.package == package}
            self.assertEqual(set(found), {"amd64", "arm64"}, package)
            self.assertEqual(len(set(found.values())), 1, package)

    def test_python_packages_have_hashes(self):
        for name in ("cuda.lock", "hatchling.lock"):
            rows = [line for line in (PACKAGING / name).read_text().splitlines()
                    if line and not line.startswith("#")]
            self.assertTrue(rows)
            for row in rows:
                self.assertRegex(row, r"^[a-z-]+==[0-9.]+ --hash=sha256:[0-9a-f]{64}$")


class Tarball(InFolder):
    """Its Makefile, over a few files."""

    def make(self, *words, status=0):
        return run("make", "-C", self.folder / "tarball", *words, status=status)

    def test_install_and_uninstall(self):
        files = {"bin/safecopy", "lib/libsafecopy.so", "share/doc/libsafecopy/README.md"}
        for name in files:
            self.write(f"tarball/{name}", f"{name} of libsafecopy")
        shutil.copy(PACKAGING / "tarball.mk", self.folder / "tarball" / "Makefile")
        strange = self.write("to/opt/x/bin/other", "somebody else's")
        self.make("install", f"DESTDIR={self.folder}/to", "PREFIX=/opt/x")
        there = lambda: {str(path.relative_to(self.folder / "to/opt/x"))
                         for path in (self.folder / "to").rglob("*") if path.is_file()}
        self.assertEqual(there(), files | {"bin/other"})
        self.assertEqual((self.folder / "to/opt/x/bin/safecopy").stat().st_mode & 0o777, 0o755)
        self.assertEqual((self.folder / "to/opt/x/lib/libsafecopy.so").stat().st_mode & 0o777, 0o644)
        self.make("uninstall", f"DESTDIR={self.folder}/to", "PREFIX=/opt/x")
        self.assertEqual(there(), {"bin/other"})
        self.assertTrue(strange.exists())
        self.assertFalse((self.folder / "to/opt/x/share/doc/libsafecopy").exists())
        self.assertTrue((self.folder / "to/opt/x/share/doc").exists())
        self.make("install", f"DESTDIR={self.folder}/to", "PREFIX=/opt/libsafecopy")
        self.make("uninstall", f"DESTDIR={self.folder}/to", "PREFIX=/opt/libsafecopy")
        self.assertFalse((self.folder / "to/opt/libsafecopy").exists())

    def test_another_program_of_that_name_stays(self):
        for name in ("bin/safecopy", "lib/libsafecopy.so"):
            self.write(f"tarball/{name}", "of libsafecopy")
        shutil.copy(PACKAGING / "tarball.mk", self.folder / "tarball" / "Makefile")
        other = self.write("to/usr/bin/safecopy", "another program")
        words = f"{other} is not of libsafecopy, and stays"
        where = (f"DESTDIR={self.folder}/to", "PREFIX=/usr")
        self.assertIn(words, self.make("install", *where, status=2).stderr)
        self.assertEqual(list((self.folder / "to").rglob("*.so")), [])
        self.assertIn(words, self.make("uninstall", *where).stderr)
        self.assertEqual(other.read_text(), "another program")


if __name__ == "__main__":
    unittest.main()
