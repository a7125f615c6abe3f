#include "track/staging.h"

#include "track/poison.h"

enum { SMALL_BYTES = 4096, SLOTS_MIN = 8, TRIES_MAX = 4 };

/* The large class is as wide as the largest snapshot; there may be no need for one. */
static size_t slot_bytes(unsigned size_class, size_t snapshot_max_bytes)
{
    size_t rounded = (snapshot_max_bytes + SMALL_BYTES - 1) & ~(size_t)(SMALL_BYTES - 1);
    if (size_class == 0)
        return SMALL_BYTES;
    return rounded > SMALL_BYTES ? rounded : 0;
}

static size_t slot_count(unsigned size_class, size_t snapshot_max_bytes)
{
    size_t bytes = slot_bytes(size_class, snapshot_max_bytes);
    if (bytes == 0)
        return 0;
    size_t count = SC_STAGING_CLASS_BYTES / bytes;
    return count < SLOTS_MIN ? SLOTS_MIN : count;
}

size_t sc_staging_bytes(size_t snapshot_max_bytes)
{
    size_t bytes = 0;
    for (unsigned c = 0; c < SC_STAGING_CLASSES; c++)
        bytes += slot_count(c, snapshot_max_bytes) * slot_bytes(c, snapshot_max_bytes);
    return bytes;
}

size_t sc_staging_record_bytes(size_t snapshot_max_bytes)
{
    size_t count = 0;
    for (unsigned c = 0; c < SC_STAGING_CLASSES; c++)
        count += slot_count(c, snapshot_max_bytes);
    return count * sizeof(struct sc_slot);
}

static void append(struct sc_slot_list *list, struct sc_slot *slot)
{
    slot->next = NULL;
    if (list->last)
        list->last->next = slot;
    else
        list->first = slot;
    list->last = slot;
}

void sc_staging_init(struct sc_staging *staging, struct sc_order *order, size_t snapshot_max_bytes,
                     void *memory, struct sc_slot *records)
{
    char *bytes = memory;
    *staging = (struct sc_staging){.order = order};
    for (unsigned c = 0; c < SC_STAGING_CLASSES; c++) {
        struct sc_slot_list *list = &staging->classes[c];
        list->slot_bytes = slot_bytes(c, snapshot_max_bytes);
        for (size_t left = slot_count(c, snapshot_max_bytes); left; left--) {
            *records = (struct sc_slot){.bytes = bytes, .staging = staging, .size_class = c};
            append(list, records++);
            bytes += list->slot_bytes;
        }
    }
}

static void prepend(struct sc_slot_list *list, struct sc_slot *slot)
{
    slot->next = list->first;
    list->first = slot;
    if (!list->last)
        list->last = slot;
}

static struct sc_slot *pop(struct sc_slot_list *list)
{
    struct sc_slot *slot = list->first;
    list->first = slot->next;
    if (!list->first)
        list->last = NULL;
    return slot;
}

static bool is_complete(const struct sc_slot *slot)
{
    return !slot->ticket.stream || sc_order_complete(slot->staging->order, &slot->ticket);
}

/* One whose operation is still running goes to the end of the queue. */
static struct sc_slot *take_from(struct sc_slot_list *list)
{
    for (unsigned tries = 0; list->first && tries < TRIES_MAX; tries++) {
        struct sc_slot *slot = pop(list);
        if (is_complete(slot))
            return slot;
        append(list, slot);
    }
    return NULL;
}

struct sc_slot *sc_staging_take(struct sc_staging *staging, size_t size_bytes)
{
    struct sc_slot *slot = NULL;
    for (unsigned c = 0; c < SC_STAGING_CLASSES && !slot; c++)
        if (size_bytes <= staging->classes[c].slot_bytes)
            slot = take_from(&staging->classes[c]);
    return slot;
}

void sc_staging_give(struct sc_slot *slot, const struct sc_ticket *ticket)
{
    struct sc_slot_list *list = &slot->staging->classes[slot->size_class];
    slot->ticket = *ticket;
    if (is_complete(slot))
        prepend(list, slot);
    else
        append(list, slot);
}
