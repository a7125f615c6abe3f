/* What records cost, and the attributes. */
#include "records.h"

/* ---- Q10: what it costs ---- */

static CUgraphExec graph_10;

static double graph_launch_ns(void)
{
    return NS_EACH(20, cuGraphLaunch(graph_10, stream));
}

/* From issue to a synchronise that returns. */
static double round_trip_ns(void)
{
    uint64_t start = now_ns();

    cuMemcpyHtoDAsync(dev, pinned, 4 * KB, stream);
    cuStreamSynchronize(stream);
    return (double)(now_ns() - start);
}

/* 64 MB each way at once: do they still overlap? */
static double both_ways_ns(void)
{
    uint64_t start = now_ns();

    cuMemcpyHtoDAsync(dev, pinned, BIG / 2, stream);
    cuMemcpyDtoHAsync(pinned + BIG / 2, dev + BIG / 2, BIG / 2, stream2);
    cuStreamSynchronize(stream);
    cuStreamSynchronize(stream2);
    return (double)(now_ns() - start);
}

static void measure(const char *name)
{
    say("Q10 %s: copy %.0f ns,", name, best_of(40, copy_ns));
    say(" launch %.0f ns, graph of 10 copies %.2f us, copy and synchronise %.2f us,",
        best_of(40, launch_ns), best_of(20, graph_launch_ns) / 1e3,
        best_of(300, round_trip_ns) / 1e3);
    say(" both ways %.3f ms", best_of(5, both_ways_ns) / 1e6);
    if (cupti.flush)
        cupti.flush(0);
    end_line();
}

static void capture_10(void)
{
    CUgraph graph = NULL;

    TRY(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    for (int i = 0; i < 10; i++)
        TRY(cuMemcpyHtoDAsync(dev + (size_t)i * 4 * KB, pinned + (size_t)i * 4 * KB, 4 * KB,
                              stream));
    TRY(cuStreamEndCapture(stream, &graph));
    TRY(cuGraphInstantiate(&graph_10, graph, 0));
}

static void cost(int per_thread)
{
    uint8_t way = (uint8_t)per_thread;
    size_t size = sizeof way;

    if (set_up() != CUDA_SUCCESS)
        return;
    capture_10();
    if (per_thread == 1)
        measure("no libcupti");
    if (!load())
        return;
    us.buffer_bytes = MB;
    TRY_CUPTI(cupti.set(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, &size, &way));
    if (per_thread == 1)
        measure("loaded");
    TRY_CUPTI(cupti.reg(us_request, us_complete));
    if (per_thread == 1)
        measure("registered");
    TRY_CUPTI(cupti.enable(CUPTI_ACTIVITY_KIND_MEMCPY));
    measure("+ MEMCPY");
    TRY_CUPTI(cupti.enable(CUPTI_ACTIVITY_KIND_MEMSET));
    measure("+ MEMSET");
    listen_to_copies();
    measure("+ a subscriber with callbacks of copies");
    if (per_thread == 1) {
        TRY_CUPTI(cupti.enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
        measure("+ CONCURRENT_KERNEL");
        TRY_CUPTI(cupti.disable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    }
    TRY_CUPTI(cupti.disable(CUPTI_ACTIVITY_KIND_MEMSET));
    TRY_CUPTI(cupti.disable(CUPTI_ACTIVITY_KIND_MEMCPY));
    measure("all disabled, still subscribed");
    TRY_CUPTI(cupti.unsubscribe(subscriber));
    measure("unsubscribed");
    if (per_thread == 1) {
        TRY_CUPTI(cupti.finalize());
        measure("finalized");
    }
    say("Q10 buffers:");
    tell_client(&us);
    end_line();
}

void q10(void)
{
    cost(1);
}

void q10_shared(void)
{
    say("Q10 one buffer for all threads");
    end_line();
    cost(0);
}

/* ---- Q11: attributes ---- */

void q11(void)
{
    say("Q11 attributes:");
    if (!load())
        return;
    for (int i = 0; i <= 10; i++) {
        uint64_t value = 0;
        size_t size = sizeof value;
        CUptiResult rc = cupti.get((CUpti_ActivityAttribute)i, &size, &value);
        if (rc == CUPTI_SUCCESS)
            say(" %d: %lu (%zu B)", i, (unsigned long)value, size);
        else
            say(" %d: CUPTI %d", i, (int)rc);
    }
    end_line();
}
