/* Suppressions: a file of named entries, each of which leaves out some hazards.
 *
 * docs/suppressions.md has the grammar. The library and the command share the parser and the
 * matcher. Both are pure: no allocation, no I/O, no lock, no locale. An entry's members point into
 * the file's text, which the caller keeps as long as the entries.
 */
#ifndef SC_REPORT_SUPPRESSIONS_H
#define SC_REPORT_SUPPRESSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SC_SUPPRESSIONS_MAX = 1024, SC_SUPPRESSIONS_FILE_MAX_BYTES = 1 << 20 };

/* The words that a suggested entry has in place of its reason. An entry that still has them is
 * rejected. */
#define SC_SUPPRESSIONS_NO_REASON "say here why this is left out"

/* A part of the text; not terminated. */
struct sc_part {
    const char *bytes;
    size_t length; /* 0: the entry does not say */
};

struct sc_suppression {
    struct sc_part name, code, reason;
    struct sc_part copy, event; /* patterns of frames, innermost first */
    bool is_expired; /* its last day was over when the file was read: it covers nothing */
    uint64_t used;   /* for the caller to count with; 0 at first */
};

/* Is called with each mistake in the file. `what` says which mistake, without the file's name, and
 * is valid during the call. Lines, and bytes of a line, count from 1. */
typedef void sc_suppressions_complain(void *context, unsigned line, unsigned column,
                                      const char *what);

/* Reads the entries of `text` into `entries`, `most` at most. Which have expired is judged at
 * `now_s`, in seconds since 1970. A malformed entry is left out, and `complain` is told of its
 * first mistake. Returns how many entries were read. */
unsigned sc_suppressions_parse(const char *text, size_t size, int64_t now_s,
                               struct sc_suppression *entries, unsigned most,
                               sc_suppressions_complain *complain, void *context);

/* What a pattern may ask of a frame. */
enum sc_frame_word {
    SC_FRAME_FUNCTION, /* fun: the mangled name of the function */
    SC_FRAME_OBJECT,   /* obj: the path of the module */
    SC_FRAME_SOURCE,   /* src: FILE:LINE */
    SC_FRAME_PYTHON,   /* py: FILE:FUNCTION of a Python frame */
};

/* A stack as the matcher sees it, innermost frame first. `word` returns a frame's function, file or
 * module, whichever the pattern asks for; NULL: not known. The answer is valid until the next
 * question. */
struct sc_suppression_stack {
    unsigned count;
    const char *(*word)(void *context, unsigned frame, enum sc_frame_word word);
    void *context;
};

/* Does the entry leave out a hazard of this code ("SC201") with these stacks? */
bool sc_suppressions_covers(const struct sc_suppression *entry, const char *code,
                            const struct sc_suppression_stack *copy,
                            const struct sc_suppression_stack *event);

/* The entry's first pattern that is not "..."; empty if there is none. The entry can only cover
 * hazards with a frame that this pattern matches. */
struct sc_part sc_suppressions_first_pattern(const struct sc_suppression *entry);

/* Does the pattern, with its prefix (fun: and so on), match frame number `frame`? */
bool sc_suppressions_matches(struct sc_part pattern, const struct sc_suppression_stack *stack,
                             unsigned frame);

/* Does `text` match `pattern`, in which * is any text and ? any one byte? */
bool sc_suppressions_glob(struct sc_part pattern, const char *text);

#endif
