#include "track/graph_frees.h"
#include "track/hold_internal.h"

#include <string.h>

#include "common/checks.h"
#include "common/now.h"
#include "common/trace.h"
#include "track/conflicts.h"
#include "track/consistency.h"
#include "track/op_info.h"
#include "track/order.h"

#include "common/poison.h"

enum { GRID_CELLS = 1 << 12 };

/* A hold is memory that the program has freed while the device used it, and that goes back later.
 */
int sc_holds_init(struct sc_holds *holds, struct sc_order *order, struct sc_graphs *graphs)
{
    memset(holds, 0, sizeof *holds);
    holds->order = order;
    holds->graphs = graphs;
    sc_pool_init(&holds->pool, sizeof(struct sc_hold));
    return sc_grid_init(&holds->grid, &holds->pool, GRID_CELLS);
}

/* The size of the memory that the hold keeps. */
static size_t bytes_of(const struct sc_hold *hold)
{
    return atomic_load_explicit(&hold->node.size_bytes, memory_order_relaxed);
}

/* Returns how many bytes count for the option max_held: none if the memory stays the program's (a
 * thread that only waits, the end of a registration). */
static size_t held_bytes_of(const struct sc_hold *hold)
{
    return hold->kind == SC_HOLD_WAIT || hold->kind == SC_HOLD_UNREGISTER ? 0 : bytes_of(hold);
}

/* Where the memory begins that the hold keeps. */
static uintptr_t address_of(const struct sc_hold *hold)
{
    return atomic_load_explicit(&hold->node.address, memory_order_relaxed);
}

/* Adds a hold (memory kept after a free) at the end of the list, which is in order of age, and
 * counts its bytes. It waits for nothing yet; a free of nothing is held as one byte, since the
 * index has no empty items. */
uint32_t sc_holds_add(struct sc_holds *holds, enum sc_hold_kind kind, uintptr_t address,
                      size_t size_bytes, uint32_t context, uint64_t now_ns)
{
    SC_ASSERT_GUARDED(&holds->pool);
    SC_TRACE("hold-add kind address bytes", kind, address, size_bytes);
    uint32_t id = sc_pool_take(&holds->pool);
    if (!id)
        return 0;
    struct sc_hold *hold = sc_holds_at(holds, id);
    atomic_store_explicit(&hold->node.address, address, memory_order_release);
    atomic_store_explicit(&hold->node.size_bytes, size_bytes ? size_bytes : 1,
                          memory_order_release);
    hold->kind = kind;
    hold->context = context;
    hold->since_ns = now_ns;
    hold->age = ++holds->made;
    hold->previous = holds->newest;
    *(holds->newest ? &sc_holds_at(holds, holds->newest)->next : &holds->oldest) = id;
    holds->newest = id;
    sc_grid_insert(&holds->grid, id);
    holds->held_bytes += held_bytes_of(hold);
    if (holds->held_bytes > holds->held_peak_bytes)
        holds->held_peak_bytes = holds->held_bytes;
    SC_CHECK_OF(holds->pool.live, sc_consistency_of_holds(holds));
    return id;
}

/* Makes room for one more operation that the hold (memory kept after a free) waits for. Returns
 * false if there is no memory, or there are too many. */
static bool make_room_for_ticket(struct sc_holds *holds, struct sc_hold *hold)
{
    if (hold->ticket_count < hold->ticket_capacity)
        return true;
    uint32_t capacity = hold->ticket_capacity ? hold->ticket_capacity * 2 : 4;
    if (capacity > SC_HOLD_TICKETS_MAX)
        return false;
    struct sc_ticket *tickets = sc_arena_alloc(&holds->order->arena, capacity * sizeof *tickets);
    if (!tickets)
        return false;
    if (hold->tickets) {
        memcpy(tickets, hold->tickets, hold->ticket_count * sizeof *tickets);
        sc_arena_free(&holds->order->arena, hold->tickets, hold->ticket_capacity * sizeof *tickets);
    }
    hold->tickets = tickets;
    hold->ticket_capacity = capacity;
    return true;
}

/* Makes the hold (memory kept after a free) wait for this operation as well. Work of a stream ends
 * in its order, so one ticket (stream and number) for each stream is kept, the latest. It keeps the
 * stream's id from being given to another one. */
bool sc_holds_require(struct sc_holds *holds, uint32_t id, const struct sc_ticket *ticket)
{
    SC_ASSERT_GUARDED(&holds->pool);
    struct sc_hold *hold = sc_holds_at(holds, id);
    for (uint32_t i = 0; i < hold->ticket_count; i++)
        if (hold->tickets[i].stream == ticket->stream) {
            if (hold->tickets[i].number < ticket->number)
                hold->tickets[i] = *ticket;
            return true;
        }
    if (!make_room_for_ticket(holds, hold))
        return false;
    SC_ASSERT(hold->age != 0 && hold->ticket_count < hold->ticket_capacity);
    hold->tickets[hold->ticket_count++] = *ticket;
    sc_order_reference(holds->order, ticket->stream);
    return true;
}

