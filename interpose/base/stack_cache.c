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
#include "common/mutex.h"
#include "common/peek.h"
#include "interpose/base/thread_stack.h"
#include "track/stacks.h"

#include "common/poison.h"

enum {
    SETS = 16,
    WAYS = 4,
    CALLERS_MAX = SC_STACK_DEPTH_MAX - 1, /* frames of a stored stack, without the site */
    WINDOW_WORDS = 4096,                  /* 32 KB of stack */
    CHUNK_WORDS = 512,
    PAGE_BYTES_MIN = 4096,
    PLAIN_KEYS = 32, /* the lowest keys, for which pthread_setspecific does not allocate */
};

/* By what an entry is found: where the call returns to, and how deep the stack is. */
struct key {
    const void *site;
    uintptr_t depth;
};

_Static_assert((int)SC_STACK_CACHE_PLACES > (int)CALLERS_MAX,
               "of what is stored, all but the site");

/* The entries whose keys have one hash. Several may have the same key, and differ in their callers.
 */
struct set {
    struct key keys[WAYS];
    struct sc_stack_cache_entry entries[WAYS];
};

struct table {
    struct sc_stack_cache_front front; /* the first member: own_table relies on it */
    uint32_t chance;                   /* a random number: which entry a new stack replaces */
    struct set sets[SETS];
};

/* The calling thread's table, or `no_table`, in which nothing is found. The table itself is not
 * thread-local: an object with so much thread-local memory could not be loaded while the program
 * runs (interpose/entry/injected.h). */
static struct sc_stack_cache_front no_table = {.closed = UINT64_MAX};
__thread struct sc_stack_cache_front *sc_stack_cache_front
    __attribute__((tls_model("initial-exec"))) = &no_table;

/* Returns the calling thread's whole table of recognised stacks. The thread must have one: not
 * no_table. */
static struct table *own_table(void)
{
    return (struct table *)sc_stack_cache_front;
}

_Atomic uint64_t sc_stack_cache_closed;

static pthread_mutex_t tables_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sc_arena tables SC_GUARDED_BY(tables_lock);
static pthread_key_t at_thread_exit;
static bool can_give_back;

/* Frees the table of recognised stacks of a thread that ends (pthread_key_create), for another
 * thread. Stacks that are still taken in the thread are recognised no more. */
static void release_table(void *given)
{
    sc_stack_cache_front = &no_table;
    SC_LOCKED(&tables_lock);
    sc_arena_free(&tables, given, sizeof(struct table));
}

/* Makes the key by which the end of a thread is seen. This comes early, so that it is one of the
 * lowest keys, for which pthread_setspecific does not allocate memory. */
static __attribute__((constructor)) void make_key(void)
{
    can_give_back = pthread_key_create(&at_thread_exit, release_table) == 0;
}

/* Empties a thread's table of recognised stacks. In the array of latest entries, one without a site
 * stands for none, so that a look-up need not check for NULL. */
static void empty_table(struct table *table)
{
    static struct sc_stack_cache_entry nothing;
    memset(table, 0, sizeof *table);
    for (unsigned i = 0; i < 1 << SC_STACK_CACHE_LATEST_SHIFT; i++)
        table->front.latest[i] = &nothing;
}

/* Gives the thread a table of recognised stacks, unless it has one. False: there is no memory, or
 * no thread-specific key that can be set without an allocation, by which the table is freed at the
 * thread's end. */
static bool take_table(void)
{
    if (sc_stack_cache_front != &no_table)
        return true;
    if (!can_give_back || at_thread_exit >= PLAIN_KEYS)
        return false;
    sc_mutex_lock(&tables_lock);
    struct table *fresh = sc_arena_alloc(&tables, sizeof *fresh);
    sc_mutex_unlock(&tables_lock);
    if (!fresh)
        return false;
    empty_table(fresh);
    sc_stack_cache_front = &fresh->front;
    pthread_setspecific(at_thread_exit, fresh);
    return true;
}

/* Returns how many modules (libraries) the process has closed so far. */
static uint64_t closed_so_far(void)
{
    return atomic_load_explicit(&sc_stack_cache_closed, memory_order_relaxed);
}

/* Empties the table if a module (library) was closed since its entries were stored. Another module
 * may be mapped there, whose frames have other sizes, so the same addresses no longer mean the same
 * callers. */
static void empty_if_closed(void)
{
    struct table *table = own_table();
    if (table->front.closed == closed_so_far())
        return;
    empty_table(table);
    table->front.closed = closed_so_far();
}

/* Returns the entries among which one of this call site and depth of the stack must be. */
static struct set *set_of(const struct key *key)
{
    uint64_t hash = ((uintptr_t)key->site ^ key->depth << 7) * 0x9E3779B97F4A7C15u;
    return &own_table()->sets[(hash >> 60) % SETS];
}

/* Is this entry of the set for the same call site and depth of the stack? */
static bool has_key(const struct set *set, unsigned way, const struct key *key)
{
    return set->keys[way].site == key->site && set->keys[way].depth == key->depth;
}

#define NOT_CHECKED __attribute__((no_sanitize("address", "thread")))

/* Are all return addresses in their places? Each further page is checked before it is read: another
 * stack (a coroutine's) may end before a place that a former one reached. */
static __attribute__((noinline)) NOT_CHECKED bool
/* Are all of the entry's return addresses in their places, on a stack that is not the thread's own?
 * Each further page is checked before it is read: this stack (a coroutine's) may end before a place
 * that a former one reached. */
are_there_carefully(const struct sc_stack_cache_entry *entry, uintptr_t depth)
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

/* Are all of the entry's return addresses in their places, so that the callers are the same? An
 * entry with a site lies on the thread's own stack, which is always mapped; others are read with
 * care. From the innermost frame outward, so that no word is read beyond a caller that has changed.
 */
