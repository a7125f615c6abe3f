// The cases of tests/languages.py, by cgo.
package main

/*
#include <cuda_runtime_api.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

extern void called(void *);
*/
import "C"

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

const (
	size    = 256 << 10
	small   = 64 << 10
	beside  = 256 // the copies leave out so much at the beginning of their pages
	workers = 8
	rounds  = 20
)

func check(code C.cudaError_t) {
	if code != 0 {
		panic(fmt.Sprintf("CUDA error %d", code))
	}
}

// Pinned memory goes up, and comes down into registered memory.
type flight struct {
	stream         C.cudaStream_t
	device         unsafe.Pointer
	source, target []byte
}

func newFlight(seed int) *flight {
	f := &flight{}
	var pinned unsafe.Pointer
	check(C.cudaStreamCreateWithFlags(&f.stream, C.cudaStreamNonBlocking))
	check(C.cudaMalloc(&f.device, size))
	check(C.cudaMallocHost(&pinned, size))
	registered := C.malloc(size)
	check(C.cudaHostRegister(registered, size, 0))
	f.source, f.target = unsafe.Slice((*byte)(pinned), size), unsafe.Slice((*byte)(registered), size)
	for i := range f.source {
		f.source[i] = byte(seed + i*31)
	}
	return f
}

func (f *flight) start() {
	const n = size - beside
	check(C.cudaMemcpyAsync(f.device, unsafe.Pointer(&f.source[beside]), n, C.cudaMemcpyHostToDevice, f.stream))
	check(C.cudaMemcpyAsync(unsafe.Pointer(&f.target[beside]), f.device, n, C.cudaMemcpyDeviceToHost, f.stream))
}

func (f *flight) land() bool {
	check(C.cudaStreamSynchronize(f.stream))
	return bytes.Equal(f.source[beside:], f.target[beside:])
}

func (f *flight) end() {
	check(C.cudaHostUnregister(unsafe.Pointer(&f.target[0])))
	C.free(unsafe.Pointer(&f.target[0]))
	check(C.cudaFreeHost(unsafe.Pointer(&f.source[0])))
	check(C.cudaFree(f.device))
	check(C.cudaStreamDestroy(f.stream))
}

func finish(right bool) {
	if right {
		fmt.Println("data right")
	} else {
		fmt.Println("data wrong")
	}
}

func deep(n int) int {
	var room [512]byte
	if n == 0 {
		return int(room[0])
	}
	return deep(n-1) + int(room[n%512]) + 1
}

var garbage [workers][]*[64]int

func collect(worker int) {
	garbage[worker] = nil
	for i := 0; i < 1000; i++ {
		garbage[worker] = append(garbage[worker], new([64]int))
	}
	runtime.GC()
}

// Those that call nothing are stopped by a signal (SIGURG), wherever they are.
func spin(stop *int32) {
	for n := 0; atomic.LoadInt32(stop) == 0; {
		for i := 0; i < 1000000; i++ {
			n += i
		}
	}
}

func inParallel(work func(worker int) bool) bool {
	var group sync.WaitGroup
	wrong := int32(0)
	for worker := 0; worker < workers; worker++ {
		group.Add(1)
		go func(worker int) {
			defer group.Done()
			if !work(worker) {
				atomic.AddInt32(&wrong, 1)
			}
		}(worker)
	}
	group.Wait()
	return wrong == 0
}

func copies() bool {
	stop := int32(0)
	go spin(&stop)
	defer atomic.StoreInt32(&stop, 1)
	return inParallel(func(worker int) bool {
		right := true
		for round := 0; round < rounds; round++ {
			f := newFlight(worker + round)
			f.start()
			f.source[0], f.target[0] = 1, 1
			collect(worker)
			deep(1000)
			right = f.land() && right
			f.end()
		}
		return right
	})
}

//go:noinline
func load(address *int) int {
	return *address
}

func recovers(address *int) (recovered bool) {
	defer func() { recovered = recover() != nil }()
	load(address)
	return
}

