/*
 * What this driver really does, as rows of text: when host memory is read and written, what waits
 * for what, and what a capture permits. The answers are words and codes without times, so that
 * the simulated GPU and a real one can be compared with diff; conformance.expected is the H200's.
 *
 *     section | call | memory or variant | answer
 *
 * "old" is what the source held when the call was made, "NEW" what was written over it directly
 * after the call returned. "blocks": what keeps a stream busy was over by then. A row that may kill
 * the process runs in a child of its own.
 */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define KB ((size_t)1024)
#define MB (1024 * KB)
#define LARGEST (64 * MB)

#define BUSY_MS 150
#include "held_up.h"

#define OLD 0x11
#define NEW 0x77
#define BLANK 0x00

static const char *self;
static const char *section;
static void *device_a, *device_b; /* LARGEST bytes each */

/* The first call of a row that failed although the row needs it; 0 when all went well. */
static int setup_error;
static const char *setup_call;

static void need(cudaError_t error, const char *call)
{
    if (error == cudaSuccess || setup_error)
        return;
    setup_error = error;
    setup_call = call;
}
#define NEED(call) need(call, #call)

/* Prints the row, and leaves nothing behind for the next one. */
__attribute__((format(printf, 3, 4))) static void say(const char *call, const char *variant,
                                                      const char *format, ...)
{
    va_list args;
    printf("%s | %s | %s | ", section, call, variant);
    va_start(args, format);
    if (setup_error)
        printf("error %d of %.40s", setup_error, setup_call);
    else
        vprintf(format, args);
    va_end(args);
    putchar('\n');
    fflush(stdout);
    setup_error = 0;
    cudaDeviceSynchronize();
    cudaGetLastError();
}

static void CUDART_CB do_nothing(void *unused)
{
    (void)unused;
}

static void keep_busy(cudaStream_t stream)
{
    NEED(cudaLaunchHostFunc(stream, hold_up, NULL));
}

static cudaStream_t new_stream(unsigned flags)
{
    cudaStream_t stream = NULL;
    NEED(cudaStreamCreateWithFlags(&stream, flags));
    return stream;
}

