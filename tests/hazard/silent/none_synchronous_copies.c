// expect: none
//
// Synchronous copies of pinned memory: touched as soon as they return.
#include "touch.h"

int main(void)
{
    void *device = device_block(LARGE, 0);
    void *buffer = pinned_block(LARGE, WANTED);
    bool right = true;

    for (int i = 0; i < 4; i++) {
        fill(buffer, LARGE, WANTED + i);
        CHECK(cudaMemcpy(device, buffer, LARGE, cudaMemcpyHostToDevice));
        memset(buffer, 0, LARGE);
        CHECK(cudaMemcpy(buffer, device, LARGE, cudaMemcpyDeviceToHost));
        right = right && holds(buffer, LARGE, WANTED + i);
    }
    return finish(right);
}
