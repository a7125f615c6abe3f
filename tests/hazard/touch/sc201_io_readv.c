// expect: SC201 action=stalled kind=pinned certainty=observed
//
// One of three pieces that a file is read into is a source whose copy has not run.
#include "files.h"

enum { EDGE = 1000 };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    unsigned char *source = pinned_block(SMALL, WANTED);
    unsigned char *all = filled_block(SMALL + 2 * EDGE, FOREIGN);
    unsigned char *head = filled_block(EDGE, 0);
    unsigned char *tail = filled_block(EDGE, 0);
    struct iovec pieces[] = {{head, EDGE}, {source, SMALL}, {tail, EDGE}};
    int fd = filled_file(SMALL + 2 * EDGE, FOREIGN);

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    ALL(readv(fd, pieces, 3), SMALL + 2 * EDGE);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && memcmp(head, all, EDGE) == 0 &&
                  memcmp(source, all + EDGE, SMALL) == 0 &&
                  memcmp(tail, all + EDGE + SMALL, EDGE) == 0);
}
