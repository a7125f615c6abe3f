// expect: SC201 action=stalled kind=pinned certainty=observed direction=none event=memory-write
// in-place: none
// in-place: wrong
// options: kernels=order
// needs: sim
//
// The next input is written into pinned memory that a kernel is still to read, by the runtime. The
// kernel is registered as a compiler does it, but as text, which only the simulated runtime takes.
#include "twin.h"

#include "tests/copying_kernel.h"

void **__cudaRegisterFatBinary(void *image);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaRegisterFunction(void **handle, const char *host_side, char *device_side,
                            const char *name, int thread_limit, uint3 *thread, uint3 *block,
                            dim3 *block_size, dim3 *grid_size, int *warp_size);

static const struct {
    int magic, version;
    const void *text;
    void *more;
} image = {0x466243b1, 1, copying_kernel_text, NULL};

static const char copy_bytes; /* stands for the kernel */

static TWIN_HELPER void register_kernel(void)
{
    void **handle = __cudaRegisterFatBinary((void *)(uintptr_t)&image);
    __cudaRegisterFunction(handle, &copy_bytes, NULL, "copy_bytes", -1, NULL, NULL, NULL, NULL,
                           NULL);
    __cudaRegisterFatBinaryEnd(handle);
}

int main(void)
{
    register_kernel();
    cudaStream_t stream = new_stream();
    void *result = device_block(SMALL, 0);
    void *input = pinned_block(SMALL, WANTED);
    unsigned count = (unsigned)SMALL;
    void *arguments[] = {&result, &input, &count};

    busy(stream);
    CHECK(cudaLaunchKernel(&copy_bytes, (dim3){count / 256, 1, 1}, (dim3){256, 1, 1}, arguments, 0,
                           stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    fill(input, SMALL, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(result, SMALL, WANTED) && holds(input, SMALL, FOREIGN));
}
