// expect: none
//
// Large matrices and boxes are in flight, out of pinned and of heap memory, and the program works
// in what lies between their rows and slices: page by page, and so that pages are let go.
#include "volumes.h"

static const struct volume image = {2048, 4096, 256, 256, 1}, matrix = {300, 1000, 500, 500, 1},
                           box = {700, 1000, 20, 24, 20};

static bool send(unsigned char *memory, const struct volume *volume)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(packed_bytes(volume), 0);
    upload_volume(device, memory, volume, stream);
    fill_gaps(memory, volume, 0xee);
    CHECK(cudaStreamSynchronize(stream));
    return device_holds(device, packed_bytes(volume), WANTED);
}

int main(void)
{
    bool right = true;
    const struct volume *all[] = {&image, &matrix, &box};
    for (unsigned i = 0; i < 3; i++) {
        right = send(pinned_volume(all[i]), all[i]) && right;
        right = send(heap_volume(all[i]), all[i]) && right;
    }
    return finish(right);
}
