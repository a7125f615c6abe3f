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

/* What is known of a page: */
enum {
    ACCESS = 0x03, /* the program's access (enum sc_access) */
    TOUCHES = 0x0c,
    ONE_TOUCH = 0x04,
    BY_MPROTECT = 0x10, /* protected by mprotect */
    ADOPTED = 0x20,     /* registered */
    SOURCES = 0x40,     /* ... for write-protection as well */
    TO_MPROTECT = 0x80, /* mprotect was chosen for the latest operation there */
};

static _Atomic int descriptor = -1;
static _Atomic bool has_reader;
static _Atomic int state; /* enum sc_userfaultfd_state */
/* A registered page that is never in the page tables: touching it wakes the reader, which then
 * ends. */
static uintptr_t wake_page;

static _Atomic uint8_t *page_at(uintptr_t address)
{
    return &sc_areas.page_states[(address - sc_areas.start) / PAGE_BYTES];
}

static uint8_t known_of(uintptr_t address)
{
    return atomic_load_explicit(page_at(address), memory_order_relaxed);
}

static void set_known(uintptr_t address, uint8_t known)
{
    atomic_store_explicit(page_at(address), known, memory_order_relaxed);
}

/* Can userfaultfd guard now: does its reader run, and is this no forked child? */
static bool is_usable(void)
{
    return atomic_load_explicit(&has_reader, memory_order_acquire) && !sc_process_is_child();
}

/* ---- system calls ---- */

static long call_ioctl(unsigned long request, void *argument)
{
    return sc_kernel_call(SYS_ioctl, atomic_load_explicit(&descriptor, memory_order_relaxed),
                          request, argument);
}

static long write_protect(uintptr_t start, size_t size_bytes, bool on)
{
    struct uffdio_writeprotect request = {.range = {start, size_bytes}, .mode = on};
    return call_ioctl(UFFDIO_WRITEPROTECT, &request);
}

static void wake_waiters(uintptr_t start, size_t size_bytes)
{
    struct uffdio_range range = {start, size_bytes};
    call_ioctl(UFFDIO_WAKE, &range);
}

/* Maps pages again (UFFDIO_CONTINUE), read-only if `access` says so (Linux 6.4). Pages that are
 * mapped already, or that Linux does not have, are skipped, and their waiting threads woken, which
 * touch them again. */
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
        if (result != -EEXIST && result != -EFAULT)
            return result;
        refused = result == -EFAULT ? result : refused;
        if (mode)
            write_protect(start, PAGE_BYTES, true);
        wake_waiters(start, PAGE_BYTES);
        start += PAGE_BYTES;
    }
    return refused;
}

/* ---- beginning ---- */

static bool register_for(uint64_t mode, uintptr_t start, size_t size_bytes)
{
    struct uffdio_register request = {.range = {start, size_bytes}, .mode = mode};
    return call_ioctl(UFFDIO_REGISTER, &request) == 0;
}

/* Maps the pages, and registers them: a page without contents would fault as missing and not as
 * minor. */
static bool register_pages(uint64_t mode, uintptr_t start, size_t size_bytes)
{
    return sc_kernel_call(SYS_madvise, start, size_bytes, POPULATE_WRITE) == 0 &&
           register_for(mode, start, size_bytes);
}

static void unregister_pages(uintptr_t start, size_t size_bytes)
{
    struct uffdio_range range = {start, size_bytes};
    call_ioctl(UFFDIO_UNREGISTER, &range);
}

/* Maps and registers wake_page, and removes it from the page tables. */
static bool make_wake_page(void)
{
    wake_page = sc_areas_map(PAGE_BYTES);
    return wake_page && register_pages(REGISTER_WP | REGISTER_MINOR, wake_page, PAGE_BYTES) &&
           sc_kernel_call(SYS_madvise, wake_page, PAGE_BYTES, DONTNEED_LOCKED) == 0;
}

