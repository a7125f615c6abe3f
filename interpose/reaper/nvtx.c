#include "interpose/reaper/nvtx.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/libraries.h"

/* NVTX's header opens the tool by dlopen, which would also search for it in relative folders. */
#define dlopen(name, flags) sc_libraries_open(name, flags)
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCuda.h>
#undef dlopen

#include "common/checks.h"
#include "common/deadlines.h"
#include "common/hazard.h"
#include "common/hazard_words.h"
#include "common/library_lock.h"
#include "common/text.h"
#include "cupti_hooks/current_call.h"
#include "interpose/base/process.h"
#include "interpose/base/upcalls.h"
#include "interpose/base/warning.h"
#include "interpose/reaper/library_threads.h"
#include "report/options.h"
#include "report/plain.h"

#include "common/poison.h"

enum {
    QUEUE_MAX = 256,
    RANGES_MAX = 64, /* threads that may be stalled at a time */
    TEXT_BYTES = 512,
    AWAIT_MAX_NS = 500 * 1000 * 1000,
    CATEGORY_OF_STALLS = SC_HAZARD_CODE_COUNT + 1, /* that of a hazard's code is the code + 1 */
};

enum colour { RED = 0xffd62728, ORANGE = 0xffff9f1c, BLUE = 0xff1f77b4 };

enum kind { MARK, STALL_BEGIN, STALL_END, STREAM_NAME };

/* An entry of the queue: what the profiler is to be shown. */
struct entry {
    enum kind kind;
    int32_t thread;
    const char *words; /* the call that waits, or the stream's name; lives for ever */
    const void *stream;
    struct sc_hazard hazard;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t work; /* there is something to show, or no more to come */
    pthread_cond_t done; /* all has been shown, or the thread has ended */
    bool showing, stopping, stopped;
    unsigned first, count;
    unsigned lost; /* marks that found no room */
    struct entry queue[QUEUE_MAX];
} shown = {.lock = PTHREAD_MUTEX_INITIALIZER,
           .work = PTHREAD_COND_INITIALIZER,
           .done = PTHREAD_COND_INITIALIZER};

static _Atomic bool is_on;

/* The thread alone uses these. */
static nvtxDomainHandle_t domain;
static struct {
    int32_t thread; /* 0: the entry is free */
    nvtxRangeId_t id;
} ranges[RANGES_MAX];

/* ---- showing ---- */

/* Returns the attributes of a mark or range in the form that NVTX takes them. `words` is shown, and
 * has to live until NVTX is called. */
static nvtxEventAttributes_t attributes_of(uint32_t category, enum colour colour, const char *words)
{
    return (nvtxEventAttributes_t){
        .version = NVTX_VERSION,
        .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
        .category = category,
        .colorType = NVTX_COLOR_ARGB,
        .color = colour,
        .messageType = NVTX_MESSAGE_TYPE_ASCII,
        .message.ascii = words,
    };
}

static void append_thread(struct sc_text *text, int32_t thread)
{
    sc_text_format(text, ", thread %d", thread);
}

static const char *call_name(const char *runtime_api, const char *api)
{
    return runtime_api ? runtime_api : api;
}

/* Writes the text of a hazard's mark: code, the call that came too early, the operation, and what
 * the program's thread was doing (its label). */
static void append_hazard(struct sc_text *text, const struct sc_hazard *hazard)
{
    sc_text_format(
        text, "%s %s: %s against %s, %s, %s", sc_hazard_code_string(hazard->code),
        sc_hazard_name(hazard->code), call_name(hazard->event.runtime_api, hazard->event.api),
        call_name(hazard->copy.runtime_api, hazard->copy.api),
        sc_hazard_certainty_string(hazard->certainty), sc_hazard_action_string(hazard->action));
    append_thread(text, hazard->event.thread);
    sc_text_put(text, hazard->label[0] ? ", in " : "");
    sc_plain_put(text, hazard->label, strlen(hazard->label));
}

/* Shows a hazard as a mark on the profiler's time line. The payload is the event's time, which
 * identifies the hazard in the report. */
static void show_mark(const struct sc_hazard *hazard)
{
    SC_TEXT(text, TEXT_BYTES);
    append_hazard(&text, hazard);
    nvtxEventAttributes_t mark = attributes_of(
        hazard->code + 1, hazard->certainty == SC_OBSERVED ? RED : ORANGE, text.bytes);
    mark.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
    mark.payload.ullValue = hazard->event.time_ns;
    nvtxDomainMarkEx(domain, &mark);
}

/* Ends the range that shows the thread as stalled, if there is one: a beginning may have found no
 * room. */
static void end_range(int32_t thread)
{
    for (unsigned i = 0; i < RANGES_MAX; i++)
        if (ranges[i].thread == thread) {
            nvtxDomainRangeEnd(domain, ranges[i].id);
            ranges[i].thread = 0;
            return;
        }
}

/* Begins a range on the profiler's time line: the thread is stalled (waits for the device) in the
 * call. Left out if RANGES_MAX threads are. */
