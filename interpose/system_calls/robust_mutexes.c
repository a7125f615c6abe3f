#include "interpose/system_calls/robust_mutexes.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "common/kernel.h"
#include "common/op_kinds.h"
#include "common/peek.h"
#include "interpose/base/compiler.h"
#include "interpose/guard/door.h"
#include "interpose/guard/neighbours.h"
#include "interpose/guard/userfaults.h"
#include "interpose/system_calls/exempt_objects.h"
#include "report/file.h"

#include "common/poison.h"

enum { PRIORITY_INHERITANCE = 1 };

static _Atomic bool are_used; /* the process has made a robust mutex */

/* Records that the process is about to make a robust mutex: those that are locked are looked for
 * from now on when memory is registered. */
void sc_robust_mutexes_note_one_made(void)
{
    atomic_store_explicit(&are_used, true, memory_order_relaxed);
}

/* Returns the address in a link of a thread's list of robust mutexes; the link's lowest bit says
 * that the mutex has priority inheritance. */
static uintptr_t address_of(uintptr_t link)
{
    return link & ~(uintptr_t)PRIORITY_INHERITANCE;
}

/* Has the pages with the link and the futex word of a robust mutex never be protected: Linux
 * touches both when the owner ends. The word lies `word_offset` bytes from the link. */
static void exempt_mutex(uintptr_t link, long word_offset)
{
    uintptr_t word = link + (uintptr_t)word_offset;
    uintptr_t first = link < word ? link : word;
    uintptr_t end = link < word ? word + sizeof(uint32_t) : link + sizeof(struct robust_list);
    sc_exempt_objects_add((const void *)first, end - first);
}

/* Walks a thread's list of locked robust mutexes, whose head is at the address, and has their pages
 * never be protected. list_op_pending is one that the thread is just locking or unlocking. The
 * thread runs meanwhile, so what is read may no longer be a list: the walk ends after
 * ROBUST_LIST_LIMIT links, and reads by sc_peek, which a bad address does not harm. */
static void walk_list(uintptr_t address)
{
    struct robust_list_head head;
    if (!sc_peek(&head, address, sizeof head))
        return;
    uintptr_t at_work = address_of((uintptr_t)head.list_op_pending);
    if (at_work)
        exempt_mutex(at_work, head.futex_offset);
    uintptr_t next = (uintptr_t)head.list.next;
    for (unsigned i = 0; i < ROBUST_LIST_LIMIT; i++) {
        uintptr_t link = address_of(next);
        if (link == address || link == 0)
            return;
        exempt_mutex(link, head.futex_offset);
        if (!sc_peek(&next, link, sizeof next))
            return;
    }
}

/* Walks the list of one thread (its number is a name in /proc/self/task), which get_robust_list
 * returns. Returns false: the next thread is to follow. */
static bool walk_list_of(void *unused, const char *folder, const char *thread)
{
    uintptr_t head = 0;
    size_t size = 0;
    (void)unused;
    (void)folder;
    if (sc_kernel_call(SYS_get_robust_list, strtol(thread, NULL, 10), &head, &size) == 0 && head)
        walk_list(head);
    return false;
}

/* Has the pages of all robust mutexes that are locked now never be protected: Linux writes into
 * those that a thread holds when it ends, without a call that a hook could see. Not inlined, for
 * its stack.
 */
static __attribute__((noinline)) void exempt_locked_mutexes(void)
{
    sc_file_each_entry("/proc/self/task", UINT_MAX, walk_list_of, NULL);
}

/* Prepares new pinned or registered memory for the guard: drops what was counted of earlier memory
 * there, and registers the library's own pinned memory with userfaultfd. Registered memory may
 * contain robust mutexes that are locked already, whose pages must never be protected. */
void sc_guard_pin(uintptr_t address, size_t size_bytes, enum sc_buffer_kind kind)
{
    sc_neighbours_forget(address, size_bytes);
    sc_userfaults_serve(address, size_bytes);
    if (kind == SC_REGISTERED && sc_unlikely(atomic_load_explicit(&are_used, memory_order_relaxed)))
        exempt_locked_mutexes();
}
