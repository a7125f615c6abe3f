// expect: none
// options: kernels=order
//
// Kernels with addresses of pinned memory, which the program uses as it may: it writes what no
// address stands for, and what it has waited for; it reads what a kernel writes; it has copies come
// behind the kernel; and it uses managed and pageable memory as it likes.
#include "graphs_driver.h"
#include "kernel.h"
#include "touch.h"

static CUfunction kernel;
static CUstream stream, other;
static CUdeviceptr result;
static char *buffer; /* of two halves, the second on pages of its own */

static void writes_elsewhere(void)
{
    driver_busy(stream);
    launch_copy(kernel, result, address_of(buffer), stream);
    fill(buffer + SMALL, SMALL, FOREIGN);
    poke(buffer, SMALL - 1);
    CHECK(cuStreamSynchronize(stream));
    fill(buffer, SMALL, WANTED);
}

static void waits_for_an_event(void)
{
    CUevent computed = driver_new_event();
    driver_busy(stream);
    launch_copy(kernel, result, address_of(buffer), stream);
    CHECK(cuEventRecord(computed, stream));
    CHECK(cuEventSynchronize(computed));
    fill(buffer, SMALL, WANTED);
    CHECK(cuEventDestroy(computed));
}

static void polls_the_stream(void)
{
    driver_busy(stream);
    launch_copy(kernel, result, address_of(buffer), stream);
    while (cuStreamQuery(stream) != CUDA_SUCCESS)
        usleep(1000);
    fill(buffer, SMALL, WANTED);
}

/* The host may look at any time, and finds the one or the other. */
static void reads_a_result(void)
{
    driver_busy(stream);
    launch_copy(kernel, address_of(buffer + SMALL), result, stream);
    for (int i = 0; i < 10; i++)
        (void)peek(buffer + SMALL, SMALL - 1);
    CHECK(cuStreamSynchronize(stream));
}

static void orders_copies(void)
{
    CUevent computed = driver_new_event();
    driver_busy(stream);
    launch_copy(kernel, result, address_of(buffer), stream);
    CHECK(cuMemcpyDtoHAsync(buffer, result, SMALL, stream));
    launch_copy(kernel, result, address_of(buffer), stream);
    CHECK(cuEventRecord(computed, stream));
    CHECK(cuStreamWaitEvent(other, computed, 0));
    CHECK(cuMemcpyDtoHAsync(buffer, result, SMALL, other));
    CHECK(cuMemcpyHtoDAsync(result, buffer, SMALL, other)); /* reads, as the kernel does */
    CHECK(cuCtxSynchronize());
}

static void launches_a_graph(void)
{
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    launch_copy(kernel, result, address_of(buffer), stream);
    CHECK(cuMemcpyDtoHAsync(buffer + SMALL, result, SMALL, stream));
    CHECK(cuStreamEndCapture(stream, &graph));
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    fill(buffer, SMALL, WANTED); /* nothing has been launched */
    for (int turn = 0; turn < 3; turn++) {
        CHECK(cuGraphLaunch(exec, turn == 1 ? other : stream));
        CHECK(cuGraphLaunch(exec, stream));
        CHECK(cuStreamSynchronize(stream));
        fill(buffer, SMALL, WANTED);
    }
    CHECK(cuGraphExecDestroy(exec));
    CHECK(cuGraphDestroy(graph));
}

static void uses_other_memory(void)
{
    CUdeviceptr managed = 0;
    void *pageable = filled_block(SMALL, WANTED);
    CHECK(cuMemAllocManaged(&managed, SMALL, CU_MEM_ATTACH_GLOBAL));
    fill((void *)managed, SMALL, WANTED);
    driver_busy(stream);
    launch_copy(kernel, result, managed, stream);
    poke((void *)managed, SMALL - 1);
    CHECK(cuCtxSynchronize());
    fill((void *)managed, SMALL, WANTED);
    free(pageable);
    CHECK(cuMemFree(managed));
}

int main(void)
{
    driver_start();
    kernel = copying_kernel();
    stream = driver_new_stream();
    other = driver_new_stream();
    result = driver_device_block(SMALL, WANTED);
    buffer = driver_pinned_block(2 * SMALL, WANTED);
    for (int turn = 0; turn < 2; turn++) {
        writes_elsewhere();
        waits_for_an_event();
        polls_the_stream();
        reads_a_result();
        orders_copies();
        launches_a_graph();
        uses_other_memory();
    }
    launch_copy(kernel, result, address_of(buffer), stream);
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemFreeHost(buffer));
    return finish(driver_device_holds(result, SMALL, WANTED));
}
