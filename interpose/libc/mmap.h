/* What must happen before the kernel changes mappings, for whoever is about to have it do so: our
 * hooks of libc's functions, and of syscall(). Takes locks, and may wait, where memory in flight
 * lies there; a load or two where not. */
#ifndef SC_INTERPOSE_LIBC_MMAP_H
#define SC_INTERPOSE_LIBC_MMAP_H

#include <stdbool.h>
#include <stddef.h>

/* True: the mapping stays for as long as it is in use, and the caller's answer is success. */
bool sc_mmap_unmap(void *address, size_t size_bytes, void *site);

/* `target` where the flags say that there is one. */
void sc_mmap_remap(void *address, size_t old_bytes, size_t new_bytes, int flags, void *target,
                   void *site);

void sc_mmap_map(void *address, size_t size_bytes, int flags, void *site);

void sc_mmap_protect(const char *api, void *address, size_t size_bytes, int protection, void *site);

#endif
