/* Writes the member `memory` of the summary line: who holds which memory, from a statement of the
 * ledger (ledger/statement.h).
 *
 * An owner is the library that made the call: that of the innermost frame which is neither CUDA's
 * driver nor its runtime library. */

/* Terms (docs/glossary.md):
 *   account: what one call stack has of one kind of memory at one place
 *   held: of memory: freed by the program, and kept by the library until the device is done
 *   ledger: which memory the process has, and which call stack asked for it
 */

#ifndef SC_REPORT_MEMORY_PART_H
#define SC_REPORT_MEMORY_PART_H

#include "ledger/statement.h"
#include "report/json_lines.h"

struct sc_text;

enum { SC_MEMORY_PART_NAME_BYTES = 64, SC_MEMORY_PART_OWNERS = 128 };

/* What an owner (the library that allocated it) has at one place, a device or the host. The last
 * of SC_MEMORY_PART_OWNERS entries also has what all further owners have. */
struct sc_memory_part_owner {
    unsigned place;
    char name[SC_MEMORY_PART_NAME_BYTES];
    uint64_t bytes, blocks, peak_bytes;
};

/* What a `memory` member is written from: a statement of the ledger (which memory the process
 * has), with the names in its stacks looked up and its owners added up. Too large for a stack:
 * callers map it. */
struct sc_memory_part {
    const struct sc_statement *statement;
    uint64_t time_ns;
    char owners_of[SC_STATEMENT_ACCOUNTS][SC_MEMORY_PART_NAME_BYTES]; /* of each account */
    /* those with most bytes come first */
    struct sc_memory_part_owner owners[SC_MEMORY_PART_OWNERS];
    unsigned owner_count;
    struct sc_json_lines_stack stacks[SC_STATEMENT_ACCOUNTS];
    struct sc_json_lines_stack mention_stacks[SC_STATEMENT_MENTIONS];
};

/* Looks up the names in the stacks, and the owners, of `statement`, which must live as long as
 * `part`: to be called before the report's lock is taken. Locks: takes the loader's lock. */
void sc_memory_part_name(const struct sc_statement *statement, struct sc_memory_part *part);

/* Writes the member `memory`, with at most `max` accounts (what one call stack has) and `max`
 * owners. Leaves out the last accounts and outer frames if they would leave less than `reserve`
 * bytes. */
void sc_memory_part_put(struct sc_text *line, const struct sc_memory_part *part, unsigned max,
                        size_t reserve);

/* Appends lines for people, one for each place that held memory, and one for each child process
 * that still runs and has a device open: "memory: device 0: 1.2 GB, 3 GB at most: PyTorch 1 GB,
 * NCCL 200 MB". */
void sc_memory_part_say(struct sc_text *text, const struct sc_memory_part *part);

/* Appends the largest owners at the place: ": PyTorch 1 GB, NCCL 200 MB"; nothing if no memory is
 * held there. */
void sc_memory_part_say_owners(struct sc_text *text, const struct sc_memory_part *part,
                               unsigned place);

#endif
