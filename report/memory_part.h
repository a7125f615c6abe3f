/* The member `memory` of the summary's line: who holds which memory, as the ledger says
 * (ledger/statement.h).
 *
 * An owner is the library whose frames made the call, the innermost one that CUDA's own driver and
 * run-time library are not.
 */
#ifndef SC_REPORT_MEMORY_PART_H
#define SC_REPORT_MEMORY_PART_H

#include "ledger/statement.h"
#include "report/json_lines.h"

struct sc_text;

enum { SC_MEMORY_PART_NAME_BYTES = 64, SC_MEMORY_PART_OWNERS = 128 };

/* What an owner has at one place. Where there are more than so many, the last one has the rest. */
struct sc_memory_part_owner {
    unsigned place;
    char name[SC_MEMORY_PART_NAME_BYTES];
    uint64_t bytes, blocks, peak_bytes;
};

/* The statement with its stacks named. */
struct sc_memory_part {
    const struct sc_statement *statement;
    uint64_t time_ns;
    char owners_of[SC_STATEMENT_ACCOUNTS][SC_MEMORY_PART_NAME_BYTES]; /* of each account */
    struct sc_memory_part_owner owners[SC_MEMORY_PART_OWNERS];        /* the largest come first */
    unsigned owner_count;
    struct sc_json_lines_stack stacks[SC_STATEMENT_ACCOUNTS];
    struct sc_json_lines_stack mention_stacks[SC_STATEMENT_MENTIONS];
};

/* Locks: takes the loader's lock. */
void sc_memory_part_name(const struct sc_statement *statement, struct sc_memory_part *part);

/* The member, with so many accounts and owners at most. What leaves less than `reserve` bytes is
 * left out: the last accounts, outer frames. */
void sc_memory_part_put(struct sc_text *line, const struct sc_memory_part *part, unsigned max,
                        size_t reserve);

/* A line for people: "device 0 holds 1.2 GB, 3 GB at most: PyTorch 1 GB, NCCL 200 MB". */
void sc_memory_part_say(struct sc_text *text, const struct sc_memory_part *part);

/* ": PyTorch 1 GB, NCCL 200 MB", nothing where nobody has any. */
void sc_memory_part_say_owners(struct sc_text *text, const struct sc_memory_part *part,
                               unsigned place);

#endif
