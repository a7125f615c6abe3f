/* The code that runs in the process which reads the files of a module (symbolizer.h). */
#ifndef SC_REPORT_COMMAND_SYMBOLIZER_SYMBOLIZER_CHILD_H
#define SC_REPORT_COMMAND_SYMBOLIZER_SYMBOLIZER_CHILD_H

#include "report/command/symbolizer/debug_files.h"
#include "report/command/symbolizer/debuginfod.h"
#include "report/command/symbolizer/symbolizer.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum sc_symbolizer_stage { SC_READS_NAMES, SC_READS_LINES };

/* How many messages one process may write to stderr. */
enum { SC_SYMBOLIZER_SAYINGS_MAX = 16 };

#define SC_SYMBOLIZER_MEMORY_MAX (UINT64_C(256) << 20)

/* A page of memory that the command shares with all such processes. Only one process at a time is
 * asked, and writes to it. */
struct sc_symbolizer_notes {
    _Atomic enum sc_symbolizer_stage stage;
    _Atomic bool is_full; /* the process has taken too much memory, and therefore ends */
    struct sc_debuginfod_shared servers;
};

struct sc_symbolizer_question {
    uint32_t count;
    bool with_lines;
    uint64_t offsets[SC_SYMBOLIZER_OFFSETS_MAX];
};

/* The messages that the process sends for a question: any number of lines to print, an answer for
 * each address in their order, and SC_MESSAGE_DONE. That may come before all addresses are
 * answered, but not before the first is. Before the process looks for source lines for the first
 * time, it sends the answer without them (SC_MESSAGE_NAME_ALONE). */
enum sc_symbolizer_message_kind {
    SC_MESSAGE_SAY,
    SC_MESSAGE_NAME_ALONE,
    SC_MESSAGE_ANSWER,
    SC_MESSAGE_DONE,
    SC_MESSAGE_NOTHING,
};
struct sc_symbolizer_message {
    uint32_t kind;
    uint32_t size; /* the size of the data that follows */
    uint64_t taken_bytes;
};

/* Answers the questions that arrive on the socket `fd` until it is closed. */
_Noreturn void sc_symbolizer_child_run(const struct sc_module_sought *sought,
                                       struct sc_symbolizer_notes *notes, int fd, pid_t parent);

#endif
