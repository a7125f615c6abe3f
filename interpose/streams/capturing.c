#include "interpose/streams/capturing.h"

#include <sched.h>
#include <stddef.h>

#include "common/checks.h"
#include "common/now.h"
#include "interpose/base/compiler.h"
#include "interpose/base/process.h"

#include "common/poison.h"

_Atomic bool sc_capturing_was_seen;
static _Atomic uint64_t capture_version = 1;

enum { WAIT_NS = 100 * 1000 * 1000 }; /* a thread may lose its processor before its call */
/* How many threads make a wait that would break a capture, and when the last of them began to. */
static _Atomic unsigned waits;
static _Atomic uint64_t wait_began_ns;

void sc_capturing_note(void)
{
    atomic_store_explicit(&sc_capturing_was_seen, true, memory_order_relaxed);
    sc_process_note_capture();
}

void sc_capturing_wait_begins(void)
{
    atomic_store(&wait_began_ns, sc_now_ns());
    atomic_fetch_add(&waits, 1);
    atomic_thread_fence(memory_order_seq_cst);
}

void sc_capturing_wait_ends(void)
{
    SC_ASSERT(atomic_load(&waits) != 0);
    atomic_fetch_sub(&waits, 1);
}

void sc_capturing_await_waits(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    uint64_t end_ns = atomic_load(&wait_began_ns) + WAIT_NS; /* who begins later sees the capture */
    while (sc_unlikely(atomic_load(&waits) != 0) && sc_now_ns() < end_ns)
        sched_yield();
}

void sc_capturing_changed(void)
{
    atomic_fetch_add(&capture_version, 1);
}

static uint64_t version_now(void)
{
    return atomic_load_explicit(&capture_version, memory_order_acquire);
}

/* Asks the driver whether the stream captures. Yes also if it gives no answer: the caller then
 * makes no call that would break a capture. A driver without the function knows no captures. */
bool sc_capturing_may_be_on(CUstream handle)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (!sc_real.cuStreamIsCapturing)
        return false;
    return sc_real.cuStreamIsCapturing(handle, &status) != CUDA_SUCCESS ||
           status != CU_STREAM_CAPTURE_STATUS_NONE;
}

/* Does the stream capture? The driver's answer is kept with the number of captures that had begun
 * or ended by then (the version). It is asked again only when that has changed, as each call asks
 * here. */
bool sc_capturing_is_on(struct sc_capturing *capturing, CUstream handle)
{
    uint64_t version = version_now();
    uint64_t known = atomic_load_explicit(&capturing->state, memory_order_relaxed);
    if (sc_likely(known >> 1 == version))
        return known & 1;
    bool captures = sc_capturing_may_be_on(handle);
    atomic_store_explicit(&capturing->state, version << 1 | captures, memory_order_relaxed);
    return captures;
}

/* Asks the driver for the graph into which a capture of the stream goes; 0: it captures nothing, or
 * the driver does not tell. Both functions tell the graph; the newer one could tell edges as
 * well. */
static uintptr_t ask_graph(CUstream handle)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    CUgraph graph = NULL;
    CUresult result = CUDA_ERROR_NOT_SUPPORTED;
    if (sc_real.cuStreamGetCaptureInfo_v3)
        result = sc_real.cuStreamGetCaptureInfo_v3(handle, &status, NULL, &graph, NULL, NULL, NULL);
    else if (sc_real.cuStreamGetCaptureInfo_v2)
        result = sc_real.cuStreamGetCaptureInfo_v2(handle, &status, NULL, &graph, NULL, NULL);
    return result == CUDA_SUCCESS && status == CU_STREAM_CAPTURE_STATUS_ACTIVE ? (uintptr_t)graph
                                                                               : 0;
}

/* Returns the graph into which the stream's capture goes; 0: not known. The driver's answer is kept
 * until any stream of the process begins or ends a capture. */
uintptr_t sc_capturing_graph(struct sc_capturing *capturing, CUstream handle)
{
    uint64_t version = version_now();
    if (atomic_load_explicit(&capturing->graph_version, memory_order_acquire) != version) {
        atomic_store_explicit(&capturing->graph, ask_graph(handle), memory_order_relaxed);
        atomic_store_explicit(&capturing->graph_version, version, memory_order_release);
    }
    return atomic_load_explicit(&capturing->graph, memory_order_relaxed);
}
