// expect-exit: 0
// needs: kernel (room)
//
// Thousands of pinned allocations alive at once, apart from each other, given back in another
// order; then the same again, and memory that is still there when the process ends.
#include "survival.h"

enum { SMALL = 3000, LARGE = 300 };

static void *held[SMALL];

static int by_address(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t) * (void *const *)a;
    uintptr_t y = (uintptr_t) * (void *const *)b;
    return x < y ? -1 : x > y;
}

static void hold(unsigned count, size_t bytes)
{
    for (unsigned i = 0; i < count; i++) {
        CHECK(cudaMallocHost(&held[i], bytes));
        memset(held[i], (int)(i & 0xff), 8);
    }
    for (unsigned i = 0; i < count; i++)
        if (*(unsigned char *)held[i] != (i & 0xff))
            abort();
    qsort(held, count, sizeof held[0], by_address);
    for (unsigned i = 1; i < count; i++)
        if ((uintptr_t)held[i] - (uintptr_t)held[i - 1] < bytes)
            abort();
}

static void give_back(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        CHECK(cudaFreeHost(held[i]));
}

int main(void)
{
    for (int round = 0; round < 2; round++) {
        hold(SMALL, 100);
        give_back(SMALL);
        hold(LARGE, 200000);
        give_back(LARGE);
        hold(LARGE, 1100000);
        give_back(LARGE);
    }
    hold(20, 1 << 20);
    printf("all apart\n");
    return 0;
}
