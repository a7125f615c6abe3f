// expect: none
// reported: wrong
// summary: driver_late=1
//
// A matrix in pageable memory. Its left half gets results, for which whole pages are guarded. Its
// right half is the source of a batch that promises to read during the call, and is refilled when
// that has returned.
#include "batch3d.h"

enum { HALF = 512, ROWS = 512 };
static const struct box half = {HALF, ROWS, 1, 2 * HALF};

static inline void download_half(void *memory, void *device, cudaStream_t stream)
{
    struct cudaMemcpy3DBatchOp copy;
    memset(&copy, 0, sizeof copy);
    copy.src.type = copy.dst.type = cudaMemcpyOperandTypePointer;
    copy.src.op.ptr.ptr = device;
    copy.dst.op.ptr.ptr = memory;
    copy.dst.op.ptr.rowLength = half.row_bytes;
    copy.dst.op.ptr.layerHeight = ROWS;
    copy.extent = (struct cudaExtent){HALF, ROWS, 1};
    copy.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    CHECK(cudaMemcpy3DBatchAsync(1, &copy, 0, stream));
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *results = device_block(HALF * ROWS, WANTED);
    void *inputs = device_block(HALF * ROWS, 0);
    char *matrix = filled_block(box_bytes(&half), 0);
    fill_box(matrix + HALF, &half, WANTED);

    busy(stream);
    download_half(matrix, results, stream);
    upload_box(inputs, matrix + HALF, &half, cudaMemcpySrcAccessOrderDuringApiCall, stream);
    fill_box(matrix + HALF, &half, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds_box(inputs, &half, WANTED) &&
                  box_holds(matrix + HALF, &half, FOREIGN));
}
