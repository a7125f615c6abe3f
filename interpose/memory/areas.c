#include "interpose/memory/areas.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "common/brief_lock.h"
#include "common/checks.h"
#include "common/kernel.h"
#include "common/own_pages.h"
#include "track/spans_calls.h"
#include "track/track_parts.h"

#include "common/poison.h"

_Static_assert((int)SC_AREAS_BYTES == (int)SC_SPANS_AREA_BYTES, "a stripe has whole areas");
_Static_assert((int)SC_AREAS_COUNT == (int)SC_SPANS_AREAS_MAX, "each area may have a stripe");

enum { PAGE_BYTES = 4 << 10, AREA_PAGES = SC_AREAS_BYTES / PAGE_BYTES, WORD_PAGES = 64 };

struct sc_areas sc_areas;

/* A shared area: a bit for each of its pages that is taken. */
struct area {
    uint64_t taken[AREA_PAGES / WORD_PAGES];
};

static struct sc_brief_lock lock;
static struct area areas[SC_AREAS_SHARED];
static unsigned next_area;               /* where the next allocation is tried first */
static bool is_in_block[SC_AREAS_COUNT]; /* of each area: a block has it */
static unsigned next_block = SC_AREAS_SHARED;
static enum { UNTRIED, RESERVED, REFUSED } state;

/* ---- the space ---- */

/* Is this resource of the process limited, or can that not be found out? In a limited address space
 * the program could lack what the library reserves. */
static bool has_limit(int resource)
{
    struct rlimit limit;
    return sc_kernel_call(SYS_prlimit64, 0, resource, NULL, &limit) != 0 ||
           limit.rlim_cur != RLIM_INFINITY;
}

/* Maps anonymous pages by a system call that no hook sees; 0: Linux refuses. */
static uintptr_t map_pages(uintptr_t at, size_t size_bytes, int protection, int flags)
{
    long got = sc_kernel_call(SYS_mmap, at, size_bytes, protection, flags | MAP_ANONYMOUS, -1, 0);
    return got < 0 && got > -4096 ? 0 : (uintptr_t)got;
}

/* Reserves addresses at a multiple of an area's size, without memory: maps more, and unmaps what
 * lies before and behind the boundary. 0: none are left. */
uintptr_t sc_areas_reserve(size_t size_bytes)
{
    const uintptr_t mask = SC_AREAS_BYTES - 1;
    uintptr_t wide = map_pages(0, size_bytes + mask + 1, PROT_NONE, MAP_PRIVATE | MAP_NORESERVE);
    if (!wide)
        return 0;
    uintptr_t start = (wide + mask) & ~mask;
    if (start > wide)
        sc_kernel_call(SYS_munmap, wide, start - wide);
    sc_kernel_call(SYS_munmap, start + size_bytes, wide + mask + 1 - start);
    return start;
}

/* Reserves the whole space at the first call, and tells the tracker that its shared areas have
 * stripes (locks of page protection) of their own. False: there is no space, as the address space
 * is limited. */
static bool reserve_once_locked(void) SC_REQUIRES(lock)
{
    SC_ASSERT_HELD(&lock);
    const size_t size_bytes = (size_t)SC_AREAS_COUNT * SC_AREAS_BYTES;
    if (state == UNTRIED && !has_limit(RLIMIT_AS)) {
        sc_areas.page_states = sc_pages_map(size_bytes / PAGE_BYTES);
        sc_areas.start = sc_areas.page_states ? sc_areas_reserve(size_bytes) : 0;
        sc_areas.size_bytes = sc_areas.start ? size_bytes : 0;
        sc_spans_set_stripes(sc_track_parts.guards, sc_areas.start, sc_areas.size_bytes,
                             sc_areas.start ? (size_t)SC_AREAS_SHARED * SC_AREAS_BYTES : 0);
    }
    if (state == UNTRIED)
        state = sc_areas.start ? RESERVED : REFUSED;
    return state == RESERVED;
}

bool sc_areas_have_stripe(uintptr_t address)
{
    return sc_areas_have(address) && sc_spans_have_stripe(sc_track_parts.guards, address);
}

/* ---- pages of an area ---- */

/* Belongs the page, by its index in the area, to an allocation? */
static bool is_page_taken(const struct area *area, unsigned page)
{
    return area->taken[page / WORD_PAGES] >> page % WORD_PAGES & 1;
}

/* Marks pages of an area as taken or free. */
static void set_taken(struct area *area, unsigned first, unsigned count, bool taken)
{
    for (unsigned page = first; page < first + count; page++) {
        uint64_t bit = UINT64_C(1) << page % WORD_PAGES;
        area->taken[page / WORD_PAGES] &= ~bit;
        area->taken[page / WORD_PAGES] |= taken ? bit : 0;
    }
}

/* Returns the first of `count` adjacent free pages of the area; AREA_PAGES: there are not so
 * many. */
static unsigned find_run(const struct area *area, unsigned count)
{
    unsigned length = 0;
    for (unsigned page = 0; page < AREA_PAGES; page++) {
        length = is_page_taken(area, page) ? 0 : length + 1;
        if (length == count)
            return page + 1 - count;
    }
    return AREA_PAGES;
}

/* Allocates adjacent pages from the areas (of 2 MB) that small allocations share. Each one begins
 * its search in another area: threads that touch pages of one area wait for each other in Linux. 0:
 * none are free. */
