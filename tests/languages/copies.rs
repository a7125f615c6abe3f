// The cases of tests/languages.py, for Rust.
use std::os::raw::{c_int, c_uint, c_void};
use std::panic::catch_unwind;
use std::process::Command;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const SIZE: usize = 256 << 10;
const SMALL: usize = 64 << 10;
const BESIDE: usize = 256; // the copies leave out so much at the beginning of their pages
const WORKERS: usize = 8;
const ROUNDS: usize = 20;
const UP: c_int = 1;
const DOWN: c_int = 2;

type Memory = *mut u8;

extern "C" {
    fn cudaMallocHost(memory: *mut Memory, size: usize) -> c_int;
    fn cudaFreeHost(memory: Memory) -> c_int;
    fn cudaHostRegister(memory: Memory, size: usize, flags: c_uint) -> c_int;
    fn cudaHostUnregister(memory: Memory) -> c_int;
    fn cudaMalloc(memory: *mut Memory, size: usize) -> c_int;
    fn cudaFree(memory: Memory) -> c_int;
    fn cudaStreamCreateWithFlags(stream: *mut Memory, flags: c_uint) -> c_int;
    fn cudaStreamDestroy(stream: Memory) -> c_int;
    fn cudaStreamSynchronize(stream: Memory) -> c_int;
    fn cudaLaunchHostFunc(stream: Memory, function: extern "C" fn(*mut c_void),
                          argument: *mut c_void) -> c_int;
    fn cudaMemcpyAsync(to: Memory, from: Memory, size: usize, kind: c_int, stream: Memory) -> c_int;
}

fn check(code: c_int) {
    assert_eq!(code, 0, "CUDA error");
}

// Pinned memory goes up, and comes down into registered memory.
struct Flight {
    stream: Memory,
    device: Memory,
    source: Memory,
    target: Vec<u8>,
}

impl Flight {
    fn new(seed: usize) -> Flight {
        let (mut stream, mut device, mut source) = (null_mut(), null_mut(), null_mut());
        let mut target = vec![0; SIZE];
        unsafe {
            check(cudaStreamCreateWithFlags(&mut stream, 1));
            check(cudaMalloc(&mut device, SIZE));
            check(cudaMallocHost(&mut source, SIZE));
            check(cudaHostRegister(target.as_mut_ptr(), SIZE, 0));
            for i in 0..SIZE {
                source.add(i).write((seed + i * 31) as u8);
            }
        }
        Flight { stream, device, source, target }
    }

    fn copy(&self, to: Memory, from: Memory, size: usize, kind: c_int) {
        check(unsafe { cudaMemcpyAsync(to, from, size, kind, self.stream) });
    }

    fn start(&mut self) {
        let target = self.target.as_mut_ptr();
        unsafe {
            self.copy(self.device, self.source.add(BESIDE), SIZE - BESIDE, UP);
            self.copy(target.add(BESIDE), self.device, SIZE - BESIDE, DOWN);
        }
    }

    fn wait(&self) {
        check(unsafe { cudaStreamSynchronize(self.stream) });
    }

    fn lands(&self) -> bool {
        self.wait();
        let source = unsafe { std::slice::from_raw_parts(self.source, SIZE) };
        source[BESIDE..] == self.target[BESIDE..]
    }
}

// Also where a panic unwinds.
impl Drop for Flight {
    fn drop(&mut self) {
        self.wait();
        unsafe {
            check(cudaHostUnregister(self.target.as_mut_ptr()));
            check(cudaFreeHost(self.source));
            check(cudaFree(self.device));
            check(cudaStreamDestroy(self.stream));
        }
    }
}

// In threads with small stacks.
fn in_threads(work: fn(usize) -> bool) -> bool {
    let thread = |worker| {
        thread::Builder::new().stack_size(64 << 10).spawn(move || work(worker)).unwrap()
    };
    let threads: Vec<_> = (0..WORKERS).map(thread).collect();
    threads.into_iter().all(|thread| thread.join().unwrap())
}

fn copies(worker: usize) -> bool {
    (0..ROUNDS).all(|round| {
        let mut flight = Flight::new(worker + round);
        flight.start();
        flight.target[0] = 1;
        unsafe { flight.source.write(1) };
        flight.lands()
    })
}

fn panics(worker: usize) -> bool {
    (0..ROUNDS).all(|_| {
        catch_unwind(|| {
            let mut flight = Flight::new(worker);
            flight.start();
            let nothing = Vec::<usize>::new();
            nothing[worker]
        }).is_err()
    })
}

static CALLS: AtomicUsize = AtomicUsize::new(0);

extern "C" fn called(_: *mut c_void) {
    if catch_unwind(|| panic!()).is_err() {
        CALLS.fetch_add(1, Ordering::Relaxed);
    }
}

fn callback(worker: usize) -> bool {
    let mut flight = Flight::new(worker);
    for _ in 0..ROUNDS {
        check(unsafe { cudaLaunchHostFunc(flight.stream, called, null_mut()) });
        flight.start();
    }
    flight.lands()
}

fn spawn(worker: usize) -> bool {
    let mut flight = Flight::new(worker);
    flight.start();
    let said = Command::new("echo").arg("child").output().unwrap().stdout;
    flight.lands() && said == b"child\n"
}

fn overwrite() -> bool {
    let mut flight = Flight::new(1);
    flight.start();
    unsafe {
        let last = flight.source.add(SIZE - 1);
        let was = last.read();
        last.write(was ^ 1);
        flight.wait();
        last.write(was);
    }
    flight.lands()
}

// The block is dropped too early.
fn free() -> bool {
    let mut flight = Flight::new(1);
    let mut block = vec![7u8; SMALL];
    check(unsafe { cudaHostRegister(block.as_mut_ptr(), SMALL, 0) });
    flight.copy(flight.device, block.as_mut_ptr(), SMALL, UP);
    drop(block);
    let other = vec![1u8; SMALL];
    let target = flight.target.as_mut_ptr();
    flight.copy(target, flight.device, SMALL, DOWN);
    flight.wait();
    flight.target[..SMALL].iter().all(|byte| *byte == other[0] + 6)
}

#[allow(unconditional_recursion)]
fn endless(n: usize) -> usize {
    let mut room = [n; 64];
    unsafe { (&mut room[n % 64] as *mut usize).write_volatile(n) };
    endless(n + 1) + room[(n + 1) % 64]
}

// Rust's own handler says that a stack has overflowed, and aborts.
fn overflow() -> bool {
    Flight::new(1).start();
    endless(0) == 0
}

fn fatal() -> bool {
    let mut flight = Flight::new(1);
    flight.start();
    unsafe { (8 as Memory).read_volatile() == 0 }
}

fn main() {
    std::panic::set_hook(Box::new(|_| ()));
    let right = match std::env::args().nth(1).as_deref() {
        Some("copies") => in_threads(copies),
        Some("throw") => in_threads(panics),
        Some("callback") => in_threads(callback) && CALLS.load(Ordering::Relaxed) == WORKERS * ROUNDS,
        Some("spawn") => in_threads(spawn),
        Some("overwrite") => overwrite(),
        Some("free") => free(),
        Some("overflow") => overflow(),
        Some("fatal") => fatal(),
        _ => panic!(),
    };
    println!("{}", if right { "data right" } else { "data wrong" });
}
