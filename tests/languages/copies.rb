# The cases of tests/languages.py, by Ruby's Fiddle.
require "fiddle"
require "fiddle/import"
require "timeout"

SIZE = 256 << 10
SMALL = 64 << 10
BESIDE = 256 # the copies leave out so much at the beginning of their pages
WORKERS = 4
ROUNDS = 10
UP, DOWN = 1, 2

module C
  extend Fiddle::Importer
  dlload "libcudart.so.13", "libc.so.6"
  extern "int cudaMallocHost(void **, size_t)"
  extern "int cudaFreeHost(void *)"
  extern "int cudaHostRegister(void *, size_t, unsigned int)"
  extern "int cudaHostUnregister(void *)"
  extern "int cudaMalloc(void **, size_t)"
  extern "int cudaFree(void *)"
  extern "int cudaStreamCreateWithFlags(void **, unsigned int)"
  extern "int cudaStreamDestroy(void *)"
  extern "int cudaStreamSynchronize(void *)"
  extern "int cudaMemcpyAsync(void *, void *, size_t, int, void *)"
  extern "void *malloc(size_t)"
  extern "void free(void *)"
end

def check(code)
  raise "CUDA error #{code}" unless code.zero?
end

def made(call, *rest)
  out = Fiddle::Pointer.malloc(Fiddle::SIZEOF_VOIDP, Fiddle::RUBY_FREE)
  check C.send(call, out, *rest)
  out.ptr
end

# Pinned memory goes up, and comes down into registered memory.
class Flight
  attr_reader :stream, :device, :source, :target

  def initialize(seed)
    @stream = made(:cudaStreamCreateWithFlags, 1)
    @device = made(:cudaMalloc, SIZE)
    @source = made(:cudaMallocHost, SIZE)
    @target = C.malloc(SIZE)
    check C.cudaHostRegister(@target, SIZE, 0)
    @source[0, SIZE] = Random.new(seed).bytes(SIZE)
  end

  def start
    copy @device, @source + BESIDE, SIZE - BESIDE, UP
    copy @target + BESIDE, @device, SIZE - BESIDE, DOWN
  end

  def copy(to, from, size, kind)
    check C.cudaMemcpyAsync(to, from, size, kind, @stream)
  end

  def await
    check C.cudaStreamSynchronize(@stream)
  end

  def land?
    await
    @source[BESIDE, SIZE - BESIDE] == @target[BESIDE, SIZE - BESIDE]
  end

  def finish
    check C.cudaHostUnregister(@target)
    C.free(@target)
    check C.cudaFreeHost(@source)
    check C.cudaFree(@device)
    check C.cudaStreamDestroy(@stream)
  end
end

# Does a thing while a copy is in flight, again and again in several threads, which Ruby's timer
# interrupts.
def in_flight?(rounds = ROUNDS)
  threads = (1..WORKERS).map do |worker|
    Thread.new do
      (1..rounds).all? do |round|
        flight = Flight.new(worker + round)
        flight.start
        flight.source[0] = flight.target[0] = 1
        right = yield
        right = flight.land? && right
        flight.finish
        right
      end
    end
  end
  threads.map(&:value).all?
end

def endless(n)
  1 + endless(n + 1)
end

def raises?(error)
  yield
  false
rescue error
  true
end

def copies
  in_flight? do
    (1..1000).map { |i| "garbage #{i}" * 10 }
    GC.start
    GC.compact
    true
  end
end

def throw_errors
  in_flight?(1) do
    raises?(Fiddle::DLError) { Fiddle::Pointer.new(0)[0] } &&
      raises?(SystemStackError) { endless(0) } &&
      raises?(Timeout::Error) { Timeout.timeout(0.005) { loop {} } }
  end
end

def spawn_children
  in_flight?(2) do
    child = fork { exit!(7) }
    Process.wait(child)
    $?.exitstatus == 7 && `echo child` == "child\n"
  end
end

def signals
  count = 0
  trap("USR1") { count += 1 }
  stop = false
  sender = Thread.new { Process.kill("USR1", Process.pid) && sleep(0.0001) until stop }
  right = copies
  stop = true
  sender.join
  right && count.positive?
end

def overwrite
  flight = Flight.new(1)
  flight.start
  was = flight.source[SIZE - 1]
  flight.source[SIZE - 1] = was ^ 1
  flight.await
  flight.source[SIZE - 1] = was
  flight.land?
end

# The collector frees the block.
def lose_block(flight)
  block = Fiddle::Pointer.malloc(SMALL, Fiddle::Function.new(C["free"], [Fiddle::TYPE_VOIDP], Fiddle::TYPE_VOID))
  check C.cudaHostRegister(block, SMALL, 0)
  block[0, SMALL] = flight.source[0, SMALL]
  flight.copy flight.device, block, SMALL, UP
end

def free
  flight = Flight.new(1)
  Thread.new { lose_block(flight) }.join # nothing of its stack is left to refer to the block
  GC.start
  C.malloc(SMALL)[0, SMALL] = "x" * SMALL
  flight.copy flight.target, flight.device, SMALL, DOWN
  flight.await
  flight.source[0, SMALL] == flight.target[0, SMALL]
end

def fatal
  Flight.new(1).start
  Fiddle::Pointer.new(8)[0]
end

CASES = { "copies" => :copies, "throw" => :throw_errors, "spawn" => :spawn_children,
          "signals" => :signals, "overwrite" => :overwrite, "free" => :free, "fatal" => :fatal }
puts send(CASES.fetch(ARGV[0])) ? "data right" : "data wrong"
