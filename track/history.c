#include "track/history.h"

#include <stdbool.h>

#include "common/poison.h"

struct sc_history sc_history;

/* Reads one word of an entry. Words are atomic, since entries are written without a lock. */
static uint64_t get_word(_Atomic uint64_t *words, enum sc_history_word word)
{
    return atomic_load_explicit(&words[word], memory_order_acquire);
}

/* Builds an entry from its words. Another thread may be writing them; the caller finds that out by
 * the entry's number. */
static struct sc_history_entry unpack_entry(_Atomic uint64_t *words)
{
    uint64_t of_stack = get_word(words, SC_HISTORY_STACK_AND_STREAM),
             of_thread = get_word(words, SC_HISTORY_THREAD_AND_DIRECTION);
    return (struct sc_history_entry){
        .api = (const char *)(uintptr_t)get_word(words, SC_HISTORY_API),
        .site = get_word(words, SC_HISTORY_SITE),
        .stack = (uint32_t)(of_stack >> 32),
        .stream = (uint32_t)of_stack,
        .thread = (int32_t)(of_thread >> 32),
        .direction = (enum sc_direction)(uint32_t)of_thread,
        .ticks = get_word(words, SC_HISTORY_TICKS),
        .number = get_word(words, SC_HISTORY_NUMBER),
        .address = get_word(words, SC_HISTORY_ADDRESS),
        .source = get_word(words, SC_HISTORY_SOURCE),
        .size_bytes = get_word(words, SC_HISTORY_SIZE),
    };
}

/* Reads the entry with this number. Returns false if its place has another entry by now, or one
 * that is being written (its number is 0 meanwhile). */
static bool read_one(struct sc_history_ring *ring, uint64_t number, struct sc_history_entry *entry)
{
    __typeof__(&ring->entries[0]) place = &ring->entries[number % SC_HISTORY_LENGTH];
    if (atomic_load_explicit(&place->number, memory_order_acquire) != number)
        return false;
    *entry = unpack_entry(place->words);
    return atomic_load_explicit(&place->number, memory_order_relaxed) == number;
}

/* Returns the greatest number in the ring; 0: it is empty. */
static uint64_t last_number(struct sc_history_ring *ring)
{
    uint64_t last = 0;
    for (unsigned i = 0; i < SC_HISTORY_LENGTH; i++) {
        uint64_t number = atomic_load_explicit(&ring->entries[i].number, memory_order_acquire);
        last = number > last ? number : last;
    }
    return last;
}

/* Copies the ring's entries, the latest first, for the report's line about a lost context. Entries
 * that are being written are left out. */
unsigned sc_history_read(struct sc_history_ring *ring,
                         struct sc_history_entry entries[SC_HISTORY_LENGTH])
{
    unsigned count = 0;
    uint64_t last = last_number(ring);
    uint64_t first = last > SC_HISTORY_LENGTH ? last - SC_HISTORY_LENGTH + 1 : 1;
    for (uint64_t number = last; number >= first; number--)
        count += read_one(ring, number, &entries[count]);
    return count;
}
