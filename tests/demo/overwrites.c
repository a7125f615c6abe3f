// cflags: -fno-inline
/* A training loop that spoils its own batches: the second program of `make demo`.
 *
 * There is one pinned staging buffer. Each batch is written into it and uploaded without blocking,
 * behind the model's weights on one stream. The mistake is in fill_batch(): it writes the next
 * batch while the upload of the last one may not have read the buffer yet. Nothing is freed, and no
 * CUDA call is made at that moment.
 *
 * Exit status 0: every batch arrived as it was made; 1: some did not; 3: a CUDA call failed.
 */
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCHES = 4 };

static const size_t BATCH_BYTES = (size_t)1 << 20;
static const size_t WEIGHTS_BYTES = (size_t)256 << 20;

#define CHECK(call) check((call), #call)

static void check(cudaError_t result, const char *call)
{
    if (result == cudaSuccess)
        return;
    fprintf(stderr, "%s: error %d\n", call, (int)result);
    exit(3);
}

static unsigned char sample(int batch, size_t at)
{
    return (unsigned char)(at * 5 + (at >> 11) + (size_t)batch * 31 + 1);
}

/* The mistake: nothing has waited for the upload of the batch before. */
static void fill_batch(unsigned char *staging, int batch)
{
    for (size_t at = 0; at < BATCH_BYTES; at++)
        staging[at] = sample(batch, at);
}

static size_t count_wrong_samples(const unsigned char *on_device, int batch)
{
    unsigned char *arrived = malloc(BATCH_BYTES);
    size_t wrong = 0;

    if (!arrived)
        exit(3);
    CHECK(cudaMemcpy(arrived, on_device, BATCH_BYTES, cudaMemcpyDeviceToHost));
    for (size_t at = 0; at < BATCH_BYTES; at++)
        wrong += arrived[at] != sample(batch, at);
    free(arrived);
    return wrong;
}

static bool print_verdict(unsigned char *const *on_device)
{
    int right = 0;

    for (int i = 0; i < BATCHES; i++) {
        size_t wrong = count_wrong_samples(on_device[i], i);
        printf("  batch %d: %7zu of %zu bytes wrong on the device\n", i, wrong, BATCH_BYTES);
        right += wrong == 0;
    }
    printf("  %d of %d batches arrived as they were made\n", right, (int)BATCHES);
    return right == BATCHES;
}

int main(void)
{
    unsigned char *weights, *weights_on_device, *staging, *on_device[BATCHES];
    cudaStream_t stream;

    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMallocHost((void **)&weights, WEIGHTS_BYTES));
    CHECK(cudaMalloc((void **)&weights_on_device, WEIGHTS_BYTES));
    CHECK(cudaMallocHost((void **)&staging, BATCH_BYTES));
    memset(weights, 1, WEIGHTS_BYTES);
    for (int i = 0; i < BATCHES; i++)
        CHECK(cudaMalloc((void **)&on_device[i], BATCH_BYTES));

    CHECK(
        cudaMemcpyAsync(weights_on_device, weights, WEIGHTS_BYTES, cudaMemcpyHostToDevice, stream));
    for (int i = 0; i < BATCHES; i++) {
        fill_batch(staging, i);
        CHECK(cudaMemcpyAsync(on_device[i], staging, BATCH_BYTES, cudaMemcpyHostToDevice, stream));
    }
    CHECK(cudaStreamSynchronize(stream));
    return print_verdict(on_device) ? 0 : 1;
}
