// expect: none
//
// A segment is detached whose neighbours are in flight, on either side: the call neither waits nor
// touches them.
#include "segment.h"

#include "touch.h"

int main(void)
{
    struct gate gate = {false, false};
    cudaStream_t stream = new_stream();
    void *device = device_block(2 * SMALL, 0);
    int segment = new_segment(SMALL - 100); /* the kernel takes whole pages */
    char *room = (char *)mapped_pages(NULL, 3 * SMALL, WANTED);
    char *last = room + 2 * SMALL;
    void *middle = attached(segment, room + SMALL);
    forget_segment(segment);
    CHECK(cudaHostRegister(room, SMALL, cudaHostRegisterDefault));
    CHECK(cudaHostRegister(last, SMALL, cudaHostRegisterDefault));

    shut_gate(&gate, stream);
    CHECK(cudaMemcpyAsync(device, room, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync((char *)device + SMALL, last, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(shmdt(middle));
    open_gate(&gate);
    CHECK(cudaStreamSynchronize(stream));

    fill(image_of(2 * SMALL), 2 * SMALL, 0);
    CHECK(cudaMemcpy(image_of(2 * SMALL), device, 2 * SMALL, cudaMemcpyDeviceToHost));
    const char *image = (const char *)image_of(2 * SMALL);
    bool right = memcmp(image, room, SMALL) == 0 && memcmp(image + SMALL, last, SMALL) == 0;
    return finish(right && !gate.gave_up);
}
