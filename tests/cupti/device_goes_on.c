// run: stall_limit=100ms:device=1 HOW=down -> hazard:action=stalled says=its_data_may_be_wrong
// run: stall_limit=100ms:device=1 HOW=up -> hazard:action=stalled says=its_data_may_be_wrong
// run: stall_limit=100ms:device=1 HOW=pageable -> hazard:action=stalled says=data_may_be_wrong
// run: stall_limit=100ms:strict=1 HOW=down -> hazard:certainty=observed exit=66
// run: HOW=down -> hazards=0
// run: strict=1:device=0 HOW=down -> hazards=0
// run: mode=report HOW=down -> hazard:code=SC501 hazard:action=reported
// run: device=1 HOW=async -> hazard:code=SC501 hazard:action=reported hazards=1
// run: stall_limit=100ms:device=1 HOW=polled -> hazard:action=ordered says=data_may_be_wrong
// run: stall_limit=100ms:device=1 HOW=polled-memset -> hazard:action=ordered says=may_be_wrong
// run: device=1 HOW=memset -> hazard:code=SC501 hazard:action=reported hazards=1
/* A stream is held up until the program has waited for another one, which uses the same device
 * memory in no order. The wait ends all the same: what blocks the host goes on after stall_limit,
 * what does not is not put behind a function that is known to wait for the program, and an edge
 * behind another function ends after stall_limit. */
#include "profiler.h"

#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

static sem_t gate, reached;

static void wait_at_gate(void *unused)
{
    (void)unused;
    sem_post(&reached);
    while (sem_wait(&gate) != 0)
        continue;
}

static atomic_bool is_open;

static void poll_gate(void *unused)
{
    (void)unused;
    sem_post(&reached);
    while (!atomic_load(&is_open))
        sched_yield();
}

static void await(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0)
        continue;
    usleep(20000); /* the function is about to wait, too */
}

int main(void)
{
    const char *how = getenv("HOW");
    cudaStream_t other;
    void *target;
    set_up();
    sem_init(&gate, 0, 0);
    sem_init(&reached, 0, 0);
    CUDA(cudaMallocHost(&target, BYTES));
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    bool polled = strncmp(how, "polled", 6) == 0;
    CUDA(cudaLaunchHostFunc(stream, polled ? poll_gate : wait_at_gate, NULL));
    CUDA(cudaMemcpyAsync(device, pinned, BYTES, cudaMemcpyHostToDevice, stream));
    await(&reached);
    if (strcmp(how, "down") == 0)
        CUDA(cudaMemcpy(target, device, BYTES, cudaMemcpyDeviceToHost));
    else if (strcmp(how, "up") == 0)
        CUDA(cudaMemcpy(device, target, BYTES, cudaMemcpyHostToDevice));
    else if (strcmp(how, "pageable") == 0)
        CUDA(cudaMemcpyAsync(malloc(BYTES), device, BYTES, cudaMemcpyDeviceToHost, other));
    else if (strcmp(how, "memset") == 0 || strcmp(how, "polled-memset") == 0)
        CUDA(cudaMemset(device, 0, BYTES));
    else
        CUDA(cudaMemcpyAsync(target, device, BYTES, cudaMemcpyDeviceToHost, other));
    CUDA(cudaStreamSynchronize(other));
    CUDA(cudaStreamSynchronize(cudaStreamLegacy));
    sem_post(&gate);
    atomic_store(&is_open, true);
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaFreeHost(target));
    CUDA(cudaFreeHost(pinned));
    return 0;
}
