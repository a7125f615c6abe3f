// expect: none
// needs: sim
// options: stall_limit=60s
//
// Synchronous copies of the corners of a volume beside the one that is in flight, in each
// direction; and asynchronous ones on another stream.
// On an H200 one of the calls waits for the gate, also without the library; which one is not known.
#include "touch.h"

enum { PITCH = 512, WIDTH = 200, HEIGHT = 16, ROWS = 24, DEPTH = 8 };

static struct cudaMemcpy3DParms beside(void *to, void *from, size_t x, size_t y,
                                       enum cudaMemcpyKind kind)
{
    struct cudaMemcpy3DParms box = {
        .srcPtr = {from, PITCH, PITCH, ROWS},
        .dstPtr = {to, PITCH, PITCH, ROWS},
        .srcPos = {x, y, 0},
        .dstPos = {x, y, 0},
        .extent = {x ? PITCH - WIDTH : WIDTH, y ? ROWS - HEIGHT : HEIGHT, DEPTH},
        .kind = kind,
    };
    return box;
}

static void copy_in_stream(void *to, void *from, size_t x, size_t y, enum cudaMemcpyKind kind,
                           cudaStream_t stream)
{
    struct cudaMemcpy3DParms box = beside(to, from, x, y, kind);
    CHECK(cudaMemcpy3DAsync(&box, stream));
}

static void copy_at_once(void *to, void *from, size_t x, size_t y, enum cudaMemcpyKind kind)
{
    struct cudaMemcpy3DParms box = beside(to, from, x, y, kind);
    CHECK(cudaMemcpy3D(&box));
}

int main(void)
{
    const size_t bytes = (size_t)PITCH * ROWS * DEPTH;
    struct gate gate = {false, false};
    cudaStream_t stream = new_stream();
    cudaStream_t other = new_stream();
    void *to = device_block(bytes, 0);
    void *from = device_block(bytes, WANTED);
    void *source = pinned_block(bytes, WANTED);
    void *target = pinned_block(bytes, 0);

    shut_gate(&gate, stream);
    copy_in_stream(to, source, 0, 0, cudaMemcpyHostToDevice, stream);
    copy_in_stream(target, from, 0, 0, cudaMemcpyDeviceToHost, stream);
    copy_at_once(source, from, WIDTH, 0, cudaMemcpyDeviceToHost);
    copy_at_once(to, source, WIDTH, 0, cudaMemcpyHostToDevice);
    copy_at_once(target, from, 0, HEIGHT, cudaMemcpyDeviceToHost);
    copy_in_stream(to, source, 0, HEIGHT, cudaMemcpyHostToDevice, other);
    copy_in_stream(target, from, WIDTH, 0, cudaMemcpyDeviceToHost, other);
    CHECK(cudaStreamSynchronize(other));
    copy_at_once(target, from, WIDTH, HEIGHT, cudaMemcpyDeviceToHost);
    copy_at_once(to, target, WIDTH, HEIGHT, cudaMemcpyHostToDevice);
    open_gate(&gate);

    CHECK(cudaDeviceSynchronize());
    return finish(!gate.gave_up && holds(target, bytes, WANTED) && device_holds(to, bytes, WANTED));
}
