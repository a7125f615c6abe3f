#include "track/unseen.h"

#include "common/checks.h"
#include "common/trace.h"
#include "track/order.h"
#include "track/order_calls.h"

#include "common/poison.h"

struct wait {
    uint32_t previous, next;
    struct sc_ticket from, until;
    uint64_t place; /* its place among all waits that ever began, from 1; of several that count as
                       one, the first's */
};

void sc_unseen_init(struct sc_order *order)
{
    sc_pool_init(&order->unseen.waits, sizeof(struct wait));
}

static struct wait *wait_at(struct sc_order *order, uint32_t id)
{
    return sc_pool_at(&order->unseen.waits, id);
}

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

static void append_wait(struct sc_order *order, uint32_t id)
{
    wait_at(order, id)->previous = order->unseen.last;
    *(order->unseen.last ? &wait_at(order, order->unseen.last)->next : &order->unseen.first) = id;
    order->unseen.last = id;
    change_open_count(order, 1);
}

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

/* Returns the stream's latest wait if the stream has SC_UNSEEN_OF_STREAM_MAX waits already, so that
 * a further one has to share its record; else 0. */
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

struct sc_ticket sc_unseen_begin(struct sc_order *order, uint32_t stream)
{
    SC_ASSERT_GUARDED(&order->streams);
    struct sc_ticket ticket = {.stream = stream};
    sc_order_renew_ticket(order, &ticket);
    return ticket;
}

/* Notes that there is no memory to record a wait: every operation counts as unseen from now on. */
static void give_up_recording(struct sc_order *order)
{
    if (!order->unseen.is_lost)
        change_open_count(order, 1);
    order->unseen.is_lost = true;
}

/* Records what is issued from `from` on until now as an unseen wait. Without memory for a record
 * all later work counts as unseen. */
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

static bool is_wait_over(struct sc_order *order, const struct wait *wait)
{
    return sc_order_known_done(order, &wait->until);
}

static uint64_t larger(uint64_t left, uint64_t right)
{
    return left > right ? left : right;
}

/* Returns the first place on the wait's stream, from the wait on, that the host does not know to be
 * done. Work that comes only after what the host knows is not delayed by the wait: that part of the
 * wait is over, or came before it. */
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

/* Does work on the stream, or what it comes after besides, come after a part of the wait that the
 * host does not know to be over? */
static bool comes_after_wait(struct sc_order *order, uint32_t stream, const struct sc_point *after,
                             const struct wait *wait)
{
    struct sc_ticket first = first_unknown(order, wait);
    return sc_order_covers(order, stream, &first) ||
           (after && sc_order_point_covers(after, &first));
}

/* Returns the bit of the wait in marks; several waits may have the same bit. */
static uint64_t bit_of(const struct wait *wait)
{
    return (uint64_t)1 << wait->place % SC_UNSEEN_BITS;
}

/* Returns the mark that says which open waits may come before work on the stream. With too many
 * open waits it has all bits. */
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
