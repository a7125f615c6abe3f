/* Protects pages of the library's own pinned memory, while a copy uses them, by userfaultfd
 * (report/mechanism.h), and reads the touches (reads and writes by the program) of protected pages.
 *
 * A page of a destination becomes inaccessible as follows. The memory is shared and registered with
 * userfaultfd for minor faults. MADV_DONTNEED removes the page from the page tables; its contents
 * stay, and the device goes on writing them. A touch then waits in Linux until UFFDIO_CONTINUE maps
 * the page again. Neither call takes the mmap lock for writing, which mprotect does: only one
 * thread of a process at a time can be in mprotect. Nor is the mapping split.
 *
 * A page of a source is write-protected (UFFDIO_WRITEPROTECT), once its memory is registered for
 * that, too. Unprotecting it takes a fault, since Linux makes a page writable at the next store and
 * not before: 64 pages take 42 us. With such a registration, pages that mprotect has protected take
 * a fault each, too.
 *
 * userfaultfd takes longer for each page: 64 pages take 25 us, and 11 us by mprotect (Linux 6.18,
 * one thread). So operations with many pages are left to mprotect, unless threads wait for each
 * other in it.
 *
 * The descriptor is for user mode alone (UFFD_USER_MODE_ONLY), which every user may open. A system
 * call on a protected page fails with EFAULT, as it does with mprotect.
 *
 * A protected page may be changed to mprotect: the touch then raises SIGSEGV, which tells the
 * thread and the instruction (interpose/guard/user_touches.h). It is changed back when it is
 * unprotected, unless it was touched several times.
 *
 * Only memory of interpose/memory/areas.h is registered, so no other memory is ever removed from
 * the page tables. mprotect guards all pages where no descriptor is to be had
 * (report/userfaultfd.h), and from the moment that the program has closed it.
 *
 * Thread-safe if the caller holds the lock of the page's stripe (interpose/guard/protect.h), or is
 * a handler that makes a page accessible. Signal-safe except for sc_userfaults_begin and
 * sc_userfaults_serve, which take a lock of this module; no other lock; no CUDA; errno is kept. */

/* Terms (docs/glossary.md):
 *   guard: page protection of the memory of operations in flight
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   source: the memory that a copy reads
 *   stripe: a set of pages that share one of the guard's locks
 *   touch: a read or write of host memory by the program, by the kernel for it, or within a call
 */

#ifndef SC_INTERPOSE_GUARD_USERFAULTS_H
#define SC_INTERPOSE_GUARD_USERFAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sc_access;
enum sc_userfaultfd_state;

/* Opens the descriptor in the first call. False: there is none. */
bool sc_userfaults_begin(void);

/* Stops using userfaultfd, as no thread can read it: mprotect guards all pages, and a touch of a
 * page that is missing from the page tables waits for nobody. */
void sc_userfaults_give_up(void);

/* Returns whether the library has opened userfaultfd, or why it has not. */
enum sc_userfaultfd_state sc_userfaults_state(void);

/* Registers pages of an area that allocations share (sc_areas_are_shared) and that the driver has
 * pinned. If Linux refuses, mprotect guards them. */
void sc_userfaults_serve(uintptr_t address, size_t size_bytes);

/* Registers an area of a large block, and has it mapped by small pages first, as no part of a huge
 * page can be removed from the page tables alone. False: it was not registered. Nothing in the area
 * may be guarded, and the caller holds the locks of its stripes. */
bool sc_userfaults_adopt_huge(uintptr_t area);
/* Are all pages of the interval registered? */
bool sc_userfaults_have_adopted(uintptr_t start, size_t size_bytes);

/* Record which mechanism was chosen for the latest operation on these pages: mprotect
 * (`by_mprotect`) or userfaultfd. Callers never choose mprotect for up to BRIEF bytes, and always
 * choose it from LONG bytes on, where mapping page by page takes longer than waiting for mprotect.
 *
 * The first function returns whether this choice is recorded for all the pages. If not, the second
 * one records it; the caller holds the lock of the pages' stripe. */
enum { SC_USERFAULTS_BRIEF_BYTES = 128 << 10, SC_USERFAULTS_LONG_BYTES = 1 << 20 };
bool sc_userfaults_mechanism_is_noted(uintptr_t start, size_t size_bytes, bool by_mprotect);
void sc_userfaults_note_mechanism(uintptr_t start, size_t size_bytes, bool by_mprotect);

/* Registers these pages for write-protection, so that userfaultfd protects them when a copy to the
 * device reads them. If Linux refuses, mprotect does. The caller holds the lock of the pages'
 * stripe. */
void sc_userfaults_adopt_sources(uintptr_t start, size_t size_bytes);
/* Maps those of the pages again that are registered and not protected, whoever removed them from
 * the page tables. */
void sc_userfaults_restore(uintptr_t start, size_t size_bytes);

/* Sets the program's access to whole pages of areas that have stripes of their own, by the
 * mechanism recorded for each page. Returns 0 or -errno, as sc_page_access_set. Once the descriptor
 * is lost, pages that were meant for userfaultfd are not protected at all (-ENODEV): mprotect needs
 * the handler of SIGSEGV, which may not be installed. */
int sc_userfaults_set(uintptr_t address, size_t size_bytes, enum sc_access access);

/* ---- for the reader of events ---- */

/* A touch for which a thread waits in Linux. */
struct sc_userfaults_event {
    uintptr_t address;
    int32_t thread;
};

/* Prepares the calling thread, in its first call, to read touches: gives it a table of file
 * descriptors with the userfaultfd alone. Until then, and after sc_userfaults_await has returned
 * false, mprotect guards all pages. False: Linux gives no table, or the program has closed the
 * descriptor. */
bool sc_userfaults_start_reader(void);

/* Waits for the next touch and stores it. False: there will be none any more. */
bool sc_userfaults_await(struct sc_userfaults_event *event);

/* Is the page recorded as protected by userfaultfd? If it is not, a thread that waits for it must
 * be woken at once. */
bool sc_userfaults_is_protected(uintptr_t address);

/* Protects the page again if it is still recorded as protected by userfaultfd, after
 * sc_userfaults_resume_touch has mapped it. */
void sc_userfaults_protect_again(uintptr_t address);

/* Maps the page again and wakes the threads that wait for it. `denied`: protects it by mprotect
 * before, so that the repeated touch raises SIGSEGV, which shows the thread and the instruction. */
void sc_userfaults_resume_touch(uintptr_t address, bool denied);

#endif
