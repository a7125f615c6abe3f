// expect: SC201 action=stalled kind=registered certainty=observed
// needs: small-pages
//
// One read fills the end of a registered source whose copy has not run, and what lies behind it on
// the same page.
#include "files.h"

enum { END = 1000, BEHIND = 500 };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    unsigned char *block = registered_block(SMALL + BEHIND, WANTED);
    unsigned char *end = block + SMALL - END;
    int fd = filled_file(END + BEHIND, FOREIGN);

    busy(stream);
    CHECK(cudaMemcpyAsync(device, block, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    ALL(read(fd, end, END + BEHIND), END + BEHIND);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(end, END + BEHIND, FOREIGN));
}
