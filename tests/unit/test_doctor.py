#!/usr/bin/env python3
"""`safecopy doctor`: what it says of this machine on the simulated GPU, of programs of every kind, and
of their trial."""

import errno
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from seccomp_filters import KILLS, REFUSES, filters

sys.path.append("/usr/lib/python3/dist-packages")
import jsonschema  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = pathlib.Path(os.environ.get("SAFECOPY_OUT", ROOT / "out"))
SAFECOPY = str(OUT / "safecopy")
RACY = str(OUT / "tests" / "hazard" / "sc101_free_h2d.racy")
FIXED = str(OUT / "tests" / "hazard" / "sc101_free_h2d.fixed")
SCHEMA = json.loads((ROOT / "report/command/doctor/schema.json").read_text(encoding="utf-8"))
ENVIRONMENT = {**{name: value for name, value in os.environ.items()
                  if not name.startswith(("SAFECOPY_", "LD_", "CUDA_"))},
               "LD_LIBRARY_PATH": str((OUT / "sim").resolve()), "SIM_GPU": "late=1"}
PATIENCE_S = 300
OPENS_CUDA = "import ctypes; print(ctypes.CDLL('libcuda.so.1').cuInit(0))"


def has(tool):
    return unittest.skipUnless(shutil.which(tool), f"no {tool} here")


class Doctor(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name).resolve()

    def start(self, *arguments, command=SAFECOPY, **more):
        self.ran = subprocess.run([command, "doctor", *map(str, arguments)], **{
            "cwd": self.folder, "stdin": subprocess.DEVNULL, "timeout": PATIENCE_S,
            "capture_output": True, "text": True, "check": False, **more,
            "env": {**ENVIRONMENT, "TMPDIR": str(self.folder), **more.get("env", {})}})
        self.assertEqual(list(self.folder.glob("safecopy-doctor-*")), [])
        return self.ran

    def alone(self, *commands, **more):
        """Whether it was run with mounts of its own, which the commands have made."""
        script = " && ".join([*commands, f"exec {SAFECOPY} doctor"])
        run = subprocess.run(["unshare", "-m", "sh", "-c", " && ".join([*commands, "exit 77"])],
                             capture_output=True, check=False) if shutil.which("unshare") else None
        if not run or run.returncode != 77:
            return False
        self.ran = subprocess.run(["unshare", "-m", "sh", "-c", script], cwd="/", check=False,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  timeout=PATIENCE_S,
                                  env={**ENVIRONMENT, "SAFECOPY_OPTIONS": "report_path=none",
                                       **more.get("env", {})})
        return True

    def ask(self, *arguments, **more):
        """The findings by id."""
        run = self.start("--format", "json", *arguments, **more)
        self.answer = json.loads(run.stdout)
        jsonschema.validate(self.answer, SCHEMA)
        problems = [found for found in self.answer["findings"] if found["level"] == "problem"]
        self.assertEqual(self.answer["problems"], len(problems))
        self.assertEqual(run.returncode, 1 if problems else 0, run.stderr)
        return {found["id"]: found for found in self.answer["findings"]}

    def expect(self, found, level, *ids):
        """These, and no other problem than they."""
        for name in ids:
            self.assertEqual(found.get(name, {}).get("level"), level, (name, found))
        if level == "problem":
            self.assertEqual(sorted(ids), sorted(
                name for name, one in found.items() if one["level"] == "problem"))

    def compile(self, name, *flags, source="int main(void) { return 0; }\n", compiler="cc"):
        path = self.folder / name
        subprocess.run([compiler, "-xc", "-", "-o", path, *flags], input=source, text=True, check=True,
                       stderr=subprocess.DEVNULL)
        return path

    def write(self, name, text, mode=0o755):
        path = self.folder / name
        path.write_bytes(text.encode("latin-1"))
        path.chmod(mode)
        return path


