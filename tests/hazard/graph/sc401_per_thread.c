// expect: SC401 action=held certainty=observed
// cflags: -DCUDA_API_PER_THREAD_DEFAULT_STREAM
//
// A worker replays on its own default stream what the main thread has captured and freed.
#include "graphs.h"

#include <pthread.h>

static void *launch(void *exec)
{
    replay((cudaGraphExec_t)exec, 0);
    return NULL;
}

static void launch_elsewhere(cudaGraphExec_t exec)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, launch, exec));
    CHECK(pthread_join(thread, NULL));
}

int main(void)
{
    void *device = device_block(SMALL, 0);
    void *source = filled_block(SMALL, WANTED);
    cudaGraphExec_t exec =
        captured_exec(device, source, SMALL, cudaMemcpyHostToDevice, new_stream());

    if (fixed)
        launch_elsewhere(exec);
    free(source);
    void *owner = filled_block(SMALL, FOREIGN);
    if (!fixed)
        launch_elsewhere(exec);

    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
