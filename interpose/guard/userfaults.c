#include "interpose/guard/userfaults.h"

#include <errno.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/kernel.h"
#include "common/mutex.h"
#include "common/pages.h"
#include "common/ticks.h"
#include "interpose/base/process.h"
#include "interpose/guard/door.h"
#include "interpose/guard/guarded_ranges.h"
#include "interpose/guard/page_protection.h"
#include "interpose/memory/areas.h"
#include "interpose/memory/huge_pages.h"
#include "report/userfaultfd.h"

#include "common/poison.h"

/* Newer than the headers of some systems. */
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#define DONTNEED_LOCKED 24       /* MADV_DONTNEED_LOCKED, Linux 5.18 */
#define POPULATE_WRITE 23        /* MADV_POPULATE_WRITE, Linux 5.14 */
#define CLOSE_UNSHARED (1U << 1) /* CLOSE_RANGE_UNSHARE */
#define REGISTER_WP (UINT64_C(1) << 1)
#define REGISTER_MINOR (UINT64_C(1) << 2)

/* Linux's struct uffdio_continue. */
struct continue_request {
    struct uffdio_range range;
    uint64_t mode;
    int64_t mapped;
};
#define CONTINUE_REQUEST _IOWR(UFFDIO, 0x07, struct continue_request) /* UFFDIO_CONTINUE */
#define CONTINUE_MODE_WP (UINT64_C(1) << 1)                           /* UFFDIO_CONTINUE_MODE_WP */

enum {
    PAGE_BYTES = SC_SMALL_PAGE_BYTES,
    AREA_PAGES = SC_AREAS_BYTES / SC_SMALL_PAGE_BYTES,
    PAGES_MAX = SC_AREAS_COUNT * AREA_PAGES,
    TOUCHES_MAX = 3, /* then mprotect guards the page for good */
};

/* The flags of a page of the library's pinned memory (a byte each, sc_areas.page_states): */
enum {
    ACCESS = 0x03,      /* the program's access (enum sc_access) */
    TOUCHES = 0x0c,     /* how many touches were answered by a SIGSEGV, in units of ONE_TOUCH */
    ONE_TOUCH = 0x04,   /* see TOUCHES */
    BY_MPROTECT = 0x10, /* protected by mprotect now */
    ADOPTED = 0x20,     /* registered with userfaultfd */
    SOURCES = 0x40,     /* ... for write-protection as well, as a copy that reads it needs */
    TO_MPROTECT = 0x80, /* mprotect was chosen for the latest operation there */
};

static _Atomic int descriptor = -1;
static _Atomic bool has_reader;
static _Atomic int state; /* enum sc_userfaultfd_state */
/* A registered page that is never in the page tables: touching it wakes the reader, which then
 * ends. */
static uintptr_t wake_page;

/* Returns the byte with the page's flags (ACCESS, ADOPTED, ...). The address lies in the library's
 * pinned memory. */
static _Atomic uint8_t *page_at(uintptr_t address)
{
    return &sc_areas.page_states[(address - sc_areas.start) / PAGE_BYTES];
}

/* Returns the page's flags (ACCESS, ADOPTED, ...). */
static uint8_t flags_of(uintptr_t address)
{
    return atomic_load_explicit(page_at(address), memory_order_relaxed);
}

/* Sets the page's flags. The caller has locked the page's stripe, or is its only user. */
static void set_flags(uintptr_t address, uint8_t flags)
{
    atomic_store_explicit(page_at(address), flags, memory_order_relaxed);
}

/* Can userfaultfd guard pages now? Only while the library's thread reads its messages: a touch
 * would wait for ever. Not in a forked child, whose copy of the descriptor is for the parent's
 * memory. */
static bool is_usable(void)
{
    return atomic_load_explicit(&has_reader, memory_order_acquire) && !sc_process_is_child();
}

/* ---- system calls ---- */

