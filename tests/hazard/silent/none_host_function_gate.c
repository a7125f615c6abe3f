// expect: none
// options: stall_limit=60s
//
// A host function holds its stream until the program has filled the source of the copy behind it.
#include "twin.h"

#include <pthread.h>
#include <semaphore.h>

static sem_t open_now;

static void gate(void *unused)
{
    (void)unused;
    sem_wait(&open_now);
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(LARGE, 0);
    void *result = pinned_block(LARGE, 0);
    unsigned char *source = pinned_block(LARGE, FOREIGN);
    bool right = true;
    sem_init(&open_now, 0, 0);

    for (unsigned i = 0; i < 3; i++) {
        if (i == 0)
            busy(stream);
        CHECK(cudaLaunchHostFunc(stream, gate, NULL));
        CHECK(cudaMemcpyAsync(device, source, LARGE, cudaMemcpyHostToDevice, stream));
        CHECK(cudaMemcpyAsync(result, device, LARGE, cudaMemcpyDeviceToHost, stream));
        fill(source, LARGE, WANTED + i);
        fill(result, LARGE, FOREIGN);
        sem_post(&open_now);
        CHECK(cudaStreamSynchronize(stream));
        right = right && holds(result, LARGE, WANTED + i);
    }

    return finish(right);
}
