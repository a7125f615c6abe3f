-- The cases of tests/languages.py, by LuaJIT's FFI. There is one thread.
local ffi = require("ffi")
ffi.cdef [[
int cudaMallocHost(void **memory, size_t size);
int cudaFreeHost(void *memory);
int cudaHostRegister(void *memory, size_t size, unsigned flags);
int cudaHostUnregister(void *memory);
int cudaMalloc(void **memory, size_t size);
int cudaFree(void *memory);
int cudaStreamCreateWithFlags(void **stream, unsigned flags);
int cudaStreamDestroy(void *stream);
int cudaStreamSynchronize(void *stream);
int cudaMemcpyAsync(void *to, const void *from, size_t size, int kind, void *stream);
void *malloc(size_t size);
void free(void *memory);
int memcmp(const void *one, const void *other, size_t size);
int system(const char *command);
]]
local cuda = ffi.load("libcudart.so.13")
local size, small, beside = 256 * 1024, 64 * 1024, 256
local up, down = 1, 2

local function check(code)
    if code ~= 0 then error("CUDA error " .. code) end
end

local function made(call, ...)
    local out = ffi.new("void *[1]")
    check(call(out, ...))
    return out[0]
end

local function bytes(memory)
    return ffi.cast("uint8_t *", memory)
end

local function new_flight(seed)
    local flight = {
        stream = made(cuda.cudaStreamCreateWithFlags, 1),
        device = made(cuda.cudaMalloc, size),
        source = bytes(made(cuda.cudaMallocHost, size)),
        target = bytes(ffi.C.malloc(size)),
    }
    check(cuda.cudaHostRegister(flight.target, size, 0))
    for i = 0, size - 1 do flight.source[i] = seed + i * 31 end
    return flight
end

local function start(flight)
    local count = size - beside
    check(cuda.cudaMemcpyAsync(flight.device, flight.source + beside, count, up, flight.stream))
    check(cuda.cudaMemcpyAsync(flight.target + beside, flight.device, count, down, flight.stream))
end

local function land(flight)
    check(cuda.cudaStreamSynchronize(flight.stream))
    return ffi.C.memcmp(flight.source + beside, flight.target + beside, size - beside) == 0
end

local function finish(flight)
    check(cuda.cudaHostUnregister(flight.target))
    ffi.C.free(flight.target)
    check(cuda.cudaFreeHost(flight.source))
    check(cuda.cudaFree(flight.device))
    check(cuda.cudaStreamDestroy(flight.stream))
end

local function collect()
    local garbage = {}
    for i = 1, 1000 do garbage[i] = { ffi.new("int[16]") } end
    garbage = nil
    collectgarbage()
end

-- Runs `beside_it` while a copy is in flight, again and again.
local function in_flight(rounds, beside_it)
    local right = true
    for round = 1, rounds do
        local flight = new_flight(round)
        start(flight)
        flight.source[0], flight.target[0] = 1, 1
        right = beside_it(flight) and right
        right = land(flight) and right
        finish(flight)
    end
    return right
end

local cases = {}

function cases.copies()
    return in_flight(50, function() collect() return true end)
end

-- Lua's stack overflows and errors are thrown over frames of compiled code.
function cases.throw()
    local function endless(n) return 1 + endless(n + 1) end
    return in_flight(20, function()
        return not pcall(endless, 0) and not pcall(error, "thrown")
    end)
end

function cases.spawn()
    return in_flight(5, function() return ffi.C.system("true") == 0 end)
end

function cases.overwrite()
    return in_flight(1, function(flight)
        flight.source[size - 1] = flight.source[size - 1] + 1
        check(cuda.cudaStreamSynchronize(flight.stream))
        flight.source[size - 1] = flight.source[size - 1] - 1
        return true
    end)
end

-- The collector frees what is still in flight.
function cases.free()
    local flight = new_flight(1)
    local block = ffi.gc(ffi.C.malloc(small), ffi.C.free)
    check(cuda.cudaHostRegister(block, small, 0))
    ffi.copy(block, flight.source, small)
    check(cuda.cudaMemcpyAsync(flight.device, block, small, up, flight.stream))
    block = nil
    collectgarbage()
    ffi.fill(ffi.C.malloc(small), small, 1)
    check(cuda.cudaMemcpyAsync(flight.target, flight.device, small, down, flight.stream))
    check(cuda.cudaStreamSynchronize(flight.stream))
    return ffi.C.memcmp(flight.source, flight.target, small) == 0
end

function cases.fatal()
    start(new_flight(1))
    return bytes(8)[0] == 0
end

print(cases[arg[1]]() and "data right" or "data wrong")
