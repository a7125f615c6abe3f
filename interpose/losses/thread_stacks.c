#include "interpose/losses/thread_stacks.h"

#include <link.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "common/hazard_words.h"
#include "common/objects.h"
#include "common/op_kinds.h"
#include "common/pages.h"
#include "interpose/base/compiler.h"
#include "interpose/base/own_stack.h"
#include "interpose/base/process.h"
#include "interpose/base/spare_stack.h"
#include "interpose/losses/losses.h"
#include "interpose/reaper/culprit.h"
#include "interpose/reaper/take_down.h"
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
 * thread's end: the C library's, and ours. So we wait on another stack, and then restore these
 * frames. Above them, on the same stack, lie the thread's variables, which are no frames. */

/* A visitor of objects: *end becomes the lowest variable of the thread on its stack. */
static int note_variables(struct dl_phdr_info *info, size_t size, void *context)
{
    uintptr_t *end = context;
    uintptr_t start = (uintptr_t)info->dlpi_tls_data;
    (void)size;
    if (sc_own_stack_holds(start) && start < *end)
        *end = start;
    return 0;
}

/* A copy of the frames of the thread's end. */
struct frames {
    char *start;
    size_t size_bytes;
    char bytes[FRAMES_MAX];
};

/* Copies the frames of the thread's end, from `start` on: while we wait the device may write over
 * them. */
static void save_frames(struct frames *frames, uintptr_t start)
{
    uintptr_t end = start + FRAMES_MAX;
    if (end > sc_own_stack().end)
        end = sc_own_stack().end;
    sc_objects_visit(note_variables, &end);
    frames->start = (char *)start;
    frames->size_bytes = end > start ? end - start : 0;
    memcpy(frames->bytes, frames->start, frames->size_bytes);
}

static void restore_frames(const struct frames *frames)
{
    memcpy(frames->start, frames->bytes, frames->size_bytes);
}

/* Reports what is in flight on the thread's stack, and waits for it. If we are on that very stack,
 * as there is no other, we cannot wait. */
static void settle_stack(void *frame)
{
    struct frames frames;
    const struct sc_own_stack own = sc_own_stack();
    const struct sc_culprit culprit = {"end of thread", NULL, NULL};
    SC_TAKE_DOWN request = {
        .address = own.start,
        .size_bytes = own.end - own.start,
        .hold = !sc_own_stack_holds((uintptr_t)__builtin_frame_address(0)),
        .kind = SC_HOLD_WAIT,
    };
    sc_take_down_search(&request, &culprit);
    for (unsigned i = 0; i < sc_ops_count_kept(&request.found); i++)
        if (request.found.ops[i].kind == SC_PAGEABLE)
            request.found.ops[i].kind = SC_STACK;
    sc_take_down_report(&request, SC104, &culprit);
    if (!request.held)
        return;
    save_frames(&frames, (uintptr_t)frame - BELOW_FRAME);
    sc_take_down_finish(&request, culprit.api);
    restore_frames(&frames);
}

/* Reports operations in flight on the stack of the thread, which ends. The key's destructor. It is
 * called again if a destructor of the program's issues such an operation after it. */
static void at_end_of_thread(void *unused)
{
    const struct sc_own_stack own = sc_own_stack();
    const void *start = (const void *)own.start;
    (void)unused;
    if (sc_losses_may_matter(start, own.end - own.start))
        sc_spare_stack_call_alone(settle_stack, __builtin_frame_address(0));
    sc_losses_leave_alone(start, own.end - own.start, SC_SNAPSHOTS_NONE);
}

static void make_key(void)
{
    has_key = pthread_key_create(&end_key, at_end_of_thread) == 0;
}

/* Has at_end_of_thread called on this thread. The key is made at the first need, since a program
 * may want all keys that there can be. */
static __attribute__((noinline)) void want_end_called(void)
{
    static pthread_once_t made = PTHREAD_ONCE_INIT;
    pthread_once(&made, make_key);
    if (has_key && !pthread_getspecific(end_key))
        pthread_setspecific(end_key, &end_key);
}

/* If the operation uses this thread's stack, the end of the thread is to be seen: the operation
 * loses its memory then. The main thread's stack stays. */
void sc_thread_stacks_note_heap(const struct sc_op_info *op)
{
    if (sc_likely(!sc_own_stack_holds(op->shape.address)))
        return;
    SC_KEEP_ERRNO();
    if (!sc_own_stack().is_main)
        want_end_called();
}
