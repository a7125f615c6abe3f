/*
 * graphs: what programs pay that replay graphs of copies from pinned memory. Every node copies 4 KB
 * of one pinned arena to the device; for graphs of 1, 10 and 1,000 nodes:
 *
 *   launch    the launch alone, of several that are queued before the program waits
 *   replay    the launch and the wait for it
 *   refill    the same with one byte of each node's input written before, as real loops have it
 *
 * and for the graph of 1,000 nodes:
 *
 *   capture_node  the copies of a stream capture, for each node
 *   capture       the whole of it: the beginning, the copies and the end
 *   instantiate   the instantiation and the destruction of the exec
 *
 *     graphs [--quick] [--list] [NAME...]
 */
#include "tests/bench/choice.h"
#include "tests/bench/driver.h"
#include "tests/bench/measure.h"

#include <stdbool.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define GRAPH_FUNCTIONS(X)                                                                         \
    X(cuStreamBeginCapture)                                                                        \
    X(cuStreamEndCapture)                                                                          \
    X(cuGraphInstantiate)                                                                          \
    X(cuGraphLaunch)                                                                               \
    X(cuGraphExecDestroy)                                                                          \
    X(cuGraphDestroy)

enum { NODE_BYTES = 4096, MOST_NODES = 1000 };

static const struct size {
    const char *name;
    int nodes;
    int launches; /* in a batch */
} sizes[] = {
    {"1", 1, 200},
    {"10", 10, 100},
    {"1000", MOST_NODES, 5},
};

static struct graph_driver {
    GRAPH_FUNCTIONS(DRIVER_MEMBER)
} graphs;

static int quick;
static CUstream stream;
static CUdeviceptr device;
static unsigned char *arena;

/* What a batch is about. */
struct subject {
    CUgraph graph;
    CUgraphExec exec;
    const struct size *size;
};

static void look_up_graph_functions(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW); /* driver_start() has succeeded */
#define GRAPH_LOOK_UP(name)                                                                        \
    graphs.name = (__typeof__(name) *)driver_symbol(library, DRIVER_QUOTE(name));
    GRAPH_FUNCTIONS(GRAPH_LOOK_UP)
}

static struct effort effort(void)
{
    return (struct effort){5, quick ? 3 : 10};
}

static double ns_since(uint64_t begin_ns, int count)
{
    return (double)(now_ns() - begin_ns) / count;
}

static void issue_copies(int count)
{
    for (size_t i = 0; i < (size_t)count; i++)
        MUST(driver.cuMemcpyHtoDAsync(device + i * NODE_BYTES, arena + i * NODE_BYTES, NODE_BYTES,
                                      stream));
}

static CUgraph capture(int nodes)
{
    CUgraph graph = NULL;
    MUST(graphs.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    issue_copies(nodes);
    MUST(graphs.cuStreamEndCapture(stream, &graph));
    return graph;
}

static struct subject new_subject(const struct size *size)
{
    struct subject subject = {.graph = capture(size->nodes), .size = size};
    MUST(graphs.cuGraphInstantiate(&subject.exec, subject.graph, 0));
    MUST(graphs.cuGraphLaunch(subject.exec, stream));
    MUST(driver.cuStreamSynchronize(stream));
    return subject;
}

static void end_subject(const struct subject *subject)
{
    MUST(graphs.cuGraphExecDestroy(subject->exec));
    MUST(graphs.cuGraphDestroy(subject->graph));
}

static double launch_batch(void *arg)
{
    const struct subject *subject = arg;
    int count = subject->size->launches;
    uint64_t begin = now_ns();
    for (int i = 0; i < count; i++)
        MUST(graphs.cuGraphLaunch(subject->exec, stream));
    double ns = ns_since(begin, count);
    MUST(driver.cuStreamSynchronize(stream));
    return ns;
}

static double replay_batch(void *arg)
{
    const struct subject *subject = arg;
    int count = subject->size->launches;
    uint64_t begin = now_ns();
    for (int i = 0; i < count; i++) {
        MUST(graphs.cuGraphLaunch(subject->exec, stream));
        MUST(driver.cuStreamSynchronize(stream));
    }
    return ns_since(begin, count);
}

static double refill_batch(void *arg)
{
    const struct subject *subject = arg;
    int count = subject->size->launches;
    uint64_t begin = now_ns();
    for (int i = 0; i < count; i++) {
        for (size_t node = 0; node < (size_t)subject->size->nodes; node++)
            arena[node * NODE_BYTES] = (unsigned char)i;
        MUST(graphs.cuGraphLaunch(subject->exec, stream));
        MUST(driver.cuStreamSynchronize(stream));
    }
    return ns_since(begin, count);
}

static double capture_batch(void *unused)
{
    (void)unused;
    CUgraph graph = NULL;
    MUST(graphs.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    uint64_t begin = now_ns();
    issue_copies(MOST_NODES);
    double ns = ns_since(begin, MOST_NODES);
    MUST(graphs.cuStreamEndCapture(stream, &graph));
    MUST(graphs.cuGraphDestroy(graph));
    return ns;
}

static double whole_capture_batch(void *unused)
{
    (void)unused;
    uint64_t begin = now_ns();
    CUgraph graph = capture(MOST_NODES);
    double us = ns_since(begin, 1) / 1e3;
    MUST(graphs.cuGraphDestroy(graph));
    return us;
}

static double instantiate_batch(void *arg)
{
    const struct subject *subject = arg;
    CUgraphExec exec = NULL;
    uint64_t begin = now_ns();
    MUST(graphs.cuGraphInstantiate(&exec, subject->graph, 0));
    MUST(graphs.cuGraphExecDestroy(exec));
    return ns_since(begin, 1) / 1e3;
}

static const struct benchmark {
    const char *name;
    batch_function *batch;
    const char *unit;
    bool largest_only; /* the figure bears no number of nodes */
} benchmarks[] = {
    {"launch", launch_batch, "ns", false},        {"replay", replay_batch, "ns", false},
    {"refill", refill_batch, "ns", false},        {"capture_node", capture_batch, "ns", true},
    {"capture", whole_capture_batch, "us", true}, {"instantiate", instantiate_batch, "us", true},
};

static void run(const struct benchmark *benchmark, const struct size *size)
{
    char name[64];
    if (benchmark->largest_only && size->nodes != MOST_NODES)
        return;
    struct subject subject = new_subject(size);
    snprintf(name, sizeof name, benchmark->largest_only ? "%s" : "%s_%s", benchmark->name,
             size->name);
    measure(name, benchmark->unit, effort(), benchmark->batch, &subject);
    end_subject(&subject);
}

static const char *name_of(size_t i)
{
    return i < COUNT(benchmarks) ? benchmarks[i].name : NULL;
}

int main(int argc, char **argv)
{
    const struct option options[] = {{"quick", no_argument, &quick, 1}, CHOICE_LIST, {0}};
    struct choice choice = choose(argc, argv, options, name_of);
    driver_start();
    look_up_graph_functions();
    stream = driver_stream();
    device = driver_device((size_t)MOST_NODES * NODE_BYTES);
    arena = driver_pinned((size_t)MOST_NODES * NODE_BYTES);
    for (size_t b = 0; b < COUNT(benchmarks); b++)
        for (size_t s = 0; s < COUNT(sizes); s++)
            if (is_chosen(&choice, benchmarks[b].name))
                run(&benchmarks[b], &sizes[s]);
    return 0;
}
