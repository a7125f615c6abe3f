#include "interpose/base/stack_cache.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/arena.h"
#include "common/checks.h"
#include "common/peek.h"
#include "interpose/base/own_stack.h"
#include "track/stacks.h"

#include "common/poison.h"

enum {
    SETS = 16,
    WAYS = 4,
    CALLERS_MAX = SC_STACK_DEPTH_MAX - 1, /* of what is stored, all but the site */
    WINDOW_WORDS = 4096,                  /* 32 KB of stack */
    CHUNK_WORDS = 512,
    PAGE_BYTES_MIN = 4096,
    PLAIN_KEYS = 32, /* for which pthread_setspecific does not allocate */
};

struct key {
    const void *site;
    uintptr_t depth;
};

_Static_assert((int)SC_STACK_CACHE_PLACES > (int)CALLERS_MAX,
               "of what is stored, all but the site");

/* Stacks of one hash. Several may have one key: they differ in their callers. */
struct set {
    struct key keys[WAYS];
    struct sc_stack_cache_entry entries[WAYS];
};

struct table {
    struct sc_stack_cache_front front; /* first */
    uint32_t chance;                   /* says whose place the next stack takes */
    struct set sets[SETS];
};

/* A thread's table is not thread-local itself: an object with so much of that could not be loaded
 * while the program runs (interpose/entry/injected.h). */
static struct sc_stack_cache_front none = {.closed = UINT64_MAX};
__thread struct sc_stack_cache_front *sc_stack_cache_front
    __attribute__((tls_model("initial-exec"))) = &none;

static struct table *own_table(void)
{
    return (struct table *)sc_stack_cache_front;
}

_Atomic uint64_t sc_stack_cache_closed;

static pthread_mutex_t tables_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sc_arena tables SC_GUARDED_BY(tables_lock);
static pthread_key_t at_thread_exit;
static bool can_give_back;

static void give_table(void *given)
{
    sc_stack_cache_front = &none;
    pthread_mutex_lock(&tables_lock);
    sc_arena_give(&tables, given, sizeof(struct table));
    pthread_mutex_unlock(&tables_lock);
}

/* Early, so that the key is a low one. */
static __attribute__((constructor)) void make_key(void)
{
    can_give_back = pthread_key_create(&at_thread_exit, give_table) == 0;
}

static void forget(struct table *table)
{
    static struct sc_stack_cache_entry nothing;
    memset(table, 0, sizeof *table);
    for (unsigned i = 0; i < 1 << SC_STACK_CACHE_LATEST_SHIFT; i++)
        table->front.latest[i] = &nothing;
}

static bool take_table(void)
{
    if (sc_stack_cache_front != &none)
        return true;
    if (!can_give_back || at_thread_exit >= PLAIN_KEYS)
        return false;
    pthread_mutex_lock(&tables_lock);
    struct table *fresh = sc_arena_take(&tables, sizeof *fresh);
    pthread_mutex_unlock(&tables_lock);
    if (!fresh)
        return false;
    forget(fresh);
    sc_stack_cache_front = &fresh->front;
    pthread_setspecific(at_thread_exit, fresh);
    return true;
}

static uint64_t closed_so_far(void)
{
    return atomic_load_explicit(&sc_stack_cache_closed, memory_order_relaxed);
}

/* Where a module was closed, another one's code may lie, whose frames have other sizes. */
static void forget_if_closed(void)
{
    struct table *table = own_table();
    if (table->front.closed == closed_so_far())
        return;
    forget(table);
    table->front.closed = closed_so_far();
}

static struct set *set_of(const struct key *key)
{
    uint64_t hash = ((uintptr_t)key->site ^ key->depth << 7) * 0x9E3779B97F4A7C15u;
    return &own_table()->sets[(hash >> 60) % SETS];
}

static bool has_key(const struct set *set, unsigned way, const struct key *key)
{
    return set->keys[way].site == key->site && set->keys[way].depth == key->depth;
}

#define NOT_CHECKED __attribute__((no_sanitize("address", "thread")))

/* Another stack (a coroutine's) may end before a place that a former one reached. */
static __attribute__((noinline)) NOT_CHECKED bool
are_there_elsewhere(const struct sc_stack_cache_entry *entry, uintptr_t depth)
{
    uintptr_t from = depth, word;
    for (unsigned i = 0; i < entry->count; i++) {
        uintptr_t place = depth + entry->places[i] * sizeof word;
        if (((from ^ place) >= PAGE_BYTES_MIN && !sc_peek(&word, place, sizeof word)) ||
            *(const volatile uintptr_t *)place != entry->returns[i])
            return false;
        from = place;
    }
    return true;
}

/* From the innermost frame outward, so that no word is read beyond a caller that has changed. */
static NOT_CHECKED bool still_there(const struct sc_stack_cache_entry *entry, uintptr_t depth)
{
    return entry->site ? sc_stack_cache_are_there(entry, depth) : are_there_elsewhere(entry, depth);
}