static NOT_CHECKED bool still_there(const struct sc_stack_cache_entry *entry, uintptr_t depth)
{
    return entry->site ? sc_stack_cache_are_there(entry, depth) : are_there_carefully(entry, depth);
}

/* Finds the stack with which the call at this site and depth came, if it was seen before with the
 * same callers. NULL: unwind it; so also after a module was closed, when all entries are outdated.
 * An entry that is not `learnt` has no return addresses yet. What is found is put where the next
 * look-up begins. */
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

/* Is the word equal to one of the return addresses? */
static bool is_among(void *const *frames, unsigned count, uintptr_t word)
{
    for (unsigned i = 0; i < count; i++)
        if ((uintptr_t)frames[i] == word)
            return true;
    return false;
}

/* Reads a chunk of the stack by process_vm_readv, since the stack may end anywhere. Returns how
 * many words could be read. */
static size_t read_words(uintptr_t from, uintptr_t *words)
{
    struct iovec ours = {words, CHUNK_WORDS * sizeof *words};
    struct iovec stack = {(void *)from, CHUNK_WORDS * sizeof *words};
    ssize_t bytes = process_vm_readv(getpid(), &ours, 1, &stack, 1, 0);
    return bytes > 0 ? (size_t)bytes / sizeof *words : 0;
}

/* Searches the stack above `depth` for the return addresses, where the unwinder does not say where
 * they lie. True if all were found in order, and none of them a second time in between: a copy in a
 * dead local would be taken for a caller later. */
static bool search_places(struct sc_stack_cache_entry *entry, uintptr_t depth, void *const *frames,
                          unsigned count)
{
    uintptr_t words[CHUNK_WORDS];
    unsigned found = 0;
    if (count == 0)
        return true;
    for (size_t at = 0; at < WINDOW_WORDS; at += CHUNK_WORDS) {
        size_t readable = read_words(depth + at * sizeof *words, words);
        for (size_t i = 0; i < readable; i++) {
            if (!is_among(frames, count, words[i]))
                continue;
            if (words[i] != (uintptr_t)frames[found])
                return false;
            entry->places[found] = (uint32_t)(at + i);
            entry->returns[found] = words[i];
            if (++found == count)
                return true;
        }
        if (readable < CHUNK_WORDS)
            return false;
    }
    return false;
}

/* Stores in the entry where the unwinder has found the return addresses, as words above `depth`.
 * False: one is not at a whole word, lies below, or is too far away. */
static bool set_places(struct sc_stack_cache_entry *entry, uintptr_t depth, void *const *frames,
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

/* Do all of the entry's return addresses lie on the calling thread's own stack? Then they may be
 * read without care, since that is mapped as long as the thread runs. */
static bool is_on_thread_stack(const struct sc_stack_cache_entry *entry, uintptr_t depth)
{
    bool is_own = sc_thread_stack_holds(depth);
    for (unsigned i = 0; i < entry->count; i++)
        is_own &= sc_thread_stack_holds(depth + entry->places[i] * sizeof(uintptr_t));
    return is_own;
}

/* Fills in where the return addresses of this stack lie: from the unwinder, or else by a search.
 * frames[0] is the site itself, of which the library's own frames have copies: it is left out.
 * False: they cannot be found for certain, and the stack must be unwound again the next time. */
static bool find_places(struct sc_stack_cache_entry *entry, const void *site, uintptr_t depth,
                        void *const *frames, unsigned count, sc_stack_cache_place *place)
{
    uintptr_t places[CALLERS_MAX];
    bool found = place && place(frames, count, places)
                     ? set_places(entry, depth, frames + 1, count - 1, places)
                     : search_places(entry, depth, frames + 1, count - 1);
    /* The last place is repeated, up to a multiple of those that are compared at a time. */
    for (; found && entry->count % SC_STACK_CACHE_AT_A_TIME; entry->count++) {
        entry->places[entry->count] = entry->places[entry->count - 1];
        entry->returns[entry->count] = entry->returns[entry->count - 1];
    }
    entry->site = found && is_on_thread_stack(entry, depth) ? site : NULL;
    entry->depth = entry->site ? depth : 0;
    return found && still_there(entry, depth);
}

/* Stores a stack that is seen for the first time, in a free entry of its set or in place of a
 * random one. So some of the stacks of a loop that has more than fit are still there when they
 * occur again. */
static void replace_entry(struct set *set, const struct key *key, uint32_t id)
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

/* Called with a stack that was just unwound, to recognise it the next time by its return addresses.
 * The first time only its id is stored. To find the places of its addresses costs some
 * microseconds, and what prevented it may be gone later, so that is tried at the 1st, 2nd, 4th, 8th
 * ... miss after that. Frames deeper than a stored stack do not distinguish stacks. */
void sc_stack_cache_learn(const void *site, uintptr_t depth, uint32_t id, void *const *frames,
                          unsigned count, sc_stack_cache_place *place)
{
    if (count == 0 || !take_table())
        return;
    if (count > CALLERS_MAX + 1)
        count = CALLERS_MAX + 1;
    empty_if_closed();
    const struct key key = {site, depth};
    struct set *set = set_of(&key);
    unsigned way = 0;
    while (way < WAYS && !(has_key(set, way, &key) && set->entries[way].known.id == id))
        way++;
    if (way == WAYS) {
        replace_entry(set, &key, id);
        return;
    }
    struct sc_stack_cache_entry *entry = &set->entries[way];
    entry->misses++;
    if (entry->misses & (entry->misses - 1))
        return;
    entry->count = (uint8_t)(count - 1);
    entry->learnt = find_places(entry, site, depth, frames, count, place);
}
