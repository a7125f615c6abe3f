/* For the twins of a program that touches memory in flight: single bytes, and a held stream.
 *
 * Bytes come from the patterns of twin.h, so that a buffer can be checked around the one byte that
 * the program wrote. A gate holds a stream until the program itself lets it go on: whoever made the
 * program wait for that stream meanwhile would wait for ever.
 */
#ifndef SC_TESTS_HAZARD_TOUCH_H
#define SC_TESTS_HAZARD_TOUCH_H

#include "twin.h"

/* What fill() puts at `offset`. */
static TWIN_HELPER unsigned char pattern(unsigned seed, size_t offset)
{
    return (unsigned char)(seed + offset * 31 + (offset >> 8));
}

/* One store, of what the memory's next use would write there. */
static TWIN_HELPER void poke(void *memory, size_t offset)
{
    ((volatile unsigned char *)memory)[offset] = pattern(FOREIGN, offset);
}

/* One load: is what the copy carries there already? */
static TWIN_HELPER bool peek(const void *memory, size_t offset)
{
    return ((const volatile unsigned char *)memory)[offset] == pattern(WANTED, offset);
}

/* A copy of SMALL bytes into the memory, of which the host reads one too early, in the program that
 * is not fixed: was it right? The copy is complete on return. Inline for the reason that busy() is.
 */
static inline bool fetch_and_peek(void *target)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, WANTED);
    busy(stream);
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    bool right = peek(target, 5);
    CHECK(cudaStreamSynchronize(stream));
    return right;
}

/* The pattern of WANTED, but for one byte that poke() wrote. */
static TWIN_HELPER bool holds_poked(const void *memory, size_t size_bytes, size_t offset)
{
    const unsigned char *bytes = (const unsigned char *)memory;
    for (size_t i = 0; i < size_bytes; i++) {
        if (bytes[i] != pattern(i == offset ? FOREIGN : WANTED, i))
            return false;
    }
    return true;
}

/* More than a page, wherever pages are of up to 64 KB. */
static const size_t ROOM TWIN_UNUSED = (size_t)64 << 10;

/* Filled, and alone on its pages: of a heap block that shares its first and its last page with
 * others the library guards only what is between. */
static TWIN_HELPER void *page_block(size_t size_bytes, unsigned seed)
{
    void *block = NULL;
    if (posix_memalign(&block, ROOM, (size_bytes + ROOM - 1) & ~(ROOM - 1)) != 0)
        exit(3);
    fill(block, size_bytes, seed);
    return block;
}

static TWIN_HELPER void *registered_page_block(size_t size_bytes, unsigned seed)
{
    void *block = page_block(size_bytes, seed);
    CHECK(cudaHostRegister(block, size_bytes, cudaHostRegisterDefault));
    return block;
}

/* Twins in C++ include this header and have no _Atomic: hence the builtins. */
struct gate {
    bool open;
    bool gave_up;
};

/* In the stream. Gives up before the library, which lets a touch through after ten seconds. */
static TWIN_HELPER void wait_at_gate(void *argument)
{
    struct gate *gate = (struct gate *)argument;
    for (int i = 0; i < 5000 && !__atomic_load_n(&gate->open, __ATOMIC_ACQUIRE); i++)
        usleep(1000);
    gate->gave_up = !__atomic_load_n(&gate->open, __ATOMIC_ACQUIRE);
}

/* Holds the stream up until open_gate(). Inline for the reason that busy() is. */
static inline void shut_gate(struct gate *gate, cudaStream_t stream)
{
    CHECK(cudaLaunchHostFunc(stream, wait_at_gate, gate));
}

static TWIN_HELPER void open_gate(struct gate *gate)
{
    __atomic_store_n(&gate->open, true, __ATOMIC_RELEASE);
}

#endif
