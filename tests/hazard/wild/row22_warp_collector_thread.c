// expect: SC303 action=rerouted certainty=observed
//
// docs/wild-bugs.md, row 22: the garbage collector comes by on whatever thread it likes, and gives
// the arrays that died back to the driver, also while another thread captures. Fixed, it leaves
// them alone until no capture is open.
#include "capture.h"

#include <stdatomic.h>

static void *dead_array;
static void *dead_staging;
static atomic_bool capturing;

static void *collect(void *unused)
{
    if (fixed && atomic_load(&capturing))
        return unused;
    if (dead_array && TRY(cudaFree(dead_array)))
        dead_array = NULL;
    if (dead_staging && TRY(cudaFreeHost(dead_staging)))
        dead_staging = NULL;
    return unused;
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = device_block(SMALL, WANTED);
    void *between = device_block(SMALL, 0);
    void *to = device_block(SMALL, 0);
    dead_array = device_block(SMALL, FOREIGN);
    dead_staging = pinned_block(SMALL, FOREIGN);

    atomic_store(&capturing, true);
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    capture_copy(between, from, stream);
    on_other_thread(collect, NULL);
    capture_copy(to, between, stream);
    cudaGraphExec_t exec = end_capture(stream, 2);
    atomic_store(&capturing, false);

    on_other_thread(collect, NULL);
    void *owner = device_block(SMALL, FOREIGN);
    replay(exec, stream);
    return finish(!broken && device_holds(to, SMALL, WANTED) &&
                  device_holds(owner, SMALL, FOREIGN));
}
