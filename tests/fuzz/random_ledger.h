/* What the program holds of memory, by a model of its own, and whether the library's ledger says
 * the same: bytes and blocks of each kind at each place, now and at the peak, and frees of what the
 * ledger has not seen given. A part of random_program.h and of random_batches.c; the parts behind
 * it call the functions of the driver that this one puts in place of the driver's.
 */
#ifndef SC_TESTS_FUZZ_RANDOM_LEDGER_H
#define SC_TESTS_FUZZ_RANDOM_LEDGER_H

#include "../../include/safecopy.h"

enum { HELD_MAX = 4096, PLACES = 3, ON_HOST = PLACES - 1, LEDGER_TEXT_BYTES = 256 * 1024 };
enum held_kind {
    HELD_DEVICE,
    HELD_POOLED,
    HELD_PINNED,
    HELD_REGISTERED,
    HELD_OWN, /* the kinds above are summed up */
    HELD_MANAGED = HELD_OWN,
    HELD_EXECS,
    HELD_KINDS
};
static const char *const held_names[] = {"device",     "pooled",  "pinned",
                                         "registered", "managed", "graph_execs"};

struct held_sum {
    unsigned long long bytes, blocks, peak_bytes;
};

static struct held_ledger {
    struct held {
        uintptr_t name; /* 0: none */
        unsigned long long bytes;
        uintptr_t pool; /* 0: it is of none */
        enum held_kind kind;
        int place;
    } blocks[HELD_MAX];
    struct held_sum kinds[PLACES][HELD_KINDS], places[PLACES];
    unsigned long long unknown_frees;
} model_ledger;

/* ---- what comes and goes ---- */

static void add_to_sum(struct held_sum *sum, unsigned long long bytes)
{
    sum->bytes += bytes;
    sum->blocks++;
    if (sum->bytes > sum->peak_bytes)
        sum->peak_bytes = sum->bytes;
}

static void take_from_sum(struct held_sum *sum, unsigned long long bytes)
{
    sum->bytes -= bytes;
    sum->blocks--;
}

static struct held *find_held(uintptr_t name)
{
    for (int i = 0; i < HELD_MAX; i++)
        if (model_ledger.blocks[i].name == name)
            return &model_ledger.blocks[i];
    return NULL;
}

static uintptr_t pool_of_address(CUdeviceptr address)
{
    CUmemoryPool pool = NULL;
    CHECK(cuPointerGetAttribute(&pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, address));
    return (uintptr_t)pool;
}

static void note_given(enum held_kind kind, int place, uintptr_t name, unsigned long long bytes)
{
    uintptr_t pool = kind == HELD_POOLED ? pool_of_address(name) : 0;
    struct held *block = find_held(0);
    if (!block)
        fail("too many blocks for the model of the ledger");
    *block = (struct held){name, bytes, pool, kind, place};
    add_to_sum(&model_ledger.kinds[place][kind], bytes);
    if (kind < HELD_OWN)
        add_to_sum(&model_ledger.places[place], bytes);
}

/* Of an exec the ledger has always heard. */
static void note_taken(uintptr_t name)
{
    struct held *block = find_held(name);
    if (!block) {
        model_ledger.unknown_frees++;
        return;
    }
    take_from_sum(&model_ledger.kinds[block->place][block->kind], block->bytes);
    if (block->kind < HELD_OWN)
        take_from_sum(&model_ledger.places[block->place], block->bytes);
    block->name = 0;
}

/* ---- the calls, of which a program has some ---- */

#define HELD_CALL __attribute__((unused))

static int place_of_address(CUdeviceptr address)
{
    int device = 0;
    return cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address) ? 0
                                                                                        : device;
}

static bool is_in_capture(CUstream stream)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    return cuStreamIsCapturing(stream, &status) != CUDA_SUCCESS ||
           status != CU_STREAM_CAPTURE_STATUS_NONE;
}

static CUresult hold_given(CUresult result, enum held_kind kind, int place, uintptr_t name,
                           unsigned long long bytes)
{
    if (result == CUDA_SUCCESS)
        note_given(kind, place, name, bytes);
    return result;
}

