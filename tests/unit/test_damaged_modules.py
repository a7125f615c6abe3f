#!/usr/bin/env python3
"""Modules that are damaged, or made to cost their reader memory, time or more: the report is shown
all the same, one line names the module and the bound, and the memory stays below 512 MB."""

import collections
import contextlib
import ctypes
import http.server
import json
import os
import pathlib
import resource
import signal
import struct
import subprocess
import tempfile
import threading
import time
import unittest
import zlib

import watched_opens
from damaged_elf import (ADDR, COMP_DIR, DATA4, DWO_ID, DWO_NAME, DATA8, FUNCTION, HIGH_PC, INLINED,
                         HEADER, LINE, LINES_END, LOW_PC, NAME, NAMESPACE, OFFSET, ORIGIN, PLAIN_HEAD,
                         PLAIN_UNIT, RANGE, RANGES, REF4, SEC_OFFSET, SIBLING, STMT_LIST, STRING,
                         STRP_ALT, STRTAB, SYMTAB, UNIT, DYNSYM, Section, abbreviation, build_id, debugged,
                         elf, leb, packed, plain, symbol, symbols, unit)

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = pathlib.Path(os.environ.get("SAFECOPY_OUT", ROOT / "out"))
COMMAND = OUT / "safecopy"
SAMPLE = ROOT / "tests/unit/formats/sample.jsonl"
PATIENCE_S = 300  # the bounds are of the processor's time
MEMORY_MAX_KB = 512 * 1024
KERNELS = "is below /proc, /sys or /dev, or leads there, and is not read"
ID = "0123456789abcdef0123456789abcdef01234567"
NAMED, LINED = "named ({}+0x1234)", "named ({}+0x1234) at /src/a.c:1"

Shown = collections.namedtuple("Shown", "status frames said peak_kb")


class Modules(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name).resolve()
        self.module = self.folder / "lib.so"

    def write_report(self, frames, ids=()):
        """A report whose hazard has these frames, (module, offset)."""
        begin, hazard = map(json.loads, SAMPLE.read_text(encoding="utf-8").splitlines()[:2])
        begin["modules"] = [{"path": str(path), "base": "0x1000", "build_id": digits}
                            for path, digits in ids]
        hazard["copy"]["stack"], hazard["buffer"] = [], {"address": "0x1", "size": 1, "kind": "pinned"}
        hazard["copy"].pop("stream_origin", None)
        hazard["event"]["stack"] = [{"module": str(module), "offset": hex(offset), "symbol": None}
                                    for module, offset in frames]
        report = self.folder / "report.jsonl"
        report.write_text("".join(json.dumps(line) + "\n" for line in (begin, hazard)),
                          encoding="utf-8")
        return report

    def start(self, report, *flags, before=None, by=(), **environment):
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith("DEBUGINFOD")}
        self.out = open(self.folder / "out", "w+", encoding="utf-8", errors="replace")
        self.said = open(self.folder / "said", "w+", encoding="utf-8", errors="replace")
        self.addCleanup(self.out.close)
        self.addCleanup(self.said.close)
        return subprocess.Popen(
            [*by, COMMAND, "report", *flags, report], stdin=subprocess.DEVNULL, stdout=self.out,
            stderr=self.said, cwd=self.folder, preexec_fn=before,
            env={**kept, "HOME": str(self.folder), **environment})

    def end(self, process):
        """What was shown, of the command and the processes that it started."""
        timer = threading.Timer(PATIENCE_S, process.kill)
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        self.out.seek(0)
        self.said.seek(0)
        frames = [line.strip().partition(" ")[2] for line in self.out
                  if line.strip().startswith("#")]
        said = self.said.read()
        self.assertLess(usage.ru_maxrss, MEMORY_MAX_KB)
        # A hazard, and no summary.
        self.assertEqual(process.returncode, 1, said)
        return Shown(process.returncode, frames, said, usage.ru_maxrss)

    def show(self, content=None, *flags, frames=None, ids=(), **more):
        """The module with this content."""
        if content is not None:
            self.module.unlink(missing_ok=True)
            self.module.write_bytes(content)
        report = self.write_report(frames or [(self.module, OFFSET)], ids)
        return self.end(self.start(report, *flags, **more))

    def assert_shown(self, shown, frame, said=""):
        """The first frame, and one line that begins with the module's path."""
        if "without libdw" in shown.said:
            self.skipTest("a command without libdw")
        self.assertEqual(shown.frames[0], frame.format(self.module), shown.said)
        lines = shown.said.splitlines()
        self.assertEqual(len(lines), 1 if said else 0, lines)
        if said:
            self.assertIn(str(self.module), lines[0])
            self.assertIn(said, lines[0])


