// expect: none
// sim: late_batch=1
//
// What lies between the rows of a source is the program's own: it unmaps a page there, protects one
// and drops another, while the copy is in flight.
#include "batch3d.h"

#include <sys/mman.h>

enum { ROW_BYTES = 64 << 10, ROWS = 16, PAGE_BYTES = 4096 };

int main(void)
{
    static const struct box box = {3000, ROWS, 1, ROW_BYTES};
    cudaStream_t stream = new_stream();
    void *device = device_block(ROWS * box.width, 0);
    char *rows = (char *)mmap(NULL, ROWS * ROW_BYTES, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (rows == MAP_FAILED)
        exit(3);
    fill_box(rows, &box, WANTED);
    busy(stream);
    upload_box(device, rows, &box, cudaMemcpySrcAccessOrderStream, stream);
    CHECK(madvise(rows + 2 * ROW_BYTES + 2 * PAGE_BYTES, PAGE_BYTES, MADV_DONTNEED));
    CHECK(mprotect(rows + 3 * ROW_BYTES + 2 * PAGE_BYTES, PAGE_BYTES, PROT_NONE));
    CHECK(munmap(rows + 4 * ROW_BYTES + 2 * PAGE_BYTES, PAGE_BYTES));
    CHECK(cudaStreamSynchronize(stream));
    return finish(box_holds(rows, &box, WANTED) && device_holds_box(device, &box, WANTED));
}