static CUresult hold_taken(CUresult result, uintptr_t name)
{
    if (result == CUDA_SUCCESS)
        note_taken(name);
    return result;
}

static HELD_CALL CUresult held_alloc(CUdeviceptr *address, size_t bytes)
{
    CUresult result = cuMemAlloc(address, bytes);
    return hold_given(result, HELD_DEVICE, result ? 0 : place_of_address(*address), *address,
                      bytes);
}

static HELD_CALL CUresult held_alloc_async(CUdeviceptr *address, size_t bytes, CUstream stream)
{
    bool captured = is_in_capture(stream);
    CUresult result = cuMemAllocAsync(address, bytes, stream);
    if (captured || result)
        return result;
    return hold_given(result, HELD_POOLED, place_of_address(*address), *address, bytes);
}

static HELD_CALL CUresult held_alloc_of_pool(CUdeviceptr *address, size_t bytes, CUmemoryPool pool,
                                             CUstream stream)
{
    bool captured = is_in_capture(stream);
    CUresult result = cuMemAllocFromPoolAsync(address, bytes, pool, stream);
    if (captured || result)
        return result;
    return hold_given(result, HELD_POOLED, place_of_address(*address), *address, bytes);
}

static HELD_CALL CUresult held_free_async(CUdeviceptr address, CUstream stream)
{
    bool captured = is_in_capture(stream);
    CUresult result = cuMemFreeAsync(address, stream);
    return captured ? result : hold_taken(result, address);
}

static HELD_CALL CUresult held_free(CUdeviceptr address)
{
    return hold_taken(cuMemFree(address), address);
}

static HELD_CALL CUresult held_alloc_managed(CUdeviceptr *address, size_t bytes, unsigned flags)
{
    CUdevice device = 0;
    CUresult result = cuMemAllocManaged(address, bytes, flags);
    CHECK(cuCtxGetDevice(&device));
    return hold_given(result, HELD_MANAGED, device, *address, bytes);
}

static HELD_CALL CUresult held_host_alloc(void **bytes, size_t size_bytes, unsigned flags)
{
    CUresult result = cuMemHostAlloc(bytes, size_bytes, flags);
    return hold_given(result, HELD_PINNED, ON_HOST, (uintptr_t)*bytes, size_bytes);
}

static HELD_CALL CUresult held_free_host(void *bytes)
{
    return hold_taken(cuMemFreeHost(bytes), (uintptr_t)bytes);
}

static HELD_CALL CUresult held_register(void *bytes, size_t size_bytes, unsigned flags)
{
    CUresult result = cuMemHostRegister(bytes, size_bytes, flags);
    return hold_given(result, HELD_REGISTERED, ON_HOST, (uintptr_t)bytes, size_bytes);
}

static HELD_CALL CUresult held_unregister(void *bytes)
{
    return hold_taken(cuMemHostUnregister(bytes), (uintptr_t)bytes);
}

static HELD_CALL CUresult held_instantiate(CUgraphExec *exec, CUgraph graph,
                                           unsigned long long flags)
{
    CUdevice device = 0;
    CUresult result = cuGraphInstantiateWithFlags(exec, graph, flags);
    CHECK(cuCtxGetDevice(&device));
    return hold_given(result, HELD_EXECS, device, (uintptr_t)*exec, 0);
}

static HELD_CALL CUresult held_destroy_exec(CUgraphExec exec)
{
    return hold_taken(cuGraphExecDestroy(exec), (uintptr_t)exec);
}

#undef cuMemAlloc
#define cuMemAlloc held_alloc
#undef cuMemAllocAsync
#define cuMemAllocAsync held_alloc_async
#undef cuMemAllocFromPoolAsync
#define cuMemAllocFromPoolAsync held_alloc_of_pool
#undef cuMemFreeAsync
#define cuMemFreeAsync held_free_async
#undef cuMemFree
#define cuMemFree held_free
#define cuMemAllocManaged held_alloc_managed
#define cuMemHostAlloc held_host_alloc
#define cuMemFreeHost held_free_host
#undef cuMemHostRegister
#define cuMemHostRegister held_register
#define cuMemHostUnregister held_unregister
#define cuGraphInstantiateWithFlags held_instantiate
#define cuGraphExecDestroy held_destroy_exec

