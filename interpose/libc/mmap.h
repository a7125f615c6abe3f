/* What must happen before the kernel changes mappings: for the hooks of libc's functions, and for
 * that of syscall(). `site` is where the hook returns to. A load or two where nothing is in flight
 * or registered; otherwise locks as in interpose/losses/losses.h. May wait. Thread safe, not signal
 * safe; errno is kept. */
#ifndef SC_INTERPOSE_LIBC_MMAP_H
#define SC_INTERPOSE_LIBC_MMAP_H

#include <stdbool.h>
#include <stddef.h>

/* Before munmap. True: the mapping stays for as long as it is in use, and the caller's answer is
 * success. */
bool sc_mmap_unmap(void *address, size_t size_bytes, void *site);

/* Before mremap. `target` counts where the flags say that there is one. */
void sc_mmap_remap(void *address, size_t old_bytes, size_t new_bytes, int flags, void *target,
                   void *site);

/* Before mmap. */
void sc_mmap_map(void *address, size_t size_bytes, int flags, void *site);

/* Before mprotect or pkey_mprotect, which `api` names. */
void sc_mmap_protect(const char *api, void *address, size_t size_bytes, int protection, void *site);

/* Before mseal. */
void sc_mmap_seal(void *address, size_t size_bytes);

#endif