def slow():
    """Each of many functions has a list of many ranges, and none holds the address."""
    ranges = Section(".debug_ranges", struct.pack("<QQ", 1, 2) * 200000 + bytes(16))
    functions = (leb(2) + struct.pack("<I", 0)) * 40000
    return plain(functions, abbreviation(2, FUNCTION, 0, (RANGES, SEC_OFFSET)), ranges)


class Tables(Modules):
    def test_a_module_as_it_should_be(self):
        self.assert_shown(self.show(plain(b"", b"")), LINED)

    def test_a_name_of_a_megabyte(self):
        long = elf(Section(".symtab", symbol() * 100000, SYMTAB, link=2, entry=24),
                   Section(".strtab", b"\0" + b"A" * (1 << 20) + b"\0", STRTAB))
        self.assert_shown(self.show(long), "? ({}+0x1234)", "a name of more than 64 KB")

    def test_names_that_end_nowhere(self):
        """To look for the end of each from the end of all takes an hour."""
        names = b"\0" * 3 + b"A" * (4 << 20)
        endless = elf(Section(".symtab", symbol(2) * 300000 + symbol(9) * 300000, SYMTAB, link=2,
                              entry=24),
                      Section(".strtab", names, STRTAB))
        self.assert_shown(self.show(endless), "? ({}+0x1234)")

    def test_many_tables(self):
        one, names = symbols(1)
        again = Section(".symtab", one.data * 1000, SYMTAB, link=2, entry=24)
        self.assert_shown(self.show(elf(one, names, *[again] * 60)), NAMED)

    def test_many_sections(self):
        sections = [Section("")] * 65600
        whole = bytearray(elf(*symbols(1), *sections, shnum=0, shstrndx=0xffff))
        at = struct.unpack_from("<Q", whole, 40)[0]
        struct.pack_into("<Q", whole, at + 32, len(sections) + 4)  # of section 0
        struct.pack_into("<I", whole, at + 40, len(sections) + 3)
        shown = self.show(bytes(whole))
        self.assertIn("more than 65,536 sections", shown.said)
        self.assertEqual(shown.frames[0], NAMED.format(self.module))

    def test_headers_that_are_wrong(self):
        big = (1 << 64) - 64
        for fields in ({"phnum": 0xffff}, {"phoff": big}, {"shoff": big}, {"shnum": 0xfffe},
                       {"shstrndx": 0xfffe}, {"shstrndx": 0}):
            with self.subTest(fields):
                self.show(elf(*symbols(1), **fields))
        for size in (0, 16, 63, 64, 200):
            with self.subTest(size):
                self.show(plain(b"", b"")[:size])
        for section in (Section(".symtab", symbol(), SYMTAB, link=2, entry=24, size=1 << 62),
                        Section(".symtab", symbol(), SYMTAB, link=60000, entry=0),
                        Section(".symtab", symbol(1 << 31), SYMTAB, link=2, entry=24, align=1)):
            self.show(elf(section, Section(".strtab", b"\0x\0", STRTAB, size=1 << 40)))

    def test_notes_without_end(self):
        note = struct.pack("<III", 0, 0, 0) * 500000
        self.assert_shown(self.show(elf(*symbols(1), note=note)), NAMED)

    def test_a_file_that_is_mostly_holes(self):
        self.module.write_bytes(plain(b"", b""))
        os.truncate(self.module, 1 << 40)
        self.assert_shown(self.show(), "? ({}+0x1234)", "is a sparse file")

    def test_names_that_fill_the_command(self):
        """Each function of these has a name of 60 KB, the same letters again."""
        count = 3000
        table = b"".join(symbol(1 + i, 0x10000 + 16 * i, 16) for i in range(count))
        names = b"\0" + b"A" * 60000 + b"\0"
        content = elf(Section(".symtab", table, SYMTAB, link=2, entry=24),
                      Section(".strtab", names, STRTAB))
        shown = self.show(content, frames=[(self.module, 16 * i + 1) for i in range(1, count)])
        self.assertIn(f"{self.module}: modules have named functions", shown.said)


