/* Named like a library of CUDA's, and does what one does when it is first used: it fills a table of
 * its own, by the program's runtime. `copy` is cudaMemcpy. */
#include <stddef.h>

typedef int copying(void *to, const void *from, size_t size_bytes, int kind);

int sc_cublas_like_set_up(copying *copy, void *table, const void *values, size_t size_bytes);

int sc_cublas_like_set_up(copying *copy, void *table, const void *values, size_t size_bytes)
{
    volatile int result = copy(table, values, size_bytes, 1);
    return result;
}
