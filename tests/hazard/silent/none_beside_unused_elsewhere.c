// expect: none
//
// Memory that no captured work uses is set within the capture by calls that say what they mean, and
// cleared before the launch, behind which the host reads it: by a synchronous memset, on a stream
// of its own, by another thread; a prefetch beside the capture writes nothing. So is memory whose
// graph is not launched, and memory that was freed since.
#include "unused.h"

enum { HOWS = 6 };

static void *set(void *memory)
{
    CHECK(cudaMemsetAsync(memory, 9, SMALL, 0));
    return NULL;
}

static void *block(int how)
{
    void *memory = NULL;
    if (how != 3)
        return device_block(SMALL, FOREIGN);
    CHECK(cudaMallocManaged(&memory, SMALL, cudaMemAttachGlobal));
    return memory;
}

static void set_there(int how, void *memory, cudaStream_t other)
{
    const struct cudaMemLocation device = {.type = cudaMemLocationTypeDevice, .id = 0};
    if (how == 0)
        CHECK(cudaMemset(memory, 9, SMALL));
    else if (how == 1)
        CHECK(cudaMemsetAsync(memory, 9, SMALL, other));
    else if (how == 2)
        on_other_thread(set, memory);
    else if (how == 3)
        CHECK(cudaMemPrefetchAsync(memory, SMALL, device, 0, 0));
    else
        set(memory);
}

int main(void)
{
    bool right = true;
    cudaStream_t other = new_stream();
    for (int how = 0; how < HOWS; how++) {
        void *memory = block(how);
        struct unused unused = unused_begin();
        set_there(how, memory, other);
        unused_end(&unused, 0);
        if (how == 5) {
            CHECK(cudaFree(memory));
            memory = block(how);
        }
        unused_clear(memory);
        if (how != 4)
            replay(unused.exec, unused.stream);
        right = device_is(memory, SMALL, 0) && right;
    }
    return finish(!broken && right);
}
