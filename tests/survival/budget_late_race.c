// expect-exit: 0
// options: guard_budget=0.1%
// strict-says: operations_not_watched
//
// Two hot call sites, of which guard_budget guards a few operations, in turn. With an argument the
// program begins, after many rounds without a mistake, to read the result before it is there, until
// somebody has found it.
#include "survival.h"

#include "include/safecopy.h"

enum { BYTES = 64 << 10, CLEAN_ROUNDS = 3000, RACY_ROUNDS = 200000 };

static unsigned char *result, *source;
static void *device;
static cudaStream_t stream;

static void download(int early)
{
    CHECK(cudaMemcpyAsync(result, device, BYTES, cudaMemcpyDeviceToHost, stream));
    if (early)
        (void)*(volatile unsigned char *)result;
    CHECK(cudaStreamSynchronize(stream));
}

static void upload(int round)
{
    memset(source, round, BYTES);
    CHECK(cudaMemcpyAsync(device, source, BYTES, cudaMemcpyHostToDevice, stream));
    CHECK(cudaStreamSynchronize(stream));
}

static int is_found(void)
{
    return safecopy_get_counts(NULL, 0) > 0;
}

/* All rounds make the same calls. */
int main(int argc, char **argv)
{
    int rounds = argc > 1 ? CLEAN_ROUNDS + RACY_ROUNDS : CLEAN_ROUNDS;
    (void)argv;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMallocHost((void **)&result, BYTES));
    CHECK(cudaMallocHost((void **)&source, BYTES));
    CHECK(cudaMalloc(&device, BYTES));
    for (int round = 0; round < rounds && !is_found(); round++) {
        upload(round);
        download(round >= CLEAN_ROUNDS);
        if (result[BYTES - 1] != (unsigned char)round)
            return 4;
        if (round == CLEAN_ROUNDS - 1)
            puts("clean to here");
    }
    puts(is_found() ? "found" : "nothing");
    return 0;
}
