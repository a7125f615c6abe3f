// expect: SC303 action=rerouted certainty=observed
//
// docs/wild-bugs.md, row 22: the garbage collector comes by on whatever thread it likes, and gives
// the arrays that died back to the driver, also while another thread captures. Fixed, it leaves
// them alone until no capture is open.
#include "capture.h"

static void *dead_array;
static void *dead_staging;
static bool capturing;

static void *collect(void *unused)
{
    if (fixed && __atomic_load_n(&capturing, __ATOMIC_ACQUIRE))
        return unused;
    if (dead_array != NULL && TRY(cudaFree(dead_array)))
        dead_array = NULL;
    if (dead_staging != NULL && TRY(cudaFreeHost(dead_staging)))
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

    __atomic_store_n(&capturing, true, __ATOMIC_RELEASE);
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    capture_copy(between, from, stream);
    on_other_thread(collect, NULL);
    capture_copy(to, between, stream);
    cudaGraphExec_t exec = end_capture(stream, 2);
    __atomic_store_n(&capturing, false, __ATOMIC_RELEASE);

    on_other_thread(collect, NULL);
    void *owner = device_block(SMALL, FOREIGN);
    replay(exec, stream);
    return finish(!broken && device_holds(to, SMALL, WANTED) &&
                  device_holds(owner, SMALL, FOREIGN));
}
