"""Commands of gdb that show what the library knows, in a process that is stopped or in a core. They
read memory and call nothing. Use: gdb -x scripts/gdb-safecopy.py ...

    sc-streams      streams by the tracker's ids: numbers issued, known done and seen complete
    sc-ops          operations in flight, by stream
    sc-ranges       ranges of host memory that the driver knows
    sc-holds        memory that is held back
    sc-pool EXPR    a pool: records handed out, live and spare
    sc-grid EXPR    a grid: its levels, and the ids in it
    sc-locks        who has which lock
    sc-trace [TID]  the latest events of all threads, or of one, in their order (DEBUG=1 alone)

EXPR is as `print` has it: sc-pool &sc_track.inflight.ops
"""

import gdb

SECOND_SIDE = 1 << 31
CHUNK_SHIFT = 12
TRACE_EVENTS = 256


def evaluate(text):
    return gdb.parse_and_eval(text)


def track():
    return evaluate("sc_track")


def record(pool, number, name):
    """Record `number` of the pool, as a struct of that name."""
    kind = gdb.lookup_type(f"struct {name}")
    chunk = pool["chunks"][number >> CHUNK_SHIFT]
    offset = (number & ((1 << CHUNK_SHIFT) - 1)) * int(pool["record_bytes"])
    return gdb.Value(int(chunk) + offset).cast(kind.pointer()).dereference()


def word(value):
    """The enumerator without its SC_ and its kind, or the number."""
    return str(value).split("_")[-1].lower()


def text_of(pointer):
    return pointer.string() if int(pointer) else "-"


def ids_in(first, following):
    """The ids of a list, which may be broken: each once."""
    seen = set()
    while first and first not in seen:
        seen.add(first)
        yield first
        first = int(following(first))
    if first:
        print(f"  the list goes round at {first}")


class Command(gdb.Command):
    """One of this file's commands: `show` prints, and a missing symbol is said in a line."""

    def __init__(self):
        super().__init__(self.name, gdb.COMMAND_DATA)

    def invoke(self, argument, _from_tty):
        try:
            self.show(argument)
        except gdb.MemoryError as error:
            raise gdb.GdbError(f"{self.name}: {error}") from None
        except gdb.error as error:
            raise gdb.GdbError(f"{self.name}: is libsafecopy there, with symbols? {error}") from None


class Streams(Command):
    name = "sc-streams"

    def show(self, _argument):
        pool = track()["order"]["streams"]
        print("stream kind context handle issued done complete references")
        for number in range(1, int(pool["unused"])):
            stream = record(pool, number, "sc_stream")
            if stream["removed"] and not stream["references"]:
                continue
            print(f"{number} {word(stream['kind'])}{' removed' if stream['removed'] else ''} "
                  f"{int(stream['context'])} {int(stream['handle']):#x} {int(stream['front']['issued'])} "
                  f"{int(stream['done'])} {int(stream['complete'])} {int(stream['references'])}")


def operations(inflight, number):
    """The operations of a stream, with their ids."""
    stream = record(track()["order"]["streams"], number, "sc_stream")
    for op in ids_in(int(stream["first_op"]),
                     lambda op: record(inflight["ops"], op, "sc_op")["stream_next"]):
        yield op, record(inflight["ops"], op, "sc_op")


class Operations(Command):
    name = "sc-ops"

    def show(self, _argument):
        inflight = track()["inflight"]
        streams = track()["order"]["streams"]
        print("op stream number api direction address bytes range")
        for number in ids_in(int(inflight["busy"]),
                             lambda at: record(streams, at, "sc_stream")["busy_next"]):
            for op, what in operations(inflight, number):
                info = what["info"]
                print(f"{op} {number} {int(info['ticket']['number'])} {text_of(info['api'])} "
                      f"{word(info['direction'])} {int(what['node']['address']):#x} "
                      f"{int(what['node']['size_bytes'])} {int(info['range'])}"
                      f"{' retained' if what['retained'] else ''}"
                      f"{' guarded' if what['first_span'] else ''}")


def items_of(grid, name):
    """(id, record) of each item of a grid, once."""
    cells = int(grid["mask"]) + 1
    memory = gdb.selected_inferior().read_memory(int(grid["heads"]), 4 * cells)
    heads = memory.cast("B").cast("I") if memory.format != "I" else memory
    for entry in heads:
        steps = 0
        while entry and steps < 1 << 16:
            item = record(grid["pool"].dereference(), entry & ~SECOND_SIDE, name)
            node = item["node"] if name != "sc_grid_node" else item
            if not entry & SECOND_SIDE:
                yield entry, item
            entry = int(node["next"][1 if entry & SECOND_SIDE else 0])
            steps += 1