/* Makes a request of the userfaultfd; returns 0 or more, or -errno. */
static long call_ioctl(unsigned long request, void *argument)
{
    return sc_kernel_call(SYS_ioctl, atomic_load_explicit(&descriptor, memory_order_relaxed),
                          request, argument);
}

/* Returns the size of the first half of the pages. */
static size_t half_of(size_t size_bytes)
{
    return size_bytes / 2 / PAGE_BYTES * PAGE_BYTES;
}

/* Has stores to the pages wait for an answer (`on`), or allows stores again and wakes the threads
 * that wait for them. Returns 0 or -errno. -ENOENT: the pages are of several mappings, as each
 * allocation is one. Before Linux 6.3 these are changed apart. */
static long write_protect(uintptr_t start, size_t size_bytes, bool on)
{
    struct uffdio_writeprotect request = {.range = {start, size_bytes}, .mode = on};
    size_t half = half_of(size_bytes);
    long result = call_ioctl(UFFDIO_WRITEPROTECT, &request);
    if (result != -ENOENT || !half)
        return result;
    result = write_protect(start, half, on);
    long second = write_protect(start + half, size_bytes - half, on);
    return result ? result : second;
}

/* Wakes the threads that wait in Linux for an answer to their touch of these pages. They touch them
 * again. */
static void wake_waiters(uintptr_t start, size_t size_bytes)
{
    struct uffdio_range range = {start, size_bytes};
    call_ioctl(UFFDIO_WAKE, &range);
}

/* Maps pages again that were removed from the page tables (UFFDIO_CONTINUE), read-only if `access`
 * says so (Linux 6.4). Linux stops at a page that is mapped already (-EEXIST) or has no contents
 * (-EFAULT): such a page is skipped, and its waiting threads are woken, which touch it again.
 * -EAGAIN: a part was mapped. -ENOENT: the pages are of several mappings, as each allocation is
 * one, and are mapped by halves. Returns 0, -EFAULT if pages had no contents, or another -errno. */
static long map_pages_again(uintptr_t start, size_t size_bytes, enum sc_access access)
{
    long refused = 0;
    for (uintptr_t end = start + size_bytes; start < end;) {
        uint64_t mode = access == SC_ACCESS_READ ? CONTINUE_MODE_WP : 0;
        struct continue_request request = {.range = {start, end - start}, .mode = mode};
        long result = call_ioctl(CONTINUE_REQUEST, &request);
        if (result == 0)
            break;
        if (result == -EAGAIN && request.mapped > 0) {
            start += (size_t)request.mapped;
            continue;
        }
        size_t half = half_of(end - start);
        if (result == -ENOENT && half) {
            long first = map_pages_again(start, half, access);
            result = map_pages_again(start + half, end - start - half, access);
            return refused ? refused : first ? first : result;
        }
        if (result != -EEXIST && result != -EFAULT)
            return result;
        refused = result == -EFAULT ? result : refused;
        write_protect(start, PAGE_BYTES, mode != 0);
        wake_waiters(start, PAGE_BYTES);
        start += PAGE_BYTES;
    }
    return refused;
}

/* ---- beginning ---- */

/* Registers the pages with userfaultfd for minor faults (touches of pages missing from the page
 * tables), write-protection, or both (`mode`). */
static bool register_for(uint64_t mode, uintptr_t start, size_t size_bytes)
{
    struct uffdio_register request = {.range = {start, size_bytes}, .mode = mode};
    return call_ioctl(UFFDIO_REGISTER, &request) == 0;
}

/* Gives the pages contents, and registers them with userfaultfd. A page without contents would
 * fault as missing, for which it is not registered. */
static bool register_pages(uint64_t mode, uintptr_t start, size_t size_bytes)
{
    return sc_kernel_call(SYS_madvise, start, size_bytes, POPULATE_WRITE) == 0 &&
           register_for(mode, start, size_bytes);
}

