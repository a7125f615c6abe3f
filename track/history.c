#include "track/history.h"

#include <stdbool.h>

#include "track/poison.h"

struct sc_history sc_history;

enum word {
    API,
    SITE,
    STACK_AND_STREAM,
    THREAD_AND_DIRECTION,
    TICKS,
    NUMBER,
    ADDRESS,
    SOURCE,
    SIZE
};

_Static_assert(SIZE + 1 == SC_HISTORY_WORDS, "an entry has a word for each");

static uint64_t pair(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

static void put(_Atomic uint64_t *words, enum word word, uint64_t value)
{
    atomic_store_explicit(&words[word], value, memory_order_relaxed);
}

static uint64_t get(_Atomic uint64_t *words, enum word word)
{
    return atomic_load_explicit(&words[word], memory_order_relaxed);
}

/* The number is 0 for as long as the words are half of one entry and half of another. */
void sc_history_note(struct sc_history_ring *ring, const struct sc_history_entry *entry)
{
    uint64_t before = atomic_fetch_add_explicit(&ring->next, 1, memory_order_relaxed);
    __typeof__(&ring->entries[0]) place = &ring->entries[before % SC_HISTORY_LENGTH];
    atomic_store_explicit(&place->number, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    put(place->words, API, (uintptr_t)entry->api);
    put(place->words, SITE, entry->site);
    put(place->words, STACK_AND_STREAM, pair(entry->stack, entry->stream));
    put(place->words, THREAD_AND_DIRECTION,
        pair((uint32_t)entry->thread, (uint32_t)entry->direction));
    put(place->words, TICKS, entry->ticks);
    put(place->words, NUMBER, entry->number);
    put(place->words, ADDRESS, entry->address);
    put(place->words, SOURCE, entry->source);
    put(place->words, SIZE, entry->size_bytes);
    atomic_store_explicit(&place->number, before + 1, memory_order_release);
}

static struct sc_history_entry unpack(_Atomic uint64_t *words)
{
    uint64_t of_stack = get(words, STACK_AND_STREAM), of_thread = get(words, THREAD_AND_DIRECTION);
    return (struct sc_history_entry){
        .api = (const char *)(uintptr_t)get(words, API),
        .site = get(words, SITE),
        .stack = (uint32_t)(of_stack >> 32),
        .stream = (uint32_t)of_stack,
        .thread = (int32_t)(of_thread >> 32),
        .direction = (enum sc_direction)(uint32_t)of_thread,
        .ticks = get(words, TICKS),
        .number = get(words, NUMBER),
        .address = get(words, ADDRESS),
        .source = get(words, SOURCE),
        .size_bytes = get(words, SIZE),
    };
}

/* False: the place has another entry by now, or half of one. */
static bool read_one(struct sc_history_ring *ring, uint64_t number, struct sc_history_entry *entry)
{
    __typeof__(&ring->entries[0]) place = &ring->entries[(number - 1) % SC_HISTORY_LENGTH];
    if (atomic_load_explicit(&place->number, memory_order_acquire) != number)
        return false;
    *entry = unpack(place->words);
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&place->number, memory_order_relaxed) == number;
}

unsigned sc_history_read(struct sc_history_ring *ring,
                         struct sc_history_entry entries[SC_HISTORY_LENGTH])
{
    unsigned count = 0;
    uint64_t last = atomic_load_explicit(&ring->next, memory_order_acquire);
    uint64_t first = last > SC_HISTORY_LENGTH ? last - SC_HISTORY_LENGTH + 1 : 1;
    for (uint64_t number = last; number >= first; number--)
        count += read_one(ring, number, &entries[count]);
    return count;
}
