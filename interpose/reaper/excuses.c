#include "interpose/reaper/excuses.h"

#include <pthread.h>
#include <stdatomic.h>

#include "common/checks.h"
#include "common/library_lock.h"
#include "common/now.h"
#include "common/op_kinds.h"
#include "common/ticks.h"
#include "interpose/base/compiler.h"
#include "interpose/base/process.h"
#include "interpose/streams/doubts.h"
#include "interpose/streams/host_functions.h"
#include "report/options.h"
#include "track/no_verdicts.h"
#include "track/op_info.h"
#include "track/track_streams.h"

#include "common/poison.h"

enum { ORDERS_MAX = 256, KERNELS_MAX = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* a leaf */
/* Two operations that seem unordered, while it is open whether a host function has ordered them. */
static struct order {
    bool is_used, is_made;            /* `is_made`: a host function made the order, or may have */
    struct sc_op_info earlier, later; /* as queries about host functions */
    struct sc_ticket first, second;
} orders[ORDERS_MAX] SC_GUARDED_BY(lock);
static _Atomic unsigned order_count;

/* Returns the first operation in the form in which host functions are asked about: its stream and
 * time alone. */
static struct sc_op_info earlier_operation(const struct sc_excuse *excuse)
{
    return (struct sc_op_info){.ticket = {.stream = excuse->first_op_stream},
                               .ticks = excuse->issued_ticks};
}

/* Returns the second operation, or the touch, in the form in which host functions are asked about:
 * its stream and time alone. */
static struct sc_op_info later_operation(const struct sc_excuse *excuse)
{
    return (struct sc_op_info){.ticket = {.stream = excuse->later_op_stream},
                               .ticks = excuse->touched_ticks};
}

/* ---- orders ---- */

/* Does the host know that the operation is done? False for a call without an operation of its own,
 * which has no ticket (stream and number). */
static bool is_done(const struct sc_ticket *ticket)
{
    return ticket->stream && ticket->number && sc_track_is_known_done(&sc_track, ticket);
}

/* Keeps the two operations until the verdict: each host function that returns meanwhile is checked
 * for whether it can have ordered them. If the table is full, nothing is known of that, and the
 * hazard is excused. */
static void add_order(struct sc_excuse *excuse, const struct sc_ticket *first,
                      const struct sc_ticket *second)
{
    sc_library_lock_acquire(&lock);
    for (unsigned i = 0; i < ORDERS_MAX && !excuse->order; i++)
        if (!orders[i].is_used) {
            orders[i] = (struct order){.is_used = true,
                                       .earlier = earlier_operation(excuse),
                                       .later = later_operation(excuse),
                                       .first = *first,
                                       .second = *second};
            excuse->order = i + 1;
            atomic_fetch_add(&order_count, 1);
            /* The count may be one too high for a moment. */
            SC_ASSERT(atomic_load(&order_count) <= 2 * ORDERS_MAX);
        }
    sc_library_lock_release(&lock);
    excuse->has_no_room = !excuse->order;
}

/* Has a host function ordered the two operations, or may it have? Assumed so if there was no room
 * to keep them: nobody is accused without proof. */
static bool is_order_made(const struct sc_excuse *excuse)
{
    bool is_made = excuse->is_made || excuse->has_no_room;
    if (!excuse->order)
        return is_made;
    sc_library_lock_acquire(&lock);
    SC_ASSERT(excuse->order <= ORDERS_MAX && orders[excuse->order - 1].is_used);
    is_made |= orders[excuse->order - 1].is_made;
    sc_library_lock_release(&lock);
    return is_made;
}

/* Called when a host function of the program has returned, on its thread, before its stream goes
 * on. The function can have ordered two operations only if the host knew one of them to be done by
 * now, so that is noted for each pair that it runs before. A plain function (which by its code
 * waits for no thread) orders none. */
void sc_excuses_function_returned(unsigned call)
{
    bool is_plain = sc_host_functions_was_plain(call);
    sc_doubts_function_returned(call, is_plain);
    if (sc_likely(atomic_load_explicit(&order_count, memory_order_relaxed) == 0) || is_plain)
        return;
    sc_library_lock_acquire(&lock);
    for (unsigned i = 0; i < ORDERS_MAX; i++)
        if (orders[i].is_used && (sc_host_functions_precede(call, &orders[i].earlier) ||
                                  sc_host_functions_precede(call, &orders[i].later)))
            orders[i].is_made |= is_done(&orders[i].first) || is_done(&orders[i].second);
    sc_library_lock_release(&lock);
}

/* ---- kernels that wait for the program ---- */

static struct sc_ticket
    kernels[KERNELS_MAX] SC_GUARDED_BY(lock); /* the latest ones that were found to */
static _Atomic unsigned kernel_count;

/* Called when a touch has waited for a kernel that makes no progress: notes that the kernel waits
 * for the program, which excuses the touch. Only the latest KERNELS_MAX are kept. */
void sc_excuses_kernel_waits(const struct sc_ticket *kernel)
{
    sc_library_lock_acquire(&lock);
    kernels[atomic_fetch_add(&kernel_count, 1) % KERNELS_MAX] = *kernel;
    sc_library_lock_release(&lock);
}

/* Was the GPU kernel found to wait for the program? Then what the program writes meanwhile is meant
 * for it, and no hazard. Stream 0 is no kernel. */
bool sc_excuses_kernel_is_waiting(const struct sc_ticket *kernel)
{
    bool is = false;
    if (kernel->stream == 0 || atomic_load(&kernel_count) == 0)
        return false;
    sc_library_lock_acquire(&lock);
    for (unsigned i = 0; i < KERNELS_MAX; i++)
        is |= kernels[i].stream == kernel->stream && kernels[i].number == kernel->number;
    sc_library_lock_release(&lock);
    return is;
}

/* Does the verdict still have to wait for the GPU kernel's end? Not if it is complete, or was found
 * to wait for the program, or there is no kernel (stream 0). */
static bool is_awaited(const struct sc_ticket *kernel)
{
    return kernel->stream && !sc_track_is_complete(&sc_track, kernel) &&
           !sc_excuses_kernel_is_waiting(kernel);
}

/* Called again and again while a touch waits for a GPU kernel: has its stream made no progress for
 * SC_EXCUSES_STUCK_NS? Then the kernel may be waiting for that very touch. `stand`: how far the
 * stream was at the last progress, and when. */
bool sc_excuses_kernel_is_stuck(struct sc_excuses_stand *stand, uint32_t stream)
{
    uint64_t complete = sc_track_stream(&sc_track, stream).complete;
    uint64_t now_ns = sc_now_ns();
    if (stand->since_ns == 0 || stand->complete != complete)
        *stand = (struct sc_excuses_stand){complete, now_ns};
    return now_ns - stand->since_ns >= SC_EXCUSES_STUCK_NS;
}

/* ---- excuses ---- */

/* Fills in what every excuse has: when the operation was issued and touched, and its stream. The
 * stream gets an id that stands for all which the operation comes after now; later that could not
 * be told. */
static void begin_one(struct sc_excuse *excuse, const struct sc_op_info *op, uint64_t touched_ticks)
{
    *excuse = (struct sc_excuse){
        .issued_ticks = op->ticks,
        .touched_ticks = touched_ticks,
        .since_ns = sc_now_ns(),
        .first_op_stream = sc_host_functions_stream_now(op->ticket.stream),
    };
}

/* Stores the GPU kernel on which the verdict depends. Only with kernels=order (mode=fix) does a
 * touch wait for a kernel that may use the memory; whether the kernel then goes on decides. Device
 * memory cannot be touched by the host. */
static void begin_kernel(struct sc_excuse *excuse, const struct sc_op_info *op)
{
    bool is_ordered = sc_options.mode == SC_MODE_FIX && sc_options.kernels == SC_KERNELS_ORDER;
    if (is_ordered && sc_ops_is_possible(op) && op->kind != SC_DEVICE)
        excuse->kernel = op->ticket;
}

/* Puts the touch in doubt if a host function before the operation has not returned: it may wait for
 * the program, as by polling. Only in mode=report, since in mode=fix the touch itself waits, and
 * shows what the function does. */
static void begin_doubt(struct sc_excuse *excuse, const struct sc_ticket *ticket)
{
    struct sc_op_info earlier = earlier_operation(excuse);
    if (sc_options.mode != SC_MODE_REPORT || !sc_host_functions_are_open(&earlier))
        return;
    excuse->is_doubted = true;
    excuse->doubt = sc_doubts_begin(&earlier, ticket);
}

/* Begins the excuse of a touch that was found by its result (a changed source). Its time is unknown
 * (0), so it is not compared with the times of host functions. */
void sc_excuses_of_past_touch(struct sc_excuse *excuse, const struct sc_op_info *op)
{
    begin_one(excuse, op, 0);
}

/* Begins the excuse of a touch that the calling thread makes now: a host function or a kernel
 * before the operation may be waiting for it. */
void sc_excuses_of_touch(struct sc_excuse *excuse, const struct sc_op_info *op)
{
    begin_one(excuse, op, sc_ticks());
    begin_kernel(excuse, op);
    begin_doubt(excuse, &op->ticket);
}

/* Begins the excuse of two operations that are not ordered: a host function that waits for the
 * program may have ordered them. `later` is the second one; without a number it is a call that has
 * no operation, and counts as a touch. The two are checked once more at the end, since a function
 * may have returned since they were compared. */
void sc_excuses_of_order(struct sc_excuse *excuse, const struct sc_op_info *op,
                         const struct sc_later *later)
{
    const struct sc_ticket *ticket = &later->ticket;
    begin_one(excuse, op, later->ticks ? later->ticks : sc_ticks());
    excuse->has_later = ticket->stream != 0;
    excuse->later_op_stream = ticket->stream ? sc_host_functions_stream_now(ticket->stream) : 0;
    if (!ticket->number) {
        begin_kernel(excuse, op);
        begin_doubt(excuse, &op->ticket);
    }
    if (sc_excuses_are_awaited(excuse))
        add_order(excuse, &op->ticket, ticket);
    excuse->is_made = is_done(&op->ticket) || is_done(ticket);
}

/* Frees what was kept for the verdict: the doubt about a touch, and the pair of operations. Called
 * once for each excuse; a second call does nothing. */
void sc_excuses_end(struct sc_excuse *excuse)
{
    if (excuse->is_doubted)
        sc_doubts_end(excuse->doubt);
    excuse->is_doubted = false;
    if (!excuse->order)
        return;
    sc_library_lock_acquire(&lock);
    SC_ASSERT(excuse->order <= ORDERS_MAX && orders[excuse->order - 1].is_used);
    orders[excuse->order - 1].is_used = false;
    sc_library_lock_release(&lock);
    atomic_fetch_sub(&order_count, 1);
    excuse->order = 0;
}

/* May the hazard still turn out to be excused, so that the verdict has to wait? So if a host
 * function before one of the operations has not returned, or the kernel has not ended. No for an
 * excuse that was never begun (issued_ticks 0). */
bool sc_excuses_are_awaited(const struct sc_excuse *excuse)
{
    const struct sc_op_info earlier = earlier_operation(excuse);
    const struct sc_op_info later = later_operation(excuse);
    return excuse->issued_ticks && (sc_host_functions_are_open(&earlier) ||
                                    (excuse->has_later && sc_host_functions_are_open(&later)) ||
                                    is_awaited(&excuse->kernel));
}

void sc_excuses_poll(const struct sc_excuse *excuse)
{
    if (excuse->is_doubted)
        sc_doubts_look(excuse->doubt);
}

/* Is the hazard excused by what is known now: has a host function before one of the operations, or
 * a GPU kernel, waited for the program, or were the operations ordered by one? No for an excuse
 * that was never begun (issued_ticks 0). */
bool sc_excuses_hold(const struct sc_excuse *excuse)
{
    const struct sc_op_info earlier = earlier_operation(excuse);
    const struct sc_op_info later = later_operation(excuse);
    if (excuse->issued_ticks == 0)
        return false;
    return sc_host_functions_excuses(&earlier, excuse->touched_ticks) ||
           (excuse->has_later && sc_host_functions_excuses(&later, excuse->touched_ticks)) ||
           is_order_made(excuse) || sc_excuses_kernel_is_waiting(&excuse->kernel);
}

/* Does the host know one of the two to be done, while a host function before them has not returned?
 * The function may have made that order. What becomes known after it has returned does not
 * count. */
static bool may_order_be_made(const struct sc_excuse *excuse)
{
    bool may_be = false;
    if (!excuse->order || !sc_excuses_are_awaited(excuse))
        return false;
    sc_library_lock_acquire(&lock);
    const struct order *order = &orders[excuse->order - 1];
    SC_ASSERT(order->is_used);
    may_be = is_done(&order->first) || is_done(&order->second);
    sc_library_lock_release(&lock);
    return may_be;
}

/* Is the hazard excused, when there is no more time to wait? What is still open counts in favour of
 * the program. */
bool sc_excuses_hold_at_last(const struct sc_excuse *excuse)
{
    return sc_excuses_hold(excuse) || may_order_be_made(excuse) ||
           (excuse->is_doubted && sc_doubts_remain(excuse->doubt));
}

/* Returns under which reason the report counts an excused hazard as one without a verdict: the
 * kernel waited, a table was full, or a host function may have made the order. */
enum sc_no_verdict_reason sc_excuses_reason(const struct sc_excuse *excuse)
{
    bool has_room = !excuse->has_no_room && (!excuse->is_doubted || excuse->doubt);
    if (sc_excuses_kernel_is_waiting(&excuse->kernel))
        return SC_NO_VERDICT_WAITING_KERNEL;
    return has_room ? SC_NO_VERDICT_HOST_FUNCTION : SC_NO_VERDICT_ROOM;
}
