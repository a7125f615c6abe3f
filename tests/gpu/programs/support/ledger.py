"""The ledger of memory (docs/memory.md) beside a framework's own statistics."""

import ctypes
import importlib
import json
import pathlib
import sys


def _ask():
    """safecopy_get_memory of the library in this process, or None."""
    ask = getattr(ctypes.CDLL(None), "safecopy_get_memory", None)
    if ask is None:
        return None
    ask.restype = ctypes.c_size_t
    ask.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    text = ctypes.create_string_buffer(1 << 22)
    length = ask(text, len(text))
    return json.loads(text.raw[:length])["memory"] if length else None


def held(owner, *kinds, peak=False):
    """Bytes of the kinds that the call stacks of the owner hold, or held at the device's peak; None
    where there is no library. An owner that the ledger does not know has none, and is told."""
    memory = _ask()
    if memory is None:
        return None
    known = {account["owner"] for account in memory["accounts"]}
    if owner not in known:
        print(f"of {owner} nothing is known, but of", *sorted(known))
    return sum(account["peak_bytes" if peak else "bytes"] for account in memory["accounts"]
               if account["owner"] == owner and account["kind"] in kinds)


def _package():
    sys.path.append(str(pathlib.Path(__file__).resolve().parents[4] / "python"))
    return importlib.import_module("libsafecopy")


def of_own_pool(owner):
    """What the owner's own pool has taken of the first device and how much of that is in use, as
    libsafecopy asks the framework or the program has told it; None where there is no library."""
    memory = _package().memory()
    pools = memory["devices"][0].get("suballocators", []) if memory else []
    found = [(pool["reserved_bytes"], pool["used_bytes"]) for pool in pools if pool["owner"] == owner]
    return (found or [(0, 0)])[0] if memory else None


def tell_pool(owner, reserved, used):
    _package().set_pool(owner, 0, reserved, used)


def compare(what, own, ours):
    """Prints the same words without the library as with one that agrees to the byte."""
    print(what, "agrees" if ours is None or ours == own else f"{own}, the ledger {ours}")