static cudaEvent_t new_event(void)
{
    cudaEvent_t event = NULL;
    NEED(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    return event;
}

/* Host memory of each kind. */

enum kind { PINNED, REGISTERED, PAGEABLE, MANAGED };
static const char *const kind_names[] = {"pinned", "registered heap", "pageable", "managed"};

static void *host_new(enum kind kind, size_t size, int fill)
{
    void *memory = NULL;
    if (kind == PINNED)
        NEED(cudaMallocHost(&memory, size));
    else if (kind == MANAGED)
        NEED(cudaMallocManaged(&memory, size, cudaMemAttachGlobal));
    else
        memory = malloc(size);
    if (!memory)
        abort();
    memset(memory, fill, size);
    if (kind == REGISTERED)
        NEED(cudaHostRegister(memory, size, cudaHostRegisterDefault));
    return memory;
}

static void host_delete(enum kind kind, void *memory)
{
    if (kind == REGISTERED)
        NEED(cudaHostUnregister(memory));
    if (kind == PINNED)
        NEED(cudaFreeHost(memory));
    else if (kind == MANAGED)
        NEED(cudaFree(memory));
    else
        free(memory);
}

static const char *content(const void *memory, size_t size)
{
    const unsigned char *bytes = memory;
    size_t step = size > 64 * KB ? 509 : 1, old = 0, fresh = 0, all = 0;
    for (size_t i = 0; i < size; i += step, all++) {
        old += bytes[i] == OLD;
        fresh += bytes[i] == NEW;
    }
    if (old == all)
        return "old";
    return fresh == all ? "NEW" : "other";
}

static const char *device_content(const void *device, size_t size)
{
    void *copy = host_new(PAGEABLE, size, BLANK);
    NEED(cudaDeviceSynchronize());
    NEED(cudaMemcpy(copy, device, size, cudaMemcpyDeviceToHost));
    const char *answer = content(copy, size);
    free(copy);
    return answer;
}

static void device_fill(void *device, int value, size_t size)
{
    NEED(cudaMemset(device, value, size));
    NEED(cudaDeviceSynchronize());
}

static const char *size_name(size_t size)
{
    static char text[32];
    if (size >= MB)
        snprintf(text, sizeof text, "%zu MB", size / MB);
    else if (size >= KB)
        snprintf(text, sizeof text, "%zu KB", size / KB);
    else
        snprintf(text, sizeof text, "%zu B", size);
    return text;
}

/* Section 1: when is host memory read or written? */

struct way {
    const char *name;
    enum cudaMemcpyKind direction;
    int batch_order; /* cudaMemcpySrcAccessOrder, or 0 for a plain copy */
    unsigned flags;
};

static cudaError_t issue(const struct way *way, void *dst, const void *src, size_t size,
                         cudaStream_t stream)
{
    if (!way->batch_order)
        return cudaMemcpyAsync(dst, src, size, way->direction, stream);
    struct cudaMemcpyAttributes attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.srcAccessOrder = (enum cudaMemcpySrcAccessOrder)way->batch_order;
    attributes.flags = way->flags;
    size_t first = 0;
    return cudaMemcpyBatchAsync(&dst, &src, &size, 1, &attributes, &first, 1, stream);
}

static void upload_row(const struct way *way, enum kind kind, size_t size)
{
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    void *source = host_new(kind, size, OLD);
    device_fill(device_a, BLANK, size);

    keep_busy(stream);
    unsigned over_before = over;
    NEED(issue(way, device_a, source, size, stream));
    const char *returned = waited(over_before);
    memset(source, NEW, size);
    NEED(cudaStreamSynchronize(stream));
    const char *arrived = device_content(device_a, size);

    host_delete(kind, source);
    NEED(cudaStreamDestroy(stream));
    char variant[64];
    snprintf(variant, sizeof variant, "%s, %s", kind_names[kind], size_name(size));
    say(way->name, variant, "%s, %s", returned, arrived);
}

static void download_row(const struct way *way, enum kind kind, size_t size)
{
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    void *destination = host_new(kind, size, OLD);
    device_fill(device_a, NEW, size);

    keep_busy(stream);
    unsigned over_before = over;
    NEED(issue(way, destination, device_a, size, stream));
    const char *returned = waited(over_before);
    const char *at_return = content(destination, size);
    NEED(cudaStreamSynchronize(stream));
    const char *at_end = content(destination, size);

    host_delete(kind, destination);
    NEED(cudaStreamDestroy(stream));
    char variant[64];
    snprintf(variant, sizeof variant, "%s, %s", kind_names[kind], size_name(size));
    bool is_stale = strcmp(at_return, "NEW") != 0;
    say(way->name, variant, "%s, %s%s", returned, is_stale ? "stale until done" : "complete",
        strcmp(at_end, "NEW") == 0 ? "" : ", and wrong data after");
}

static void copy_rows(void)
{
    static const struct way up = {"cudaMemcpyAsync H2D", cudaMemcpyHostToDevice, 0, 0};
    static const struct way down = {"cudaMemcpyAsync D2H", cudaMemcpyDeviceToHost, 0, 0};
    static const size_t sizes[] = {16, 4 * KB, 64 * KB, MB, 64 * MB};
    for (int kind = PINNED; kind <= PAGEABLE; kind++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            upload_row(&up, (enum kind)kind, sizes[i]);
    for (int kind = PINNED; kind <= PAGEABLE; kind++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i += 2)
            download_row(&down, (enum kind)kind, sizes[i]);
}

/* Small sources are read in the call where the stream has nothing queued, though the copy has to
 * wait: of two streams one is the legacy stream, and the other is busy. */

static void before_nothing(cudaStream_t stream)
{
    (void)stream;
}

static void before_record(cudaStream_t stream)
{
    cudaEvent_t event = new_event();
    NEED(cudaEventRecord(event, stream));
    NEED(cudaEventDestroy(event));
}

static void before_own_wait(cudaStream_t stream)
{
    cudaEvent_t event = new_event();
    NEED(cudaEventRecord(event, stream));
    NEED(cudaStreamWaitEvent(stream, event, 0));
    NEED(cudaEventDestroy(event));
}

static void before_function(cudaStream_t stream)
{
    NEED(cudaLaunchHostFunc(stream, do_nothing, NULL));
}

static cudaGraphExec_t small_exec(bool is_empty)
{
    struct cudaMemsetParams blank = {.dst = device_b, .elementSize = 1, .width = KB, .height = 1};
    cudaGraph_t graph = NULL;
    cudaGraphNode_t node = NULL;
    cudaGraphExec_t exec = NULL;
    NEED(cudaGraphCreate(&graph, 0));
    if (!is_empty)
        NEED(cudaGraphAddMemsetNode(&node, graph, NULL, 0, &blank));
    NEED(cudaGraphInstantiate(&exec, graph, 0));
    NEED(cudaGraphDestroy(graph));
    return exec;
}

static void before_free(cudaStream_t stream)
{
    void *block = NULL;
    NEED(cudaMallocAsync(&block, KB, stream));
    NEED(cudaFreeAsync(block, stream));
}

static void before_empty_graph(cudaStream_t stream)
{
    cudaGraphExec_t exec = small_exec(true);
    NEED(cudaGraphLaunch(exec, stream));
    NEED(cudaGraphExecDestroy(exec));
}

static void before_upload(cudaStream_t stream)
{
    cudaGraphExec_t exec = small_exec(false);
    NEED(cudaGraphUpload(exec, stream));
    NEED(cudaGraphExecDestroy(exec));
}

static const struct {
    const char *name;
    void (*before)(cudaStream_t stream);
} befores[] = {
    {"", before_nothing},
    {", behind an event's record", before_record},
    {", behind a wait for its own event", before_own_wait},
    {", behind a host function", before_function},
    {", behind a free in its order", before_free},
    {", behind an empty graph", before_empty_graph},
    {", behind an upload", before_upload},
};

static void early_row(const struct way *way, enum kind kind, size_t size, bool on_legacy,
                      size_t before)
{
    cudaStream_t blocking = new_stream(cudaStreamDefault);
    cudaStream_t stream = on_legacy ? cudaStreamLegacy : blocking;
    void *source = host_new(kind, size, OLD);
    device_fill(device_a, BLANK, size);

    keep_busy(on_legacy ? blocking : cudaStreamLegacy);
    befores[before].before(stream);
    unsigned over_before = over;
    NEED(issue(way, device_a, source, size, stream));
    const char *returned = waited(over_before);
    memset(source, NEW, size);
    const char *arrived = device_content(device_a, size);

    host_delete(kind, source);
    NEED(cudaStreamDestroy(blocking));
    char variant[128];
    snprintf(variant, sizeof variant, "%s, %zu B, %s%s", kind_names[kind], size,
             on_legacy ? "legacy behind a blocking stream" : "blocking behind the legacy stream",
             befores[before].name);
    say(way->name, variant, "%s, %s", returned, arrived);
}

static void early_rows(void)
{
    static const struct way plain = {"cudaMemcpyAsync H2D", cudaMemcpyHostToDevice, 0, 0};
    static const struct way batch = {"cudaMemcpyBatchAsync H2D, order STREAM",
                                     cudaMemcpyHostToDevice, cudaMemcpySrcAccessOrderStream, 0};
    static const size_t sizes[] = {16, 24 * KB, 24 * KB + 4};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        early_row(&plain, PINNED, sizes[i], false, 0);
        early_row(&plain, REGISTERED, sizes[i], false, 0);
        early_row(&plain, PINNED, sizes[i], true, 0);
        early_row(&batch, PINNED, sizes[i], false, 0);
    }
    for (size_t before = 1; before < sizeof befores / sizeof *befores; before++) {
        early_row(&plain, PINNED, 4 * KB, false, before);
        early_row(&plain, PINNED, 4 * KB, true, before);
    }
}

static void host_to_host_row(void)
{
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    void *from = host_new(PINNED, 4 * KB, NEW);
    void *to = host_new(PINNED, 4 * KB, OLD);
    keep_busy(stream);
    unsigned over_before = over;
    NEED(cudaMemcpyAsync(to, from, 4 * KB, cudaMemcpyHostToHost, stream));
    const char *returned = waited(over_before);
    const char *at_return = content(to, 4 * KB);
    NEED(cudaStreamSynchronize(stream));
    host_delete(PINNED, to);
    host_delete(PINNED, from);
    NEED(cudaStreamDestroy(stream));
    say("cudaMemcpyAsync H2H", "pinned, 4 KB", "%s, %s", returned,
        strcmp(at_return, "NEW") == 0 ? "complete" : "stale until done");
}

/* Between two addresses of host memory, of which either may be managed: what the source held when
 * the target was written. */
static void between_row(enum cudaMemcpyKind way, enum kind from, enum kind to, size_t size)
{
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    void *source = host_new(from, size, OLD);
    void *target = host_new(to, size, BLANK);
    keep_busy(stream);
    unsigned over_before = over;
    NEED(cudaMemcpyAsync(target, source, size, way, stream));
    const char *returned = waited(over_before);
    memset(source, NEW, size);
    NEED(cudaStreamSynchronize(stream));
    const char *arrived = content(target, size);
    host_delete(from, source);
    host_delete(to, target);
    NEED(cudaStreamDestroy(stream));
    char variant[64];
    snprintf(variant, sizeof variant, "%s to %s, %s", kind_names[from], kind_names[to],
             size_name(size));
    say(way == cudaMemcpyDefault ? "cudaMemcpyAsync Default" : "cudaMemcpyAsync H2H", variant,
        "%s, %s", returned, arrived);
}

static void between_rows(void)
{
    static const size_t sizes[] = {256, MB};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int from = PINNED; from <= MANAGED; from++)
            for (int to = PINNED; to <= MANAGED; to++) {
                between_row(cudaMemcpyHostToHost, (enum kind)from, (enum kind)to, sizes[i]);
                between_row(cudaMemcpyDefault, (enum kind)from, (enum kind)to, sizes[i]);
            }
}

static const struct way batch_ways[] = {
    {"cudaMemcpyBatchAsync H2D, order STREAM", cudaMemcpyHostToDevice,
     cudaMemcpySrcAccessOrderStream, 0},
    {"cudaMemcpyBatchAsync H2D, order DURING_API_CALL", cudaMemcpyHostToDevice,
     cudaMemcpySrcAccessOrderDuringApiCall, 0},
    {"cudaMemcpyBatchAsync H2D, order ANY", cudaMemcpyHostToDevice, cudaMemcpySrcAccessOrderAny, 0},
};
static const struct way overlap_way = {"cudaMemcpyBatchAsync H2D, order STREAM, PreferOverlap",
                                       cudaMemcpyHostToDevice, cudaMemcpySrcAccessOrderStream,
                                       cudaMemcpyFlagPreferOverlapWithCompute};

/* What is on the stack when the call is made is overwritten by the next function called. */
static __attribute__((noinline)) void issue_local(const struct way *way, cudaStream_t stream)
{
    unsigned char local[4 * KB];
    memset(local, OLD, sizeof local);
    NEED(issue(way, device_a, local, sizeof local, stream));
}

static __attribute__((noinline)) void overwrite_locals(void)
{
    volatile unsigned char locals[16 * KB];
    for (size_t i = 0; i < sizeof locals; i++)
        locals[i] = NEW;
}

