// expect: none
// needs: kernel (mremap)
//
// mremap by which a buffer in flight loses nothing: a tail that is not copied goes, the mapping
// grows where it is, keeps its size, lies where another one would like to be, or the kernel
// refuses. None of the calls waits.
#include "mapping.h"

#include "touch.h"

#include <errno.h>

static bool refuses(void *address, size_t old_bytes, size_t new_bytes, int flags, void *target)
{
    errno = 0;
    return mremap(address, old_bytes, new_bytes, flags, target) == MAP_FAILED && errno == EINVAL;
}

int main(void)
{
    struct gate gate = {false, false};
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    char *source = (char *)mapped_pages(NULL, 4 * SMALL, WANTED);
    char *other = (char *)mapped_pages(NULL, SMALL, FOREIGN);
    CHECK(munmap(source + 3 * SMALL, SMALL));
    CHECK(cudaHostRegister(source, SMALL, cudaHostRegisterDefault));

    shut_gate(&gate, stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    bool right = mremap(source, 3 * SMALL, SMALL, 0) == source &&
                 mremap(source, SMALL, SMALL, MREMAP_MAYMOVE) == source &&
                 mremap(source, SMALL, 2 * SMALL, 0) == source && source[SMALL] == 0;
    void *moved = mremap(other, SMALL, SMALL, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, source);
    right = right && (moved == MAP_FAILED || (moved != source && holds(moved, SMALL, FOREIGN)));
    right = right && refuses(source + 1, SMALL, 2 * SMALL, MREMAP_MAYMOVE, NULL) &&
            refuses(source, SMALL, 0, MREMAP_MAYMOVE, NULL) &&
            refuses(source, SMALL, SMALL, MREMAP_FIXED, other) &&
            refuses(source, SMALL, SMALL, MREMAP_MAYMOVE | MREMAP_FIXED, source) &&
            refuses(source, SMALL, SMALL, MREMAP_MAYMOVE | MREMAP_FIXED, other + 1) &&
            refuses(source, SMALL, SMALL, MREMAP_MAYMOVE | 1024, NULL);
    open_gate(&gate);
    CHECK(cudaStreamSynchronize(stream));
    return finish(right && !gate.gave_up && device_holds(device, SMALL, WANTED) &&
                  holds(source, SMALL, WANTED));
}
