// expect: none
//
// Pages of a mapped file that cannot be written are dropped while a copy still reads them, to keep
// the process small: the next touch, the driver's too, finds them in the file.
#include "late_copy.h"

#include "touch.h"

static void *mapped_file(unsigned seed)
{
    int file = memfd_create("weights", 0);
    void *image = filled_block(LARGE, seed);
    if (file < 0 || write(file, image, LARGE) != (ssize_t)LARGE)
        exit(3);
    void *pages = mmap(NULL, LARGE, PROT_READ, MAP_PRIVATE, file, 0);
    if (pages == MAP_FAILED)
        exit(3);
    free(image);
    close(file);
    return pages;
}

int main(void)
{
    struct gate gate = {false, false};
    cudaStream_t stream = new_stream();
    void *device = device_block(LARGE, 0);
    void *source = mapped_file(WANTED);

    shut_gate(&gate, stream);
    late_copy(device, source, LARGE, stream);
    CHECK(madvise(source, LARGE, MADV_DONTNEED));
    open_gate(&gate);
    CHECK(cudaStreamSynchronize(stream));
    return finish(!gate.gave_up && device_holds(device, LARGE, WANTED));
}
