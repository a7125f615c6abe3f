// expect: none
//
// Batch copies with wrong arguments while the stream captures: they fail as they do elsewhere, and
// add nothing to the graph.
#include "capture.h"

enum { COPIES = 2 };

struct batch {
    void *targets[COPIES];
    const void *sources[COPIES];
};

/* With so many sets of attributes, the first from this copy on. */
static bool is_refused(struct batch *batch, enum cudaMemcpySrcAccessOrder order, size_t sets,
                       size_t first, cudaStream_t stream)
{
    size_t sizes[COPIES] = {SMALL, SMALL};
    struct cudaMemcpyAttributes attributes[COPIES] = {{.srcAccessOrder = order},
                                                      {.srcAccessOrder = order}};
    size_t firsts[COPIES] = {first, first + 1};
    return cudaMemcpyBatchAsync(batch->targets, batch->sources, sizes, COPIES, attributes, firsts,
                                sets, stream) == cudaErrorInvalidValue;
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    struct batch batch = {{device_block(SMALL, 0), device_block(SMALL, 0)},
                          {pinned_block(SMALL, FOREIGN), pinned_block(SMALL, FOREIGN)}};

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    bool refused = is_refused(&batch, cudaMemcpySrcAccessOrderStream, 0, 0, stream) &&
                   is_refused(&batch, cudaMemcpySrcAccessOrderStream, 1, 1, stream) &&
                   is_refused(&batch, cudaMemcpySrcAccessOrderInvalid, 1, 0, stream);
    capture_copy(to, from, stream);
    replay(end_capture(stream, 1), stream);
    return finish(refused && !broken && device_holds(to, SMALL, WANTED));
}
