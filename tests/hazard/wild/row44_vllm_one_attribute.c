// expect: none
//
// https://github.com/vllm-project/vllm/pull/53860 and its like: thousands of copies in a batch
// share one set of attributes, with one index. The driver reads no more than numAttrs of either,
// and nobody else may: what lies behind them is not accessible here.
#include "fenced.h"

enum { COPIES = 4096, BYTES = 256 };

static void copy_all(cudaStream_t stream, void *to, const void *from)
{
    struct fenced_batch batch = fenced_batch(to, from, COPIES, BYTES);
    CHECK(issue_fenced(&batch, stream));
    CHECK(cudaStreamSynchronize(stream));
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(COPIES * BYTES, 0);
    void *pinned = pinned_block(COPIES * BYTES, WANTED);
    void *back = pinned_block(COPIES * BYTES, 0);
    void *pageable = filled_block(COPIES * BYTES, FOREIGN);

    copy_all(stream, device, pinned);
    copy_all(stream, back, device);
    bool right = holds(back, COPIES * BYTES, WANTED);
    copy_all(stream, device, pageable);
    copy_all(stream, back, device);
    return finish(right && holds(back, COPIES * BYTES, FOREIGN));
}
