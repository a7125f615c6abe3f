#define _GNU_SOURCE 1
#include "report/command/answers_ahead.h"

#include <stdlib.h>
#include <string.h>

/* More is not kept, and no more asked for then. */
enum { KEPT_MAX_BYTES = 8 * 1024 * 1024, ANNOUNCED_MAX = 64 * 1024 };

struct sc_answer_ahead {
    struct sc_node node;
    struct sc_answer_ahead *next, **at; /* in the list of all */
    size_t size;
    char bytes[];
};

/* Removes the answer from the table and the list. */
static void drop(struct sc_answers_ahead *ahead, struct sc_answer_ahead *answer)
{
    sc_table_remove(&ahead->table, &answer->node);
    *answer->at = answer->next;
    if (answer->next)
        answer->next->at = answer->at;
    ahead->bytes -= answer->size;
}

/* Frees all answers that came ahead of their question, and the table; the struct is empty then. */
void sc_answers_ahead_free(struct sc_answers_ahead *ahead)
{
    while (ahead->first) {
        struct sc_answer_ahead *answer = ahead->first;
        drop(ahead, answer);
        free(answer);
    }
    sc_table_free(&ahead->table);
    free(ahead->taken);
    free(ahead->announced);
    *ahead = (struct sc_answers_ahead){0};
}

/* Records an offset that will be looked up, so that it can be sent with others. Beyond a limit
 * offsets are not recorded, and are looked up one by one. */
void sc_answers_ahead_announce(struct sc_answers_ahead *ahead, uint64_t offset)
{
    if (ahead->announced_count == ahead->announced_room) {
        size_t room = ahead->announced_room > 0 ? 2 * ahead->announced_room : 64;
        void *grown = room <= ANNOUNCED_MAX
                          ? realloc(ahead->announced, room * sizeof *ahead->announced)
                          : NULL;
        if (!grown)
            return;
        ahead->announced = grown;
        ahead->announced_room = room;
    }
    ahead->announced[ahead->announced_count++] = offset;
}

/* Makes the table's key of an offset. The table takes buckets by low bits, in which offsets of
 * code are alike, so the bits are mixed. */
static struct sc_digest digest_of(uint64_t offset)
{
    uint64_t product = offset * UINT64_C(0x9e3779b97f4a7c15);
    return (struct sc_digest){{product >> 32 | product << 32, offset}};
}

/* Returns the answer about the address at this offset of the module, if it has come already; NULL:
 * not yet. */
static struct sc_answer_ahead *find(const struct sc_answers_ahead *ahead, uint64_t offset)
{
    struct sc_digest digest = digest_of(offset);
    return (struct sc_answer_ahead *)(void *)sc_table_find(&ahead->table, &digest);
}

/* Lists the recorded offsets that are to be looked up together with this one, since one question
 * about many is quicker. Their number doubles from one question to the next. */
size_t sc_answers_ahead_question(struct sc_answers_ahead *ahead, uint64_t offset, uint64_t *offsets,
                                 size_t room)
{
    size_t count = 0, most = ahead->bytes < KEPT_MAX_BYTES ? 1 + ahead->count_max : 1;
    offsets[count++] = offset;
    while (count < most && count < room && ahead->announced_count > 0) {
        uint64_t next = ahead->announced[--ahead->announced_count];
        if (next != offset && next != 0 && !find(ahead, next))
            offsets[count++] = next;
    }
    ahead->count_max = 2 * ahead->count_max + 1;
    if (ahead->count_max > room)
        ahead->count_max = room;
    return count;
}

/* Stores the answer for an offset that nobody has looked up yet. */
void sc_answers_ahead_put(struct sc_answers_ahead *ahead, uint64_t offset, const char *bytes,
                          size_t size)
{
    struct sc_answer_ahead *answer = find(ahead, offset) ? NULL : malloc(sizeof *answer + size);
    if (!answer)
        return;
    *answer = (struct sc_answer_ahead){
        .node.digest = digest_of(offset), .next = ahead->first, .at = &ahead->first, .size = size};
    memcpy(answer->bytes, bytes, size);
    if (!sc_table_add(&ahead->table, &answer->node)) {
        free(answer);
        return;
    }
    if (answer->next)
        answer->next->at = &answer->next;
    ahead->first = answer;
    ahead->bytes += size;
}

/* Removes and returns the stored answer for the offset, which lives until the next call. Returns
 * NULL if there is none, so the symbolizer must be asked. */
const char *sc_answers_ahead_take(struct sc_answers_ahead *ahead, uint64_t offset, size_t *size)
{
    struct sc_answer_ahead *answer = find(ahead, offset);
    if (!answer)
        return NULL;
    drop(ahead, answer);
    free(ahead->taken);
    ahead->taken = answer;
    *size = answer->size;
    return answer->bytes;
}
