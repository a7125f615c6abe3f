#!/usr/bin/env python3
"""The man page and the completions of shells have what `safecopy help` has, and nothing else."""

import os
import pathlib
import re
import shutil
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = pathlib.Path(os.environ.get("SAFECOPY_OUT", ROOT / "out"))
SHARE = ROOT / "share"
MAN = SHARE / "man" / "man1" / "safecopy.1"
BASH = SHARE / "bash-completion" / "completions" / "safecopy"
ZSH = SHARE / "zsh" / "site-functions" / "_safecopy"
FISH = SHARE / "fish" / "vendor_completions.d" / "safecopy.fish"
FLAG = re.compile(r"(?<![\w-])(--[a-z-]+|-o\b)")
COMMANDS = ("run", "report", "watch", "explain", "doctor")
HELP = {page: subprocess.run([OUT / "safecopy", "help", page], stdout=subprocess.PIPE, text=True,
                             check=True).stdout for page in (*COMMANDS, "options")}
# Of every command, and on no page.
HELP_FLAG = "--help"


def section(text, begin, end):
    return re.search(rf"^{begin}(.*?)^{end}", text, re.M | re.S)[1]


def wanted(command):
    return sorted({*FLAG.findall(HELP[command]), HELP_FLAG})


def formats():
    text = re.search(r"--format FORMAT +(text(?:.*,\n)*.*)", HELP["report"])[1]
    return re.split(r",\s+", text.replace(" (or --json)", ""))


def doctor_formats():
    return re.search(r"--format FORMAT +(text or json)\n", HELP["doctor"])[1].split(" or ")


def keys():
    return sorted(re.findall(r"^  ([a-z_]+) ", HELP["options"], re.M))


def words(*command):
    environment = {**os.environ, "PATH": f"{OUT}:{os.environ['PATH']}"}
    run = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, text=True,
                         capture_output=True, check=False)
    assert run.returncode == 0 and run.stderr == "", run.stderr
    return [line.split("\t")[0] for line in run.stdout.splitlines()]


class Man(unittest.TestCase):
    page = MAN.read_text(encoding="utf-8").replace("\\-", "-")

    def test_flags(self):
        for command, following in (("run", "OPTIONS OF REPORT"), ("report", "OPTIONS OF DOCTOR"),
                                   ("doctor", "OPTIONS OF WATCH"), ("watch", "OPTIONS OF ALL")):
            text = section(self.page, f".SH OPTIONS OF {command.upper()}\n", f".SH {following}\n")
            named = set(re.findall(r"^\.BI? \"?(-[-a-z]+)", text, re.M))
            named |= {"--json"} if "--json" in text else set()
            self.assertEqual(sorted(named | {HELP_FLAG}), wanted(command))

    def test_formats_and_keys(self):
        named = re.sub(r"[\n,.]|^\.B[R]? ", " ", section(self.page, "FORMAT is\n", r"\.SH "), flags=re.M)
        self.assertEqual([word for word in named.split() if word not in ("or", "B", "BR")], formats())
        named = re.search(r"The keys: (.*?)\.$", self.page, re.M | re.S)[1]
        self.assertEqual(sorted(re.split(r",\s", named)), keys())

    @unittest.skipUnless(shutil.which("groff"), "no groff here")
    def test_renders_without_warnings(self):
        run = subprocess.run(["groff", "-man", "-Tutf8", "-ww", MAN], capture_output=True, text=True,
                             check=False)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertIn("safecopy", run.stdout)


