"""Makes hazards in each way that Python code can be called, on memory that ctypes has pinned, and
names the lines that the stacks must have: tests/python/run.py compares.

    frames.py CASE       one of CASES

It prints `copy FUNCTION:LINE ...` and `event FUNCTION:LINE ...`: the Python frames of each side,
innermost first.
"""

import asyncio
import ctypes
import inspect
import sys
import threading

SIZE = 1 << 16
HERE = __file__

driver = ctypes.CDLL("libcuda.so.1")
told = {}


def call(name, *arguments):
    status = getattr(driver, name)(*arguments)
    if status:
        raise RuntimeError(f"{name}: {status}")


def handle():
    return ctypes.c_void_p(0)


def start():
    context, stream = handle(), handle()
    call("cuInit", 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
    call("cuCtxSetCurrent", context)
    call("cuStreamCreate", ctypes.byref(stream), 1)
    return stream


def block(name):
    address = handle()
    call(name, ctypes.byref(address), ctypes.c_size_t(SIZE))
    return address


def tell(side, frame):
    """Where `frame` and its callers are at this moment."""
    places = []
    while frame:
        code = frame.f_code
        name = getattr(code, "co_qualname", code.co_name)
        places.append(f"{code.co_filename}\t{name}\t{frame.f_lineno}")
        frame = frame.f_back
    told[side] = places


# In the lines below a call and what tells of it stand on one line.

def upload(device, source, stream):
    tell("copy", sys._getframe()); call_copy(device, source, SIZE, stream)


def write(array, value):
    tell("event", sys._getframe()); array[5] = value


def give_back(source):
    tell("event", sys._getframe()); free_host(source)


call_copy = driver.cuMemcpyHtoDAsync_v2
call_copy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
free_host = ctypes.PyDLL("libcuda.so.1").cuMemFreeHost  # keeps the GIL, unlike the others
free_host.argtypes = [ctypes.c_void_p]


class Memory:
    def __init__(self):
        self.stream = start()
        self.device = block("cuMemAlloc_v2")
        self.source = block("cuMemAllocHost_v2")
        self.array = (ctypes.c_ubyte * SIZE).from_address(self.source.value)

    def upload(self):
        upload(self.device, self.source, self.stream)

    def write(self):
        write(self.array, 7)


# ---- cases: each makes a copy and touches or frees its source ----


def nested(memory):
    """SC201"""
    def inner(depth):
        if depth:
            return inner(depth - 1)
        memory.upload()
        return memory.write()
    inner(3)


def freed(memory):
    """SC105"""
    memory.upload()
    give_back(memory.source)


def generator(memory):
    """SC201"""
    def steps():
        memory.upload()
        yield 1
        memory.write()
        yield 2

    def outer():
        yield from steps()
    for _ in outer():
        pass


def coroutine(memory):
    """SC201"""
    async def inner():
        memory.upload()

    async def main():
        await inner()
        await asyncio.sleep(0)
        memory.write()
    asyncio.run(main())


def thread(memory):
    """SC201"""
    def work():
        call("cuCtxSetCurrent", memory_context())
        memory.upload()

    def memory_context():
        context = handle()
        call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        return context
    worker = threading.Thread(target=work)
    worker.start()
    worker.join()
    memory.write()


def executed(memory):
    """SC201"""
    text = "\n\ndef made(memory):\n    memory.upload()\n\n\n    memory.write()\nmade(memory)\n"
    exec(compile(text, "<made>", "exec"), {"memory": memory})


def callback(memory):
    """SC201"""
    class Comparison:
        def compare(self, left, right):
            if not told:
                memory.upload()
                memory.write()
            return left[0] - right[0]
    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
    numbers = (ctypes.c_int * 4)(3, 1, 2, 0)
    ctypes.CDLL(None).qsort(numbers, 4, ctypes.sizeof(ctypes.c_int), kind(Comparison().compare))


def sorting(memory):
    """SC201"""
    def key(number):
        if not told:
            memory.upload()
            memory.write()
        return number
    sorted(map(lambda number: key(number), [3, 1, 2]))


def attribute(memory):
    """SC201"""
    class Lazy:
        def __getattr__(self, name):
            memory.upload()
            return name

        @property
        def touched(self):
            memory.write()
    lazy = Lazy()
    getattr(lazy, "anything")
    lazy.touched


def deep(memory):
    """SC201"""
    def inner(depth):
        if depth:
            return inner(depth - 1)
        memory.upload()
        return memory.write()
    inner(200)


def jump_über(memory):
    """SC201"""
    for _ in range(1):
        memory.upload()
    memory.write()


def together(memory):
    """SC201"""
    ends = threading.Event()

    def work():
        while not ends.is_set():
            exec(compile("def made(n):\n    return made(n - 1) if n else 0\nmade(50)", "<own>", "exec"),
                 {})
    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    nested(memory)
    ends.set()
    for worker in workers:
        worker.join()


CASES = [nested, freed, generator, coroutine, thread, executed, callback, sorting, attribute, deep,
         jump_über, together]


def main():
    case = {one.__name__: one for one in CASES}[sys.argv[1]]
    case(Memory())
    print(inspect.getdoc(case))
    for side in ("copy", "event"):
        for place in told[side]:
            print(f"{side}\t{place}")


if __name__ == "__main__":
    main()
