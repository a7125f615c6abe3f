// expect: SC304 action=rerouted certainty=observed event=cuMemcpy3DBatchAsync_v2
//
// cudaMemcpy3DBatchAsync on a stream that captures: two boxes go up. Fixed, each by a call of its
// own.
#include "capture.h"

enum { WIDTH = 512, HEIGHT = 8, DEPTH = 16, COPIES = 2 }; /* 64 KB */

static struct cudaMemcpy3DBatchOp operation(void *target, void *source)
{
    struct cudaMemcpy3DBatchOp copy;
    memset(&copy, 0, sizeof copy);
    copy.src.type = cudaMemcpyOperandTypePointer;
    copy.src.op.ptr.ptr = source;
    copy.src.op.ptr.locHint.type = cudaMemLocationTypeHost;
    copy.dst.type = cudaMemcpyOperandTypePointer;
    copy.dst.op.ptr.ptr = target;
    copy.dst.op.ptr.locHint.type = cudaMemLocationTypeDevice;
    copy.extent.width = WIDTH;
    copy.extent.height = HEIGHT;
    copy.extent.depth = DEPTH;
    copy.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    return copy;
}

static void upload_box(void *target, void *source, cudaStream_t stream)
{
    struct cudaMemcpy3DParms box = {
        .srcPtr = {source, WIDTH, WIDTH, HEIGHT},
        .dstPtr = {target, WIDTH, WIDTH, HEIGHT},
        .extent = {WIDTH, HEIGHT, DEPTH},
        .kind = cudaMemcpyHostToDevice,
    };
    TRY(cudaMemcpy3DAsync(&box, stream));
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *one = device_block(SMALL, 0);
    void *two = device_block(SMALL, 0);
    void *first = pinned_block(SMALL, WANTED);
    void *second = pinned_block(SMALL, FOREIGN);
    struct cudaMemcpy3DBatchOp copies[COPIES] = {operation(one, first), operation(two, second)};

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    if (fixed) {
        upload_box(one, first, stream);
        upload_box(two, second, stream);
    } else {
        TRY(cudaMemcpy3DBatchAsync(COPIES, copies, 0, stream));
    }
    replay(end_capture(stream, COPIES), stream);
    return finish(!broken && device_holds(one, SMALL, WANTED) && device_holds(two, SMALL, FOREIGN));
}