/* Opens the descriptor and tries it out on wake_page. */
static enum sc_userfaultfd_state open_and_try(void)
{
    enum sc_userfaultfd_state opened;
    atomic_store(&descriptor, sc_userfaultfd_open(&opened));
    if (opened == SC_USERFAULTFD_OPENED && !make_wake_page())
        opened = SC_USERFAULTFD_NO_DESCRIPTOR;
    return opened;
}

/* Has this process an open descriptor? A forked child's copy is for the memory of its parent. */
static bool is_open(void)
{
    return sc_userfaults_state() == SC_USERFAULTFD_OPENED && !sc_process_is_child();
}

/* Opens the descriptor, once. Threads that call this meanwhile wait for the result. */
bool sc_userfaults_begin(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    if (sc_userfaults_state() == SC_USERFAULTFD_UNASKED) {
        pthread_mutex_lock(&lock);
        if (sc_userfaults_state() == SC_USERFAULTFD_UNASKED)
            atomic_store(&state, open_and_try());
        pthread_mutex_unlock(&lock);
    }
    return is_open();
}

enum sc_userfaultfd_state sc_userfaults_state(void)
{
    return (enum sc_userfaultfd_state)atomic_load_explicit(&state, memory_order_acquire);
}

static bool is_adopted(uintptr_t page)
{
    return sc_areas_have_stripe(page) && known_of(page) & ADOPTED;
}

/* Was the page touched so often that it stays with mprotect? */
static bool is_touched(uint8_t known)
{
    return (known & TOUCHES) / ONE_TOUCH >= TOUCHES_MAX;
}

/* May userfaultfd guard a page with these flags? */
static bool may_guard(uint8_t known, bool is_source)
{
    uint8_t wanted = ADOPTED | (is_source ? SOURCES : 0);
    return (known & (wanted | BY_MPROTECT | TO_MPROTECT)) == wanted && !is_touched(known);
}

/* True if userfaultfd can guard every page of the interval. */
bool sc_guard_uses_userfault(uintptr_t address, size_t size_bytes, bool is_source)
{
    uintptr_t page = address & ~(uintptr_t)(PAGE_BYTES - 1), end = address + size_bytes;
    if (!is_usable() || size_bytes >= SC_USERFAULTS_LONG_BYTES || !sc_areas_have_stripe(address) ||
        !sc_areas_have_stripe(end - 1))
        return false;
    while (page < end && may_guard(known_of(page), is_source))
        page += PAGE_BYTES;
    return page >= end;
}

/* True if all pages have the flag already, so that no lock is needed to set it. */
bool sc_userfaults_mechanism_is_noted(uintptr_t start, size_t size_bytes, bool by_mprotect)
{
    uintptr_t page = start;
    by_mprotect |= !is_usable();
    while (page - start < size_bytes && !(known_of(page) & TO_MPROTECT) == !by_mprotect)
        page += PAGE_BYTES;
    return page - start >= size_bytes;
}

void sc_userfaults_note_mechanism(uintptr_t start, size_t size_bytes, bool by_mprotect)
{
    uint8_t noted = by_mprotect || !is_usable() ? TO_MPROTECT : 0;
    for (uintptr_t page = start; page < start + size_bytes; page += PAGE_BYTES)
        set_known(page, (uint8_t)((known_of(page) & ~TO_MPROTECT) | noted));
}

static void set_all_known(uintptr_t start, size_t size_bytes, uint8_t known)
{
    for (uintptr_t page = start; page < start + size_bytes; page += PAGE_BYTES)
        set_known(page, known);
}

/* Registers the pages with userfaultfd. The ADOPTED flag is set before, since the hook of madvise
 * reads it before and after it removes pages from the page tables. */