static void local_row(const struct way *way)
{
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    device_fill(device_a, BLANK, 4 * KB);
    keep_busy(stream);
    unsigned over_before = over;
    issue_local(way, stream);
    const char *returned = waited(over_before);
    overwrite_locals();
    NEED(cudaStreamSynchronize(stream));
    NEED(cudaStreamDestroy(stream));
    say(way->name, "a local, 4 KB, its function returned", "%s, %s", returned,
        device_content(device_a, 4 * KB));
}

/* One set of attributes for all of them. */
static void many_row(const struct way *way)
{
    enum { COPIES = 300, BYTES = 1000 };
    static void *targets[COPIES];
    static const void *sources[COPIES];
    static size_t sizes[COPIES];
    struct cudaMemcpyAttributes attributes = {.srcAccessOrder =
                                                  (enum cudaMemcpySrcAccessOrder)way->batch_order};
    size_t first = 0;
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    unsigned char *block = host_new(PAGEABLE, COPIES * BYTES, OLD);
    for (size_t i = 0; i < COPIES; i++) {
        targets[i] = (char *)device_a + i * BYTES;
        sources[i] = block + i * BYTES;
        sizes[i] = BYTES;
    }
    device_fill(device_a, BLANK, COPIES * BYTES);
    keep_busy(stream);
    unsigned over_before = over;
    NEED(cudaMemcpyBatchAsync(targets, sources, sizes, COPIES, &attributes, &first, 1, stream));
    const char *returned = waited(over_before);
    memset(block, NEW, COPIES * BYTES);
    NEED(cudaStreamSynchronize(stream));
    const char *arrived = device_content(device_a, COPIES * BYTES);
    host_delete(PAGEABLE, block);
    NEED(cudaStreamDestroy(stream));
    say(way->name, "pageable, 300 of 1000 B", "%s, %s", returned, arrived);
}

static void batch_rows(void)
{
    static const struct way down_stream = {"cudaMemcpyBatchAsync D2H, order STREAM",
                                           cudaMemcpyDeviceToHost, cudaMemcpySrcAccessOrderStream,
                                           0};
    static const struct way down_any = {"cudaMemcpyBatchAsync D2H, order ANY",
                                        cudaMemcpyDeviceToHost, cudaMemcpySrcAccessOrderAny, 0};
    static const size_t sizes[] = {4 * KB, 64 * KB, MB, 4 * MB};
    static const size_t others[] = {4, 32 * KB, 128 * KB, 8 * MB};
    for (size_t way = 0; way < sizeof batch_ways / sizeof *batch_ways; way++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            upload_row(&batch_ways[way], PINNED, sizes[i]);
            upload_row(&batch_ways[way], PAGEABLE, sizes[i]);
        }
    for (size_t i = 1; i < sizeof sizes / sizeof *sizes; i++) {
        download_row(&down_stream, PAGEABLE, sizes[i]);
        download_row(&down_any, PAGEABLE, sizes[i]);
    }
    for (size_t way = 0; way < sizeof batch_ways / sizeof *batch_ways; way++) {
        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
            upload_row(&batch_ways[way], PAGEABLE, others[i]);
        local_row(&batch_ways[way]);
        many_row(&batch_ways[way]);
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        upload_row(&overlap_way, PINNED, sizes[i]);
        upload_row(&overlap_way, PAGEABLE, sizes[i]);
    }
}

