// cflags: -fno-inline -fno-optimize-sibling-calls
/* A service that keeps GPU memory, in five ways: the program of docs/memory.md.
 *
 *   grow    each request leaves 8 MB behind
 *   ranks   of ranks (RANK), 2 keeps a copy of its weights, and 3 has memory of device 0
 *   pool    a pool keeps 900 MB that nobody uses
 *   fail    900 MB are freed behind work, and 200 MB more are asked for
 *   pin     page-locked memory grows until the process is killed
 *
 * Exit status 3: a CUDA call failed.
 */
#include <cuda_runtime_api.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const size_t MB = (size_t)1 << 20;

/* Longer than a line about memory takes to come, in the options of docs/memory.md. */
enum { MOMENT_US = 300 * 1000 };

#define CHECK(call) check((call), #call)

static void check(cudaError_t result, const char *call)
{
    if (result == cudaSuccess)
        return;
    fprintf(stderr, "%s: error %d\n", call, (int)result);
    exit(3);
}

static void *load_weights(void)
{
    void *weights = NULL;
    CHECK(cudaMalloc(&weights, 256 * MB));
    return weights;
}

/* The mistake of `grow`: what a request is answered from is cached, and nobody drops it. */
static void serve_request(void)
{
    void *cached = NULL;
    CHECK(cudaMalloc(&cached, 8 * MB));
}

static void grow(void)
{
    load_weights();
    serve_request();
    usleep(MOMENT_US);
    for (int i = 0; i < 10; i++) {
        serve_request();
        usleep(MOMENT_US / 10);
    }
    usleep(MOMENT_US);
}

/* The mistake of rank 3: it asks before it has chosen its device. */
static void allocate_scratch(void)
{
    void *scratch = NULL;
    CHECK(cudaMalloc(&scratch, 2 * MB));
}

/* The mistake of rank 2. */
static void keep_a_copy(void)
{
    void *copy = load_weights();
    CHECK(cudaMemset(copy, 0, 256 * MB));
}

static void be_a_rank(void)
{
    const char *name = getenv("RANK");
    int rank = name ? atoi(name) : 0, devices = 1;
    if (rank == 3)
        allocate_scratch();
    CHECK(cudaGetDeviceCount(&devices));
    CHECK(cudaSetDevice(rank % devices));
    load_weights();
    if (rank == 2)
        keep_a_copy();
}

static void *fill_pool(cudaMemPool_t *pool)
{
    uint64_t all = UINT64_MAX;
    void *block = NULL;
    CHECK(cudaDeviceGetDefaultMemPool(pool, 0));
    CHECK(cudaMemPoolSetAttribute(*pool, cudaMemPoolAttrReleaseThreshold, &all));
    CHECK(cudaMallocAsync(&block, 900 * MB, cudaStreamLegacy));
    return block;
}

static void keep_pooled(void)
{
    cudaMemPool_t pool;
    CHECK(cudaFreeAsync(fill_pool(&pool), cudaStreamLegacy));
    CHECK(cudaDeviceSynchronize());
}

static void work(void *unused)
{
    (void)unused;
    usleep(MOMENT_US);
}

static void fail(void)
{
    cudaMemPool_t pool;
    void *block = fill_pool(&pool);
    CHECK(cudaLaunchHostFunc(cudaStreamLegacy, work, NULL));
    CHECK(cudaFreeAsync(block, cudaStreamLegacy));
    printf("200 MB more: error %d\n", (int)cudaMalloc(&block, 200 * MB));
    CHECK(cudaDeviceSynchronize());
    printf("again, behind it: error %d\n", (int)cudaMalloc(&block, 200 * MB));
}

static void stage_batch(void)
{
    void *staged = NULL;
    CHECK(cudaMallocHost(&staged, 64 * MB));
}

/* As the kernel kills who has most. */
static void pin(void)
{
    for (int i = 0; i < 10; i++)
        stage_batch();
    usleep(MOMENT_US);
    kill(getpid(), SIGKILL);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*keep)(void);
    } ways[] = {
        {"grow", grow}, {"ranks", be_a_rank}, {"pool", keep_pooled}, {"fail", fail}, {"pin", pin}};
    for (size_t i = 0; argc > 1 && i < sizeof ways / sizeof ways[0]; i++)
        if (strcmp(argv[1], ways[i].name) == 0)
            ways[i].keep();
    return 0;
}