static void begin_range(int32_t thread, const char *api)
{
    unsigned place = 0;
    while (place < RANGES_MAX && ranges[place].thread)
        place++;
    if (place == RANGES_MAX)
        return;
    SC_TEXT(text, TEXT_BYTES);
    sc_text_format(&text, "stalled: %s", api);
    append_thread(&text, thread);
    nvtxEventAttributes_t range = attributes_of(CATEGORY_OF_STALLS, BLUE, text.bytes);
    ranges[place].id = nvtxDomainRangeStartEx(domain, &range);
    ranges[place].thread = thread;
}

/* Passes one entry of the queue to the profiler. A stall that begins ends an older one of the
 * thread, which a handler may have left by siglongjmp. */
static void show_entry(const struct entry *entry)
{
    switch (entry->kind) {
    case MARK:
        show_mark(&entry->hazard);
        break;
    case STALL_BEGIN:
        end_range(entry->thread);
        begin_range(entry->thread, entry->words);
        break;
    case STALL_END:
        end_range(entry->thread);
        break;
    case STREAM_NAME:
        nvtxNameCuStreamA((CUstream)(uintptr_t)entry->stream, entry->words);
        break;
    }
}

/* Shows on the time line how many marks were dropped since the last one, so that nobody takes it
 * for complete. The report has them. */
static void show_lost(unsigned lost)
{
    if (lost == 0)
        return;
    SC_TEXT(text, TEXT_BYTES);
    sc_text_format(&text, "marks left out, see the report: %u", lost);
    nvtxEventAttributes_t mark = attributes_of(0, RED, text.bytes);
    nvtxDomainMarkEx(domain, &mark);
}

/* ---- the thread ---- */

/* Waits for an entry in the queue, and first wakes the threads that wait until all is shown. False:
 * the process ends, and the queue is empty. The lock is released while it waits. */
static bool await_work_locked(void) SC_REQUIRES(shown.lock)
{
    SC_ASSERT_HELD(&shown.lock);
    shown.showing = false;
    if (shown.count == 0)
        pthread_cond_broadcast(&shown.done);
    sc_library_threads_block_signals();
    while (shown.count == 0 && !shown.stopping)
        pthread_cond_wait(&shown.work, &shown.lock);
    sc_library_threads_unblock_signals();
    shown.showing = shown.count != 0;
    return shown.showing;
}

/* Waits until the queue has an entry, and leaves it there. False: the process ends before anything
 * is to be shown. */
static bool await_work(void)
{
    sc_library_lock_acquire(&shown.lock);
    bool any = await_work_locked();
    sc_library_lock_release(&shown.lock);
    return any;
}

/* Waits for an entry and takes it out of the queue. *lost: how many marks found no room since the
 * last call. False: the process ends, and the queue is empty. */
static bool take_entry(struct entry *entry, unsigned *lost)
{
    sc_library_lock_acquire(&shown.lock);
    bool any = await_work_locked();
    if (any) {
        SC_ASSERT(shown.first < QUEUE_MAX && shown.count > 0 && shown.count <= QUEUE_MAX);
        *entry = shown.queue[shown.first];
        shown.first = (shown.first + 1) % QUEUE_MAX;
        shown.count--;
    }
    *lost = shown.lost;
    shown.lost = 0;
    sc_library_lock_release(&shown.lock);
    return any;
}

/* Passes entries to the profiler until the process ends, and then ends the ranges that are still
 * open. */
static void show_all(void)
{
    struct entry entry;
    unsigned lost;
    while (take_entry(&entry, &lost)) {
        show_entry(&entry);
        show_lost(lost);
    }
    for (unsigned i = 0; i < RANGES_MAX; i++)
        if (ranges[i].thread)
            end_range(ranges[i].thread);
}

/* Has NVTX load the profiler, by its first call, and passes entries to it until the process ends.
 * The library's hooks let pass what the profiler's code calls (SC_INSIDE, SC_CARRY). Returns at
 * once if the profiler refuses. */
static void load_and_show(void)
{
    SC_CARRY();
    SC_INSIDE();
    domain = nvtxDomainCreateA("safecopy");
    if (!domain)
        return;
    for (unsigned code = 0; code < SC_HAZARD_CODE_COUNT; code++) {
        SC_TEXT(text, TEXT_BYTES);
        sc_text_format(&text, "%s %s", sc_hazard_code_string(code), sc_hazard_name(code));
        nvtxDomainNameCategoryA(domain, code + 1, text.bytes);
    }
    nvtxDomainNameCategoryA(domain, CATEGORY_OF_STALLS, "stalled");
    show_all();
}

/* The library's thread that calls the profiler, whose code may load libraries, take locks and call
 * the driver. It loads the profiler at the first entry, when the driver is no longer within cuInit.
 * Behind the last one it tells those who wait for it that it has ended. */
