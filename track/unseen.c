#include "track/unseen.h"

#include "common/checks.h"
#include "common/trace.h"
#include "track/order.h"
#include "track/order_calls.h"

#include "common/poison.h"

struct wait {
    uint32_t previous, next;
    struct sc_ticket from, until;
    /* its place among all waits that ever began, from 1; of several that share this record, the
     * first's */
    uint64_t place;
};

/* Waits of unseen end: a stream waits for the host, and no call tells when the wait ends. */
void sc_unseen_init(struct sc_order *order)
{
    sc_pool_init(&order->unseen.waits, sizeof(struct wait));
}

/* Returns the record of the wait with this id. */
static struct wait *wait_at(struct sc_order *order, uint32_t id)
{
    return sc_pool_at(&order->unseen.waits, id);
}

/* How many waits are open: waits of streams for the host, whose end no call tells. */
static uint32_t open_count(struct sc_order *order)
{
    return atomic_load_explicit(&order->unseen.open, memory_order_relaxed);
}

/* Counts open waits. While there is one, every call has to ask which waits its work comes after. */
static void change_open_count(struct sc_order *order, int change)
{
    sc_order_attend(order, SC_ATTENDS_UNSEEN_WAITS, open_count(order) + (uint32_t)change != 0);
    atomic_store_explicit(&order->unseen.open, open_count(order) + (uint32_t)change,
                          memory_order_release);
}

/* Asserts that the waits are listed in the order in which they began, and that `open` is their
 * number. */
static SC_CHECKER void check_list(struct sc_order *order)
{
    uint32_t count = 0, previous = 0;
    for (uint32_t id = order->unseen.first; id; id = wait_at(order, id)->next) {
        SC_ASSERT(wait_at(order, id)->previous == previous);
        SC_ASSERT(!previous || wait_at(order, previous)->place <= wait_at(order, id)->place);
        SC_ASSERT(++count <= order->unseen.waits.live);
        previous = id;
    }
    SC_ASSERT(order->unseen.last == previous);
    SC_ASSERT(count + order->unseen.is_lost == open_count(order));
    SC_ASSERT(count == order->unseen.waits.live);
}

/* Lists a wait that has begun, behind all earlier ones, and counts it as open. */
static void append_wait(struct sc_order *order, uint32_t id)
{
    wait_at(order, id)->previous = order->unseen.last;
    *(order->unseen.last ? &wait_at(order, order->unseen.last)->next : &order->unseen.first) = id;
    order->unseen.last = id;
    change_open_count(order, 1);
}

/* The wait is over: removes its record, and releases its stream, whose id the tickets (stream and
 * number) name. The release comes last, as the stream's record may be another one's then. */
static void drop_wait(struct sc_order *order, uint32_t id)
{
    const struct wait *wait = wait_at(order, id);
    uint32_t stream = wait->from.stream;
    *(wait->previous ? &wait_at(order, wait->previous)->next : &order->unseen.first) = wait->next;
    *(wait->next ? &wait_at(order, wait->next)->previous : &order->unseen.last) = wait->previous;
    sc_pool_release(&order->unseen.waits, id);
    change_open_count(order, -1);
    SC_CHECK_OF(open_count(order), check_list(order));
    sc_order_unreference(order, stream);
}

/* ---- the call ---- */

/* Returns the stream's latest wait if SC_UNSEEN_OF_STREAM_MAX of its waits are open, so that a
 * further one shares that record and the list stays short; else 0. */
static uint32_t find_to_join(struct sc_order *order, uint32_t stream)
{
    uint32_t count = 0;
    uint32_t latest = 0;
    for (uint32_t id = order->unseen.last; id && count < SC_UNSEEN_OF_STREAM_MAX;
         id = wait_at(order, id)->previous)
        if (wait_at(order, id)->from.stream == stream) {
            latest = latest ? latest : id;
            count++;
        }
    return count == SC_UNSEEN_OF_STREAM_MAX ? latest : 0;
}

/* Takes the ticket (stream and number) of the stream's work before the call: what comes after it
 * may come after the wait. */
struct sc_ticket sc_unseen_begin(struct sc_order *order, uint32_t stream)
{
    SC_ASSERT_GUARDED(&order->streams);
    struct sc_ticket ticket = {.stream = stream};
    sc_order_renew_ticket(order, &ticket);
    return ticket;
}

/* There is no memory for a wait's record, and what comes after that wait cannot be told: everything
 * counts as behind an open wait from now on, so nothing is reported wrongly. */
static void give_up_recording(struct sc_order *order)
{
    if (!order->unseen.is_lost)
        change_open_count(order, 1);
    order->unseen.is_lost = true;
}

/* The driver has accepted a call by which the stream waits for the host: records the wait, which
 * lies between `from`, taken before the call, and a ticket (stream and number) that is taken here.
 * Too many waits of one stream share a record. A stream that was removed meanwhile is left out: its
 * id may be another stream's. */
