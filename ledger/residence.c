#include "ledger/residence.h"

#include <string.h>

#include "common/checks.h"

#include "common/poison.h"

struct sc_residence sc_residence;

/* What one record of a fault stands for, in memory that a device is the first to touch: 5 MB where
 * it touches all, and up to 13 MB (docs/driver.md). */
enum { FAULTED_BYTES = 8 << 20 };

/* Returns the first address after the part. */
static uint64_t end_of(const struct sc_residence_part *part)
{
    return part->address + part->size_bytes;
}

/* Returns the index of the first part that ends after the address, by a binary search: parts are
 * sorted by address. It contains the address, or is the next one; `count`: there is none. */
static uint32_t find_locked(const struct sc_residence *residence, uint64_t address)
{
    uint32_t low = 0, high = residence->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (end_of(&residence->parts[middle]) > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Inserts the part at index `at` of the sorted list. False: the list is full. */
static bool insert_locked(struct sc_residence *residence, uint32_t at,
                          const struct sc_residence_part *part)
{
    SC_ASSERT(at <= residence->count);
    if (residence->count == SC_RESIDENCE_PARTS)
        return false;
    struct sc_residence_part *there = &residence->parts[at];
    memmove(there + 1, there, (residence->count++ - at) * sizeof *there);
    *there = *part;
    return true;
}

/* Adds to the sum of all managed memory, which is read without the lock. */
static void add_bytes(struct sc_residence *residence, uint64_t bytes)
{
    atomic_fetch_add_explicit(&residence->bytes, bytes, memory_order_relaxed);
}

/* Removes part `at` from the list, and its bytes from the sum. */
static void remove_locked(struct sc_residence *residence, uint32_t at)
{
    SC_ASSERT(at < residence->count);
    struct sc_residence_part *there = &residence->parts[at];
    add_bytes(residence, -there->size_bytes);
    memmove(there, there + 1, (--residence->count - at) * sizeof *there);
}

/* ---- blocks ---- */

/* Returns the bit of the device that had the part's pages last; 0: none was seen to. */
static uint32_t user_bit(const struct sc_residence_part *part)
{
    return part->user ? 1u << (part->user - 1) : 0;
}

/* Memory was freed on these devices (a bit for each), so they have room again: parts whose pages
 * were evicted from them no longer count for them. */
static void forget_evicted_locked(struct sc_residence *residence, uint32_t devices)
{
    for (uint32_t i = 0; devices && i < residence->count; i++) {
        struct sc_residence_part *part = &residence->parts[i];
        if (part->is_evicted && user_bit(part) & devices) {
            part->user = 0;
            part->is_evicted = false;
        }
    }
}

/* Removes all parts of the block that begins at the address; does nothing if none does. The devices
 * that had its pages have room again. */
static void take_block_locked(struct sc_residence *residence, uint64_t address)
{
    uint32_t at = find_locked(residence, address);
    if (at == residence->count || residence->parts[at].address != address)
        return;
    uint64_t block = residence->parts[at].block;
    uint32_t users = 0;
    for (; at < residence->count && residence->parts[at].block == block;
         remove_locked(residence, at))
        users |= user_bit(&residence->parts[at]);
    forget_evicted_locked(residence, users);
}

/* Enters a new block as one part. Parts that are known in its interval belong to a block whose free
 * the library did not see, and are removed. Without room the block is not watched. */
void sc_residence_given(struct sc_residence *residence, const struct sc_residence_part *block)
{
    struct sc_residence_part part = *block;
    SC_LOCKED_BRIEFLY(&residence->lock);
    uint32_t at = find_locked(residence, part.address);
    while (at < residence->count && residence->parts[at].address < end_of(&part))
        remove_locked(residence, at);
    part.block = part.order = ++residence->ever;
    if (insert_locked(residence, at, &part))
        add_bytes(residence, part.size_bytes);
}

/* Removes the block that begins at the address, which is about to be freed. */
void sc_residence_taken(struct sc_residence *residence, uint64_t address)
{
    SC_LOCKED_BRIEFLY(&residence->lock);
    take_block_locked(residence, address);
}

/* Removes all blocks of a context that has ended: their memory has ended with it. */
void sc_residence_end_context(struct sc_residence *residence, uint32_t context)
{
    SC_LOCKED_BRIEFLY(&residence->lock);
    for (uint32_t i = residence->count; i > 0; i--)
        if (residence->parts[i - 1].context == context)
            remove_locked(residence, i - 1);
}

/* ---- parts ---- */

/* Cuts the part that contains the address in two, so that one begins there. False: there is no room
 * for one more. */
static bool cut_locked(struct sc_residence *residence, uint64_t address)
{
    uint32_t at = find_locked(residence, address);
    if (at == residence->count || residence->parts[at].address >= address)
        return true;
    struct sc_residence_part behind = residence->parts[at];
    behind.size_bytes = end_of(&behind) - address;
    behind.address = address;
    if (!insert_locked(residence, at + 1, &behind))
        return false;
    residence->parts[at].size_bytes -= behind.size_bytes;
    return true;
}

/* Do both parts belong to one block, and is the same known of them? Then they can be one part. */
static bool are_alike(const struct sc_residence_part *a, const struct sc_residence_part *b)
{
    return a->block == b->block && a->place == b->place && a->user == b->user &&
           a->is_evicted == b->is_evicted;
}

/* Joins the part with the next one if both are of one block and the same is known of them; the
 * later advice counts for both. So the list stays short. */
static void join_locked(struct sc_residence *residence, uint32_t at)
{
    struct sc_residence_part *part = &residence->parts[at];
    if (at + 1 >= residence->count || !are_alike(part, part + 1))
        return;
    uint64_t bytes = part[1].size_bytes;
    part->size_bytes += bytes;
    if (part[1].order > part->order) {
        part->order = part[1].order;
        part->asked_by = part[1].asked_by;
    }
    add_bytes(residence, bytes);
    remove_locked(residence, at + 1);
}

/* Cuts parts at both ends of the interval, so that parts lie within it as a whole. *from: the index
 * of the first one. False: there was no room for a cut, and a part may reach beyond. */
static bool cut_out_locked(struct sc_residence *residence, uint64_t address, uint64_t end,
                           uint32_t *from)
{
    bool is_cut = cut_locked(residence, address);
    is_cut = cut_locked(residence, end) && is_cut;
    *from = find_locked(residence, address);
    return is_cut;
}

/* Joins adjacent parts from index `from` to `to` and their neighbours, where the same is known of
 * both. */
static void join_all_locked(struct sc_residence *residence, uint32_t from, uint32_t to)
{
    for (uint32_t i = to; i > from; i--)
        join_locked(residence, i - 1);
    if (from > 0)
        join_locked(residence, from - 1);
}

/* Notes where the program wants these bytes to lie. Parts that could not be cut count as unknown,
 * since only some of their bytes were advised. Of bytes that no device is to have (NOWHERE), it is
 * forgotten which had them. */
void sc_residence_note_advice(struct sc_residence *residence, uint64_t address, uint64_t size_bytes,
                              int place, uint32_t asked_by)
{
    uint64_t end = address + size_bytes;
    uint32_t from;
    SC_LOCKED_BRIEFLY(&residence->lock);
    bool is_cut = cut_out_locked(residence, address, end, &from);
    uint32_t at = from;
    uint64_t order = ++residence->ever;
    for (; at < residence->count && residence->parts[at].address < end; at++) {
        struct sc_residence_part *part = &residence->parts[at];
        part->place = is_cut ? place : SC_RESIDENCE_UNKNOWN;
        part->asked_by = place == SC_RESIDENCE_ANYWHERE ? 0 : asked_by;
        part->order = order;
        if (part->place != SC_RESIDENCE_NOWHERE)
            continue;
        part->user = 0;
        part->is_evicted = false;
    }
    join_all_locked(residence, from, at);
}

/* ---- what is told of pages ---- */

struct range {
    uint64_t address, end;
};

/* Chooses the pages that a record of a fault stands for, in the block of part `at`. Such a record
 * does not say which pages have moved, and only some faults have one. So the next FAULTED_BYTES of
 * the block that no device is known to have are chosen, from the fault on and then from the block's
 * start. If another device has the faulted page, or all are known, only that page is meant. */
static void choose_faulted_locked(const struct sc_residence *residence, uint32_t at, unsigned user,
                                  struct range *range)
{
    const struct sc_residence_part *parts = residence->parts;
    uint32_t first = at;
    if (parts[at].user && parts[at].user != user)
        return;
    while (first > 0 && parts[first - 1].block == parts[at].block)
        first--;
    uint32_t i = at;
    while (i < residence->count && parts[i].block == parts[at].block && parts[i].user)
        i++;
    if (i == residence->count || parts[i].block != parts[at].block)
        for (i = first; i < at && parts[i].user;)
            i++;
    if (parts[i].user)
        return;
    range->address = i == at ? range->address : parts[i].address;
    range->end = end_of(&parts[i]);
    if (range->end - range->address > FAULTED_BYTES)
        range->end = range->address + FAULTED_BYTES;
}

/* Notes for the bytes in the range that the device `user` (plus 1) has them now, or, after news of
 * leaving, that none has. Only for the reported block, and only if the parts could be cut. */
static void move_locked(struct sc_residence *residence, enum sc_residence_news news,
                        const struct range *range, uint64_t block, unsigned user)
{
    uint32_t from;
    bool is_cut = cut_out_locked(residence, range->address, range->end, &from);
    uint32_t at = from;
    for (; at < residence->count && residence->parts[at].address < range->end; at++) {
        struct sc_residence_part *part = &residence->parts[at];
        if (!is_cut || part->block != block)
            continue;
        part->user = news == SC_RESIDENCE_LEAVE ? 0 : (uint16_t)user;
        part->is_evicted = news == SC_RESIDENCE_EVICTED;
    }
    join_all_locked(residence, from, at);
}

/* Notes that CUPTI has reported pages of managed memory to have moved, or a device to have accessed
 * them. Pages of a block that is not watched, and devices beyond the last number, are left out. */
void sc_residence_note_news(struct sc_residence *residence, enum sc_residence_news news,
                            uint64_t address, uint64_t size_bytes, unsigned device)
{
    struct range range = {address, address + size_bytes};
    if (device >= SC_LEDGER_DEVICES || size_bytes == 0)
        return;
    SC_LOCKED_BRIEFLY(&residence->lock);
    uint32_t at = find_locked(residence, address);
    if (at < residence->count && residence->parts[at].address <= address) {
        if (news == SC_RESIDENCE_FAULT)
            choose_faulted_locked(residence, at, device + 1, &range);
        move_locked(residence, news, &range, residence->parts[at].block, device + 1);
    }
}

/* ---- sums ---- */

/* Is the device meant to hold the part? By the latest advice; without any, as the device that had
 * its pages last; else as `only_device`, the only one on which the program works. What no device is
 * to have (NOWHERE) counts for one only when it is seen to have its pages. */
static bool is_to_hold(const struct sc_residence_part *part, int device, int only_device)
{
    if (part->place != SC_RESIDENCE_ANYWHERE && part->place != SC_RESIDENCE_NOWHERE)
        return part->place == device;
    return part->user ? part->user == device + 1
                      : part->place == SC_RESIDENCE_ANYWHERE && only_device == device;
}

/* Adds the part to the sum. Parts of a block follow each other, so a block is counted with its
 * first part. */
static void add_part(struct sc_residence_sum *sum, const struct sc_residence_part *part)
{
    sum->bytes += part->size_bytes;
    sum->asked_bytes += part->place >= 0 ? part->size_bytes : 0;
    sum->evicted_bytes += part->is_evicted ? part->size_bytes : 0;
    sum->blocks += sum->last_block != part->block;
    sum->last_block = part->block;
    if (part->size_bytes > sum->largest.size_bytes)
        sum->largest = *part;
    if (part->order >= sum->latest.order)
        sum->latest = *part;
}

/* Adds up the managed memory that is meant to lie on the device. Memory of which nothing is known
 * counts for `only_device`, the only one on which the program works (-1: there are several). */
void sc_residence_sum(struct sc_residence *residence, int device, int only_device,
                      struct sc_residence_sum *sum)
{
    memset(sum, 0, sizeof *sum);
    SC_LOCKED_BRIEFLY(&residence->lock);
    for (uint32_t i = 0; i < residence->count; i++)
        if (is_to_hold(&residence->parts[i], device, only_device))
            add_part(sum, &residence->parts[i]);
}

/* Adds up how much managed memory is meant to lie at each place by advice or prefetch, and not by
 * where its pages were last. */
void sc_residence_advised_bytes(struct sc_residence *residence, uint64_t bytes[SC_LEDGER_PLACES])
{
    memset(bytes, 0, SC_LEDGER_PLACES * sizeof *bytes);
    SC_LOCKED_BRIEFLY(&residence->lock);
    for (uint32_t i = 0; i < residence->count; i++) {
        int place = residence->parts[i].place;
        if (place == SC_RESIDENCE_HOST)
            bytes[SC_LEDGER_HOST] += residence->parts[i].size_bytes;
        else if (place >= 0 && place < SC_LEDGER_DEVICES)
            bytes[place] += residence->parts[i].size_bytes;
    }
}