/* Ends the registration of these pages. Linux then wakes the threads that wait for an answer, and
 * pages missing from the page tables are mapped at their next touch. */
static void unregister_pages(uintptr_t start, size_t size_bytes)
{
    struct uffdio_range range = {start, size_bytes};
    call_ioctl(UFFDIO_UNREGISTER, &range);
}

/* Makes the page that is touched to wake the reader of userfaultfd when it is to end: registers it,
 * and removes it from the page tables. */
static bool make_wake_page(void)
{
    wake_page = sc_areas_map(PAGE_BYTES);
    return wake_page && register_pages(REGISTER_WP | REGISTER_MINOR, wake_page, PAGE_BYTES) &&
           sc_kernel_call(SYS_madvise, wake_page, PAGE_BYTES, DONTNEED_LOCKED) == 0;
}

/* Opens userfaultfd, and tries out on wake_page whether Linux can do what is needed. Returns the
 * reason if it cannot. */
static enum sc_userfaultfd_state open_and_try(void)
{
    enum sc_userfaultfd_state opened;
    atomic_store(&descriptor, sc_userfaultfd_open(&opened));
    if (opened == SC_USERFAULTFD_OPENED && !make_wake_page())
        opened = SC_USERFAULTFD_NO_DESCRIPTOR;
    return opened;
}

/* Has this process an open userfaultfd? Not a forked child: its copy is for the memory of the
 * parent. */
static bool is_open(void)
{
    return sc_userfaults_state() == SC_USERFAULTFD_OPENED && !sc_process_is_child();
}

/* Opens userfaultfd in the first call; threads that call this meanwhile wait for the result.
 * Returns whether it is open. */
bool sc_userfaults_begin(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    if (sc_userfaults_state() == SC_USERFAULTFD_UNASKED) {
        sc_mutex_lock(&lock);
        if (sc_userfaults_state() == SC_USERFAULTFD_UNASKED)
            atomic_store(&state, open_and_try());
        sc_mutex_unlock(&lock);
    }
    return is_open();
}

/* Returns whether the library has opened userfaultfd, or why it has not, or has lost it. */
enum sc_userfaultfd_state sc_userfaults_state(void)
{
    return (enum sc_userfaultfd_state)atomic_load_explicit(&state, memory_order_acquire);
}

/* Is the page registered with userfaultfd? Only pages of areas with a stripe (a lock) of their own
 * have flags that say so. */
static bool is_adopted(uintptr_t page)
{
    return sc_areas_have_stripe(page) && flags_of(page) & ADOPTED;
}

/* Was the page touched TOUCHES_MAX times while it was protected? Then mprotect guards it for good:
 * a touch of userfaultfd's page costs a SIGSEGV as well, and more. */
static bool touched_often(uint8_t flags)
{
    return (flags & TOUCHES) / ONE_TOUCH >= TOUCHES_MAX;
}

/* May userfaultfd guard a page with these flags? `is_source`: an operation reads it, so that it has
 * to be registered for write-protection as well. */
static bool may_guard(uint8_t flags, bool is_source)
{
    uint8_t wanted = ADOPTED | (is_source ? SOURCES : 0);
    return (flags & (wanted | BY_MPROTECT | TO_MPROTECT)) == wanted && !touched_often(flags);
}

/* Would userfaultfd guard every page of the interval, for an operation that reads it (`is_source`)
 * or writes it? Not from LONG bytes on, where mprotect is faster. */
bool sc_guard_uses_userfault(uintptr_t address, size_t size_bytes, bool is_source)
{
    uintptr_t page = address & ~(uintptr_t)(PAGE_BYTES - 1), end = address + size_bytes;
    if (!is_usable() || size_bytes >= SC_USERFAULTS_LONG_BYTES || !sc_areas_have_stripe(address) ||
        !sc_areas_have_stripe(end - 1))
        return false;
    while (page < end && may_guard(flags_of(page), is_source))
        page += PAGE_BYTES;
    return page >= end;
}

