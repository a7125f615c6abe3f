// expect: none
// reported: wrong
// summary: driver_late=1
// sim: late_batch=1
//
// Boxes of which the program writes nothing but what lies between their rows, and boxes with order
// DURING_API_CALL, small and large, which are the program's again when the call returns.
#include "batch3d.h"

int main(void)
{
    const struct box box = {100, 6, 3, 160};
    const struct box large = {3000, 40, 8, 4096};
    cudaStream_t stream = new_stream();
    void *devices[] = {device_block(SMALL, 0), device_block(SMALL, 0), device_block(LARGE, 0)};
    unsigned char *kept = (unsigned char *)filled_block(box_bytes(&box), 0);
    unsigned char *reused = (unsigned char *)filled_block(box_bytes(&box), 0);
    unsigned char *freed = (unsigned char *)filled_block(box_bytes(&large), 0);
    fill_box(kept, &box, WANTED);
    fill_box(reused, &box, WANTED);
    fill_box(freed, &large, WANTED);

    upload_box(devices[0], kept, &box, cudaMemcpySrcAccessOrderStream, stream);
    upload_box(devices[1], reused, &box, cudaMemcpySrcAccessOrderDuringApiCall, stream);
    upload_box(devices[2], freed, &large, cudaMemcpySrcAccessOrderDuringApiCall, stream);
    memset(kept + box.width, 0xee, box.row_bytes - box.width);
    fill_box(reused, &box, FOREIGN);
    free(freed);
    void *owner = filled_block(box_bytes(&large), FOREIGN);

    CHECK(cudaStreamSynchronize(stream));
    free(kept);
    return finish(
        device_holds_box(devices[0], &box, WANTED) && device_holds_box(devices[1], &box, WANTED) &&
        device_holds_box(devices[2], &large, WANTED) && holds(owner, box_bytes(&large), FOREIGN));
}