class Debug(Modules):
    """The names are there, and the lines are not."""

    def test_sections_that_are_large_when_they_are_unpacked(self):
        sections = (packed(".debug_info", 200 << 20), packed(".debug_abbrev", 100 << 20))
        old = Section(".zdebug_info", b"ZLIB" + struct.pack(">Q", 300 << 20) + bytes(1 << 19))
        for content in (elf(*symbols(1), *sections), elf(*symbols(1), old)):
            self.assert_shown(self.show(content), NAMED, "more than 256 MB when it is unpacked")

    def test_a_table_of_lines_that_fills_memory(self):
        self.assert_shown(self.show(plain(b"", b"", line=LINE + b"\1" * (8 << 20) + LINES_END)), NAMED,
                          "reading its debug information takes more than 256 MB of memory")

    def test_a_million_units(self):
        self.assert_shown(self.show(debugged(unit(PLAIN_HEAD + b"\0") * 1000000, PLAIN_UNIT + b"\0")),
                          NAMED, "takes more than 256 MB of memory")

    def test_ranges_that_take_hours(self):
        shown = self.show(slow(), frames=[(self.module, OFFSET), (self.module, OFFSET + 1)])
        self.assert_shown(shown, NAMED, "takes more than 8 s of processor time")
        self.assertEqual(len(shown.frames), 2)

    def test_entries_that_lead_back_to_themselves(self):
        first = HEADER + len(PLAIN_HEAD)
        back = struct.pack("<I", first)
        entries = (abbreviation(2, FUNCTION, 0, (SIBLING, REF4)), leb(2) + back)
        self.assert_shown(self.show(plain(entries[1], entries[0])), LINED)
        inlined = abbreviation(2, INLINED, 0, (LOW_PC, ADDR), (HIGH_PC, DATA4), (ORIGIN, REF4))
        self.assert_shown(self.show(plain(leb(2) + RANGE + back, inlined)),
                          "? (inlined) at /src/a.c:1")

    def test_entries_that_are_deep(self):
        function = abbreviation(2, FUNCTION, 1, (LOW_PC, ADDR), (HIGH_PC, DATA4))
        for abbreviations, entry in ((function, leb(2) + RANGE), (abbreviation(2, NAMESPACE, 1), leb(2))):
            self.assert_shown(self.show(plain(entry * 100000 + bytes(100000), abbreviations)), LINED)

    def test_abbreviations_without_number(self):
        many = b"".join(abbreviation(i, FUNCTION, 0, (NAME, STRING)) for i in range(2, 300000))
        self.assert_shown(self.show(plain(b"", many)), LINED)

    def test_bytes_that_are_nothing(self):
        for info in (b"", b"\0" * 100, b"\xff" * 100, unit(b"\xff" * 100), unit(PLAIN_HEAD)[:20]):
            with self.subTest(info[:8]):
                self.show(debugged(info, PLAIN_UNIT))
                self.show(debugged(unit(PLAIN_HEAD + b"\0"), info))
                self.show(plain(b"", b"", line=info))