/* The source is a mapping of its own, as a large freed heap block is, and gone at once. */
static void freed_batch_row(void)
{
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    void *source = mmap(NULL, 4 * MB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(source, OLD, 4 * MB);
    keep_busy(stream);
    NEED(issue(&batch_ways[2], device_a, source, 4 * MB, stream));
    munmap(source, 4 * MB);
    NEED(cudaStreamSynchronize(stream));
    say("cudaMemcpyBatchAsync H2D, order ANY", "pageable, 4 MB, source unmapped", "survives, %s",
        device_content(device_a, 4 * MB));
}

/* Reads the last bytes, which land last. It is a race, so most of the tries decide. */
static void synchronous_upload_row(size_t size)
{
    enum { TRIES = 21, TAIL = 8 };
    int stale = 0;
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    void *source = host_new(PAGEABLE, size, NEW);
    void *seen = host_new(PINNED, TAIL, BLANK);
    for (int i = 0; i < TRIES; i++) {
        device_fill(device_a, OLD, size);
        NEED(cudaMemcpy(device_a, source, size, cudaMemcpyHostToDevice));
        NEED(cudaMemcpyAsync(seen, (char *)device_a + size - TAIL, TAIL, cudaMemcpyDeviceToHost,
                             stream));
        NEED(cudaStreamSynchronize(stream));
        stale += strcmp(content(seen, TAIL), "NEW") != 0;
    }
    host_delete(PINNED, seen);
    host_delete(PAGEABLE, source);
    NEED(cudaStreamDestroy(stream));
    char variant[64];
    snprintf(variant, sizeof variant, "pageable, %s, its end read next on a non-blocking stream",
             size_name(size));
    say("cudaMemcpy H2D", variant, "%s", stale > TRIES / 2 ? "stale" : "complete");
}

static cudaGraphExec_t captured_upload(cudaStream_t stream, const void *source, size_t size)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    NEED(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    NEED(cudaMemcpyAsync(device_a, source, size, cudaMemcpyHostToDevice, stream));
    NEED(cudaStreamEndCapture(stream, &graph));
    NEED(cudaGraphInstantiate(&exec, graph, 0));
    NEED(cudaGraphDestroy(graph));
    return exec;
}

static void graph_row(enum kind kind, size_t size)
{
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    void *source = host_new(kind, size, BLANK);
    cudaGraphExec_t exec = captured_upload(stream, source, size);

    memset(source, OLD, size);
    keep_busy(stream);
    unsigned over_before = over;
    NEED(cudaGraphLaunch(exec, stream));
    const char *returned = waited(over_before);
    memset(source, NEW, size);
    NEED(cudaStreamSynchronize(stream));
    const char *arrived = device_content(device_a, size);

    NEED(cudaGraphExecDestroy(exec));
    host_delete(kind, source);
    NEED(cudaStreamDestroy(stream));
    char variant[64];
    snprintf(variant, sizeof variant, "%s, %s", kind_names[kind], size_name(size));
    say("memcpy node H2D", variant, "launch %s, %s", returned,
        strcmp(arrived, "old") == 0   ? "value at launch"
        : strcmp(arrived, "NEW") == 0 ? "value after launch"
                                      : "value before launch");
}

static void freed_graph_row(void)
{
    const size_t size = 64 * KB;
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    void *source = host_new(PAGEABLE, size, OLD);
    uintptr_t address = (uintptr_t)source;
    cudaGraphExec_t exec = captured_upload(stream, source, size);
    free(source);
    void *owner = host_new(PAGEABLE, size, NEW);
    NEED(cudaGraphLaunch(exec, stream));
    NEED(cudaStreamSynchronize(stream));
    const char *arrived = device_content(device_a, size);
    bool is_reused = (uintptr_t)owner == address;
    NEED(cudaGraphExecDestroy(exec));
    free(owner);
    NEED(cudaStreamDestroy(stream));
    say("memcpy node H2D", "heap source freed and reused before the launch", "%s",
        !is_reused                    ? "the block was not reused"
        : strcmp(arrived, "NEW") == 0 ? "the new owner's bytes"
                                      : "the old bytes");
}

static void host_memory_section(void)
{
    section = "1 host memory";
    copy_rows();
    batch_rows();
    early_rows();
    host_to_host_row();
    synchronous_upload_row(16 * KB);
    synchronous_upload_row(64 * KB);
    synchronous_upload_row(MB);
    synchronous_upload_row(4 * MB);
    graph_row(PAGEABLE, 4 * KB);
    graph_row(PAGEABLE, MB);
    graph_row(PINNED, 4 * KB);
    graph_row(PINNED, MB);
    freed_graph_row();
    between_rows();
}

/* Section 2: frees and registrations behind a busy device. */

struct flight {
    cudaStream_t stream;
    void *pinned, *registered, *unrelated, *device, *pooled, *fresh;
};

static cudaError_t do_free_host(struct flight *f)
{
    return cudaFreeHost(f->pinned);
}
static cudaError_t do_free_unrelated(struct flight *f)
{
    return cudaFreeHost(f->unrelated);
}
static cudaError_t do_unregister(struct flight *f)
{
    return cudaHostUnregister(f->registered);
}
static cudaError_t do_free(struct flight *f)
{
    return cudaFree(f->device);
}
static cudaError_t do_free_pooled(struct flight *f)
{
    return cudaFree(f->pooled);
}
static cudaError_t do_malloc(struct flight *f)
{
    return cudaMalloc(&f->device, MB);
}
static cudaError_t do_malloc_host(struct flight *f)
{
    return cudaMallocHost(&f->fresh, MB);
}
static cudaError_t do_register(struct flight *f)
{
    return cudaHostRegister(f->fresh, MB, cudaHostRegisterDefault);
}
static cudaError_t do_destroy(struct flight *f)
{
    return cudaStreamDestroy(f->stream);
}

static void wait_rows(void)
{
    static const struct {
        const char *call, *variant;
        cudaError_t (*act)(struct flight *);
    } rows[] = {
        {"cudaFreeHost", "buffer in flight", do_free_host},
        {"cudaFreeHost", "unrelated buffer", do_free_unrelated},
        {"cudaHostUnregister", "in flight", do_unregister},
        {"cudaFree", "unrelated buffer", do_free},
        {"cudaFree", "unrelated memory of cudaMallocAsync", do_free_pooled},
        {"cudaMalloc", "1 MB", do_malloc},
        {"cudaMallocHost", "1 MB", do_malloc_host},
        {"cudaHostRegister", "1 MB", do_register},
        {"cudaStreamDestroy", "pending work", do_destroy},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct flight f = {.stream = new_stream(cudaStreamNonBlocking)};
        f.pinned = host_new(PINNED, MB, OLD);
        f.unrelated = host_new(PINNED, MB, OLD);
        f.registered = host_new(REGISTERED, MB, OLD);
        f.fresh = host_new(PAGEABLE, MB, OLD);
        NEED(cudaMalloc(&f.device, MB));
        NEED(cudaMallocAsync(&f.pooled, MB, f.stream));
        NEED(cudaDeviceSynchronize());

        keep_busy(f.stream);
        NEED(cudaMemcpyAsync(device_a, f.pinned, MB, cudaMemcpyHostToDevice, f.stream));
        NEED(cudaMemcpyAsync(device_b, f.registered, MB, cudaMemcpyHostToDevice, f.stream));
        unsigned over_before = over;
        cudaError_t error = rows[i].act(&f);
        const char *returned = waited(over_before);
        say(rows[i].call, rows[i].variant, "%s, code %d", returned, error);
        /* What is left over is small and goes with the process. */
    }
}

static void freed_upload_row(void)
{
    const size_t size = 64 * KB;
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    void *source = host_new(REGISTERED, size, OLD);
    uintptr_t address = (uintptr_t)source;
    keep_busy(stream);
    NEED(cudaMemcpyAsync(device_a, source, size, cudaMemcpyHostToDevice, stream));
    free(source);
    void *owner = host_new(PAGEABLE, size, NEW);
    NEED(cudaStreamSynchronize(stream));
    say("free", "registered heap in flight, H2D, block reused", "%s",
        (uintptr_t)owner != address                          ? "the block was not reused"
        : strcmp(device_content(device_a, size), "NEW") == 0 ? "the new owner's bytes"
                                                             : "the old bytes");
}

static void freed_download_row(void)
{
    const size_t size = 64 * KB;
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    void *destination = host_new(REGISTERED, size, BLANK);
    uintptr_t address = (uintptr_t)destination;
    device_fill(device_a, NEW, size);
    keep_busy(stream);
    NEED(cudaMemcpyAsync(destination, device_a, size, cudaMemcpyDeviceToHost, stream));
    free(destination);
    void *owner = host_new(PAGEABLE, size, OLD);
    NEED(cudaStreamSynchronize(stream));
    say("free", "registered heap in flight, D2H, block reused", "%s",
        (uintptr_t)owner != address                ? "the block was not reused"
        : strcmp(content(owner, size), "NEW") == 0 ? "the new owner is overwritten"
                                                   : "the new owner is untouched");
}

enum { MAPPED = 256 * 1024 };

static void *mapping(void *at, int fill)
{
    void *memory = mmap(at, MAPPED, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);
    if (memory == MAP_FAILED)
        abort();
    memset(memory, fill, MAPPED);
    return memory;
}

static void unmapped_upload(bool map_anew)
{
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    void *source = mapping(NULL, OLD);
    NEED(cudaHostRegister(source, MAPPED, cudaHostRegisterDefault));
    keep_busy(stream);
    NEED(cudaMemcpyAsync(device_a, source, MAPPED, cudaMemcpyHostToDevice, stream));
    munmap(source, MAPPED);
    if (map_anew)
        mapping(source, NEW);
    NEED(cudaStreamSynchronize(stream));
    say("munmap",
        map_anew ? "registered memory in flight, H2D, mapped anew"
                 : "registered memory in flight, H2D",
        "%s arrives", device_content(device_a, MAPPED));
}

static void unmapped_download(bool map_anew)
{
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    void *destination = mapping(NULL, BLANK);
    NEED(cudaHostRegister(destination, MAPPED, cudaHostRegisterDefault));
    device_fill(device_a, NEW, MAPPED);
    keep_busy(stream);
    NEED(cudaMemcpyAsync(destination, device_a, MAPPED, cudaMemcpyDeviceToHost, stream));
    munmap(destination, MAPPED);
    if (map_anew)
        mapping(destination, OLD);
    NEED(cudaStreamSynchronize(stream));
    bool is_hit = map_anew && strcmp(content(destination, MAPPED), "old") != 0;
    say("munmap",
        map_anew ? "registered memory in flight, D2H, mapped anew"
                 : "registered memory in flight, D2H",
        "%s", is_hit ? "lands in the new pages" : "lands nowhere");
}

static void unmapped_upload_row(void)
{
    unmapped_upload(false);
}

static void unmapped_download_row(void)
{
    unmapped_download(false);
}

static void remapped_upload_row(void)
{
    unmapped_upload(true);
}

static void remapped_download_row(void)
{
    unmapped_download(true);
}

static void unordered_free_row(void)
{
    cudaStream_t reader = new_stream(cudaStreamNonBlocking);
    cudaStream_t other = new_stream(cudaStreamNonBlocking);
    void *block = NULL, *again = NULL;
    void *result = host_new(PINNED, MB, BLANK);
    NEED(cudaMallocAsync(&block, MB, other));
    NEED(cudaMemsetAsync(block, OLD, MB, other));
    NEED(cudaStreamSynchronize(other));
    keep_busy(reader);
    NEED(cudaMemcpyAsync(result, block, MB, cudaMemcpyDeviceToHost, reader));
    unsigned over_before = over;
    NEED(cudaFreeAsync(block, other));
    const char *returned = waited(over_before);
    NEED(cudaMallocAsync(&again, MB, other));
    NEED(cudaMemsetAsync(again, NEW, MB, other));
    NEED(cudaStreamSynchronize(other));
    NEED(cudaStreamSynchronize(reader));
    const char *read = content(result, MB);
    NEED(cudaFreeAsync(again, other));
    say("cudaFreeAsync", "on an unordered stream while a copy reads the block",
        "%s, %s, the copy reads %s", returned,
        again == block ? "handed out again" : "not handed out again", read);
}

static void free_section(void)
{
    section = "2 frees";
    wait_rows();
    freed_upload_row();
    freed_download_row();
    unordered_free_row();
}

/* Section 3: capture. */

struct capture {
    cudaStream_t stream, other;
    cudaEvent_t event;       /* recorded and complete, in no capture */
    void *pinned, *pageable; /* 4 KB each */
    void *to_free, *to_free_host, *to_register;
    /* what the call under test made, to be taken away again */
    void *made, *made_host;
    cudaStream_t made_stream;
    cudaEvent_t made_event;
};

static __typeof__(&cuLaunchKernel) launch_kernel;
static __typeof__(&cuStreamWriteValue32) write_value;
static CUfunction noop;

static const char noop_source[] = ".version 7.5\n.target sm_75\n.address_size 64\n"
                                  ".visible .entry noop() { ret; }\n";

static void *driver_function(const char *name)
{
    void *function = NULL;
    enum cudaDriverEntryPointQueryResult found;
    NEED(cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found));
    return function;
}

