/* Keeps what a process did last: the latest operations of its streams, and the latest memory that
 * it freed. When a context is lost, the report shows it in one line, the post-mortem.
 *
 * A ring holds SC_HISTORY_LENGTH entries of a fixed size; the next entry replaces the oldest. A
 * stream has the ring that its id leads to; if there are more streams than rings, they share rings.
 * Nothing allocates, locks or calls: an entry costs plain stores, and one atomic addition unless
 * its number was drawn elsewhere.
 *
 * Lock-free, thread-safe, and safe in a signal handler. A reader skips entries that are being
 * written. */

/* Terms (docs/glossary.md):
 *   ledger: which memory the process has, and which call stack asked for it
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   post-mortem: the report's line that says what was in flight when a context was lost
 *   source: the memory that a copy reads
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_TRACK_HISTORY_H
#define SC_TRACK_HISTORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/op_kinds.h"

enum { SC_HISTORY_LENGTH = 64, SC_HISTORY_RINGS = 64 };

struct sc_history_entry {
    const char *api; /* lives for ever */
    uintptr_t site;  /* if `stack` is 0: the return address of the call */
    uint32_t stack;  /* id of the call's stack (track/stacks.h); 0: not taken */
    /* the tracker's id; for memory that was freed: the stream in whose order it is freed, or 0 */
    uint32_t stream;
    int32_t thread;              /* the thread that made the call */
    enum sc_direction direction; /* SC_NO_DIRECTION: neither a copy nor a memset */
    uint64_t ticks;              /* sc_ticks() at the call, or an earlier time */
    /* the operation is done when the host knows that so many operations of the stream are done */
    uint64_t number;
    uintptr_t address; /* of the memory that is written or freed; 0: not known */
    uintptr_t source;  /* source of a copy; 0: none, or not known */
    size_t size_bytes; /* 0: not known */
};

/* The words of an entry, as a ring stores them. */
enum sc_history_word {
    SC_HISTORY_API,
    SC_HISTORY_SITE,
    SC_HISTORY_STACK_AND_STREAM,
    SC_HISTORY_THREAD_AND_DIRECTION,
    SC_HISTORY_TICKS,
    SC_HISTORY_NUMBER,
    SC_HISTORY_ADDRESS,
    SC_HISTORY_SOURCE,
    SC_HISTORY_SIZE,
    SC_HISTORY_WORDS
};

struct sc_history_ring {
    _Atomic uint64_t begun; /* how many entries sc_history_note has numbered itself */
    struct {
        /* The entry's number, from 1; 0: there is no entry, or it is being written. */
        _Atomic uint64_t number;
        _Atomic uint64_t words[SC_HISTORY_WORDS];
    } entries[SC_HISTORY_LENGTH];
};

struct sc_history {
    /* a ring for the streams whose ids have this remainder */
    struct sc_history_ring streams[SC_HISTORY_RINGS];
    struct sc_history_ring frees; /* numbered by the ledger (ledger/ledger.h), if there is one */
};

/* The process's history, all zero at first. Tests make histories of their own. */
extern struct sc_history sc_history;

static inline void sc_history_put(_Atomic uint64_t *words, enum sc_history_word word,
                                  uint64_t value)
{
    atomic_store_explicit(&words[word], value, memory_order_release);
}

static inline uint64_t sc_history_pair(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

/* Writes the entry into the ring, and returns the entry's number. `number`: from 1, unique in the
 * ring; 0: the next one, which only a ring may use whose entries nobody else numbers. While words
 * of two entries may be mixed, the place's number is 0. An entry whose place has a later one
 * already is left out. Inline, since every copy calls it. */
static inline __attribute__((always_inline)) uint64_t
sc_history_note(struct sc_history_ring *ring, uint64_t number, const struct sc_history_entry *entry)
{
    const bool was_numbered = number != 0;
    if (!was_numbered)
        number = atomic_fetch_add_explicit(&ring->begun, 1, memory_order_relaxed) + 1;
    __typeof__(&ring->entries[0]) place = &ring->entries[number % SC_HISTORY_LENGTH];
    if (was_numbered && atomic_load_explicit(&place->number, memory_order_relaxed) > number)
        return number;
    atomic_store_explicit(&place->number, 0, memory_order_relaxed);
    sc_history_put(place->words, SC_HISTORY_API, (uintptr_t)entry->api);
    sc_history_put(place->words, SC_HISTORY_SITE, entry->site);
    sc_history_put(place->words, SC_HISTORY_STACK_AND_STREAM,
                   sc_history_pair(entry->stack, entry->stream));
    sc_history_put(place->words, SC_HISTORY_THREAD_AND_DIRECTION,
                   sc_history_pair((uint32_t)entry->thread, (uint32_t)entry->direction));
    sc_history_put(place->words, SC_HISTORY_TICKS, entry->ticks);
    sc_history_put(place->words, SC_HISTORY_NUMBER, entry->number);
    sc_history_put(place->words, SC_HISTORY_ADDRESS, entry->address);
    sc_history_put(place->words, SC_HISTORY_SOURCE, entry->source);
    sc_history_put(place->words, SC_HISTORY_SIZE, entry->size_bytes);
    atomic_store_explicit(&place->number, number, memory_order_release);
    return number;
}

/* Copies the ring's entries, the latest first. Returns how many there are. */
unsigned sc_history_read(struct sc_history_ring *ring,
                         struct sc_history_entry entries[SC_HISTORY_LENGTH]);

#endif
