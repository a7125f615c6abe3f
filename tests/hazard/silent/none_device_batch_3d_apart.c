// expect: none
// options: device=1
//
// Streams that nothing orders copy boxes into one volume and out of it by batches. The boxes have
// no byte in common: other columns of the same rows, other rows of the same layers, other layers.
#include "boxes.h"

static struct cudaMemcpy3DOperand volume_at(void *volume, struct cudaPos pos)
{
    struct cudaMemcpy3DOperand operand;
    memset(&operand, 0, sizeof operand);
    operand.type = cudaMemcpyOperandTypePointer;
    operand.op.ptr.ptr = (char *)volume + (pos.z * ROWS + pos.y) * PITCH + pos.x;
    operand.op.ptr.rowLength = PITCH;
    operand.op.ptr.layerHeight = ROWS;
    operand.op.ptr.locHint.type = cudaMemLocationTypeDevice;
    return operand;
}

static void batch_box(void *to, void *from, struct cudaPos pos, struct cudaExtent extent,
                      cudaStream_t stream)
{
    struct cudaMemcpy3DBatchOp copy;
    memset(&copy, 0, sizeof copy);
    copy.dst = volume_at(to, pos);
    copy.src = volume_at(from, pos);
    copy.extent = extent;
    copy.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    CHECK(cudaMemcpy3DBatchAsync(1, &copy, 0, stream));
}

int main(void)
{
    void *from = device_block(VOLUME, WANTED);
    void *volume = device_block(VOLUME, FOREIGN);
    void *result = device_block(VOLUME, 0);
    const struct cudaExtent extent = {PITCH / 2, ROWS / 2, LAYERS / 2};

    for (size_t i = 0; i < 8; i++) {
        const struct cudaPos pos = {(i & 1) * extent.width, (i >> 1 & 1) * extent.height,
                                    (i >> 2) * extent.depth};
        cudaStream_t stream = new_stream();
        busy(stream);
        batch_box(volume, from, pos, extent, stream);
        batch_box(result, volume, pos, extent, stream);
    }
    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(result, VOLUME, WANTED));
}
