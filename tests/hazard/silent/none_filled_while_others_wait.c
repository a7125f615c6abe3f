// expect: none
// sim: late=0:delay=0
//
// A host function fills the source of the copy behind it, while other threads wait for the device
// all the time. Such a wait may begin when the function is about to be issued and end before it
// is: what it has waited for is nothing of this.
#include "twin.h"

#include <pthread.h>
#include <stdatomic.h>

enum { ROUNDS = 6000, WAITERS = 2, BYTES = 64 };

static atomic_bool over;
static unsigned char *source;
static unsigned round_now;

static void *wait_again_and_again(void *unused)
{
    while (!atomic_load(&over))
        CHECK(cudaDeviceSynchronize());
    return unused;
}

static void CUDART_CB fill_source(void *unused)
{
    (void)unused;
    fill(source, BYTES, round_now);
}

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaStream_t second = new_stream();
    cudaEvent_t filled = new_event();
    unsigned char *result = pinned_block(BYTES, FOREIGN);
    void *device = device_block(BYTES, 0);
    pthread_t waiters[WAITERS];
    bool right = true;

    source = pinned_block(BYTES, FOREIGN);
    for (int i = 0; i < WAITERS; i++)
        CHECK(pthread_create(&waiters[i], NULL, wait_again_and_again, NULL));
    for (round_now = 0; round_now < ROUNDS; round_now++) {
        cudaStream_t copying = round_now % 2 ? second : stream;
        CHECK(cudaLaunchHostFunc(stream, fill_source, NULL));
        if (copying != stream) {
            CHECK(cudaEventRecord(filled, stream));
            CHECK(cudaStreamWaitEvent(copying, filled, 0));
        }
        CHECK(cudaMemcpyAsync(device, source, BYTES, cudaMemcpyHostToDevice, copying));
        CHECK(cudaMemcpyAsync(result, device, BYTES, cudaMemcpyDeviceToHost, copying));
        CHECK(cudaStreamSynchronize(copying));
        right = right && holds(result, BYTES, round_now);
    }
    atomic_store(&over, true);
    for (int i = 0; i < WAITERS; i++)
        CHECK(pthread_join(waiters[i], NULL));
    return finish(right);
}
