// expect: none
// in-place: SC201 action=reported kind=pageable
// in-place: wrong
//
// Memory of which an exec names a part is unregistered, and the exec is never launched again. So
// the registration may be kept for it, and nothing of what the program goes on to do may show that:
// copies of more than that part, another flag, nodes that are set to the memory, a registration
// that fails and one while a stream captures.
#include "graphs.h"

enum { PART = 64 << 10 };

static bool is_portable(void *memory)
{
    unsigned flags = 0;
    CHECK(cudaHostGetFlags(&flags, memory));
    return flags & cudaHostRegisterPortable;
}

/* An exec that names the middle of the memory, which is registered no longer. */
static cudaGraphExec_t exec_of_middle(unsigned char *memory, void *device, cudaStream_t stream)
{
    CHECK(cudaHostRegister(memory + PART, PART, cudaHostRegisterDefault));
    cudaGraphExec_t exec =
        captured_exec(device, memory + PART, PART, cudaMemcpyHostToDevice, stream);
    replay(exec, stream);
    CHECK(cudaHostUnregister(memory + PART));
    return exec;
}

static bool copies_all(unsigned char *memory, void *device, cudaStream_t stream)
{
    fill(memory, 3 * PART, WANTED);
    CHECK(cudaMemcpy(device, memory, 3 * PART, cudaMemcpyHostToDevice));
    bool good = device_holds(device, 3 * PART, WANTED);
    fill(memory, 3 * PART, FOREIGN);
    CHECK(cudaMemcpyAsync(device, memory + PART, 2 * PART, cudaMemcpyHostToDevice, stream));
    fill(memory, 3 * PART, WANTED);
    CHECK(cudaStreamSynchronize(stream));
    return device_holds(device, 2 * PART, FOREIGN) && good;
}

static bool sets_node(unsigned char *memory, void *device, cudaStream_t stream)
{
    cudaGraph_t graph = captured_copy(device, memory, PART, cudaMemcpyHostToDevice, stream);
    cudaGraphExec_t exec = instantiate(graph);
    CHECK(cudaGraphExecMemcpyNodeSetParams1D(exec, only_node(graph), device, memory + PART, PART,
                                             cudaMemcpyHostToDevice));
    CHECK(cudaHostRegister(memory, 3 * PART, cudaHostRegisterDefault));
    CHECK(cudaHostUnregister(memory));
    fill(memory + PART, PART, WANTED);
    replay(exec, stream);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    return device_holds(device, PART, WANTED);
}

static bool registers_in_capture(unsigned char *memory, void *device, cudaStream_t stream)
{
    cudaGraphExec_t pageable =
        captured_exec(device, memory + PART, PART, cudaMemcpyHostToDevice, stream);
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    CHECK(cudaHostRegister(memory + PART, PART, cudaHostRegisterPortable));
    CHECK(cudaGraphDestroy(end_capture(stream)));
    bool good = is_portable(memory + PART);
    fill(memory + PART, PART, FOREIGN);
    replay(pageable, stream);
    CHECK(cudaHostUnregister(memory + PART));
    CHECK(cudaGraphExecDestroy(pageable));
    return device_holds(device, PART, FOREIGN) && good;
}

static bool registers_in_vain(unsigned char *memory, void *device, cudaStream_t stream)
{
    cudaGraphExec_t pageable =
        captured_exec(device, memory + PART, PART, cudaMemcpyHostToDevice, stream);
    bool good = cudaHostRegister(memory + PART, PART, ~0U) != cudaSuccess;
    cudaGetLastError();
    fill(memory + PART, PART, WANTED);
    replay(pageable, stream);
    CHECK(cudaGraphExecDestroy(pageable));
    return device_holds(device, PART, WANTED) && good;
}

int main(void)
{
    cudaStream_t stream = new_stream();
    unsigned char *memory = aligned_alloc(PART, 3 * PART);
    void *device = device_block(3 * PART, 0);
    bool (*const ways[])(unsigned char *, void *, cudaStream_t) = {
        copies_all, sets_node, registers_in_capture, registers_in_vain};
    bool good = memory;
    fill(memory, 3 * PART, WANTED);
    for (unsigned i = 0; i < sizeof ways / sizeof *ways; i++) {
        cudaGraphExec_t exec = exec_of_middle(memory, device, stream);
        good = ways[i](memory, device, stream) && good;
        CHECK(cudaGraphExecDestroy(exec));
        CHECK(cudaDeviceSynchronize());
    }
    free(memory);
    return finish(good);
}