/* ---- what the library says ---- */

/* Behind the name, in the text up to its end; NULL: it is not there. */
static const char *find_text(const char *text, const char *end, const char *name)
{
    const char *found = text ? strstr(text, name) : NULL;
    return found && found < end ? found + strlen(name) : NULL;
}

static unsigned long long number_of(const char *text, const char *end, const char *name)
{
    const char *found = find_text(text, end, name);
    return found ? strtoull(found, NULL, 10) : 0;
}

static struct held_sum read_sum(const char *text, const char *end)
{
    return (struct held_sum){number_of(text, end, "\"bytes\":"),
                             number_of(text, end, "\"blocks\":"),
                             number_of(text, end, "\"peak_bytes\":")};
}

static void compare_sums(const char *what, int place, const struct held_sum *model,
                         const struct held_sum *said)
{
    if (model->bytes != said->bytes || model->blocks != said->blocks ||
        model->peak_bytes != said->peak_bytes)
        fail("ledger: %s at place %d: %llu bytes, %llu blocks, %llu at the peak, and the ledger "
             "says %llu, %llu, %llu",
             what, place, model->bytes, model->blocks, model->peak_bytes, said->bytes, said->blocks,
             said->peak_bytes);
}

/* A place's own member ends where its pools begin. */
static void compare_place(int place, const char *text)
{
    char name[32];
    const char *end = text ? strstr(text, "\"pools\":") : NULL;
    const char *kinds = find_text(text, end, "\"kinds\":{");
    struct held_sum said = read_sum(text, kinds);
    compare_sums("all", place, &model_ledger.places[place], &said);
    for (int kind = 0; kind < HELD_KINDS; kind++) {
        snprintf(name, sizeof name, "\"%s\":{", held_names[kind]);
        const char *row = find_text(kinds, end, name);
        said = row ? read_sum(row, strchr(row, '}')) : (struct held_sum){0};
        compare_sums(held_names[kind], place, &model_ledger.kinds[place][kind], &said);
    }
}

/* A pool that is destroyed may have its handle's twin: what they have together is compared. */
static void compare_pool(const char *json, uintptr_t pool)
{
    char name[64];
    struct held_sum model = {0}, said = {0};
    for (int i = 0; i < HELD_MAX; i++)
        if (model_ledger.blocks[i].name && model_ledger.blocks[i].pool == pool)
            add_to_sum(&model, model_ledger.blocks[i].bytes);
    snprintf(name, sizeof name, "{\"pool\":\"0x%llx\",", (unsigned long long)pool);
    for (const char *at = strstr(json, name); at; at = strstr(at + 1, name)) {
        struct held_sum one = read_sum(at, strchr(at, '}'));
        said.bytes += one.bytes;
        said.blocks += one.blocks;
    }
    said.peak_bytes = model.peak_bytes;
    compare_sums("a pool", 0, &model, &said);
}

static void compare_pools(const char *json)
{
    for (int i = 0; i < HELD_MAX; i++)
        if (model_ledger.blocks[i].name && model_ledger.blocks[i].pool)
            compare_pool(json, model_ledger.blocks[i].pool);
}

/* Where the library is not there, nobody says anything. */
static void check_ledger(void)
{
    static char json[LEDGER_TEXT_BYTES];
    char name[32];
    if (!safecopy_get_memory(json, sizeof json))
        return;
    const char *end = json + strlen(json);
    for (int place = 0; place < ON_HOST; place++) {
        snprintf(name, sizeof name, "{\"device\":%d,", place);
        compare_place(place, find_text(json, end, name));
    }
    compare_place(ON_HOST, find_text(json, end, "\"host\":{"));
    compare_pools(json);
    unsigned long long unknown = number_of(json, end, "\"unknown_frees\":");
    if (unknown != model_ledger.unknown_frees || number_of(json, end, "\"unrecorded\":") != 0)
        fail("ledger: %llu frees of what it does not know, and it says %llu",
             model_ledger.unknown_frees, unknown);
}

#endif