/* Are all operations that the hold (memory kept after a free) waits for complete? */
static bool all_ops_complete(struct sc_holds *holds, const struct sc_hold *hold)
{
    for (uint32_t i = 0; i < hold->ticket_count; i++)
        if (!sc_order_complete(holds->order, &hold->tickets[i]))
            return false;
    return true;
}

/* Is the hold (memory kept after a free) of a kind that the mask has, and does it fulfil the mask's
 * further conditions? */
static bool is_selected(const struct sc_hold *hold, uintptr_t address, unsigned mask)
{
    return (mask >> hold->kind & 1) && (!(mask & SC_HOLDS_BY_GRAPH) || hold->by_graph) &&
           (!(mask & SC_HOLDS_STARTING) || address_of(hold) == address);
}

/* Returns a hold (memory kept after a free) in the interval that the mask selects; 0: none. An
 * interval without bytes stands for its address. */
uint32_t sc_holds_find(struct sc_holds *holds, uintptr_t address, size_t size_bytes, unsigned mask)
{
    SC_ASSERT_GUARDED(&holds->pool);
    if (!holds->oldest)
        return 0;
    SC_GRID_EACH (walk, &holds->grid, address, size_bytes ? size_bytes : 1)
        if (is_selected(sc_holds_at(holds, walk.id), address, mask))
            return walk.id;
    return 0;
}

/* May malloc not have its memory back yet, since the same memory has a registration that waits for
 * a graph? Malloc would hand out memory that is still registered. (Another held registration ends
 * soon, and goes first.) */
static bool waits_for_registration(struct sc_holds *holds, const struct sc_hold *hold)
{
    return (hold->kind == SC_HOLD_FREE || hold->kind == SC_HOLD_UNMAP) &&
           sc_holds_find(holds, address_of(hold), bytes_of(hold),
                         SC_HOLDS_UNREGISTERED | SC_HOLDS_BY_GRAPH);
}

/* Does the hold (memory kept after a free) last until the program does something: destroys a graph
 * that uses the memory, or lets a registration go? Nobody can wait for that without the program. */
bool sc_holds_wait_for_program(struct sc_holds *holds, const struct sc_hold *hold)
{
    SC_ASSERT_GUARDED(&holds->pool);
    return (hold->by_graph && sc_graphs_name_memory(holds->graphs, address_of(hold), bytes_of(hold),
                                                    hold->kind == SC_HOLD_UNREGISTER)) ||
           waits_for_registration(holds, hold);
}

/* Is there an older hold (memory kept after a free) on the same memory that must end first? Frees
 * of one place go back in their order. The end of a registration waits for none, and a waiting
 * thread not for what only the program can end. */
static bool waits_for_older(struct sc_holds *holds, uint32_t id)
{
    const struct sc_hold *hold = sc_holds_at(holds, id);
    if (hold->kind == SC_HOLD_UNREGISTER)
        return false;
    SC_GRID_EACH (walk, &holds->grid, address_of(hold), bytes_of(hold)) {
        const struct sc_hold *older = sc_holds_at(holds, walk.id);
        if (older->age < hold->age && older->kind != SC_HOLD_UNREGISTER &&
            !(hold->kind == SC_HOLD_WAIT && sc_holds_wait_for_program(holds, older)))
            return true;
    }
    return false;
}

/* Returns the oldest hold whose memory can go back: its operations are complete, no graph uses it,
 * and no older hold (memory kept after a free) is on it. The caller is the only one to get it
 * (`releasing`). */
uint32_t sc_holds_take_ready(struct sc_holds *holds, uint64_t after_age)
{
    SC_ASSERT_GUARDED(&holds->pool);
    for (uint32_t id = holds->oldest; id; id = sc_holds_at(holds, id)->next) {
        struct sc_hold *hold = sc_holds_at(holds, id);
        if (hold->age > after_age && !hold->releasing && all_ops_complete(holds, hold) &&
            !sc_holds_wait_for_program(holds, hold) && !waits_for_older(holds, id)) {
            hold->releasing = true;
            return id;
        }
    }
    return 0;
}

/* The memory has gone back, or never will: drops the hold (memory kept after a free), lets go of
 * the streams that it names, and updates the peaks that the report shows. */
