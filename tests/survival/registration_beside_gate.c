// expect-exit: 0
// options: stall_limit=200ms:verbosity=0
//
// A host function on another stream waits for what the program does behind copies of memory that
// was unregistered, and that an exec names still. Such copies wait for nobody: the registration
// cannot end before the host function returns, and stays.
#include "survival.h"

#include <stdatomic.h>
#include <string.h>

enum { BYTES = 64 << 10, COPIES = 20, GATE_S = 20 };

static atomic_bool is_open;

static void gate(void *unused)
{
    (void)unused;
    for (int i = 0; i < GATE_S * 1000 && !atomic_load(&is_open); i++)
        usleep(1000);
    if (!atomic_load(&is_open))
        puts("the copies have waited for the gate");
}

int main(void)
{
    cudaStream_t stream, other;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    void *device;
    unsigned char *memory = aligned_alloc(4096, BYTES);
    CHECK(!memory);
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&device, BYTES));
    memset(memory, 1, BYTES);
    CHECK(cudaHostRegister(memory, BYTES, cudaHostRegisterDefault));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    CHECK(cudaMemcpyAsync(device, memory, BYTES, cudaMemcpyHostToDevice, stream));
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaHostUnregister(memory));

    CHECK(cudaLaunchHostFunc(other, gate, NULL));
    for (int i = 0; i < COPIES; i++)
        CHECK(cudaMemcpyAsync(device, memory, BYTES, cudaMemcpyHostToDevice, stream));
    CHECK(cudaStreamSynchronize(stream));
    atomic_store(&is_open, true);
    CHECK(cudaStreamSynchronize(other));

    memset(memory, 2, BYTES);
    CHECK(cudaMemcpyAsync(device, memory, BYTES, cudaMemcpyHostToDevice, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaMemcpy(memory, device, BYTES, cudaMemcpyDeviceToHost));
    printf("%d %d\n", memory[0], memory[BYTES - 1]);
    return 0;
}