class Machine(Doctor):
    def test_all_is_well_on_the_simulated_gpu(self):
        found = self.ask()
        self.expect(found, "ok", "system", "map-count", "driver", "devices", "library-loads", "comes-up",
                    "unwind", "cupti", "settings")
        self.assertEqual((self.answer["problems"], self.ran.stderr), (0, ""))
        self.assertIn("Simulated GPU", found["devices"]["text"])
        self.assertIn(str(OUT.resolve() / "libsafecopy.so"), found["library-loads"]["text"])

    def test_text(self):
        run = self.start()
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        for line in run.stdout.splitlines()[:-1]:
            self.assertRegex(line, r"^[a-z]+$|^  (ok     |note   |problem)  \S| {11}remedy: \S")
        self.assertEqual(run.stdout.splitlines()[-1], "no problem was found")
        self.assertEqual(re.findall(r"^[a-z]+$", run.stdout, re.M),
                         ["system", "limits", "memory", "driver", "runtime", "library", "cupti",
                          "guard", "settings"])

    def test_without_a_driver(self):
        found = self.ask(env={"LD_LIBRARY_PATH": str(self.folder)})
        if "driver" in found:
            self.skipTest("there is a driver here")
        self.expect(found, "problem", "driver-not-found")
        self.expect(found, "note", "not-tried", "cupti-unknown")

    def test_a_broken_driver(self):
        for source, name in (("int cuInit(unsigned f) { return 803; }", "init-failed"),
                             ("int cuInit(unsigned f) { __builtin_trap(); }", "driver-crashes")):
            self.compile("libcuda.so.1", "-shared", "-fPIC", source=source)
            found = self.ask(env={"LD_LIBRARY_PATH": str(self.folder)})
            self.expect(found, "problem", name)
        self.assertIn("cuInit", found["driver-crashes"]["text"])

    def test_the_library_elsewhere(self):
        place = self.folder / "a b"
        place.mkdir()
        command = shutil.copy(SAFECOPY, place)
        self.expect(self.ask(command=command), "problem", "library-not-found")
        shutil.copy(OUT / "libsafecopy.so", place)
        self.expect(self.ask(command=command), "problem", "library-path")
        place.rename(self.folder / "ab")
        found = self.ask(command=str(self.folder / "ab" / "safecopy"))
        self.expect(found, "ok", "library-loads", "comes-up")

    def test_a_library_that_the_loader_refuses(self):
        command = shutil.copy(SAFECOPY, self.folder)
        (self.folder / "libsafecopy.so").write_bytes(
            (OUT / "libsafecopy.so").read_bytes().replace(b"GLIBC_2.2.5\0", b"GLIBC_2.9.9\0"))
        found = self.ask(command=command)
        self.expect(found, "problem", "library-not-loaded")
        self.assertIn("GLIBC_2.9.9", found["library-not-loaded"]["text"])
        self.assertIn("wheel", found["library-not-loaded"]["remedy"])

    @unittest.skipUnless(os.uname().machine == "x86_64", "numbers of system calls are x86-64's")
    def test_a_seccomp_filter(self):
        reads_memory, lists_pages, refuses = 310, 27, REFUSES | errno.EPERM
        found = self.ask(preexec_fn=filters(9999, refuses))
        if "no-seccomp" in found:
            self.skipTest("no seccomp filters here")
        self.expect(found, "note", "seccomp")
        found = self.ask(preexec_fn=filters(lists_pages, refuses))
        self.expect(found, "problem", "call-refused")
        self.assertIn("mincore (Operation not permitted)", found["call-refused"]["text"])
        found = self.ask(preexec_fn=filters(reads_memory, refuses))
        self.expect(found, "note", "call-refused")
        self.assertIn("process_vm_readv is refused (Operation not permitted)",
                      found["call-refused"]["text"])
        self.assertEqual(self.answer["problems"], 0)
        found = self.ask(preexec_fn=filters(reads_memory, REFUSES | errno.EINVAL))
        self.expect(found, "problem", "call-refused")
        self.assertIn("process_vm_readv (Invalid argument)", found["call-refused"]["text"])
        found = self.ask(preexec_fn=filters(reads_memory, KILLS))
        self.expect(found, "problem", "call-kills")
        self.assertIn("process_vm_readv", found["call-kills"]["text"])

    def test_settings(self):
        self.expect(self.ask(env={"SAFECOPY_OPTIONS": "strikt=1:mode=fix"}), "problem", "bad-option")
        self.expect(self.ask(env={"SAFECOPY_OPTIONS": "mode=off"}), "problem", "mode-off")
        for path in ("none", "not/yet/there/%p", f"{self.folder}/not/yet/%p", "/nowhere/%h/%p", "/dev/stderr"):
            found = self.ask(env={"SAFECOPY_OPTIONS": f"report_path={path}"})
            self.expect(found, "ok", "settings")
        other = str(self.compile("other.so", "-shared"))
        self.expect(self.ask(env={"LD_PRELOAD": other}), "note", "other-preload")
        self.expect(self.ask(env={"CUDA_INJECTION64_PATH": "/opt/x.so"}), "note", "other-injection")

    def told(self, key, value, found, *ids):
        """What the library says of it when a program runs, next to what the doctor does."""
        run = subprocess.run([SAFECOPY, "run", RACY], cwd=self.folder, capture_output=True, text=True,
                             check=False, timeout=PATIENCE_S,
                             env={**ENVIRONMENT, "SAFECOPY_OPTIONS": f"{key}={value}"})
        self.expect(found, "problem", *ids)
        return run.stderr

    def test_a_report_that_cannot_be_written(self):
        """The doctor finds what the library will meet, and makes nothing."""
        link, kept = self.folder / "link", self.folder / "kept.jsonl"
        link.symlink_to("nowhere")
        kept.write_text("train\n", encoding="utf-8")
        before = sorted(self.folder.iterdir())
        for path in ("/proc/x/y", "/proc/%p.jsonl", "/dev/null/x", f"{SAFECOPY}/%p", self.folder, link,
                     "/dev/zero", "/dev/full", "/proc/self/fd/77"):
            with self.subTest(path=path):
                found = self.ask(env={"SAFECOPY_OPTIONS": f"report_path={path}"})
                self.assertEqual(sorted(self.folder.iterdir()), before)
                said = self.told("report_path", path, found, "reports-refused")
                words = re.search(r"cannot write the report \((.*?)\): ", said)[1]
                self.assertTrue(found["reports-refused"]["text"].endswith(f": {words}"), (found, said))
                self.assertIn("report_path", found["reports-refused"]["remedy"])
        found = self.ask(env={"SAFECOPY_OPTIONS": f"report_path={kept}"})
        self.expect(found, "note", "report-kept")
        self.assertEqual(kept.read_text(encoding="utf-8"), "train\n")
        os.mkfifo(self.folder / "fifo")
        found = self.ask(env={"SAFECOPY_OPTIONS": "report_path=fifo"})
        self.expect(found, "note", "report-fifo")
        found = self.ask(env={"SAFECOPY_OPTIONS": "report_path=r.%q.%p.jsonl"})
        self.expect(found, "note", "report-letter")
        self.assertIn("%q", found["report-letter"]["text"])

    def test_a_disk_that_is_full(self):
        place = self.folder / "full"
        place.mkdir()
        if not self.alone(f"mount -t tmpfs -o size=4k none {place}",
                          f"{{ head -c 8k /dev/zero >{place}/data 2>/dev/null || true; }}",
                          env={"SAFECOPY_OPTIONS": f"report_path={place}/r.jsonl"}):
            self.skipTest("no mounts of its own here")
        self.assertIn(f"reports cannot be written to {place}/r.jsonl: No space left on device\n",
                      self.ran.stdout)
        self.assertIn("remedy: Free space there, or name another place", self.ran.stdout)

    def test_suppressions(self):
        entry = "{\nname: a\ncode: SC101\nreason: known\n%s}\n"
        malformed = self.write("malformed.supp", "{\nname: a\n}\n")
        for path, words in (("/nowhere.supp", "No such file"), (self.folder, "directory"),
                            (malformed, f"{malformed}:3:1: ")):
            with self.subTest(path=path):
                found = self.ask(env={"SAFECOPY_OPTIONS": f"suppressions={path}"})
                self.assertIn("suppressed" if path != malformed else words,
                              self.told("suppressions", path, found, "bad-suppressions"))
                self.assertIn(words, found["bad-suppressions"]["text"])
        self.write("old.supp", entry % "expires: 2020-01-01\n")
        found = self.ask(env={"SAFECOPY_OPTIONS": "suppressions=old.supp"})
        self.expect(found, "note", "expired-suppression")
        self.write("good.supp", entry % "")
        self.expect(self.ask(env={"SAFECOPY_OPTIONS": "suppressions=good.supp"}), "ok", "settings")

    def test_variables_with_relative_paths(self):
        for name in ("CUPTI_PATH", "CUDA_HOME", "NVTX_INJECTION64_PATH"):
            found = self.ask(env={name: "some/where"})
            self.expect(found, "note", "relative-variable")
            self.assertIn(f"{name}=some/where", found["relative-variable"]["text"])
        self.expect(self.ask(env={"NVTX_INJECTION64_PATH": "libtool.so"}), "ok", "settings")
        shutil.copy(OUT / "libsafecopy.so", self.folder)
        found = self.ask(env={"LD_PRELOAD": "./libsafecopy.so"})
        self.expect(found, "note", "relative-preload")

    def test_the_simulated_gpu_is_named_by_its_whole_path(self):
        found = self.ask(env={"LD_LIBRARY_PATH": str(self.folder)})
        if "driver" in found:
            self.skipTest("there is a driver here")
        self.assertTrue(found["driver-not-found"]["remedy"].endswith(
            f"LD_LIBRARY_PATH={(OUT / 'sim').resolve()}"), found)

    def test_a_folder_that_cannot_be_written(self):
        folder = self.folder / "kept"
        folder.mkdir(mode=0o555)
        self.folder.chmod(0o777)
        nobody = {"user": 65534} if os.geteuid() == 0 else {}
        found = self.ask(cwd=folder, **nobody)
        if "library-not-found" in found:
            self.skipTest("nobody cannot read the library here")
        self.expect(found, "problem", "reports-refused")
        found = self.ask(cwd=folder, env={"SAFECOPY_OPTIONS": f"report_path={self.folder}/%p"}, **nobody)
        self.expect(found, "ok", "settings")

    def test_cupti(self):
        for state, words in (("held", "another tool"), ("old", "older")):
            found = self.ask(env={"SIM_CUPTI": state})
            self.expect(found, "note", "cupti-unusable")
            self.assertIn(words, found["cupti-unusable"]["text"])

    def test_usage(self):
        for arguments, words in ((["--format", "xml"], "text or json"), (["--fix"], "there is no flag"),
                                 (["--format"], "without its value")):
            run = self.start(*arguments)
            self.assertEqual((run.returncode, run.stdout), (2, ""))
            self.assertIn(words, run.stderr)

    def test_no_place_for_a_folder(self):
        self.assertIn("comes-up", self.ask(env={"TMPDIR": "/nowhere"}))
        if not self.alone("true"):
            self.skipTest("no mounts of one's own here")
        # What is tested may lie in one of them, and stays there.
        mounts = [f"mount --rbind {path} {path} && mount -o remount,bind,ro {path}"
                  for path in ("/tmp", "/var/tmp", "/dev/shm")]
        self.assertTrue(self.alone(*mounts[:2], env={"TMPDIR": "/nowhere"}))
        self.assertEqual((self.ran.returncode, self.ran.stderr), (0, ""))
        self.assertTrue(self.alone(*mounts, env={"TMPDIR": "/nowhere"}))
        self.assertEqual((self.ran.returncode, self.ran.stdout), (2, ""))
        self.assertEqual(self.ran.stderr.count("\n"), 1)

    def test_no_proc(self):
        if not self.alone("mount -t tmpfs none /proc"):
            self.skipTest("no mounts of one's own here")
        problems = [line for line in self.ran.stdout.splitlines() if line.startswith("  problem")]
        self.assertEqual(len(problems), 1, self.ran.stdout)
        self.assertIn("/proc", problems[0])