static bool adopt_pages(uintptr_t start, size_t size_bytes)
{
    if (!sc_userfaults_begin())
        return false;
    set_all_known(start, size_bytes, ADOPTED);
    if (register_pages(REGISTER_MINOR, start, size_bytes)) {
        if (sc_userfaults_state() == SC_USERFAULTFD_OPENED)
            return true;
        unregister_pages(start, size_bytes); /* there is no reader any more */
    }
    set_all_known(start, size_bytes, 0);
    return false;
}

/* Registers the pages unless they are. Memory that was freed and is used again has stayed
 * registered. */
void sc_userfaults_serve(uintptr_t address, size_t size_bytes)
{
    if (sc_areas_are_shared(address) && !is_adopted(address))
        adopt_pages(address, (size_bytes + PAGE_BYTES - 1) & ~(size_t)(PAGE_BYTES - 1));
}

/* Makes Linux map the area by small pages. A mapping that has all of a huge page is mapped as one,
 * so the first page becomes a mapping of its own, which drops the huge entry. If the program has
 * mapped memory of its own there, which cannot be registered, that loses nothing. */
static bool make_small(uintptr_t area)
{
    return sc_kernel_call(SYS_madvise, area, SC_AREAS_BYTES, MADV_NOHUGEPAGE) == 0 &&
           sc_kernel_call(SYS_madvise, area, SC_AREAS_BYTES, MADV_NORMAL) == 0 &&
           sc_kernel_call(SYS_madvise, area, PAGE_BYTES, MADV_RANDOM) == 0;
}

/* Registers the whole area after Linux was made to map it by small pages. */
bool sc_userfaults_adopt_huge(uintptr_t area)
{
    if (is_adopted(area)) /* by a thread that had the locks before */
        return true;
    bool adopted = make_small(area) && adopt_pages(area, SC_AREAS_BYTES);
    sc_kernel_call(SYS_madvise, area, PAGE_BYTES, MADV_NORMAL);
    return adopted;
}

/* True if all pages of the interval are registered. */
bool sc_userfaults_have_adopted(uintptr_t start, size_t size_bytes)
{
    uintptr_t page = start;
    while (page - start < size_bytes && is_adopted(page))
        page += PAGE_BYTES;
    return page - start >= size_bytes;
}

/* Registers the pages for write-protection. Pages that mprotect protects at this moment will be
 * unprotected by mprotect. */
void sc_userfaults_adopt_sources(uintptr_t start, size_t size_bytes)
{
    if (!is_usable() || !sc_userfaults_have_adopted(start, size_bytes) ||
        !register_for(REGISTER_WP | REGISTER_MINOR, start, size_bytes))
        return;
    for (uintptr_t page = start; page < start + size_bytes; page += PAGE_BYTES)
        atomic_fetch_or_explicit(page_at(page), SOURCES, memory_order_relaxed);
}

/* Maps those pages again that no operation guards and that a call of the program may have removed
 * from the page tables. */
void sc_userfaults_restore(uintptr_t start, size_t size_bytes)
{
    if (!is_open())
        return;
    for (uintptr_t page = start; page < start + size_bytes; page += PAGE_BYTES)
        if (is_adopted(page) && (known_of(page) & ACCESS) == SC_ACCESS_ALL)
            map_pages_again(page, PAGE_BYTES, SC_ACCESS_ALL);
}

/* ---- the end ---- */

/* Is the descriptor useless now? Changing wake_page fails only then; the failure of another call
 * may concern its range alone. */
static bool is_lost(void)
{
    return write_protect(wake_page, PAGE_BYTES, false) != 0;
}

/* Checks, after a failure, whether the program has closed the descriptor, or a seccomp filter
 * forbids its use. Then userfaultfd guards nothing from now on. Touching wake_page wakes the
 * reader, which has a descriptor of its own and lets all waiting threads continue. Under a filter
 * they continue when no descriptor is open any more. */
static void check_failure(long result)
{
    if (!is_lost() || !atomic_exchange(&has_reader, false))
        return;
    atomic_store(&state, SC_USERFAULTFD_LOST);
    if (result == -EPERM || result == -EACCES || result == -ENOSYS)
        sc_kernel_call(SYS_close, atomic_load(&descriptor));
    (void)*(const volatile char *)wake_page;
}

