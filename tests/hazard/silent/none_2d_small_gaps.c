// expect: none
//
// Small matrices and boxes are sent, and the program goes on writing what lies between their rows
// and slices. Then each is sent again, with other bytes.
#include "volumes.h"

static const struct volume narrow = {64, 128, 16, 16, 1}, wide = {100, 20000, 12, 12, 1},
                           dense = {3, 8, 2000, 2000, 1}, box = {40, 100, 7, 9, 5};

static bool send_twice(unsigned char *memory, const struct volume *volume)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(packed_bytes(volume), 0);
    void *other = device_block(packed_bytes(volume), 0);

    upload_volume(device, memory, volume, stream);
    fill_gaps(memory, volume, 0xee);
    CHECK(cudaStreamSynchronize(stream));
    fill_volume(memory, volume, FOREIGN);
    upload_volume(other, memory, volume, stream);
    fill_gaps(memory, volume, 0xcc);
    CHECK(cudaStreamSynchronize(stream));
    fill_volume(memory, volume, 0);
    return device_holds(device, packed_bytes(volume), WANTED) &&
           device_holds(other, packed_bytes(volume), FOREIGN);
}

int main(void)
{
    bool right = true;
    const struct volume *all[] = {&narrow, &wide, &dense, &box};
    for (unsigned i = 0; i < 4; i++) {
        right = send_twice(pinned_volume(all[i]), all[i]) && right;
        right = send_twice(heap_volume(all[i]), all[i]) && right;
    }
    return finish(right);
}
