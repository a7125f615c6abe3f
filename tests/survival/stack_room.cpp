// expect-exit: 0
// cflags: -Wl,-z,now
// options: cupti=off
// needs: kernel (execve)
//
// No call takes more than 1 KB of its caller's stack beyond what it takes without the library, or
// beyond the 6 KB that a copy takes there: who has no room for a copy does not use CUDA. Each
// is made in a coroutine whose stack is filled with a pattern before. The program runs itself once
// more without a preload, and compares. What the library takes while the driver is not called
// counts only where it exceeds the driver's own need, which the simulated GPU does not have; so
// each call has with it what the real driver took (H100, driver 580.159.04). CUPTI, which the
// library loads, takes what it takes. A stream takes 14 KB where the driver makes room for more of
// them, which comes earlier with those of the library.
//
// With SHOW in the environment the figures of all calls are printed.
#include "in_flight.h"
#include "survival.h"
#include "tests/copying_kernel.h"

#include <cuda.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>

#include <algorithm>

namespace
{

constexpr size_t STACK = 256 << 10;
constexpr size_t BYTES = 1 << 18;
constexpr size_t ROOM = 1024;
constexpr size_t OF_COPY = 6 << 10;
constexpr unsigned char PATTERN = 0xc5;

char *pinned, *registered, *pageable, *device, *other, *pooled, *fresh;
cudaStream_t stream, second, blocking;
cudaEvent_t event;
cudaGraph_t graph;
cudaGraphExec_t exec;
CUfunction kernel;
int zeros, sink;

struct call {
    const char *text;
    int (*make)();
    size_t driver_takes; /* at least */
};

int copy_2d(void *to, const void *from, cudaMemcpyKind kind, cudaStream_t in)
{
    return cudaMemcpy2DAsync(to, 512, from, 512, 256, 32, kind, in);
}

int copy_3d(void *to, void *from)
{
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = {from, 256, 256, 16};
    copy.dstPtr = {to, 256, 256, 16};
    copy.extent = {256, 16, 4};
    copy.kind = cudaMemcpyDefault;
    return cudaMemcpy3DAsync(&copy, stream);
}

int copy_batch(size_t size)
{
    CUdeviceptr to[2] = {(CUdeviceptr)device, (CUdeviceptr)pinned};
    CUdeviceptr from[2] = {(CUdeviceptr)registered, (CUdeviceptr)other};
    size_t sizes[2] = {size, size};
    CUmemcpyAttributes attributes = {};
    size_t first = 0;
    attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    return cuMemcpyBatchAsync(to, from, sizes, 2, &attributes, &first, 1, stream);
}

void host_function(void *)
{
}

int launch()
{
    CUdeviceptr to = (CUdeviceptr)device, from = (CUdeviceptr)other;
    unsigned size = 64;
    void *parameters[] = {&to, &from, &size};
    return cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, stream, parameters, NULL);
}

int hold_edge()
{
    hold();
    return 0;
}

int let_edge_go()
{
    release();
    return 0;
}

pthread_mutex_t *mutex()
{
    return (pthread_mutex_t *)beside.block;
}

