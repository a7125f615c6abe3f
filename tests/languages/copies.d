// The cases of tests/languages.py, in D, whose collector stops all threads by signals.
import core.atomic, core.memory, core.stdc.stdlib, core.stdc.string, core.thread, core.volatile;
import std.process, std.stdio;

enum size_t size = 256 << 10, small = 64 << 10;
enum beside = 256; // the copies leave out so much at the beginning of their pages
enum workers = 6, rounds = 40, up = 1, down = 2;

extern (C) {
    int cudaMallocHost(void** memory, size_t size);
    int cudaFreeHost(void* memory);
    int cudaHostRegister(void* memory, size_t size, uint flags);
    int cudaHostUnregister(void* memory);
    int cudaMalloc(void** memory, size_t size);
    int cudaFree(void* memory);
    int cudaStreamCreateWithFlags(void** stream, uint flags);
    int cudaStreamDestroy(void* stream);
    int cudaStreamSynchronize(void* stream);
    int cudaMemcpyAsync(void* to, const void* from, size_t size, int kind, void* stream);
}

void check(int code) {
    if (code != 0)
        throw new Exception("CUDA error");
}

// Pinned memory goes up, and comes down into registered memory.
struct Flight {
    void* stream, device;
    ubyte* source, target;

    this(int seed) {
        check(cudaStreamCreateWithFlags(&stream, 1));
        check(cudaMalloc(&device, size));
        check(cudaMallocHost(cast(void**) &source, size));
        target = cast(ubyte*) malloc(size);
        check(cudaHostRegister(target, size, 0));
        foreach (i; 0 .. size)
            source[i] = cast(ubyte)(seed + i * 31);
    }

    void copy(void* to, const void* from, size_t bytes, int kind) {
        check(cudaMemcpyAsync(to, from, bytes, kind, stream));
    }

    void start() {
        copy(device, source + beside, size - beside, up);
        copy(target + beside, device, size - beside, down);
    }

    void await() {
        check(cudaStreamSynchronize(stream));
    }

    bool lands() {
        await();
        return source[beside .. size] == target[beside .. size];
    }

    void end() {
        check(cudaHostUnregister(target));
        free(target);
        check(cudaFreeHost(source));
        check(cudaFree(device));
        check(cudaStreamDestroy(stream));
    }
}

// Does a thing while a copy is in flight, again and again, in threads of which every other has a small
// stack, and which the collector stops at any time.
bool inFlight(int times, bool function() besideIt) {
    shared bool done;
    shared int wrong;
    void work() {
        foreach (round; 0 .. times) {
            auto flight = Flight(round);
            flight.start();
            flight.source[0] = flight.target[0] = 1;
            if (!besideIt() || !flight.lands())
                atomicOp!"+="(wrong, 1);
            flight.end();
        }
    }
    Thread[] threads;
    foreach (worker; 0 .. workers)
        threads ~= new Thread(&work, worker % 2 ? 128 << 10 : 0).start();
    auto collector = new Thread({
        for (; !atomicLoad(done); Thread.sleep(dur!"usecs"(300)))
            GC.collect();
    }).start();
    foreach (thread; threads)
        thread.join();
    atomicStore(done, true);
    collector.join();
    return wrong == 0;
}

bool copies() {
    return inFlight(rounds, {
        int[][] garbage;
        foreach (i; 0 .. 300)
            garbage ~= new int[](32);
        return true;
    });
}

bool throws() {
    return inFlight(rounds / 2, {
        try {
            throw new Exception("thrown");
        } catch (Exception) {
            return true;
        }
    });
}

bool spawn() {
    return inFlight(1, () => executeShell("echo child").output == "child\n");
}

bool overwrite() {
    auto flight = Flight(1);
    flight.start();
    flight.source[size - 1]++;
    flight.await();
    flight.source[size - 1]--;
    return flight.lands();
}

class Block {
    void* memory;

    this(void* memory) {
        this.memory = memory;
    }

    ~this() {
        free(memory);
    }
}

// The collector destroys what nobody refers to, early.
bool freeEarly() {
    auto flight = Flight(1);
    void* memory = malloc(small);
    check(cudaHostRegister(memory, small, 0));
    memcpy(memory, flight.source, small);
    new Thread({ new Block(memory); }).start().join(); // nothing of its stack is left to refer to it
    flight.copy(flight.device, memory, small, up);
    GC.collect();
    memset(malloc(small), 1, small);
    flight.copy(flight.target, flight.device, small, down);
    flight.await();
    return flight.source[0 .. small] == flight.target[0 .. small];
}

bool fatal() {
    Flight(1).start();
    return volatileLoad(cast(ubyte*) 8) == 0;
}

void main(string[] arguments) {
    auto cases = ["copies": &copies, "throw": &throws, "spawn": &spawn, "overwrite": &overwrite,
                  "free": &freeEarly, "fatal": &fatal];
    writeln(cases[arguments[1]]() ? "data right" : "data wrong");
}
