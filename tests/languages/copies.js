// The cases of tests/languages.py, for Node (copies_node.c).
"use strict";
const { execFileSync } = require("child_process");
const { Worker, isMainThread, parentPort, workerData } = require("worker_threads");
const { call, memory, launch } = require(process.argv[2]);

const SIZE = 256 << 10, SMALL = 64 << 10;
const BESIDE = 256; // the copies leave out so much at the beginning of their pages
const WORKERS = 3, ROUNDS = 10, UP = 1, DOWN = 2;

function cuda(name, ...words) {
    const code = call(name, ...words) | 0;
    if (code !== 0)
        throw new Error(`${name}: CUDA error ${code}`);
}

// What a function leaves where its first parameter points.
function made(name, ...rest) {
    const out = call("malloc", 8);
    cuda(name, out, ...rest);
    const result = Number(new BigInt64Array(memory(out, 8).slice(0))[0]);
    call("free", out);
    return result;
}

// Pinned memory goes up, and comes down into registered memory.
class Flight {
    constructor(seed) {
        this.stream = made("cudaStreamCreateWithFlags", 1);
        this.device = made("cudaMalloc", SIZE);
        this.source = made("cudaMallocHost", SIZE);
        this.target = call("malloc", SIZE);
        cuda("cudaHostRegister", this.target, SIZE, 0);
        this.bytes = new Uint8Array(memory(this.source, SIZE));
        this.targetBytes = new Uint8Array(memory(this.target, SIZE));
        for (let i = 0; i < SIZE; i++)
            this.bytes[i] = seed + i * 31;
    }

    copy(to, from, size, kind) {
        cuda("cudaMemcpyAsync", to, from, size, kind, this.stream);
    }

    start() {
        this.copy(this.device, this.source + BESIDE, SIZE - BESIDE, UP);
        this.copy(this.target + BESIDE, this.device, SIZE - BESIDE, DOWN);
    }

    await() {
        cuda("cudaStreamSynchronize", this.stream);
    }

    holds(first, end) {
        return Buffer.compare(this.bytes.subarray(first, end),
                              this.targetBytes.subarray(first, end)) === 0;
    }

    lands() {
        this.await();
        return this.holds(BESIDE, SIZE);
    }

    end() {
        cuda("cudaHostUnregister", this.target);
        call("free", this.target);
        cuda("cudaFreeHost", this.source);
        cuda("cudaFree", this.device);
        cuda("cudaStreamDestroy", this.stream);
    }
}

// Does a thing while a copy is in flight, again and again.
async function inFlight(rounds, besideIt) {
    let right = true;
    for (let round = 0; round < rounds; round++) {
        const flight = new Flight(round);
        flight.start();
        flight.bytes[0] = flight.targetBytes[0] = 1;
        right = await besideIt(flight) && right;
        right = flight.lands() && right;
        flight.end();
    }
    return right;
}

function collect() {
    const garbage = [];
    for (let i = 0; i < 1000; i++)
        garbage.push({ numbers: new Float64Array(16) });
    gc();
    return true;
}

function throws(kind, does) {
    try {
        does();
        return false;
    } catch (error) {
        return error instanceof kind;
    }
}

// V8 finds an access beyond WebAssembly's memory by SIGSEGV: (func (result i32) (i32.load (i32.const -4))).
const BEYOND = new WebAssembly.Module(new Uint8Array([
    0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 127, 3, 2, 1, 0, 5, 3, 1, 0, 1,
    7, 5, 1, 1, 102, 0, 0, 10, 9, 1, 7, 0, 65, 124, 40, 2, 0, 11]));

const cases = {
    copies: () => inFlight(ROUNDS, collect),

    throw() {
        const { f } = new WebAssembly.Instance(BEYOND).exports;
        const endless = () => 1 + endless();
        return inFlight(ROUNDS, () => throws(WebAssembly.RuntimeError, f) &&
                                      throws(RangeError, endless));
    },

    callback: () => inFlight(ROUNDS, flight => new Promise(
        resolve => launch(flight.stream, () => resolve(collect())))),

    spawn: () => inFlight(2, () => execFileSync("echo", ["child"]).toString() === "child\n"),

    overwrite() {
        const flight = new Flight(1);
        flight.start();
        flight.bytes[SIZE - 1] ^= 1;
        flight.await();
        flight.bytes[SIZE - 1] ^= 1;
        return flight.lands();
    },

    // The collector frees the block.
    async free() {
        const flight = new Flight(1);
        const block = call("malloc", SMALL);
        cuda("cudaHostRegister", block, SMALL, 0);
        call("memcpy", block, flight.source, SMALL);
        flight.copy(flight.device, block, SMALL, UP);
        await new Promise(resolve => {
            const registry = new FinalizationRegistry(block => resolve(call("free", block)));
            registry.register({}, block);
            const again = () => { collect(); setTimeout(again, 1, registry).unref(); };
            setTimeout(again, 0);
        });
        call("memset", call("malloc", SMALL), 1, SMALL);
        flight.copy(flight.target, flight.device, SMALL, DOWN);
        flight.await();
        return flight.holds(0, SMALL);
    },

    fatal() {
        new Flight(1).start();
        return new Uint8Array(memory(8, 1))[0] === 0;
    },
};

// Threads do what is right, each with a collector of its own.
async function inThreads(name) {
    const results = Array.from({ length: WORKERS }, () => new Promise((resolve, reject) =>
        new Worker(__filename, { argv: process.argv.slice(2), workerData: name })
            .on("message", resolve).on("error", reject)));
    return (await Promise.all(results)).every(right => right);
}

async function main(name) {
    const alone = ["overwrite", "free", "fatal"].includes(name);
    console.log(await (alone ? cases[name]() : inThreads(name)) ? "data right" : "data wrong");
}

if (isMainThread)
    main(process.argv[3]);
else
    cases[workerData]().then(right => parentPort.postMessage(right));