void *pages()
{
    return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

#define TAKES(bytes, made)                                                                         \
    call                                                                                           \
    {                                                                                              \
#made, [] { return (int)(made); }, bytes                                                   \
    }
#define CALL(made) TAKES(1100, made)
#define LIBC(made) TAKES(0, made)

const call calls[] = {
    TAKES(5900, cudaMemcpyAsync(device, pinned, 4096, cudaMemcpyHostToDevice, stream)),
    TAKES(5900, cudaMemcpyAsync(device, pinned, BYTES, cudaMemcpyHostToDevice, stream)),
    TAKES(5900, cudaMemcpyAsync(device, registered, BYTES, cudaMemcpyHostToDevice, stream)),
    TAKES(5900, cudaMemcpyAsync(device, pageable, 512, cudaMemcpyHostToDevice, stream)),
    TAKES(5900, cudaMemcpyAsync(device, pageable, BYTES, cudaMemcpyHostToDevice, stream)),
    TAKES(5900, cudaMemcpyAsync(pinned, device, 8, cudaMemcpyDeviceToHost, stream)),
    TAKES(5900, cudaMemcpyAsync(pinned, device, BYTES, cudaMemcpyDeviceToHost, stream)),
    TAKES(5900, cudaMemcpyAsync(registered, device, BYTES, cudaMemcpyDeviceToHost, stream)),
    TAKES(5900, cudaMemcpyAsync(pageable, device, BYTES, cudaMemcpyDeviceToHost, stream)),
    TAKES(5900, cudaMemcpyAsync(device, other, BYTES, cudaMemcpyDeviceToDevice, stream)),
    TAKES(3900, cudaMemcpyAsync(pinned, registered, BYTES, cudaMemcpyDefault, stream)),
    TAKES(5900, cudaMemcpyAsync(device, pinned, BYTES, cudaMemcpyDefault, stream)),
    TAKES(5900, cudaMemcpyAsync(device, pinned, BYTES, cudaMemcpyDefault, NULL)),
    TAKES(5900, cudaMemcpyAsync(device, pinned, BYTES, cudaMemcpyDefault, blocking)),
    TAKES(5900, copy_2d(device, pinned, cudaMemcpyHostToDevice, stream)),
    TAKES(5900, copy_2d(pinned, device, cudaMemcpyDeviceToHost, stream)),
    TAKES(5900, copy_3d(device, pinned)),
    TAKES(5900, copy_3d(pinned, device)),
    TAKES(6700, copy_batch(64)),
    TAKES(6700, copy_batch(BYTES)),
    TAKES(6700, cudaMemsetAsync(pinned, 1, BYTES, stream)),
    TAKES(6700, cudaMemsetAsync(device, 1, BYTES, stream)),
    TAKES(6700, cudaMemset2DAsync(device, 512, 1, 256, 64, stream)),
    TAKES(5700, cudaMemcpy(device, pinned, BYTES, cudaMemcpyHostToDevice)),
    TAKES(5700, cudaMemcpy(pageable, device, BYTES, cudaMemcpyDeviceToHost)),
    TAKES(5700, cudaMemcpy2D(device, 512, pinned, 512, 256, 64, cudaMemcpyHostToDevice)),
    TAKES(6700, cudaMemset(device, 1, BYTES)),
    TAKES(4200, cudaLaunchHostFunc(stream, host_function, NULL)),
    TAKES(6400, launch()),
    CALL(cudaEventRecord(event, stream)),
    TAKES(1500, cudaStreamWaitEvent(second, event, 0)),
    CALL(cudaEventQuery(event) == cudaErrorInvalidValue),
    TAKES(1600, cudaEventSynchronize(event)),
    CALL(cudaStreamQuery(stream) == cudaErrorInvalidValue),
    TAKES(1500, cudaStreamSynchronize(stream)),
    TAKES(1500, cudaDeviceSynchronize()),
    TAKES(15000, cudaMallocAsync((void **)&pooled, BYTES, stream)),
    TAKES(5900, cudaMemcpyAsync(pooled, pinned, BYTES, cudaMemcpyHostToDevice, stream)),
    TAKES(1400, cudaFreeAsync(pooled, stream)),
    CALL(cudaMalloc((void **)&fresh, BYTES)),
    TAKES(1800, cudaFree(fresh)),
    CALL(cudaMallocHost((void **)&fresh, BYTES)),
    TAKES(5900, cudaMemcpyAsync(device, fresh, BYTES, cudaMemcpyHostToDevice, stream)),
    TAKES(1500, cudaStreamSynchronize(stream)),
    TAKES(1500, cudaFreeHost(fresh)),
    LIBC(!(fresh = (char *)aligned_alloc(4096, BYTES))),
    TAKES(13000, cudaHostRegister(fresh, BYTES, cudaHostRegisterDefault)),
    TAKES(2000, cudaHostUnregister(fresh)),
    LIBC((free(fresh), 0)),
    TAKES(14400, cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking)),
    CALL(cudaStreamDestroy(second)),
    TAKES(14400, cudaStreamCreate(&second)),
    CALL(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal)),
    TAKES(2100, cudaMemcpyAsync(device, pinned, BYTES, cudaMemcpyHostToDevice, stream)),
    TAKES(2100, cudaMemcpyAsync(pageable, pinned, BYTES, cudaMemcpyDefault, stream)),
    TAKES(2500, copy_3d(pinned, device)),
    TAKES(2500, copy_2d(device, pinned, cudaMemcpyHostToDevice, stream)),
    TAKES(1500, cudaMemsetAsync(device, 1, BYTES, stream)),
    TAKES(2800, launch()),
    TAKES(1200, cudaLaunchHostFunc(stream, host_function, NULL)),
    CALL(cudaEventRecord(event, stream)),
    CALL(cudaStreamEndCapture(stream, &graph)),
    TAKES(15000, cudaGraphInstantiate(&exec, graph, 0)),
    TAKES(5800, cudaGraphLaunch(exec, stream)),
    TAKES(5800, cudaGraphLaunch(exec, stream)),
    TAKES(1500, cudaStreamSynchronize(stream)),
    CALL(cudaGraphExecDestroy(exec)),
    CALL(cudaGraphDestroy(graph)),
    CALL(cudaEventRecord(event, stream)),
    TAKES(5900, hold_edge()),
    LIBC(read(zeros, beside.block, 64) != 64),
    LIBC(write(sink, beside.block, 64) != 64),
    LIBC(pthread_mutex_lock(mutex())),
    LIBC(pthread_mutex_unlock(mutex())),
    LIBC((free(malloc(100)), 0)),
    LIBC(!(fresh = (char *)realloc(malloc(100), 100000))),
    LIBC((free(fresh), 0)),
    LIBC(mprotect(beside.block, 4096, PROT_READ | PROT_WRITE)),
    LIBC((fresh = (char *)pages()) == MAP_FAILED),
    LIBC(munmap(fresh, 4096)),
    LIBC(madvise(beside.block, 4096, MADV_NORMAL)),
    TAKES(1500, let_edge_go()),
};

