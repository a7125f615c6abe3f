/* Guards pages of the library's own pinned memory by userfaultfd (report/mechanism.h): takes pages
 * away from the host, puts them back, and reads the events of touches.
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
 * lock; no CUDA; errno is kept. */
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

/* Registers an area of a large block, after cutting its huge page into small ones, since no part of
 * a huge page can be kept off alone. False: it was not registered. Nothing in the area is guarded,
 * and the caller has the locks under which it would be. */
bool sc_userfaults_adopt_huge(uintptr_t area);
/* Are all pages of the interval such? */
bool sc_userfaults_have_adopted(uintptr_t start, size_t size_bytes);

/* The choice of the mechanism for the latest operation on these pages: left to mprotect, or not.
 * Operations of up to BRIEF bytes never are left, and those from LONG bytes on always are, as
 * putting their pages back one by one takes longer than to wait for mprotect. Pages that are left,
 * those of which sc_guard_uses_userfault says no, and all pages before the reader runs need
 * SIGSEGV.
 *
 * sc_userfaults_mechanism_is_noted asks whether all pages have been noted with this choice already.
 * If not, sc_userfaults_note_mechanism notes it, under the lock under which the kernel is told of
 * the pages. */
enum { SC_USERFAULTS_BRIEF_BYTES = 128 << 10, SC_USERFAULTS_LONG_BYTES = 1 << 20 };
bool sc_userfaults_mechanism_is_noted(uintptr_t start, size_t size_bytes, bool left);
void sc_userfaults_note_mechanism(uintptr_t start, size_t size_bytes, bool left);

/* Has userfaultfd write-protect these pages from now on whenever a copy to the device reads them,
 * and mprotect if the kernel refuses. The caller has the lock under which the kernel is told of the
 * pages. */
void sc_userfaults_adopt_sources(uintptr_t start, size_t size_bytes);
/* Puts those of the pages that are adopted, and that nobody keeps off, back into the page tables,
 * whoever has taken them out. */
void sc_userfaults_restore(uintptr_t start, size_t size_bytes);

/* Sets what the host may do with whole pages of areas that have stripes, by the mechanism of each
 * page. 0 or -errno, as sc_page_access_set. If the descriptor has just been lost, an operation that
 * was meant for userfaultfd is not guarded by mprotect instead: SIGSEGV may not be shared for
 * it. */
int sc_userfaults_set(uintptr_t address, size_t size_bytes, enum sc_access access);

/* ---- for the reader of events ---- */

/* A touch that waits. */
struct sc_userfaults_event {
    uintptr_t address;
    int32_t thread;
};

/* Is the first call on the reader's thread: gives it a table of descriptors of its own, which has
 * only the one of userfaultfd. Before this, and after events have ended, mprotect guards all pages.
 * False: the kernel gives no table, or the program has closed the descriptor. */
bool sc_userfaults_start_reader(void);

/* Waits for the next one. False: there will be none any more. */
bool sc_userfaults_await(struct sc_userfaults_event *event);

/* Is the page noted as taken away from the host by userfaultfd? If not, it is put back for a thread
 * that waits for it, without more ado. */
bool sc_userfaults_is_protected(uintptr_t address);

/* Takes a page that is noted as off out of the page tables once more. */
void sc_userfaults_protect_again(uintptr_t address);

/* Puts the page back and wakes the threads that wait for it. `denied`: mprotect guards the page
 * from now on, so that the touch becomes a SIGSEGV, which tells who touches. */
void sc_userfaults_resume_touch(uintptr_t address, bool denied);

#endif
