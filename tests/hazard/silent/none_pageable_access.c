// expect: none
// sim: pageable_access=1
//
// The same calls by a program that waits: locals, small and large sources, destinations that are
// read when they are there, and sources with order DURING_API_CALL, which may go when the call
// returns.
#include "batch.h"

enum { SMALLER = 5000 };

static bool sent_and_back(size_t size_bytes, enum cudaMemcpySrcAccessOrder order,
                          cudaStream_t stream)
{
    void *device = device_block(size_bytes, 0);
    void *source = filled_block(size_bytes, WANTED);
    void *target = filled_block(size_bytes, 0);
    batch_copy(device, source, size_bytes, order, stream);
    if (order == cudaMemcpySrcAccessOrderDuringApiCall)
        fill(source, size_bytes, FOREIGN);
    batch_copy(target, device, size_bytes, cudaMemcpySrcAccessOrderStream, stream);
    CHECK(cudaStreamSynchronize(stream));
    bool right = holds(target, size_bytes, WANTED);
    free(source);
    free(target);
    return right;
}

static bool local_sent(cudaStream_t stream)
{
    unsigned char local[SMALLER];
    void *device = device_block(SMALLER, 0);
    fill(local, SMALLER, WANTED);
    CHECK(cudaMemcpyAsync(device, local, SMALLER, cudaMemcpyHostToDevice, stream));
    CHECK(cudaStreamSynchronize(stream));
    fill(local, SMALLER, FOREIGN);
    return device_holds(device, SMALLER, WANTED);
}

int main(void)
{
    cudaStream_t stream = new_stream();
    bool right = local_sent(stream);
    for (int order = cudaMemcpySrcAccessOrderStream; order <= cudaMemcpySrcAccessOrderAny;
         order++) {
        right = sent_and_back(SMALLER, (enum cudaMemcpySrcAccessOrder)order, stream) && right;
        right = sent_and_back(SMALL, (enum cudaMemcpySrcAccessOrder)order, stream) && right;
        right = sent_and_back(LARGE, (enum cudaMemcpySrcAccessOrder)order, stream) && right;
    }
    return finish(right);
}
