#include "interpose/reaper/edges.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>

#include "common/checks.h"
#include "common/deadlines.h"
#include "common/mutex.h"
#include "common/now.h"
#include "common/own_pages.h"
#include "common/ticks.h"
#include "common/trace.h"
#include "cupti_hooks/current_call.h"
#include "interpose/base/process.h"
#include "interpose/base/warning.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/relaxed.h"
#include "interpose/reaper/library_threads.h"
#include "interpose/streams/contexts.h"
#include "interpose/streams/host_functions.h"
#include "interpose/streams/marks.h"
#include "interpose/streams/streams.h"
#include "interpose/streams/unfinished.h"
#include "track/op_info.h"

#include "common/poison.h"

enum { WORDS = 64, WRITERS = 4, OPEN_MAX = 256, PAGE_BYTES = 4096, POLL_NS = 1000 * 1000 };

/* A word that the device and the host write, each on a cache line of its own. A word only ever
 * grows. For the edge (a wait that the library has added) number `turn` the library's thread writes
 * 2 * turn - 1, which lets the stream go on. The writer stream writes 2 * turn; after that the word
 * may be used for another edge. */
struct word {
    _Atomic uint32_t value;
    char rest[PAGE_BYTES / WORDS - sizeof(uint32_t)];
};

/* The streams and words of a context. The words' page is the library's and not the driver's, so it
 * stays when the context ends. */
struct sc_edges_of_context {
    CUstream writers[WRITERS];
    struct word *words;
    CUdeviceptr device_words;
    uint32_t turns[WORDS]; /* the number of each word's latest edge */
};

/* An edge that is being made: a stream waits for a word. */
struct edge {
    struct sc_edges_of_context *own;
    unsigned index;
    uint32_t turn;
    bool written; /* the writer stream has been given the write */
};

