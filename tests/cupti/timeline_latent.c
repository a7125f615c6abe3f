// run: timeline=1 -> timeline.matched=1 latent=1 timing:remaining_ns<0
// sim: late=0:delay=1us
/* Memory freed long after the copy ended, which nothing established. */
#include "timeline.h"

int main(void)
{
    set_up();
    void *source = registered(BLOCK);
    CUDA(cudaFree(device));
    CUDA(cudaMalloc(&device, BLOCK));
    held_until_ns = now_ns();
    CUDA(cudaMemcpyAsync(device, source, BLOCK, cudaMemcpyHostToDevice, stream));
    sleep_patiently(300000);
    passed_ns = now_ns();
    free(source);
    struct timing timing = wait_for_timing(1);
    check_between(&timing);
    CHECK(timing.remaining_ns < 0);
    CUDA(cudaDeviceSynchronize());
    return 0;
}