static void *run_thread(void *unused)
{
    (void)unused;
    if (await_work()) { /* the first entry: the driver is no longer within cuInit */
        sc_library_threads_enter_driver("safecopy-nvtx");
        load_and_show();
    }
    atomic_store(&is_on, false);
    sc_library_lock_acquire(&shown.lock);
    shown.stopped = true;
    pthread_cond_broadcast(&shown.done);
    sc_library_lock_release(&shown.lock);
    return NULL;
}

/* Is the tool's name a relative path? It leads elsewhere once the program has changed its folder.
 */
static bool is_relative(const char *tool)
{
    return tool[0] != '/' && strchr(tool, '/');
}

/* Called when CUDA has been initialised: starts that thread if a profiler wants to be shown marks
 * (NVTX_INJECTION64_PATH), unless nvtx=off. A relative path is refused, with a warning. */
void sc_nvtx_start(void)
{
    const char *tool = getenv("NVTX_INJECTION64_PATH");
    if (!tool || !tool[0] || sc_options.nvtx != SC_NVTX_AUTO)
        return;
    if (is_relative(tool))
        sc_warning_say("a tool of NVTX is not loaded where the path is relative: "
                       "NVTX_INJECTION64_PATH=%s; name the whole path, from / on",
                       tool);
    else
        atomic_store(&is_on, sc_library_threads_start(run_thread, 0));
}

/* ---- handing over ---- */

/* Reserves the next entry of the queue for the calling thread. NULL: there is no profiler, the
 * queue is full (lost marks are counted), or the process ends. Otherwise the lock is held until
 * hand_over. */
static struct entry *claim_entry(enum kind kind) SC_TRY_ACQUIRES(true, shown.lock)
{
    if (!atomic_load_explicit(&is_on, memory_order_relaxed))
        return NULL;
    sc_library_lock_acquire(&shown.lock);
    if (shown.count < QUEUE_MAX && !shown.stopping) {
        struct entry *entry = &shown.queue[(shown.first + shown.count) % QUEUE_MAX];
        entry->kind = kind;
        entry->thread = sc_thread_id();
        return entry;
    }
    shown.lost += kind == MARK;
    sc_library_lock_release(&shown.lock);
    return NULL;
}

/* Puts the reserved entry into the queue for the thread, and releases the lock that claim_entry has
 * taken. */
static void hand_over(void) SC_RELEASES(shown.lock)
{
    SC_ASSERT_HELD(&shown.lock);
    SC_ASSERT(shown.count < QUEUE_MAX);
    shown.count++;
    pthread_cond_signal(&shown.work);
    sc_library_lock_release(&shown.lock);
}

/* Queues a mark for the hazard, a copy of it. If the queue is full the mark is dropped and
 * counted. */
void sc_nvtx_mark(const struct sc_hazard *hazard)
{
    struct entry *entry = claim_entry(MARK);
    if (!entry)
        return;
    entry->hazard = *hazard;
    hand_over();
}

/* Queues the beginning of a range: from now on the calling thread waits for the device within
 * `api`. */
void sc_nvtx_stall_begin(const char *api)
{
    struct entry *entry = claim_entry(STALL_BEGIN);
    if (!entry)
        return;
    entry->words = api;
    hand_over();
}

void sc_nvtx_stall_end(void)
{
    if (claim_entry(STALL_END))
        hand_over();
}

/* Queues the name of a stream of the library's, for the profiler's rows. Neither is copied: the
 * name lives for ever, and the queue is emptied (sc_nvtx_await) before the stream's context
 * ends. */
void sc_nvtx_name_stream(const void *stream, const char *name)
{
    struct entry *entry = claim_entry(STREAM_NAME);
    if (!entry)
        return;
    entry->stream = stream;
    entry->words = name;
    hand_over();
}

/* ---- the end ---- */

/* Waits until everything has been shown, AWAIT_MAX_NS at most; with `stops`, until the thread has
 * ended. The lock is waited for only so long as well: a thread that holds it may be gone at
 * exit. */
static void await_shown(bool stops)
{
    struct timespec at = sc_deadline_in(AWAIT_MAX_NS);
    int result = 0;
    sc_library_lock_enter();
    if (sc_lock_until(&shown.lock, &at) == 0) {
        shown.stopping |= stops;
        pthread_cond_signal(&shown.work);
        while ((stops || shown.count || shown.showing) && !shown.stopped && result != ETIMEDOUT)
            result = sc_cond_wait_until(&shown.done, &shown.lock, &at);
        pthread_mutex_unlock(&shown.lock);
    }
    sc_library_lock_leave();
}

void sc_nvtx_await(void)
{
    SC_KEEP_ERRNO();
    if (atomic_load_explicit(&is_on, memory_order_relaxed))
        await_shown(/*stops*/ false);
}

void sc_nvtx_stop(void)
{
    SC_KEEP_ERRNO();
    if (atomic_load_explicit(&is_on, memory_order_relaxed))
        await_shown(/*stops*/ true);
}

/* Called in a child after fork: nothing is shown there, since the thread is not there, and another
 * thread may have had the lock. */
void sc_nvtx_child(void)
{
    shown.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    atomic_store(&is_on, false);
}
