"""ELF files for a reader that must not trust them: sections as they are given, with DWARF by hand."""

import struct
import zlib

SYMTAB, STRTAB, NOBITS, PROGBITS, DYNSYM = 2, 3, 8, 1, 11
COMPRESSED = 0x800
BASE = 0x10000  # where the only segment is
OFFSET = 0x1234  # of the return address that reports ask about


class Section:
    def __init__(self, name, data=b"", kind=PROGBITS, flags=0, link=0, entry=0, size=None, align=8):
        self.name, self.data, self.kind, self.flags = name, data, kind, flags
        self.link, self.entry, self.align = link, entry, align
        self.size = len(data) if size is None else size


def elf(*sections, note=b"", behind=b"", **header):
    """The file. The sections are numbered from 1; behind them is that of their names. `header`: fields
    of the file's header that are otherwise. `behind`: what follows all else."""
    names, at = b"\0", []
    for section in (*sections, Section(".shstrtab")):
        at.append(len(names))
        names += section.name.encode() + b"\0"
    sections = (*sections, Section(".shstrtab", names, STRTAB))
    segments = [(1, 5, 0, BASE, BASE, 0x1000, 0x100000, 0x1000)]
    if note:
        segments.append((4, 4, 64 + 2 * 56, 0, 0, len(note), len(note), 4))
    body = bytearray(64 + 2 * 56) + note
    rows = [bytes(64)]
    for section, name in zip(sections, at):
        body += bytes(-len(body) % 8)
        rows.append(struct.pack("<IIQQQQIIQQ", name, section.kind, section.flags, 0, len(body),
                                section.size, section.link, 0, section.align, section.entry))
        body += section.data
    body += bytes(-len(body) % 8)
    fields = {"phnum": len(segments), "shoff": len(body), "shnum": len(rows),
              "shstrndx": len(rows) - 1, "phoff": 64, **header}
    body[:64] = b"\x7fELF" + bytes([2, 1, 1]) + bytes(9) + struct.pack(
        "<HHIQQQIHHHHHH", 3, 62, 1, 0, fields["phoff"], fields["shoff"], 0, 64, 56, fields["phnum"],
        64, fields["shnum"], fields["shstrndx"])
    for i, segment in enumerate(segments):
        body[64 + 56 * i:120 + 56 * i] = struct.pack("<IIQQQQQQ", *segment)
    return bytes(body) + b"".join(rows) + behind


def build_id(digits):
    data = bytes.fromhex(digits)
    return struct.pack("<III", 4, len(data), 3) + b"GNU\0" + data


def symbol(name=1, value=BASE + 0x1000, size=0x10000):
    return struct.pack("<IBBHQQ", name, 0x12, 0, 1, value, size)


def symbols(first, names=b"\0named\0"):
    """A table with one function, as sections `first` and the next one."""
    return (Section(".symtab", bytes(24) + symbol(), SYMTAB, link=first + 1, entry=24),
            Section(".strtab", names, STRTAB))


def packed(name, size, byte=b"\0"):
    """A section of `size` bytes, compressed."""
    packer = zlib.compressobj(1)
    block = byte * (1 << 20)
    data = b"".join(packer.compress(block[:min(len(block), size - at)])
                    for at in range(0, size, len(block))) + packer.flush()
    return Section(name, struct.pack("<IIQQ", 1, 0, size, 1) + data, flags=COMPRESSED)


def leb(number):
    out = bytearray()
    while True:
        out.append(number & 0x7f | (0x80 if number > 0x7f else 0))
        number >>= 7
        if not number:
            return bytes(out)


def abbreviation(code, tag, children, *pairs):
    return (leb(code) + leb(tag) + bytes([children]) +
            b"".join(leb(attribute) + leb(form) for attribute, form in pairs) + b"\0\0")


# Attributes and forms, as DWARF 4 numbers them.
NAME, STMT_LIST, LOW_PC, HIGH_PC, COMP_DIR, ORIGIN, SIBLING, RANGES = 3, 16, 17, 18, 27, 49, 1, 85
DWO_NAME, DWO_ID = 0x2130, 0x2131
ADDR, DATA4, DATA8, STRING, REF4, SEC_OFFSET, STRP_ALT = 1, 6, 7, 8, 19, 23, 0x1f21
UNIT, FUNCTION, INLINED, NAMESPACE = 17, 46, 29, 57
RANGE = struct.pack("<QI", BASE, 0x100000)
HEADER = 11  # bytes of a unit before its first entry


def unit(entries):
    return struct.pack("<IHIB", len(entries) + 7, 4, 0, 8) + entries


def lines(program, files=b"a.c\0\0\0\0\0"):
    """The table of one unit."""
    head = bytes([1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1]) + b"\0" + files
    rest = struct.pack("<HI", 4, len(head)) + head + program
    return struct.pack("<I", len(rest)) + rest


LINE = b"\0\x09\x02" + struct.pack("<Q", BASE) + b"\x01"  # the first address, and a row for it
LINES_END = b"\x02" + leb(0x100000) + b"\0\x01\x01"


def debugged(info, abbreviations, *more, line=LINE + LINES_END, **header):
    """A file with one function and this debug information."""
    return elf(*symbols(1), Section(".debug_info", info), Section(".debug_abbrev", abbreviations),
               Section(".debug_line", lines(line)), *more, **header)


PLAIN_UNIT = abbreviation(1, UNIT, 1, (NAME, STRING), (COMP_DIR, STRING), (STMT_LIST, SEC_OFFSET),
                          (LOW_PC, ADDR), (HIGH_PC, DATA4))
PLAIN_HEAD = leb(1) + b"a.c\0/src\0" + struct.pack("<I", 0) + RANGE


def plain(children, abbreviations, *more, **others):
    """One unit with these entries in it."""
    return debugged(unit(PLAIN_HEAD + children + b"\0"), PLAIN_UNIT + abbreviations + b"\0", *more,
                    **others)