class Ranges(Command):
    name = "sc-ranges"

    def show(self, _argument):
        print("range kind address bytes operations writers")
        for number, found in items_of(track()["inflight"]["range_grid"], "sc_range"):
            print(f"{number} {int(found['kind'])} {int(found['node']['address']):#x} "
                  f"{int(found['node']['size_bytes'])} {int(found['op_count'])} "
                  f"{int(found['writer_count'])}")


class Holds(Command):
    name = "sc-holds"

    def show(self, _argument):
        holds = track()["holds"]
        print(f"{int(holds['held_bytes'])} bytes are held\nhold age kind address bytes tickets")
        for number in ids_in(int(holds["oldest"]),
                             lambda at: record(holds["pool"], at, "sc_hold")["next"]):
            hold = record(holds["pool"], number, "sc_hold")
            print(f"{number} {int(hold['age'])} {word(hold['kind'])} "
                  f"{int(hold['node']['address']):#x} {int(hold['node']['size_bytes'])} "
                  f"{int(hold['ticket_count'])}{' releasing' if hold['releasing'] else ''}")


def pointed_to(argument, name):
    if not argument:
        raise gdb.GdbError(f"of which? as in: &sc_track.inflight.{name}")
    value = evaluate(argument)
    return value.dereference() if value.type.code == gdb.TYPE_CODE_PTR else value


class Pool(Command):
    name = "sc-pool"

    def show(self, argument):
        pool = pointed_to(argument, "ops")
        spare = sum(1 for _ in ids_in(
            int(pool["free_list"]),
            lambda at: int(record(pool, at, "sc_grid_node")["address"]) & 0xffffffff))
        print(f"records of {int(pool['record_bytes'])} bytes: {int(pool['unused']) - 1} handed out, "
              f"{int(pool['live'])} live, {spare} spare")


class Grid(Command):
    name = "sc-grid"

    def show(self, argument):
        grid = pointed_to(argument, "range_grid")
        lived = [f"{level}: {int(grid['population'][level])}" for level in range(19)
                 if int(grid["population"][level])]
        print(f"{int(grid['mask']) + 1} cells, version {int(grid['version'])}; "
              f"items by level: {', '.join(lived) or 'none'}")
        for number, node in items_of(grid, "sc_grid_node"):
            print(f"{number} {int(node['address']):#x} {int(node['size_bytes'])}")


class Locks(Command):
    name = "sc-locks"
    mutexes = ("registry_lock", "contexts_lock", "captures_lock", "bodies_lock", "grow_lock",
               "reaper.lock", "report.mutex", "up_lock")

    def show(self, _argument):
        lock = track()["lock"]
        owner = int(lock["owner"]) if "owner" in [field.name for field in lock.type.fields()] else 0
        print(f"the tracker's: {'taken' if int(lock['state']) else 'free'}"
              f"{f' by thread {owner}' if owner else ''}")
        for name in self.mutexes:
            try:
                owner = int(evaluate(name)["__data"]["__owner"])
            except gdb.error:
                continue
            print(f"{name}: {f'taken by thread {owner}' if owner else 'free'}")


def events():
    """(thread, event) of all rings."""
    ring = evaluate("sc_trace_rings")
    while int(ring):
        ring = ring.cast(gdb.lookup_type("struct sc_trace_ring").pointer())
        for place in range(min(int(ring["count"]), TRACE_EVENTS)):
            event = ring["events"][place]
            if int(event["number"]):
                yield int(ring["thread"]), event
        ring = ring["next"]


class Trace(Command):
    name = "sc-trace"

    def show(self, argument):
        try:
            found = [(int(event["number"]), thread, event) for thread, event in events()
                     if not argument or thread == int(argument)]
        except gdb.error:
            print("this build has no trace (make DEBUG=1 makes one)")
            return
        for number, thread, event in sorted(found, key=lambda each: each[0]):
            what, *names = event["what"].string().split()
            words = "".join(f" {name}={int(event['words'][i]):#x}" for i, name in enumerate(names))
            print(f"#{number} thread {thread} {what}{words}")


for command in (Streams, Operations, Ranges, Holds, Pool, Grid, Locks, Trace):
    command()
