// run: stall_limit=100ms -> hazard:code=SC202 hazard:action=stalled says=its_data_may_be_wrong
// run: stall_limit=100ms:strict=1 -> hazard:certainty=observed exit=66
// run: mode=report -> hazard:code=SC202 hazard:action=reported
/* A synchronous copy meets one that is held up until the program comes back from the call: it is
 * let go on in the end. */
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
