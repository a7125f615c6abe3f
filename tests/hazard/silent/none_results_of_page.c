// expect: none
// needs: kernel (kind of a touch)
//
// Results lie on one page with what the program works on meanwhile, by instructions of all kinds:
// single ones, copies, comparisons, repeated ones, atomic ones, and more than a page is kept
// guarded for. Each result is read when it has come.
#include "touch.h"

#include <stdatomic.h>

enum { RESULTS = 8, ROUNDS = 40, BESIDE = 2048 };

/* Reads come first: a write lets the page go. */
static bool work_beside(unsigned char *memory, int round)
{
    unsigned char image[512], moved[300];
    _Atomic uint64_t *counter = (_Atomic uint64_t *)(void *)memory;
    volatile double *number = (volatile double *)(void *)(memory + 8);
    uint64_t before = atomic_load(counter);
    double last = *number;
    memcpy(image, memory + 512, sizeof image);
#if defined __x86_64__
    unsigned char *from = memory + 512, *to = moved;
    size_t count = sizeof moved;
    __asm__ volatile("rep movsb" : "+S"(from), "+D"(to), "+c"(count) : : "memory");
#else
    memcpy(moved, memory + 512, sizeof moved);
#endif
    bool right = memcmp(image, memory + 512, sizeof image) == 0 && before == (uint64_t)round &&
                 (round == 0 || last == round - 0.5) && memcmp(moved, image, sizeof moved) == 0 &&
                 image[7] == (unsigned char)(round ? round - 1 : 0);

    atomic_fetch_add(counter, 1);
    *number = round;
    *number += 0.5;
    memset(memory + 512, round, sizeof image);
    memmove(memory + 1200, memory + 512, sizeof image);
    return right && atomic_load(counter) == before + 1 && memory[1200] == (unsigned char)round;
}

int main(void)
{
    cudaStream_t streams[RESULTS];
    void *device = device_block(64, WANTED);
    unsigned char *page = (unsigned char *)memset(pinned_block(4096, 0), 0, 4096);
    volatile uint64_t *results = (volatile uint64_t *)(void *)page;
    uint64_t wanted;
    bool right = true;
    fill(&wanted, sizeof wanted, WANTED);
    for (int i = 0; i < RESULTS; i++)
        streams[i] = new_stream();

    for (int round = 0; round < ROUNDS; round++) {
        struct gate gate = {0};
        shut_gate(&gate, streams[RESULTS - 1]);
        for (int i = 0; i < RESULTS; i++) {
            results[i] = 0;
            CHECK(cudaMemcpyAsync(page + 8 * i, device, 8, cudaMemcpyDeviceToHost, streams[i]));
        }
        right = work_beside(page + BESIDE, round) && right;
        for (int i = 0; i < RESULTS; i++) {
            if (i == RESULTS - 1)
                open_gate(&gate);
            CHECK(cudaStreamSynchronize(streams[i]));
            right = results[i] == wanted && right;
        }
        right = right && !gate.gave_up;
    }
    return finish(right);
}