ucontext_t outside, inside;
const call *now;
int result;
bool is_open; /* a capture, or what is in flight */

void body()
{
    result = now->make();
}

size_t used_by(const call &made, unsigned char *stack)
{
    memset(stack, PATTERN, STACK);
    CHECK(getcontext(&inside));
    inside.uc_stack.ss_sp = stack;
    inside.uc_stack.ss_size = STACK;
    inside.uc_link = &outside;
    makecontext(&inside, body, 0);
    now = &made;
    is_open = strstr(made.text, "BeginCapture") || strstr(made.text, "hold_edge") ||
              (is_open && !strstr(made.text, "EndCapture") && !strstr(made.text, "let_edge_go"));
    CHECK(swapcontext(&outside, &inside));
    survival_check(result, made.text, 0);
    if (!is_open)
        CHECK(cudaDeviceSynchronize());
    size_t left = 0;
    while (left < STACK && stack[left] == PATTERN)
        left++;
    return STACK - left;
}

void come_up()
{
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    CHECK(cudaStreamCreate(&blocking));
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    CHECK(cudaMalloc((void **)&device, BYTES));
    CHECK(cudaMalloc((void **)&other, BYTES));
    CHECK(cudaMallocHost((void **)&pinned, BYTES));
    CUmodule module;
    CHECK(cuModuleLoadData(&module, copying_kernel_text));
    CHECK(cuModuleGetFunction(&kernel, module, "copy_bytes"));
    edge_start();
    zeros = open("/dev/zero", O_RDONLY);
    sink = open("/dev/null", O_WRONLY);
    registered = (char *)aligned_alloc(4096, BYTES);
    pageable = (char *)aligned_alloc(4096, BYTES);
    memset(registered, 1, BYTES);
    memset(pageable, 1, BYTES);
    CHECK(cudaHostRegister(registered, BYTES, cudaHostRegisterDefault));
}

/* The most that each has taken in three rounds. */
void measure(size_t *used)
{
    unsigned char *stack = (unsigned char *)mmap(NULL, STACK, PROT_READ | PROT_WRITE,
                                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    come_up();
    for (int round = 0; round < 3; round++)
        for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
            size_t taken = used_by(calls[i], stack);
            used[i] = taken > used[i] ? taken : used[i];
        }
}

} // namespace

int main(int count, char **)
{
    static size_t used[sizeof calls / sizeof *calls];
    static size_t alone[sizeof calls / sizeof *calls];
    measure(used);
    if (count > 1)
        return write(1, used, sizeof used) != (ssize_t)sizeof used;
    unsetenv("LD_PRELOAD");
    FILE *child = popen("/proc/$PPID/exe alone", "r");
    if (!child || fread(alone, sizeof alone, 1, child) != 1 || pclose(child))
        return 3;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        size_t driver_takes = std::max({alone[i], calls[i].driver_takes, OF_COPY});
        if (getenv("SHOW") || used[i] > driver_takes + ROOM)
            printf("%zu and alone %zu bytes: %s\n", used[i], alone[i], calls[i].text);
    }
    puts("measured");
    return 0;
}
