// expect: none
//
// Memory that no captured work uses is set within the capture, and cleared before the launch.
// Behind that somebody else writes it: another graph, a copy, a kernel, also one that might have
// the address from memory; or the program reads it on the device, or as a part of more.
#include "unused.h"

enum { HOWS = 6 };

static void *source;
static CUfunction kernel;

static cudaGraphExec_t capture_upload(void *memory, cudaStream_t stream)
{
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    CHECK(cudaMemcpyAsync(memory, source, SMALL, cudaMemcpyHostToDevice, stream));
    return end_capture(stream, 1);
}

static void write_there(int how, void *memory, void *apart, const struct unused *unused)
{
    if (how == 0)
        replay(capture_upload(memory, unused->stream), unused->stream);
    else if (how == 1)
        CHECK(cudaMemcpyAsync(memory, source, SMALL, cudaMemcpyHostToDevice, unused->stream));
    else if (how == 2)
        launch_copy(kernel, (CUdeviceptr)memory, (CUdeviceptr)unused->input, unused->stream);
    else if (how == 3)
        launch_copy(kernel, (CUdeviceptr)apart, (CUdeviceptr)unused->input, unused->stream);
    CHECK(cudaStreamSynchronize(unused->stream));
}

static bool is_right(int how, char *memory, void *apart)
{
    if (how == 4)
        CHECK(cudaMemcpy(apart, memory, SMALL, cudaMemcpyDeviceToDevice));
    if (how == 5)
        return device_is(memory, 2 * SMALL, 0);
    return how < 3 ? device_holds(memory, SMALL, WANTED)
                   : device_is(how == 4 ? apart : memory, SMALL, 0);
}

int main(void)
{
    bool right = true;
    source = pinned_block(SMALL, WANTED);
    kernel = copying_kernel();
    for (int how = 0; how < HOWS; how++) {
        char *memory = device_block(2 * SMALL, FOREIGN);
        void *apart = device_block(SMALL, FOREIGN);
        struct unused unused = unused_begin();
        CHECK(cudaMemsetAsync(memory, 9, SMALL, 0));
        unused_end(&unused, 0);
        unused_clear(memory);
        CHECK(cudaMemcpy(memory + SMALL, memory, how == 5 ? SMALL : 1, cudaMemcpyDeviceToDevice));
        CHECK(cudaDeviceSynchronize());
        replay(unused.exec, unused.stream);
        write_there(how, memory, apart, &unused);
        right = is_right(how, memory, apart) && right;
    }
    return finish(!broken && right);
}
