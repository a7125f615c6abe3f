// expect-exit: 0
// needs: userfaultfd
// timeout: 60
// run: pinned=driver:guard=uffd -> guard.userfaultfd>300 hazards=0
// run: pinned=driver:guard=uffd:mode=report -> guard.userfaultfd>300 hazards=0
// run: pinned=driver:guard=mprotect -> guard.mprotect>300 guard.userfaultfd=0 hazards=0
//
// Threads copy from and to memory of the driver's, and to shared and private memory that they
// register, in whole and in parts, and go on to use it when it is registered no more.
#include "process.h"
#include "raw_mask.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum { THREADS = 4, ROUNDS = 20, BYTES = 96 << 10, PARTS = 2 };

enum kind { DRIVERS, SHARED, MEMFD, PRIVATE, KINDS };
static const char *const names[] = {"the driver's", "shared", "of a file in memory", "private"};

static void *map(enum kind kind)
{
    int file = kind == MEMFD ? memfd_create("kinds", MFD_CLOEXEC) : -1;
    int flags = (kind == PRIVATE ? MAP_PRIVATE : MAP_SHARED) | (file < 0 ? MAP_ANONYMOUS : 0);
    CHECK(file >= 0 && ftruncate(file, (off_t)PARTS * BYTES) != 0);
    void *start = mmap(NULL, (size_t)PARTS * BYTES, PROT_READ | PROT_WRITE, flags, file, 0);
    CHECK(start == MAP_FAILED);
    if (file >= 0)
        close(file);
    return start;
}

static unsigned char *take(enum kind kind)
{
    void *start = NULL;
    if (kind == DRIVERS) {
        CHECK(cudaMallocHost(&start, (size_t)PARTS * BYTES));
        return start;
    }
    start = map(kind);
    for (unsigned i = 0; i < PARTS; i++)
        CHECK(cudaHostRegister((char *)start + (size_t)i * BYTES, BYTES, cudaHostRegisterDefault));
    return start;
}

/* Linux reads and writes each page. */
static bool passes_through_pipe(unsigned char *bytes, size_t size_bytes)
{
    int ends[2];
    bool passes = pipe(ends) == 0;
    for (size_t at = 0; at < size_bytes && passes; at += PAGE)
        passes = raw_call(SYS_write, ends[1], (long)(bytes + at), PAGE, 0) == PAGE &&
                 raw_call(SYS_read, ends[0], (long)(bytes + at), PAGE, 0) == PAGE;
    close(ends[0]);
    close(ends[1]);
    return passes;
}

static bool all_are(const unsigned char *bytes, unsigned char value)
{
    for (size_t i = 0; i < BYTES; i++)
        if (bytes[i] != value)
            return false;
    return true;
}

/* Gives the first part back while the second one may be in flight. */
static bool leave(unsigned char *start, enum kind kind, void *device, cudaStream_t stream)
{
    CHECK(cudaMemcpyAsync(start + BYTES, device, BYTES, cudaMemcpyDeviceToHost, stream));
    if (kind == DRIVERS) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaFreeHost(start));
        return true;
    }
    CHECK(cudaHostUnregister(start));
    bool right = raw_call(SYS_madvise, (long)start, BYTES, MADV_DONTNEED, 0) == 0 &&
                 passes_through_pipe(start, BYTES);
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaHostUnregister(start + BYTES));
    right &= passes_through_pipe(start + BYTES, BYTES);
    return munmap(start, (size_t)PARTS * BYTES) == 0 && right;
}

static bool use(enum kind kind, unsigned char value)
{
    void *device;
    cudaStream_t stream;
    unsigned char *in = take(kind), *out = in + BYTES;
    bool right = true;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&device, BYTES));
    for (unsigned i = 0; i < ROUNDS; i++) {
        unsigned char byte = (unsigned char)(value + i);
        memset(in, byte, BYTES);
        CHECK(cudaMemcpyAsync(device, in, BYTES, cudaMemcpyHostToDevice, stream));
        CHECK(cudaMemcpyAsync(out, device, BYTES, cudaMemcpyDeviceToHost, stream));
        CHECK(cudaStreamSynchronize(stream));
        right &= all_are(out, byte) && all_are(in, byte);
        memset(out, 0, BYTES);
    }
    right &= passes_through_pipe(in, (size_t)PARTS * BYTES);
    right &= leave(in, kind, device, stream);
    CHECK(cudaFree(device));
    CHECK(cudaStreamDestroy(stream));
    return right;
}

static void *work(void *number)
{
    uintptr_t wrong = 0;
    for (unsigned i = 0; i < KINDS; i++)
        wrong += !use((enum kind)i, (unsigned char)((uintptr_t)number * 40 + i));
    return (void *)wrong;
}

static void use_on_threads(void)
{
    pthread_t threads[THREADS];
    uintptr_t wrong = 0;
    for (uintptr_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, work, (void *)i));
    for (int i = 0; i < THREADS; i++) {
        void *result = NULL;
        pthread_join(threads[i], &result);
        wrong += (uintptr_t)result;
    }
    printf("wrong: %lu\n", (unsigned long)wrong);
}

/* What is in flight is split by an advice, locked, grown, and seen by a child. */
static void change_in_flight(enum kind kind)
{
    void *device;
    cudaStream_t stream;
    unsigned char *bytes = take(kind);
    int status = -1;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&device, BYTES));
    CHECK(cudaMemset(device, 0x5a, BYTES));
    CHECK(cudaDeviceSynchronize());
    memset(bytes, 1, (size_t)PARTS * BYTES);
    CHECK(cudaMemcpyAsync(bytes, device, BYTES, cudaMemcpyDeviceToHost, stream));
    CHECK(madvise(bytes + 4 * PAGE, PAGE, MADV_RANDOM));
    CHECK(cudaMemcpyAsync(bytes + BYTES, device, BYTES, cudaMemcpyDeviceToHost, stream));
    CHECK(mlock(bytes + BYTES, 2 * PAGE));
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(bytes[0] | bytes[BYTES] | 1);
    CHECK(waitpid(child, &status, 0) != child);
    CHECK(cudaStreamSynchronize(stream));
    printf("%s: child %d, %d, %d\n", names[kind], WIFEXITED(status), all_are(bytes, 0x5a),
           all_are(bytes + BYTES, 0x5a));
    CHECK(munlock(bytes + BYTES, 2 * PAGE));
    CHECK(cudaMemcpyAsync(bytes, device, BYTES, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    printf("again: %d\n", passes_through_pipe(bytes, (size_t)PARTS * BYTES));
    printf("left: %d\n", leave(bytes, kind, device, stream));
    CHECK(cudaFree(device));
    CHECK(cudaStreamDestroy(stream));
}

int main(void)
{
    use_on_threads();
    for (unsigned i = 0; i < KINDS; i++)
        change_in_flight((enum kind)i);
    use_on_threads();
    return 0;
}
