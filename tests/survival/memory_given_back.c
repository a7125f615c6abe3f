// expect-exit: 0
// link: cuda
// options: memory_signal=12
//
// 1 GB is allocated and freed: by a call that waits, in the order of a stream, and out of a pool
// that keeps it. NVML sees each come and go, and what nobody accounts for moves by less than 4 MB.
// The program asks the ledger, and without the library nobody.
#include <cuda.h>
#include <signal.h>

#include "../../include/safecopy.h"
#include "survival.h"

enum {
    MB = 1 << 20,
    KB = 1 << 10,
    BLOCK = 1024 * MB,
    MOVES = 4 * MB,     /* of what nobody accounts for, at most */
    OF_POOLS = 64 * MB, /* which take more than is asked of them */
    PATIENCE_S = 20,
    TRY_MS = 100,
};

/* What the latest look has found of the device; -1: nothing. */
struct figures {
    long driver, unaccounted;
};

static CUstream stream;
static struct figures before;

static long number_behind(const char *text, const char *what)
{
    const char *at = text ? strstr(text, what) : NULL;
    return at ? atol(at + strlen(what)) : -1;
}

static struct figures look(void)
{
    static char json[256 * KB];
    raise(SIGUSR2);
    usleep(TRY_MS * 1000);
    (void)safecopy_get_memory(json, sizeof json);
    const char *row = strstr(json, "\"unaccounted\":{");
    return (struct figures){number_behind(row, "\"driver_bytes\":"),
                            number_behind(row, "\"unaccounted\":{\"bytes\":")};
}

static bool is_near(long bytes, long wanted, long most)
{
    return labs(bytes - wanted) < most;
}

/* Has NVML seen so much more than before, of which the ledger knows all? The program waits for a
 * look that was not a moment ago. */
static void expect(const char *what, long more)
{
    struct figures now = before;
    bool is_right = !safecopy_version();
    for (unsigned i = 0; !is_right && i < PATIENCE_S * 1000 / TRY_MS; i++) {
        now = look();
        is_right = now.driver >= 0 && is_near(now.driver, before.driver + more, OF_POOLS) &&
                   is_near(now.unaccounted, before.unaccounted, MOVES);
    }
    printf("%s: %s\n", what, is_right ? "accounted for" : "not accounted for");
    if (is_right)
        return;
    printf("NVML had %ld and has %ld, unaccounted were %ld and are %ld\n", before.driver,
           now.driver, before.unaccounted, now.unaccounted);
    exit(1);
}

/* The context is there, and the driver takes nothing for it any more. */
static void begin(void)
{
    for (unsigned i = 0; safecopy_version() && i < PATIENCE_S * 1000 / TRY_MS; i++) {
        struct figures now = look();
        if (now.driver >= 0 && now.driver == before.driver)
            return;
        before = now;
    }
}

static void by_calls_that_wait(void)
{
    CUdeviceptr block = 0;
    CHECK(cuMemAlloc(&block, BLOCK));
    expect("allocated", BLOCK);
    CHECK(cuMemFree(block));
    expect("freed", 0);
}

static void in_the_order_of_a_stream(void)
{
    CUdeviceptr block = 0;
    CHECK(cuMemAllocAsync(&block, BLOCK, stream));
    CHECK(cuStreamSynchronize(stream));
    expect("allocated in order", BLOCK);
    CHECK(cuMemFreeAsync(block, stream));
    CHECK(cuStreamSynchronize(stream));
    expect("freed in order", 0);
}

static void out_of_a_pool(void)
{
    const CUmemPoolProps properties = {
        .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
    };
    CUmemoryPool pool = NULL;
    CUdeviceptr block = 0;
    cuuint64_t all = UINT64_MAX;
    CHECK(cuMemPoolCreate(&pool, &properties));
    CHECK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all));
    CHECK(cuMemAllocFromPoolAsync(&block, BLOCK, pool, stream));
    CHECK(cuStreamSynchronize(stream));
    expect("allocated of a pool", BLOCK);
    CHECK(cuMemFreeAsync(block, stream));
    CHECK(cuStreamSynchronize(stream));
    expect("kept by the pool", BLOCK);
    CHECK(cuMemPoolTrimTo(pool, 0));
    expect("trimmed", 0);
    CHECK(cuMemPoolDestroy(pool));
}

int main(void)
{
    CUcontext context = NULL;
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    begin();
    by_calls_that_wait();
    in_the_order_of_a_stream();
    out_of_a_pool();
    return 0;
}
