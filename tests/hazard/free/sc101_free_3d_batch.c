// expect: SC101 action=deferred kind=registered certainty=observed
//
// cudaMemcpy3DBatchAsync: two operations, given as structures; the second one's source is freed.
#include "twin.h"

enum { WIDTH = 512, HEIGHT = 8, DEPTH = 16, OPERATIONS = 2 };

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

int main(void)
{
    cudaStream_t stream = new_stream();
    void *one = device_block(SMALL, 0);
    void *two = device_block(SMALL, 0);
    void *kept = registered_block(SMALL, WANTED);
    void *source = registered_block(SMALL, WANTED);
    struct cudaMemcpy3DBatchOp copies[OPERATIONS] = {operation(one, kept), operation(two, source)};

    busy(stream);
    CHECK(cudaMemcpy3DBatchAsync(OPERATIONS, copies, 0, stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(source));
    }
    free(source);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    bool right = device_holds(one, SMALL, WANTED) && device_holds(two, SMALL, WANTED);
    return finish(right && holds(owner, SMALL, FOREIGN));
}
