// expect: none
// options: device=1
//
// A host node of a graph waits for the program, which lets it go when another stream is done with
// the memory that a node behind it clears. The other stream's work was issued before the launch,
// and behind it.
#include "graphs.h"
#include "semaphores.h"

static sem_t gate;
static cudaStream_t work, other;
static void *memory, *result;

static bool launch_gated(cudaGraphExec_t exec, bool launches_first)
{
    CHECK(cudaMemset(memory, 7, SMALL));
    CHECK(cudaDeviceSynchronize());
    if (launches_first)
        CHECK(cudaGraphLaunch(exec, work));
    CHECK(cudaMemcpyAsync(result, memory, SMALL, cudaMemcpyDeviceToDevice, other));
    if (!launches_first)
        CHECK(cudaGraphLaunch(exec, work));
    CHECK(cudaStreamSynchronize(other));
    post(&gate);
    CHECK(cudaStreamSynchronize(work));
    unsigned char *image = (unsigned char *)image_of(SMALL);
    CHECK(cudaMemcpy(image, result, SMALL, cudaMemcpyDeviceToHost));
    return image[0] == 7 && image[SMALL - 1] == 7;
}

int main(void)
{
    bool right = true;
    sem_init(&gate, 0, 0);
    work = new_stream();
    other = new_stream();
    memory = device_block(SMALL, FOREIGN);
    result = device_block(SMALL, FOREIGN);
    begin_capture(work);
    CHECK(cudaLaunchHostFunc(work, wait_for_post, &gate));
    CHECK(cudaMemsetAsync(memory, 0, SMALL, work));
    cudaGraphExec_t exec = instantiate_only(end_capture(work));
    for (int turn = 0; turn < 4; turn++)
        right &= launch_gated(exec, turn & 1);
    return finish(right);
}