struct sc_stack_known *sc_stack_cache_find(const void *site, uintptr_t depth)
{
    if (sc_stack_cache_front->closed != closed_so_far())
        return NULL;
    const struct key key = {site, depth};
    struct set *set = set_of(&key);
    for (unsigned way = 0; way < WAYS; way++) {
        struct sc_stack_cache_entry *entry = &set->entries[way];
        if (!has_key(set, way, &key) || !entry->learnt || !still_there(entry, depth))
            continue;
        *sc_stack_cache_latest(site, depth) = entry;
        return &entry->known;
    }
    return NULL;
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
static bool search_places(struct sc_stack_cache_entry *entry, uintptr_t depth, void *const *frames,
                          unsigned count)
{
    uintptr_t words[CHUNK_WORDS];
    unsigned met = 0;
    if (count == 0)
        return true;
    for (size_t at = 0; at < WINDOW_WORDS; at += CHUNK_WORDS) {
        size_t readable = read_words(depth + at * sizeof *words, words);
        for (size_t i = 0; i < readable; i++) {
            if (!occurs(frames, count, words[i]))
                continue;
            if (words[i] != (uintptr_t)frames[met])
                return false;
            entry->places[met] = (uint32_t)(at + i);
            entry->returns[met] = words[i];
            if (++met == count)
                return true;
        }
        if (readable < CHUNK_WORDS)
            return false;
    }
    return false;
}

static bool take_places(struct sc_stack_cache_entry *entry, uintptr_t depth, void *const *frames,
                        unsigned count, const uintptr_t *places)
{
    for (unsigned i = 0; i < count; i++) {
        uintptr_t at = (places[i] - depth) / sizeof places[i];
        if (places[i] % sizeof places[i] || places[i] < depth || at > UINT32_MAX)
            return false;
        entry->places[i] = (uint32_t)at;
        entry->returns[i] = (uintptr_t)frames[i];
    }
    return true;
}

static bool is_all_own(const struct sc_stack_cache_entry *entry, uintptr_t depth)
{
    bool is_own = sc_own_stack_holds(depth);
    for (unsigned i = 0; i < entry->count; i++)
        is_own &= sc_own_stack_holds(depth + entry->places[i] * sizeof(uintptr_t));
    return is_own;
}

static bool find_places(struct sc_stack_cache_entry *entry, const void *site, uintptr_t depth,
                        void *const *frames, unsigned count, sc_stack_cache_place *place)
{
    uintptr_t places[CALLERS_MAX];
    bool found = place && place(frames, count, places)
                     ? take_places(entry, depth, frames + 1, count - 1, places)
                     : search_places(entry, depth, frames + 1, count - 1);
    for (; found && entry->count % SC_STACK_CACHE_AT_A_TIME; entry->count++) {
        entry->places[entry->count] = entry->places[entry->count - 1];
        entry->returns[entry->count] = entry->returns[entry->count - 1];
    }
    entry->site = found && is_all_own(entry, depth) ? site : NULL;
    entry->depth = entry->site ? depth : 0;
    return found && still_there(entry, depth);
}

/* A stack that is seen for the first time takes the place of any other. By chance, since of more
 * stacks that come in turn than have room some are then there when they come again. */
static void take_way(struct set *set, const struct key *key, uint32_t id)
{
    struct table *table = own_table();
    table->chance = table->chance * 1664525u + 1013904223u;
    unsigned way = table->chance >> 16 & (WAYS - 1);
    for (unsigned i = WAYS; i-- > 0;)
        if (!set->keys[i].site)
            way = i;
    set->keys[way] = *key;
    set->entries[way] = (struct sc_stack_cache_entry){.known = {.id = id}};
}

/* A search costs some microseconds, and a stale copy may be gone next time: tried at the 2nd, 4th,
 * 8th ... miss. The innermost return address is the site itself, which our own frames hold copies
 * of. What lies beyond the deepest stack that is stored makes no other stack of it. */
void sc_stack_cache_learn(const void *site, uintptr_t depth, uint32_t id, void *const *frames,
                          unsigned count, sc_stack_cache_place *place)
{
    if (count == 0 || !take_table())
        return;
    if (count > CALLERS_MAX + 1)
        count = CALLERS_MAX + 1;
    forget_if_closed();
    const struct key key = {site, depth};
    struct set *set = set_of(&key);
    unsigned way = 0;
    while (way < WAYS && !(has_key(set, way, &key) && set->entries[way].known.id == id))
        way++;
    if (way == WAYS) {
        take_way(set, &key, id);
        return;
    }
    struct sc_stack_cache_entry *entry = &set->entries[way];
    entry->misses++;
    if (entry->misses & (entry->misses - 1))
        return;
    entry->count = (uint8_t)(count - 1);
    entry->learnt = find_places(entry, site, depth, frames, count, place);
}
