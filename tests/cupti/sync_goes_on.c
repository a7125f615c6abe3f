// run: stall_limit=10s -> hazards=0
// run: stall_limit=10s:strict=1 -> hazards=0 exit=0
// run: mode=report -> hazards=0
/* A synchronous copy meets one that is held up until the program comes back from the call. It goes
 * on as soon as the host function is found to wait, and nothing is reported: the program has
 * ordered the two. */
#include "profiler.h"

#include <semaphore.h>

static sem_t gate;

static void wait_at_gate(void *unused)
{
    (void)unused;
    while (sem_wait(&gate) != 0)
        continue;
}

int main(void)
{
    set_up();
    sem_init(&gate, 0, 0);
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA(cudaLaunchHostFunc(stream, wait_at_gate, NULL));
    CUDA(cudaMemcpyAsync(pinned, device, BYTES, cudaMemcpyDeviceToHost, stream));
    CUDA(cudaMemcpy(device, pinned, BYTES, cudaMemcpyHostToDevice));
    sem_post(&gate);
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaFreeHost(pinned));
    return 0;
}