class Ended(Modules):
    """The process that reads a module is killed, or does not go on."""

    def child_of(self, process):
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
        until = time.monotonic() + 60
        while time.monotonic() < until:
            found = children.read_text(encoding="utf-8").split()
            if found:
                return int(found[0])
            time.sleep(0.01)
        self.fail("no process reads the module")

    def test_a_process_that_dies_and_one_that_stands_still(self):
        self.module.write_bytes(slow())
        for number, said in ((signal.SIGSEGV, "has failed (Segmentation fault)"),
                             (signal.SIGSTOP, "takes more than 9 s in which nothing happens")):
            with self.subTest(number):
                process = self.start(self.write_report([(self.module, OFFSET)]))
                child = self.child_of(process)
                time.sleep(0.5)
                os.kill(child, number)
                self.assert_shown(self.end(process), NAMED, said)

    def test_without_proc_the_kernel_bounds_memory(self):
        hidden = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]
        if subprocess.run([*hidden, "true"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
            self.skipTest("/proc cannot be hidden here")
        self.module.write_bytes(plain(b"", b"", line=LINE + b"\1" * (8 << 20) + LINES_END))
        process = self.start(self.write_report([(self.module, OFFSET)]), by=hidden)
        self.assertEqual(self.end(process).frames, [NAMED.format(self.module)])

    def test_a_command_that_is_told_of_no_child(self):
        self.assert_shown(self.show(plain(b"", b""), before=lambda: signal.signal(
            signal.SIGCHLD, signal.SIG_IGN)), LINED)


class Many(Modules):
    def test_more_modules_than_there_may_be_processes(self):
        self.module.write_bytes(plain(b"", b""))
        names = [self.folder / f"lib{i}.so" for i in range(300)]
        for name in names:
            name.symlink_to(self.module)
        frames = [(name, OFFSET + more) for more in (0, 1) for name in names]
        expected = [f"named ({name}+{offset:#x}) at /src/a.c:1" for name, offset in frames]
        for before in (None, lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (32, 32))):
            shown = self.show(frames=frames, before=before)
            if "without libdw" in shown.said:
                self.skipTest("a command without libdw")
            self.assertEqual((shown.frames, shown.said), (expected, ""))


    def test_many_addresses_of_one_module(self):
        """Addresses are asked about together with others that are likely to be asked about."""
        count = 700
        names, table = b"\0", bytes(24)
        for i in range(count):
            table += symbol(len(names), 0x10000 + 16 * i, 16)
            names += f"function{i}".encode() + b"\0"
        order = [i * 331 % count for i in range(1, count)]
        shown = self.show(elf(Section(".symtab", table, SYMTAB, link=2, entry=24),
                              Section(".strtab", names, STRTAB)),
                          frames=[(self.module, 16 * i + 1) for i in order])
        self.assertEqual([frame.split(" ")[0] for frame in shown.frames],
                         [f"function{i}" for i in order])
        self.assertEqual(shown.said, "")


class Opened(Modules):
    """What a module names is opened if it is a regular file, and else not at all."""

    def setUp(self):
        super().setUp()
        self.fifo = self.folder / "fifo"
        os.mkfifo(self.fifo)

    def split(self, name, folder=b"/src", more=()):
        """Its functions are in the file `name`."""
        abbreviations = abbreviation(
            1, UNIT, 0, (NAME, STRING), (COMP_DIR, STRING), (STMT_LIST, SEC_OFFSET), (LOW_PC, ADDR),
            (HIGH_PC, DATA4), (DWO_NAME, STRING), (DWO_ID, DATA8))
        head = leb(1) + b"a.c\0" + folder + b"\0" + struct.pack("<I", 0) + RANGE
        return debugged(unit(head + name + b"\0" + bytes(8)), abbreviations + b"\0", *more)

    def test_a_module_that_is_none(self):
        self.module = self.fifo
        with watched_opens.Watch(self.fifo) as watch:
            self.assert_shown(self.show(), "? ({}+0x1234)", "is no regular file")
            self.assertEqual(watch.count(), 0)
        for self.module in ("/proc/self/maps", "/proc/kcore", "/sys/kernel/notes", "/dev/zero",
                            "/proc/self/exe", "/proc/self/fd/0"):
            if os.path.exists(self.module):
                self.assert_shown(self.show(), "? ({}+0x1234)", KERNELS)

    def through_the_kernel(self, path):
        """Ways that lead to the file by links of the kernel's."""
        (self.folder / "proc").symlink_to("/proc")
        (self.folder / "root").symlink_to("/proc/self/root")
        (self.folder / "link").symlink_to(f"/proc/self/root{path}")
        return ("/proc/self/cwd/" + path.name, f"/proc/self/root{path}", f"//proc/self/root{path}",
                f"/proc/{os.getpid()}/root{path}", f"{self.folder}/../../proc/self/root{path}",
                f"{self.folder}/proc/self/root{path}", f"{self.folder}/root{path}",
                f"{self.folder}/link")

    def test_a_module_behind_a_link_of_the_kernel_s(self):
        module = self.module
        module.write_bytes(plain(b"", b""))
        for self.module in self.through_the_kernel(module):
            with self.subTest(self.module), watched_opens.Watch(module) as watch:
                self.assert_shown(self.show(), "? ({}+0x1234)", KERNELS)
                self.assertEqual(watch.count(), 0)

    def test_a_link_that_is_no_link_of_the_kernel_s(self):
        self.module.write_bytes(plain(b"", b""))
        self.module = self.folder / "other.so"
        self.module.symlink_to("lib.so")
        self.assert_shown(self.show(), LINED)

    def test_a_module_below_dev(self):
        """Also where a link leads there."""
        if not os.access("/dev/shm", os.W_OK):
            self.skipTest("no /dev/shm here")
        with tempfile.NamedTemporaryFile(dir="/dev/shm", suffix=".so") as file:
            file.write(plain(b"", b""))
            file.flush()
            link = self.folder / "shm.so"
            link.symlink_to(file.name)
            for self.module in (file.name, link):
                self.assert_shown(self.show(), "? ({}+0x1234)", KERNELS)

    def test_a_debug_link_behind_a_link_of_the_kernel_s(self):
        debug = self.folder / "lib.debug"
        debug.write_bytes(plain(b"", b""))
        checksum = struct.pack("<I", zlib.crc32(debug.read_bytes()))
        for name in (bytes(debug), *map(os.fsencode, self.through_the_kernel(debug))):
            link = name + bytes(4 - len(name) % 4) + checksum
            shown = self.show(elf(*symbols(1), Section(".gnu_debuglink", link)))
            is_plain = name == bytes(debug)
            self.assertEqual(shown.frames[0], (LINED if is_plain else NAMED).format(self.module))
            self.assertEqual(KERNELS in shown.said, not is_plain, shown.said)

    def test_the_other_half_of_a_unit_is_behind_a_link_of_the_kernel_s(self):
        half = self.folder / "half.dwo"
        half.write_bytes(elf(packed(".debug_info.dwo", 1 << 10)))
        for name in self.through_the_kernel(half):
            with self.subTest(name), watched_opens.Watch(half) as watch:
                shown = self.show(self.split(os.fsencode(name)))
                self.assertEqual(watch.count(), 0)
                self.assert_shown(shown, NAMED, "which is no regular file, or the kernel's")

    def test_a_path_that_begins_nowhere(self):
        self.module.write_bytes(plain(b"", b""))
        with watched_opens.Watch(self.module) as watch:
            shown = self.show(frames=[("lib.so", OFFSET), ("./lib.so", OFFSET)])
            self.assertEqual((watch.count(), shown.frames[0], shown.said),
                             (0, "? (lib.so+0x1234)", ""))

    def test_a_debug_link_to_a_fifo(self):
        for link in (b"fifo", bytes(self.fifo)):
            link += bytes(4 - len(link) % 4) + bytes(4)
            with watched_opens.Watch(self.fifo) as watch:
                shown = self.show(elf(*symbols(1), Section(".gnu_debuglink", link)))
                self.assertEqual(watch.count(), 0)
            self.assertEqual(shown.frames[0], NAMED.format(self.module))
            self.assertIn(f"{self.fifo} is no regular file", shown.said)

    def test_an_alternate_file_that_is_a_fifo(self):
        link = Section(".gnu_debugaltlink", b"fifo\0" + bytes.fromhex(ID))
        inlined = abbreviation(2, INLINED, 0, (LOW_PC, ADDR), (HIGH_PC, DATA4), (NAME, STRP_ALT))
        content = plain(leb(2) + RANGE + struct.pack("<I", 1), inlined, link)
        with watched_opens.Watch(self.fifo) as watch:
            shown = self.show(content)
            self.assertEqual(watch.count(), 0)
        self.assertEqual(shown.frames[0], "? (inlined) at /src/a.c:1", shown.said)

    def test_an_alternate_file_of_the_right_build_alone(self):
        link = Section(".gnu_debugaltlink", b"shared\0" + bytes.fromhex(ID))
        inlined = abbreviation(2, INLINED, 0, (LOW_PC, ADDR), (HIGH_PC, DATA4), (NAME, STRP_ALT))
        content = plain(leb(2) + RANGE + struct.pack("<I", 1), inlined, link)
        shared = [Section(".debug_str", b"\0inner\0"),
                  Section(".debug_info", unit(leb(1) + b"a.c\0")),
                  Section(".debug_abbrev", abbreviation(1, UNIT, 0, (NAME, STRING)) + b"\0")]
        for digits, name in ((ID, "inner"), (ID[::-1], "?")):
            (self.folder / "shared").write_bytes(elf(*shared, note=build_id(digits)))
            self.assert_shown(self.show(content), f"{name} (inlined) at /src/a.c:1")

    def test_the_other_half_of_a_unit_is_a_fifo(self):
        for name, folder in ((b"fifo", b"/src"), (bytes(self.fifo), b"/src"),
                             (b"fifo", bytes(self.folder)), (b"fifo", b"elsewhere")):
            with self.subTest(name, folder=folder), watched_opens.Watch(self.fifo) as watch:
                shown = self.show(self.split(name, folder))
                self.assertEqual(watch.count(), 0)
                self.assert_shown(shown, NAMED, "which is no regular file")

    def test_the_other_half_of_a_unit_fills_memory(self):
        (self.folder / "half.dwo").write_bytes(elf(packed(".debug_info.dwo", 700 << 20)))
        self.assert_shown(self.show(self.split(b"half.dwo")), NAMED,
                          "reading its debug information takes more than 256 MB of memory")


class Endless(http.server.BaseHTTPRequestHandler):
    """A debuginfod that says `length`, or nothing, and sends without end."""

    def do_GET(self):
        self.server.asked += 1
        self.send_response(200)
        if self.server.length:
            self.send_header("Content-Length", str(self.server.length))
        self.end_headers()
        with contextlib.suppress(OSError):
            while True:
                self.wfile.write(b"\x7fELF" * (1 << 16))

    def log_message(self, *_):
        pass


class Served(Modules):
    def setUp(self):
        super().setUp()
        try:
            ctypes.CDLL("libdebuginfod.so.1")
        except OSError:
            self.skipTest("no libdebuginfod here")
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endless)
        self.server.daemon_threads = True
        self.addCleanup(self.server.server_close)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.shutdown)

    def fetch(self, length, **environment):
        self.server.length, self.server.asked = length, 0
        self.module.write_bytes(elf(*symbols(1), note=build_id(ID)))
        other = self.folder / "other.so"
        other.write_bytes(elf(*symbols(1), note=build_id(ID[::-1])))
        cache = self.folder / "cache"
        shown = self.show(frames=[(self.module, OFFSET), (other, OFFSET)],
                          DEBUGINFOD_URLS=f"http://127.0.0.1:{self.server.server_port}",
                          DEBUGINFOD_CACHE_PATH=str(cache), **environment)
        self.assertEqual([frame.split(" ")[0] for frame in shown.frames], ["named"] * 2)
        self.assertLess(self.server.asked, 5)  # libdebuginfod tries again
        self.assertEqual(shown.said.count("are asked no more"), 1, shown.said)
        self.assertIn("send more than there is room for, or than 2 GB", shown.said)
        kept = sum(file.stat().st_size for file in cache.glob("*/*"))
        self.assertLess(kept, 1 << 20)

    def test_an_answer_that_is_said_to_be_too_large(self):
        self.fetch(3 << 30)
        self.fetch(3 << 20, DEBUGINFOD_MAXSIZE=str(2 << 20))

    def test_an_answer_without_end(self):
        self.fetch(None, DEBUGINFOD_MAXSIZE=str(64 << 20))


