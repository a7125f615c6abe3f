#include "interpose/guard/neighbours.h"

#include <stdatomic.h>

#include "interpose/base/compiler.h"
#include "track/track_parts.h"

#include "common/poison.h"

enum {
    PLACES = 4096,
    BLOCK_BYTES = 2 << 20,
    LEVEL_MAX = 12, /* at most 2^12 operations are left unguarded */
    WATCHED = 15,   /* the level of pages with hazards */
    PEACEFUL = 8,   /* after so many guarded operations without a touch the level decreases */
};

/* What is counted of a page, or of a block (2 MB). `level`: the next 2^level operations after a
 * touch beside the copied bytes leave it unprotected. `left`: how many of those are still to come.
 * `untouched`: how many operations were guarded since the last touch. Packed in one word; 0: no
 * page. */
struct page {
    uint64_t number;
    unsigned level, left, untouched;
};

enum { LEFT_BITS = 13, LEVEL_BITS = 4, UNTOUCHED_BITS = 4 };

static _Atomic uint64_t places[PLACES];
static _Atomic unsigned used; /* places: 0 in most programs */

/* Returns the number of the page with the address, by which its counts are found. */
static uint64_t number_of(uintptr_t address)
{
    return address / (*sc_track_parts.page_mask + 1);
}

/* Returns the number of the block (2 MB) with the address, by which its counts are found. A bit
 * that no page's number has keeps the two apart in the table. */
static uint64_t block_of(uintptr_t address)
{
    return UINT64_C(1) << (63 - LEFT_BITS - LEVEL_BITS - UNTOUCHED_BITS) | address / BLOCK_BYTES;
}

/* Returns the table's entry for the page or block of that number, which may hold another one's
 * counts. */
static _Atomic uint64_t *place_of(uint64_t number)
{
    return &places[(number * 0x9E3779B97F4A7C15u >> 32) % PLACES];
}

/* Packs the counts of a page or block into a word, which threads change without a lock. */
static uint64_t pack_entry(const struct page *page)
{
    return ((page->number << LEVEL_BITS | page->level) << LEFT_BITS | page->left)
               << UNTOUCHED_BITS |
           page->untouched;
}

/* Unpacks the counts of a page or block from a word of the table. */
static struct page unpack_entry(uint64_t word)
{
    struct page page;
    page.untouched = word & ((1u << UNTOUCHED_BITS) - 1);
    word >>= UNTOUCHED_BITS;
    page.left = word & ((1u << LEFT_BITS) - 1);
    word >>= LEFT_BITS;
    page.level = word & ((1u << LEVEL_BITS) - 1);
    page.number = word >> LEVEL_BITS;
    return page;
}

/* Replaces the entry's word `from` by `to`, unless another thread has changed it: a count may get
 * lost. Counts the entries in use, since nothing is looked up while there are none. */
static void replace_entry(_Atomic uint64_t *place, uint64_t from, uint64_t to)
{
    if (!atomic_compare_exchange_strong(place, &from, to))
        return;
    if (from == 0)
        atomic_fetch_add_explicit(&used, 1, memory_order_relaxed);
    else if (to == 0)
        atomic_fetch_sub_explicit(&used, 1, memory_order_relaxed);
}

/* Counts a touch, beside the copied bytes, of the page or block of that number: raises its level,
 * and has the next 2^level operations leave it unprotected. Not if a hazard was found there
 * (WATCHED). Takes over an entry that had another one's counts. True: it is the first touch that is
 * known. */
static bool count_touch(uint64_t number)
{
    _Atomic uint64_t *place = place_of(number);
    uint64_t word = atomic_load_explicit(place, memory_order_relaxed);
    struct page page = unpack_entry(word);
    bool first = page.number != number;
    if (first)
        page = (struct page){.number = number};
    else if (page.level == WATCHED)
        return false;
    else if (page.level < LEVEL_MAX)
        page.level++;
    page.left = 1u << page.level;
    page.untouched = 0;
    replace_entry(place, word, pack_entry(&page));
    return first;
}