void sc_holds_remove(struct sc_holds *holds, uint32_t id, uint64_t now_ns)
{
    SC_ASSERT_GUARDED(&holds->pool);
    SC_TRACE("hold-remove hold age", id, sc_holds_at(holds, id)->age);
    struct sc_hold *hold = sc_holds_at(holds, id);
    SC_ASSERT(hold->age != 0 && hold->age <= holds->made);
    SC_ASSERT(holds->held_bytes >= held_bytes_of(hold));
    for (uint32_t i = 0; i < hold->ticket_count; i++)
        sc_order_unreference(holds->order, hold->tickets[i].stream);
    sc_arena_free(&holds->order->arena, hold->tickets,
                  hold->ticket_capacity * sizeof *hold->tickets);
    *(hold->previous ? &sc_holds_at(holds, hold->previous)->next : &holds->oldest) = hold->next;
    *(hold->next ? &sc_holds_at(holds, hold->next)->previous : &holds->newest) = hold->previous;
    if (now_ns - hold->since_ns > holds->held_peak_ns)
        holds->held_peak_ns = now_ns - hold->since_ns;
    holds->held_bytes -= held_bytes_of(hold);
    sc_grid_remove(&holds->grid, id);
    hold->age = 0;
    sc_pool_release(&holds->pool, id);
    SC_CHECK_OF(holds->pool.live, sc_consistency_of_holds(holds));
}

/* ---- what changes for holds that there are ---- */

/* The memory is about to become something else, so it does not help to keep it for graphs. */
void sc_holds_forget_graphs(struct sc_holds *holds, uintptr_t address, size_t size_bytes)
{
    SC_GRID_EACH (walk, &holds->grid, address, size_bytes ? size_bytes : 1)
        sc_holds_at(holds, walk.id)->by_graph = false;
}

/* The context has ended, so no graph of it can be launched: nothing is kept for one. */
void sc_holds_forget_graphs_of(struct sc_holds *holds, uint32_t context)
{
    for (uint32_t id = holds->oldest; id; id = sc_holds_at(holds, id)->next)
        if (sc_holds_at(holds, id)->context == context)
            sc_holds_at(holds, id)->by_graph = false;
}

/* A launch of a graph uses memory that was freed: its holds (memory kept after a free) wait for the
 * launch as well. A waiting thread need not. */
void sc_holds_require_in(struct sc_holds *holds, uintptr_t address, size_t size_bytes,
                         const struct sc_ticket *ticket)
{
    SC_GRID_EACH (walk, &holds->grid, address, size_bytes ? size_bytes : 1)
        if (sc_holds_at(holds, walk.id)->kind != SC_HOLD_WAIT)
            sc_holds_require(holds, walk.id, ticket);
}

/* A launch uses memory that is freed and held: stores the operations there that the launch has to
 * come after and does not yet. Two reads need no order. */
unsigned sc_holds_find_unordered(struct sc_holds *holds, const struct sc_op_info *info,
                                 struct sc_ticket *tickets, unsigned max)
{
    unsigned count = 0;
    SC_GRID_EACH (walk, &holds->grid, info->shape.address, sc_shape_hull_bytes(&info->shape)) {
        const struct sc_hold *hold = sc_holds_at(holds, walk.id);
        if (!hold->written && !sc_direction_writes_host(info->direction))
            continue;
        for (uint32_t i = 0; i < hold->ticket_count && count < max; i++)
            if (hold->tickets[i].stream != info->ticket.stream &&
                !sc_conflicts_is_ordered_after(holds->order, info, &hold->tickets[i]))
                tickets[count++] = hold->tickets[i];
    }
    return count;
}

/* Drops a hold (memory kept after a free) at the present moment: its memory has gone back. */
void sc_holds_end(struct sc_holds *holds, uint32_t hold)
{
    sc_holds_remove(holds, hold, sc_now_ns());
}

/* The caller that sc_holds_take_ready has given the hold (memory kept after a free) could not free
 * the memory now: another one may try. */
void sc_holds_put_back(struct sc_holds *holds, uint32_t hold)
{
    sc_holds_at(holds, hold)->releasing = false;
}

/* Copies what the caller needs when the record may have changed. */
struct sc_release sc_holds_describe(struct sc_holds *holds, uint32_t id)
{
    const struct sc_hold *hold = sc_holds_at(holds, id);
    return id ? (struct sc_release){.hold = id,
                                    .kind = hold->kind,
                                    .address = address_of(hold),
                                    .size_bytes = bytes_of(hold),
                                    .context = hold->context,
                                    .since_ns = hold->since_ns,
                                    .age = hold->age}
              : (struct sc_release){0};
}

/* A registration that is kept for a graph has to end now, since the program goes on to use the
 * memory. The caller is the only one to get the hold (`releasing`). */
struct sc_release sc_holds_take_unregistered(struct sc_holds *holds, uintptr_t address,
                                             size_t size_bytes)
{
    uint32_t found = 0;
    SC_ASSERT_GUARDED(&holds->pool);
    SC_GRID_EACH (walk, &holds->grid, address, size_bytes ? size_bytes : 1) {
        struct sc_hold *hold = sc_holds_at(holds, walk.id);
        if (!found && hold->kind == SC_HOLD_UNREGISTER && !hold->releasing) {
            hold->releasing = true;
            found = walk.id;
        }
    }
    return sc_holds_describe(holds, found);
}

