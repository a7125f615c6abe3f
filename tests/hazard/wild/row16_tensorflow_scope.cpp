// expect: SC101 action=deferred kind=registered certainty=observed
//
// wild-bugs.md row 16: the source of an asynchronous copy is owned by an object of the block that
// issues it, and leaves with it.
#include "twin.h"

#include <memory>

static void upload(void *device, cudaStream_t stream)
{
    std::unique_ptr<unsigned char[]> source(new unsigned char[SMALL]);
    fill(source.get(), SMALL, WANTED);
    CHECK(cudaHostRegister(source.get(), SMALL, cudaHostRegisterDefault));
    CHECK(cudaMemcpyAsync(device, source.get(), SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(source.get()));
    }
}

int main()
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);

    busy(stream);
    upload(device, stream);
    std::unique_ptr<unsigned char[]> owner(new unsigned char[SMALL]);
    fill(owner.get(), SMALL, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(owner.get(), SMALL, FOREIGN));
}