void sc_userfaults_give_up(void)
{
    atomic_store(&state, SC_USERFAULTFD_LOST);
    unregister_pages(sc_areas.start, sc_areas.size_bytes);
}

/* Ends userfaultfd, as the reader's last act: no page is protected by it any more, and all waiting
 * threads continue. */
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

enum way { NOTHING, BY_USERFAULT, BY_MAPPING, BY_NOTHING_NOW };

/* Returns how the page's access is to be changed. BY_NOTHING_NOW: userfaultfd was to guard it and
 * cannot, and mprotect must not, as SIGSEGV may not be shared. */
static enum way way_of(uintptr_t page, enum sc_access access, bool usable)
{
    uint8_t known = known_of(page);
    if (known & BY_MPROTECT || !(known & ADOPTED))
        return BY_MAPPING;
    enum sc_access now = known & ACCESS;
    if (now == access || (access == SC_ACCESS_ALL && !usable))
        return NOTHING;
    if (access == SC_ACCESS_ALL)
        return BY_USERFAULT;
    if (!usable && !(known & TO_MPROTECT))
        return BY_NOTHING_NOW;
    bool is_registered = access == SC_ACCESS_NONE || known & SOURCES;
    return !(known & TO_MPROTECT) && !is_touched(known) && is_registered ? BY_USERFAULT
                                                                         : BY_MAPPING;
}

/* Records the program's access to the pages, and whether mprotect provides it. */
static void note(uintptr_t start, size_t size_bytes, enum sc_access access, bool by_mprotect)
{
    for (uintptr_t page = start; page < start + size_bytes; page += PAGE_BYTES) {
        uint8_t known = known_of(page) & (uint8_t) ~(ACCESS | BY_MPROTECT);
        bool is_denied = by_mprotect && access != SC_ACCESS_ALL;
        set_known(page, (uint8_t)(known | access | (is_denied ? BY_MPROTECT : 0)));
    }
}

/* Changes the access by mprotect. A page that userfaultfd has protected is first protected by
 * mprotect, and then released by userfaultfd. */
static long set_mapping(uintptr_t start, size_t size_bytes, enum sc_access access)
{
    bool was_protected = sc_userfaults_is_protected(start);
    long result = sc_page_protection_set(start, size_bytes, access);
    if (result == 0 && was_protected)
        result = (known_of(start) & ACCESS) == SC_ACCESS_READ
                     ? write_protect(start, size_bytes, false)
                     : map_pages_again(start, size_bytes, SC_ACCESS_ALL);
    if (result == 0)
        note(start, size_bytes, access, true);
    if (result == 0 && access != SC_ACCESS_ALL)
        sc_guarded_ranges_note(start, false);
    return result;
}

/* Unprotects pages that userfaultfd has protected. Each page that was only write-protected would
 * fault at its next store, so all are made writable together (MADV_POPULATE_WRITE). If the program
 * has removed pages from the page tables itself, that call would wait for the reader; so they are
 * recorded as accessible before. */
