#include "track/staging.h"

#include "common/checks.h"
#include "track/order.h"

#include "common/poison.h"

enum {
    SMALL_BYTES = 4096,
    MIDDLE_BYTES = 32 << 10,
    NEXT_MAX_BYTES = 16 << 20,
    SLOTS_MIN = 8,
    TRIES_MAX = 4
};

/* How many slots (places of snapshots) does the next block have? As many as all before it together,
 * so that there are few blocks: to have the driver register one takes as long as a hundred
 * snapshots, while threads wait for the driver. */
static size_t next_block_slots(const struct sc_slot_list *list)
{
    size_t bytes = list->bytes < NEXT_MAX_BYTES ? list->bytes : NEXT_MAX_BYTES;
    size_t count = (bytes ? bytes : SC_STAGING_BLOCK_BYTES) / list->slot_bytes;
    return count < SLOTS_MIN ? SLOTS_MIN : count;
}

/* How many bytes may all slots (places of snapshots) of this size have? Of large ones twice as
 * many. */
static size_t most_bytes(const struct sc_slot_list *list)
{
    return (size_t)SC_STAGING_CLASS_MAX << (list->slot_bytes > MIDDLE_BYTES);
}

/* Adds a slot (the place of a snapshot) at the end of the list, for one that the device may still
 * read. */
static void append_slot(struct sc_slot_list *list, struct sc_slot *slot)
{
    slot->next = NULL;
    if (list->last)
        list->last->next = slot;
    else
        list->first = slot;
    list->last = slot;
}

/* Adds a free slot (the place of a snapshot) in front of the list: it is taken next, while it is in
 * the processor's cache. */
static void prepend_slot(struct sc_slot_list *list, struct sc_slot *slot)
{
    slot->next = list->first;
    list->first = slot;
    if (!list->last)
        list->last = slot;
}

/* Initialises the memory for snapshots, without any yet. Slots have a few sizes; the largest size
 * is that of the largest snapshot. */
void sc_staging_init(struct sc_staging *staging, struct sc_order *order, size_t snapshot_max_bytes)
{
    static const size_t sizes[SC_STAGING_CLASSES] = {SMALL_BYTES, MIDDLE_BYTES, 64 << 10, SIZE_MAX};
    size_t rounded = (snapshot_max_bytes + SMALL_BYTES - 1) & ~(size_t)(SMALL_BYTES - 1);
    *staging = (struct sc_staging){.order = order};
    staging->classes[0].slot_bytes = SMALL_BYTES;
    for (unsigned c = 1; c < SC_STAGING_CLASSES && rounded > sizes[c - 1]; c++)
        staging->classes[c].slot_bytes = rounded < sizes[c] ? rounded : sizes[c];
}

/* Returns the smallest class (size of slots) for this size; SC_STAGING_CLASSES: no class is so
 * large. */
static unsigned class_of(const struct sc_staging *staging, size_t size_bytes)
{
    unsigned size_class = 0;
    while (size_class < SC_STAGING_CLASSES && staging->classes[size_class].slot_bytes < size_bytes)
        size_class++;
    return size_class;
}

/* How large is the next block whose slots (places of snapshots) hold snapshots of this size? False:
 * there may be no more of them, or no slot is so large. */
bool sc_staging_next_block(const struct sc_staging *staging, size_t size_bytes,
                           struct sc_staging_block *block)
{
    unsigned size_class = class_of(staging, size_bytes);
    if (size_class == SC_STAGING_CLASSES)
        return false;
    const struct sc_slot_list *list = &staging->classes[size_class];
    block->size_class = size_class;
    block->bytes = next_block_slots(list) * list->slot_bytes;
    block->record_bytes = next_block_slots(list) * sizeof(struct sc_slot);
    return list->bytes + block->bytes <= most_bytes(list);
}

/* The caller has memory that the device can read: cuts it into slots (places of snapshots), and
 * adds them to the list of their size. */
void sc_staging_add(struct sc_staging *staging, const struct sc_staging_block *block, void *memory,
                    struct sc_slot *records)
{
    struct sc_slot_list *list = &staging->classes[block->size_class];
    char *bytes = memory;
    for (size_t left = block->bytes / list->slot_bytes; left; left--, bytes += list->slot_bytes) {
        *records =
            (struct sc_slot){.bytes = bytes, .staging = staging, .size_class = block->size_class};
        prepend_slot(list, records++);
    }
    list->bytes += block->bytes;
}

/* Takes the first slot (the place of a snapshot) out of the list, which is not empty. */
static struct sc_slot *pop_slot(struct sc_slot_list *list)
{
    struct sc_slot *slot = list->first;
    SC_ASSERT(slot != NULL && list->last != NULL);
    SC_ASSERT(slot->next != NULL || slot == list->last);
    list->first = slot->next;
    if (!list->first)
        list->last = NULL;
    return slot;
}