/* Is the choice between mprotect and userfaultfd recorded already for all these pages? Then the
 * caller need not lock their stripe to record it. While userfaultfd cannot be used, the choice is
 * mprotect. */
bool sc_userfaults_mechanism_is_noted(uintptr_t start, size_t size_bytes, bool by_mprotect)
{
    uintptr_t page = start;
    by_mprotect |= !is_usable();
    while (page - start < size_bytes && !(flags_of(page) & TO_MPROTECT) == !by_mprotect)
        page += PAGE_BYTES;
    return page - start >= size_bytes;
}

/* Records for these pages that mprotect is to protect them for the latest operation, or else
 * userfaultfd. The caller has locked their stripe. */
void sc_userfaults_note_mechanism(uintptr_t start, size_t size_bytes, bool by_mprotect)
{
    uint8_t noted = by_mprotect || !is_usable() ? TO_MPROTECT : 0;
    for (uintptr_t page = start; page < start + size_bytes; page += PAGE_BYTES)
        set_flags(page, (uint8_t)((flags_of(page) & ~TO_MPROTECT) | noted));
}

/* Sets the flags of all these pages, in place of those that they had. */
static void set_all_flags(uintptr_t start, size_t size_bytes, uint8_t flags)
{
    for (uintptr_t page = start; page < start + size_bytes; page += PAGE_BYTES)
        set_flags(page, flags);
}

/* Registers the pages with userfaultfd for minor faults. The ADOPTED flag is set before: if the
 * program's madvise removes a page from the page tables in between, the hook has to see the flag,
 * and to map the page again. If userfaultfd was lost meanwhile, the registration is taken back: a
 * touch of such a page would wait for ever. */
static bool adopt_pages(uintptr_t start, size_t size_bytes)
{
    if (!sc_userfaults_begin())
        return false;
    set_all_flags(start, size_bytes, ADOPTED);
    if (register_pages(REGISTER_MINOR, start, size_bytes)) {
        if (sc_userfaults_state() == SC_USERFAULTFD_OPENED)
            return true;
        unregister_pages(start, size_bytes); /* nobody answers touches any more */
    }
    set_all_flags(start, size_bytes, 0);
    return false;
}

/* Registers pages of a small new allocation with userfaultfd. Not again where an earlier one was:
 * memory that was freed has stayed registered. Large allocations (blocks) are registered only when
 * that is of use (block_areas.h). */
void sc_userfaults_serve(uintptr_t address, size_t size_bytes)
{
    if (sc_areas_are_shared(address) && !is_adopted(address))
        adopt_pages(address, (size_bytes + PAGE_BYTES - 1) & ~(size_t)(PAGE_BYTES - 1));
}

/* Makes Linux map the area by small pages, as no part of a huge page can be removed from the page
 * tables. Linux keeps a huge page in the page tables as long as one mapping has all of it. So the
 * first page gets another madvise value for a moment, which makes it a mapping of its own. */
static bool make_small(uintptr_t area)
{
    return sc_kernel_call(SYS_madvise, area, SC_AREAS_BYTES, MADV_NOHUGEPAGE) == 0 &&
           sc_kernel_call(SYS_madvise, area, SC_AREAS_BYTES, MADV_NORMAL) == 0 &&
           sc_kernel_call(SYS_madvise, area, PAGE_BYTES, MADV_RANDOM) == 0;
}

/* Registers a whole area (2 MB of a large allocation) with userfaultfd, after Linux was made to map
 * it by small pages. Then the first page becomes part of one mapping again. */
bool sc_userfaults_adopt_huge(uintptr_t area)
{
    if (is_adopted(area)) /* by a thread that had the locks before */
        return true;
    bool adopted = make_small(area) && adopt_pages(area, SC_AREAS_BYTES);
    sc_kernel_call(SYS_madvise, area, PAGE_BYTES, MADV_NORMAL);
    return adopted;
}