class Programs(Modules):
    """What doctor looks at."""

    def look(self, content, size=None):
        self.module.write_bytes(content)
        self.module.chmod(0o755)
        if size:
            os.truncate(self.module, size)
        with open(self.folder / "out", "w+", encoding="utf-8") as out:
            process = subprocess.Popen([COMMAND, "doctor", "--no-run", self.module], stdout=out)
            timer = threading.Timer(PATIENCE_S, process.kill)
            timer.start()
            _, status, usage = os.wait4(process.pid, 0)
            timer.cancel()
            process.returncode = os.waitstatus_to_exitcode(status)
        self.assertIn(process.returncode, (0, 1))
        self.assertLess(usage.ru_maxrss, MEMORY_MAX_KB)

    def test_names_that_end_nowhere(self):
        names = b"\0" * 3 + b"A" * (4 << 20)
        table = symbol(2) * 300000 + symbol(9) * 300000
        self.look(elf(Section(".dynsym", table, DYNSYM, link=2, entry=24),
                      Section(".strtab", names, STRTAB)))

    def test_many_segments_of_all_the_file(self):
        count, size = 4000, 1 << 26
        plain_file = elf(*symbols(1))
        segment = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, size, size, 4096)
        self.look(elf(*symbols(1), behind=segment * count, phoff=len(plain_file), phnum=count), size)


class Symbols(Modules):
    def test_a_symbol_that_says_a_thousand_million_words(self):
        def digits(number):
            return ("" if number < 36 else digits(number // 36)) + \
                "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[number % 36]
        name = "_Z1f1AIiiE" + "".join(f"S_IS{digits(i)}_S{digits(i)}_E" for i in range(40))
        content = elf(*symbols(1, b"\0" + name.encode() + b"\0"))
        self.assert_shown(self.show(content), f"{name} ({{}}+0x1234)")


if __name__ == "__main__":
    unittest.main()