/* Is the operation that last read the slot (the place of a snapshot) complete, so that the slot may
 * be written? A slot without a stream was never read. */
static inline bool is_complete(const struct sc_slot *slot)
{
    return !slot->ticket.stream || sc_order_complete(slot->staging->order, &slot->ticket);
}

/* The slot's last operation is complete: its stream's id, which the ticket (stream and number)
 * names, may be given to another one. */
static void release_stream(struct sc_slot *slot)
{
    if (slot->has_stream)
        sc_order_unreference(slot->staging->order, slot->ticket.stream);
    slot->has_stream = false;
}

/* Takes a slot (the place of a snapshot) out of the list that the device no longer reads; NULL: the
 * first few are all still read. Those move to the end, where their turn comes later. */
static struct sc_slot *pop_complete_slot(struct sc_slot_list *list)
{
    for (unsigned tries = 0; list->first && tries < TRIES_MAX; tries++) {
        struct sc_slot *slot = pop_slot(list);
        if (is_complete(slot)) {
            release_stream(slot);
            return slot;
        }
        append_slot(list, slot);
    }
    return NULL;
}

/* Removes a block, whose memory the caller wants to free. Returns false, having done nothing,
 * unless all of its slots (places of snapshots) are free and no longer read. */
bool sc_staging_remove(struct sc_staging *staging, const struct sc_slot *records, size_t bytes)
{
    struct sc_slot_list *list = &staging->classes[records->size_class];
    struct sc_slot *slot = list->first, *next;
    size_t count = bytes / list->slot_bytes, unread = 0;
    for (; slot; slot = slot->next)
        unread += slot >= records && slot < records + count && is_complete(slot);
    if (unread != count)
        return false;
    slot = list->first;
    list->first = list->last = NULL;
    for (; slot; slot = next) {
        next = slot->next;
        if (slot >= records && slot < records + count)
            release_stream(slot);
        else
            append_slot(list, slot);
    }
    list->bytes -= bytes;
    return true;
}

/* Counts the slots (places of snapshots) that are given out. Changes under the lock only; whoever
 * frees the memory reads it without. */
static void count_taken(struct sc_staging *staging, int by)
{
    unsigned taken = atomic_load_explicit(&staging->taken, memory_order_relaxed);
    atomic_store_explicit(&staging->taken, taken + (unsigned)by, memory_order_release);
}

/* Takes a free slot (the place of a snapshot) for a snapshot of this size: the smallest that is
 * large enough, and a larger one rather than none. */
struct sc_slot *sc_staging_take(struct sc_staging *staging, size_t size_bytes)
{
    struct sc_slot *slot = NULL;
    for (unsigned c = 0; c < SC_STAGING_CLASSES && !slot; c++)
        if (size_bytes <= staging->classes[c].slot_bytes)
            slot = pop_complete_slot(&staging->classes[c]);
    if (slot)
        count_taken(staging, 1);
    return slot;
}

/* Gives the slot (the place of a snapshot) back to the list of its size: in front, or at the end if
 * the device may still read it. Then it keeps its stream's id from being given to another stream.
 */
static void add_to_list(struct sc_slot *slot, bool complete)
{
    SC_ASSERT(slot->size_class < SC_STAGING_CLASSES && !slot->has_stream);
    SC_ASSERT(atomic_load_explicit(&slot->staging->taken, memory_order_relaxed) != 0);
    struct sc_slot_list *list = &slot->staging->classes[slot->size_class];
    SC_ASSERT(slot != list->first && slot != list->last);
    if (complete) {
        prepend_slot(list, slot);
    } else {
        append_slot(list, slot);
        sc_order_reference(slot->staging->order, slot->ticket.stream);
        slot->has_stream = true;
    }
    count_taken(slot->staging, -1); /* last: then the record may be freed */
}

/* Gives back the slot (the place of a snapshot) of an operation, which the device may still read.
 */
void sc_staging_release(struct sc_slot *slot, const struct sc_ticket *ticket)
{
    slot->ticket = *ticket;
    add_to_list(slot, is_complete(slot));
}

/* ---- what streams keep ---- */

/* Returns where the stream keeps a slot (the place of a snapshot) of this size for its next
 * snapshot. */
static _Atomic(struct sc_slot *) *kept_by(struct sc_order *order, uint32_t stream, unsigned c)
{
    return &sc_order_stream(order, stream)->kept_slots[c];
}

/* May a stream keep a slot (the place of a snapshot) of this size without taking it from others:
 * are some free, or may a block be added? */
