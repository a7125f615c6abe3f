#include "interpose/base/stack_cache.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "track/pool.h"
#include "track/stacks.h"

#include "track/poison.h"

enum {
    ENTRIES = 8,
    FRAMES_MAX = 48,
    WINDOW_WORDS = 4096, /* 32 KB of stack */
    CHUNK_WORDS = 512,
    PLAIN_KEYS = 32, /* for which pthread_setspecific does not allocate */
};

struct entry {
    const void *site;
    uintptr_t depth;
    uint32_t id;
    uint32_t misses; /* since this stack came here */
    bool learnt;
    uint8_t count;
    uint16_t places[FRAMES_MAX]; /* in words above `depth` */
    uintptr_t returns[FRAMES_MAX];
};

struct table {
    uint64_t closed; /* modules, when its entries were learnt */
    struct entry entries[ENTRIES];
};

/* A thread's table is not thread-local itself: an object with so much of that could not be loaded
 * while the program runs (interpose/entry/injected.h). */
static __thread struct table *table;

_Atomic uint64_t sc_stack_cache_closed;

static pthread_mutex_t tables_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sc_arena tables;
static pthread_key_t at_thread_exit;
static bool can_give_back;

static void give_table(void *given)
{
    table = NULL;
    pthread_mutex_lock(&tables_lock);
    sc_arena_give(&tables, given, sizeof *table);
    pthread_mutex_unlock(&tables_lock);
}

/* Early, so that the key is a low one. */
static __attribute__((constructor)) void make_key(void)
{
    can_give_back = pthread_key_create(&at_thread_exit, give_table) == 0;
}

static bool take_table(void)
{
    if (table)
        return true;
    if (!can_give_back || at_thread_exit >= PLAIN_KEYS)
        return false;
    pthread_mutex_lock(&tables_lock);
    struct table *fresh = sc_arena_take(&tables, sizeof *fresh);
    pthread_mutex_unlock(&tables_lock);
    if (!fresh)
        return false;
    memset(fresh, 0, sizeof *fresh);
    table = fresh;
    pthread_setspecific(at_thread_exit, table);
    return true;
}

static uint64_t closed_so_far(void)
{
    return atomic_load_explicit(&sc_stack_cache_closed, memory_order_relaxed);
}

/* Where a module was closed, another one's code may lie, whose frames have other sizes. */
static void forget_if_closed(void)
{
    if (table->closed == closed_so_far())
        return;
    memset(table, 0, sizeof *table);
    table->closed = closed_so_far();
}

static struct entry *entry_of(const void *site, uintptr_t depth)
{
    uint64_t hash = ((uintptr_t)site ^ depth << 7) * 0x9E3779B97F4A7C15u;
    return &table->entries[hash >> 61];
}

/* From the innermost frame outward, so that no word is read beyond a caller that has changed. The
 * words are other functions' frames, of which no compiler and no sanitizer knows that we look. */
__attribute__((no_sanitize("address", "thread"))) static bool still_there(const struct entry *entry)
{
    const volatile uintptr_t *words = (const volatile uintptr_t *)entry->depth;
    for (unsigned i = 0; i < entry->count; i++)
        if (words[entry->places[i]] != entry->returns[i])
            return false;
    return true;
}

uint32_t sc_stack_cache_find(const void *site, uintptr_t depth)
{
    if (!table || table->closed != closed_so_far())
        return 0;
    const struct entry *entry = entry_of(site, depth);
    if (!entry->learnt || entry->site != site || entry->depth != depth || !still_there(entry))
        return 0;
    return entry->id;
}

static bool occurs(void *const *frames, unsigned count, uintptr_t word)
{
    for (unsigned i = 0; i < count; i++)
        if ((uintptr_t)frames[i] == word)
            return true;
    return false;
}

/* The kernel reads the stack for us: how far it reaches is not known, and beyond it may be nothing.
 */
static size_t read_words(uintptr_t from, uintptr_t *words)
{
    struct iovec ours = {words, CHUNK_WORDS * sizeof *words};
    struct iovec stack = {(void *)from, CHUNK_WORDS * sizeof *words};
    ssize_t bytes = process_vm_readv(getpid(), &ours, 1, &stack, 1, 0);
    return bytes > 0 ? (size_t)bytes / sizeof *words : 0;
}

/* True if every return address was met in order and no other copy of one in between. The outermost
 * frame ends the search. */
static bool search_places(struct entry *entry, void *const *frames, unsigned count)
{
    uintptr_t words[CHUNK_WORDS];
    unsigned met = 0;
    if (count == 0)
        return true;
    for (size_t at = 0; at < WINDOW_WORDS; at += CHUNK_WORDS) {
        size_t readable = read_words(entry->depth + at * sizeof *words, words);
        for (size_t i = 0; i < readable; i++) {
            if (!occurs(frames, count, words[i]))
                continue;
            if (words[i] != (uintptr_t)frames[met])
                return false;
            entry->places[met] = (uint16_t)(at + i);
            entry->returns[met] = words[i];
            if (++met == count)
                return true;
        }
        if (readable < CHUNK_WORDS)
            return false;
    }
    return false;
}

static bool take_places(struct entry *entry, void *const *frames, unsigned count,
                        const uintptr_t *places)
{
    for (unsigned i = 0; i < count; i++) {
        uintptr_t at = (places[i] - entry->depth) / sizeof(uintptr_t);
        if (places[i] % sizeof(uintptr_t) || at >= WINDOW_WORDS)
            return false;
        entry->places[i] = (uint16_t)at;
        entry->returns[i] = (uintptr_t)frames[i];
    }
    return still_there(entry);
}

static bool find_places(struct entry *entry, void *const *frames, unsigned count,
                        sc_stack_cache_place *place)
{
    uintptr_t places[FRAMES_MAX];
    if (place && place(frames, count, places))
        return take_places(entry, frames + 1, count - 1, places);
    return search_places(entry, frames + 1, count - 1);
}

/* A search costs some microseconds, and a stale copy may be gone next time: tried at the 2nd, 4th,
 * 8th ... miss. The innermost return address is the site itself, which our own frames hold copies
 * of. */
void sc_stack_cache_learn(const void *site, uintptr_t depth, uint32_t id, void *const *frames,
                          unsigned count, sc_stack_cache_place *place)
{
    if (count == 0 || count - 1 > FRAMES_MAX || !take_table())
        return;
    forget_if_closed();
    struct entry *entry = entry_of(site, depth);
    if (entry->site != site || entry->depth != depth || entry->id != id) {
        *entry = (struct entry){.site = site, .depth = depth, .id = id};
        return;
    }
    entry->misses++;
    if (entry->misses & (entry->misses - 1))
        return;
    entry->count = (uint8_t)(count - 1);
    entry->learnt = find_places(entry, frames, count, place);
}
