"""The ledger of memory (docs/memory.md) beside a framework's own statistics."""

import ctypes
import json


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


def compare(what, own, ours):
    """Prints the same words without the library as with one that agrees to the byte."""
    print(what, "agrees" if ours is None or ours == own else f"{own}, the ledger {ours}")
