/* Pages of the library's own pinned memory, kept off by userfaultfd (report/mechanism.h).
 *
 * mprotect changes a process for one thread at a time and parts mappings. Where memory is shared,
 * and registered with userfaultfd for minor faults, MADV_DONTNEED takes a page from the page tables
 * alone: the page itself stays, and so does what the device writes there. A touch waits in the
 * kernel until UFFDIO_CONTINUE puts the page back, and neither takes the lock of the map for
 * writing.
 *
 * Many pages are mprotect's, of which each takes userfaultfd longer: 64 pages 25 us, and mprotect
 * 11 (Linux 6.18, one thread), unless threads wait for each other for the map's lock. Sources are
 * write-protected (UFFDIO_WRITEPROTECT), once their pages have been taken for it. To let go of such
 * a page takes a fault, since the kernel makes it writable at a store and not before: 64 pages take
 * 42 us. Memory that is registered for that takes a fault a page behind mprotect as well.
 *
 * The descriptor is for user mode alone (UFFD_USER_MODE_ONLY), which every user may open. A system
 * call that meets a page that is off fails with EFAULT, as it does with mprotect.
 *
 * A page may be changed to mprotect: a touch of it is then a SIGSEGV, which says who touches and
 * where (interpose/guard/user_touches.h). It is changed back when it is let go, until it was
 * touched a few times.
 *
 * Only memory of interpose/memory/areas.h is registered, so no memory of anybody else's is ever
 * dropped. Where there is no descriptor to be had (report/userfaultfd.h), and when the program has
 * closed it, pages are mprotect's.
 *
 * Thread safe where the caller has the lock under which the kernel is told of the page
 * (interpose/guard/protect.h), or is a handler that lets a page through. Signal safe but for
 * sc_userfaults_begin and sc_userfaults_serve, which take a lock of the module's own; no other
 * lock; no CUDA; errno is kept.
 */
#ifndef SC_INTERPOSE_GUARD_USERFAULTS_H
#define SC_INTERPOSE_GUARD_USERFAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sc_access;
enum sc_userfaultfd_state;

/* Opens the descriptor, at the first call. False: there is none. */
bool sc_userfaults_begin(void);

/* There will be no reader: pages are mprotect's, and who touches one that is missing waits for
 * nobody. */
void sc_userfaults_give_up(void);

/* Whether there is a descriptor, and why not. */
enum sc_userfaultfd_state sc_userfaults_state(void);

/* Pages that allocations share (sc_areas_are_shared), and that the driver has pinned, are
 * registered. Where the kernel refuses they are mprotect's, as all other memory is. */
void sc_userfaults_serve(uintptr_t address, size_t size_bytes);

/* The same for an area of a block. False: it was not registered. The huge page that maps it becomes
 * small ones first: of a huge one no part is kept off without the rest. None of it is guarded, and
 * the caller has the locks under which it would be. */
bool sc_userfaults_adopt_huge(uintptr_t area);
/* Are all pages of the interval such? */
bool sc_userfaults_have_adopted(uintptr_t start, size_t size_bytes);

/* The decision for an operation on these pages, which is taken once: it is `left` to mprotect, or
 * not. Of few pages it is never left, and always of so many that to put them back one by one costs
 * more than the map's lock. What is left, or of which
 * sc_guard_uses_userfault says no, needs SIGSEGV, and so do all pages before the thread that is
 * told of touches runs. Are they noted as `left` or not already? Else the caller has the lock under
 * which the kernel is told of the pages. */
enum { SC_USERFAULTS_BRIEF_BYTES = 128 << 10, SC_USERFAULTS_LONG_BYTES = 1 << 20 };
bool sc_userfaults_are_left(uintptr_t start, size_t size_bytes, bool left);
void sc_userfaults_leave(uintptr_t start, size_t size_bytes, bool left);

/* Sources on such pages are write-protected from now on. Where the kernel refuses, they stay
 * mprotect's. The caller has the lock under which it is told of the pages. */
void sc_userfaults_take_sources(uintptr_t start, size_t size_bytes);
/* Those of them that nobody keeps off are in the page tables again, whoever has taken them out. */
void sc_userfaults_restore(uintptr_t start, size_t size_bytes);

/* What the host may do with whole pages of areas that have lanes, by whichever way. 0 or -errno, as
 * sc_page_access_set: an operation that was not left to mprotect is not guarded by it where the
 * descriptor was lost just now. */
int sc_userfaults_set(uintptr_t address, size_t size_bytes, enum sc_access access);

/* ---- for the reader of events ---- */

/* A touch that waits. */
struct sc_userfaults_event {
    uintptr_t address;
    int32_t thread;
};

/* The first call on the reader's thread: gives it a table of descriptors of its own, which has but
 * the one. Until then, and when events are over, pages are mprotect's. False: the kernel has no
 * table to give, or the program has closed the descriptor. */
bool sc_userfaults_enter_reader(void);

/* Waits for the next one. False: there will be none any more. */
bool sc_userfaults_await(struct sc_userfaults_event *event);

/* Is the page off? If not, whoever waits for it goes on without more ado. */
bool sc_userfaults_is_off(uintptr_t address);

/* Takes a page that is noted as off out of the page tables once more. */
void sc_userfaults_keep_off_again(uintptr_t address);

/* Puts the page back, and wakes who waits for it. `denied`: as mprotect's, with the access that it
 * has, so that a touch is a SIGSEGV. */
void sc_userfaults_put_back(uintptr_t address, bool denied);

#endif
