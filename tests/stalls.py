"""Notices where the machine held its processes up: a virtual machine whose host gives its time to
others, or one with too much to do. A check that fails beside that may fail for its sake alone.
"""

import os
import threading
import time

BEAT_S = 0.02
LATE_S = 0.1      # a beat that comes so much too late
STOLEN_S = 0.25   # of all cores together


def stolen_s():
    """What the host has taken from this machine since it started; 0 where Linux does not tell."""
    try:
        with open("/proc/stat", encoding="ascii") as counters:
            return int(counters.readline().split()[8]) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError, ValueError):
        return 0.0


class Watch:
    """Beats in a thread of its own from `with` to its end; for any thread."""

    def __init__(self):
        self.late = []  # (when, by how much)
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.beat, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def beat(self):
        begun = time.monotonic()
        while not self.over.wait(BEAT_S):
            now = time.monotonic()
            if now - begun > BEAT_S + LATE_S:
                self.late.append((now, now - begun - BEAT_S))
            begun = now

    def now(self):
        return time.monotonic(), stolen_s()

    def since(self, moment):
        """What was noticed since a moment of now(), in words, or None."""
        began, stolen_before = moment
        late = max((by for when, by in self.late if when > began), default=None)
        stolen = stolen_s() - stolen_before
        if late is not None:
            return f"stood still for {late * 1000:.0f} ms"
        if stolen > STOLEN_S:
            return f"had {stolen:.2f} s of its time taken"
        return None