static void find_driver(void)
{
    *(void **)&launch_kernel = driver_function("cuLaunchKernel");
    *(void **)&write_value = driver_function("cuStreamWriteValue32");
    __typeof__(&cuModuleLoadData) load;
    __typeof__(&cuModuleGetFunction) get;
    *(void **)&load = driver_function("cuModuleLoadData");
    *(void **)&get = driver_function("cuModuleGetFunction");
    CUmodule module;
    if (!load || !get || load(&module, noop_source) != CUDA_SUCCESS ||
        get(&noop, module, "noop") != CUDA_SUCCESS)
        noop = NULL;
}

#define PROBE(name, call)                                                                          \
    static cudaError_t name(struct capture *c)                                                     \
    {                                                                                              \
        (void)c;                                                                                   \
        return call;                                                                               \
    }
#define H2D cudaMemcpyHostToDevice
#define D2H cudaMemcpyDeviceToHost

static cudaError_t run_kernel(cudaStream_t stream)
{
    if (!noop || !launch_kernel)
        return cudaErrorInvalidDeviceFunction;
    return (cudaError_t)launch_kernel(noop, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL);
}

static cudaError_t batch(cudaStream_t stream, void *pinned)
{
    return issue(&batch_ways[0], device_a, pinned, 4 * KB, stream);
}

static cudaError_t write_a_value(cudaStream_t stream)
{
    if (!write_value)
        return cudaErrorSymbolNotFound;
    return (cudaError_t)write_value(stream, (CUdeviceptr)(uintptr_t)device_a, 1, 0);
}

static cudaError_t ask_capturing(cudaStream_t stream)
{
    enum cudaStreamCaptureStatus status;
    return cudaStreamIsCapturing(stream, &status);
}

static cudaError_t ask_pointer(void *pointer)
{
    struct cudaPointerAttributes attributes;
    return cudaPointerGetAttributes(&attributes, pointer);
}

static cudaError_t copy_and_wait(struct capture *c)
{
    cudaError_t error = cudaMemcpyAsync(c->pinned, device_a, 4 * KB, D2H, c->other);
    return error ? error : cudaStreamSynchronize(c->other);
}

PROBE(legacy_memcpy, cudaMemcpy(device_a, c->pageable, 4 * KB, H2D))
PROBE(legacy_memset, cudaMemset(device_a, 0, 4 * KB))
PROBE(legacy_kernel, run_kernel(cudaStreamLegacy))
PROBE(legacy_memcpy_async, cudaMemcpyAsync(device_a, c->pinned, 4 * KB, H2D, cudaStreamLegacy))
PROBE(legacy_record, cudaEventRecord(c->event, cudaStreamLegacy))
PROBE(legacy_query, cudaStreamQuery(cudaStreamLegacy))
PROBE(legacy_synchronize, cudaStreamSynchronize(cudaStreamLegacy))
PROBE(own_up_pinned, cudaMemcpyAsync(device_a, c->pinned, 4 * KB, H2D, c->stream))
PROBE(own_up_pageable, cudaMemcpyAsync(device_a, c->pageable, 4 * KB, H2D, c->stream))
PROBE(own_down_pinned, cudaMemcpyAsync(c->pinned, device_a, 4 * KB, D2H, c->stream))
PROBE(own_down_pageable, cudaMemcpyAsync(c->pageable, device_a, 4 * KB, D2H, c->stream))
PROBE(own_batch, batch(c->stream, c->pinned))
PROBE(own_write_value, write_a_value(c->stream))
PROBE(own_host_function, cudaLaunchHostFunc(c->stream, do_nothing, NULL))
PROBE(own_malloc_async, cudaMallocAsync(&c->made, MB, c->stream))
PROBE(own_synchronize, cudaStreamSynchronize(c->stream))
PROBE(own_query, cudaStreamQuery(c->stream))
PROBE(event_query, cudaEventQuery(c->event))
PROBE(event_synchronize, cudaEventSynchronize(c->event))
PROBE(device_malloc, cudaMalloc(&c->made, MB))
PROBE(device_free, cudaFree(c->to_free))
PROBE(host_malloc, cudaMallocHost(&c->made_host, MB))
PROBE(host_free, cudaFreeHost(c->to_free_host))
PROBE(host_register, cudaHostRegister(c->to_register, MB, cudaHostRegisterDefault))
PROBE(device_synchronize, cudaDeviceSynchronize())
PROBE(other_synchronize, cudaStreamSynchronize(c->other))
PROBE(other_query, cudaStreamQuery(c->other))
PROBE(other_host_function, cudaLaunchHostFunc(c->other, do_nothing, NULL))
PROBE(other_memcpy, cudaMemcpyAsync(device_a, c->pinned, 4 * KB, H2D, c->other))
PROBE(stream_create, cudaStreamCreate(&c->made_stream))
PROBE(event_create, cudaEventCreate(&c->made_event))
PROBE(is_capturing, ask_capturing(c->stream))
PROBE(legacy_is_capturing, ask_capturing(cudaStreamLegacy))
PROBE(pointer_attributes, ask_pointer(c->pinned))
PROBE(other_copy_and_wait, copy_and_wait(c))

struct probe {
    const char *name;
    cudaError_t (*call)(struct capture *);
    bool on_thread, is_relaxed;
};

