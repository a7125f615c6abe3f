#include "report/hazard_counts.h"

#include <string.h>

#include "common/checks.h"

#include "common/poison.h"

enum { SLOTS = 2 * SC_HAZARD_COUNTS_MAX };

static struct sc_hazard_counts entries[SC_HAZARD_COUNTS_MAX];
static unsigned entry_count;
static uint16_t slots[SLOTS]; /* index of an entry plus 1; 0 is free */

/* Does a stack tell where the hazard happened? With stacks=none neither side of it has one. */
static bool has_stacks(const struct sc_hazard *hazard)
{
    return hazard->copy.stack != 0 || hazard->event.stack != 0;
}

/* Are the two the same mistake, found again? They are if code and stacks are the same; without
 * stacks the names of the calls are compared. A hazard that says that a device has too little room
 * is a mistake of its own for each device. */
static bool are_equal(const struct sc_hazard *a, const struct sc_hazard *b)
{
    if (a->code != b->code || a->copy.stack != b->copy.stack || a->event.stack != b->event.stack ||
        (a->room_bytes && a->copy.device != b->copy.device))
        return false;
    return has_stacks(a) ||
           (strcmp(a->copy.api, b->copy.api) == 0 && strcmp(a->event.api, b->event.api) == 0);
}

/* Mixes a value into a hash (a step of Fibonacci hashing). */
static uint64_t mix_into(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

/* Mixes a string's bytes into a hash. */
static uint64_t mix_string(uint64_t hash, const char *string)
{
    for (; *string != '\0'; string++)
        hash = mix_into(hash, (unsigned char)*string);
    return hash;
}

/* Returns a hash that is the same for hazards that are_equal takes for equal. The device is not in
 * it: there are few. */
static uint64_t hash_of(const struct sc_hazard *hazard)
{
    uint64_t hash = mix_into(mix_into(hazard->code + 1, hazard->copy.stack), hazard->event.stack);
    if (has_stacks(hazard))
        return hash;
    return mix_string(mix_string(hash, hazard->copy.api), hazard->event.api);
}

/* Makes an entry for a hazard that is new, in the free `slot`. Returns NULL if the table is full:
 * such hazards are counted by code only, elsewhere. */
static struct sc_hazard_counts *add_entry(const struct sc_hazard *hazard, uint16_t *slot)
{
    if (entry_count == SC_HAZARD_COUNTS_MAX)
        return NULL;
    struct sc_hazard_counts *entry = &entries[entry_count++];
    *entry = (struct sc_hazard_counts){.first = *hazard, .count = 0};
    SC_ASSERT(*slot == 0);
    *slot = (uint16_t)entry_count;
    return entry;
}

/* Returns the slot that has the entry of the hazard's equals, or the free slot where that entry
 * belongs. */
static uint16_t *slot_of(const struct sc_hazard *hazard)
{
    for (uint64_t i = hash_of(hazard);; i++) {
        uint16_t *slot = &slots[i % SLOTS];
        if (*slot == 0 || are_equal(&entries[*slot - 1].first, hazard))
            return slot;
    }
}

/* Notes the label (the test, request or step that the program says it is in), and returns whether
 * it differs from the last equal hazard's. Then a line of the report is due, so that each test
 * that has the hazard is named. Labels of requests never end, so at most
 * SC_HAZARD_COUNTS_RELABELLED_MAX such lines are written. */
static bool note_label(struct sc_hazard_counts *entry, const struct sc_hazard *hazard)
{
    uint64_t label = mix_string(1, hazard->label);
    bool changes = entry->count > 1 && label != entry->label &&
                   entry->relabelled < SC_HAZARD_COUNTS_RELABELLED_MAX;
    entry->label = label;
    entry->relabelled += changes;
    return changes;
}

/* Counts the hazard with its equals. A line of the report is due (*telling) for the 1st, 2nd, 4th,
 * ... of them, so that a hazard in a loop does not fill the disk. It is also due if this one is
 * surer (observed after latent), or has a new label. */
const struct sc_hazard_counts *sc_hazard_counts_note(const struct sc_hazard *hazard, bool *telling)
{
    uint16_t *slot = slot_of(hazard);
    struct sc_hazard_counts *entry = *slot ? &entries[*slot - 1] : add_entry(hazard, slot);
    *telling = false;
    if (!entry)
        return NULL;
    bool stronger = hazard->certainty > entry->first.certainty;
    if (stronger)
        entry->first.certainty = hazard->certainty;
    entry->count++;
    bool relabelled = note_label(entry, hazard);
    *telling = stronger || relabelled || (entry->count & (entry->count - 1)) == 0; /* 1, 2, 4 */
    return entry;
}

/* Notes how long the copy still ran after the access that came too early, and keeps the longest
 * time among equal hazards. A hazard without an entry came when the table was full. */
void sc_hazard_counts_note_time(const struct sc_hazard *hazard, int64_t remaining_ns)
{
    uint16_t slot = *slot_of(hazard);
    if (slot == 0)
        return;
    SC_ASSERT(slot <= entry_count);
    struct sc_hazard_counts *entry = &entries[slot - 1];
    if (!entry->is_timed || remaining_ns > entry->remaining_ns)
        entry->remaining_ns = remaining_ns;
    entry->is_timed = true;
}

/* Notes where in the user's code the hazard happened (a hash), so that the summary shows a place
 * once. A hazard without an entry came when the table was full. */
void sc_hazard_counts_note_place(const struct sc_hazard *hazard, uint64_t place)
{
    uint16_t slot = *slot_of(hazard);
    if (slot != 0)
        entries[slot - 1].place = place;
}

/* Which comes first in the summary? Observed hazards (the copy was incomplete) before latent ones,
 * and then those that occurred most often. */
static bool matters_more(const struct sc_hazard_counts *a, const struct sc_hazard_counts *b)
{
    if (a->first.certainty != b->first.certainty)
        return a->first.certainty > b->first.certainty;
    return a->count > b->count;
}

/* Do both entries belong to one place of the user's code? An unknown place (0) is no other's. */
static bool are_at_one_place(const struct sc_hazard_counts *a, const struct sc_hazard_counts *b)
{
    return a->place != 0 && a->place == b->place;
}

/* Is no earlier entry at the same place? A place is listed once, with its first entry. */
static bool is_first_of_place(unsigned index)
{
    for (unsigned i = 0; i < index; i++) {
        if (are_at_one_place(&entries[i], &entries[index]))
            return false;
    }
    return true;
}

/* Adds up all entries of one place, of which `index` is the first: counts are summed, of times the
 * longest is kept. Code and stacks are those of the gravest entry. The label stays the first
 * entry's: the test that met the mistake first. */
static struct sc_hazard_counts merge_place(unsigned index)
{
    struct sc_hazard_counts merged = entries[index];
    const struct sc_hazard_counts *gravest = &entries[index];
    for (unsigned i = index + 1; i < entry_count; i++) {
        const struct sc_hazard_counts *entry = &entries[i];
        if (!are_at_one_place(entry, &entries[index]))
            continue;
        gravest = matters_more(entry, gravest) ? entry : gravest;
        merged.count += entry->count;
        if (entry->is_timed && (!merged.is_timed || entry->remaining_ns > merged.remaining_ns))
            merged.remaining_ns = entry->remaining_ns;
        merged.is_timed = merged.is_timed || entry->is_timed;
    }
    merged.first = gravest->first;
    memcpy(merged.first.label, entries[index].first.label, sizeof merged.first.label);
    return merged;
}

/* Stores the `most` gravest places in `top`, gravest first: each place is inserted before those
 * that matter less, and the last falls out of a full list. *places: how many places there are in
 * all. */
unsigned sc_hazard_counts_top(struct sc_hazard_counts *top, unsigned most, unsigned *places)
{
    unsigned count = 0;
    *places = 0;
    for (unsigned i = 0; i < entry_count; i++) {
        if (!is_first_of_place(i))
            continue;
        struct sc_hazard_counts place = merge_place(i);
        unsigned rank = count;
        ++*places;
        while (rank > 0 && matters_more(&place, &top[rank - 1]))
            rank--;
        if (rank == most)
            continue;
        if (count < most)
            count++;
        memmove(&top[rank + 1], &top[rank], (count - 1 - rank) * sizeof top[0]);
        top[rank] = place;
    }
    return count;
}

/* Empties the table, in a forked child: the hazards so far are its parent's. */
void sc_hazard_counts_forget(void)
{
    memset(slots, 0, sizeof slots);
    entry_count = 0;
}