/* Are all pages of the interval registered with userfaultfd? */
bool sc_userfaults_have_adopted(uintptr_t start, size_t size_bytes)
{
    uintptr_t page = start;
    while (page - start < size_bytes && is_adopted(page))
        page += PAGE_BYTES;
    return page - start >= size_bytes;
}

/* Registers pages for write-protection, which guards them for copies that read them. Does nothing
 * if a page is not registered at all, or Linux refuses: mprotect guards them then. Pages that
 * mprotect protects at present stay so until mprotect unprotects them. */
void sc_userfaults_adopt_sources(uintptr_t start, size_t size_bytes)
{
    if (!is_usable() || !sc_userfaults_have_adopted(start, size_bytes) ||
        !register_for(REGISTER_WP | REGISTER_MINOR, start, size_bytes))
        return;
    for (uintptr_t page = start; page < start + size_bytes; page += PAGE_BYTES)
        atomic_fetch_or_explicit(page_at(page), SOURCES, memory_order_relaxed);
}

/* Maps those registered pages again that are accessible by their flags, after a call of the program
 * has removed some from the page tables (MADV_DONTNEED): else each touch would wait for the reader.
 */
void sc_userfaults_restore(uintptr_t start, size_t size_bytes)
{
    if (!is_open())
        return;
    for (uintptr_t page = start; page < start + size_bytes; page += PAGE_BYTES)
        if (is_adopted(page) && (flags_of(page) & ACCESS) == SC_ACCESS_ALL)
            map_pages_again(page, PAGE_BYTES, SC_ACCESS_ALL);
}

/* ---- the end ---- */

/* Is the descriptor useless now: closed by the program, or forbidden by a filter of system calls?
 * Tried on wake_page, where nothing else can fail; another call may have failed for its pages. */
static bool is_lost(void)
{
    return write_protect(wake_page, PAGE_BYTES, false) != 0;
}

/* Checks, after a failed request, whether the program has closed the descriptor, or a seccomp
 * filter forbids its use. Then userfaultfd guards nothing from now on. Touching wake_page wakes the
 * reader, which has a descriptor of its own and lets all waiting threads continue. Under a filter
 * (-EPERM, -EACCES, -ENOSYS) it cannot; they continue when no descriptor is open any more, so this
 * one is closed. */
static void check_failure(long result)
{
    if (!is_lost() || !atomic_exchange(&has_reader, false))
        return;
    atomic_store(&state, SC_USERFAULTFD_LOST);
    if (result == -EPERM || result == -EACCES || result == -ENOSYS)
        sc_kernel_call(SYS_close, atomic_load(&descriptor));
    (void)*(const volatile char *)wake_page;
}

/* Stops using userfaultfd, as no thread can read its messages: no touch waits for an answer. */
void sc_userfaults_give_up(void)
{
    atomic_store(&state, SC_USERFAULTFD_LOST);
    unregister_pages(sc_areas.start, sc_areas.size_bytes);
}

/* Ends userfaultfd, as the last act of the thread that reads it: no page is protected by it any
 * more, and all waiting threads continue. Pages that mprotect protects stay so recorded. */
static void end_reading(void)
{
    atomic_store(&has_reader, false);
    atomic_store(&state, SC_USERFAULTFD_LOST);
    for (unsigned page = 0; page < PAGES_MAX; page++)
        if (sc_areas.page_states[page])
            atomic_fetch_and_explicit(&sc_areas.page_states[page], BY_MPROTECT | ACCESS,
                                      memory_order_relaxed);
    unregister_pages(sc_areas.start, sc_areas.size_bytes);
    wake_waiters(sc_areas.start, sc_areas.size_bytes);
    sc_kernel_call(SYS_close, atomic_load(&descriptor)); /* of the reader's table */
}

/* ---- access ---- */

