// expect: SC202 action=stalled kind=registered certainty=observed
//
// docs/wild-bugs.md, row 15: a receive hands its tensor on when the copy has been issued, and not
// when it is complete. The host kernel that consumes it, on a thread of its own, is late enough for
// hours.
#include "touch.h"

#include <pthread.h>

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    const unsigned char *ready;
    bool done, right;
} executor = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void *run_kernels(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&executor.lock);
    while (!executor.ready)
        pthread_cond_wait(&executor.changed, &executor.lock);
    const unsigned char *tensor = executor.ready;
    pthread_mutex_unlock(&executor.lock);

    bool right = holds(tensor, SMALL, WANTED);
    pthread_mutex_lock(&executor.lock);
    executor.right = right;
    executor.done = true;
    pthread_mutex_unlock(&executor.lock);
    return NULL;
}

/* On a thread of the driver, or of the caller who was too early. */
static void hand_on(void *tensor)
{
    pthread_mutex_lock(&executor.lock);
    executor.ready = (const unsigned char *)tensor;
    pthread_cond_signal(&executor.changed);
    pthread_mutex_unlock(&executor.lock);
}

int main(void)
{
    pthread_t thread;
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, WANTED);
    void *tensor = registered_page_block(SMALL, 0);
    if (pthread_create(&thread, NULL, run_kernels, NULL) != 0)
        return 3;

    busy(stream);
    CHECK(cudaMemcpyAsync(tensor, device, SMALL, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaLaunchHostFunc(stream, hand_on, tensor));
    else
        hand_on(tensor);
    pthread_join(thread, NULL);

    CHECK(cudaDeviceSynchronize());
    return finish(executor.done && executor.right);
}
