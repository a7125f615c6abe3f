// expect: none
// needs: kernel (mprotect)
//
// Protections under which a copy still finds what it needs: reading a pageable source, and any of
// registered memory, whose pages the device has. None of the calls waits.
#include "late_copy.h"

#include "touch.h"

int main(void)
{
    struct gate gate = {false, false};
    cudaStream_t stream = new_stream();
    void *device = device_block(LARGE, 0);
    void *device_too = device_block(LARGE, 0);
    char *source = (char *)mapped_pages(NULL, 2 * LARGE, WANTED);
    void *registered = registered_pages(LARGE, WANTED);

    shut_gate(&gate, stream);
    late_copy(device, source, LARGE, stream);
    CHECK(cudaMemcpyAsync(device_too, registered, LARGE, cudaMemcpyHostToDevice, stream));
    CHECK(mprotect(source, LARGE, PROT_READ));
    CHECK(mprotect(source + LARGE, LARGE, PROT_NONE));
    CHECK(mprotect(source, 0, PROT_NONE));
    CHECK(mprotect(registered, LARGE, PROT_NONE));
    bool right = mprotect(source + 1, LARGE, PROT_NONE) == -1;
    open_gate(&gate);
    CHECK(cudaStreamSynchronize(stream));
    CHECK(mprotect(registered, LARGE, PROT_READ));
    right = right && device_holds(device, LARGE, WANTED) && device_holds(device_too, LARGE, WANTED);
    return finish(right && !gate.gave_up);
}