/* An edge for which a stream may be waiting, and which the library's thread may have to end. */
struct open {
    _Atomic uint32_t *value;
    uint32_t turn;
    uint64_t since_ns, since_ticks;
    uint64_t deadline_ns;
    uint32_t earlier_stream; /* of sc_host_functions_stream_now */
    uint64_t earlier_ticks;
    const char *api, *earlier_api;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* a leaf */
static struct open open_edges[OPEN_MAX] SC_GUARDED_BY(lock);
static unsigned open_count SC_GUARDED_BY(lock);
static enum { UNSTARTED, RUNS, REFUSED } thread_state;
static sem_t fresh; /* posted for each new edge */

/* ---- the thread ---- */

/* Returns the value of a word from which on the stream that waits for it goes on; `turn` counts the
 * word's uses. */
static uint32_t release_value(uint32_t turn)
{
    return 2 * turn - 1;
}

/* Has the word been written, by the device or by the thread, so that the stream goes on? */
static bool is_edge_passed(const struct open *edge)
{
    return atomic_load(edge->value) >= release_value(edge->turn);
}

/* Lets the waiting stream go on, by the thread. False: the device has written the word at the same
 * moment, so nobody was late; its larger value stays, by which the word counts as free. */
static bool write_word_by_host(const struct open *edge)
{
    uint32_t before = 2 * (edge->turn - 1);
    return atomic_compare_exchange_strong(edge->value, &before, release_value(edge->turn));
}

/* Tells the user that the order which the library made has been given up, so that the program does
 * not hang. */
void sc_edges_warn_timeout(const char *api, const char *earlier_api)
{
    sc_warning_say("%s goes on after stall_limit, though %s is not complete: its data may be wrong",
                   api, earlier_api);
}

/* Returns the operation before the edge (a wait that the library has added) in the form in which
 * host functions are asked about: its stream and time alone. */
static struct sc_op_info operation_before(const struct open *edge)
{
    return (struct sc_op_info){.ticket = {.stream = edge->earlier_stream},
                               .ticks = edge->earlier_ticks};
}

/* Has a host function before the edge's operation not returned yet? Then it may be waiting for the
 * program, and has to be looked at again. */
static bool is_after_open_function(const struct open *edge)
{
    const struct sc_op_info op = operation_before(edge);
    return sc_host_functions_are_open(&op);
}

/* Was a host function before the edge's operation found to wait for the program? The program may be
 * waiting for the stream of this very edge, and would hang. */
static bool is_after_waiting_function(const struct open *edge)
{
    const struct sc_op_info op = operation_before(edge);
    return sc_host_functions_are_open(&op) && sc_host_functions_excuses(&op, edge->since_ticks);
}

/* Returns the earlier of the two times; 0 as the first one is none. */
static uint64_t earlier_time(uint64_t a_ns, uint64_t b_ns)
{
    return a_ns && a_ns < b_ns ? a_ns : b_ns;
}

/* Looks whether host functions before the edges' operations wait for the program, as far as they
 * have not returned. True: one of them has not, and is to be looked at again soon. */
static bool poll_functions(void)
{
    uint64_t since_ns = 0;
    sc_mutex_lock(&lock);
    for (unsigned i = 0; i < open_count; i++)
        if (!is_edge_passed(&open_edges[i]) && is_after_open_function(&open_edges[i]))
            since_ns = earlier_time(since_ns, open_edges[i].since_ns);
    sc_mutex_unlock(&lock);
    if (since_ns)
        sc_host_functions_poll(since_ns);
    return since_ns != 0;
}

/* Removes edges (streams' waits that the library has added) that are over. Also removes and returns
 * one whose stream the thread has to let go: it is overdue, or a host function before it waits for
 * the program. *next_ns: when the next edge is overdue; 0: there is no other. */
static bool take_one_to_end(struct open *due, bool *is_overdue, uint64_t *next_ns)
{
    uint64_t now_ns = sc_now_ns();
    bool found = false;
    *next_ns = 0;
    SC_LOCKED(&lock);
    SC_ASSERT(open_count <= OPEN_MAX);
    for (unsigned i = 0; i < open_count && !found;) {
        struct open edge = open_edges[i];
        bool passed = is_edge_passed(&edge);
        *is_overdue = edge.deadline_ns <= now_ns;
        found = !passed && (*is_overdue || is_after_waiting_function(&edge));
        if (found)
            *due = edge;
        if (found || passed) {
            open_edges[i] = open_edges[--open_count];
            continue;
        }
        *next_ns = earlier_time(*next_ns, edge.deadline_ns);
        i++;
    }
    return found;
}

/* Lets streams go on whose time is over, with a warning, and streams that wait for a host function
 * that waits for the program. *next_ns: when the next edge is overdue; 0: there is none. */
static void end_due_edges(uint64_t *next_ns)
{
    struct open over;
    bool is_overdue = false;
    while (take_one_to_end(&over, &is_overdue, next_ns))
        if (write_word_by_host(&over) && is_overdue)
            sc_edges_warn_timeout(over.api, over.earlier_api);
}

/* The library's thread that ends streams' waits (edges), by writing the words that they wait for.
 * It makes no driver call and takes one lock of its own, so that nothing which hangs can hold it
 * up. It sleeps until the next edge is overdue, or POLL_NS while host functions have to be looked
 * at. */
static void *run_thread(void *unused)
{
    uint64_t next_ns;
    (void)unused;
    sc_library_threads_enter_driver("safecopy-edges");
    SC_CARRY(); /* its driver calls are no missed calls of the program */
    for (;;) {
        bool polls = poll_functions();
        end_due_edges(&next_ns);
        uint64_t now_ns = sc_now_ns();
        if (polls && next_ns)
            next_ns = earlier_time(next_ns, now_ns + POLL_NS);
        struct timespec at = sc_deadline_in(next_ns > now_ns ? next_ns - now_ns : 0);
        sc_library_threads_block_signals();
        if (next_ns)
            sc_sem_wait_until(&fresh, &at);
        else
            sem_wait(&fresh);
        sc_library_threads_unblock_signals();
    }
    return NULL;
}

/* Starts the library's thread that ends waits of streams, at the first such wait. False: it could
 * not be started, and is not tried again. */
static bool start_locked(void) SC_REQUIRES(lock)
{
    SC_ASSERT_HELD(&lock);
    if (thread_state == UNSTARTED) {
        sem_init(&fresh, 0, 0);
        thread_state =
            sc_library_threads_start(run_thread, SC_LIBRARY_THREADS_SMALL) ? RUNS : REFUSED;
    }
    return thread_state == RUNS;
}

/* Records an edge for the thread, before a stream waits by it: the thread has to be able to end
 * every such wait. False: there is no thread, or no room, so the caller must not make the edge. */
static bool open_edge(const struct edge *edge, const char *api, const struct sc_op_info *op)
{
    uint64_t now_ns = sc_now_ns();
    sc_mutex_lock(&lock);
    SC_ASSERT(open_count <= OPEN_MAX);
    bool opened = start_locked() && open_count < OPEN_MAX;
    if (opened)
        open_edges[open_count++] = (struct open){
            .value = &edge->own->words[edge->index].value,
            .turn = edge->turn,
            .since_ns = now_ns,
            .since_ticks = sc_ticks(),
            .deadline_ns = now_ns + sc_options.stall_limit_ns,
            .earlier_stream = sc_host_functions_stream_now(op->ticket.stream),
            .earlier_ticks = op->ticks,
            .api = api,
            .earlier_api = op->api,
        };
    sc_mutex_unlock(&lock);
    if (opened)
        sem_post(&fresh);
    return opened;
}

/* ---- a context's words ---- */

/* Makes the page of words that the context's streams can wait for, mapped into the device's
 * addresses. False: there is no memory, or the driver refuses; what was made is left. */
static bool make_words(struct sc_edges_of_context *own)
{
    own->words = sc_pages_map(PAGE_BYTES);
    return own->words &&
           sc_real.cuMemHostRegister_v2(own->words, PAGE_BYTES, CU_MEMHOSTREGISTER_DEVICEMAP) ==
               CUDA_SUCCESS &&
           sc_real.cuMemHostGetDevicePointer_v2(&own->device_words, own->words, 0) == CUDA_SUCCESS;
}

/* Makes the writer streams and the words of the current context. The driver's part of them ends
 * with the context. After a refusal the record is kept, with `words` NULL: the driver would refuse
 * again. Returns NULL if there is no memory for it. */
static struct sc_edges_of_context *make_streams_and_words(void)
{
    struct sc_edges_of_context *own = sc_pages_map(sizeof *own);
    bool made = own && make_words(own);
    for (unsigned i = 0; i < WRITERS && made; i++)
        made = sc_real.cuStreamCreate(&own->writers[i], CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS;
    if (own && !made) /* kept without words: a driver that refuses will refuse again */
        own->words = NULL;
    return own;
}

/* Returns the context's words, which the first call makes; NULL: there are none. No driver call is
 * made in a context that may be ending (quiet). If two threads make words at once, those of the
 * first are kept; the others are left to the driver until the context ends. */
static struct sc_edges_of_context *find_words(struct sc_context *context)
{
    struct sc_edges_of_context *none = NULL;
    struct sc_edges_of_context *own =
        atomic_load_explicit(&context->breakable, memory_order_acquire);
    if (!own && !sc_contexts_is_quiet(context) && sc_contexts_push(context)) {
        struct sc_relaxed relaxed = sc_relaxed_begin();
        own = make_streams_and_words();
        sc_relaxed_end(&relaxed);
        sc_contexts_pop();
        if (own && !atomic_compare_exchange_strong(&context->breakable, &none, own))
            own = none;
    }
    return own && own->words ? own : NULL;
}

/* Reserves a free word for an edge (a wait that the library has added): one whose writer stream has
 * written it for its last edge. False: all words are in use. */
static bool take_word(struct sc_edges_of_context *own, struct edge *edge)
{
    SC_LOCKED(&lock);
    for (unsigned i = 0; i < WORDS; i++)
        if (atomic_load(&own->words[i].value) == 2 * own->turns[i]) {
            *edge = (struct edge){own, i, ++own->turns[i], false};
            return true;
        }
    return false;
}

/* ---- an edge ---- */

/* Has the driver the calls by which a stream waits for a word, and by which one writes it? */
static bool can_write(void)
{
    return SC_HAVE(cuStreamWaitValue32_v2) && SC_HAVE(cuStreamWriteValue32_v2);
}

/* For sc_marks_order_by: makes the writer stream write the word after `event`, which is behind the
 * earlier operation, and `stream` wait for the word. The write is enqueued first, so that it never
 * depends on the wait, in whatever order the device processes its queues. */
static bool wait_for_word(void *context, CUstream stream, CUevent event)
{
    struct edge *edge = context;
    CUstream writer = edge->own->writers[edge->index % WRITERS];
    CUdeviceptr word = edge->own->device_words + edge->index * sizeof(struct word);
    if (sc_real.cuStreamWaitEvent(writer, event, 0) != CUDA_SUCCESS)
        return false;
    edge->written =
        sc_real.cuStreamWriteValue32_v2(writer, word, 2 * edge->turn, 0) == CUDA_SUCCESS;
    return edge->written &&
           sc_real.cuStreamWaitValue32_v2(stream, word, release_value(edge->turn),
                                          CU_STREAM_WAIT_VALUE_GEQ) == CUDA_SUCCESS;
}

/* May work before the operation wait for what the program does next? Kernels, graphs and host
 * functions may; copies alone do not. Then a plain wait for the operation could become a
 * deadlock. */
static bool may_wait_for_program(const struct sc_op_info *op)
{
    struct sc_stream_record *earlier = sc_streams_of_id(op->ticket.stream);
    return earlier && !sc_unfinished_is_clear(earlier);
}

/* Makes `stream` wait for the operation by a word in memory, which the library's thread can write
 * as well. False: the driver lacks the calls, there is no word, thread or room, or the driver
 * refuses. A word that no stream will write is free again at once. */
static bool order_by_word(struct sc_stream_record *stream, const struct sc_op_info *op,
                          const char *api)
{
    struct edge edge = {.own = can_write() ? find_words(stream->context) : NULL};
    if (!edge.own || !take_word(edge.own, &edge))
        return false;
    bool ordered =
        open_edge(&edge, api, op) && sc_marks_order_by(stream, &op->ticket, wait_for_word, &edge);
    /* The writer stream will not write the word, so it is free again. */
    if (!edge.written)
        atomic_store(&edge.own->words[edge.index].value, 2 * edge.turn);
    return ordered;
}

/* Makes the stream's later work wait for the operation (mode=fix). By an event if only copies run
 * before the operation. Else by a word, which the thread can write, so that a deadlock ends. If a
 * host function before the operation waits for the program, the program may have made the order by
 * it, and the stream must not wait: false. */
bool sc_edges_order_after(struct sc_stream_record *stream, const struct sc_op_info *op,
                          const char *api)
{
    SC_TRACE("edge stream behind number", stream->id, op->ticket.stream, op->ticket.number);
    if (!may_wait_for_program(op))
        return sc_marks_order_after(stream, &op->ticket);
    bool is_behind_function = sc_host_functions_are_open(op);
    if (is_behind_function && sc_host_functions_excuses(op, sc_ticks()))
        return false;
    return order_by_word(stream, op, api) ||
           (!is_behind_function && sc_marks_order_after(stream, &op->ticket));
}
