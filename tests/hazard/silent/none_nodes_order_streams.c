// expect: none
// options: device=1
// needs: sim
// needs: preload
//
// Two streams are ordered by host nodes of graphs: one posts behind the first stream's copies, one
// waits for that before the second stream's. The copies are of the streams, or of the graphs, and
// the memory is the host's and the device's. Needs the simulated GPU for the reason that
// none_functions_order_streams does.
#include "graphs.h"
#include "semaphores.h"

static sem_t done;
static cudaStream_t first, second;
static void *image, *up, *device, *source, *host, *result;

static void copy_first(void)
{
    CHECK(cudaMemcpyAsync(host, image, SMALL, cudaMemcpyDeviceToHost, first));
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, first));
}

static void copy_second(void)
{
    CHECK(cudaMemcpyAsync(up, host, SMALL, cudaMemcpyHostToDevice, second));
    CHECK(cudaMemcpyAsync(result, device, SMALL, cudaMemcpyDeviceToHost, second));
}

static cudaGraphExec_t poster(bool copies)
{
    begin_capture(first);
    if (copies)
        copy_first();
    CHECK(cudaLaunchHostFunc(first, post, &done));
    return instantiate_only(end_capture(first));
}

static cudaGraphExec_t waiter(bool copies)
{
    begin_capture(second);
    CHECK(cudaLaunchHostFunc(second, wait_for_post, &done));
    if (copies)
        copy_second();
    return instantiate_only(end_capture(second));
}

/* `early`: the node has begun to wait. */
static bool take_turn(bool first_copies, bool second_copies, bool early)
{
    cudaGraphExec_t posts = poster(first_copies);
    cudaGraphExec_t waits = waiter(second_copies);
    if (early)
        CHECK(cudaGraphLaunch(waits, second));
    busy(first);
    if (!first_copies)
        copy_first();
    CHECK(cudaGraphLaunch(posts, first));
    if (!early)
        CHECK(cudaGraphLaunch(waits, second));
    if (!second_copies)
        copy_second();
    CHECK(cudaStreamSynchronize(second));
    bool right = device_holds(up, SMALL, WANTED) && holds(result, SMALL, WANTED);
    fill(host, SMALL, FOREIGN);
    CHECK(cudaMemset(device, 0, SMALL));
    CHECK(cudaDeviceSynchronize());
    return right;
}

int main(void)
{
    bool right = true;
    first = new_stream();
    second = new_stream();
    image = device_block(SMALL, WANTED);
    up = device_block(SMALL, 0);
    device = device_block(SMALL, FOREIGN);
    source = pinned_block(SMALL, WANTED);
    host = pinned_block(SMALL, FOREIGN);
    result = pinned_block(SMALL, 0);
    sem_init(&done, 0, 0);

    for (unsigned i = 0; i < 8; i++)
        right = take_turn(i & 1, i & 2, i & 4) && right;

    return finish(right);
}