static const struct probe probes[] = {
    {"cudaMemcpy", legacy_memcpy, false, false},
    {"cudaMemset", legacy_memset, false, false},
    {"kernel on the legacy stream", legacy_kernel, false, false},
    {"cudaMemcpyAsync on the legacy stream", legacy_memcpy_async, false, false},
    {"cudaEventRecord on the legacy stream", legacy_record, false, false},
    {"cudaStreamQuery(legacy)", legacy_query, false, false},
    {"cudaStreamSynchronize(legacy)", legacy_synchronize, false, false},
    {"cudaStreamIsCapturing(legacy)", legacy_is_capturing, false, false},
    {"cudaMemcpyAsync H2D pinned on it", own_up_pinned, false, false},
    {"cudaMemcpyAsync H2D pageable on it", own_up_pageable, false, false},
    {"cudaMemcpyAsync D2H pinned on it", own_down_pinned, false, false},
    {"cudaMemcpyAsync D2H pageable on it", own_down_pageable, false, false},
    {"cudaMemcpyBatchAsync on it", own_batch, false, false},
    {"cuStreamWriteValue32 on it", own_write_value, false, false},
    {"cudaLaunchHostFunc on it", own_host_function, false, false},
    {"cudaMallocAsync on it", own_malloc_async, false, false},
    {"cudaStreamSynchronize on it", own_synchronize, false, false},
    {"cudaStreamQuery on it", own_query, false, false},
    {"cudaEventQuery, unrelated event", event_query, false, false},
    {"cudaEventSynchronize, unrelated event", event_synchronize, false, false},
    {"cudaMalloc", device_malloc, false, false},
    {"cudaFree", device_free, false, false},
    {"cudaMallocHost", host_malloc, false, false},
    {"cudaFreeHost", host_free, false, false},
    {"cudaHostRegister", host_register, false, false},
    {"cudaDeviceSynchronize", device_synchronize, false, false},
    {"cudaStreamSynchronize of another non-blocking stream", other_synchronize, false, false},
    {"cudaStreamQuery of another non-blocking stream", other_query, false, false},
    {"cudaLaunchHostFunc elsewhere", other_host_function, false, false},
    {"cudaMemcpyAsync on another non-blocking stream", other_memcpy, false, false},
    {"cudaStreamCreate", stream_create, false, false},
    {"cudaEventCreate", event_create, false, false},
    {"cudaStreamIsCapturing", is_capturing, false, false},
    {"cudaPointerGetAttributes", pointer_attributes, false, false},
    {"cudaEventQuery by another thread", event_query, true, false},
    {"cudaMalloc by another thread", device_malloc, true, false},
    {"cudaHostRegister by another thread", host_register, true, false},
    {"cudaMemcpy by another thread", legacy_memcpy, true, false},
    {"cudaEventQuery, thread exchanged to Relaxed", event_query, false, true},
    {"cudaMalloc, thread exchanged to Relaxed", device_malloc, false, true},
    {"cudaFreeHost, thread exchanged to Relaxed", host_free, false, true},
    {"cudaHostRegister, thread exchanged to Relaxed", host_register, false, true},
    {"cudaEventQuery by another thread, exchanged to Relaxed", event_query, true, true},
    {"cudaMalloc by another thread, exchanged to Relaxed", device_malloc, true, true},
    {"copy and synchronise on a private stream, exchanged to Relaxed", other_copy_and_wait, false,
     true},
};

struct errand {
    const struct probe *probe;
    struct capture *capture;
    cudaError_t result;
};

static void *run_errand(void *argument)
{
    struct errand *errand = argument;
    enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    if (errand->probe->is_relaxed)
        NEED(cudaThreadExchangeStreamCaptureMode(&mode));
    errand->result = errand->probe->call(errand->capture);
    if (errand->probe->is_relaxed)
        NEED(cudaThreadExchangeStreamCaptureMode(&mode));
    return NULL;
}

static cudaError_t run_probe(const struct probe *probe, struct capture *c)
{
    struct errand errand = {probe, c, cudaSuccess};
    pthread_t thread;
    if (probe->on_thread && pthread_create(&thread, NULL, run_errand, &errand) == 0)
        pthread_join(thread, NULL);
    else
        run_errand(&errand);
    return errand.result;
}

/* Errors are expected here: which of these exist depends on what the capture let through. */
static void capture_clean_up(struct capture *c)
{
    cudaDeviceSynchronize();
    cudaHostUnregister(c->to_register);
    free(c->to_register);
    free(c->pageable);
    cudaFree(c->to_free);
    cudaFreeHost(c->to_free_host);
    cudaFree(c->made);
    cudaFreeHost(c->made_host);
    cudaFreeHost(c->pinned);
    if (c->made_stream)
        cudaStreamDestroy(c->made_stream);
    if (c->made_event)
        cudaEventDestroy(c->made_event);
    cudaStreamDestroy(c->stream);
    cudaStreamDestroy(c->other);
    cudaEventDestroy(c->event);
    cudaGetLastError();
}

static void capture_set_up(struct capture *c, unsigned flags)
{
    *c = (struct capture){.stream = new_stream(flags), .event = new_event()};
    c->other = new_stream(cudaStreamNonBlocking);
    c->pinned = host_new(PINNED, 4 * KB, OLD);
    c->pageable = host_new(PAGEABLE, 4 * KB, OLD);
    c->to_free_host = host_new(PINNED, MB, OLD);
    c->to_register = host_new(PAGEABLE, MB, OLD);
    NEED(cudaMalloc(&c->to_free, MB));
    NEED(cudaEventRecord(c->event, c->other));
    NEED(cudaDeviceSynchronize());
}

static void capture_row(const struct probe *probe, unsigned flags, enum cudaStreamCaptureMode mode)
{
    static const char *const mode_names[] = {"Global", "ThreadLocal", "Relaxed"};
    struct capture c;
    cudaGraph_t graph = NULL;
    size_t nodes = 0;
    capture_set_up(&c, flags);
    NEED(cudaStreamBeginCapture(c.stream, mode));
    cudaError_t called = run_probe(probe, &c);
    cudaError_t ended = cudaStreamEndCapture(c.stream, &graph);
    if (graph) {
        NEED(cudaGraphGetNodes(graph, NULL, &nodes));
        NEED(cudaGraphDestroy(graph));
    }
    /* A call that went through has used these up. */
    if (called == cudaSuccess && probe->call == device_free)
        c.to_free = NULL;
    if (called == cudaSuccess && probe->call == host_free)
        c.to_free_host = NULL;
    if (probe->call == own_malloc_async)
        c.made = NULL;
    cudaGetLastError();
    char variant[48];
    snprintf(variant, sizeof variant, "%s, %s",
             flags == cudaStreamNonBlocking ? "non-blocking" : "blocking", mode_names[mode]);
    say(probe->name, variant, ended == cudaSuccess ? "%d/%d, %zu nodes" : "%d/%d", called, ended,
        nodes);
    capture_clean_up(&c);
}

static void capture_section(void)
{
    section = "3 capture";
    find_driver();
    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++)
        for (int blocking = 1; blocking >= 0; blocking--)
            for (int mode = 0; mode <= cudaStreamCaptureModeRelaxed; mode++)
                capture_row(&probes[i], blocking ? cudaStreamDefault : cudaStreamNonBlocking,
                            (enum cudaStreamCaptureMode)mode);
}

/* Section 4: what waits for what. */

struct pair {
    const char *name;
    cudaStream_t busy, asked;
};

static void event_row(const struct pair *pair)
{
    cudaEvent_t event = new_event();
    keep_busy(pair->busy);
    NEED(cudaEventRecord(event, pair->asked));
    /* An event with nothing before it completes within this pause. */
    pause_briefly();
    cudaError_t error = cudaEventQuery(event);
    NEED(cudaDeviceSynchronize());
    NEED(cudaEventDestroy(event));
    say("event recorded on the idle stream", pair->name, "%s",
        error == cudaErrorNotReady ? "waits"
        : error == cudaSuccess     ? "does not wait"
                                   : "fails");
}

static void query_row(const struct pair *pair)
{
    keep_busy(pair->busy);
    pause_briefly();
    cudaError_t error = cudaStreamQuery(pair->asked);
    say("cudaStreamQuery of the idle stream", pair->name, "%d", error);
}

static void synchronize_row(const struct pair *pair)
{
    keep_busy(pair->busy);
    unsigned over_before = over;
    NEED(cudaStreamSynchronize(pair->asked));
    const char *returned = waited(over_before);
    say("cudaStreamSynchronize of the idle stream", pair->name, "%s", returned);
}

/* A copy issued on the idle stream: does it run before the other stream's work is done? */
static void work_row(const struct pair *pair)
{
    void *result = host_new(PINNED, 4 * KB, OLD);
    device_fill(device_a, NEW, 4 * KB);
    keep_busy(pair->busy);
    NEED(cudaMemcpyAsync(result, device_a, 4 * KB, D2H, pair->asked));
    pause_briefly();
    bool is_done = strcmp(content(result, 4 * KB), "NEW") == 0;
    NEED(cudaDeviceSynchronize());
    host_delete(PINNED, result);
    say("copy issued on the idle stream", pair->name, "%s", is_done ? "does not wait" : "waits");
}