static uintptr_t take_pages_locked(unsigned count) SC_REQUIRES(lock)
{
    SC_ASSERT_HELD(&lock);
    for (unsigned tries = 0; tries < SC_AREAS_SHARED; tries++) {
        unsigned i = next_area++ % SC_AREAS_SHARED;
        unsigned first = find_run(&areas[i], count);
        if (first == AREA_PAGES)
            continue;
        set_taken(&areas[i], first, count, true);
        return sc_areas.start + (uintptr_t)i * SC_AREAS_BYTES + (uintptr_t)first * PAGE_BYTES;
    }
    return 0;
}

/* ---- whole areas ---- */

static unsigned count_areas(size_t size_bytes)
{
    return (unsigned)((size_bytes + SC_AREAS_BYTES - 1) / SC_AREAS_BYTES);
}

/* Returns the first of `count` adjacent areas (of 2 MB) that no large block has, from area `from`
 * on; SC_AREAS_COUNT: there are not so many. */
static unsigned find_block_locked(unsigned from, unsigned count) SC_REQUIRES(lock)
{
    unsigned length = 0;
    for (unsigned i = from; i < SC_AREAS_COUNT; i++) {
        length = is_in_block[i] ? 0 : length + 1;
        if (length == count)
            return i + 1 - count;
    }
    return SC_AREAS_COUNT;
}

static void set_block_locked(unsigned first, unsigned count, bool taken) SC_REQUIRES(lock)
{
    for (unsigned i = first; i < first + count; i++)
        is_in_block[i] = taken;
}

/* Allocates `count` adjacent areas (of 2 MB) for one large block; SC_AREAS_COUNT: there are none.
 * Areas that no block had yet are tried first: others may have a stripe (a lock of page protection)
 * already. */
static unsigned take_block_locked(unsigned count) SC_REQUIRES(lock)
{
    SC_ASSERT_HELD(&lock);
    unsigned first = find_block_locked(next_block, count);
    if (first == SC_AREAS_COUNT)
        first = find_block_locked(SC_AREAS_SHARED, count);
    if (first < SC_AREAS_COUNT) {
        set_block_locked(first, count, true);
        next_block = first + count;
    }
    return first;
}

/* Allocates whole areas for a large block, with nothing mapped in them; 0: there are not so many
 * free ones. */
uintptr_t sc_areas_take_block(size_t size_bytes)
{
    unsigned first = SC_AREAS_COUNT;
    if (size_bytes > (size_t)SC_AREAS_COUNT * SC_AREAS_BYTES)
        return 0;
    sc_brief_lock_acquire(&lock);
    if (reserve_once_locked())
        first = take_block_locked(count_areas(size_bytes));
    sc_brief_lock_release(&lock);
    return first < SC_AREAS_COUNT ? sc_areas.start + (uintptr_t)first * SC_AREAS_BYTES : 0;
}

/* Frees pages of a shared area, or the whole areas of a large block: the address says which. */
static void free_pages(uintptr_t start, size_t size_bytes)
{
    uintptr_t offset = start - sc_areas.start;
    unsigned area = (unsigned)(offset / SC_AREAS_BYTES);
    sc_brief_lock_acquire(&lock);
    if (area >= SC_AREAS_SHARED)
        set_block_locked(area, count_areas(size_bytes), false);
    else
        set_taken(&areas[area], (unsigned)(offset % SC_AREAS_BYTES / PAGE_BYTES),
                  (unsigned)(size_bytes / PAGE_BYTES), false);
    sc_brief_lock_release(&lock);
}

/* ---- allocations ---- */

/* Maps zeroed pages for a small allocation, in an area that it shares with others; 0: it is too
 * large, there is no room, or Linux refuses. */
uintptr_t sc_areas_map(size_t size_bytes)
{
    uintptr_t start = 0;
    if (size_bytes > SC_AREAS_MAX_BYTES)
        return 0;
    sc_brief_lock_acquire(&lock);
    if (reserve_once_locked())
        start = take_pages_locked((unsigned)(size_bytes / PAGE_BYTES));
    sc_brief_lock_release(&lock);
    if (start && !map_pages(start, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED)) {
        free_pages(start, size_bytes);
        return 0;
    }
    return start;
}

/* Clears what the guard has noted of each page, since other memory will be mapped there. Only notes
 * that are set are written: untouched ones then take no memory. */
static void clear_page_states(uintptr_t start, size_t size_bytes)
{
    _Atomic uint8_t *page_state = &sc_areas.page_states[(start - sc_areas.start) / PAGE_BYTES];
    for (_Atomic uint8_t *end = page_state + size_bytes / PAGE_BYTES; page_state < end;
         page_state++)
        if (atomic_load_explicit(page_state, memory_order_relaxed))
            atomic_store_explicit(page_state, 0, memory_order_relaxed);
}

/* Frees pages, and reserves the addresses again. If Linux refuses that they stay taken for good:
 * other memory of the process may be mapped there by now. */
void sc_areas_unmap(uintptr_t start, size_t size_bytes)
{
    clear_page_states(start, size_bytes);
    if (map_pages(start, size_bytes, PROT_NONE, MAP_PRIVATE | MAP_NORESERVE | MAP_FIXED))
        free_pages(start, size_bytes);
    else
        sc_kernel_call(SYS_munmap, start, size_bytes);
}
