// expect-exit: 0
// needs: sim
//
// Coroutines on small stacks, above a page that nobody may touch, do all that programs do: one in
// which CUDA comes up, one that copies, waits and touches, and one that asks the device to exit in.
// The real driver takes 28 KB for cuInit, and 6 KB for a copy.
#include "survival.h"

#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { PAGE = 4096, SMALL = 8 * 1024, OF_INIT = 32 * 1024, BYTES = 1 << 16 };

static ucontext_t outside;
static char *registered, *pinned;
static void *device;
static cudaStream_t stream;

static void come_up(void)
{
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&device, BYTES));
    CHECK(cudaMallocHost((void **)&pinned, BYTES));
    CHECK(cudaHostRegister(registered, BYTES, cudaHostRegisterDefault));
}

static void copy(void)
{
    for (int i = 0; i < 3; i++) {
        CHECK(cudaMemcpyAsync(device, registered, BYTES, cudaMemcpyHostToDevice, stream));
        CHECK(cudaMemcpyAsync(pinned, device, BYTES / 2 + 8, cudaMemcpyDeviceToHost, stream));
        pinned[BYTES / 2 + 64] = (char)i; /* beside the copy */
        CHECK(cudaStreamSynchronize(stream));
        registered[0] = (char)(pinned[0] + 1);
    }
    CHECK(cudaHostUnregister(registered));
}

static void leave(void)
{
    printf("leaving\n");
    fflush(stdout);
    _exit(0);
}

static void run(const char *what, void (*body)(void), size_t stack_bytes)
{
    static ucontext_t inside;
    char *pages =
        (char *)mmap(NULL, PAGE + stack_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(mprotect(pages + PAGE, stack_bytes, PROT_READ | PROT_WRITE));
    CHECK(getcontext(&inside));
    inside.uc_stack.ss_sp = pages + PAGE;
    inside.uc_stack.ss_size = stack_bytes;
    inside.uc_link = &outside;
    makecontext(&inside, body, 0);
    printf("%s\n", what);
    CHECK(swapcontext(&outside, &inside));
}

int main(void)
{
    registered = (char *)aligned_alloc(PAGE, BYTES);
    memset(registered, 1, BYTES);
    run("comes up", come_up, OF_INIT);
    run("copies", copy, SMALL);
    printf("%d %d\n", registered[0], pinned[0]);
    run("leaves", leave, SMALL);
    return 1;
}
