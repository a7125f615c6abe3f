// expect: none
// in-place: SC201 action=stalled kind=pinned
// in-place: wrong
//
// Copies whose kind names managed memory as the host's are those of pageable memory: the source has
// been read when the call returns, and the target written. So it is where graphs make them. The
// call waits for its stream: an upload before it is done as well.
#include "managed.h"

enum { COPIES = 3, WAYS = 2 };

struct copy {
    void *to, *from;
    enum cudaMemcpyKind kind;
};

static inline void copy_named(const struct copy *copy, bool by_graph, cudaStream_t stream)
{
    cudaGraph_t graph = NULL;
    cudaGraphNode_t node = NULL;
    if (!by_graph) {
        CHECK(cudaMemcpyAsync(copy->to, copy->from, SMALL, copy->kind, stream));
        return;
    }
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddMemcpyNode1D(&node, graph, NULL, 0, copy->to, copy->from, SMALL, copy->kind));
    launch_and_destroy(graph, stream);
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *sent = pinned_block(SMALL, WANTED), *device = device_block(SMALL, 0);
    void *managed = managed_block(SMALL, WANTED), *other = managed_block(SMALL, 0);
    void *to = device_block(SMALL, 0);
    const struct copy copies[COPIES] = {
        {to, managed, cudaMemcpyHostToDevice},
        {managed, device_block(SMALL, WANTED), cudaMemcpyDeviceToHost},
        {other, managed, cudaMemcpyDeviceToHost},
    };
    bool right = true;

    for (int i = 0; i < COPIES * WAYS; i++) {
        const struct copy *copy = &copies[i % COPIES];
        bool reads = copy->kind == cudaMemcpyHostToDevice, by_graph = i >= COPIES;
        fill(managed, SMALL, WANTED);
        fill(sent, SMALL, WANTED);
        busy(stream);
        CHECK(cudaMemcpyAsync(device, sent, SMALL, cudaMemcpyHostToDevice, stream));
        copy_named(copy, by_graph, stream);
        right = right && (reads || holds(copy->to, SMALL, WANTED));
        fill(reads ? managed : copy->to, SMALL, FOREIGN);
        if (!by_graph || !reads)
            fill(sent, SMALL, FOREIGN);
        CHECK(cudaStreamSynchronize(stream));
        right = right && (!reads || device_holds(to, SMALL, WANTED));
        right = right && device_holds(device, SMALL, WANTED);
    }
    return finish(right);
}
