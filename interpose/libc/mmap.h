/* What must happen before the kernel changes mappings, for the hooks of libc's functions and that
 * of syscall(). `site` is the address to which the hook returns. A load or two if nothing is in
 * flight or registered; otherwise locks as in interpose/losses/losses.h. The functions may wait.
 * Thread safe, not signal safe; errno is kept. */
#ifndef SC_INTERPOSE_LIBC_MMAP_H
#define SC_INTERPOSE_LIBC_MMAP_H

#include <stdbool.h>
#include <stddef.h>

/* Called before munmap. True: the mapping is held, as long as it is in use; the caller makes no
 * call, and returns success. */
bool sc_mmap_unmap(void *address, size_t size_bytes, void *site);

/* Before mremap. `target` is used only if the flags say that there is one. */
void sc_mmap_remap(void *address, size_t old_bytes, size_t new_bytes, int flags, void *target,
                   void *site);

/* Before mmap. */
void sc_mmap_map(void *address, size_t size_bytes, int flags, void *site);

/* Before mprotect or pkey_mprotect, which `api` names. */
void sc_mmap_protect(const char *api, void *address, size_t size_bytes, int protection, void *site);

/* Before mseal. */
void sc_mmap_seal(void *address, size_t size_bytes);

#endif
