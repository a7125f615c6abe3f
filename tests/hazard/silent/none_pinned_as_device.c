// expect: none
// in-place: SC202 action=stalled kind=registered
//
// Copies between pinned memory are complete when the call returns, whatever it names them, and when
// a launch returns that makes them. An upload before them is done as well.
#include "managed.h"

static inline void copy_within(void *to, const void *from, size_t size_bytes, cudaStream_t stream)
{
    CHECK(cudaMemcpyAsync(to, from, size_bytes, cudaMemcpyDeviceToDevice, stream));
}

static inline void copy_rows_within(void *to, const void *from, size_t size_bytes,
                                    cudaStream_t stream)
{
    CHECK(cudaMemcpy2DAsync(to, ROW_BYTES, from, ROW_BYTES, ROW_BYTES, size_bytes / ROW_BYTES,
                            cudaMemcpyDeviceToDevice, stream));
}

/* Launches wait there for nothing, as far as is known. */
static bool in_place(void)
{
    int attribute = 0;
    CHECK(cudaDeviceGetAttribute(&attribute, cudaDevAttrPageableMemoryAccess, 0));
    return attribute != 0;
}

int main(void)
{
    static managed_copy *const copies[] = {
        copy_plainly, copy_rows,     copy_layer,   copy_as_peers, copy_up,
        copy_down,    copy_captured, copy_by_node, copy_within,   copy_rows_within,
    };
    cudaStream_t stream = new_stream();
    void *from = pinned_block(SMALL, WANTED), *to = registered_block(SMALL, FOREIGN);
    void *sent = pinned_block(SMALL, WANTED), *device = device_block(SMALL, 0);
    bool right = true;

    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++) {
        fill(from, SMALL, WANTED);
        fill(to, SMALL, FOREIGN);
        fill(sent, SMALL, WANTED);
        busy(stream);
        CHECK(cudaMemcpyAsync(device, sent, SMALL, cudaMemcpyHostToDevice, stream));
        copies[i](to, from, SMALL, stream);
        right = right && holds(to, SMALL, WANTED);
        bool by_graph = copies[i] == copy_captured || copies[i] == copy_by_node;
        if (!by_graph || !in_place()) {
            fill(from, SMALL, FOREIGN);
            fill(sent, SMALL, FOREIGN);
        }
        CHECK(cudaStreamSynchronize(stream));
        right = right && holds(to, SMALL, WANTED) && device_holds(device, SMALL, WANTED);
    }
    return finish(right);
}