class Findings(unittest.TestCase):
    def test_each_is_tried_with_made_up_facts(self):
        """An id is kept from version to version, so it is written in a test as well."""
        named = (ROOT / "tests" / "unit" / "test_doctor.c").read_text(encoding="utf-8")
        sources = sorted((ROOT / "report" / "command" / "doctor").glob("diagnose_*.c"))
        ids = [name for source in sources
               for name in re.findall(r"\b(?:OK|NOTE|PROBLEM)\(\s*\"([a-z-]+)\"",
                                      source.read_text(encoding="utf-8"))]
        self.assertGreater(len(ids), 100)
        self.assertEqual([name for name in ids if f'"{name}"' not in named], [])


class Program(Doctor):
    def cut(self):
        return self.write("cut", pathlib.Path("/bin/true").read_bytes()[:64].decode("latin-1"))

    def circle(self):
        path = self.folder / "circle"
        path.symlink_to(path)
        return path

    def test_missing_or_not_to_be_run(self):
        for program, name in (("./nothing", "program-not-found"), ("no-such-word", "program-not-found"),
                              (self.folder, "program-is-folder"),
                              (self.write("text", "x", 0o644), "program-not-executable"),
                              (self.write("garbage", "\x7fELF\x02\x01"), "unknown-format"),
                              (self.write("words", "exit 0\n"), "unknown-format"),
                              (self.cut(), "damaged"),
                              ("", "program-not-found"), ("/dev/null", "program-not-readable"),
                              (self.circle(), "program-not-readable")):
            self.expect(self.ask(program), "problem", name)
            self.assertIsNone(self.answer["trial"], name)

    def test_a_file_that_is_no_program(self):
        """Whether it is named by its path, or as a program of PATH would be."""
        self.write("README.md", "# hello\n", 0o644)
        self.write("beside", "#!/bin/sh\n")
        self.write("words", "hello\n", 0o755)
        says = "is no program: neither an ELF program nor a script with a #! line"
        for name, words in (("README.md", f"README.md {says}"), ("./README.md", f"./README.md {says}"),
                            ("words", f"words {says}"),
                            ("beside", "there is no beside in PATH, but in this folder"),
                            ("nothing", "there is no nothing\n")):
            run = subprocess.run([SAFECOPY, "doctor", "--", name], cwd=self.folder, text=True,
                                 capture_output=True, check=False)
            self.assertEqual((run.returncode, run.stderr), (1, ""))
            self.assertIn(f"\n  problem  {words}", run.stdout)

    def test_static(self):
        for name in ("-static", "-static-pie"):
            try:
                program = self.compile(f"program{name}", name)
            except subprocess.CalledProcessError:
                self.skipTest("no static libc here")
            found = self.ask(program)
            self.expect(found, "problem", "static", "not-loaded")
            self.assertEqual(self.answer["trial"], {"exit_status": 0, "signal": None, "programs": 0,
                                                    "reached": 0, "reports": 0})

    @unittest.skipUnless(os.geteuid() == 0, "setuid takes root")
    def test_other_rights(self):
        program = self.folder / "true"
        for mode, owner, name in ((0o4755, (1, 0), "setuid"), (0o2755, (0, 1), "setgid")):
            shutil.copy("/bin/true", program)
            os.chown(program, *owner)
            program.chmod(mode)
            if os.statvfs(program).f_flag & os.ST_NOSUID:
                self.skipTest("setuid means nothing on this file system")
            found = self.ask(program)
            self.expect(found, "problem", name, "not-loaded")
            self.assertNotIn("reached-by-preload", found)
        program.chmod(0o4755)
        os.chown(program, 0, 0)
        self.expect(self.ask(program), "ok", "reached-by-preload")

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setcap"), "takes root and setcap")
    def test_capabilities(self):
        self.folder.chmod(0o777)
        program = shutil.copy("/bin/true", self.folder)
        if subprocess.run(["setcap", "cap_net_raw+ep", program], check=False).returncode:
            self.skipTest("no capabilities on this file system")
        found = self.ask("--no-run", program, user=65534)
        self.expect(found, "problem", "capabilities")

    def test_scripts(self):
        inner = self.write("inner", "#!/usr/bin/env sh\nexit 5\n")
        script = self.write("script", f"#!{inner} -x\n")
        found = self.ask(script)
        self.expect(found, "ok", "script", "reached-by-preload")
        self.assertEqual(self.answer["program"], [str(script), str(inner), shutil.which("sh")])
        self.assertEqual(self.answer["trial"]["exit_status"], 5)
        self.assertGreaterEqual(self.answer["trial"]["reached"], 2)
        for line, name in (("#!/nowhere/sh", "interpreter-not-found"),
                           (f"#!{self.folder}/script", "interpreter-not-known"),
                           ("#!  ", "interpreter-not-known")):
            self.expect(self.ask(self.write("script", line + "\n")), "problem", name)
        self.expect(self.ask(self.write("script", f"#!{self.folder}\n")), "problem", "program-is-folder")

    def test_a_script_of_a_static_program(self):
        try:
            static = self.compile("static", "-static")
        except subprocess.CalledProcessError:
            self.skipTest("no static libc here")
        self.expect(self.ask(self.write("script", f"#!{static}\n")), "problem", "static", "not-loaded")

    def test_another_libc(self):
        musl = self.compile("musl", "-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1")
        self.expect(self.ask("--no-run", musl), "problem", "musl")
        loader = self.folder / "ld-musl-here.so.1"
        loader.symlink_to(re.search(r"(/\S*ld-linux\S*)\]", subprocess.run(
            ["readelf", "-l", "/bin/true"], capture_output=True, text=True, check=True).stdout)[1])
        started = self.compile("started", f"-Wl,--dynamic-linker={loader}")
        self.expect(self.ask(started), "problem", "musl")
        self.assertEqual(self.answer["trial"]["reached"], 1)
        gone = self.compile("gone", f"-Wl,--dynamic-linker={self.folder}/ld-linux-gone.so")
        self.expect(self.ask(gone), "problem", "loader-not-found")

    @has("aarch64-linux-gnu-gcc")
    def test_another_architecture(self):
        program = self.compile("arm", compiler="aarch64-linux-gnu-gcc")
        found = self.ask(program)
        if found["elf"]["text"].endswith("aarch64") and os.uname().machine == "aarch64":
            self.skipTest("it is no other here")
        self.expect(found, "problem", "other-architecture")
        self.assertIsNone(self.answer["trial"])

    def test_what_it_calls(self):
        sim = str(OUT / "sim")
        for name, flags, source in (
                ("cudart-linked", ["-Wl,--no-as-needed", "-xnone", f"{sim}/libcudart.so.13"], ""),
                ("driver-linked", ["-Wl,--no-as-needed", "-xnone", f"{sim}/libcuda.so.1"], ""),
                ("driver-opened", ["-s"], "const char name[] = \"libcuda.so.1\";"),
                ("cudart-inside", [], "int cudaMemcpyAsync(void) { return 0; }"),
                ("device-code-only", [],
                 "__attribute__((section(\".nv_fatbin\"), used)) int code = 1;"),
                ("own-allocator", ["-rdynamic"], "void free(void *p) { (void)p; }"),
                ("symbolic", ["-shared", "-fPIC", "-Wl,-Bsymbolic"], ""),
                ("is-library", ["-shared", "-fPIC"], "")):
            program = self.compile("program", *flags, source=f"{source}\nint main(void) {{ return 0; }}")
            self.assertIn(name, self.ask("--no-run", program))
            self.assertEqual((self.ran.returncode, self.answer["trial"]), (0, None))

    def test_nothing_of_a_file_steers_the_terminal(self):
        program = self.write("script", "#!/x\x1b[2J\xc2\x9b\n")
        run = self.start(program, errors="surrogateescape")
        self.assertEqual(run.returncode, 1)
        self.assertNotRegex(run.stdout, r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
        self.assertIn("\\u001b[2J", run.stdout)


class Trial(Doctor):
    def test_a_program_that_uses_cuda(self):
        for program, hazards in ((RACY, True), (FIXED, False)):
            found = self.ask("--", program)
            self.expect(found, "ok", "reached-by-preload", "came-up", "exit-status")
            self.assertEqual("hazards" in found, hazards)
            self.assertEqual(self.answer["trial"], {"exit_status": 0, "signal": None, "programs": 1,
                                                    "reached": 1, "reports": 1})
            self.assertEqual(self.ran.stderr, "data right\n")

    def test_arguments_status_and_stdin_are_the_programs(self):
        found = self.ask("sh", "-c", "cat; echo \"$1\"; exit 7", "sh", "--format", stdin=None,
                         input="line\n")
        self.expect(found, "note", "exit-status", "no-cuda")
        self.assertEqual(self.ran.stderr, "line\n--format\n")
        found = self.ask("sh", "-c", "kill -SEGV $$")
        self.expect(found, "note", "ended-by-signal")
        self.assertEqual(self.answer["trial"]["signal"], 11)

    def test_no_run(self):
        self.ask("--no-run", "--", "sh", "-c", "echo ran")
        self.assertEqual((self.ran.stderr, self.answer["trial"]), ("", None))

    def test_python_and_a_shell(self):
        found = self.ask("sh", "-c", f'{sys.executable} -c "$0"; true', OPENS_CUDA)
        self.expect(found, "ok", "came-up")
        self.assertEqual(self.answer["trial"]["reports"], 1)

    def test_a_library_that_the_loader_does_not_find(self):
        runtime = self.compile("libcudart.so.99", "-shared", "-fPIC", "-Wl,-soname,libcudart.so.99",
                               source="int cudaFree(void *p) { return p != 0; }\n")
        program = self.compile("program", "-Wl,--no-as-needed", f"-L{self.folder}",
                               f"-l:{runtime.name}")
        found = self.ask(program)
        self.expect(found, "problem", "not-begun")
        self.assertEqual(found["not-begun"]["text"],
                         "the loader did not begin the program: it does not find libcudart.so.99")
        self.assertIn("LD_LIBRARY_PATH", found["not-begun"]["remedy"])
        self.assertNotIn("exit-status", found)
        there = f"{self.folder}:{ENVIRONMENT['LD_LIBRARY_PATH']}"
        self.assertNotIn("not-begun", self.ask(program, env={"LD_LIBRARY_PATH": there}))

    def test_a_process_that_lost_the_preload(self):
        found = self.ask("sh", "-c", f'LD_PRELOAD= {sys.executable} -c "$0"', OPENS_CUDA)
        self.expect(found, "problem", "driver-without-library")
        self.expect(self.ask("sh", "-c", "LD_PRELOAD= ls >/dev/null; true"), "note", "lost-on-the-way")

    def test_a_driver_that_is_passed_by(self):
        program = OUT / "tests" / "cupti" / "unreached"
        self.expect(self.ask(program), "problem", "unreached")
        self.assertNotIn("came-up", {found["id"] for found in self.answer["findings"]})
        self.expect(self.ask(program, env={"HOW": "loaded"}), "note", "driver-unused")
        self.expect(self.ask(program, env={"HOW": "links"}), "ok", "came-up")

    def test_what_the_program_puts_into_the_folder_stays(self):
        """Its LD_DEBUG_OUTPUT says where that is."""
        data = self.folder / "data"
        data.mkdir()
        for name in ("report.1", "loader.1", "train.jsonl"):
            (data / name).write_text("data")
        kept = {"keeps": "echo data >$0/notes; ln -s $0/../data/report.1 $0/report.1",
                "swaps": "mv $0 $0.moved; ln -s data $0"}
        for name, script in kept.items():
            self.ran = subprocess.run(
                [SAFECOPY, "doctor", "--", "sh", "-c", f'set -- "${{LD_DEBUG_OUTPUT%/*}}"; '
                 f'unset LD_DEBUG; {script.replace("$0", "$1")}'], cwd=self.folder, text=True,
                env={**ENVIRONMENT, "TMPDIR": str(self.folder)}, capture_output=True, check=False)
            self.assertRegex(self.ran.stderr, "safecopy-doctor-.* stays: what is there is not the")
            self.assertEqual({path.read_text() for path in data.iterdir()}, {"data"}, name)
            self.assertEqual(len(list(data.iterdir())), 3, name)
        self.assertEqual([path.read_text() for path in self.folder.glob("*/notes")], ["data\n"])
        self.assertEqual(len(list(self.folder.glob("*/report.1"))), 3)

    def test_a_status_that_strict_made_is_nobodys_fault(self):
        found = self.ask(RACY, env={"SAFECOPY_OPTIONS": "strict=1"})
        self.expect(found, "note", "strict-status", "hazards")
        self.assertNotIn("exit-status", found)

    def test_options_that_switch_it_off(self):
        found = self.ask(FIXED, env={"SAFECOPY_OPTIONS": "mode=off"})
        self.expect(found, "problem", "mode-off")
        self.expect(found, "note", "off")

    def test_what_is_preloaded_already_stays(self):
        other = self.compile("other.so", "-shared", "-fPIC", source="int x;\n")
        self.ask("sh", "-c", "echo $LD_PRELOAD", env={"LD_PRELOAD": str(other)})
        self.assertRegex(self.ran.stderr, rf"/libsafecopy\.so:{other}\n")


if __name__ == "__main__":
    unittest.main()
