// expect: none
//
// Memory that no captured work uses is set within the capture, by memsets that run once, and filled
// anew before the launch: by an upload, by a copy on the device, by the same value, in part, by a
// kernel behind the memset; or what it was set to has been read before. The program reads what it
// has filled it with.
#include "unused.h"

enum { HOWS = 7, OTHER = 9 };

static void *source;
static CUfunction kernel;

static void refill(int how, char *memory, const struct unused *unused)
{
    if (how == 0)
        CHECK(cudaMemcpy(memory, source, SMALL, cudaMemcpyHostToDevice));
    else if (how == 1)
        CHECK(cudaMemcpyAsync(memory, unused->input, SMALL, cudaMemcpyDeviceToDevice, 0));
    else if (how == 2)
        CHECK(cudaMemset(memory, OTHER, SMALL));
    else if (how == 3)
        CHECK(cudaMemset(memory, 0, SMALL / 2));
    else if (how == 4 && device_is(memory, SMALL, OTHER))
        unused_clear(memory);
    else if (how >= 5)
        unused_clear(memory);
    if (how == 5)
        launch_copy(kernel, (CUdeviceptr)memory, (CUdeviceptr)unused->input, 0);
}

static bool is_right(int how, char *memory)
{
    if (how == 2)
        return device_is(memory, SMALL, OTHER);
    if (how == 3)
        return device_is(memory, SMALL / 2, 0) && device_is(memory + SMALL / 2, SMALL / 2, OTHER);
    return how == 4 || how == 6 ? device_is(memory, SMALL, 0) : device_holds(memory, SMALL, WANTED);
}

int main(void)
{
    bool right = true;
    source = pinned_block(SMALL, WANTED);
    kernel = copying_kernel();
    for (int how = 0; how < HOWS; how++) {
        char *memory = device_block(SMALL, FOREIGN);
        void *apart = device_block(SMALL, 0);
        struct unused unused = unused_begin();
        CHECK(cudaMemsetAsync(memory, OTHER, SMALL, 0));
        if (how == 6) /* what reads it beside the capture has had a use for it */
            CHECK(cudaMemcpyAsync(apart, memory, SMALL, cudaMemcpyDeviceToDevice, 0));
        unused_end(&unused, 0);
        refill(how, memory, &unused);
        replay(unused.exec, unused.stream);
        right = is_right(how, memory) && right;
    }
    return finish(!broken && right);
}
