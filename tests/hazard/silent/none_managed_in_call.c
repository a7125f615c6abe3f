// expect: none
// in-place: SC201 action=stalled kind=pinned
// in-place: SC101 action=deferred kind=pageable
// in-place: wrong
//
// What the driver has done when the call returns: copies from managed to pageable memory, copies
// that say that both sides are the host's, and the sources of copies from pageable to managed
// memory. The first two wait for the stream, so that an upload before them is done as well.
#include "managed.h"

enum { COPIES = 3 };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *pinned = pinned_block(SMALL, WANTED), *pageable = filled_block(SMALL, FOREIGN);
    void *managed = managed_block(SMALL, WANTED), *second = managed_block(SMALL, FOREIGN);
    void *sent = pinned_block(SMALL, WANTED), *to = device_block(SMALL, 0);
    void *next = filled_block(SMALL, WANTED);
    const struct {
        void *to;
        const void *from;
        enum cudaMemcpyKind kind;
    } copies[COPIES] = {
        {pageable, managed, cudaMemcpyDefault},
        {second, managed, cudaMemcpyHostToHost},
        {second, pinned, cudaMemcpyHostToHost},
    };
    bool right = true;

    for (int i = 0; i < COPIES; i++) {
        fill(sent, SMALL, WANTED);
        fill(copies[i].to, SMALL, FOREIGN);
        busy(stream);
        CHECK(cudaMemcpyAsync(to, sent, SMALL, cudaMemcpyHostToDevice, stream));
        CHECK(cudaMemcpyAsync(copies[i].to, copies[i].from, SMALL, copies[i].kind, stream));
        right = right && holds(copies[i].to, SMALL, WANTED);
        fill(sent, SMALL, FOREIGN);
        CHECK(cudaStreamSynchronize(stream));
        right = right && device_holds(to, SMALL, WANTED);
    }
    fill(second, SMALL, FOREIGN);
    busy(stream);
    CHECK(cudaMemcpyAsync(second, next, SMALL, cudaMemcpyDefault, stream));
    fill(next, SMALL, FOREIGN);
    free(next);
    CHECK(cudaStreamSynchronize(stream));
    return finish(right && holds(second, SMALL, WANTED));
}
