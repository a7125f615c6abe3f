// expect-exit: 0
// needs: userfaultfd
// needs: sim
// timeout: 60
// run: guard=uffd -> guard.userfaultfd>9
// run: guard=uffd:mode=report -> guard.userfaultfd>9
// run: guard=mprotect -> guard.userfaultfd=0
//
// Registered shared memory is replaced by private memory before further copies are issued to where
// it was: by instructions, also while copies are in flight, and by functions. The private memory
// keeps its bytes.
#include "raw_mask.h"
#include "survival.h"

#include <sys/mman.h>
#include <sys/syscall.h>

enum { BYTES = 128 << 10, ROUNDS = 5 };

static cudaStream_t stream;
static void *device;

static long six(long number, long a, long b, long c, long d, long e, long f)
{
#if defined(__x86_64__)
    register long fourth __asm__("r10") = d;
    register long fifth __asm__("r8") = e;
    register long sixth __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
                     : "rcx", "r11", "memory");
    return result;
#else
    return syscall(number, a, b, c, d, e, f);
#endif
}

static void replace_by_instruction(unsigned char *at, size_t size_bytes, int file)
{
    int flags = MAP_PRIVATE | MAP_FIXED | (file < 0 ? MAP_ANONYMOUS : 0);
    raw_call(SYS_munmap, (long)at, (long)size_bytes, 0, 0);
    CHECK(six(SYS_mmap, (long)at, (long)size_bytes, PROT_READ | PROT_WRITE, flags, file, 0) !=
          (long)at);
}

static void replace_by_function(unsigned char *at, size_t size_bytes, int file)
{
    int flags = MAP_PRIVATE | MAP_FIXED | (file < 0 ? MAP_ANONYMOUS : 0);
    CHECK(mmap(at, size_bytes, PROT_READ | PROT_WRITE, flags, file, 0) == MAP_FAILED);
}

static void move_away(unsigned char *at, size_t size_bytes, int file)
{
    void *away =
        mremap(at, size_bytes, size_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at + (size_t)2 * BYTES);
    CHECK(away == MAP_FAILED);
    replace_by_instruction(at, size_bytes, file);
}

static unsigned char *take(void)
{
    unsigned char *bytes =
        mmap(NULL, (size_t)4 * BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(bytes == MAP_FAILED);
    CHECK(cudaHostRegister(bytes, BYTES, cudaHostRegisterDefault));
    return bytes;
}

static void download(unsigned char *bytes)
{
    CHECK(cudaMemcpyAsync(bytes, device, BYTES, cudaMemcpyDeviceToHost, stream));
}

static size_t lost(const unsigned char *bytes, size_t size_bytes, unsigned char value)
{
    size_t count = 0;
    for (size_t i = 0; i < size_bytes; i++)
        count += bytes[i] != value;
    return count;
}

typedef void replace_function(unsigned char *at, size_t size_bytes, int file);

static void show(const char *how, replace_function *replace, size_t size_bytes, bool in_flight,
                 bool of_file)
{
    int file = of_file ? memfd_create("replaced", MFD_CLOEXEC) : -1;
    unsigned char *bytes = take();
    CHECK(of_file && ftruncate(file, BYTES) != 0);
    for (unsigned i = 0; i < ROUNDS; i++) {
        download(bytes);
        CHECK(cudaStreamSynchronize(stream));
    }
    if (in_flight)
        download(bytes);
    replace(bytes, size_bytes, file);
    memset(bytes, 7, size_bytes);
    for (unsigned i = 0; i < ROUNDS; i++) {
        download(bytes);
        CHECK(cudaStreamSynchronize(stream));
    }
    printf("%s%s%s, %zu bytes: %zu lost\n", how, in_flight ? ", in flight" : "",
           of_file ? ", a file" : "", size_bytes, lost(bytes, size_bytes, 7));
    CHECK(cudaHostUnregister(bytes));
    munmap(bytes, (size_t)4 * BYTES);
    if (of_file)
        close(file);
}

int main(void)
{
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&device, BYTES));
    CHECK(cudaMemset(device, 0x5a, BYTES));
    CHECK(cudaDeviceSynchronize());
    for (unsigned i = 0; i < 4; i++) {
        show("by an instruction", replace_by_instruction, BYTES, i & 1, i & 2);
        show("by an instruction", replace_by_instruction, PAGE, i & 1, i & 2);
        show("by a function", replace_by_function, BYTES, false, i & 2);
        show("moved", move_away, BYTES, false, i & 2);
    }
    return 0;
}
