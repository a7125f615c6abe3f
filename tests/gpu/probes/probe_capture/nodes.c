/* What nodes say and keep: parameters, memory that is gone, user objects. */
#include "world.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- Q6: what nodes say of themselves ---- */

static const char *memory_type(CUmemorytype type)
{
    static const char *const names[] = {"?", "HOST", "DEVICE", "ARRAY", "UNIFIED"};

    return (unsigned)type < COUNT(names) ? names[type] : "?";
}

static void say_side(const char *side, CUmemorytype type, const void *host, CUdeviceptr dev,
                     const unsigned char *buffer, size_t pitch)
{
    say(" %s %s", side, memory_type(type));
    if (host)
        say(" Host=%s", host == buffer ? "buffer" : "other");
    if (dev != 0)
        say(" Device=%s", dev == uva(buffer) ? "buffer" : dev == dev_a ? "device" : "other");
    say(" pitch %zu,", pitch);
}

static void show_node(const char *label, CUstream stream, const unsigned char *buffer)
{
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    CUDA_MEMCPY3D c = {0};
    CUDA_MEMSET_NODE_PARAMS m = {0};
    CUgraph graph = end_capture(stream);
    CUgraphNode node = only_node(graph);

    say("Q6 %s:", label);
    TRY(cuGraphNodeGetType(node, &type));
    say(" type %d,", (int)type);
    if (type == CU_GRAPH_NODE_TYPE_MEMCPY && TRY(cuGraphMemcpyNodeGetParams(node, &c)) == 0) {
        say_side("src", c.srcMemoryType, c.srcHost, c.srcDevice, buffer, c.srcPitch);
        say_side("dst", c.dstMemoryType, c.dstHost, c.dstDevice, buffer, c.dstPitch);
        say(" %zu x %zu x %zu", c.WidthInBytes, c.Height, c.Depth);
    } else if (type == CU_GRAPH_NODE_TYPE_MEMSET && TRY(cuGraphMemsetNodeGetParams(node, &m)) == 0)
        say(" dst=%s value %u, element %u, %zu x %zu pitch %zu",
            m.dst == uva(buffer) ? "buffer" : "other", m.value, m.elementSize, m.width, m.height,
            m.pitch);
    end_line();
    TRY(cuGraphDestroy(graph));
}

static void captured_params(enum kind kind)
{
    unsigned char *p = take(kind, 64 * KB);
    char label[64];
    CUDA_MEMCPY2D pitched = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                             .srcHost = p,
                             .srcPitch = 64,
                             .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                             .dstDevice = dev_a,
                             .dstPitch = 128,
                             .WidthInBytes = 16,
                             .Height = 8};

#define SHOW(name, call)                                                                           \
    do {                                                                                           \
        snprintf(label, sizeof label, "%s %s", name, kind_names[kind]);                            \
        TRY(cuStreamBeginCapture(nonblocking2, CU_STREAM_CAPTURE_MODE_GLOBAL));                    \
        TRY(call);                                                                                 \
        show_node(label, nonblocking2, p);                                                         \
    } while (0)
    SHOW("cuMemcpyHtoDAsync", cuMemcpyHtoDAsync(dev_a, p, 64 * KB, nonblocking2));
    SHOW("cuMemcpyDtoHAsync", cuMemcpyDtoHAsync(p, dev_a, 64 * KB, nonblocking2));
    SHOW("cuMemcpyAsync H2D", cuMemcpyAsync(dev_a, uva(p), 64 * KB, nonblocking2));
    SHOW("cuMemcpyAsync D2H", cuMemcpyAsync(uva(p), dev_a, 64 * KB, nonblocking2));
    SHOW("cuMemcpyAsync H2H", cuMemcpyAsync(uva(p) + 32 * KB, uva(p), 32 * KB, nonblocking2));
    SHOW("cuMemcpy2DAsync H2D", cuMemcpy2DAsync(&pitched, nonblocking2));
    if (kind != PAGEABLE)
        SHOW("cuMemsetD8Async", cuMemsetD8Async(uva(p), 7, 64 * KB, nonblocking2));
#undef SHOW
    give(kind, p, 64 * KB);
}

/* The node's own parameters with another source, as they say it. */
static CUDA_MEMCPY3D with_source(CUgraphNode node, const unsigned char *source)
{
    CUDA_MEMCPY3D c = {0};

    TRY(cuGraphMemcpyNodeGetParams(node, &c));
    if (c.srcMemoryType == CU_MEMORYTYPE_HOST)
        c.srcHost = source;
    else
        c.srcDevice = uva(source);
    return c;
}

