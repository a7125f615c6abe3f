#include "interpose/losses/stack_losses.h"

#include <link.h>
#include <pthread.h>
#include <string.h>

#include "common/hazard_words.h"
#include "common/objects.h"
#include "common/op_kinds.h"
#include "common/pages.h"
#include "interpose/base/compiler.h"
#include "interpose/base/process.h"
#include "interpose/base/spare_stack.h"
#include "interpose/base/thread_stack.h"
#include "interpose/losses/losses.h"
#include "interpose/reaper/culprit.h"
#include "interpose/reaper/deallocation.h"
#include "track/hold_kind.h"
#include "track/ops.h"
#include "track/track_holds.h"

#include "common/poison.h"

enum {
    FRAMES_MAX = 4096,
    BELOW_FRAME = 1024, /* what the functions called from a frame may use below it */
};

static pthread_key_t end_key;
static bool has_key; /* constant after pthread_once */

/* ---- the end ----
 *
 * The device may still write into frames that are gone, in whose place now lie the frames of the
 * thread's end: the C library's, and the library's. So the thread waits on another stack, and then
 * restores these frames. Above them, on the same stack, lie the thread's variables, which are no
 * frames. */

/* For sc_objects_visit: lowers *end to the lowest thread-local variable on the thread's stack.
 * Variables are not copied with the frames: the wait changes some, which to put the frames back
 * would undo. */
static int stop_below_variables(struct dl_phdr_info *info, size_t size, void *context)
{
    uintptr_t *end = context;
    uintptr_t start = (uintptr_t)info->dlpi_tls_data;
    (void)size;
    if (sc_thread_stack_holds(start) && start < *end)
        *end = start;
    return 0;
}

/* A copy of the frames of the thread's end. */
struct frames {
    char *start;
    size_t size_bytes;
    char bytes[FRAMES_MAX];
};

/* Copies the frames of the thread's end, from `start` on: a copy that is still to come may
 * overwrite them during the wait, as they lie where the program's frames were. */
static void save_frames(struct frames *frames, uintptr_t start)
{
    uintptr_t end = start + FRAMES_MAX;
    if (end > sc_thread_stack().end)
        end = sc_thread_stack().end;
    sc_objects_visit(stop_below_variables, &end);
    frames->start = (char *)start;
    frames->size_bytes = end > start ? end - start : 0;
    memcpy(frames->bytes, frames->start, frames->size_bytes);
}

static void restore_frames(const struct frames *frames)
{
    memcpy(frames->start, frames->bytes, frames->size_bytes);
}

/* Reports what is in flight on the thread's stack, and waits for it on a spare stack: the thread's
 * own may be overwritten meanwhile, and is put back then. If there is no spare stack it cannot
 * wait. Operations on pageable memory there are reported as ones on a stack. */
static void report_and_await_stack(void *frame)
{
    struct frames frames;
    const struct sc_thread_stack own = sc_thread_stack();
    const struct sc_culprit culprit = {"end of thread", NULL, NULL};
    SC_DEALLOCATION request = {
        .address = own.start,
        .size_bytes = own.end - own.start,
        .hold = !sc_thread_stack_holds((uintptr_t)__builtin_frame_address(0)),
        .kind = SC_HOLD_WAIT,
    };
    sc_deallocation_search(&request, &culprit);
    for (unsigned i = 0; i < sc_ops_count_kept(&request.found); i++)
        if (request.found.ops[i].kind == SC_PAGEABLE)
            request.found.ops[i].kind = SC_STACK;
    sc_deallocation_report(&request, SC104, &culprit);
    if (!request.held)
        return;
    save_frames(&frames, (uintptr_t)frame - BELOW_FRAME);
    sc_deallocation_finish(&request, culprit.api);
    restore_frames(&frames);
}

/* The destructor of the key, which the C library calls when the thread ends, before its stack goes:
 * reports and waits for what is in flight there. It is called again if a destructor of the program
 * issues an operation on the stack after it. */
static void at_end_of_thread(void *unused)
{
    const struct sc_thread_stack own = sc_thread_stack();
    const void *start = (const void *)own.start;
    (void)unused;
    if (sc_losses_may_matter(start, own.end - own.start))
        sc_spare_stack_call_alone(report_and_await_stack, __builtin_frame_address(0));
    sc_losses_stop_watching(start, own.end - own.start, SC_SNAPSHOTS_NONE);
}

static void make_key(void)
{
    has_key = pthread_key_create(&end_key, at_end_of_thread) == 0;
}

/* Makes at_end_of_thread run at the end of this thread, by a key with a value. The key is created
 * when it is first needed, since a program may want all keys that exist. */
static __attribute__((noinline)) void want_end_called(void)
{
    static pthread_once_t made = PTHREAD_ONCE_INIT;
    pthread_once(&made, make_key);
    if (has_key && !pthread_getspecific(end_key))
        pthread_setspecific(end_key, &end_key);
}

/* Called for an operation on memory of libc's: if that is this thread's stack, has at_end_of_thread
 * called at the thread's end, when the stack goes. The main thread's stack stays. */
void sc_stack_losses_note_heap(const struct sc_op_info *op)
{
    if (sc_likely(!sc_thread_stack_holds(op->shape.address)))
        return;
    SC_KEEP_ERRNO();
    if (!sc_thread_stack().is_main)
        want_end_called();
}
