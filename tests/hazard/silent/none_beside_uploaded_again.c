// expect: none
//
// The input of a graph is uploaded beside its first capture, and once more before each further
// launch: by a copy, a memset, a kernel, and a batch, on another stream or by another thread.
#include "left_out.h"

static void *source, *input;
static cudaStream_t uploads;
static CUfunction kernel;

static void *upload(void *unused)
{
    CHECK(cudaMemcpy(input, source, SMALL, cudaMemcpyHostToDevice));
    return unused;
}

static void upload_batch(void)
{
    struct cudaMemcpyAttributes order = {.srcAccessOrder = cudaMemcpySrcAccessOrderStream};
    void *to = input;
    const void *from = source;
    size_t size = SMALL, first = 0;
    CHECK(cudaMemcpyBatchAsync(&to, &from, &size, 1, &order, &first, 1, uploads));
}

static void upload_in(int how, CUdeviceptr staged)
{
    if (how == 0)
        CHECK(cudaMemcpyAsync(input, source, SMALL, cudaMemcpyHostToDevice, uploads));
    else if (how == 1)
        CHECK(cudaMemcpy2D(input, 256, source, 256, 256, SMALL / 256, cudaMemcpyHostToDevice));
    else if (how == 2)
        launch_copy(kernel, (CUdeviceptr)input, staged, uploads);
    else if (how == 3)
        upload_batch();
    else
        on_other_thread(upload, NULL);
}

int main(void)
{
    bool right = true;
    cudaStream_t stream = new_stream();
    void *result = device_block(SMALL, 0);
    CUdeviceptr staged = (CUdeviceptr)device_block(SMALL, 5);
    source = pinned_block(SMALL, WANTED);
    input = device_block(SMALL, 0);
    uploads = new_stream();
    kernel = copying_kernel();

    for (int how = 0; how < 5; how++) {
        CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        CHECK(cudaMemcpyAsync(input, source, SMALL, cudaMemcpyHostToDevice, 0));
        capture_copy(result, input, stream);
        cudaGraphExec_t exec = end_capture(stream, 1);
        CHECK(cudaDeviceSynchronize());
        replay(exec, stream);
        fill(source, SMALL, 5);
        upload_in(how, staged);
        CHECK(cudaDeviceSynchronize());
        replay(exec, stream);
        replay(exec, stream);
        right = device_holds(result, SMALL, 5) && right;
    }
    return finish(!broken && right);
}
