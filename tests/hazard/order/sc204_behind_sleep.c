// expect: SC204 action=ordered kind=pinned direction=H2D
// expect: SC501 action=ordered kind=device direction=memset
// expect: SC502 action=ordered kind=device
// options: device=1
// not-by: ranges managed
//
// Each first operation stands behind a host function that sleeps, and the second one, on another
// stream, is over and waited for before the function has returned. So the function might have
// waited for it, if its code did not say that it waits for nobody.
#include "naps.h"

static cudaStream_t first, second, third;

/* What the third stream waits for is in order. */
static cudaStream_t second_if_racy(void)
{
    cudaEvent_t event = new_event();
    CHECK(cudaEventRecord(event, first));
    CHECK(cudaStreamWaitEvent(third, event, 0));
    return fixed ? third : second;
}

static bool downloads_into_source(void *device, const void *other, void *source)
{
    fill(source, LARGE, WANTED);
    CHECK(cudaLaunchHostFunc(first, nap, NULL));
    CHECK(cudaMemcpyAsync(device, source, LARGE, cudaMemcpyHostToDevice, first));
    cudaStream_t stream = second_if_racy();
    CHECK(cudaMemcpyAsync(source, other, LARGE, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaDeviceSynchronize());
    return device_holds(device, LARGE, WANTED);
}

static bool reads_before_memset(void *device, unsigned char *result)
{
    CHECK(cudaLaunchHostFunc(first, nap, NULL));
    CHECK(cudaMemsetAsync(device, WANTED, LARGE, first));
    cudaStream_t stream = second_if_racy();
    CHECK(cudaMemcpyAsync(result, device, LARGE, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    bool right = result[5] == WANTED;
    CHECK(cudaDeviceSynchronize());
    return right;
}

static bool frees_before_copy(void *device)
{
    void *block = NULL;
    CHECK(cudaMallocAsync(&block, LARGE, first));
    CHECK(cudaMemsetAsync(block, WANTED, LARGE, first));
    CHECK(cudaStreamSynchronize(first));
    CHECK(cudaLaunchHostFunc(first, nap, NULL));
    CHECK(cudaMemcpyAsync(device, block, LARGE, cudaMemcpyDeviceToDevice, first));
    cudaStream_t stream = second_if_racy();
    CHECK(cudaFreeAsync(block, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaDeviceSynchronize());
    unsigned char *image = image_of(LARGE);
    CHECK(cudaMemcpy(image, device, LARGE, cudaMemcpyDeviceToHost));
    return image[5] == WANTED;
}

int main(void)
{
    void *device = device_block(LARGE, 0);
    void *foreign = device_block(LARGE, FOREIGN);
    void *pinned = pinned_block(LARGE, FOREIGN);
    first = new_stream();
    second = new_stream();
    third = new_stream();

    bool right = downloads_into_source(device, foreign, pinned);
    right = reads_before_memset(device, pinned) && right;
    right = frees_before_copy(device) && right;
    return finish(right);
}
