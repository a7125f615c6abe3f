// expect: none
//
// Registered memory is the driver's to read whatever the program does with its mapping: takes its
// own access away, or unmaps it.
#include "mapping.h"

#include "touch.h"

enum { BYTES = 28 << 10, MAPPED = 32 << 10 };

/* Where nobody else is given memory. */
static void *const LOW = (void *)((uintptr_t)3 << 28);

static bool copies_right(const void *source, cudaStream_t stream)
{
    void *device = device_block(BYTES, 0);
    CHECK(cudaMemcpyAsync(device, source, BYTES, cudaMemcpyHostToDevice, stream));
    CHECK(cudaStreamSynchronize(stream));
    return device_holds(device, BYTES, WANTED);
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(BYTES, 0);
    void *locked = registered_pages(MAPPED, WANTED);
    void *pinned = pinned_block(BYTES, WANTED);
    void *pages = (void *)((uintptr_t)pinned & ~(uintptr_t)4095);
    void *unmapped = mapped_pages(LOW, MAPPED, WANTED);
    CHECK(cudaHostRegister(unmapped, MAPPED, cudaHostRegisterDefault));

    bool right = copies_right(locked, stream);
    CHECK(cudaMemcpyAsync(device, pinned, BYTES, cudaMemcpyHostToDevice, stream));
    if (mprotect(pages, BYTES, PROT_NONE) != 0)
        return 3;
    CHECK(cudaStreamSynchronize(stream));
    if (mprotect(locked, MAPPED, PROT_NONE) != 0 || munmap(unmapped, MAPPED) != 0)
        return 3;
    right = copies_right(locked, stream) && right;
    right = copies_right(pinned, stream) && right;
    right = copies_right(unmapped, stream) && right;
    if (mprotect(locked, MAPPED, PROT_READ) != 0)
        return 3;
    return finish(copies_right(locked, stream) && right);
}
