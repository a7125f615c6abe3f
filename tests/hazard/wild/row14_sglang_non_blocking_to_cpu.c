// expect: SC202 action=stalled kind=pinned certainty=observed
//
// docs/wild-bugs.md, row 14: `next_token = sampled.to("cpu", non_blocking=True)` and then
// `.tolist()`: the tensor comes from a cache of pinned memory and still has the tokens of the step
// before.
#include "touch.h"

enum { BATCH = 32 };

static bool tokens_are(const int64_t *tokens, int64_t first)
{
    bool right = true;
    for (int i = 0; i < BATCH; i++)
        right = right && tokens[i] == first + i;
    return right;
}

static void sample(int64_t *device, int64_t first, cudaStream_t stream)
{
    int64_t tokens[BATCH];
    for (int i = 0; i < BATCH; i++)
        tokens[i] = first + i;
    CHECK(cudaMemcpyAsync(device, tokens, sizeof tokens, cudaMemcpyHostToDevice, stream));
    busy(stream);
}

int main(void)
{
    cudaStream_t stream = new_stream();
    int64_t *device = (int64_t *)device_block(BATCH * sizeof *device, 0);
    int64_t *host = (int64_t *)pinned_block(BATCH * sizeof *host, 0);
    bool right = true;

    for (int step = 1; step <= 3; step++) {
        sample(device, step * 100, stream);
        CHECK(cudaMemcpyAsync(host, device, BATCH * sizeof *host, cudaMemcpyDeviceToHost, stream));
        if (fixed)
            CHECK(cudaStreamSynchronize(stream));
        right = tokens_are(host, step * 100) && right;
    }
    CHECK(cudaDeviceSynchronize());
    return finish(right);
}
