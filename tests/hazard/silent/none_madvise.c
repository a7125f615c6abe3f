// expect: none
// needs: kernel (madvise)
//
// Advice by which a buffer in flight loses nothing: other advice, other memory, shared memory, and
// what the kernel refuses. None of the calls waits.
#include "mapping.h"

#include "touch.h"

#include <errno.h>

#ifndef MADV_COLD
#define MADV_COLD 20
#define MADV_PAGEOUT 21
#endif

static bool refuses(void *address, size_t size_bytes, int advice, int why)
{
    errno = 0;
    return madvise(address, size_bytes, advice) == -1 && errno == why;
}

int main(void)
{
    struct gate gate = {false, false};
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, WANTED);
    void *device_too = device_block(SMALL, 0);
    char *room = (char *)mapped_pages(NULL, 3 * SMALL, WANTED);
    char *source = room + SMALL;
    void *target = mmap(NULL, SMALL, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (target == MAP_FAILED)
        return 3;
    CHECK(cudaHostRegister(target, SMALL, cudaHostRegisterDefault));
    CHECK(cudaHostRegister(source, SMALL, cudaHostRegisterDefault));

    shut_gate(&gate, stream);
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaMemcpyAsync(device_too, source, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(madvise(target, SMALL, MADV_DONTNEED));
    CHECK(madvise(target, 0, MADV_REMOVE));
    CHECK(madvise(room, SMALL, MADV_DONTNEED));
    CHECK(madvise(source + SMALL, SMALL, MADV_FREE));
    CHECK(madvise(source, SMALL, MADV_WILLNEED));
    madvise(source, SMALL, MADV_COLD);
    madvise(source, SMALL, MADV_PAGEOUT);
    bool right = refuses(source + 1, page, MADV_DONTNEED, EINVAL) &&
                 refuses(source, SIZE_MAX, MADV_DONTNEED, EINVAL) &&
                 refuses(source, SIZE_MAX - 8 * page, MADV_DONTNEED, EINVAL) &&
                 refuses(source, SMALL, MADV_REMOVE, EINVAL) &&
                 refuses(source, SMALL, 4711, EINVAL);
    CHECK(posix_madvise(source, SMALL, POSIX_MADV_DONTNEED));
    open_gate(&gate);
    CHECK(cudaStreamSynchronize(stream));

    right = right && room[0] == 0 && holds(target, SMALL, WANTED);
    CHECK(cudaMemcpy(image_of(SMALL), device_too, SMALL, cudaMemcpyDeviceToHost));
    return finish(right && !gate.gave_up && memcmp(source, image_of(SMALL), SMALL) == 0);
}
