/* Keeps names of addresses in one module that were looked up before they were needed.
 *
 * To ask the process that reads a module takes as long as a hundred look-ups. So addresses that
 * will probably be needed are noted (announced), and a question includes some of them: at first
 * none, and twice as many each time. So no more is looked up in vain than was asked for. */
#ifndef SC_REPORT_COMMAND_ANSWERS_AHEAD_H
#define SC_REPORT_COMMAND_ANSWERS_AHEAD_H

#include "report/command/table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sc_answer_ahead;

/* All zero is empty. */
struct sc_answers_ahead {
    uint64_t *announced;
    size_t announced_count, announced_room;
    size_t count_max;      /* how many announced addresses the last question included */
    struct sc_table table; /* by address */
    struct sc_answer_ahead *first;
    struct sc_answer_ahead *taken; /* the answer that was taken last */
    size_t bytes;
};

void sc_answers_ahead_free(struct sc_answers_ahead *ahead);

/* Notes that `offset` will probably be needed. The offset that was announced last is looked up
 * first. */
void sc_answers_ahead_announce(struct sc_answers_ahead *ahead, uint64_t offset);

/* Stores in `offsets` the offset to ask about, and announced ones to include in the question: at
 * most `room`. Returns how many. */
size_t sc_answers_ahead_question(struct sc_answers_ahead *ahead, uint64_t offset, uint64_t *offsets,
                                 size_t room);

/* Stores the answer's bytes (symbolizer/symbol_answer.h) for `offset`. */
void sc_answers_ahead_put(struct sc_answers_ahead *ahead, uint64_t offset, const char *bytes,
                          size_t size);

/* Takes out the stored answer for `offset`: its bytes, valid until the next take. NULL: there is
 * none. */
const char *sc_answers_ahead_take(struct sc_answers_ahead *ahead, uint64_t offset, size_t *size);

#endif
