// expect-exit: 0
//
// Pinned memory is shared with a forked child: each sees what the other writes after the fork, and
// the parent's copies work on.
#include "process.h"

static const size_t sizes[] = {8, 5000, 65536, 200000, 1 << 20, 3000000, 32 << 20};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

static unsigned char *pinned[SIZES];

static void read_and_write(void)
{
    for (int i = 0; i < SIZES; i++) {
        printf("child reads %d %d\n", pinned[i][0], pinned[i][sizes[i] - 1]);
        pinned[i][0] = 77;
    }
}

static void copy_all(const char *title)
{
    for (int i = 0; i < SIZES; i++) {
        unsigned char first = 0;
        void *device = NULL;
        CHECK(cudaMalloc(&device, sizes[i]));
        CHECK(cudaMemcpyAsync(device, pinned[i], sizes[i], cudaMemcpyHostToDevice, 0));
        CHECK(cudaStreamSynchronize(0));
        CHECK(cudaMemcpy(&first, device, 1, cudaMemcpyDeviceToHost));
        printf("%s: the device has %d\n", title, first);
        CHECK(cudaFree(device));
    }
}

int main(void)
{
    for (int i = 0; i < SIZES; i++) {
        void *at = NULL;
        CHECK(cudaMallocHost(&at, sizes[i]));
        pinned[i] = (unsigned char *)at;
        pinned[i][sizes[i] - 1] = 2;
        pinned[i][0] = 1;
    }
    copy_all("before");
    in_child("first child", read_and_write, 0, false);
    copy_all("after one fork");
    for (int i = 0; i < SIZES; i++)
        pinned[i][0] = 3;
    in_child("second child", read_and_write, 0, true);
    copy_all("after two forks");
    for (int i = 0; i < SIZES; i++)
        SHOW(cudaFreeHost(pinned[i]));
    return 0;
}
