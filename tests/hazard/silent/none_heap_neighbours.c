// expect: none
//
// A registered block in the middle of the heap. Its neighbours are in use, are freed and are
// allocated anew while it is in flight.
#include "touch.h"

enum { NEIGHBOURS = 64, BYTES = 500 };

int main(void)
{
    struct gate gate = {0};
    void *neighbours[NEIGHBOURS];
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    for (int i = 0; i < NEIGHBOURS / 2; i++)
        neighbours[i] = filled_block(BYTES, FOREIGN);
    void *source = filled_block(SMALL, WANTED);
    for (int i = NEIGHBOURS / 2; i < NEIGHBOURS; i++)
        neighbours[i] = filled_block(BYTES, FOREIGN);
    CHECK(cudaHostRegister(source, SMALL, cudaHostRegisterDefault));

    shut_gate(&gate, stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    for (int round = 0; round < 8; round++) {
        for (int i = round % 2; i < NEIGHBOURS; i += 2) {
            free(neighbours[i]);
            neighbours[i] = filled_block(BYTES, WANTED + round);
        }
    }
    open_gate(&gate);

    CHECK(cudaStreamSynchronize(stream));
    bool right = !gate.gave_up && holds(neighbours[NEIGHBOURS - 1], BYTES, WANTED + 7);
    return finish(right && device_holds(device, SMALL, WANTED));
}