static void replace_source(bool captured, enum kind from, enum kind to, size_t bytes)
{
    unsigned char *old = take(from, 64 * KB), *new = take(to, 64 * KB);

    say("Q6 cuGraphExecMemcpyNodeSetParams %s node, %s 64K by %s %s:",
        captured ? "captured" : "added", kind_names[from], kind_names[to], size_text(bytes));
    memset(old, 1, 64 * KB);
    memset(new, 2, 64 * KB);
    CUgraph graph =
        captured ? captured_copy(true, old, dev_a, 64 * KB) : added_copy(true, old, dev_a, 64 * KB);
    CUgraphNode node = only_node(graph);
    CUgraphExec exec = instantiate(graph);
    CUDA_MEMCPY3D c = with_source(node, new);
    c.WidthInBytes = bytes;
    CUDA_MEMCPY3D as_host = flat_copy(true, new, dev_a, bytes);
    say(" as the node has it %d", (int)cuGraphExecMemcpyNodeSetParams(exec, node, &c, primary));
    TRY(cuGraphLaunch(exec, nonblocking));
    settle();
    say(" (brings %s),", device_value(dev_a, 4 * KB) == 2 ? "the new" : "the OLD");
    say(" as HOST to DEVICE %d",
        (int)cuGraphExecMemcpyNodeSetParams(exec, node, &as_host, primary));
    TRY(cuMemsetD8(dev_a, 0, 64 * KB));
    occupy(nonblocking, 30);
    say(", launch ");
    say_took(MS(cuGraphLaunch(exec, nonblocking)));
    settle();
    say(" (brings %s)", device_value(dev_a, 4 * KB) == 2 ? "the new" : "the OLD");
    end_line();
    throw_away(exec, graph);
    give(from, old, 64 * KB);
    give(to, new, 64 * KB);
}

static void replace_while_pending(void)
{
    unsigned char *old = take(PINNED, 64 * KB), *new = take(PINNED, 64 * KB);
    CUgraph graph = captured_copy(true, old, dev_a, 64 * KB);
    CUgraphNode node = only_node(graph);
    CUgraphExec exec = instantiate(graph);

    say("Q6 cuGraphExecMemcpyNodeSetParams while a launch is pending:");
    memset(old, 1, 64 * KB);
    memset(new, 2, 64 * KB);
    occupy(nonblocking, BUSY_MS);
    TRY(cuGraphLaunch(exec, nonblocking));
    CUDA_MEMCPY3D c = with_source(node, new);
    say(" takes ");
    say_took(MS(cuGraphExecMemcpyNodeSetParams(exec, node, &c, primary)));
    settle();
    say(", the launch before brings %s,",
        device_value(dev_a, 64 * KB) == 1 ? "the old" : "the NEW");
    TRY(cuGraphLaunch(exec, nonblocking));
    settle();
    say(" that after it %s", device_value(dev_a, 64 * KB) == 2 ? "the new" : "the OLD");
    end_line();
    throw_away(exec, graph);
    give(PINNED, old, 64 * KB);
    give(PINNED, new, 64 * KB);
}

void q6(void)
{
    static const struct {
        enum kind from, to;
    } pairs[] = {{PINNED, PINNED},
                 {PINNED, PAGEABLE},
                 {PAGEABLE, PAGEABLE},
                 {PAGEABLE, PINNED},
                 {PINNED, REGISTERED}};

    if (begin_part(1))
        for (enum kind kind = PAGEABLE; kind < KINDS; kind++)
            captured_params(kind);
    for (unsigned i = 0; i < COUNT(pairs); i++)
        if (begin_part(i + 2)) {
            replace_source(true, pairs[i].from, pairs[i].to, 64 * KB);
            replace_source(false, pairs[i].from, pairs[i].to, 64 * KB);
        }
    if (begin_part(COUNT(pairs) + 2)) {
        replace_source(true, PINNED, PINNED, 32 * KB);
        replace_while_pending();
    }
}

/* ---- Q7: host memory that is gone when its graph is launched ---- */