static void stream_rows(void)
{
    cudaStream_t blocking = new_stream(cudaStreamDefault);
    cudaStream_t sibling = new_stream(cudaStreamDefault);
    cudaStream_t free_stream = new_stream(cudaStreamNonBlocking);
    const struct pair pairs[] = {
        {"blocking, legacy busy", cudaStreamLegacy, blocking},
        {"legacy, blocking busy", blocking, cudaStreamLegacy},
        {"blocking, another blocking busy", blocking, sibling},
        {"non-blocking, legacy busy", cudaStreamLegacy, free_stream},
        {"legacy, non-blocking busy", free_stream, cudaStreamLegacy},
        {"per-thread, legacy busy", cudaStreamLegacy, cudaStreamPerThread},
        {"legacy, per-thread busy", cudaStreamPerThread, cudaStreamLegacy},
        {"per-thread, blocking busy", blocking, cudaStreamPerThread},
    };
    static void (*const rows[])(const struct pair *) = {event_row, query_row, synchronize_row,
                                                        work_row};
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++)
        for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
            rows[row](&pairs[i]);
    cudaStreamDestroy(blocking);
    cudaStreamDestroy(sibling);
    cudaStreamDestroy(free_stream);
}

/* Whether a synchronous call returns before the work that the busy stream holds. */
static void synchronous_rows(void)
{
    static const struct {
        const char *name;
        enum kind kind;
        enum cudaMemcpyKind direction;
        size_t size;
    } calls[] = {
        {"cudaMemcpy H2D pageable 4 KB", PAGEABLE, cudaMemcpyHostToDevice, 4 * KB},
        {"cudaMemcpy H2D pageable 1 MB", PAGEABLE, cudaMemcpyHostToDevice, MB},
        {"cudaMemcpy H2D pinned 4 KB", PINNED, cudaMemcpyHostToDevice, 4 * KB},
        {"cudaMemcpy D2H pageable 4 KB", PAGEABLE, cudaMemcpyDeviceToHost, 4 * KB},
        {"cudaMemcpy D2H pinned 4 KB", PINNED, cudaMemcpyDeviceToHost, 4 * KB},
        {"cudaMemcpy H2H pinned 4 KB", PINNED, cudaMemcpyHostToHost, 4 * KB},
        {"cudaMemcpy D2D 4 KB", PINNED, cudaMemcpyDeviceToDevice, 4 * KB},
    };
    const struct pair pairs[] = {
        {"legacy busy", cudaStreamLegacy, NULL},
        {"blocking busy", new_stream(cudaStreamDefault), NULL},
        {"non-blocking busy", new_stream(cudaStreamNonBlocking), NULL},
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        for (size_t j = 0; j < sizeof pairs / sizeof *pairs; j++) {
            char *host = host_new(calls[i].kind, 2 * calls[i].size, OLD);
            bool to_host = calls[i].direction == D2H || calls[i].direction == cudaMemcpyHostToHost;
            bool from_host =
                calls[i].direction == H2D || calls[i].direction == cudaMemcpyHostToHost;
            void *dst = to_host ? (void *)(host + calls[i].size) : device_a;
            void *src = from_host ? (void *)host : device_b;
            keep_busy(pairs[j].busy);
            unsigned over_before = over;
            NEED(cudaMemcpy(dst, src, calls[i].size, calls[i].direction));
            const char *returned = waited(over_before);
            NEED(cudaDeviceSynchronize());
            host_delete(calls[i].kind, host);
            say(calls[i].name, pairs[j].name, "%s", returned);
        }
    }
    cudaStreamDestroy(pairs[1].busy);
    cudaStreamDestroy(pairs[2].busy);
}

static void memset_rows(void)
{
    void *pinned = host_new(PINNED, 4 * KB, OLD);
    keep_busy(cudaStreamLegacy);
    unsigned over_before = over;
    NEED(cudaMemset(device_a, 0, 4 * KB));
    say("cudaMemset", "device memory, legacy busy", "%s", waited(over_before));
    keep_busy(cudaStreamLegacy);
    over_before = over;
    NEED(cudaMemset(pinned, 0, 4 * KB));
    say("cudaMemset", "pinned memory, legacy busy", "%s", waited(over_before));
    host_delete(PINNED, pinned);
}

static void wait_for_complete(cudaStream_t stream)
{
    cudaEvent_t event = NULL;
    cudaStream_t idle = new_stream(cudaStreamNonBlocking);
    NEED(cudaEventCreate(&event));
    NEED(cudaEventRecord(event, idle));
    NEED(cudaEventSynchronize(event));
    NEED(cudaStreamWaitEvent(stream, event, 0));
    NEED(cudaEventDestroy(event));
    NEED(cudaStreamDestroy(idle));
}

static void wait_for_unrecorded(cudaStream_t stream)
{
    cudaEvent_t event = NULL;
    NEED(cudaEventCreate(&event));
    NEED(cudaStreamWaitEvent(stream, event, 0));
    NEED(cudaEventDestroy(event));
}

static void fill_nothing(cudaStream_t stream)
{
    NEED(cudaMemsetAsync(device_b, 0, 0, stream));
}

static void launch_empty_node(cudaStream_t stream)
{
    cudaGraph_t graph = NULL;
    cudaGraphNode_t node = NULL;
    cudaGraphExec_t exec = NULL;
    NEED(cudaGraphCreate(&graph, 0));
    NEED(cudaGraphAddEmptyNode(&node, graph, NULL, 0));
    NEED(cudaGraphInstantiate(&exec, graph, 0));
    NEED(cudaGraphLaunch(exec, stream));
    NEED(cudaGraphExecDestroy(exec));
    NEED(cudaGraphDestroy(graph));
}

static char node_calls[8];

/* An event that a node records between two host nodes, each of which takes its time. It was
 * complete when the graph was launched again. */
static void node_event_row(void)
{
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    cudaEvent_t event = new_event();
    cudaGraph_t graph = NULL;
    cudaGraphNode_t node = NULL;
    cudaGraphExec_t exec = NULL;
    const struct cudaHostNodeParams sleeps = {.fn = hold_up};
    NEED(cudaGraphCreate(&graph, 0));
    NEED(cudaGraphAddHostNode(&node, graph, NULL, 0, &sleeps));
    NEED(cudaGraphAddEventRecordNode(&node, graph, &node, 1, event));
    NEED(cudaGraphAddHostNode(&node, graph, &node, 1, &sleeps));
    NEED(cudaGraphInstantiate(&exec, graph, 0));
    NEED(cudaGraphLaunch(exec, stream));
    NEED(cudaStreamSynchronize(stream));
    cudaError_t before = cudaEventQuery(event);
    NEED(cudaGraphLaunch(exec, stream));
    cudaError_t launched = cudaEventQuery(event);
    NEED(cudaEventSynchronize(event));
    cudaError_t rest = cudaStreamQuery(stream);
    NEED(cudaStreamSynchronize(stream));
    say("an event that a node records", "launched again", "%d, %d; the rest %d", (int)before,
        (int)launched, (int)rest);
    NEED(cudaGraphExecDestroy(exec));
    NEED(cudaGraphDestroy(graph));
    NEED(cudaEventDestroy(event));
    NEED(cudaStreamDestroy(stream));
}

static void CUDART_CB append(void *letter)
{
    static char *end = node_calls;
    if (end < node_calls + sizeof node_calls - 1)
        *end++ = *(const char *)letter;
}

/* A captured host node gets another function's data in the exec, before the first launch and behind
 * one that is queued. */