static bool can_spare(const struct sc_slot *slot)
{
    const struct sc_slot_list *list = &slot->staging->classes[slot->size_class];
    return list->first || list->bytes + SC_STAGING_BLOCK_BYTES <= most_bytes(list);
}

/* Has the stream keep the slot (the place of a snapshot). Returns false if it keeps another one:
 * threads without the lock take and set it, too. */
static bool set_kept(_Atomic(struct sc_slot *) *kept, struct sc_slot *slot)
{
    struct sc_slot *none = NULL;
    return atomic_compare_exchange_strong_explicit(kept, &none, slot, memory_order_release,
                                                   memory_order_relaxed);
}

/* May the stream keep a slot (the place of a snapshot) of this size? Not if it keeps one, nor if it
 * is removed: nobody would take the slot. */
static inline bool may_keep(struct sc_stream *stream, const struct sc_slot *slot)
{
    return !atomic_load_explicit(&stream->kept_slots[slot->size_class], memory_order_relaxed) &&
           !stream->removed && can_spare(slot);
}

/* Gives back a slot (the place of a snapshot) that was taken and that no operation has read since:
 * its last ticket (stream and number) holds. */
void sc_staging_put_back(struct sc_slot *slot)
{
    struct sc_ticket unused = slot->ticket;
    sc_staging_release(slot, &unused);
}

/* Gives back the slot (the place of a snapshot) of an operation. If the device has read it, the
 * stream keeps it for its next snapshot, where it is still in the cache and found without the lock.
 */
void sc_staging_release_to_stream(struct sc_slot *slot, const struct sc_ticket *ticket)
{
    struct sc_stream *stream = sc_order_stream(slot->staging->order, ticket->stream);
    slot->ticket = *ticket;
    bool complete = is_complete(slot);
    if (complete && may_keep(stream, slot) && set_kept(&stream->kept_slots[slot->size_class], slot))
        return;
    add_to_list(slot, complete);
}

/* Takes the slot (the place of a snapshot) of this size that the stream keeps, without the lock;
 * NULL: none. It may be of another context's memory, which the device cannot read here: then the
 * stream gets it back, unless it has another one by now (the slot is lost then, which is rare). */
struct sc_slot *sc_staging_take_kept(struct sc_staging *staging, uint32_t stream, size_t size_bytes)
{
    unsigned c = class_of(staging, size_bytes);
    if (c == SC_STAGING_CLASSES)
        return NULL;
    _Atomic(struct sc_slot *) *kept = kept_by(staging->order, stream, c);
    struct sc_slot *none = NULL;
    struct sc_slot *slot = atomic_load_explicit(kept, memory_order_relaxed)
                               ? atomic_exchange_explicit(kept, NULL, memory_order_acquire)
                               : NULL;
    if (!slot || slot->staging == staging)
        return slot;
    atomic_compare_exchange_strong_explicit(kept, &none, slot, memory_order_release,
                                            memory_order_relaxed);
    return NULL;
}

/* The stream's slot (the place of a snapshot) was taken for a snapshot: has it keep another free
 * one for the next snapshot. */
void sc_staging_refill_kept(const struct sc_slot *slot, uint32_t id)
{
    struct sc_staging *staging = slot->staging;
    struct sc_stream *stream = sc_order_stream(staging->order, id);
    struct sc_slot *next =
        may_keep(stream, slot) ? pop_complete_slot(&staging->classes[slot->size_class]) : NULL;
    if (!next)
        return;
    count_taken(staging, 1);
    if (!set_kept(&stream->kept_slots[slot->size_class], next))
        sc_staging_put_back(next);
}

/* Gives back the slots (places of snapshots) that a stream keeps: it is about to be removed, or
 * slots are wanting. */
void sc_staging_release_kept(struct sc_order *order, uint32_t stream)
{
    for (unsigned c = 0; c < SC_STAGING_CLASSES; c++) {
        struct sc_slot *slot =
            atomic_exchange_explicit(kept_by(order, stream, c), NULL, memory_order_acquire);
        if (slot)
            sc_staging_release(slot, &(struct sc_ticket){0});
    }
}

/* Slots are wanting, or the memory ends: gives back those that all streams keep. */
void sc_staging_release_all_kept(struct sc_order *order)
{
    for (uint32_t id = 1; id < sc_pool_first_unused(&order->streams); id++)
        sc_staging_release_kept(order, id);
}

/* The memory for snapshots ends: gives back what streams keep, and lets go of the streams that
 * slots (places of snapshots) name. */
void sc_staging_end(struct sc_staging *staging)
{
    sc_staging_release_all_kept(staging->order);
    for (unsigned c = 0; c < SC_STAGING_CLASSES; c++)
        for (struct sc_slot *slot = staging->classes[c].first; slot; slot = slot->next)
            release_stream(slot);
}