static long unprotect_pages(uintptr_t start, size_t size_bytes, enum sc_access from)
{
    if (from == SC_ACCESS_NONE)
        return map_pages_again(start, size_bytes, SC_ACCESS_ALL);
    long result = write_protect(start, size_bytes, false);
    if (result == 0) {
        note(start, size_bytes, SC_ACCESS_ALL, false);
        sc_kernel_call(SYS_madvise, start, size_bytes, POPULATE_WRITE);
    }
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

/* Protects pages by userfaultfd: against all access, or only against stores. Pages that were
 * inaccessible become readable if `access` says so. */
static long protect(uintptr_t start, size_t size_bytes, enum sc_access from, enum sc_access access)
{
    if (access != SC_ACCESS_READ)
        return sc_kernel_call(SYS_madvise, start, size_bytes, DONTNEED_LOCKED);
    return from == SC_ACCESS_NONE ? make_readable(start, size_bytes)
                                  : write_protect(start, size_bytes, true);
}

/* Clears the SOURCES flags after Linux has refused to write-protect the pages: the memory was freed
 * and is used again, and is no longer registered for that. */
static void forget_sources(uintptr_t start, size_t size_bytes)
{
    for (uintptr_t page = start; page < start + size_bytes; page += PAGE_BYTES)
        set_known(page, known_of(page) & (uint8_t)~SOURCES);
}

/* Changes the access by userfaultfd. Pages are recorded as protected before they are, and until
 * they no longer are. Pages for which Linux refuses are not guarded. */
static long set_by_userfault(uintptr_t start, size_t size_bytes, enum sc_access access)
{
    enum sc_access from = known_of(start) & ACCESS;
    long result = 0;
    if (access != SC_ACCESS_ALL) {
        note(start, size_bytes, access, false);
        result = protect(start, size_bytes, from, access);
        if (result == 0) {
            sc_guarded_ranges_note(start, true);
            return 0;
        }
        check_failure(result);
        forget_sources(start, size_bytes);
        from = from == SC_ACCESS_ALL ? access : from;
    }
    long let = unprotect_pages(start, size_bytes, from);
    if (let != 0)
        check_failure(let);
    note(start, size_bytes, SC_ACCESS_ALL, false);
    return result;
}

static bool are_alike(uintptr_t a, uintptr_t b)
{
    const uint8_t same = ACCESS | BY_MPROTECT | ADOPTED;
    return (known_of(a) & same) == (known_of(b) & same);
}

/* Changes runs of pages with equal flags together. In a forked child only mprotect changes
 * anything: what userfaultfd protected in the parent is accessible there. */
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
        else if (way == BY_MAPPING)
            result = set_mapping(address, next - address, access);
        else if (way == BY_NOTHING_NOW)
            result = -ENODEV;
        refused = refused ? refused : result;
    }
    return (int)refused;
}

void sc_userfaults_protect_again(uintptr_t address)
{
    if (sc_userfaults_is_protected(address))
        protect(address, PAGE_BYTES, SC_ACCESS_ALL, (enum sc_access)(known_of(address) & ACCESS));
}

/* ---- the reader ---- */

/* Prepares the calling thread, which becomes the reader of touches. False: it cannot serve. With
 * its own table of file descriptors the reader keeps no file of the program open, and the program
 * cannot close its descriptor. The program may have done that before, and opened another file with
 * the same number. So changing wake_page is tried: that works with the library's descriptor only.
 */
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

/* Waits for the next message of userfaultfd. False: there will be none. */
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

/* Waits for the next touch that Linux reports. False: wake_page was touched, or reading has failed,
 * and no events will come. */
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

bool sc_userfaults_is_protected(uintptr_t address)
{
    uint8_t known = known_of(address);
    return known & ADOPTED && !(known & BY_MPROTECT) && (known & ACCESS) != SC_ACCESS_ALL;
}

/* Maps a page for which a thread waits. A page that was touched several times is guarded by
 * mprotect afterwards (TOUCHES_MAX). */
void sc_userfaults_resume_touch(uintptr_t address, bool denied)
{
    uintptr_t page = address & ~(uintptr_t)(PAGE_BYTES - 1);
    uint8_t known = known_of(page);
    enum sc_access access = known & ACCESS;
    if (denied && sc_page_protection_set(page, PAGE_BYTES, access) == 0)
        set_known(page, (uint8_t)((known | BY_MPROTECT) + (is_touched(known) ? 0 : ONE_TOUCH)));
    map_pages_again(page, PAGE_BYTES, SC_ACCESS_ALL);
    write_protect(page, PAGE_BYTES, false);
    wake_waiters(page, PAGE_BYTES);
}
