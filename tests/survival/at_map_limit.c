// expect-exit: 0
// strict-says: no_mapping_left
// needs: kernel (mappings)
//
// A process with all the mappings that the kernel allows it (vm.max_map_count) touches what copies
// in flight leave out: a page amid those of one, and halves of pages that lie side by side.
#include "in_flight.h"

#include <sys/mman.h>

enum { PAGE = 4096, ROWS = 8, ROW = 8 * PAGE, PITCH = 2 * ROW, HALVES = 100 };

/* Every second page of a mapping becomes one of its own. */
static int use_up_mappings(void)
{
    enum { PAGES = 1 << 21 };
    char *wide = (char *)mmap(NULL, (size_t)PAGES * PAGE, PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(wide == MAP_FAILED);
    for (size_t i = 1; i < PAGES; i += 2)
        if (mprotect(wide + i * PAGE, PAGE, PROT_READ) != 0)
            return 1;
    return 0;
}

int main(void)
{
    unsigned char *block;
    unsigned char *halves;
    void *device;
    int sum = 0;
    cudaStream_t stream;
    CHECK(cudaMallocHost((void **)&block, ROWS * PITCH));
    CHECK(cudaMalloc(&device, ROWS * ROW));
    CHECK(cudaMemset(device, 0x5a, ROWS * ROW));
    CHECK(cudaMallocHost((void **)&halves, HALVES * PAGE));
    memset(block, 1, ROWS * PITCH);
    memset(halves, 1, HALVES * PAGE);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    hold_stream(stream); /* its thread begins while there is room for one */
    let_go();
    CHECK(cudaStreamSynchronize(stream));

    hold_stream(stream);
    CHECK(cudaMemcpy2DAsync(block, PITCH, device, ROW, ROW, ROWS, cudaMemcpyDeviceToHost, stream));
    for (size_t i = 0; i < HALVES; i++) /* in an order with many gaps on the way */
        CHECK(cudaMemcpyAsync(halves + i * 37 % HALVES * PAGE, device, PAGE / 2,
                              cudaMemcpyDeviceToHost, stream));
    int at_limit = use_up_mappings();
    int between = block[4 * PITCH + ROW + PAGE];
    block[2 * PITCH + ROW + PAGE] = 7;
    for (size_t i = 0; i < HALVES; i++)
        sum += halves[i * PAGE + PAGE - 1];
    let_go();
    CHECK(cudaStreamSynchronize(stream));

    SHOW(at_limit);
    SHOW(between);
    SHOW(sum);
    SHOW(block[2 * PITCH + ROW + PAGE]);
    SHOW(block[0] == 0x5a && block[7 * PITCH + ROW - 1] == 0x5a);
    return 0;
}
