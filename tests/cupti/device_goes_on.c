// run: device=1 HOW=down -> hazards=0
// run: device=1 HOW=up -> hazards=0
// run: device=1 HOW=pageable -> hazards=0
// run: device=1 HOW=async -> hazards=0
// run: device=1 HOW=memset -> hazards=0
// run: strict=1 HOW=down -> hazards=0 exit=0
// run: mode=report HOW=down -> hazards=0
// run: stall_limit=100ms:device=1 HOW=polled -> hazards=0
// run: stall_limit=100ms:device=1 HOW=polled-memset -> hazards=0
// run: mode=report HOW=polled -> hazards=0
// run: HOW=slept -> hazards=0
// run: strict=1:device=0 HOW=slept -> hazards=0 exit=0
// run: device=1 HOW=slept -> hazard:code=SC501 hazard:action=ordered
// run: strict=1 HOW=slept -> hazard:code=SC501 hazard:action=ordered exit=66
// run: mode=report HOW=slept -> hazard:code=SC501 hazard:action=reported
/* A stream is held up until the program has waited for another one, which uses the same device
 * memory. The wait ends all the same: at once where the host function is found to wait for the
 * program, which so has ordered the two, and after stall_limit where it polls. A function that
 * merely takes its time (slept), as its code shows, orders nothing. Device memory is watched under
 * strict=1 and in mode=report. */
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

static void take_time(void *unused)
{
    (void)unused;
    sem_post(&reached);
    usleep(500000);
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
    cudaHostFn_t holds_up = strcmp(how, "slept") == 0 ? take_time : wait_at_gate;
    CUDA(cudaLaunchHostFunc(stream, polled ? poll_gate : holds_up, NULL));
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
