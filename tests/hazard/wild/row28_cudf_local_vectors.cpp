// expect: SC101 action=deferred kind=pageable
// sim: late_batch=1
//
// docs/wild-bugs.md, row 28: a function packs local vectors into one batch in stream order, with
// the flag PreferOverlapWithCompute, and returns. Their memory is freed, and handed out again,
// before a late driver has read it.
#include "batch.h"

#include <vector>

enum { VECTORS = 1000, BYTES = 600 };

static void send(unsigned char *device, cudaStream_t stream)
{
    std::vector<std::vector<unsigned char>> vectors(VECTORS, std::vector<unsigned char>(BYTES));
    std::vector<void *> targets(VECTORS);
    std::vector<const void *> sources(VECTORS);
    std::vector<size_t> sizes(VECTORS, BYTES);
    for (size_t i = 0; i < VECTORS; i++) {
        fill(vectors[i].data(), BYTES, WANTED);
        targets[i] = device + i * BYTES;
        sources[i] = vectors[i].data();
    }
    batch_copies(targets.data(), sources.data(), sizes.data(), VECTORS,
                 cudaMemcpySrcAccessOrderStream, stream);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
}

int main()
{
    cudaStream_t stream = new_stream();
    unsigned char *device = static_cast<unsigned char *>(device_block(VECTORS * BYTES, 0));

    send(device, stream);
    std::vector<std::vector<unsigned char>> next(VECTORS, std::vector<unsigned char>(BYTES, 0xee));

    CHECK(cudaDeviceSynchronize());
    bool right = next[VECTORS / 2][BYTES / 2] == 0xee;
    for (size_t i = 0; i < VECTORS; i++)
        right = right && device_holds(device + i * BYTES, BYTES, WANTED);
    return finish(right);
}
