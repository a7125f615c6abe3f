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

/* One word: the page's or block's number, its level, how many operations are still to be let pass,
 * and how many were guarded since the last touch. 0: no page. */
struct page {
    uint64_t number;
    unsigned level, left, untouched;
};

enum { LEFT_BITS = 13, LEVEL_BITS = 4, UNTOUCHED_BITS = 4 };

static _Atomic uint64_t places[PLACES];
static _Atomic unsigned used; /* places: 0 in most programs */

static uint64_t number_of(uintptr_t address)
{
    return address / (*sc_track_parts.page_mask + 1);
}

/* The number of the block that contains the address. A bit that no page's number has keeps the two
 * apart. */
static uint64_t block_of(uintptr_t address)
{
    return UINT64_C(1) << (63 - LEFT_BITS - LEVEL_BITS - UNTOUCHED_BITS) | address / BLOCK_BYTES;
}

static _Atomic uint64_t *place_of(uint64_t number)
{
    return &places[(number * 0x9E3779B97F4A7C15u >> 32) % PLACES];
}

static uint64_t pack_entry(const struct page *page)
{
    return ((page->number << LEVEL_BITS | page->level) << LEFT_BITS | page->left)
               << UNTOUCHED_BITS |
           page->untouched;
}

/* Unpacks the fields of an entry from its word. */
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

/* Replaces the entry unless another thread has changed it, and updates the count of used entries.
 */
static void replace_entry(_Atomic uint64_t *place, uint64_t from, uint64_t to)
{
    if (!atomic_compare_exchange_strong(place, &from, to))
        return;
    if (from == 0)
        atomic_fetch_add_explicit(&used, 1, memory_order_relaxed);
    else if (to == 0)
        atomic_fetch_sub_explicit(&used, 1, memory_order_relaxed);
}

/* Counts a touch of the page or block of that number: raises its level, and has the next 2^level
 * operations leave it unguarded. True: it is the first touch. */
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

void sc_neighbours_note_touch(uintptr_t address)
{
    if (count_touch(number_of(address)))
        count_touch(block_of(address));
}

/* Sets the page to the level at which it is never left unguarded. */
void sc_neighbours_note_hazard(uintptr_t address)
{
    struct page page = {.number = number_of(address), .level = WATCHED};
    _Atomic uint64_t *place = place_of(page.number);
    replace_entry(place, atomic_load_explicit(place, memory_order_relaxed), pack_entry(&page));
}

/* Counts an operation on the page: one less to leave unguarded, or one more that was guarded
 * without a touch, of which PEACEFUL lower the level. */
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

/* Is the page or block of that number to be left unguarded? Counts the operation. */
static bool must_skip(uint64_t number)
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

/* Was a hazard found on the page, so that it is always guarded? */
static bool is_watched(uint64_t number)
{
    struct page page = unpack_entry(atomic_load_explicit(place_of(number), memory_order_relaxed));
    return page.number == number && page.level == WATCHED;
}

/* Is an operation at the address to be left unguarded, since other data on its page is touched too
 * often? Also checks the block, even if the page alone decides, so that the block counts the
 * operation. */
bool sc_neighbours_leave_out(uintptr_t address)
{
    if (sc_likely(atomic_load_explicit(&used, memory_order_relaxed) == 0))
        return false;
    uint64_t number = number_of(address);
    if (is_watched(number))
        return false;
    bool block_skips = must_skip(block_of(address));
    return must_skip(number) || block_skips;
}

/* Clears the entry if its number lies between `first` and `end`. */
static void clear_if_within(_Atomic uint64_t *place, uint64_t first, uint64_t end)
{
    uint64_t word = atomic_load_explicit(place, memory_order_relaxed);
    uint64_t number = unpack_entry(word).number;
    if (word && number >= first && number < end)
        replace_entry(place, word, 0);
}

/* Clears the entries of all these numbers: one by one, or by a walk over the table if they are
 * many. */
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

/* Deletes the entries of the pages, and of the huge-page blocks, that lie wholly in the interval.
 */
void sc_neighbours_forget(uintptr_t address, size_t size_bytes)
{
    if (sc_likely(atomic_load_explicit(&used, memory_order_relaxed) == 0))
        return;
    forget_all(number_of(address + *sc_track_parts.page_mask), number_of(address + size_bytes));
    forget_all(block_of(address + BLOCK_BYTES - 1), block_of(address + size_bytes));
}
