/* A set of addresses, for questions that are mostly answered no: an address that is not in the set
 * is recognised by a few loads. The set stores blocks of 2 MB, each hashed to one bit, and never
 * removes one. If the address lies below or above all blocks, two loads answer.
 *
 * Lock-free, thread- and signal-safe. Intervals that are given to these functions are not empty. */
#ifndef SC_TRACK_BLOCKS_H
#define SC_TRACK_BLOCKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SC_BLOCKS_SHIFT = 21,
    SC_BLOCKS_WORDS = 64,
    SC_BLOCKS_ASKED_MAX = 16, /* a longer interval, in blocks, counts as being in the set */
};

struct sc_blocks {
    _Atomic uintptr_t highest; /* the last byte of the last block */
    /* The bitwise complement of the first byte of the first block: so both bounds only rise. */
    _Atomic uintptr_t not_lowest;
    _Atomic uint64_t words[SC_BLOCKS_WORDS];
};

/* Adds the blocks that overlap the interval. */
static inline void sc_blocks_add(struct sc_blocks *blocks, uintptr_t address, size_t size_bytes);

/* Returns false only if no block that overlaps the interval was ever added. */
static inline bool sc_blocks_may_hold(const struct sc_blocks *blocks, uintptr_t address,
                                      size_t size_bytes);

/* Does the same as sc_blocks_may_hold for one address, without a loop. */
static inline bool sc_blocks_may_hold_one(const struct sc_blocks *blocks, uintptr_t address);

/* Does the interval from `first` to `last` lie wholly below or wholly above all blocks of the set?
 */
static inline bool sc_blocks_are_beyond(const struct sc_blocks *blocks, uintptr_t first,
                                        uintptr_t last);

static inline void sc_blocks_clear(struct sc_blocks *blocks)
{
    atomic_store(&blocks->highest, 0);
    atomic_store(&blocks->not_lowest, 0);
    for (unsigned i = 0; i < SC_BLOCKS_WORDS; i++)
        atomic_store(&blocks->words[i], 0);
}

/* ---- the bodies ---- */

static inline uint64_t sc_blocks_bit(uintptr_t block, unsigned *word)
{
    uint64_t hash = block * 0x9E3779B97F4A7C15u;
    *word = (unsigned)(hash >> 58);
    return UINT64_C(1) << (hash >> 52 & 63);
}

static inline bool sc_blocks_are_beyond(const struct sc_blocks *blocks, uintptr_t first,
                                        uintptr_t last)
{
    return first > atomic_load_explicit(&blocks->highest, memory_order_relaxed) ||
           ~last > atomic_load_explicit(&blocks->not_lowest, memory_order_relaxed);
}

static inline bool sc_blocks_may_hold_one(const struct sc_blocks *blocks, uintptr_t address)
{
    unsigned word;
    if (sc_blocks_are_beyond(blocks, address, address))
        return false;
    uint64_t bit = sc_blocks_bit(address >> SC_BLOCKS_SHIFT, &word);
    return atomic_load_explicit(&blocks->words[word], memory_order_relaxed) & bit;
}

static inline void sc_blocks_raise(_Atomic uintptr_t *bound, uintptr_t at_least)
{
    uintptr_t now = atomic_load_explicit(bound, memory_order_relaxed);
    while (now < at_least && !atomic_compare_exchange_weak_explicit(
                                 bound, &now, at_least, memory_order_relaxed, memory_order_relaxed))
        ;
}

static inline void sc_blocks_add(struct sc_blocks *blocks, uintptr_t address, size_t size_bytes)
{
    const uintptr_t within = ((uintptr_t)1 << SC_BLOCKS_SHIFT) - 1;
    uintptr_t last = (address + size_bytes - 1) >> SC_BLOCKS_SHIFT;
    sc_blocks_raise(&blocks->highest, (address + size_bytes - 1) | within);
    sc_blocks_raise(&blocks->not_lowest, ~address | within);
    for (uintptr_t block = address >> SC_BLOCKS_SHIFT; block <= last; block++) {
        unsigned word;
        uint64_t bit = sc_blocks_bit(block, &word);
        if (!(atomic_load_explicit(&blocks->words[word], memory_order_relaxed) & bit))
            atomic_fetch_or_explicit(&blocks->words[word], bit, memory_order_relaxed);
    }
}

static inline bool sc_blocks_may_hold(const struct sc_blocks *blocks, uintptr_t address,
                                      size_t size_bytes)
{
    uintptr_t first = address >> SC_BLOCKS_SHIFT;
    uintptr_t last = (address + size_bytes - 1) >> SC_BLOCKS_SHIFT;
    if (sc_blocks_are_beyond(blocks, address, address + size_bytes - 1))
        return false;
    bool found = last - first >= SC_BLOCKS_ASKED_MAX;
    for (uintptr_t block = first; block <= last && !found; block++) {
        unsigned word;
        uint64_t bit = sc_blocks_bit(block, &word);
        found = atomic_load_explicit(&blocks->words[word], memory_order_relaxed) & bit;
    }
    return found;
}

#endif
