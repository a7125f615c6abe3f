// expect: none
// sim: late_batch=1
//
// Blocks that lie beside each other in the heap: while a batch uses one, the program works on the
// other, and on read-only and executable memory nothing changes.
#include "batch.h"

#include <sys/mman.h>

enum { BYTES = 100 << 10, BLOCKS = 8 };

static const unsigned char constants[BYTES] = {WANTED};

int main(void)
{
    cudaStream_t stream = new_stream();
    unsigned char *blocks[BLOCKS];
    unsigned char *device = (unsigned char *)device_block(BLOCKS * BYTES, WANTED);
    unsigned char *pages = (unsigned char *)mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
                                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool right = pages != MAP_FAILED;
    for (int i = 0; i < BLOCKS; i++)
        blocks[i] = (unsigned char *)filled_block(BYTES, WANTED);
    fill(pages, BYTES, WANTED);
    CHECK(mprotect(pages, BYTES, PROT_READ));

    busy(stream);
    for (int i = 0; i < BLOCKS; i += 2)
        batch_copy(device + i * BYTES, blocks[i], BYTES,
                   i % 4 ? cudaMemcpySrcAccessOrderAny : cudaMemcpySrcAccessOrderStream, stream);
    batch_copy(device + BYTES, pages, BYTES, cudaMemcpySrcAccessOrderAny, stream);
    batch_copy(device + 3 * BYTES, constants, BYTES, cudaMemcpySrcAccessOrderAny, stream);
    for (int i = 1; i < BLOCKS; i += 2)
        fill(blocks[i], BYTES, FOREIGN);

    CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < BLOCKS; i++)
        right = right && holds(blocks[i], BYTES, i % 2 ? FOREIGN : WANTED);
    for (int i = 0; i < BLOCKS; i += 2)
        right = right && device_holds(device + i * BYTES, BYTES, WANTED);
    right = right && device_holds(device + BYTES, BYTES, WANTED);
    for (int i = 0; i < BLOCKS; i++) {
        fill(blocks[i], BYTES, FOREIGN);
        free(blocks[i]);
    }
    return finish(right);
}
