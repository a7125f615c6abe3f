// expect-exit: 0
//
// A program that takes its memory from the break, lowers it when it has done with that, and asks
// for what it cannot have; with copies of registered memory that lies there.
#include "in_flight.h"

#include <malloc.h>

enum { PAGE = 4096, SIZE = 64 << 10 };

static char *bottom;

/* From the bottom on, since addresses differ from run to run. */
static long place(const void *address)
{
    return address == (void *)-1 ? -1 : (long)((const char *)address - bottom);
}

static void moves(void)
{
    bottom = (char *)sbrk(0);
    SHOW(place(sbrk(10 * PAGE)));
    memset(bottom, 1, 10 * PAGE);
    SHOW(place(sbrk(0)));
    SHOW(place(sbrk(-PAGE - 100)));
    SHOW(place(sbrk(-1)));
    SHOW(place(sbrk(101)));
    SHOW(place(sbrk(PAGE)));
    SHOW(bottom[9 * PAGE - 1]);
    SHOW(bottom[9 * PAGE]);
    SHOW(brk(bottom + 4 * PAGE + 7));
    SHOW(place(sbrk(0)));
    SHOW(bottom[4 * PAGE + 6]);
    SHOW(brk(bottom));
    SHOW(place(sbrk(0)));
}

static void show_errno(const char *what, bool failed)
{
    int why = errno;
    printf("%s: %s\n", what, failed ? strerrorname_np(why) : "good");
}

/* What a kernel makes of a break below all breaks is not the same everywhere. */
static void errors(void)
{
    show_errno("sbrk too much", sbrk(INTPTR_MAX) == (void *)-1);
    show_errno("sbrk too little", sbrk(INTPTR_MIN) == (void *)-1);
    show_errno("sbrk below", sbrk(-(intptr_t)bottom) == (void *)-1);
    show_errno("brk too far", brk((void *)(UINTPTR_MAX / 2)) != 0);
    show_errno("brk of nothing", brk(NULL) != 0);
    show_errno("brk low", brk((void *)PAGE) != 0);
    SHOW(place(sbrk(0)));
}

static void with_device(void)
{
    void *device = NULL;
    unsigned char back[100];
    bool right = true;
    CHECK(cudaMalloc(&device, SIZE));
    for (int i = 0; i < 10; i++) {
        char *start = (char *)sbrk(SIZE);
        memset(start, i, SIZE);
        CHECK(cudaHostRegister(start, SIZE, cudaHostRegisterDefault));
        CHECK(cudaMemcpyAsync(device, start, SIZE, cudaMemcpyHostToDevice, NULL));
        CHECK(cudaStreamSynchronize(NULL));
        CHECK(cudaHostUnregister(start));
        if (sbrk(0) == start + SIZE)
            sbrk(-SIZE);
        CHECK(cudaMemcpy(back, device, sizeof back, cudaMemcpyDeviceToHost));
        right = right && back[0] == i && back[99] == i;
    }
    printf("copies: %s\n", right ? "right" : "wrong");
}

int main(void)
{
    static void *volatile blocks[64];
    mallopt(M_MMAP_THRESHOLD, 256 << 10);
    mallopt(M_TRIM_THRESHOLD, 256 << 20);
    for (size_t i = 0; i < 64; i++) /* so that malloc does not move the break meanwhile */
        blocks[i] = malloc(128 << 10);
    for (size_t i = 0; i < 64; i++)
        free(blocks[i]);
    moves();
    errors();
    use_cuda("then");
    edge_start();
    hold();
    moves();
    errors();
    release();
    with_device();
    return 0;
}
