// expect: SC202 action=stalled kind=pinned certainty=observed
//
// The host spins on the destination's last word, as if the words arrived in order. A kernel keeps
// the stream busy: of a host function that does, mode=report could not tell whether it waits for
// what the host does.
#include "touch.h"
#include "twin_driver.h"

#include "tests/spinning_kernel.h"

static void spin(CUstream stream)
{
    uint64_t duration_ns = (uint64_t)BUSY_US * 1000;
    void *parameters[] = {&duration_ns};
    CUmodule module = NULL;
    CUfunction kernel = NULL;
    CHECK(cuModuleLoadData(&module, spinning_kernel_text));
    CHECK(cuModuleGetFunction(&kernel, module, "spin"));
    CHECK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
}

int main(void)
{
    const size_t last = SMALL / 8 - 1;
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, WANTED);
    uint64_t *target = (uint64_t *)pinned_block(SMALL, 0);
    target[last] = 0;

    spin((CUstream)stream);
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    while (((volatile uint64_t *)target)[last] == 0)
        usleep(100);
    bool right = holds(target, SMALL, WANTED);

    CHECK(cudaDeviceSynchronize());
    return finish(right);
}
