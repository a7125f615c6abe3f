#include "common/trace.h"

#ifdef SC_DEBUG

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

#include "common/checks.h"
#include "common/kernel.h"
#include "common/own_pages.h"
#include "common/text.h"
#include "common/ticks.h"

#include "common/poison.h"

/* With so many rings, rings of threads that are gone are taken over before one is made. */
enum { RINGS_OF_THE_GONE = 64 };

_Atomic(struct sc_trace_ring *) sc_trace_rings;
static _Atomic uint32_t ring_count;
static _Atomic uint64_t numbers;
static __thread struct sc_trace_ring *own;
static __thread bool is_starting;

/* Has the thread ended? Signal 0 only asks whether it is there. */
static bool is_gone(int32_t thread)
{
    return sc_kernel_call(SYS_tgkill, sc_kernel_call(SYS_getpid), thread, 0) == -ESRCH;
}

/* Takes over the ring (of trace events) of a thread that has ended, so that a program with many
 * short threads does not make a ring for each; NULL: there is none. */
static struct sc_trace_ring *take_over(int32_t thread)
{
    struct sc_trace_ring *ring = atomic_load(&sc_trace_rings);
    for (; ring; ring = ring->next) {
        int32_t former = atomic_load(&ring->thread);
        if (is_gone(former) && atomic_compare_exchange_strong(&ring->thread, &former, thread))
            return ring;
    }
    return NULL;
}

/* Maps a ring for the thread's trace events and adds it to the list of all rings. NULL: no
 * memory. */
static struct sc_trace_ring *make_ring(int32_t thread)
{
    struct sc_trace_ring *ring = sc_pages_map(sizeof *ring);
    if (!ring)
        return NULL;
    atomic_store(&ring->thread, thread);
    ring->next = atomic_load(&sc_trace_rings);
    while (!atomic_compare_exchange_weak(&sc_trace_rings, &ring->next, ring)) {
    }
    atomic_fetch_add(&ring_count, 1);
    return ring;
}

/* Returns the calling thread's ring, made if it has none. NULL: no memory, or a signal handler has
 * interrupted the thread in this very function. */
static struct sc_trace_ring *own_ring(void)
{
    if (own || is_starting)
        return own;
    is_starting = true;
    atomic_signal_fence(memory_order_seq_cst);
    int32_t thread = sc_checks_thread();
    if (atomic_load(&ring_count) >= RINGS_OF_THE_GONE)
        own = take_over(thread);
    if (!own)
        own = make_ring(thread);
    atomic_signal_fence(memory_order_seq_cst);
    is_starting = false;
    return own;
}

/* Adds an event to the thread's ring, over the oldest one. Its number is stored last: an event
 * without one is being written, and is not printed. The numbers order the events of all
 * threads. */
void sc_trace_add(const char *what, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    struct sc_trace_ring *ring = own_ring();
    if (!ring)
        return;
    uint32_t place = atomic_fetch_add_explicit(&ring->count, 1, memory_order_relaxed);
    struct sc_trace_event *event = &ring->events[place % SC_TRACE_EVENTS];
    *event = (struct sc_trace_event){.what = what, .words = {a, b, c, d}, .ticks = sc_ticks()};
    atomic_signal_fence(memory_order_seq_cst);
    event->number = atomic_fetch_add_explicit(&numbers, 1, memory_order_relaxed) + 1;
}

/* Appends the next word of the event's text, and a blank before it. False: there is none. */
static bool put_name(struct sc_text *text, const char **rest)
{
    while (**rest == ' ')
        ++*rest;
    bool any = **rest != '\0';
    if (any)
        sc_text_char(text, ' ');
    for (; **rest && **rest != ' '; ++*rest)
        sc_text_char(text, **rest);
    return any;
}

/* Prints the event as a line on stderr: the first word of its text, and each further word with a
 * value. By a system call, since the process may be about to abort. */
static void print_event(int32_t thread, const struct sc_trace_event *event)
{
    char bytes[512];
    const char *rest = event->what;
    struct sc_text text = sc_text_in(bytes, sizeof bytes);
    sc_text_format(&text, "safecopy: trace: thread %d #%lu", thread, event->number);
    put_name(&text, &rest);
    for (unsigned i = 0; i < SC_TRACE_WORDS && put_name(&text, &rest); i++)
        sc_text_format(&text, "=%#lx", event->words[i]);
    sc_text_char(&text, '\n');
    sc_kernel_call(SYS_write, STDERR_FILENO, text.bytes, text.used);
}

/* Prints the events of a thread that were not overwritten, oldest first. */
static void print_ring(const struct sc_trace_ring *ring)
{
    uint32_t count = atomic_load(&ring->count);
    uint32_t place = count > SC_TRACE_EVENTS ? count - SC_TRACE_EVENTS : 0;
    for (; place < count; place++) {
        const struct sc_trace_event *event = &ring->events[place % SC_TRACE_EVENTS];
        if (event->number)
            print_event(atomic_load(&ring->thread), event);
    }
}

/* Prints the events of all threads, in debug builds at the end of the process. */
void sc_trace_print(void)
{
    for (struct sc_trace_ring *ring = atomic_load(&sc_trace_rings); ring; ring = ring->next)
        print_ring(ring);
}

/* Prints the events of the calling thread, whose assertion has failed. */
void sc_trace_print_own(void)
{
    if (own)
        print_ring(own);
}

#endif