void sc_unseen_end(struct sc_order *order, const struct sc_ticket *from)
{
    SC_ASSERT_GUARDED(&order->streams);
    SC_TRACE("unseen-wait stream number", from->stream, from->number);
    if (sc_order_is_spare(sc_order_stream(order, from->stream)))
        return;
    struct sc_ticket until = sc_unseen_begin(order, from->stream);
    sc_unseen_forget_known(order);
    uint32_t joined = find_to_join(order, from->stream);
    uint32_t id = joined ? joined : sc_pool_take(&order->unseen.waits);
    if (!id) {
        give_up_recording(order);
    } else if (joined) {
        wait_at(order, id)->until = until;
    } else {
        *wait_at(order, id) =
            (struct wait){.from = *from, .until = until, .place = ++order->unseen.begun};
        sc_order_reference(order, from->stream);
        append_wait(order, id);
    }
}

/* ---- what is behind a wait ---- */

/* Does the host know work behind the wait to be done? That is the only sign of its end. */
static bool is_wait_over(struct sc_order *order, const struct wait *wait)
{
    return sc_order_known_done(order, &wait->until);
}

static uint64_t larger(uint64_t left, uint64_t right)
{
    return left > right ? left : right;
}

/* Returns the first place on the wait's stream, from the wait on, that the host does not know to be
 * done. Work that comes after an earlier place alone is not delayed by the wait. */
static struct sc_ticket first_unknown(struct sc_order *order, const struct wait *wait)
{
    struct sc_ticket first = wait->from;
    const struct sc_stream *stream = sc_order_stream(order, first.stream);
    first.number =
        larger(first.number, atomic_load_explicit(&stream->done, memory_order_relaxed) + 1);
    if (first.legacy)
        first.epoch = larger(first.epoch,
                             atomic_load_explicit(&sc_order_stream(order, first.legacy)->done_calls,
                                                  memory_order_relaxed));
    return first;
}

/* Does work on the stream, or what it comes after besides (`after`), come after a part of the wait
 * that the host does not know to be over? */
static bool comes_after_wait(struct sc_order *order, uint32_t stream, const struct sc_point *after,
                             const struct wait *wait)
{
    struct sc_ticket first = first_unknown(order, wait);
    return sc_order_covers(order, stream, &first) ||
           (after && sc_order_point_covers(after, &first));
}

/* Returns the bit by which marks of operations name the wait. Waits share the 64 bits, so a bit may
 * stand for several: then an operation counts as behind all of them. */
static uint64_t bit_of(const struct wait *wait)
{
    return (uint64_t)1 << wait->place % SC_UNSEEN_BITS;
}

/* Returns a mark: the open waits that work issued now comes after, a bit each. With too many open
 * waits to look at it has all bits, so that nothing is reported wrongly. */
struct sc_unseen_mark sc_unseen_find_before(struct sc_order *order, uint32_t stream,
                                            const struct sc_point *after)
{
    SC_ASSERT_GUARDED(&order->streams);
    struct sc_unseen_mark mark = {0, order->unseen.begun};
    if (order->unseen.is_lost || open_count(order) > SC_UNSEEN_LOOKED_AT_MAX) {
        mark.waits = UINT64_MAX;
        return mark;
    }
    for (uint32_t id = order->unseen.first; id; id = wait_at(order, id)->next) {
        const struct wait *wait = wait_at(order, id);
        if (!(mark.waits & bit_of(wait)) && !is_wait_over(order, wait) &&
            comes_after_wait(order, stream, after, wait))
            mark.waits |= bit_of(wait);
    }
    return mark;
}

/* Is a wait of the mark still open, so that the order of the operation with the mark is unknown?
 * Waits are listed as they began, and those that began after the operation was issued do not count.
 */
bool sc_unseen_is_open(struct sc_order *order, const struct sc_unseen_mark *mark)
{
    SC_ASSERT_GUARDED(&order->streams);
    if (!mark->waits || sc_unseen_none_is_open(&order->unseen))
        return false;
    for (uint32_t id = order->unseen.first; id; id = wait_at(order, id)->next) {
        const struct wait *wait = wait_at(order, id);
        if (wait->place > mark->begun)
            break;
        if ((mark->waits & bit_of(wait)) && !is_wait_over(order, wait))
            return true;
    }
    return order->unseen.is_lost;
}

/* Called when the host has waited for something: removes waits that are over by that. */
bool sc_unseen_forget_known(struct sc_order *order)
{
    SC_ASSERT_GUARDED(&order->streams);
    bool any = false;
    for (uint32_t id = order->unseen.first, next; id; id = next) {
        next = wait_at(order, id)->next;
        if (!is_wait_over(order, wait_at(order, id)))
            continue;
        drop_wait(order, id);
        any = true;
    }
    return any;
}
