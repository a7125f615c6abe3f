/* Suppressions: a file of named entries, each of which leaves out some hazards.
 *
 * docs/suppressions.md has the grammar. The library and the command share this parser and matcher.
 * Both are pure: no allocation, no I/O, no lock, no locale. An entry's members point into the text
 * of the file, which the caller keeps as long as the entries. */

/* Terms (docs/glossary.md):
 *   hazard: a mistake that may do harm: a code, the operation it hurts, and the event
 */

#ifndef SC_REPORT_SUPPRESSIONS_H
#define SC_REPORT_SUPPRESSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SC_SUPPRESSIONS_MAX = 1024, SC_SUPPRESSIONS_FILE_MAX_BYTES = 1 << 20 };

/* What a suggested entry has in place of its reason. An entry that still has it is rejected. */
#define SC_SUPPRESSIONS_NO_REASON "say here why this is left out"

/* A part of the text, without a NUL at its end. */
struct sc_part {
    const char *bytes;
    size_t length; /* 0: the entry does not have it */
};

/* An entry of the file: which hazards it leaves out, and why. */
struct sc_suppression {
    struct sc_part name, code, reason;
    struct sc_part copy, event; /* patterns of frames, innermost first */
    bool is_expired; /* its last day was over when the file was read: it covers nothing */
    uint64_t used;   /* a count for the caller; 0 at first */
};

/* Called with each mistake in the file. `what` describes the mistake, without the file's name, and
 * is valid during the call. Lines, and bytes of a line, count from 1. */
typedef void sc_suppressions_complain(void *context, unsigned line, unsigned column,
                                      const char *what);

/* Reads the entries of `text` into `entries`, at most `most`. Whether an entry has expired is
 * judged at `now_s`, in seconds since 1970. A malformed entry is left out, and `complain` is called
 * with its first mistake. Returns how many entries were read. */
unsigned sc_suppressions_parse(const char *text, size_t size, int64_t now_s,
                               struct sc_suppression *entries, unsigned most,
                               sc_suppressions_complain *complain, void *context);

/* The property of a frame that a pattern is matched with. */
enum sc_frame_word {
    SC_FRAME_FUNCTION, /* fun: the mangled name of the function */
    SC_FRAME_OBJECT,   /* obj: the path of the module */
    SC_FRAME_SOURCE,   /* src: FILE:LINE */
    SC_FRAME_PYTHON,   /* py: FILE:FUNCTION of a Python frame */
};

/* A stack as the matcher needs it, innermost frame first. `word` returns the property of a frame
 * that a pattern is matched with; NULL: not known. Its result is valid until the next call. */
struct sc_suppression_stack {
    unsigned count;
    const char *(*word)(void *context, unsigned frame, enum sc_frame_word word);
    void *context;
};

/* Returns true if the entry leaves out a hazard of this code ("SC201") with these stacks, those of
 * the operation and of the event. An expired entry leaves out none. */
bool sc_suppressions_covers(const struct sc_suppression *entry, const char *code,
                            const struct sc_suppression_stack *copy,
                            const struct sc_suppression_stack *event);

/* Returns the entry's first pattern that is not "..."; an empty one if there is none. The entry can
 * only cover hazards with a frame that this pattern matches. */
struct sc_part sc_suppressions_first_pattern(const struct sc_suppression *entry);

/* Returns true if the pattern, with its prefix (fun: and so on), matches frame number `frame`. */
bool sc_suppressions_matches(struct sc_part pattern, const struct sc_suppression_stack *stack,
                             unsigned frame);

/* Returns true if `text` matches `pattern`, in which * is any text and ? any one byte. */
bool sc_suppressions_glob(struct sc_part pattern, const char *text);

#endif