/* Does the hold (memory kept after a free) exist still? Its id may be another hold's by now, but
 * its age (a serial number) is not. */
bool sc_holds_is_alive(struct sc_holds *holds, uint32_t hold, uint64_t age)
{
    return holds->oldest && sc_holds_at(holds, hold)->age == age;
}

/* A thread no longer waits for its hold (of kind SC_HOLD_WAIT): drops it, unless somebody is ending
 * it at this moment. */
void sc_holds_give_up(struct sc_holds *holds, uint32_t hold, uint64_t age)
{
    if (sc_holds_is_alive(holds, hold, age) && !sc_holds_at(holds, hold)->releasing)
        sc_holds_end(holds, hold);
}

/* The most that was held at a time, and the longest time, for the summary. */
struct sc_hold_totals sc_holds_totals(struct sc_holds *holds)
{
    return (struct sc_hold_totals){holds->held_peak_bytes, holds->held_peak_ns};
}

/* How many operations are holds (memory kept after a free) still waiting for? The reaper polls
 * while there are any. */
unsigned sc_holds_count_awaited(struct sc_holds *holds)
{
    unsigned count = 0;
    for (uint32_t id = holds->oldest; id; id = sc_holds_at(holds, id)->next)
        for (uint32_t i = 0; i < sc_holds_at(holds, id)->ticket_count; i++)
            count += !sc_order_complete(holds->order, &sc_holds_at(holds, id)->tickets[i]);
    return count;
}

struct latest_tickets {
    uint32_t after;
    struct sc_ticket *tickets;
    unsigned count, max;
};

/* Returns the place of the stream in the list, which is sorted by stream, or where it would be. */
static unsigned place_of_stream(const struct latest_tickets *latest, uint32_t stream)
{
    unsigned low = 0;
    unsigned high = latest->count;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (latest->tickets[middle].stream < stream)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Keeps the ticket (stream and number) if it is its stream's latest in the list. If the list is
 * full, a lower stream pushes the highest one out; the caller asks for that in its next round. */
static void keep_latest_ticket(struct latest_tickets *latest, const struct sc_ticket *ticket)
{
    unsigned place = place_of_stream(latest, ticket->stream);
    struct sc_ticket *entry = &latest->tickets[place];
    if (ticket->stream <= latest->after || place == latest->max)
        return;
    if (place < latest->count && entry->stream == ticket->stream) {
        if (entry->number < ticket->number)
            *entry = *ticket;
        return;
    }
    latest->count += latest->count < latest->max;
    memmove(entry + 1, entry, (latest->count - place - 1) * sizeof *entry);
    *entry = *ticket;
}

/* Lists what the reaper has to ask the device about: the latest operation of each stream that a
 * hold (memory kept after a free) waits for. The lowest streams come first, so that a caller with
 * little room goes on after the last one. */
unsigned sc_holds_list_awaited(struct sc_holds *holds, uint32_t after, struct sc_ticket *tickets,
                               unsigned max)
{
    struct latest_tickets latest = {after, tickets, 0, max};
    for (uint32_t id = holds->oldest; id; id = sc_holds_at(holds, id)->next)
        for (uint32_t i = 0; i < sc_holds_at(holds, id)->ticket_count; i++)
            if (!sc_order_complete(holds->order, &sc_holds_at(holds, id)->tickets[i]))
                keep_latest_ticket(&latest, &sc_holds_at(holds, id)->tickets[i]);
    return latest.count;
}

/* Will memory of the context go back to the driver as soon as its work is done? Then it is worth
 * the program's wait. Memory of malloc is given back by others. */
bool sc_holds_end_with_work(struct sc_holds *holds, uint32_t context)
{
    bool any = false;
    for (uint32_t id = holds->oldest; id && !any; id = sc_holds_at(holds, id)->next)
        any = sc_holds_at(holds, id)->context == context &&
              sc_hold_is_drivers(sc_holds_at(holds, id)->kind) &&
              !sc_holds_wait_for_program(holds, sc_holds_at(holds, id));
    return any;
}

/* Has the reaper (the library's thread that frees held memory) anything to wait for or to free?
 * Memory of the driver's is given back within calls of the program, so it is no work once its
 * operations are complete. */
bool sc_holds_have_work(struct sc_holds *holds)
{
    bool has_work = sc_holds_count_awaited(holds) != 0;
    for (uint32_t id = holds->oldest; id && !has_work; id = sc_holds_at(holds, id)->next)
        has_work = !sc_hold_is_drivers(sc_holds_at(holds, id)->kind) &&
                   !sc_holds_wait_for_program(holds, sc_holds_at(holds, id));
    return has_work;
}