/* How a page's access is changed: not at all, by userfaultfd, by mprotect, or by neither, which
 * counts as refused. */
enum way { NOTHING, BY_USERFAULT, BY_MPROTECT_CALL, REFUSED };

/* Returns how the page's access is to be changed to this one. What mprotect has protected, mprotect
 * unprotects. REFUSED: userfaultfd was to guard the page and cannot any more (`usable` false), and
 * mprotect must not, as the handler of SIGSEGV may not be installed. What userfaultfd protected
 * before it was lost is accessible already. */
static enum way way_of(uintptr_t page, enum sc_access access, bool usable)
{
    uint8_t flags = flags_of(page);
    if (flags & BY_MPROTECT || !(flags & ADOPTED))
        return BY_MPROTECT_CALL;
    enum sc_access now = flags & ACCESS;
    if (now == access || (access == SC_ACCESS_ALL && !usable))
        return NOTHING;
    if (access == SC_ACCESS_ALL)
        return BY_USERFAULT;
    if (!usable && !(flags & TO_MPROTECT))
        return REFUSED;
    bool is_registered = access == SC_ACCESS_NONE || flags & SOURCES;
    return !(flags & TO_MPROTECT) && !touched_often(flags) && is_registered ? BY_USERFAULT
                                                                            : BY_MPROTECT_CALL;
}

/* Records the program's access to the pages, and whether mprotect denies the rest. */
static void note_access(uintptr_t start, size_t size_bytes, enum sc_access access, bool by_mprotect)
{
    for (uintptr_t page = start; page < start + size_bytes; page += PAGE_BYTES) {
        uint8_t flags = flags_of(page) & (uint8_t) ~(ACCESS | BY_MPROTECT);
        bool is_denied = by_mprotect && access != SC_ACCESS_ALL;
        set_flags(page, (uint8_t)(flags | access | (is_denied ? BY_MPROTECT : 0)));
    }
}

/* Changes the pages' access by mprotect. Pages that userfaultfd has protected are protected by
 * mprotect first, and only then made accessible in userfaultfd, so that no touch gets through in
 * between. Where that fails, mprotect's access counts all the same. The pages have equal flags, so
 * the first one's count for all. */
static long set_by_mprotect(uintptr_t start, size_t size_bytes, enum sc_access access)
{
    bool was_protected = sc_userfaults_is_protected(start);
    long result = sc_page_protection_set(start, size_bytes, access);
    if (result != 0)
        return result;
    if (was_protected)
        result = (flags_of(start) & ACCESS) == SC_ACCESS_READ
                     ? write_protect(start, size_bytes, false)
                     : map_pages_again(start, size_bytes, SC_ACCESS_ALL);
    if (result != 0)
        check_failure(result);
    note_access(start, size_bytes, access, true);
    if (access != SC_ACCESS_ALL)
        sc_guarded_ranges_note(start, false);
    return 0;
}

/* Unprotects pages that userfaultfd has protected (`from`: the access until now). Each page that
 * was only write-protected would fault at its next store, so all are made writable together
 * (MADV_POPULATE_WRITE). If the program has removed some from the page tables, that call waits for
 * the reader, who would wait for this thread's lock: so they are recorded as accessible before. */
static long unprotect_pages(uintptr_t start, size_t size_bytes, enum sc_access from)
{
    if (from == SC_ACCESS_NONE)
        return map_pages_again(start, size_bytes, SC_ACCESS_ALL);
    long result = write_protect(start, size_bytes, false);
    note_access(start, size_bytes, SC_ACCESS_ALL, false);
    if (result == 0 || result == -ENOENT) /* some of them are registered no longer */
        sc_kernel_call(SYS_madvise, start, size_bytes, POPULATE_WRITE);
    return result;
}