enum ending { FREED, UNREGISTERED, UNREGISTERED_UNMAPPED, UNMAPPED, REGISTERED_UNMAPPED, ENDINGS };
static const char *const ending_names[ENDINGS] = {
    "cuMemFreeHost", "cuMemHostUnregister", "cuMemHostUnregister and munmap",
    "munmap of pageable memory", "munmap of registered memory"};

static void launch_without(enum ending ending, bool to_device, size_t bytes)
{
    enum kind kind = ending == FREED ? PINNED : ending == UNMAPPED ? PAGEABLE : REGISTERED;
    unsigned char *host = take(kind, bytes);

    say("Q7 %s, %s %s:", ending_names[ending], to_device ? "H2D" : "D2H", size_text(bytes));
    memset(host, 1, bytes);
    CUgraph graph = captured_copy(to_device, host, dev_a, bytes);
    CUgraphExec exec = instantiate(graph);
    if (ending == FREED)
        TRY(cuMemFreeHost(host));
    if (ending == UNREGISTERED || ending == UNREGISTERED_UNMAPPED)
        TRY(cuMemHostUnregister(host));
    if (ending >= UNREGISTERED_UNMAPPED)
        munmap(host, bytes);
    say(" launch %d,", (int)cuGraphLaunch(exec, nonblocking));
    say(" synchronise %d,", (int)cuStreamSynchronize(nonblocking));
    say(" the context afterwards %d", (int)cuCtxSynchronize());
    end_line();
}

/* One child for each: the context may be gone behind it. */
void q7(void)
{
    for (unsigned i = 0; i < 2 * ENDINGS; i++) {
        if (!begin_part(i + 1))
            continue;
        launch_without((enum ending)(i / 2), i % 2 == 0, 4 * MB);
        if (i / 2 == REGISTERED_UNMAPPED || cuCtxSynchronize() != CUDA_SUCCESS)
            _exit(2);
    }
}

/* ---- Q8: host functions and user objects of graphs ---- */

static atomic_int destroyed_by; /* the thread that called the destructor; 0 while nobody has */
static atomic_int destructor_rc;
static _Atomic uint64_t destroyed_ns;

static void CUDA_CB destructor(void *unused)
{
    CUcontext context;

    (void)unused;
    atomic_store(&destructor_rc, (int)cuCtxGetCurrent(&context));
    atomic_store(&destroyed_ns, now_ns());
    atomic_store(&destroyed_by, (int)syscall(SYS_gettid));
}

