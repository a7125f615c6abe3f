// expect: SC201 action=snapshotted kind=pageable
// expect: SC201 action=snapshotted kind=stack event=return
// sim: pageable_access=1
// needs: sim
//
// A device that reads pageable memory in place does so when the stream comes to the copy: of plain
// copies and of batches, of small sources, and of a local whose function has returned by then.
// Large sources are not guarded there.
#include "batch.h"
#include "touch.h"

enum { SMALLER = 5000 };

static void send(void *device, const void *source, size_t size_bytes, bool batch,
                 cudaStream_t stream)
{
    if (batch)
        batch_copy(device, source, size_bytes, cudaMemcpySrcAccessOrderStream, stream);
    else
        CHECK(cudaMemcpyAsync(device, source, size_bytes, cudaMemcpyHostToDevice, stream));
}

static bool is_overwritten_in_time(size_t size_bytes, bool batch, cudaStream_t stream)
{
    void *device = device_block(size_bytes, 0);
    void *source = page_block(size_bytes, WANTED);
    send(device, source, size_bytes, batch, stream);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    fill(source, size_bytes, FOREIGN);
    CHECK(cudaStreamSynchronize(stream));
    return device_holds(device, size_bytes, WANTED) && holds(source, size_bytes, FOREIGN);
}

static __attribute__((noinline)) void send_local(void *device, bool batch, cudaStream_t stream)
{
    unsigned char local[SMALLER];
    fill(local, SMALLER, WANTED);
    send(device, local, SMALLER, batch, stream);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
}

static __attribute__((noinline)) bool use_stack(void)
{
    unsigned char other[2 * SMALLER];
    fill(other, sizeof other, FOREIGN);
    return holds(other, sizeof other, FOREIGN);
}

static bool is_local_sent(bool batch, cudaStream_t stream)
{
    void *device = device_block(SMALLER, 0);
    send_local(device, batch, stream);
    bool used = use_stack();
    CHECK(cudaStreamSynchronize(stream));
    return used && device_holds(device, SMALLER, WANTED);
}

int main(void)
{
    cudaStream_t stream = new_stream();
    bool right = true;
    for (int batch = 0; batch < 2; batch++) {
        right = is_overwritten_in_time(SMALLER, batch, stream) && right;
        right = is_local_sent(batch, stream) && right;
    }
    return finish(right);
}