/* Makes inaccessible pages readable. Before Linux 6.4 they are writable for a moment in between. */
static long make_readable(uintptr_t start, size_t size_bytes)
{
    long result = map_pages_again(start, size_bytes, SC_ACCESS_READ);
    if (result == -EINVAL)
        result = map_pages_again(start, size_bytes, SC_ACCESS_ALL);
    return result ? result : write_protect(start, size_bytes, true);
}

/* Protects pages by userfaultfd: against all access, by removing them from the page tables, or only
 * against stores. Pages that were inaccessible (`from`) become readable if `access` says so.
 * Returns 0 or -errno. */
static long protect(uintptr_t start, size_t size_bytes, enum sc_access from, enum sc_access access)
{
    if (access != SC_ACCESS_READ)
        return sc_kernel_call(SYS_madvise, start, size_bytes, DONTNEED_LOCKED);
    return from == SC_ACCESS_NONE ? make_readable(start, size_bytes)
                                  : write_protect(start, size_bytes, true);
}

/* Clears the flag that says registered for write-protection, after Linux has refused to protect the
 * pages: the memory was freed and mapped anew, and is no longer registered for that. */
static void forget_sources(uintptr_t start, size_t size_bytes)
{
    for (uintptr_t page = start; page < start + size_bytes; page += PAGE_BYTES)
        set_flags(page, flags_of(page) & (uint8_t)~SOURCES);
}

/* Changes the pages' access by userfaultfd; returns 0 or -errno. Pages are recorded as protected
 * before they are, and until they no longer are, since the reader goes by the record. If Linux
 * refuses to protect them, they are made accessible: half protected pages are of no use. */
static long set_by_userfault(uintptr_t start, size_t size_bytes, enum sc_access access)
{
    enum sc_access from = flags_of(start) & ACCESS;
    long result = 0;
    if (access != SC_ACCESS_ALL) {
        note_access(start, size_bytes, access, false);
        result = protect(start, size_bytes, from, access);
        if (result == 0) {
            sc_guarded_ranges_note(start, true);
            return 0;
        }
        check_failure(result);
        forget_sources(start, size_bytes);
        from = from == SC_ACCESS_ALL ? access : from;
    }
    long unprotected = unprotect_pages(start, size_bytes, from);
    if (unprotected != 0)
        check_failure(unprotected);
    note_access(start, size_bytes, SC_ACCESS_ALL, false);
    return result;
}

/* Have the two pages the same flags, so far as these decide how the access is changed? */
static bool are_alike(uintptr_t a, uintptr_t b)
{
    const uint8_t same = ACCESS | BY_MPROTECT | ADOPTED;
    return (flags_of(a) & same) == (flags_of(b) & same);
}

/* Sets the program's access to whole pages of the library's pinned memory, each by the mechanism
 * recorded for it; pages with equal flags are changed by one call. Returns 0, or the first failure
 * (-errno). In a forked child mprotect changes all: what userfaultfd protected in the parent is
 * accessible there. */
int sc_userfaults_set(uintptr_t address, size_t size_bytes, enum sc_access access)
{
    bool usable = is_usable();
    if (!usable && sc_process_is_child())
        return sc_page_protection_set(address, size_bytes, access);
    uintptr_t end = address + size_bytes;
    long refused = 0;
    for (uintptr_t next; address < end; address = next) {
        enum way way = way_of(address, access, usable);
        for (next = address + PAGE_BYTES; next < end; next += PAGE_BYTES)
            if (way_of(next, access, usable) != way || !are_alike(next, address))
                break;
        long result = 0;
        if (way == BY_USERFAULT)
            result = set_by_userfault(address, next - address, access);
        else if (way == BY_MPROTECT_CALL)
            result = set_by_mprotect(address, next - address, access);
        else if (way == REFUSED)
            result = -ENODEV;
        refused = refused ? refused : result;
    }
    return (int)refused;
}

/* Protects the page again if it is recorded as protected by userfaultfd: it was mapped for a touch
 * while another thread protected it. */
