/* The C library's own free and munmap, for memory whose hold has ended. */
#ifndef SC_INTERPOSE_HEAP_H
#define SC_INTERPOSE_HEAP_H

#include <stddef.h>

void sc_heap_really_free(void *block);
void sc_heap_really_unmap(void *address, size_t size_bytes);

#endif