static CUgraph graph_with_object(unsigned spin_ms)
{
    CUuserObject object = NULL;
    CUgraph graph = spinning_graph(spin_ms);

    atomic_store(&destroyed_by, 0);
    TRY(cuUserObjectCreate(&object, &destroyed_by, destructor, 1,
                           CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    TRY(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    return graph;
}

/* Says when the destructor came, counted from `start_ns`, and from where. */
static void say_destroyed(uint64_t start_ns)
{
    bool at_return = atomic_load(&destroyed_by) != 0;

    while (atomic_load(&destroyed_by) == 0 && ms_since(start_ns) < 400)
        sleep_ms(1);
    int by = atomic_load(&destroyed_by);
    if (by == 0)
        say(" destructor not called within 400 ms;");
    else
        say(" destructor %s, %.2f ms behind the call, by %s (cuCtxGetCurrent there %d);",
            at_return ? "before the call returned" : "LATER",
            ((double)atomic_load(&destroyed_ns) - (double)start_ns) / 1e6,
            by == (int)syscall(SYS_gettid) ? "the caller" : "another thread",
            atomic_load(&destructor_rc));
}

static void host_function_runs(void)
{
    CUgraph graph;

    say("Q8 a captured host function, 3 launches:");
    atomic_store(&host_runs, 0);
    TRY(cuStreamBeginCapture(nonblocking2, CU_STREAM_CAPTURE_MODE_GLOBAL));
    TRY(cuLaunchHostFunc(nonblocking2, count_run, NULL));
    graph = end_capture(nonblocking2);
    CUgraphExec exec = instantiate(graph);
    for (int i = 0; i < 3; i++)
        TRY(cuGraphLaunch(exec, nonblocking));
    settle();
    say(" ran %u times", atomic_load(&host_runs));
    end_line();
    throw_away(exec, graph);
}

static void object_of_graph(void)
{
    say("Q8 user object, graph never instantiated: cuGraphDestroy:");
    CUgraph graph = graph_with_object(1);
    uint64_t start = now_ns();
    TRY(cuGraphDestroy(graph));
    say_destroyed(start);
    end_line();
}

static void object_of_exec(bool in_flight)
{
    say("Q8 user object, exec %s: graph destroyed:", in_flight ? "with 100 ms pending" : "idle");
    CUgraph graph = graph_with_object(in_flight ? 100 : 1);
    CUgraphExec exec = instantiate(graph);
    TRY(cuGraphDestroy(graph));
    sleep_ms(20);
    say(" %s;", atomic_load(&destroyed_by) ? "destructor CALLED" : "nothing");
    uint64_t launched = now_ns();
    TRY(cuGraphLaunch(exec, nonblocking));
    if (!in_flight)
        settle();
    uint64_t start = now_ns();
    say(" cuGraphExecDestroy ");
    say_took(MS(cuGraphExecDestroy(exec)));
    say(",");
    say_destroyed(start);
    if (in_flight && atomic_load(&destroyed_by))
        say(" %.1f ms after the launch", (double)(atomic_load(&destroyed_ns) - launched) / 1e6);
    settle();
    end_line();
}

static void object_synchronised(void)
{
    say("Q8 user object, exec destroyed with 100 ms pending, then cuCtxSynchronize:");
    CUgraph graph = graph_with_object(100);
    CUgraphExec exec = instantiate(graph);
    TRY(cuGraphDestroy(graph));
    TRY(cuGraphLaunch(exec, nonblocking));
    TRY(cuGraphExecDestroy(exec));
    settle();
    say_destroyed(now_ns());
    say(" (the call is the synchronise)");
    end_line();
}

static void object_of_clone(void)
{
    CUgraph clone = NULL;

    say("Q8 user object, graph cloned, then");
    CUgraph graph = graph_with_object(1);
    TRY(cuGraphClone(&clone, graph));
    TRY(cuGraphDestroy(graph));
    sleep_ms(20);
    say(" destroyed: %s; clone destroyed:",
        atomic_load(&destroyed_by) ? "destructor CALLED" : "nothing");
    uint64_t start = now_ns();
    TRY(cuGraphDestroy(clone));
    say_destroyed(start);
    end_line();
}

/* Begins a capture and gives a user object to its graph, which is returned. */
static CUgraph capture_with_object(CUresult *retained)
{
    CUuserObject object = NULL;
    CUgraph open = NULL;
    CUstreamCaptureStatus status;
    cuuint64_t id;

    atomic_store(&destroyed_by, 0);
    begin_capture(blocking, CU_STREAM_CAPTURE_MODE_GLOBAL);
    TRY(cuUserObjectCreate(&object, &destroyed_by, destructor, 1,
                           CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    TRY(cuStreamGetCaptureInfo(blocking, &status, &id, &open, NULL, NULL, NULL));
    *retained = cuGraphRetainUserObject(open, object, 1, CU_GRAPH_USER_OBJECT_MOVE);
    return open;
}

static void object_of_capture(void)
{
    CUgraph graph = NULL;
    CUresult rc;

    say("Q8 user object given to the graph of an open capture:");
    CUgraph open = capture_with_object(&rc);
    say(" retain %d,", (int)rc);
    say(" end %d,", (int)cuStreamEndCapture(blocking, &graph));
    say(" same graph: %s;", yes_no(graph == open));
    uint64_t start = now_ns();
    if (graph)
        TRY(cuGraphDestroy(graph));
    say(" cuGraphDestroy:");
    say_destroyed(start);
    end_line();
}

/* A capture that breaks takes its graph, and so the object, with it. */
static void object_of_broken_capture(void)
{
    CUgraph graph = NULL;
    CUresult rc;

    say("Q8 user object of a capture that is broken:");
    capture_with_object(&rc);
    check("cuGraphRetainUserObject", rc);
    say(" cuMemsetD8 %d,", (int)cuMemsetD8(dev_a, 0, 16));
    sleep_ms(20);
    say(" by then %s,", atomic_load(&destroyed_by) ? "destructor CALLED" : "nothing");
    uint64_t start = now_ns();
    say(" end %d:", (int)cuStreamEndCapture(blocking, &graph));
    say_destroyed(start);
    end_line();
}

void q8(void)
{
    host_function_runs();
    object_of_graph();
    object_of_exec(false);
    object_of_exec(true);
    object_synchronised();
    object_of_clone();
    object_of_capture();
    object_of_broken_capture();
}
