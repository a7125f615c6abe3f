/* Reports operations in flight (of the device, on host memory) before Linux changes mappings under
 * them, and waits for them in mode=fix; for the hooks of libc's functions (munmap and the like) and
 * that of syscall(). `site` is the address to which the hook returns. A load or two if nothing is
 * in flight or registered; otherwise locks as in interpose/losses/losses.h. Thread-safe, not
 * signal-safe; errno is kept. */

/* Terms (docs/glossary.md):
 *   guard: page protection of the memory of operations in flight
 *   hook: our function in the place of one of the C library's
 *   in flight: issued, and the host does not know yet that it is done
 *   loss: memory that goes otherwise than by a free: munmap, shmdt, dlclose, the end of a thread
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   site: the address to which a hook or wrapper returns: the program's call
 */

#ifndef SC_INTERPOSE_LIBC_MMAP_H
#define SC_INTERPOSE_LIBC_MMAP_H

#include <stdbool.h>
#include <stddef.h>

/* Reports operations in memory that munmap will unmap. Called before munmap. True: the library
 * unmaps the memory later, when no operation uses it any more; the caller makes no call and returns
 * success. */
bool sc_mmap_unmap(void *address, size_t size_bytes, void *site);

/* Reports and waits for operations in memory that mremap will move, shrink or replace. Called
 * before mremap. `target` is used only if the flags say that there is one. */
void sc_mmap_remap(void *address, size_t old_bytes, size_t new_bytes, int flags, void *target,
                   void *site);

/* Reports and waits for operations in memory that mmap will replace (MAP_FIXED). Called before
 * mmap. */
void sc_mmap_map(void *address, size_t size_bytes, int flags, void *site);

/* Reports and waits for operations that need the access which mprotect or pkey_mprotect (`api`)
 * will remove, and ends the guard of the memory, which would change its access. Called before that.
 */
void sc_mmap_protect(const char *api, void *address, size_t size_bytes, int protection, void *site);

/* Ends the guard of memory that mseal will seal, as it could not be unprotected any more. Called
 * before mseal. */
void sc_mmap_seal(void *address, size_t size_bytes);

#endif
