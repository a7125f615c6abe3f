// expect: SC501 action=ordered origin=cuMemAlloc_v2 direction=H2D event=cuMemcpyDtoHAsync_v2
// options: device=1
//
// A batch uploads a box, whose rows are packed in device memory, and another stream reads its last
// row before that is done.
#include "batch3d.h"

int main(void)
{
    const struct box box = {1024, 8, 8, 1536};
    const size_t last = box.width * (box.height * box.depth - 1);
    cudaStream_t up = new_stream();
    cudaStream_t down = new_stream();
    cudaEvent_t uploaded = new_event();
    void *source = pinned_block(box_bytes(&box), FOREIGN);
    char *device = device_block(last + box.width, FOREIGN);
    void *target = pinned_block(box.width, 0);

    fill_box(source, &box, WANTED);
    busy(up);
    upload_box(device, source, &box, cudaMemcpySrcAccessOrderStream, up);
    CHECK(cudaEventRecord(uploaded, up));
    if (fixed)
        CHECK(cudaStreamWaitEvent(down, uploaded, 0));
    CHECK(cudaMemcpyAsync(target, device + last, box.width, cudaMemcpyDeviceToHost, down));

    CHECK(cudaDeviceSynchronize());
    return finish(holds(target, box.width, WANTED + 63)); /* the pattern of the last of 64 rows */
}