/* Counts a touch of the page beside the bytes of an operation in flight. The first touch of a page
 * also counts for its block (2 MB): a program may touch one page after another, once each. */
void sc_neighbours_note_touch(uintptr_t address)
{
    if (count_touch(number_of(address)))
        count_touch(block_of(address));
}

/* Records that the program has touched copied bytes on the page too early: whatever is touched
 * beside them, the page is always guarded from now on. */
void sc_neighbours_note_hazard(uintptr_t address)
{
    struct page page = {.number = number_of(address), .level = WATCHED};
    _Atomic uint64_t *place = place_of(page.number);
    replace_entry(place, atomic_load_explicit(place, memory_order_relaxed), pack_entry(&page));
}

/* Counts an operation on the page or block: one less to leave unprotected, or one more that was
 * guarded without a touch since. PEACEFUL of these lower the level, and at level 0 the counts are
 * dropped. Always guarded pages (WATCHED) have no such counts. */
static void count_operation(struct page *page)
{
    if (page->level == WATCHED)
        return;
    if (page->left) {
        page->left--;
    } else if (++page->untouched == PEACEFUL) {
        page->untouched = 0;
        if (page->level == 0)
            page->number = 0;
        else
            page->level--;
    }
}

/* Counts an operation on the page or block of that number, and returns whether the operation is to
 * leave it unprotected. */
static bool count_and_ask(uint64_t number)
{
    _Atomic uint64_t *place = place_of(number);
    uint64_t word = atomic_load_explicit(place, memory_order_relaxed);
    struct page page = unpack_entry(word);
    if (page.number != number)
        return false;
    bool skips = page.left > 0;
    count_operation(&page);
    replace_entry(place, word, page.number ? pack_entry(&page) : 0);
    return skips;
}

/* Was the page of that number touched too early once, so that it is always guarded? */
static bool is_watched(uint64_t number)
{
    struct page page = unpack_entry(atomic_load_explicit(place_of(number), memory_order_relaxed));
    return page.number == number && page.level == WATCHED;
}

/* Counts an operation that uses only a part of this page, and returns whether the page is to be
 * left unprotected, since the program touches the rest of it too often. The block (2 MB) counts the
 * operation too, even if the page alone decides. */
bool sc_neighbours_leave_out(uintptr_t address)
{
    if (sc_likely(atomic_load_explicit(&used, memory_order_relaxed) == 0))
        return false;
    uint64_t number = number_of(address);
    if (is_watched(number))
        return false;
    bool block_skips = count_and_ask(block_of(address));
    return count_and_ask(number) || block_skips;
}

/* Clears the entry if it has the counts of a page or block from `first` to before `end`. */
static void clear_if_within(_Atomic uint64_t *place, uint64_t first, uint64_t end)
{
    uint64_t word = atomic_load_explicit(place, memory_order_relaxed);
    uint64_t number = unpack_entry(word).number;
    if (word && number >= first && number < end)
        replace_entry(place, word, 0);
}

/* Drops the counts of the pages or blocks from `first` to before `end`. One by one; or, if they are
 * as many as the table has entries, by a walk over the table. */
static void forget_all(uint64_t first, uint64_t end)
{
    if (end > first && end - first >= PLACES) {
        for (unsigned i = 0; i < PLACES; i++)
            clear_if_within(&places[i], first, end);
        return;
    }
    for (uint64_t number = first; number < end; number++)
        clear_if_within(place_of(number), number, number + 1);
}

/* Drops the counts of pages and blocks (2 MB) that lie wholly in the interval, which is new memory:
 * they were another buffer's. */
void sc_neighbours_forget(uintptr_t address, size_t size_bytes)
{
    if (sc_likely(atomic_load_explicit(&used, memory_order_relaxed) == 0))
        return;
    forget_all(number_of(address + *sc_track_parts.page_mask), number_of(address + size_bytes));
    forget_all(block_of(address + BLOCK_BYTES - 1), block_of(address + size_bytes));
}
