// expect: SC101 action=deferred kind=pageable certainty=observed
//
// wild-bugs.md row 2: a function stages its arguments in a local std::vector, sends it with a batch
// copy and returns. On the default stream the next synchronous call hid it; on a stream of its own
// nothing does.
#include "twin.h"

#include <vector>

static void send(void *device, cudaStream_t stream)
{
    std::vector<unsigned char> staging(4 * LARGE);
    fill(staging.data(), staging.size(), WANTED);

    void *target = device;
    const void *source = staging.data();
    size_t size = staging.size();
    size_t first = 0;
    cudaMemcpyAttributes order{};
    order.srcAccessOrder = cudaMemcpySrcAccessOrderAny;
    CHECK(cudaMemcpyBatchAsync(&target, &source, &size, 1, &order, &first, 1, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
}

int main()
{
    cudaStream_t stream = new_stream();
    void *device = device_block(4 * LARGE, 0);

    busy(stream);
    send(device, stream);
    std::vector<unsigned char> next(4 * LARGE, 0xee);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, 4 * LARGE, WANTED) && next.back() == 0xee);
}