@unittest.skipUnless(shutil.which("bash"), "no bash here")
class Bash(unittest.TestCase):
    def completes(self, *line):
        return sorted(words("bash", "--norc", "-c",
                            'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _safecopy;'
                            ' printf "%s\\n" "${COMPREPLY[@]}"', BASH, *line))

    def test_flags(self):
        for command in ("run", "report", "watch", "doctor"):
            self.assertEqual(self.completes("safecopy", command, "-"), wanted(command))
        self.assertEqual(self.completes("safecopy", ""),
                         ["--help", "--version", "doctor", "explain", "help", "report", "run", "watch"])

    def test_values(self):
        self.assertEqual(self.completes("safecopy", "report", "--format", ""), sorted(formats()))
        self.assertEqual(self.completes("safecopy", "doctor", "--format", ""), sorted(doctor_formats()))
        self.assertEqual(self.completes("safecopy", "run", "--option", ""),
                         [f"{key}=" for key in keys()])
        self.assertIn("SC201", self.completes("safecopy", "explain", "SC2"))
        self.assertEqual(self.completes("safecopy", "help", ""), sorted(HELP))

    def test_the_program_and_what_is_its_own(self):
        self.assertIn("bash", self.completes("safecopy", "run", "--strict", "bas"))
        self.assertIn("bash", self.completes("safecopy", "run", "--format", "text", "--", "bas"))
        self.assertIn("bash", self.completes("safecopy", "doctor", "--no-run", "--", "bas"))
        self.assertEqual(self.completes("safecopy", "run", "bash", "--str"), [""])


class Zsh(unittest.TestCase):
    page = ZSH.read_text(encoding="utf-8")

    def test_flags_and_formats(self):
        for command in ("run", "report", "watch", "doctor"):
            text = section(self.page, rf" *{command}\)\n", r"[^\n]*;;")
            self.assertEqual(sorted(re.findall(r"^ +['\"][^'\"[]*?(--?[a-z][-a-z]*)\[", text, re.M)),
                             wanted(command))
        self.assertEqual(re.search(r"formats='\((.*)\)'", self.page)[1].split(), formats())
        text = section(self.page, r" *doctor\)\n", r"[^\n]*;;")
        self.assertEqual(re.search(r":format:\((.*)\)'", text)[1].split(), doctor_formats())

    @unittest.skipUnless(shutil.which("zsh"), "no zsh here")
    def test_loads(self):
        self.assertEqual(words("zsh", "-fc", f"fpath=({ZSH.parent} $fpath); autoload -U compinit;"
                               " compinit -D -u; print $_comps[safecopy]; autoload +X _safecopy"),
                         ["_safecopy"])


class Fish(unittest.TestCase):
    page = FISH.read_text(encoding="utf-8")

    def test_flags_and_formats(self):
        for command in ("run", "report", "watch", "doctor"):
            found = re.findall(rf"-n \${command} -(?:l|s) ([a-z-]+)", self.page)
            flags = [f"--{name}" if len(name) > 1 else f"-{name}" for name in found]
            self.assertEqual(sorted([*flags, HELP_FLAG]), wanted(command))
        self.assertEqual(re.search(r"set -l formats '(.*)'", self.page)[1].split(), formats())
        self.assertEqual(re.search(r"-n \$doctor -l format -x -a '(.*?)'", self.page)[1].split(),
                         doctor_formats())

    @unittest.skipUnless(shutil.which("fish"), "no fish here")
    def test_completes(self):
        def completes(line):
            return words("fish", "--no-config", "-c", f"source {FISH}; complete -C '{line}'")
        for command in ("run", "report", "watch", "doctor"):
            flags = [flag for flag in completes(f"safecopy {command} --") if flag.startswith("--")]
            self.assertEqual(sorted(flags), [flag for flag in wanted(command) if flag != "-o"])
        self.assertEqual(sorted(completes("safecopy report --format ")), sorted(formats()))
        self.assertEqual(sorted(completes("safecopy run --option ")), [f"{key}=" for key in keys()])
        self.assertIn("SC201", completes("safecopy explain SC2"))
        self.assertEqual(sorted(completes("safecopy help ")), sorted(HELP))
        self.assertIn("bash", completes("safecopy run bas"))


if __name__ == "__main__":
    unittest.main()