static void node_function_row(void)
{
    static char letters[] = "abc";
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    cudaStream_t other = new_stream(cudaStreamNonBlocking);
    cudaGraph_t graph = NULL;
    cudaGraphNode_t node = NULL;
    cudaGraphExec_t exec = NULL;
    size_t count = 1;
    struct cudaHostNodeParams params = {.fn = append};
    NEED(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    NEED(cudaLaunchHostFunc(stream, append, &letters[0]));
    NEED(cudaStreamEndCapture(stream, &graph));
    NEED(cudaGraphGetNodes(graph, &node, &count));
    NEED(cudaGraphInstantiate(&exec, graph, 0));
    params.userData = &letters[1];
    cudaError_t first = cudaGraphExecHostNodeSetParams(exec, node, &params);
    keep_busy(stream);
    NEED(cudaGraphLaunch(exec, stream));
    NEED(cudaGraphLaunch(exec, other));
    params.userData = &letters[2];
    cudaError_t second = cudaGraphExecHostNodeSetParams(exec, node, &params);
    NEED(cudaGraphLaunch(exec, other));
    NEED(cudaGraphExecDestroy(exec));
    NEED(cudaDeviceSynchronize());
    say("a host node's function in an exec", "changed, launched twice, changed, launched",
        "%d, %d, %s", (int)first, (int)second, node_calls);
    NEED(cudaGraphDestroy(graph));
    NEED(cudaStreamDestroy(stream));
    NEED(cudaStreamDestroy(other));
}

/* A wait for a value and the write of one, captured: what the driver says that the nodes do. */
static void node_values_row(void)
{
    __typeof__(&cuStreamWaitValue32) wait_value;
    __typeof__(&cuGraphBatchMemOpNodeGetParams) get_params;
    *(void **)&wait_value = driver_function("cuStreamWaitValue32");
    *(void **)&get_params = driver_function("cuGraphBatchMemOpNodeGetParams");
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    cudaGraph_t graph = NULL;
    cudaGraphNode_t nodes[2] = {NULL, NULL};
    size_t count = 2;
    int found[2] = {-1, -1};
    CUdeviceptr word = (CUdeviceptr)(uintptr_t)device_a;
    NEED(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    if (wait_value && write_value) {
        NEED((cudaError_t)wait_value(stream, word, 1, CU_STREAM_WAIT_VALUE_GEQ));
        NEED((cudaError_t)write_value(stream, word, 1, 0));
    }
    NEED(cudaStreamEndCapture(stream, &graph));
    NEED(cudaGraphGetNodes(graph, nodes, &count));
    for (size_t i = 0; get_params && i < count; i++) {
        CUDA_BATCH_MEM_OP_NODE_PARAMS params;
        NEED((cudaError_t)get_params((CUgraphNode)nodes[i], &params));
        found[i] = params.count == 1 ? (int)params.paramArray[0].operation : -2;
    }
    say("captured values", "a wait and a write", "%zu nodes, operations %d and %d", count, found[0],
        found[1]);
    NEED(cudaGraphDestroy(graph));
    NEED(cudaStreamDestroy(stream));
}

/* Which calls in the legacy stream order a blocking stream's later work behind another one's? */
static void legacy_rows(void)
{
    static const struct {
        const char *name;
        void (*call)(cudaStream_t stream);
    } calls[] = {
        {"nothing", before_nothing},
        {"an event's record", before_record},
        {"a wait for a complete event", wait_for_complete},
        {"a wait for an event that was never recorded", wait_for_unrecorded},
        {"a memset of no bytes", fill_nothing},
        {"a free in its order", before_free},
        {"a graph without nodes", before_empty_graph},
        {"a graph of an empty node", launch_empty_node},
        {"an upload of a graph", before_upload},
    };
    cudaStream_t busy = new_stream(cudaStreamDefault);
    cudaStream_t later = new_stream(cudaStreamDefault);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        keep_busy(busy);
        calls[i].call(cudaStreamLegacy);
        NEED(cudaMemsetAsync(device_a, 0, KB, later));
        unsigned over_before = over;
        NEED(cudaStreamSynchronize(later));
        bool waits = over != over_before;
        NEED(cudaDeviceSynchronize());
        say("work on a blocking stream, another one busy, legacy between", calls[i].name, "%s",
            waits ? "waits" : "does not wait");
    }
    cudaStreamDestroy(busy);
    cudaStreamDestroy(later);
}

static void last_error_rows(void)
{
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    keep_busy(stream);
    cudaError_t query = cudaStreamQuery(stream);
    cudaError_t peeked = cudaPeekAtLastError();
    cudaError_t first = cudaGetLastError();
    cudaError_t second = cudaGetLastError();
    say("last error after cudaStreamQuery", "stream busy", "%d, peek %d, get %d, get %d", query,
        peeked, first, second);
    cudaError_t bad = cudaMemcpy(NULL, NULL, 16, (enum cudaMemcpyKind)9);
    cudaMemset(device_a, 0, 16);
    first = cudaGetLastError();
    say("last error after a bad copy and a good call", "", "%d, get %d", bad, first);
    bad = cudaFreeHost(&stream);
    say("cudaFreeHost", "memory of no context", "%d", bad);
    bad = cudaHostUnregister(&stream);
    say("cudaHostUnregister", "memory not registered", "%d", bad);
    void *memory = host_new(REGISTERED, MB, OLD);
    bad = cudaHostRegister(memory, MB, cudaHostRegisterDefault);
    say("cudaHostRegister", "memory registered already", "%d", bad);
    host_delete(REGISTERED, memory);
    cudaStreamDestroy(stream);
}

static void order_section(void)
{
    section = "4 order";
    stream_rows();
    synchronous_rows();
    memset_rows();
    legacy_rows();
    node_event_row();
    node_function_row();
    node_values_row();
    section = "5 errors";
    last_error_rows();
}

/* Rows in a child: what the child cannot say, because it died, is said for it. */

static const struct {
    const char *id, *section, *call, *variant;
    void (*run)(void);
} children[] = {
    {"freed-batch", "1 host memory", "cudaMemcpyBatchAsync H2D, order ANY",
     "pageable, 4 MB, source unmapped", freed_batch_row},
    {"unmapped-upload", "2 frees", "munmap", "registered memory in flight, H2D",
     unmapped_upload_row},
    {"unmapped-download", "2 frees", "munmap", "registered memory in flight, D2H",
     unmapped_download_row},
    {"remapped-upload", "2 frees", "munmap", "registered memory in flight, H2D, mapped anew",
     remapped_upload_row},
    {"remapped-download", "2 frees", "munmap", "registered memory in flight, D2H, mapped anew",
     remapped_download_row},
};

static void run_children(void)
{
    for (size_t i = 0; i < sizeof children / sizeof *children; i++) {
        char *const arguments[] = {(char *)(uintptr_t)self, (char *)(uintptr_t) "--row",
                                   (char *)(uintptr_t)children[i].id, NULL};
        pid_t child;
        int status = 0;
        section = children[i].section;
        if (posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environ) != 0 ||
            waitpid(child, &status, 0) != child)
            say(children[i].call, children[i].variant, "not run");
        else if (WIFSIGNALED(status))
            say(children[i].call, children[i].variant, "dies of signal %d", WTERMSIG(status));
        else if (WEXITSTATUS(status) != 0)
            say(children[i].call, children[i].variant, "exits with %d", WEXITSTATUS(status));
    }
}

static bool start(void)
{
    int devices = 0;
    cudaError_t error = cudaGetDeviceCount(&devices);
    if (error == cudaSuccess)
        error = cudaMalloc(&device_a, LARGEST);
    if (error == cudaSuccess)
        error = cudaMalloc(&device_b, LARGEST);
    if (error == cudaSuccess)
        return true;
    fprintf(stderr, "conformance: no usable GPU: %s\n", cudaGetErrorString(error));
    return false;
}

int main(int argc, char **argv)
{
    self = argv[0];
    if (!start())
        return 77;
    if (argc == 3 && strcmp(argv[1], "--row") == 0) {
        for (size_t i = 0; i < sizeof children / sizeof *children; i++) {
            if (strcmp(argv[2], children[i].id) == 0) {
                section = children[i].section;
                children[i].run();
                return 0;
            }
        }
        return 2;
    }
    host_memory_section();
    free_section();
    run_children();
    capture_section();
    order_section();
    return 0;
}
