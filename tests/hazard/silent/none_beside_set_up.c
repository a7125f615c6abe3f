// expect: none
//
// Constants are set up within the capture that uses them first: memory that is allocated there,
// in each way that relaxed mode permits, and filled on the legacy stream. Launches are to use what
// it was filled with.
#include "left_out.h"

static void *allocate(int how, cudaStream_t stream)
{
    void *memory = NULL;
    size_t pitch = 0;
    if (how == 0)
        CHECK(cudaMalloc(&memory, SMALL));
    else if (how == 1)
        CHECK(cudaMallocPitch(&memory, &pitch, SMALL, 1));
    else if (how == 2)
        CHECK(cudaMallocAsync(&memory, SMALL, stream));
    else
        CHECK(cudaMallocManaged(&memory, SMALL, cudaMemAttachGlobal));
    return memory;
}

static bool runs(int how)
{
    cudaStream_t stream = new_stream();
    cudaStream_t other = new_stream();
    void *source = pinned_block(SMALL, WANTED);
    void *result = device_block(SMALL, 0);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    void *constants = allocate(how, other);
    CHECK(cudaMemcpyAsync(constants, source, SMALL, cudaMemcpyHostToDevice, other));
    capture_copy(result, constants, stream);
    cudaGraphExec_t exec = end_capture(stream, 1);

    CHECK(cudaDeviceSynchronize());
    fill(source, SMALL, FOREIGN);
    replay(exec, stream);
    replay(exec, stream);
    return device_holds(result, SMALL, WANTED);
}

int main(void)
{
    bool right = true;
    for (int how = 0; how < 4; how++)
        right = runs(how) && right;
    return finish(!broken && right);
}
