// expect: none
// options: device=1
//
// Values order graphs, streams and the program: a graph writes one behind its copies, in a child as
// well, another graph waits for one before its own, and is launched before the one that it comes
// after. Two branches of one graph are put in order by a value, too.
#include "twin_driver.h"

enum { PARTS = 5 };

static CUstream first, second, third;
static CUdeviceptr device, copies, word;
static void *source;

static CUgraph end_capture(CUstream stream)
{
    CUgraph graph = NULL;
    CHECK(cuStreamEndCapture(stream, &graph));
    return graph;
}

static CUgraphExec made(CUgraph graph)
{
    CUgraphExec exec = NULL;
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    return exec;
}

/* In a child graph, with what it writes in it. */
static CUgraph in_child(CUgraph graph)
{
    CUgraph outer = NULL;
    CUgraphNode node = NULL;
    CHECK(cuGraphCreate(&outer, 0));
    CHECK(cuGraphAddChildGraphNode(&node, outer, NULL, 0, graph));
    return outer;
}

static CUgraph fills(uint32_t value)
{
    CHECK(cuStreamBeginCapture(first, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CHECK(cuMemcpyHtoDAsync(device, source, SMALL, first));
    CHECK(cuStreamWriteValue32(first, word, value, 0));
    return end_capture(first);
}

static CUgraph reads(uint32_t value, int part)
{
    CHECK(cuStreamBeginCapture(second, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CHECK(cuStreamWaitValue32(second, word, value, CU_STREAM_WAIT_VALUE_GEQ));
    CHECK(cuMemcpyDtoDAsync(copies + part * SMALL, device, SMALL, second));
    return end_capture(second);
}

static CUgraph two_branches(uint32_t value, int part, bool by_memset)
{
    CUevent forked = driver_new_event(), joined = driver_new_event();
    CHECK(cuStreamBeginCapture(first, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CHECK(cuEventRecord(forked, first));
    CHECK(cuStreamWaitEvent(second, forked, 0));
    CHECK(cuMemcpyHtoDAsync(device, source, SMALL, first));
    if (by_memset)
        CHECK(cuMemsetD32Async(word, value, 1, first));
    else
        CHECK(cuStreamWriteValue32(first, word, value, 0));
    CHECK(cuStreamWaitValue32(second, word, value, CU_STREAM_WAIT_VALUE_GEQ));
    CHECK(cuMemcpyDtoDAsync(copies + part * SMALL, device, SMALL, second));
    CHECK(cuEventRecord(joined, second));
    CHECK(cuStreamWaitEvent(first, joined, 0));
    return end_capture(first);
}

static void end_part(int part, bool *right)
{
    CHECK(cuCtxSynchronize());
    *right = *right && driver_device_holds(copies + part * SMALL, SMALL, WANTED);
    CHECK(cuMemsetD8(device, 0, SMALL));
    CHECK(cuCtxSynchronize());
}

int main(void)
{
    driver_start();
    bool right = true;
    first = driver_new_stream();
    second = driver_new_stream();
    third = driver_new_stream();
    device = driver_device_block(SMALL, 0);
    copies = driver_device_block(PARTS * SMALL, 0);
    source = driver_pinned_block(SMALL, WANTED);
    volatile uint32_t *shown = (volatile uint32_t *)driver_pinned_block(4096, 0);
    word = (CUdeviceptr)(uintptr_t)shown;
    *shown = 0;

    driver_busy(first);
    CHECK(cuGraphLaunch(made(fills(1)), first));
    CHECK(cuGraphLaunch(made(in_child(reads(1, 0))), second));
    end_part(0, &right);

    CHECK(cuGraphLaunch(made(in_child(reads(2, 1))), second));
    driver_busy(first);
    CHECK(cuGraphLaunch(made(in_child(fills(2))), first));
    end_part(1, &right);

    driver_busy(first);
    CHECK(cuGraphLaunch(made(fills(3)), first));
    while (*shown != 3)
        usleep(500);
    CHECK(cuMemcpyDtoDAsync(copies + 2 * SMALL, device, SMALL, third));
    end_part(2, &right);

    for (int part = 3; part < PARTS; part++) {
        CHECK(cuGraphLaunch(made(two_branches((uint32_t)part + 1, part, part == 4)), first));
        end_part(part, &right);
    }
    return finish(right);
}
