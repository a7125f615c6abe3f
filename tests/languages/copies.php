<?php
// The cases of tests/languages.py, by PHP's FFI. There is one thread.
const SIZE = 256 << 10;
const SMALL = 64 << 10;
const BESIDE = 256; // the copies leave out so much at the beginning of their pages
const ROUNDS = 10;
const UP = 1;
const DOWN = 2;

$cuda = FFI::cdef("
    int cudaMallocHost(uint8_t **memory, size_t size);
    int cudaFreeHost(void *memory);
    int cudaHostRegister(void *memory, size_t size, unsigned flags);
    int cudaHostUnregister(void *memory);
    int cudaMalloc(uint8_t **memory, size_t size);
    int cudaFree(void *memory);
    int cudaStreamCreateWithFlags(uint8_t **stream, unsigned flags);
    int cudaStreamDestroy(void *stream);
    int cudaStreamSynchronize(void *stream);
    int cudaMemcpyAsync(void *to, void *from, size_t size, int kind, void *stream);
", "libcudart.so.13");
$libc = FFI::cdef("uint8_t *malloc(size_t size); void free(void *memory);", "libc.so.6");

function check(int $code): void
{
    if ($code !== 0)
        throw new Exception("CUDA error $code");
}

function made(string $call, int ...$rest): FFI\CData
{
    global $cuda;
    $out = $cuda->new("uint8_t *");
    check($cuda->$call(FFI::addr($out), ...$rest));
    return $out;
}

// Pinned memory goes up, and comes down into registered memory.
class Flight
{
    public FFI\CData $stream, $device, $source, $target;

    public function __construct(int $seed)
    {
        global $cuda, $libc;
        $this->stream = made("cudaStreamCreateWithFlags", 1);
        $this->device = made("cudaMalloc", SIZE);
        $this->source = made("cudaMallocHost", SIZE);
        $this->target = $libc->malloc(SIZE);
        check($cuda->cudaHostRegister($this->target, SIZE, 0));
        FFI::memcpy($this->source, str_repeat(random_bytes(1024) . chr($seed), SIZE >> 10), SIZE);
    }

    public function copy(FFI\CData $to, FFI\CData $from, int $size, int $kind): void
    {
        global $cuda;
        check($cuda->cudaMemcpyAsync($to, $from, $size, $kind, $this->stream));
    }

    public function start(): void
    {
        $this->copy($this->device, $this->source + BESIDE, SIZE - BESIDE, UP);
        $this->copy($this->target + BESIDE, $this->device, SIZE - BESIDE, DOWN);
    }

    public function await(): void
    {
        global $cuda;
        check($cuda->cudaStreamSynchronize($this->stream));
    }

    public function lands(): bool
    {
        $this->await();
        return FFI::memcmp($this->source + BESIDE, $this->target + BESIDE, SIZE - BESIDE) === 0;
    }

    public function finish(): void
    {
        global $cuda, $libc;
        check($cuda->cudaHostUnregister($this->target));
        $libc->free($this->target);
        check($cuda->cudaFreeHost($this->source));
        check($cuda->cudaFree($this->device));
        check($cuda->cudaStreamDestroy($this->stream));
    }
}

// Does a thing while a copy is in flight, again and again.
function in_flight(callable $beside_it): bool
{
    $right = true;
    for ($round = 0; $round < ROUNDS; $round++) {
        $flight = new Flight($round);
        $flight->start();
        $flight->source[0] = $flight->target[0] = 1;
        $right = $beside_it() && $right;
        $right = $flight->lands() && $right;
        $flight->finish();
    }
    return $right;
}

function copies(): bool
{
    return in_flight(function () {
        for ($i = 0; $i < 1000; $i++) {
            $circle = new stdClass;
            $circle->self = $circle;
        }
        return gc_collect_cycles() > 0;
    });
}

function throws(): bool
{
    return in_flight(function () {
        try {
            intdiv(1, 0);
        } catch (DivisionByZeroError) {
            return true;
        }
    });
}

function spawns(): bool
{
    return in_flight(fn() => shell_exec("echo child") === "child\n");
}

function overwrite(): bool
{
    $flight = new Flight(1);
    $flight->start();
    $flight->source[SIZE - 1] ^= 1;
    $flight->await();
    $flight->source[SIZE - 1] ^= 1;
    return $flight->lands();
}

// The variable that owns the block goes out of scope.
function lose_block(Flight $flight): void
{
    global $cuda, $libc;
    $block = $cuda->new("uint8_t[" . SMALL . "]", true, true);
    check($cuda->cudaHostRegister($block, SMALL, 0));
    FFI::memcpy($block, $flight->source, SMALL);
    check($cuda->cudaMemcpyAsync($flight->device, $block, SMALL, UP, $flight->stream));
}

function free(): bool
{
    global $libc;
    $flight = new Flight(1);
    lose_block($flight);
    FFI::memset($libc->malloc(SMALL), 1, SMALL);
    $flight->copy($flight->target, $flight->device, SMALL, DOWN);
    $flight->await();
    return FFI::memcmp($flight->source, $flight->target, SMALL) === 0;
}

function fatal(): bool
{
    (new Flight(1))->start();
    return FFI::cast("uint8_t *", FFI::cast("uintptr_t", 8))[0] === 0;
}

$cases = ["copies" => "copies", "throw" => "throws", "spawn" => "spawns",
          "overwrite" => "overwrite", "free" => "free", "fatal" => "fatal"];
echo $cases[$argv[1]]() ? "data right\n" : "data wrong\n";