void sc_userfaults_protect_again(uintptr_t address)
{
    if (sc_userfaults_is_protected(address))
        protect(address, PAGE_BYTES, SC_ACCESS_ALL, (enum sc_access)(flags_of(address) & ACCESS));
}

/* ---- the reader ---- */

/* Makes the calling thread the reader, which answers touches. False: it cannot be. It gets a table
 * of file descriptors of its own (close_range) with the userfaultfd alone: so it keeps no file of
 * the program open, and the program cannot close its descriptor. The program may have closed it
 * before, and opened another file with the same number. So a request for wake_page is tried: that
 * works with the library's descriptor only. */
bool sc_userfaults_start_reader(void)
{
    unsigned own = (unsigned)atomic_load(&descriptor);
    bool entered = sc_kernel_call(SYS_close_range, own + 1, ~0U, CLOSE_UNSHARED) == 0 &&
                   (own == 0 || sc_kernel_call(SYS_close_range, 0, own - 1, 0) == 0) &&
                   write_protect(wake_page, PAGE_BYTES, false) == 0;
    atomic_store(&has_reader, entered);
    if (!entered)
        sc_userfaults_give_up();
    return entered;
}

/* Waits for the next message of userfaultfd. False: there will be none. The descriptor does not
 * block (-EAGAIN), since poll also tells when it is useless. */
static bool read_event(struct uffd_msg *message)
{
    struct pollfd watched = {.fd = atomic_load(&descriptor), .events = POLLIN};
    for (;;) {
        long got = sc_kernel_call(SYS_read, watched.fd, message, sizeof *message);
        if (got == (long)sizeof *message)
            return true;
        if (got != -EAGAIN && got != -EINTR)
            return false;
        got = sc_kernel_call(SYS_ppoll, &watched, 1, NULL, NULL, 0);
        if ((got < 0 && got != -EINTR) || watched.revents & (POLLERR | POLLNVAL))
            return false;
    }
}

/* Waits for the next touch of a protected page that Linux reports. False: none will come, as
 * reading has failed, or the descriptor was lost, for which another thread has touched wake_page.
 * Then userfaultfd has been ended, and all waiting threads continue. */
bool sc_userfaults_await(struct sc_userfaults_event *event)
{
    struct uffd_msg message;
    while (read_event(&message)) {
        uintptr_t address = message.arg.pagefault.address;
        if (message.event != UFFD_EVENT_PAGEFAULT)
            continue;
        if (address - wake_page < PAGE_BYTES)
            break;
        event->address = address;
        event->thread = (int32_t)message.arg.pagefault.feat.ptid;
        return true;
    }
    end_reading();
    return false;
}

/* Is the page recorded as protected by userfaultfd now? */
bool sc_userfaults_is_protected(uintptr_t address)
{
    uint8_t flags = flags_of(address);
    return flags & ADOPTED && !(flags & BY_MPROTECT) && (flags & ACCESS) != SC_ACCESS_ALL;
}

/* Answers a touch for which a thread waits: makes the page accessible in userfaultfd, and wakes the
 * thread, which touches it again. `denied`: mprotect protects the page before, so that this raises
 * SIGSEGV. Such touches are counted; after TOUCHES_MAX mprotect guards the page for good. */
void sc_userfaults_resume_touch(uintptr_t address, bool denied)
{
    uintptr_t page = address & ~(uintptr_t)(PAGE_BYTES - 1);
    uint8_t flags = flags_of(page);
    enum sc_access access = flags & ACCESS;
    if (denied && sc_page_protection_set(page, PAGE_BYTES, access) == 0)
        set_flags(page, (uint8_t)((flags | BY_MPROTECT) + (touched_often(flags) ? 0 : ONE_TOUCH)));
    map_pages_again(page, PAGE_BYTES, SC_ACCESS_ALL);
    write_protect(page, PAGE_BYTES, false);
    wake_waiters(page, PAGE_BYTES);
}