// Also of an address that is not nil and may not be read, and behind a touch of a guarded page. Threads
// end with their goroutines, so that those of the second half begin when pages were guarded already:
// with all signals blocked, by the C library, which Go undoes by an instruction.
func null() bool {
	page, err := syscall.Mmap(-1, 0, 4096, syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		panic(err)
	}
	address := (*int)(unsafe.Pointer(&page[0]))
	half := func(worker int) bool {
		runtime.LockOSThread()
		debug.SetPanicOnFault(true)
		recovered := true
		for round := 0; round < rounds/2; round++ {
			f := newFlight(worker)
			f.start()
			f.source[0], f.target[0] = 1, 1
			recovered = recovers(nil) && recovers(address) && recovered
			recovered = f.land() && recovered
			f.end()
		}
		return recovered
	}
	return inParallel(half) && inParallel(half)
}

var calls int32

//export called
func called(unsafe.Pointer) {
	atomic.AddInt32(&calls, int32(1+deep(100)-deep(99)-1))
	runtime.GC()
}

func callback() bool {
	right := inParallel(func(worker int) bool {
		f := newFlight(worker)
		for round := 0; round < rounds; round++ {
			check(C.cudaLaunchHostFunc(f.stream, C.cudaHostFn_t(C.called), nil))
			f.start()
		}
		right := f.land()
		f.end()
		return right
	})
	return right && calls == workers*rounds
}

func spawn() bool {
	return inParallel(func(worker int) bool {
		f := newFlight(worker)
		f.start()
		said, err := exec.Command("echo", "child").Output()
		right := f.land() && err == nil && string(said) == "child\n"
		f.end()
		return right
	})
}

func signals() bool {
	arrived := make(chan os.Signal, 1)
	signal.Notify(arrived, syscall.SIGUSR1)
	stop := int32(0)
	go func() {
		for atomic.LoadInt32(&stop) == 0 {
			syscall.Kill(os.Getpid(), syscall.SIGUSR1)
			time.Sleep(50 * time.Microsecond)
		}
	}()
	right := copies()
	atomic.StoreInt32(&stop, 1)
	<-arrived
	return right
}

func overwrite() bool {
	f := newFlight(1)
	f.start()
	was := f.source[size-1]
	f.source[size-1] = was + 1
	right := !f.land() && f.target[size-1] == was
	f.end()
	return right
}

type block struct{ memory unsafe.Pointer }

// Its finalizer is early.
func free() bool {
	f := newFlight(1)
	b := &block{C.malloc(small)}
	check(C.cudaHostRegister(b.memory, small, 0))
	copy(unsafe.Slice((*byte)(b.memory), small), f.source)
	freed := make(chan bool)
	runtime.SetFinalizer(b, func(b *block) {
		C.free(b.memory)
		C.memset(C.malloc(small), 1, small)
		freed <- true
	})
	check(C.cudaMemcpyAsync(f.device, b.memory, small, C.cudaMemcpyHostToDevice, f.stream))
	b = nil
	runtime.GC()
	<-freed
	check(C.cudaMemcpyAsync(unsafe.Pointer(&f.target[0]), f.device, small, C.cudaMemcpyDeviceToHost, f.stream))
	check(C.cudaStreamSynchronize(f.stream))
	// Go ends by a system call of its own, which no thread that writes is waited for.
	time.Sleep(time.Second)
	return bytes.Equal(f.source[:small], f.target[:small])
}

func main() {
	switch os.Args[1] {
	case "copies":
		finish(copies())
	case "null":
		finish(null())
	case "callback":
		finish(callback())
	case "spawn":
		finish(spawn())
	case "signals":
		finish(signals())
	case "overwrite":
		finish(overwrite())
	case "free":
		finish(free())
	case "fatal":
		runtime.LockOSThread() // the other goroutine has a thread that Go has made
		newFlight(1).start()
		go load(nil)
		select {}
	}
}
